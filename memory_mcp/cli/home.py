"""Making a home: `init`."""

from __future__ import annotations

from pathlib import Path

import click

from memory_mcp.cli import render
from memory_mcp.cli.clients import client_lines, server_entry
from memory_mcp.cli.context import Setup, as_json, pass_setup
from memory_mcp.cli.installation import installation
from memory_mcp.cli.starter import Piece, lay_out
from memory_mcp.core.config import Config
from memory_mcp.core.errors import StorageError
from memory_mcp.notes.failure import plain_reason
from memory_mcp.notes.sources import Source, open_sources
from memory_mcp.settings.clock import SystemClock


@click.command()
@click.option("--dry-run", is_flag=True, help="Say what would be made, and make nothing.")
@as_json
@pass_setup
def init(setup: Setup, dry_run: bool, json_: bool) -> None:
    """Make the home, and print the lines for clients.

    It gets example settings, the first folders of the wiki, and the skill document for clients
    that have skills. What is there is left as it is.
    """
    loaded = setup.load()
    for warning in loaded.warnings:
        render.remark(warning)
    home = Path(loaded.config.home)
    sources, pieces = _make(loaded.config, dry_run)
    flags = setup.for_clients(loaded)
    if json_:
        render.as_json(
            {
                "home": str(home),
                "dry_run": dry_run,
                "config_written": pieces[0].state == "written" and not dry_run,
                "files": [{"name": piece.name, "state": piece.state} for piece in pieces],
                "sources": {source.name: str(source.root) for source in sources},
                "server": server_entry(home, flags),
                "remark": installation().remark,
            }
        )
        return
    render.strong(f"The home {'would be' if dry_run else 'is'} {home}")
    written = "would be written" if dry_run else "written"
    width = max(len(piece.name) for piece in pieces)
    for piece in pieces:
        said = written if piece.state == "written" else "was there, left as it is"
        render.line(f"  {piece.name:<{width}}  {said}")
    for source in sources:
        render.line(f"  {source.name:<{width}}  {source.root}")
    if dry_run:
        return
    render.line()
    for text in client_lines(home, flags):
        render.line(text)


def _make(config: Config, dry: bool) -> tuple[tuple[Source, ...], list[Piece]]:
    home = Path(config.home)
    try:
        if not dry:
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
        sources = open_sources(config, create=not dry)
        return sources, list(lay_out(config, sources, SystemClock().now(), dry=dry))
    except OSError as error:
        raise StorageError(
            f"cannot make the home {home}: {plain_reason(error)}; or choose another folder with"
            " --home or MEMORY_MCP_HOME"
        ) from error
