"""The long-term memory that every AI agent on a person's machine shares."""

__version__ = "0.1.0"
