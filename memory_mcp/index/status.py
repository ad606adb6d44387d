"""The state of the index from any process: the sources are looked at, the stored catalog is read.

Nothing is written and no model is loaded: of the bundled one only the presence and the size of its
files are checked, of others what the last engine found out.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from memory_mcp.core.config import Config
from memory_mcp.index import multilingual
from memory_mcp.index.catalog import FOLDER, LAYOUT_VERSION, NAME, Row, read_facts, read_rows
from memory_mcp.index.embedder import DIMENSION, IDENTITY, MODEL, bundled_problem
from memory_mcp.index.identity import derivation, settings_mark
from memory_mcp.index.known import Known, is_guarded
from memory_mcp.index.report import labels
from memory_mcp.index.state import EmbedderState, IndexState, SourceState, SourceStateName
from memory_mcp.notes.scan import Scan, Warned, scan
from memory_mcp.notes.sources import Source


@dataclass(frozen=True, slots=True)
class _Stored:
    rows: Mapping[str, Mapping[str, Row]]
    facts: Mapping[str, str]
    problem: str | None = None


def disk_state(config: Config, sources: Sequence[Source], away: str | None = None) -> IndexState:
    """The state as the files and the stored catalog show it. Blocking. `away`: why the server of
    the vectors cannot be asked, where somebody tried.

    `pending` counts files whose stamp, rules or vectors the catalog does not have; `files` and
    `passages` are those it has of files that are there."""
    stored = _read(Path(config.home) / FOLDER / NAME)
    embedder, identity = _embedder(config, stored.facts, away)
    known = [Known(source, is_guarded(source, config)) for source in sources]
    rules = derivation(config)
    states: dict[str, SourceState] = {}
    warnings: list[Warned] = []
    pending = unread = vectors = 0
    for label, one in zip(labels(known), known, strict=True):
        rows = stored.rows.get(one.source.id, {})
        found = scan(one.source)
        current = {p: r for p, r in rows.items() if _is_current(r, found, rules)}
        waiting = [p for p in found.files if _waits(current.get(p), identity)]
        _judge(one, found, rows, bool(waiting))
        served = [r for r in current.values() if r.failure is None]
        states[label] = SourceState(
            len(served), sum(r.passages for r in served), str(one.source.root), one.state
        )
        warnings += [*one.warnings(), *_note_warnings(one.source, served)]
        pending += len(waiting)
        unread += sum(path not in current for path in waiting)
        vectors += sum(r.passages for r in served if identity and r.identity == identity)
    renewed = stored.facts.get("renewed", "").splitlines()
    warnings += [Warned("index", text) for text in (*renewed, stored.problem) if text]
    degraded = _degraded(embedder, pending)
    return IndexState(pending, unread, degraded, states, embedder, tuple(warnings), vectors)


def _is_current(row: Row, found: Scan, rules: str) -> bool:
    there = found.files.get(row.path)
    return there is not None and there.stamp == row.stamp and row.derivation == rules


def _waits(row: Row | None, identity: str | None) -> bool:
    """`identity`: of the vectors there should be; None where only words are to be had."""
    if row is None:
        return True
    if row.failure is not None or identity is None:
        return False
    return row.identity != identity


def _judge(known: Known, found: Scan, rows: Mapping[str, Row], waiting: bool) -> None:
    state: SourceStateName = "indexing" if waiting else found.state
    if state == "missing" and known.comes_later and not rows:
        state = "empty"
    known.state, known.scanned = state, found.warnings
    if found.state == "missing" or (found.state == "empty" and known.guarded):
        known.aside = len(rows)
    known.failures.update(
        {p: r.failure for p, r in rows.items() if r.failure and p in found.files}
    )


def _note_warnings(source: Source, rows: Sequence[Row]) -> list[Warned]:
    return [Warned(f"{source.name}/{row.path}", text) for row in rows for text in row.warnings]


def _degraded(embedder: EmbedderState, pending: int) -> str | None:
    match embedder.state:
        case "off":
            return "words only: embeddings are switched off (embedding.provider none)"
        case "failed":
            return f"words only: {embedder.error}"
        case "loading" | "ready":
            return f"still indexing: {pending} files wait" if pending else None


def _embedder(
    config: Config, facts: Mapping[str, str], away: str | None
) -> tuple[EmbedderState, str | None]:
    """The state of the model as far as it shows, and the identity that vectors should have."""
    settings = config.embedding
    same = facts.get("settings") == settings_mark(settings)
    failure = (facts.get("failure") if same else None) or away
    identity = facts.get("identity") if same else None
    match settings.provider:
        case "none":
            return EmbedderState("off"), None
        case "bundled":
            problem = bundled_problem() or failure
            return _by_files(problem, MODEL, DIMENSION, identity or IDENTITY)
        case "multilingual":
            problem = multilingual.multilingual_problem() or failure
            known = identity or multilingual.IDENTITY
            return _by_files(problem, multilingual.MODEL, multilingual.DIMENSION, known)
    if failure:
        return EmbedderState("failed", settings.model, None, failure), None
    # Another model than the one that was indexed with: everything is to be embedded anew.
    return EmbedderState("ready", settings.model), identity or "unknown"


def _by_files(
    problem: str | None, model: str, dimension: int, identity: str
) -> tuple[EmbedderState, str | None]:
    """The state of a model whose files are on this machine."""
    if problem:
        return EmbedderState("failed", model, dimension, problem), None
    return EmbedderState("ready", model, dimension), identity


def _read(path: Path) -> _Stored:
    if not path.exists():
        return _Stored({}, {})
    try:
        try:
            return _load(path, "ro")
        except sqlite3.OperationalError:  # a write was cut off: reading on rolls it back
            return _load(path, "rw")
    except (sqlite3.Error, ValueError) as error:
        return _Stored(
            {}, {}, f"{path.name} cannot be read ({error}); the next start makes it anew"
        )


def _load(path: Path, mode: str) -> _Stored:
    connection = sqlite3.connect(f"file:{quote(str(path))}?mode={mode}", uri=True, timeout=5)
    try:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version != LAYOUT_VERSION:
            return _Stored({}, {}, f"{path.name} is of another version and will be made anew")
        rows: dict[str, dict[str, Row]] = {}
        for row in read_rows(connection):
            rows.setdefault(row.source_id, {})[row.path] = row
        return _Stored(rows, read_facts(connection))
    finally:
        connection.close()
