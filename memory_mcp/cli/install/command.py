"""The command `install`: its options. What it does is loaded when it is called."""

from __future__ import annotations

import click

from memory_mcp.cli.context import Setup, pass_setup

NAMES = (
    *("claude-code", "claude-desktop", "codex", "cursor", "gemini", "goose", "vscode", "windsurf"),
    "zed",
)
DEFAULT_NAME = "memory"


@click.command()
@click.argument("client", type=click.Choice(NAMES), metavar="CLIENT")
@click.option("--project", is_flag=True, help="Into the files of the project in this folder.")
@click.option("--instructions", is_flag=True, help="Add a line to its AGENTS.md or CLAUDE.md.")
@click.option("--name", default=DEFAULT_NAME, show_default=True, help="The name of the server.")
@click.option("--print", "print_", is_flag=True, help="Only show what would be entered.")
@click.option("--dry-run", is_flag=True, help="Only show what would change, as a diff.")
@click.option("--uninstall", is_flag=True, help="Take it out again.")
@pass_setup
def install(
    setup: Setup,
    client: str,
    project: bool,
    instructions: bool,
    name: str,
    print_: bool,
    dry_run: bool,
    uninstall: bool,
) -> None:
    """Enter the memory into CLIENT, or take it out again.

    CLIENT is claude-code, claude-desktop, codex, cursor, gemini, goose, vscode, windsurf or zed.
    """
    from memory_mcp.cli.install.installing import (
        Wish,
        carry_out,
    )  # every format, a tenth of a second

    carry_out(setup, Wish(client, project, instructions, name, print_, dry_run, uninstall))
