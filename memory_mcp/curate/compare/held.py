"""What memory holds already of a text that comes: which notes are near, and what is new in it."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import anyio.to_thread
import numpy as np

from memory_mcp.core.fold import fold
from memory_mcp.core.note import Passage
from memory_mcp.core.plain import clip, plain
from memory_mcp.core.saying import saying
from memory_mcp.core.words import folded_words, query_terms
from memory_mcp.curate.compare.lexicon import RELATIVE
from memory_mcp.curate.compare.novelty import Kind, Novelty, compare, missing
from memory_mcp.curate.compare.sentences import sentences, takes_back
from memory_mcp.curate.write.similar import OWN_KINDS, read_body
from memory_mcp.index.frames import frames
from memory_mcp.index.table import Entry
from memory_mcp.index.view import IndexView
from memory_mcp.search.confidence import meaning
from memory_mcp.search.family import MINILM, family_of

log = logging.getLogger(__name__)

_RELATIVE = frozenset(map(fold, RELATIVE))
_MAX_CANDIDATES = 20
_MAX_COMPARED = 20_000
"""Characters up to which two texts are compared sentence by sentence: 0.3 s of a worker thread.
Longer ones are the same only where they are equal."""
_MAX_NEW = 5  # values and words that are named as new
_MAX_EXCERPT = 160
_ORDER: tuple[Kind, ...] = ("same", "contradiction", "new", "unrelated")


@dataclass(frozen=True, slots=True)
class Held:
    """A note of inbox or wiki that is near a text, and how the text stands to it."""

    reference: str
    novelty: Novelty
    superseded_by: str | None = None
    """The note that replaces it: to say again what was replaced is news."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What is to be told of a text that is saved: `same` is the note that says it already."""

    same: str | None
    told: str
    """A sentence or two for the person; empty where nothing is near."""


async def held(index: IndexView, text: str) -> Standing:
    """How a text stands to what memory holds. Only "same" may keep it from being filed."""
    near = await nearest(index, text)
    for item in near:
        if item.novelty.kind == "same" and item.superseded_by is None:
            if _RELATIVE.isdisjoint(folded_words(text)):
                return Standing(item.reference, f"Nothing new: {item.reference} says it already.")
            return Standing(None, f"{item.reference} says the same, perhaps of another day.")
    return Standing(None, _told(near[0]) if near else "")


async def nearest(index: IndexView, text: str) -> tuple[Held, ...]:
    """The notes of inbox and wiki that have the subject of a text, the nearest first.

    Without vectors, and where they fail, words alone decide.
    """
    own = {source.id for source in index.sources if source.kind in OWN_KINDS}
    if not own or not text.strip():
        return ()
    points = await _by_words(index, own, text)
    cosines = await _by_meaning(index, own, text, points)
    found: dict[str, Held] = {}
    for entry in _entries(index, (*points, *cosines)):
        judged = await anyio.to_thread.run_sync(_judge, text, entry, cosines)
        superseded = index.names.superseded_by(*entry.key)
        found[entry.card.reference] = Held(entry.card.reference, judged, superseded)
    kept = [item for item in found.values() if item.novelty.kind != "unrelated"]
    return tuple(sorted(kept, key=_rank))


def _rank(item: Held) -> tuple[bool, bool, int, int, float]:
    novelty = item.novelty
    kind = _ORDER.index(novelty.kind)
    lacking = len(novelty.missing)
    return kind > 0, item.superseded_by is not None, lacking, kind, -novelty.likeness


async def _by_words(index: IndexView, own: Collection[str], text: str) -> tuple[int, ...]:
    """Points of passages that hold the words of a text, the best first."""
    languages = {entry.card.language for entry in index.entries(own)} or {"en"}
    terms = query_terms(text[:_MAX_COMPARED], languages)
    return tuple(
        point for point, _ in await index.by_words(index.words(own), terms, _MAX_CANDIDATES)
    )


async def _by_meaning(
    index: IndexView, own: Collection[str], text: str, points: Collection[int]
) -> dict[int, float]:
    """Likeness of those points and of the nearest passages; empty without vectors.

    Cosines of other models than the bundled one are put on its scale.
    """
    try:
        vector = await index.query_vector(text)
        if vector is None:
            return {}
        near, exact = await index.around(own, vector, _MAX_CANDIDATES, points)
    except Exception as error:  # noqa: BLE001 - the text is safe without them, and must be filed
        log.error("Comparing by meaning failed: %s", frames(error))
        return {}
    embedder = index.state().embedder
    family = family_of(embedder.model or "", embedder.band)
    if family is MINILM:
        return dict(near) | exact
    width = MINILM.full - MINILM.noise
    known = dict(near) | exact
    scaled = MINILM.noise + width * meaning(np.array(list(known.values())), family)
    return dict(zip(known, np.minimum(1.0, scaled).tolist(), strict=True))


def _entries(index: IndexView, points: Iterable[int]) -> list[Entry]:
    """The notes of these points, each once, in order."""
    found: dict[str, Entry] = {}
    for point in points:
        if (there := index.at(point)) is not None:
            found.setdefault(there[0].card.reference, there[0])
    return list(found.values())[:_MAX_CANDIDATES]


def _judge(text: str, entry: Entry, cosines: dict[int, float]) -> Novelty:
    """How a text stands to a note: to all of it, else to the passage that comes nearest.
    Blocking."""
    likeness = max((cosines.get(point, 0.0) for point in entry.points), default=0.0)
    wanted = saying(text)
    body = read_body(entry.source, entry.card.path)
    titled = _titled(entry.card.title, body)
    meant = titled == body or not any(map(takes_back, sentences(entry.card.title)))
    whole_body = meant and saying(body) == wanted
    if wanted and (whole_body or any(_is(passage, wanted) for passage in entry.passages)):
        return Novelty("same", likeness, (), clip(plain(text), _MAX_EXCERPT))
    if len(text) > _MAX_COMPARED or len(body) > _MAX_COMPARED:
        near = _passage(entry, cosines).text
        novelty = compare(text[:_MAX_COMPARED], near, likeness)
        return replace(novelty, kind="new") if novelty.kind == "same" else novelty
    whole = compare(text, titled, likeness)
    if whole.kind == "same" or len(entry.passages) == 1:
        return whole
    part = compare(text, _passage(entry, cosines).text, likeness)
    kind: Kind = "new" if part.kind == "same" else part.kind
    return replace(part, kind=kind, missing=whole.missing)


def _is(passage: Passage, wanted: tuple[str, ...]) -> bool:
    """Whether a passage says just that, under headings that do not take it back."""
    return saying(passage.text) == wanted and not any(map(takes_back, sentences(passage.heading)))


def _passage(entry: Entry, cosines: dict[int, float]) -> Passage:
    pairs: Sequence[tuple[Passage, int]] = list(zip(entry.passages, entry.points, strict=True))
    return max(pairs, key=lambda pair: cosines.get(pair[1], 0.0))[0]


def _titled(title: str, body: str) -> str:
    """A body under the title of its note, which says what it is about where the first line does
    not."""
    first = next((line for line in body.splitlines() if line.strip()), "")
    return f"# {title}\n\n{body}" if missing(title.rstrip("…"), first) else body


def _told(near: Held) -> str:
    """What a person should know of the nearest note before a second one stands beside it."""
    novelty = near.novelty
    if near.superseded_by is not None:
        return f"{near.reference} was about it, and {near.superseded_by} replaced that note."
    excerpt = clip(plain(novelty.excerpt), _MAX_EXCERPT)
    if novelty.kind == "contradiction":
        return f"It may contradict {near.reference}: “{excerpt}”."
    if not novelty.missing:
        return f"{near.reference} says nearly the same: “{excerpt}”."
    more = len(novelty.missing) - _MAX_NEW
    new = ", ".join(novelty.missing[:_MAX_NEW]) + (f" and {more} more" if more > 0 else "")
    return f"{near.reference} is near; new to it: {new}."
