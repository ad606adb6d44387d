"""What `install` does: enters the memory into a client, shows that, or takes it out again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory_mcp.cli import render
from memory_mcp.cli.clients import default_home, server_entry
from memory_mcp.cli.context import Setup
from memory_mcp.cli.install.catalog import CLIENTS, Client, Target
from memory_mcp.cli.install.change import Change, enter, entering, leave, leaving
from memory_mcp.cli.install.places import Machine
from memory_mcp.cli.install.record import Records
from memory_mcp.cli.installation import installation
from memory_mcp.core.errors import InputError


@dataclass(frozen=True, slots=True)
class Wish:
    """What was asked for: the client, and the options of the command."""

    client: str
    project: bool
    instructions: bool
    name: str
    print: bool
    dry_run: bool
    uninstall: bool


def carry_out(setup: Setup, wish: Wish) -> None:
    """Do it. Raises InputError, RefusedError, ConflictError, StorageError; what is refused is
    refused before anything is written."""
    chosen = CLIENTS[wish.client]
    machine = Machine(project=Path.cwd() if wish.project else None)
    home, targets = _targets(
        setup, chosen, machine, wish.name, wish.instructions or wish.uninstall
    )
    if wish.instructions and not wish.uninstall and chosen.instructions(machine) is None:
        raise InputError(_no_instructions(chosen, wish.project))
    if wish.print:
        _print(targets)
        return
    records = Records(home)
    changes = [(leaving if wish.uninstall else entering)(target, records) for target in targets]
    if wish.dry_run:
        _show(changes)
    elif wish.uninstall:
        _leave(chosen, changes, records)
    else:
        _enter(chosen, changes, records, machine.project)


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
    client: Client, changes: Sequence[Change], records: Records, project: Path | None
) -> None:
    for change in changes:
        enter(change, records, client.name, project)
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
    fits = not project and client.project_instructions is not None
    place = "in a project" if project else "for all folders"
    way = "Add --project for this folder's file, or enter" if fits else "Enter"
    return (
        f"{client.title} has no file of instructions {place} that could be extended. {way} the"
        " line in its settings (it is the same for all clients:"
        " memory-mcp install codex --instructions --print); without --instructions the rest is"
        " installed."
    )
