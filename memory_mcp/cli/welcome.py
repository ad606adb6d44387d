"""What a person sees who types `memory-mcp` and nothing else."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from memory_mcp.cli import render
from memory_mcp.cli.context import words_of
from memory_mcp.cli.ending import ended
from memory_mcp.cli.installation import installation

TEXT = """\
This is the long-term memory that AI agents on your machine share: a folder of Markdown notes
that they search, read and write over MCP. A client such as Claude Code, Codex, Cursor or Claude
Desktop starts this command itself and talks to it through its input and output; typed into a
terminal it has nobody to talk to.

  memory-mcp demo      see it at work, in a temporary folder
  memory-mcp init      make your own memory, and get the lines for your clients
  memory-mcp --help    all commands

A client starts it as: {command}"""


def explain(flags: Mapping[str, object]) -> int:
    """Say what this is and how it is started with these flags; the exit code."""
    return ended(lambda: _explain(flags))


def _explain(flags: Mapping[str, object]) -> None:
    here = installation()
    render.line(TEXT.format(command=shlex.join([*here.command, *words_of(flags)])))
    if here.remark:
        render.line(here.remark)
