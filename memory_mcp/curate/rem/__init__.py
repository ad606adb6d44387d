"""REM: conversations are read, and what is worth keeping of them is proposed."""
