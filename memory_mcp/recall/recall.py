"""Recall: the right note at the right moment, or silence."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import anyio
import anyio.to_thread

from memory_mcp.core.config import Config
from memory_mcp.core.note import Card
from memory_mcp.index.view import IndexView
from memory_mcp.recall.asking import Asking, asking
from memory_mcp.recall.block import block
from memory_mcp.recall.bodies import Body, body, may_come
from memory_mcp.recall.chance import CANDIDATES, chances
from memory_mcp.recall.gate import MARGIN, REMARK, lacking, namesakes, passed
from memory_mcp.recall.kept import keep, owner
from memory_mcp.recall.opening import OPENING_CHARS, opened, whole
from memory_mcp.recall.section import IndexSection
from memory_mcp.recall.shown import Given, Shown, mark
from memory_mcp.recall.triggers import firing
from memory_mcp.recall.turn import Recalled, Turn
from memory_mcp.search.group import Group, NoteKey, Piece
from memory_mcp.search.hit import Hit, SearchRequest, side_by_side
from memory_mcp.search.query import Query
from memory_mcp.search.search import Ranking, Searcher

log = logging.getLogger(__name__)

VECTOR_SECONDS = 0.25
"""How long a turn waits for the vector of a text, twice at most; nobody asked for what it brings,
and words alone may do."""
PATIENCE_SECONDS = 1.5
"""How long a conversation that begins waits for the notes to be known by name, after a start."""
TURN_SECONDS = 0.15
"""The same for a turn: one that comes first in a project must not miss what is there."""
_LOOK = 0.02
"""Seconds between two looks whether the notes are known."""
_REST = 0.1
"""Seconds after a change before the index section is made again."""


class Recall:
    """What memory says unasked, for one agent, in a project or outside of any."""

    def __init__(
        self, index: IndexView, searcher: Searcher, config: Config, project: str | None = None
    ) -> None:
        """`project`: its id."""
        self._owner = owner(config.agent, project)
        self._index = index
        self._searcher = searcher
        self._config = config
        self._shown = Shown(Path(config.home) / ".state")
        self._section = IndexSection(index, config)
        self._section.on_change(lambda: self._changed.set())
        self._changed = anyio.Event()
        self._turns = anyio.Lock()

    async def turn(
        self,
        message: str,
        history: Sequence[Turn] = (),
        *,
        session: str | None = None,
        place: str | None = None,
        max_tokens: int | None = None,
    ) -> Recalled:
        """What comes into a turn: `block` is "" where memory has nothing to say.

        `history` is what was said before, oldest first. With a `session` nothing is repeated that
        is still in its view. `place` is the folder in which the message was sent: the same message
        from another folder is another conversation under the same id. `max_tokens` bounds the
        block below what the settings allow. Raises StorageError where the index cannot be read.
        """
        limits = self._config.recall
        with anyio.move_on_after(TURN_SECONDS):
            await self._known()
        asked = asking(message, history, limits, self._languages())
        given = Given(mark(message), mark(place))
        async with self._turns:
            seen = await self._seen(session, given)
            bodies = await self._triggered(asked.text, seen)
            built, hits, same = asked.built, list[Hit](), 0
            if built.silent is None:
                ranking, query = await self._look(asked)
                brought = {one.card.reference for one in bodies}
                hits, same = self._gated(asked, ranking, query, seen, brought)
                built = replace(built, degraded=ranking.degraded)
            most = min(max_tokens or limits.max_tokens, limits.max_tokens)
            made = block(bodies, hits, same, limits.max_results, most)
            keys = [key for one in made.bodies for key in _keys(one)]
            keys += [_key(hit.card, p.text) for hit in made.hits for p in hit.passages]
            if keys:
                await anyio.to_thread.run_sync(self._shown.add, session, keys, given)
        return Recalled(
            block=made.text,
            hits=made.hits,
            triggered=tuple(one.card.reference for one in made.bodies),
            query=built,
            left_out=made.left_out,
        )

    async def opening(
        self,
        *,
        session: str | None = None,
        source: str = "startup",
        max_chars: int = OPENING_CHARS,
    ) -> str:
        """The text with which a conversation begins: how to use memory, seeds, index section.

        `source` is why it begins: after `compact` or `clear` nothing is in view any more, and all
        is given again; after `resume` only what is not in view still. At most `max_chars`
        characters (UTF-16 units of its JSON form). Empty where nothing is new.
        """
        async with self._turns:
            if source in ("compact", "clear"):
                await anyio.to_thread.run_sync(self._shown.reset, session)
            seen = await anyio.to_thread.run_sync(self._shown.read, session)
            with anyio.move_on_after(PATIENCE_SECONDS):
                await self._known()
            await self._section.fresh()
            made = await opened(
                self._section, await self._seeds(), seen, self._config.seeds.max_bytes, max_chars
            )
            if made.keys:
                await anyio.to_thread.run_sync(self._shown.add, session, made.keys, Given())
        return made.text

    def section(self) -> str:
        """The index section as it was made last: the same bytes until a note changes. Empty until
        the index was looked at for the first time; `fresh_section` waits for that."""
        return self._section.text

    async def fresh_section(self) -> str:
        """The index section of the notes as they are now."""
        return await self._section.fresh()

    async def reset(self, session: str) -> None:
        """Nothing is in the view of a session any more."""
        await anyio.to_thread.run_sync(self._shown.reset, session)

    def listen(self, callback: Callable[[str], None]) -> None:
        """Have `callback` called with the index section: now where there is one, and each new
        one. `run` makes it anew after a change."""
        self._section.listen(callback)

    async def run(self) -> None:
        """Keep the index section up to date, until cancelled."""
        told = ""
        while True:
            await self._known()
            self._changed = anyio.Event()
            text = await self._section.fresh()
            if text != told:
                told = text
                await anyio.to_thread.run_sync(keep, self._config.home, self._owner, text)
            await self._changed.wait()
            await anyio.sleep(_REST)  # a scan reports many notes, one after the other

    async def _known(self) -> None:
        """Wait until all notes are known by name."""
        while True:
            if not self._index.state().unread:
                return
            await anyio.sleep(_LOOK)

    async def _seen(self, session: str | None, given: Given) -> frozenset[str]:
        """Keys of what is in view. The same message from another folder sees nothing of it."""
        shown = await anyio.to_thread.run_sync(self._shown.read, session)
        return frozenset(
            key
            for key, other in shown.items()
            if other.message != given.message or other.place == given.place
        )

    def _languages(self) -> frozenset[str]:
        return self._searcher.languages()

    async def _triggered(self, text: str, seen: frozenset[str]) -> list[Body]:
        """Notes that a text in the message brings, as they are now."""
        limits = self._config.triggers
        found: list[Body] = []
        if not text or not limits.max_per_step:
            return found
        fired = firing(text, case_sensitive=limits.case_sensitive)
        for entry in self._index.entries():
            card = entry.card
            if not (card.triggers or card.name) or not may_come(self._config, card):
                continue
            if fired(card) is None:
                continue
            now = await body(entry, self._config.chunking)
            if now is not None and not _in_view(now, seen):
                found.append(now)
            if len(found) == limits.max_per_step:
                break
        return found

    async def _look(self, asked: Asking) -> tuple[Ranking, Query]:
        """What was found, and the question as it was read; of two readings the first."""
        request = SearchRequest(asked.text, CANDIDATES, vector_seconds=VECTOR_SECONDS)
        found = [await self._searcher.look(request)] if asked.alone else []
        if asked.context is not None:
            found.append(await self._searcher.look(request, asked.context))
        if asked.joined is not None:
            found.append(await self._searcher.look(replace(request, query=asked.joined)))
        ranking = self._searcher.ranked(*found, most_vector=asked.most_vector)
        return ranking, found[0].query

    def _gated(
        self,
        asked: Asking,
        ranking: Ranking,
        query: Query,
        seen: frozenset[str],
        brought: set[str],
    ) -> tuple[list[Hit], int]:
        """The notes that are worth showing, and how many more say the same."""
        groups = []
        cards: dict[NoteKey, Card] = {}
        for group in ranking.groups[:CANDIDATES]:
            entry = self._index.entry(*group.note)
            if entry is not None and entry.card.reference not in brought:
                cards[group.note] = entry.card
                groups.append(group)
        names = [term for term in query.asked if term.text in asked.names]

        def fresh(group: Group, piece: Piece) -> bool:
            card = cards[group.note]
            return whole(card) not in seen and _key(card, piece.passage.text) not in seen

        floor = self._config.recall.min_score + (REMARK if asked.remark else 0.0)
        words = [term.text for term in names]
        about = () if asked.remark else namesakes(names, cards)

        def judged(piece: Piece) -> float:
            less = lacking(words, piece)
            known = floor + MARGIN if piece.note in about and not less else 0.0
            return max(piece.confidence - less, known)

        def likely(answering: Sequence[Group]) -> Mapping[NoteKey, float]:
            going_on = asked.joined is not None
            return chances(answering, ranking.groups, ranking.readings, going_on)

        found = passed(groups, floor, judged, fresh, likely, about)
        hits = (self._searcher.hit(group, group.confidence, ranking) for group in found.groups)
        return list(side_by_side([hit for hit in hits if hit is not None])), found.same

    async def _seeds(self) -> list[Body]:
        """Seed notes as they are now, by reference; none from outside."""
        entries = [entry for entry in self._index.entries() if entry.card.seed]
        allowed = [entry for entry in entries if may_come(self._config, entry.card)]
        for entry in entries:
            if entry not in allowed:
                log.warning("the seed %s is not given: it came from outside", entry.card.reference)
        allowed.sort(key=lambda entry: entry.card.reference)
        chunking = self._config.chunking
        bodies = [await body(entry, chunking) for entry in allowed]
        return [one for one in bodies if one is not None]


def _keys(given: Body) -> list[str]:
    """What is in view with a note that a trigger brought: of a cut one the passages before the
    cut."""
    told = [text for text in given.passages if text.strip() in given.text]
    return [_brought(given.card), *(_key(given.card, text) for text in told)]


def _in_view(note: Body, seen: frozenset[str]) -> bool:
    """Whether a trigger has nothing to bring: the note came as a seed, by a trigger, or in parts
    that are all of it."""
    if whole(note.card) in seen or _brought(note.card) in seen:
        return True
    keys = [_key(note.card, text) for text in note.passages]
    return bool(keys) and seen.issuperset(keys)


def _brought(card: Card) -> str:
    """What stands for a note that a trigger brought, if only its beginning."""
    return mark(f"{card.reference}@{card.revision}!")


def _key(card: Card, text: str) -> str:
    """What stands for a passage that was shown: its note and its text."""
    return mark(f"{card.reference}\0{text.strip()}")
