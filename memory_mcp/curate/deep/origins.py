"""Where the text of a page came from: the list `sources` in its header, and the dates that say
which statement is the newer one. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from memory_mcp.core.metadata import metadata
from memory_mcp.core.note import Json

SOURCES = "sources"
"""The key: a list of {note, revision, date, by, url, kind}, and what else the note's header
said."""

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
# What has a place of its own on the page, or says how the note itself was kept.
_PLACED = frozenset(
    {"tags", "tag", "aliases", "alias", "links", "supersedes", "source", "updated", "created"}
) | {"wiki_promote", "pinned", "stated_at", SOURCES}


def stated(values: Mapping[str, Json], modified: str = "") -> str:
    """The day (ISO) for which a note's text stands: `stated_at`, else when it was last changed,
    else when it was made, else the file's own time. Empty where nothing says one."""
    for key in ("stated_at", "updated", "created"):
        if found := _day(values.get(key)):
            return found
    return _day(modified)


def page_stated(values: Mapping[str, Json]) -> str:
    """The day of the newest statement on a page: `stated_at`, else that of its newest source, else
    of its last change by hand. Empty where nothing says one."""
    if own := _day(values.get("stated_at")):
        return own
    days = [_day(item.get("date")) for item in entries(values)]
    return max(days, default="") or _day(values.get("updated")) or _day(values.get("created"))


def entries(values: Mapping[str, Json]) -> tuple[dict[str, Json], ...]:
    """The sources that a page names in our own form."""
    listed = values.get(SOURCES)
    items = listed if isinstance(listed, list) else []
    return tuple(item for item in items if isinstance(item, dict))


def names(values: Mapping[str, Json], reference: str, revision: str) -> bool:
    """Whether a page says that it holds the text of this very version of a note."""
    return any(
        item.get("note") == reference and item.get("revision") == revision
        for item in entries(values)
    )


def entry_of(
    reference: str, revision: str, values: Mapping[str, Json], modified: str
) -> dict[str, Json]:
    """What a page is to say of a note whose text it takes over. Nothing of the note's header is
    lost: what has no place on the page stands here."""
    origin = metadata(values).provenance
    entry: dict[str, Json] = {"note": reference, "revision": revision}
    if day := stated(values, modified):
        entry["date"] = day
    if origin is not None:
        known = {"by": origin.by, "url": origin.url, "kind": origin.kind, "at": origin.at}
        entry |= {key: value for key, value in known.items() if value}
    rest = {key: value for key, value in values.items() if key not in _PLACED}
    return {**rest, **entry}


def with_source(
    values: Mapping[str, Json], entry: Mapping[str, Json], note: Mapping[str, Json]
) -> dict[str, Json]:
    """The keys of a page's header that change when it takes a note over: the source is added to
    those that are there, whatever form they have; tags, aliases and links are joined."""
    listed = values.get(SOURCES)
    there: list[Json] = [listed] if listed is not None else []
    if isinstance(listed, list):
        there = listed
    if not any(_is_same(item, entry) for item in there):
        there = [*there, dict(entry)]
    changed: dict[str, Json] = {SOURCES: there}
    for key in ("tags", "aliases", "links"):
        joined = _joined(values.get(key), note.get(key))
        if joined is not None:
            changed[key] = joined
    if "supersedes" in note and "supersedes" not in values:
        changed["supersedes"] = note["supersedes"]
    return changed


def _is_same(item: Json, entry: Mapping[str, Json]) -> bool:
    return (
        isinstance(item, dict)
        and item.get("note") == entry["note"]
        and item.get("revision") == entry["revision"]
    )


def _joined(held: Json, more: Json) -> Json:
    """Both lists without repeats; None where nothing is to be changed."""
    ours, theirs = _listed(held), _listed(more)
    new = [item for item in theirs if item not in ours]
    return [*ours, *new] if new else None


def _listed(value: Json) -> list[Json]:
    if isinstance(value, str):
        return [word.strip() for word in value.split(",") if word.strip()]
    return list(value) if isinstance(value, list) else []


def _day(value: Json) -> str:
    found = _DAY.match(value.strip()) if isinstance(value, str) else None
    return found[0] if found else ""
