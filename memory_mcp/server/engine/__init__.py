"""The engine: one process for all clients of a home, behind a socket."""
