"""Tests of the tools without MCP."""
