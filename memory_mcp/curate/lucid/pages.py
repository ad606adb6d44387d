"""The wiki as a whole, as values: what each page is called, says, and links to."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import anyio.lowlevel

from memory_mcp.core.errors import AmbiguousError, MemoryMcpError
from memory_mcp.core.note import Card, Link
from memory_mcp.curate.plans.planner import WIKI
from memory_mcp.curate.wiki.page_names import is_own
from memory_mcp.index.table import Entry
from memory_mcp.index.view import IndexView

_AT_ONCE = 10  # pages, some milliseconds
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Led:
    """A link of a page, and the reference that it leads to; None where it leads nowhere.
    `ambiguous`: since more than one note fits."""

    link: Link
    to: str | None
    ambiguous: bool = False


@dataclass(frozen=True)
class Page:
    """A page of the wiki. `own`: a log or the index, which curation writes itself."""

    card: Card
    texts: tuple[str, ...]
    """Its passages, as they are written."""
    points: tuple[int, ...]
    """One for each text."""
    led: tuple[Led, ...]
    superseded_by: str | None
    own: bool

    @property
    def reference(self) -> str:
        """As clients name it."""
        return self.card.reference

    @cached_property
    def words(self) -> int:
        """How long it is."""
        return sum(len(_WORD.findall(text)) for text in self.texts)

    @property
    def names(self) -> tuple[str, ...]:
        """What it is called: title, name, aliases."""
        card = self.card
        found = (card.title, card.name, *card.aliases)
        return tuple(dict.fromkeys(name for name in found if name))


async def pages_of(index: IndexView) -> tuple[Page, ...]:
    """The pages of the wiki, in the order of their paths. Others get their turn meanwhile: names
    live on the event loop, and a wiki of 5,000 pages takes seconds."""
    wiki = [source.id for source in index.sources if source.kind == WIKI]
    found: list[Page] = []
    for entry in sorted(index.entries(wiki), key=lambda entry: entry.card.path):
        found.append(_page(index, entry))
        if len(found) % _AT_ONCE == 0:
            await anyio.lowlevel.checkpoint()
    return tuple(found)


def state_of(pages: Iterable[Page]) -> str:
    """A name for what the wiki says now."""
    lines = (f"{page.card.path}\0{page.card.revision}\n" for page in pages if not page.own)
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _page(index: IndexView, entry: Entry) -> Page:
    names, key = index.names, entry.key
    led = []
    for link in entry.card.links:
        goal = names.target(*key, link) if link.target else key
        to = None if goal is None else names.reference(*goal)
        led.append(Led(link, to, to is None and _is_ambiguous(index, link.target)))
    return Page(
        card=entry.card,
        texts=tuple(passage.text for passage in entry.passages),
        points=entry.points,
        led=tuple(led),
        superseded_by=names.superseded_by(*key),
        own=is_own(entry.card.path),
    )


def _is_ambiguous(index: IndexView, target: str) -> bool:
    try:
        index.names.resolve(target)
    except AmbiguousError:
        return True
    except MemoryMcpError:
        return False
    return False
