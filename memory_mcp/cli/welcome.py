"""What a person sees who types `memory-mcp` and nothing else."""

from __future__ import annotations

from memory_mcp.cli import render
from memory_mcp.cli.clients import start_command

TEXT = """\
This is the long-term memory that AI agents on your machine share: a folder of Markdown notes
that they search, read and write over MCP. A client such as Claude Code, Codex, Cursor or Claude
Desktop starts this command itself and talks to it through its input and output; typed into a
terminal it has nobody to talk to.

  memory-mcp demo      see it at work, in a temporary folder
  memory-mcp init      make your own memory, and get the lines for your clients
  memory-mcp --help    all commands

A client starts it as: {command}"""


def explain() -> int:
    """Say what this is and how it is started; exit code 0."""
    render.prepare()
    render.line(TEXT.format(command=" ".join(start_command())))
    return 0
