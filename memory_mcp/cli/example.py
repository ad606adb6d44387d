"""`demo`: the example memory in a temporary home, shown at work through a real client."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import anyio
import click

import memory_mcp
from memory_mcp.cli import render
from memory_mcp.cli.clients import client_lines
from memory_mcp.core.errors import StorageError


@click.command()
@click.option("--keep", is_flag=True, help="Leave the folder there afterwards.")
def demo(keep: bool) -> None:
    """Show the memory at work, in a temporary folder."""
    from memory_mcp.cli.demo import tour  # brings the MCP client, half a second of imports

    place = Path(tempfile.mkdtemp(prefix="memory-mcp-demo-"))
    home = place / "home"
    try:
        lay_example(home)
        anyio.run(tour, home)
    finally:
        if not keep:
            shutil.rmtree(place, ignore_errors=True)
    render.line()
    if keep:
        render.line(f"The folder stays: {home}")
    render.strong("To give your own agents this memory, enter one of these:")
    render.line()
    for text in client_lines():
        render.line(text)


def lay_example(home: Path) -> None:
    """Copy the example memory that comes with the package to `home`, which must not exist."""
    shutil.copytree(_shipped(), home)
    home.chmod(0o700)


def _shipped() -> Path:
    """The example: inside an installed package, beside it in a clone."""
    package = Path(memory_mcp.__file__).parent
    for parent in (package, package.parent):
        folder = parent / "examples" / "memory"
        if (folder / "config.yml").is_file():
            return folder
    raise StorageError(
        f"the example memory is not in {package}; install the package again from a clone"
    )
