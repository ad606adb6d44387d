"""MCP over HTTP: one port for all agents of a home, each behind its token."""
