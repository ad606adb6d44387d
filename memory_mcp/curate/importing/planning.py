"""From what was read to a plan, and a report of every single thing: taken, there already, left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal

import anyio.to_thread

from memory_mcp.core import frontmatter
from memory_mcp.core.errors import (
    InputError,
    MemoryMcpError,
    NotFoundError,
    RefusedError,
    StorageError,
)
from memory_mcp.core.links import body_links
from memory_mcp.core.metadata import metadata
from memory_mcp.core.note import Json
from memory_mcp.core.reference import clean
from memory_mcp.core.slug import shown
from memory_mcp.core.wording import Wording, wording
from memory_mcp.curate.curation import Parts
from memory_mcp.curate.importing.claude import read_claude
from memory_mcp.curate.importing.folder import read_folder
from memory_mcp.curate.importing.graph import read_graph
from memory_mcp.curate.importing.item import Item, Kind, Left, Reading
from memory_mcp.curate.importing.placing import Into, Placed, Places
from memory_mcp.curate.importing.stamp import Origin, check_readable, origin_of, stamped
from memory_mcp.curate.plans.plan import Change, Spot
from memory_mcp.curate.write.edit import iso
from memory_mcp.curate.write.policy import check_secrets
from memory_mcp.notes.failure import plain_reason
from memory_mcp.notes.own import real

LARGEST_GRAPH = 64 * 1024 * 1024
"""Bytes of a graph that is read at once."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A note that is imported, or was before: where it stands, and what a person should know."""

    origin: str
    reference: str
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Import:
    """A plan, and what it leaves out. `there` needs no change."""

    by: str
    changes: tuple[Change, ...]
    taken: tuple[Taken, ...]
    there: tuple[Taken, ...]
    left: tuple[Left, ...]


async def plan_import(
    parts: Parts, kind: Kind, path: Path, into: Into | None = None, folder: str | None = None
) -> Import:
    """Read another memory and plan how its notes come into this one. Nothing is written.

    `into` is the inbox for facts and the wiki for folders of pages, unless it is said; `folder` is
    a path in the wiki. Nothing that is there is ever part of the plan. Raises NotFoundError,
    InputError, RefusedError, StorageError.
    """
    into = into or ("wiki" if kind == "markdown" else "memory")
    if folder is not None and into == "memory":
        raise InputError("The inbox has no folders; folder is for an import into the wiki.")
    _check_apart(parts, path)
    words = wording(parts.config.curation.language)
    reading = await anyio.to_thread.run_sync(_read, kind, path, words)
    planner = parts.planner()
    if into == "wiki":
        planner.page("wiki/page")  # raises where there is no wiki
    places = Places(planner, reading.by, into, _folder(reading, folder))
    work = _Work(reading, places, iso(parts.clock.now()), parts.config.writing.secrets)
    await anyio.to_thread.run_sync(work.run)
    for spot, data in work.planned:
        await planner.put(spot, data, reason=f"imported from {reading.by}")
    return Import(
        reading.by, planner.changes, tuple(work.taken), tuple(work.there), tuple(work.left)
    )


@dataclass(slots=True)
class _Work:
    """The blocking part: names, texts, checks."""

    reading: Reading
    places: Places
    now: str
    secrets: Literal["warn", "refuse", "allow"]
    planned: list[tuple[Spot, bytes]] = field(default_factory=list)
    taken: list[Taken] = field(default_factory=list)
    there: list[Taken] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)

    def run(self) -> None:
        """Place every item, then write the texts, which may name each other's places."""
        self.left.extend(self.reading.left)
        placed = self._placed()
        references = {item.item.origin: item.spot.reference for item in placed}
        for one in placed:
            try:
                self._plan(one, references)
            except MemoryMcpError as error:
                self.left.append(Left(one.item.origin, str(error)))

    def _placed(self) -> list[Placed]:
        items = [item for item in self.reading.items if self._is_readable(item)]
        known = {item.origin: self.places.earlier(item) for item in items}
        found = []
        for item in items:
            place = known[item.origin] or self.places.fresh(item)
            if place is None:
                self.left.append(Left(item.origin, "no name for it is free; rename it"))
            else:
                found.append(place)
        return found

    def _is_readable(self, item: Item) -> bool:
        try:
            check_readable(item.text)
        except RefusedError as error:
            self.left.append(Left(item.origin, str(error)))
            return False
        return True

    def _plan(self, place: Placed, references: Mapping[str, str]) -> None:
        item, reference = place.item, place.spot.reference
        if place.before is not None and place.before == item.raw:
            self.there.append(Taken(item.origin, reference))
            return
        before = "" if place.before is None else place.before.decode("utf-8", "replace")
        earlier = origin_of(before)
        at = self.now if earlier is None else earlier[1]
        made = stamped(
            item.text,
            Origin(self.reading.by, item.origin),
            at,
            _values(place, before, references),
        )
        data = made.text.encode("utf-8")
        if data == place.before:
            self.there.append(Taken(item.origin, reference))
            return
        if place.before is not None:
            raise RefusedError(
                f"it was imported before as {reference}, and one of the two has changed since;"
                " carry over what you want, or delete that note and import again"
            )
        warnings = check_secrets("", made.text, self.secrets)
        dropped = [f"{key} was left out: text from outside" for key in made.dropped]
        remarks = (*item.remarks, *dropped, *_lost_links(place), *warnings)
        self.planned.append((place.spot, data))
        self.taken.append(Taken(item.origin, reference, remarks))


def _read(kind: Kind, path: Path, words: Wording) -> Reading:
    if kind == "markdown":
        return read_folder(path)
    if kind == "claude-code":
        return read_claude(path)
    return read_graph(_graph_text(path), words)


def _graph_text(path: Path) -> str:
    name = shown(str(path), 200)
    if not path.is_file():
        raise NotFoundError(
            f"There is no file {name}; the reference memory server keeps its graph in the file"
            " that MEMORY_FILE_PATH names, memory.jsonl or memory.json."
        )
    try:
        if path.stat().st_size > LARGEST_GRAPH:
            raise InputError(f"{name} has more than {LARGEST_GRAPH:,} bytes; split it by lines.")
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is no UTF-8 text (byte {error.start:,}).") from error
    except OSError as error:
        raise StorageError(f"{name} cannot be read: {plain_reason(error)}.") from error


def _check_apart(parts: Parts, path: Path) -> None:
    place = real(path)
    for source in parts.index.sources:
        if source.kind == "vault":
            continue
        if place.is_relative_to(source.root) or source.root.is_relative_to(place):
            raise InputError(
                f"{shown(str(path), 200)} holds notes of this memory already ({source.name});"
                " name a folder outside of it."
            )


def _folder(reading: Reading, given: str | None) -> str:
    """Where an import stands in the wiki: a graph's folders are the wiki's own."""
    if given is not None:
        return "" if given.strip(" ./") == "" else clean(given)
    return {"mcp-memory": ""}.get(reading.kind, reading.by)


def _values(place: Placed, before: str, references: Mapping[str, str]) -> dict[str, Json]:
    """What the header of an imported note says besides its provenance."""
    item = place.item
    values = dict(item.header)
    links: Sequence[Json] = [
        {"to": references[target], "relation": relation}
        for target, relation in item.links
        if target in references
    ]
    if links:
        values["links"] = list(links)
    known = frontmatter.split_and_load(before)[1].values
    updated = known.get("updated") or item.modified
    if updated:
        values["updated"] = updated
    stem = PurePosixPath(item.path).name
    own = metadata({**values, **frontmatter.split_and_load(item.text)[1].values})
    names = {name.casefold() for name in (own.title, own.name, *own.aliases) if name}
    if PurePosixPath(place.spot.path).name != stem and stem.casefold() not in names:
        values["aliases"] = [*own.aliases, stem]
    return values


def _lost_links(place: Placed) -> tuple[str, ...]:
    """Links by a path that the note had where it comes from, and has not here."""
    if place.spot.path.endswith(place.item.path):
        return ()
    lost = [
        link.target
        for _, _, link in body_links(frontmatter.split(place.item.text).body)
        if link is not None and link.kind == "markdown" and "/" in link.target
    ]
    if not lost:
        return ()
    return (f"{len(lost)} link(s) by a path may lead nowhere now, such as {shown(lost[0])}",)
