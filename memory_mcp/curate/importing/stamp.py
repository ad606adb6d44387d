"""What an imported text gets, and what it loses: it came from outside, and says so.

It is never pinned and never comes unasked by its own will, since nobody here has read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from memory_mcp.core import frontmatter
from memory_mcp.core.errors import RefusedError
from memory_mcp.core.metadata import metadata
from memory_mcp.core.note import Json

_ARRIVAL = ("seed", "triggers")
_WHOLE = ("aliases",)  # keys that are given with what the header has of them


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a note was imported from: whose memory, and under which name there."""

    by: str
    name: str


@dataclass(frozen=True, slots=True)
class Stamped:
    """The text of an imported note, and what was taken from its header."""

    text: str
    dropped: tuple[str, ...] = ()


def stamped(text: str, origin: Origin, at: str, values: Mapping[str, Json]) -> Stamped:
    """The text with its provenance in the header; every other byte stays.

    `values` are entered where the header does not have them. `pinned`, `metadata.seed` and
    `metadata.triggers` go. A source that the note named itself is kept: an address as its `url`,
    anything else as `original_source`. Raises RefusedError where the header cannot be read.
    """
    known = frontmatter.split_and_load(text)[1].values
    changes: dict[str, Json | None] = {
        key: value
        for key, value in values.items()
        if key in _WHOLE or known.get(key) in (None, "", [])
    }
    dropped = _without_arrival(known, changes)
    changes["source"] = _source(known, changes, origin, at)
    return Stamped(frontmatter.change(text, changes), dropped)


def origin_of(text: str) -> tuple[Origin, str] | None:
    """Where a note was imported from, and when; None where it was not."""
    source = frontmatter.split_and_load(text)[1].values.get("source")
    if not isinstance(source, dict) or source.get("kind") != "import":
        return None
    by, name, at = (source.get(key) for key in ("by", "from", "at"))
    if not (isinstance(by, str) and isinstance(name, str) and isinstance(at, str)):
        return None
    return Origin(by, name), at


def _without_arrival(
    known: Mapping[str, Json], changes: dict[str, Json | None]
) -> tuple[str, ...]:
    dropped = []
    if "pinned" in known:
        changes["pinned"] = None
        if metadata(known).pinned:
            dropped.append("pinned")
    inner = known.get("metadata")
    if isinstance(inner, dict) and any(key in inner for key in _ARRIVAL):
        dropped += [f"metadata.{key}" for key in _ARRIVAL if inner.get(key)]
        kept = {key: value for key, value in inner.items() if key not in _ARRIVAL}
        changes["metadata"] = kept or None
    return tuple(dropped)


def _source(
    known: Mapping[str, Json], changes: dict[str, Json | None], origin: Origin, at: str
) -> Json:
    former = known.get("source")
    provenance = metadata(known).provenance
    url = provenance.url if provenance is not None else None
    if former not in (None, "") and former != url and "original_source" not in known:
        changes["original_source"] = former
    stamp: dict[str, Json] = {"url": url} if url else {}
    return {**stamp, "kind": "import", "by": origin.by, "at": at, "from": origin.name}


def check_readable(text: str) -> None:
    """Raise RefusedError for a header that cannot be read, and so not be stamped."""
    loaded = frontmatter.split_and_load(text)[1]
    if loaded.state == "broken":
        raise RefusedError(f"{loaded.warnings[0]}; mend the header between the --- lines first")
