"""What was replaced or deleted: `history` and `restore`."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memory_mcp.cli import render
from memory_mcp.cli.asking import show_engine
from memory_mcp.cli.context import Setup, as_json, pass_setup, project_here
from memory_mcp.cli.running import WORDS, with_memory
from memory_mcp.cli.wording import when
from memory_mcp.core.config import Config
from memory_mcp.core.errors import AmbiguousError, NotFoundError, RefusedError, StorageError
from memory_mcp.core.reference import GLOBAL, INBOX, PROJECT, join, split
from memory_mcp.curate.plans.record import undo_of
from memory_mcp.notes.history import History
from memory_mcp.notes.own import keeper, project_keeper
from memory_mcp.notes.place import is_taken
from memory_mcp.notes.projects import project_inbox
from memory_mcp.settings.project import Project

if TYPE_CHECKING:
    from memory_mcp.app import App
    from memory_mcp.curate.review.approve import TakenBack


@click.command()
@click.argument("reference")
@as_json
@pass_setup
def history(setup: Setup, reference: str, json_: bool) -> None:
    """The kept versions of a note, the newest first."""
    config = setup.existing()
    kept, full = history_of(config, project_here(config), reference)
    versions = kept.versions(full)
    if json_:
        rows = [
            {"revision": item.revision, "at": item.at.isoformat(), "size": item.size}
            for item in versions
        ]
        render.as_json({"reference": full, "versions": rows})
        return
    if not versions:
        raise NotFoundError(f"{full} has no old versions: no tool has replaced or deleted it")
    render.table(
        ["revision", "kept", "bytes"],
        [[item.revision, when(item.at), str(item.size)] for item in versions],
        whole=("revision", "kept"),
    )


@click.command()
@click.argument("reference", required=False)
@click.argument("revision", required=False)
@click.option("--run", metavar="ID", help="All that a job or an approval changed, as a whole.")
@as_json
@pass_setup
def restore(
    setup: Setup, reference: str | None, revision: str | None, run: str | None, json_: bool
) -> None:
    """Bring a kept version back: the newest, or REVISION. What it replaces is kept, too.

    With --run all notes are as they were before a job; none is where one changed since.
    """
    if (reference is None) == (run is None):
        raise click.UsageError("Name a note's REFERENCE, or a run with --run.")
    if run is not None:
        _restore_run(setup, run, json_)
    elif reference is not None:
        _restore_note(setup, reference, revision, json_)


def _restore_run(setup: Setup, run: str, json_: bool) -> None:
    done = with_memory(setup.existing(), lambda app: _taken_back(app, run.strip()), None)
    show_engine(setup, done.restored)
    if json_:
        render.as_json(
            {
                "run": run.strip(),
                "restored": list(done.restored),
                "pending": list(done.waiting),
                "applied": list(done.applied),
            }
        )
        return
    if done.restored:
        render.line(f"Taken back: {', '.join(done.restored)}.")
        render.line(f"memory-mcp restore --run {undo_of(run)} takes that back.")
    else:
        render.line("All is as it was before the run; nothing had to be changed.")
    for what, names in (("Waits again", done.waiting), ("Applied again", done.applied)):
        if names:
            render.line(f"{what}: {', '.join(names)}.")


async def _taken_back(app: App, run: str) -> TakenBack:
    """Take a run back where it was made: in the project, or outside of it."""
    from memory_mcp.curate.jobs.journal import OPEN

    with suppress(NotFoundError):
        if app.jobs.list(run)[0].status in OPEN:
            raise RefusedError(
                f"{run} is still under way; end it with memory-mcp jobs --cancel {run} first."
            )
    if app.wider is not None:
        with suppress(StorageError):  # it changed notes of the project, too
            return await app.wider.curation.approvals.take_back(run)
    return await app.curation.approvals.take_back(run)


def _restore_note(setup: Setup, reference: str, revision: str | None, json_: bool) -> None:
    config = setup.existing()
    project = project_here(config)
    full = reference if project else history_of(config, None, reference)[1]
    wait = WORDS if project else None  # which inbox is meant depends on the notes that are there
    result = with_memory(config, lambda app: app.writer.restore(full, revision), wait)
    show_engine(setup, [result.reference])
    if json_:
        render.as_json(
            {
                "reference": result.reference,
                "revision": result.revision,
                "created": result.created,
                "replaced_revision": result.replaced_revision,
            }
        )
        return
    render.line(f"{result.reference} is back at revision {result.revision}.")
    if result.replaced_revision:
        render.line(f"The text it replaced is kept as {result.replaced_revision}.")


def history_of(config: Config, project: Project | None, text: str) -> tuple[History, str]:
    """The history that has the note of a reference, and the reference in it: in a project, that of
    its inbox, where there is such a note or was one, before the global one."""
    root = Path(config.home) / ".history"
    shared = History(root, keeper(config))
    if project is None:
        return shared, kept_reference(config, shared, text)
    first, slash, rest = text.partition("/")
    scope, path = (first, rest) if slash and first in (GLOBAL, PROJECT) else (None, text)
    own = History(root, project_keeper(project.id))
    full = kept_reference(config, own if scope != GLOBAL else shared, path)
    inbox, _, slug = full.partition("/")
    there = is_taken(project_inbox(config, project), slug)
    if inbox == INBOX and scope != GLOBAL and (there or scope or own.newest(full)):
        return own, full
    return shared, kept_reference(config, shared, path)


def kept_reference(config: Config, kept: History, text: str) -> str:
    """The canonical reference that `text` means; without a source, what the history has of it.

    Raises InputError for what is no reference, AmbiguousError where several sources have it.
    """
    source, path = split(text, config.sources)
    if source is not None:
        return join(source, path)
    fitting = [known for known in kept.references() if known.partition("/")[2] == path]
    if len(fitting) > 1:
        raise AmbiguousError(f"{text!r} may be {' or '.join(fitting)}; name one of them")
    return fitting[0] if fitting else join("memory", path)
