"""What the running index says about itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence, Set
from dataclasses import replace

from memory_mcp.index.fill import Filler
from memory_mcp.index.intake import Intake
from memory_mcp.index.known import Known
from memory_mcp.index.labels import NoteKey
from memory_mcp.index.model import Model
from memory_mcp.index.state import EmbedderState, IndexState, SourceState
from memory_mcp.index.store_watch import StoreWatch
from memory_mcp.index.table import Table
from memory_mcp.notes.scan import Warned


def report(
    table: Table,
    sources: Sequence[Known],
    model: Model,
    store: StoreWatch,
    intake: Intake,
    filler: Filler,
    renewals: Sequence[str],
    trouble: str | None,
    slow_words: str | None,
) -> IndexState:
    """The state of these sources as a value. `slow_words`: why words are looked for slowly."""
    ids = frozenset(known.source.id for known in sources)
    # Whole sets: a search asks, also while ten thousand notes wait.
    unread = _those(intake.files.keys, ids)
    bare = _those(filler.queue.keys & table.keys, ids)
    waiting = unread | bare
    busy = {source_id for source_id, _ in waiting}
    scanning = sum(known.state == "scanning" for known in sources)
    slow = slow_words and f"words are looked for note by note: {slow_words}"
    warnings = (*_warnings(table, sources, ids, filler), *_index_warnings(renewals, trouble, slow))
    embedder = _embedder(model, store)
    return IndexState(
        pending=len(waiting) + scanning,
        unread=len(unread) + scanning,
        degraded=_degraded(embedder, filler, len(unread), len(bare), scanning) or slow,
        sources={
            label: _source_state(table, known, busy)
            for label, known in zip(labels(sources), sources, strict=True)
        },
        embedder=embedder,
        warnings=warnings,
        vectors=store.count(ids),
    )


def labels(sources: Sequence[Known]) -> list[str]:
    """The name of each source; its id where an earlier one has the name, and for the inbox of a
    project."""
    seen: set[str] = set()
    result = []
    for known in sources:
        name = known.source.name
        if known.source.scope == "project" or name in seen:
            name = known.source.id
        result.append(name)
        seen.add(name)
    return result


def _those(keys: Set[NoteKey], ids: Collection[str]) -> Set[NoteKey]:
    """The keys of some sources."""
    return {key for key in keys if key[0] in ids}


def _source_state(table: Table, known: Known, busy: Collection[str]) -> SourceState:
    source_id = known.source.id
    state = known.state
    if state in ("ready", "empty") and source_id in busy:
        state = "indexing"
    files, passages = len(table.paths(source_id)), table.passage_count(source_id)
    return SourceState(files, passages, str(known.source.root), state)


def _embedder(model: Model, store: StoreWatch) -> EmbedderState:
    """A model whose vectors cannot be asked is of no use."""
    state = model.describe()
    if state.state == "ready" and store.trouble is not None:
        return replace(state, state="failed", error=store.trouble)
    return state


def _degraded(
    embedder: EmbedderState, filler: Filler, unread: int, bare: int, scanning: int
) -> str | None:
    """One sentence on what a search lacks now; the gravest reason."""
    match embedder.state:
        case "off":
            return "words only: embeddings are switched off (embedding.provider none)"
        case "failed":
            return f"words only: {embedder.error}"
        case "loading":
            reason = f" ({embedder.error})" if embedder.error else ""
            return f"words only: the embedding model is still loading{reason}"
        case "ready":
            if filler.trouble is not None:
                return f"words only for {_count(bare, 'note')}: {filler.trouble}"
    if scanning or unread:
        return f"still indexing: {_count(unread, 'file')} not read yet"
    if bare:
        return f"still indexing: {_count(bare, 'note')} found by words only so far"
    return None


def _count(number: int, noun: str) -> str:
    return f"{number or 'some'} {noun}{'' if number == 1 else 's'}"


def _warnings(
    table: Table, sources: Sequence[Known], ids: Collection[str], filler: Filler
) -> Iterator[Warned]:
    for known in sources:
        yield from known.warnings()
    for (source_id, _), card in table.warned.items():
        for message in card.warnings if source_id in ids else ():
            yield Warned(card.reference, message)
    for (source_id, path), message in filler.refused.items():
        if source_id in ids:
            yield Warned(table.names.reference(source_id, path), f"has no vectors: {message}")


def _index_warnings(renewals: Sequence[str], *troubles: str | None) -> Iterator[Warned]:
    for reason in (*renewals, *troubles):
        if reason is not None:
            yield Warned("index", reason)
