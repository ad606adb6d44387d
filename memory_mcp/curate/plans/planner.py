"""Thinking out changes: reads see what is planned, and the disk sees nothing.

It holds the same rules as the write tools: names, headers, private parts, secrets, pinning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

import anyio.to_thread

from memory_mcp.core.compose import compose
from memory_mcp.core.config import WritingSettings
from memory_mcp.core.edit import Edited, EditRequest, apply
from memory_mcp.core.errors import ConflictError, InputError, NotFoundError, RefusedError
from memory_mcp.core.note import Json
from memory_mcp.core.ports import Clock
from memory_mcp.core.reference import inbox_note, split
from memory_mcp.core.slug import is_lost_on_windows, shown
from memory_mcp.curate.plans.moving import Moved, move
from memory_mcp.curate.plans.plan import Change, Spot
from memory_mcp.curate.write.conflict import check_revision
from memory_mcp.curate.write.decoding import decoded
from memory_mcp.curate.write.edit import iso
from memory_mcp.curate.write.policy import checked
from memory_mcp.curate.write.relation import linked, relations
from memory_mcp.index.view import IndexView
from memory_mcp.notes import files
from memory_mcp.notes.history import History
from memory_mcp.notes.place import check_name
from memory_mcp.notes.sources import Source
from memory_mcp.search.locate import locate

WIKI = "wiki"


class Planner:
    """A plan in the making, for the inbox of one agent and the wiki.

    Every change says the bytes it was made from; a second change of a note builds on the first.
    """

    def __init__(
        self,
        index: IndexView,
        inbox: Source,
        history: History,
        clock: Clock,
        settings: WritingSettings,
    ) -> None:
        self._index = index
        self._inbox = inbox
        self._history = history
        self._clock = clock
        self._settings = settings
        self._planned: dict[tuple[str, str], Change] = {}

    @property
    def changes(self) -> tuple[Change, ...]:
        """The plan so far, in the order of the first change of each note; what would leave a file
        as it is, is no change."""
        return tuple(item for item in self._planned.values() if item.before != item.after)

    def start_from(self, changes: Iterable[Change]) -> None:
        """Plan on as if these changes were planned here before."""
        self._planned.update({_key(change.spot): change for change in changes})

    def note(self, slug: str) -> Spot:
        """The place of an inbox note, there or not, by slug or reference. Raises SlugError."""
        return Spot(self._inbox, inbox_note(slug)[1])

    def page(self, path: str) -> Spot:
        """The place of a wiki page, there or not, from a path or reference. Raises InputError for
        what is no path, RefusedError where there is no wiki or the page would not be listed."""
        source = next((item for item in self._index.sources if item.kind == WIKI), None)
        if source is None:
            raise RefusedError("There is no source named wiki; configure one to keep pages.")
        _, below = split(path, {source.name})
        if any(is_lost_on_windows(part) for part in f"{below}.md".split("/")):
            raise InputError(
                f"{shown(path)} cannot be the path of a page on every system; use letters, digits,"
                " - and _, such as people/alice."
            )
        check_name(source, below)
        return Spot(source, below)

    async def spot(self, reference: str) -> Spot:
        """The place of a note that exists, or is planned, in inbox or wiki. Raises InputError,
        NotFoundError, AmbiguousError, RefusedError for a note of a vault."""
        for (_, path), change in self._planned.items():
            if change.after is not None and reference.strip() in (path, change.reference):
                return change.spot
        source, path = await locate(self._index, reference)
        if source.id != self._inbox.id and source.kind != WIKI:
            raise RefusedError(
                f"{self._index.names.reference(source.id, path)} is not in the inbox or the wiki,"
                " and nothing else is changed."
            )
        return Spot(source, path)

    async def read(self, spot: Spot) -> bytes | None:
        """The bytes of a note as planned, else as on disk; None where there is none."""
        known = self._planned.get(_key(spot))
        return known.after if known is not None else await self.on_disk(spot)

    async def on_disk(self, spot: Spot) -> bytes | None:
        """The bytes of a note on disk; None where there is none. Raises as `files.read`."""
        read = partial(files.read, spot.source, spot.path)
        try:
            return (await anyio.to_thread.run_sync(read)).data
        except NotFoundError:
            return None

    async def write(
        self,
        spot: Spot,
        content: str,
        frontmatter: Mapping[str, Json] | None = None,
        *,
        new: bool = False,
        expected: str | None = None,
        reason: str = "",
    ) -> Edited:
        """Plan the whole text of a note; `new` replaces none. Raises as `Writer.write`."""

        def change(current: bytes | None) -> Edited:
            if new and current is not None:
                raise ConflictError(f"{spot.reference} exists already; nothing was written.")
            old = None if current is None else current.decode("utf-8", "replace")
            return compose(content, frontmatter, old, self._now())

        return await self._change(spot, change, expected, reason)

    async def edit(
        self, spot: Spot, request: EditRequest, *, expected: str | None = None, reason: str = ""
    ) -> Edited:
        """Plan a change in part. Raises as `Writer.edit`."""

        def change(current: bytes | None) -> Edited:
            if current is None:
                raise NotFoundError(f"{spot.reference} does not exist; create it first.")
            return apply(request, decoded(spot.reference, current), self._now())

        return await self._change(spot, change, expected, reason)

    async def link(self, spot: Spot, target: str, relation: str, *, reason: str = "") -> Edited:
        """Plan a link in a note's header to another note, there or planned. Raises as
        `Writer.link`."""
        aim = await self._aim(target)
        if aim == spot.reference:
            raise InputError(f"{aim} cannot be linked to itself; name another target.")

        def change(current: bytes | None) -> Edited:
            if current is None:
                raise NotFoundError(f"{spot.reference} does not exist; create it first.")
            old = decoded(spot.reference, current)
            known = {item.target: item.target for item in relations(old)}
            return Edited(linked(old, aim, relation, self._now(), known))

        return await self._change(spot, change, None, reason)

    async def delete(self, spot: Spot, *, expected: str | None = None, reason: str = "") -> bool:
        """Plan that a note goes; False where there is none. Raises ConflictError."""
        current = await self.read(spot)
        if current is None:
            return False
        check_revision(spot.reference, current, expected, self._history)
        await self.put(spot, None, reason=reason)
        return True

    async def move(self, old: Spot, new: Spot, *, reason: str = "") -> Moved:
        """Plan that a page goes to another path, and that links lead where they led. Raises as
        `moving.move`."""
        return await move(self, self._index, old, new, reason)

    async def put(self, spot: Spot, after: bytes | None, *, reason: str = "") -> None:
        """Plan these very bytes (None: that the note goes)."""
        known = self._planned.get(_key(spot))
        before = known.before if known is not None else await self.on_disk(spot)
        reasons = dict.fromkeys(text for text in (known.reason if known else "", reason) if text)
        self._planned[_key(spot)] = Change(spot, before, after, " ".join(reasons))

    async def _change(
        self,
        spot: Spot,
        change: Callable[[bytes | None], Edited],
        expected: str | None,
        reason: str,
    ) -> Edited:
        current = await self.read(spot)
        check_revision(spot.reference, current, expected, self._history)
        old = "" if current is None else current.decode("utf-8", "replace")
        done = await anyio.to_thread.run_sync(checked, self._settings, old, change(current))
        await self.put(spot, done.text.encode("utf-8"), reason=reason)
        return done

    async def _aim(self, target: str) -> str:
        for (_, path), change in self._planned.items():
            if change.after is not None and target.strip() in (path, change.reference):
                return change.reference
        source, path = await locate(self._index, target)
        return self._index.names.reference(source.id, path)

    def _now(self) -> str:
        return iso(self._clock.now())


def _key(spot: Spot) -> tuple[str, str]:
    return spot.source.id, spot.path
