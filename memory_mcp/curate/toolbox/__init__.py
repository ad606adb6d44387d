"""The functions that a chat model works with on a job, and what it reads through them."""
