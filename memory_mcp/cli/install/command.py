"""`install`: enters the memory into a client, and takes it out again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from memory_mcp.cli import render
from memory_mcp.cli.clients import default_home, server_entry
from memory_mcp.cli.context import Setup, pass_setup
from memory_mcp.cli.install.catalog import CLIENTS, Client, Target
from memory_mcp.cli.install.change import Change, enter, entering, leave, leaving
from memory_mcp.cli.install.places import Machine
from memory_mcp.cli.install.record import Records
from memory_mcp.cli.installation import installation
from memory_mcp.core.errors import InputError

DEFAULT_NAME = "memory"


@click.command()
@click.argument("client", type=click.Choice(sorted(CLIENTS)), metavar="CLIENT")
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
    chosen = CLIENTS[client]
    machine = Machine(project=Path.cwd() if project else None)
    home, targets = _targets(setup, chosen, machine, name, instructions or uninstall)
    if instructions and not uninstall and chosen.instructions(machine) is None:
        raise InputError(_no_instructions(chosen, project))
    if print_:
        _print(targets)
        return
    records = Records(home)
    changes = [(leaving if uninstall else entering)(target, records) for target in targets]
    if dry_run:
        _show(changes)
    elif uninstall:
        _leave(chosen, changes, records)
    else:
        _enter(chosen, changes, records, name, machine.project)


def _targets(
    setup: Setup, client: Client, machine: Machine, name: str, instructions: bool
) -> tuple[Path, list[Target]]:
    """The home, and the files with what belongs into them."""
    loaded = setup.load()
    home = Path(loaded.config.home)
    flags = setup.for_clients(loaded)
    entry = server_entry(home, flags)
    program = (*installation().command, *_home_words(home), *flags)
    found: list[Target | None] = [client.server(machine, name, entry)]
    found.append(client.hooks(machine, program))
    if instructions:
        found.append(client.instructions(machine))
    return home, [target for target in found if target is not None]


def _home_words(home: Path) -> Sequence[str]:
    return () if home == default_home() else ("--home", str(home))


def _print(targets: Sequence[Target]) -> None:
    """What would be entered, as it stands in a file of its own: other people's keys may be in the
    real one."""
    for number, target in enumerate(targets):
        if number:
            render.line()
        render.strong(f"{target.file}:")
        for text in target.part.enter("").splitlines():
            render.line(text)


def _show(changes: Sequence[Change]) -> None:
    lines = [line for change in changes for line in change.diff()]
    for line in lines:
        render.line(line)
    if not lines:
        render.remark("nothing would change")


def _enter(
    client: Client, changes: Sequence[Change], records: Records, name: str, project: Path | None
) -> None:
    for change in changes:
        enter(change, records, client.name, name, project)
        done = "entered" if change.needed else "was there already"
        render.line(f"{change.target.file}: {change.target.what} {done}")
        if change.needed and change.before is not None:
            render.line(f"  as it was: {records.backup(change.target.file)}")
    if remark := installation().remark:
        render.remark(remark)
    render.line(client.after.format(title=client.title))


def _leave(client: Client, changes: Sequence[Change], records: Records) -> None:
    for change in reversed(changes):  # the file whose folder was made comes last
        leave(change, records)
        for text in _left(change):
            render.line(f"{change.target.file}: {text}")
    if not any(change.needed for change in changes):
        render.line(f"Nothing of memory-mcp is in the files of {client.title}.")


def _left(change: Change) -> Iterator[str]:
    if not change.needed:
        return
    if change.after is None:
        yield "deleted, since install had made it"
    elif change.after == change.base:
        yield "as it was before, byte for byte"
    else:
        yield f"{change.target.what} taken out; what others have changed since stays"


def _no_instructions(client: Client, project: bool) -> str:
    way = "" if project or client.project_instructions is None else ", or add --project"
    return (
        f"{client.title} reads no file of instructions that could be extended here{way}; enter the"
        " line in its settings: memory-mcp install codex --instructions --print shows it"
    )
