"""Serving: `serve` for transports, `engine` for a shared process."""

from __future__ import annotations

import click

from memory_mcp.cli import render
from memory_mcp.cli.context import Setup, as_json, pass_setup

WRONG_USAGE = 2
"""Exit code."""


@click.command()
@click.option(
    "--transport",
    type=click.Choice(["stdio", "streamable-http", "sse"]),
    default="stdio",
    help="stdio is what there is in this version.",
)
@pass_setup
def serve(setup: Setup, transport: str) -> int:
    """Speak MCP, as memory-mcp does without a command."""
    if transport != "stdio":
        render.failure(
            f"--transport {transport} is not in this version: start it with --transport stdio,"
            " which every client that runs on this machine speaks"
        )
        return WRONG_USAGE
    from memory_mcp.server.stdio import run  # half a second of imports

    return run(setup.flags)


@click.group()
def engine() -> None:
    """A process that all clients share; not in this version."""


@engine.command("stop")
def stop() -> None:
    """Stop the shared process, if there is one."""
    render.line("No shared engine is running: each client has a process of its own.")


@engine.command("status")
@as_json
def engine_status(json_: bool) -> None:
    """Say whether a shared process runs."""
    if json_:
        render.as_json({"pid": None, "uptime_s": None, "clients": 0})
    else:
        render.line("No shared engine is running: each client has a process of its own.")
