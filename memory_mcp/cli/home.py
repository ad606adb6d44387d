"""Making a home: `init`."""

from __future__ import annotations

from pathlib import Path

import click

from memory_mcp.cli import render
from memory_mcp.cli.clients import client_lines, server_entry
from memory_mcp.cli.context import Setup, as_json, pass_setup
from memory_mcp.cli.installation import installation
from memory_mcp.core.errors import StorageError
from memory_mcp.notes.failure import plain_reason
from memory_mcp.notes.sources import open_sources

TEMPLATE = """\
# Settings of memory-mcp. Every key has a default, so everything here may stay commented out.
# `memory-mcp config show` says what is in force and where it comes from.

# sources:
#   memory: {path: "agents/{agent}/memory", boost: 0.85}   # the inbox: what agents write
#   wiki:   {path: wiki, boost: 1.4}                       # shared pages, written by people
#   vault:  {path: ~/Documents/Vault, boost: 0.65}         # any other name: read-only notes

# index:
#   watch: true            # take in changes as they happen
#   sweep_seconds: 30      # look again, in case an event was lost
#   exclude: []            # patterns as in .gitignore, e.g. ["drafts/**"]

# embedding:
#   provider: bundled      # comes with the package; none: words only

# writing:
#   read_only: false
#   secrets: warn          # warn, refuse or allow what looks like a password or key in a note
"""


@click.command()
@as_json
@pass_setup
def init(setup: Setup, json_: bool) -> None:
    """Make the home, and print the lines for clients."""
    loaded = setup.load()
    for warning in loaded.warnings:
        render.remark(warning)
    home = Path(loaded.config.home)
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = _write_once(home / "config.yml")
    except OSError as error:
        raise StorageError(
            f"cannot make the home {home}: {plain_reason(error)}; or choose another folder with"
            " --home or MEMORY_MCP_HOME"
        ) from error
    sources = open_sources(loaded.config)
    flags = setup.for_clients(loaded)
    if json_:
        render.as_json(
            {
                "home": str(home),
                "config_written": fresh,
                "sources": {source.name: str(source.root) for source in sources},
                "server": server_entry(home, flags),
                "remark": installation().remark,
            }
        )
        return
    render.strong(f"The home is {home}")
    render.line(f"  config.yml  {'written' if fresh else 'was there, left as it is'}")
    for source in sources:
        render.line(f"  {source.name:<10}  {source.root}")
    render.line()
    for text in client_lines(home, flags):
        render.line(text)


def _write_once(path: Path) -> bool:
    """True where the file was not there and is now."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(TEMPLATE)
    except FileExistsError:
        return False
    return True
