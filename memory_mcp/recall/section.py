"""The index section: what there is in memory, in the same bytes until a note changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import anyio

from memory_mcp.core.config import Config
from memory_mcp.core.errors import MemoryMcpError
from memory_mcp.core.note import Card
from memory_mcp.index.table import Entry
from memory_mcp.index.view import IndexView
from memory_mcp.notes.sources import Source
from memory_mcp.recall.bodies import body, may_come
from memory_mcp.recall.layout import Contents, fitted, folders, row

_ORDER = {"memory": 0, "wiki": 1, "vault": 2}


class IndexSection:
    """Makes the section anew after a change of a note, and never between."""

    def __init__(self, index: IndexView, config: Config) -> None:
        self._index = index
        self._config = config
        self._contents = Contents()
        self._text = ""
        self._stale = True
        self._making = anyio.Lock()
        self._on_change: list[Callable[[], None]] = []
        self._on_text: list[Callable[[str], None]] = []
        index.subscribe(lambda event: self._changed())

    @property
    def text(self) -> str:
        """The section as it was made last; empty before the first time."""
        return self._text

    def listen(self, callback: Callable[[str], None]) -> None:
        """Have `callback` called with the section: now where there is one, and each new one."""
        self._on_text.append(callback)
        if self._text:
            callback(self._text)

    def on_change(self, callback: Callable[[], None]) -> None:
        """Have `callback` called when a note has changed."""
        self._on_change.append(callback)

    def _changed(self) -> None:
        self._stale = True
        for callback in self._on_change:
            callback()

    async def fresh(self) -> str:
        """The section of the notes as they are now."""
        async with self._making:  # a second caller waits, and has no part of it before
            while self._stale:
                await self._make()
            return self._text

    async def _make(self) -> None:
        self._stale = False
        try:
            self._contents = await self._gathered()
        except BaseException:  # cancelled, too: a hook has little time
            self._stale = True
            raise
        text = fitted(self._contents, self._config.index_section.max_bytes)
        if text != self._text:
            self._text = text
            for callback in self._on_text:
                callback(text)

    async def within(self, max_bytes: int) -> str:
        """The section in at most so many bytes."""
        await self.fresh()
        return fitted(self._contents, min(max_bytes, self._config.index_section.max_bytes))

    async def _gathered(self) -> Contents:
        limits = self._config.index_section
        entries = sorted(self._index.entries(), key=_place)
        counts = Counter(entry.source.id for entry in entries)
        found = self._index_entry(limits.file)
        pinned = [entry for entry in entries if entry.card.pinned and entry is not found]
        wanted = [entry for entry in [found, *pinned] if entry is not None]
        allowed = [entry for entry in wanted if may_come(self._config, entry.card)]
        bodies = [await body(e, self._config.chunking) for e in allowed]
        texts = {b.card.reference: b for b in bodies if b is not None}
        own = [entry.card for entry in entries if entry.source.kind != "vault"]
        listed = [card for card in own if card.reference not in texts]
        near = [card for card in listed if card.path.count("/") < limits.max_depth]
        return Contents(
            counts=tuple((_label(one), counts[one.id]) for one in self._index.sources),
            index=texts.get(found.card.reference) if found else None,
            pinned=tuple(texts[key] for entry in pinned if (key := entry.card.reference) in texts),
            refused=tuple(entry.card for entry in wanted if entry not in allowed),
            rows=tuple(row(card) for card in near[: limits.max_files]),
            unlisted=len(listed) - len(near[: limits.max_files]),
            folders=tuple(
                folders(one.name, [e.card.path for e in entries if e.source.id == one.id])
                for one in self._index.sources
                if counts[one.id] and one.kind == "vault"
            ),
            unfiled=sum(entry.source.kind == "memory" and _waits(entry.card) for entry in entries),
        )

    def _index_entry(self, name: str) -> Entry | None:
        """The index file: in the inbox, then in the wiki, then as a reference."""
        path = name.removesuffix(".md").removeprefix("./")
        for kind in ("memory", "wiki"):
            for source in (one for one in self._index.sources if one.kind == kind):
                entry = self._index.entry(source.id, path)
                if entry is not None:
                    return entry
        try:
            source, path = self._index.names.resolve(name)
        except MemoryMcpError:
            return None
        return self._index.entry(source.id, path)


def _label(source: Source) -> str:
    return f"{source.name} of this project" if source.scope == "project" else source.name


def _waits(card: Card) -> bool:
    """Whether a note of the inbox may move on; what arrives unasked stays where it is."""
    return not (card.pinned or card.seed or card.triggers)


def _place(entry: Entry) -> tuple[int, str]:
    source: Source = entry.source
    return _ORDER.get(source.kind, len(_ORDER)), entry.card.reference
