"""What a model is shown of a conversation, and of the notes that may hold it already."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import anyio.to_thread

from memory_mcp.core.framing import harmless, in_frame, one_line, opening
from memory_mcp.core.plain import clip, plain
from memory_mcp.core.words import query_terms
from memory_mcp.curate.parts import Parts
from memory_mcp.curate.rem.facts import Fact
from memory_mcp.curate.transcripts.turns import Turn
from memory_mcp.curate.write.similar import read_body
from memory_mcp.search.hit import SearchRequest
from memory_mcp.search.locate import locate

_ASKED = 8  # turns for which memory is searched: the longest of a person say most
_QUERY = 400
_HITS = 4
_NOTES = 10
_SHOWN = 1500  # characters of a note
_OWN_KINDS = ("memory", "wiki")


async def related(parts: Parts, turns: Sequence[Turn]) -> tuple[str, ...]:
    """The notes of inbox and wiki that are near to what a person said, each in a frame."""
    names = tuple({item.name for item in parts.index.sources if item.kind in _OWN_KINDS})
    told = sorted((t for t in turns if t.role == "user"), key=lambda t: -len(t.text))[:_ASKED]
    found: dict[str, float] = {}
    for turn in told:
        query = clip(plain(turn.text), _QUERY)
        if not names or not query_terms(query):
            continue
        hits = await parts.searcher.search(SearchRequest(query, limit=_HITS, sources=names))
        for hit in hits.hits:
            reference = hit.card.reference
            found[reference] = max(hit.score, found.get(reference, 0.0))
    best = sorted(found, key=lambda reference: (-found[reference], reference))[:_NOTES]
    return tuple([await _framed(parts, reference) for reference in best])


async def _framed(parts: Parts, reference: str) -> str:
    source, path = await locate(parts.index, reference)
    body = await anyio.to_thread.run_sync(partial(read_body, source, path))
    return in_frame(opening(reference), clip(body.strip(), _SHOWN))


def conversation(turns: Sequence[Turn], earlier: Sequence[Turn], notes: Sequence[str]) -> str:
    """The task: notes, what was said just before, and the piece that is to be judged."""
    parts = ["# What memory holds", *(notes or ("Nothing that is near.",))]
    if earlier:
        parts += ["# Said before, judged already", *map(_turn, earlier)]
    return "\n\n".join([*parts, "# The conversation", *map(_turn, turns)])


def proposed_so_far(facts: Sequence[Fact]) -> str:
    """The proposals of the first look, one line each."""
    lines = [
        f"- {fact.action} {one_line(fact.slug)}: {one_line(fact.text, 600)}" for fact in facts
    ]
    return "\n".join(["# Proposed so far", *(lines or ["Nothing."])])


def _turn(turn: Turn) -> str:
    who = "The person" if turn.role == "user" else "The assistant"
    at = f", {turn.at}" if turn.at else ""
    return f"[{who}{at}]\n{harmless(turn.text)}"
