"""The hooks of clients, for `--help`: a client's call takes the quick path in `__main__`."""

from __future__ import annotations

import os

import click

from memory_mcp.cli.context import Setup, pass_setup
from memory_mcp.front.hook import EVENTS
from memory_mcp.front.hook import run as run_hook


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("event", metavar=f"[{'|'.join(EVENTS)}]", required=False, default="")
@click.option("--home", metavar="FOLDER", help="The home, else as MEMORY_MCP_HOME says.")
@click.option("--agent", metavar="NAME", help="Whose inbox; else MEMORY_MCP_AGENT, else default.")
@pass_setup
def hook(setup: Setup, event: str, home: str | None, agent: str | None) -> None:
    """Answer a hook of Claude Code or Codex.

    A client hands its JSON to standard input and gets ours on standard output. session-start and
    user-prompt-submit print what the memory has to say, or nothing. The others note the
    transcript for the curation. The exit code is always 0: a prompt is never blocked.
    """
    given = {"home": home, "agent": agent}
    flags = {**setup.flags, **{name: value for name, value in given.items() if value is not None}}
    run_hook(event, flags, os.environ)
