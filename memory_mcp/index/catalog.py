"""The catalog: what the index knows of each file, on disk. A row is written last of all."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memory_mcp.core.note import Card, Heading, Link, Passage, Provenance, Stamp
from memory_mcp.index.database import Database, turn_of
from memory_mcp.index.labels import NoteKey
from memory_mcp.index.table import Parsed

FOLDER, NAME = ".index", "catalog.sqlite3"
LAYOUT_VERSION = 1
_LAYOUT = """
CREATE TABLE IF NOT EXISTS files (
    source TEXT NOT NULL, path TEXT NOT NULL,
    mtime_ns INTEGER NOT NULL, size INTEGER NOT NULL, inode TEXT NOT NULL,
    digest TEXT NOT NULL, derivation TEXT NOT NULL, identity TEXT NOT NULL,
    passages INTEGER NOT NULL, failure TEXT, warnings TEXT NOT NULL, content TEXT,
    PRIMARY KEY (source, path)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID
"""

Written = tuple[Any, ...]
"""The columns of a row."""


@dataclass(frozen=True, slots=True)
class Row:
    """One file. `identity`: of the vectors its passages have, "" for none. `failure`: why the file
    could not be read; then there is no content."""

    source_id: str
    path: str
    stamp: Stamp
    digest: str
    derivation: str
    identity: str
    passages: int
    failure: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def key(self) -> NoteKey:
        """(source id, path)."""
        return self.source_id, self.path


class Catalog:
    """Rows by (source id, path). Blocking; raises StorageError."""

    def __init__(self, folder: Path) -> None:
        self.database = Database(folder / NAME, _LAYOUT, LAYOUT_VERSION)

    def rows(self, source_id: str | None = None) -> list[Row]:
        """All rows (of a source), without their content."""
        return self.database.run(lambda connection: read_rows(connection, source_id))

    def contents(self, source_id: str, paths: Sequence[str]) -> list[Parsed]:
        """What rows hold, as it was recorded; a row that cannot be read any more is left out."""

        def work(connection: sqlite3.Connection) -> list[Parsed]:
            query = f"SELECT {_COLUMNS}, content FROM files WHERE source = ? AND path = ?"
            found = []
            for path in paths:
                for *columns, content in connection.execute(query, (source_id, path)):
                    parsed = _parsed(_row(columns), content)
                    if parsed is not None:
                        found.append(parsed)
            return found

        return self.database.run(work)

    def record(self, rows: Sequence[Written]) -> None:
        """Write rows, as `written` made them, each in place of what was there."""

        def work(connection: sqlite3.Connection) -> None:
            marks = ",".join("?" * 12)
            connection.executemany(f"INSERT OR REPLACE INTO files VALUES ({marks})", rows)

        self.database.run(work)

    def forget(self, keys: Collection[NoteKey]) -> None:
        """Remove rows; unknown ones are ignored."""

        def work(connection: sqlite3.Connection) -> None:
            connection.executemany("DELETE FROM files WHERE source = ? AND path = ?", keys)

        self.database.run(work)

    def prune(self, keeps: Callable[[str], bool]) -> None:
        """Remove the rows of sources whose id is not to be kept."""

        def work(connection: sqlite3.Connection) -> None:
            known = [row[0] for row in connection.execute("SELECT DISTINCT source FROM files")]
            gone = [(source_id,) for source_id in known if not keeps(source_id)]
            connection.executemany("DELETE FROM files WHERE source = ?", gone)

        self.database.run(work)

    def turn(self) -> int:
        """A number that changes when another process writes to the file. Asking for it notices
        damage and loss, too."""
        return self.database.run(turn_of)

    def state(self, name: str, value: str) -> None:
        """Keep a fact about the whole catalog."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

        self.database.run(work)

    def close(self) -> None:
        """Close the file."""
        self.database.close()


_COLUMNS = (
    "source, path, mtime_ns, size, inode, digest, derivation, identity, passages, failure,"
    " warnings"
)


def read_rows(connection: sqlite3.Connection, source_id: str | None = None) -> list[Row]:
    """All rows of a catalog (of a source). Raises sqlite3.Error."""
    where = "" if source_id is None else " WHERE source = ?"
    values = () if source_id is None else (source_id,)
    return [_row(r) for r in connection.execute(f"SELECT {_COLUMNS} FROM files{where}", values)]


def read_facts(connection: sqlite3.Connection) -> dict[str, str]:
    """What was kept with `Catalog.state`. Raises sqlite3.Error."""
    return dict(connection.execute("SELECT name, value FROM facts").fetchall())


def _row(columns: Sequence[Any]) -> Row:
    source, path, mtime_ns, size, inode, digest, made_by, identity, passages, failure, notes = (
        columns
    )
    stamp = Stamp(mtime_ns, size, int(inode))
    warnings = tuple(json.loads(notes))
    return Row(source, path, stamp, digest, made_by, identity, passages, failure, warnings)


def written(row: Row, parsed: Parsed | None) -> Written:
    """What is written of a row and of what the file holds; a millisecond for a note."""
    stamp = row.stamp
    place = (row.source_id, row.path, stamp.mtime_ns, stamp.size, str(stamp.inode))
    made = (row.digest, row.derivation, row.identity, row.passages, row.failure)
    return (*place, *made, json.dumps(row.warnings), _content(parsed) if parsed else None)


def _content(parsed: Parsed) -> str:
    # Not of the whole, which would copy every word and its number.
    card, passages = asdict(parsed.card), [asdict(passage) for passage in parsed.passages]
    words = {"words": parsed.words, "note_words": parsed.note_words}
    return json.dumps({"card": card, "passages": passages, **words})


def _parsed(row: Row, content: str | None) -> Parsed | None:
    """What `_content` wrote; None where it is cut or from another version."""
    try:
        data = json.loads(content or "")
        return Parsed(
            card=_card(data["card"]),
            passages=tuple(Passage(**passage) for passage in data["passages"]),
            words=tuple(map(tuple, data["words"])),
            note_words=data["note_words"],
            stamp=row.stamp,
            digest=row.digest,
        )
    except (ValueError, TypeError, KeyError):
        return None


def _card(data: dict[str, Any]) -> Card:
    provenance = data["provenance"]
    return Card(
        **{
            **data,
            **{name: tuple(data[name]) for name in ("tags", "aliases", "triggers", "warnings")},
            "headings": tuple(Heading(**heading) for heading in data["headings"]),
            "links": tuple(Link(**link) for link in data["links"]),
            "provenance": Provenance(**provenance) if provenance else None,
        }
    )
