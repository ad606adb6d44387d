"""Finding: the index gives evidence, pure modules rank it, and hits are made of the best."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from anyio.lowlevel import checkpoint

from memory_mcp.core.config import SearchSettings
from memory_mcp.core.errors import InputError
from memory_mcp.index.view import IndexView
from memory_mcp.search import query
from memory_mcp.search.confidence import falling
from memory_mcp.search.context import Context
from memory_mcp.search.family import family_of
from memory_mcp.search.filters import Filters
from memory_mcp.search.gather import Found, gather
from memory_mcp.search.group import Group, Piece, behind_successors, better, group
from memory_mcp.search.hit import Hit, HitPassage, SearchRequest, SearchResult, side_by_side
from memory_mcp.search.profile import NoteKey
from memory_mcp.search.profiles import Profiles
from memory_mcp.search.rank import Weights, rank
from memory_mcp.search.scope import scope

MAX_LIMIT = 50


@dataclass(frozen=True, slots=True)
class Ranking:
    """All that a question found, before anything is cut."""

    pieces: tuple[Piece, ...]
    """Passages in ranking order."""
    groups: tuple[Group, ...]
    """Their notes in ranking order."""
    readings: tuple[Sequence[Piece], ...]
    """The passages of each way in which the question was read, ranked on its own scale."""
    reachable: float
    """The BM25 score that a passage could reach at most."""
    degraded: str | None
    pending: int


class Searcher:
    """Hybrid search over the sources of an index."""

    def __init__(
        self, index: IndexView, settings: SearchSettings, weights: Weights | None = None
    ) -> None:
        self._index = index
        self._settings = settings
        self._weights = weights or Weights()
        self._filters = Filters()
        self._profiles = Profiles()
        self._spoken: dict[tuple[tuple[str, ...], int], frozenset[str]] = {}
        index.subscribe(lambda event: self._spoken.clear())

    async def search(self, request: SearchRequest) -> SearchResult:
        """The notes that answer, the best first.

        The order comes from the ranking; `score` says how good the match is. Where a rule put a
        note before one that matches better, the two share their mean, so that scores never rise
        along the list. `min_score` filters by the note's own confidence. Raises InputError for a
        blank query, a limit or floor out of range, and a source that is not there.
        """
        _check(request)
        ranking = await self.ranking(request)
        judged = [(item, item.confidence) for item in ranking.groups]
        kept = [(item, own) for item, own in judged if own >= request.min_score]
        scores = falling([own for _, own in kept])
        shown = zip(kept[: request.limit], scores, strict=False)
        found = (self.hit(item, score, ranking, request.explain) for (item, _), score in shown)
        hits = side_by_side([hit for hit in found if hit])
        return SearchResult(hits, ranking.degraded, ranking.pending)

    async def ranking(self, request: SearchRequest) -> Ranking:
        """Everything that was found for a request, ranked; `limit` and `min_score` are not
        applied."""
        found = await self.look(request)
        await checkpoint()  # others get their turn between the two halves of the work
        return self.ranked(found)

    async def look(self, request: SearchRequest, context: Context | None = None) -> Found:
        """The evidence for a request, before it is ranked; `context` is what was said before it.
        Raises as `search` does."""
        text = query.check(request.query)
        where = scope(self._index.sources, request.sources, request.path_prefix, request.tag)
        languages = self._languages(where.source_ids)
        seconds = request.vector_seconds
        return await gather(
            self._index, where, text, languages, self._filters, self._profiles, context, seconds
        )

    def ranked(self, found: Found, *others: Found, most_vector: float = 1.0) -> Ranking:
        """Rank evidence. Pure but for the state of the index that it reports.

        Where one question was read in several ways, each way is ranked on its own scale, and a
        passage keeps the better of its ranks. `most_vector`: the share that vectors have at most.
        """
        state = self._index.state()
        family = family_of(state.embedder.model or "", state.embedder.band)
        weights = replace(self._weights, most_vector=most_vector)
        readings = tuple(
            rank(one.evidence, one.query, family, self._settings, weights)
            for one in (found, *others)
        )
        pieces = better(readings)
        replaced = {note for one in (found, *others) for note in one.evidence.superseded}
        groups = behind_successors(group(pieces), self._successors(pieces, replaced))
        return Ranking(
            pieces=tuple(pieces),
            groups=tuple(groups),
            readings=readings,
            reachable=found.reachable,
            degraded=state.degraded or found.problem,
            pending=state.pending,
        )

    def languages(self) -> frozenset[str]:
        """The languages of all notes that can be found."""
        return self._languages(tuple(source.id for source in self._index.sources))

    def _languages(self, source_ids: tuple[str, ...]) -> frozenset[str]:
        """The languages of the notes, and the one of the settings; remembered until a change."""
        key = (source_ids, self._index.words(source_ids).size)
        known = self._spoken.get(key)
        if known is None:
            chosen = self._settings.language
            known = frozenset(
                self._index.languages(source_ids) | ({chosen} if chosen != "auto" else set())
            )
            self._spoken[key] = known
        return known

    def _successors(
        self, pieces: Iterable[Piece], replaced: Collection[NoteKey]
    ) -> dict[NoteKey, NoteKey]:
        """Which found notes are replaced by which found ones."""
        names = self._index.names
        newer = {note: name for note in replaced if (name := names.superseded_by(*note))}
        if not newer:
            return {}
        keys = {names.reference(*note): note for note in {piece.note for piece in pieces}}
        return {note: keys[name] for note, name in newer.items() if name in keys}

    def hit(
        self, found: Group, score: float, ranking: Ranking, explain: bool = False
    ) -> Hit | None:
        """A ranked note with its passages; None where it was deleted meanwhile."""
        entry = self._index.entry(*found.note)
        if entry is None:  # deleted while we were ranking
            return None
        names = self._index.names
        best = found.pieces[0]
        return Hit(
            card=entry.card,
            score=score,
            vector_score=None if best.cosine is None else min(1.0, max(0.0, best.cosine)),
            bm25_score=min(1.0, best.bm25 / ranking.reachable) if ranking.reachable else 0.0,
            passages=tuple(_passage(piece) for piece in found.pieces),
            superseded_by=names.superseded_by(*found.note),
            replaces=names.replaced_by(*found.note),
            contradicts=names.contradicting(*found.note),
            copies=tuple(names.reference(*copy) for copy in found.copies),
            trace=found.trace if explain else None,
        )


def _passage(piece: Piece) -> HitPassage:
    passage = piece.passage
    return HitPassage(passage.heading, passage.text, passage.first, passage.last, piece.confidence)


def _check(request: SearchRequest) -> None:
    if not 1 <= request.limit <= MAX_LIMIT:
        raise InputError(f"limit is {request.limit}; it must be between 1 and {MAX_LIMIT}.")
    if not 0 <= request.min_score <= 1:
        raise InputError(f"min_score is {request.min_score}; it must be between 0 and 1.")
