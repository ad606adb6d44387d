"""A request that comes for the second time, since the engine died over the first: was it done?

The ledger has what the first attempt was about to change, and its answer if it came so far. A
change that is on disk, or was and is in the history, is answered and not made again.
"""

from __future__ import annotations

from dataclasses import dataclass

import anyio.to_thread
import mcp_types as t

from memory_mcp.app import App
from memory_mcp.core.errors import ConflictError, NotFoundError
from memory_mcp.curate.write.relation import relations
from memory_mcp.curate.write.results import DeleteResult, EditResult, LinkResult, WriteResult
from memory_mcp.notes import files
from memory_mcp.notes.sources import Source
from memory_mcp.server.answered import deleted, edited, linked, moved, wrote
from memory_mcp.server.ledger import Call, Intention, digest_of_bytes, time_text
from memory_mcp.server.session import Connection, Session

_REVISION = 12
"""Digits of a digest that make a revision."""


@dataclass(frozen=True, slots=True)
class _Done:
    """A change that was made, and the text that it left."""

    text: str


async def settled(call: Call, connection: Connection) -> t.CallToolResult | None:
    """The answer to a repeated request whose first attempt was done; None where it is to be done.

    The note can be found when this returns. Raises ConflictError where it cannot be told whether
    the first attempt was done.
    """
    intention, app = call.intention, connection.app
    if call.answer is not None:
        if intention is not None:
            await _show(intention, app)
        return t.CallToolResult.model_validate(call.answer)
    if intention is None:
        return None
    async with connection.turn(intention.reference):
        done = await anyio.to_thread.run_sync(_look, intention, app)
        if done is None:
            return None
        _remember(intention, connection.session)
    await _show(intention, app)
    return await _answer(intention, done, app)


def _look(intention: Intention, app: App) -> _Done | None:
    """Whether a change was made; None where the note is as it was before. Blocking."""
    current = _current(intention, app)
    now = digest_of_bytes(current)
    if intention.after in (now, intention.before):  # it is there, or nothing had to be done
        return _Done(_decoded(current))
    kept = _kept(intention, app)
    if kept is not None:
        return _Done(_decoded(kept))
    if now == intention.before:
        return None
    raise ConflictError(
        f"{intention.reference} was changed by somebody else while the memory's engine ended over"
        f" this call ({intention.tool}), so it cannot be told whether the call was carried out."
        " Read the note with memory_get and repeat the call if its text is missing."
    )


def _place(intention: Intention, app: App) -> tuple[Source, str] | None:
    name, places = app.keeping(project=intention.project).index.places(intention.reference)
    return None if name is None else places[0]


def _current(intention: Intention, app: App) -> bytes | None:
    place = _place(intention, app)
    if place is None:
        return None
    try:
        return files.read(*place).data
    except NotFoundError:
        return None


def _kept(intention: Intention, app: App) -> bytes | None:
    """What the change made, where the history has it: it was there since, and was replaced."""
    if intention.after is None:
        return None
    revision = intention.after[:_REVISION]
    since = intention.kept or ""
    history = app.keeping(project=intention.project).history
    versions = history.versions(intention.reference)
    if not any(item.revision == revision and time_text(item.at) > since for item in versions):
        return None
    data = history.load(intention.reference, revision)
    return data if digest_of_bytes(data) == intention.after else None


async def _show(intention: Intention, app: App) -> None:
    """Let the index see the note: an engine that has just begun may not have come to it."""
    place = _place(intention, app)
    if place is not None:
        await app.index.refresh(*place)


def _remember(intention: Intention, session: Session) -> None:
    """What the client knows of the note after its call, if the first attempt had not noted it."""
    reference, after = intention.reference, _revision(intention.after)
    if after is None:
        session.forget(reference)
    elif session.revision(reference) != after:
        before = _revision(intention.before)
        session.wrote(reference, after, whole=intention.whole, replaced=before)


async def _answer(intention: Intention, done: _Done, app: App) -> t.CallToolResult:
    """What the first attempt would have answered."""
    reference, text, warnings = intention.reference, done.text, intention.warnings
    before, after = _revision(intention.before), _revision(intention.after)
    replaced = before if before != after else None
    if after is None:
        return deleted(DeleteResult(reference, before is not None, before))
    if intention.tool == "wiki_move":
        return moved(reference, intention.also[0], intention.also[1:], warnings)
    if intention.tool in ("memory_write", "wiki_create"):
        similar = await app.writer.similar(reference, text)
        return wrote(WriteResult(reference, after, before is None, replaced, similar, warnings))
    if intention.tool == "memory_link":
        return linked(LinkResult(reference, after, relations(text)))
    return edited(EditResult(reference, after, replaced, warnings))


def _revision(digest: str | None) -> str | None:
    return None if digest is None else digest[:_REVISION]


def _decoded(data: bytes | None) -> str:
    return "" if data is None else data.decode("utf-8", "replace")
