"""The tools that find and show notes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import mcp_types as t
from pydantic import Field

from memory_mcp.search.hit import SearchRequest, SearchResult
from memory_mcp.search.read import Reader, Reading
from memory_mcp.server.answers import ANSWER_LIMIT, Answer, as_json, first_fitting
from memory_mcp.server.calls import Offer, ToolContext
from memory_mcp.server.convert import get_out, hit_out, row_out
from memory_mcp.server.first_look import first_look
from memory_mcp.server.session import Connection, connection_of
from memory_mcp.server.text import get_text, list_text, relations, search_text
from memory_mcp.server.wire import GetOut, ListOut, SearchOut

_LONGEST = 40_000
"""Characters of a note's text in one answer, where the caller does not say."""

Sources = str | list[str]
Prefix = Annotated[
    str | None, Field(description="start of the path, such as `people/` or `wiki/people`")
]
Tag = Annotated[str | None, Field(description="only notes with this tag or one below it")]


async def memory_search(
    ctx: ToolContext,
    query: Annotated[str, Field(description="a question or keywords, in any language")],
    limit: Annotated[int, Field(ge=1, le=50, description="how many notes at most")] = 5,
    min_score: Annotated[float, Field(ge=0, le=1, description="leave out weaker hits")] = 0,
    source: Annotated[
        Sources | None, Field(description="a source or a list of them; all without it")
    ] = None,
    path_prefix: Prefix = None,
    tag: Tag = None,
) -> Annotated[t.CallToolResult, SearchOut]:
    """Search the long-term memory by meaning and by words.

    Call it before you answer questions about the person, their projects, people, preferences,
    earlier decisions or anything that may have been said before, and before you write a note.
    Hits show the passages that answer; memory_get shows a whole note.
    """
    connection = connection_of(ctx.request_context)
    await first_look(ctx)
    result = await connection.app.searcher.search(
        SearchRequest(
            query=query,
            limit=limit,
            min_score=min_score,
            sources=_names(source),
            path_prefix=path_prefix,
            tag=tag,
        )
    )
    return search_answer(result).result()


def search_answer(result: SearchResult) -> Answer:
    """The answer of a search, shortened until it fits."""
    return first_fitting(_search_answers(result))


def search_out(result: SearchResult) -> SearchOut:
    """The structured answer of a search, as long as it comes."""
    return _search_answer(result, len(result.hits)).out  # type: ignore[return-value]


def search_shown(result: SearchResult, *, whole: bool = False) -> dict[str, Any]:
    """A search for a person at the command line: the structured answer as `found`, shortened
    until it fits unless it is wanted `whole`, and how each of its hits stands to other notes as
    `relations`."""
    found = (search_out(result) if whole else search_answer(result).out).model_dump(mode="json")
    hits = result.hits[: len(found["hits"])]
    return {"found": found, "relations": [relations(hit) for hit in hits]}


def _search_answers(result: SearchResult) -> Iterator[Answer]:
    """The answer, then ever shorter ones: fewer passages, fewer hits, shorter passages."""
    count = len(result.hits)
    for passages in (None, 2, 1):
        yield _search_answer(result, count, passages)
    while count > 1:
        count = count * 3 // 4
        yield _search_answer(result, count, 1)
    for characters in (20_000, 5_000):
        yield _search_answer(result, count, 1, characters)


def _search_answer(
    result: SearchResult, count: int, passages: int | None = None, characters: int | None = None
) -> Answer:
    hits = result.hits[:count]
    out = SearchOut(
        hits=[hit_out(hit, passages, characters) for hit in hits],
        degraded=result.degraded,
        pending=result.pending,
        total=len(result.hits),
    )
    return Answer(out, search_text(out, hits))


async def memory_get(
    ctx: ToolContext,
    reference: Annotated[
        str, Field(description="such as memory/garden or wiki/people/alice, from a hit or a list")
    ],
    heading: Annotated[str | None, Field(description="only this section, without #")] = None,
    offset: Annotated[
        int | None, Field(ge=0, le=10**9, description="next_offset of the part before")
    ] = None,
    max_chars: Annotated[
        int | None, Field(ge=1, le=10**9, description="characters of text at most, up to 40000")
    ] = None,
) -> Annotated[t.CallToolResult, GetOut]:
    """Read a note: its text as it is in the file, header, revision, links and back links.

    Read a note before you edit it. A long one comes in parts: go on with offset=next_offset.
    """
    await first_look(ctx)
    connection = connection_of(ctx.request_context)
    answer, reading = await read_note(
        connection, reference, heading, offset or 0, min(max_chars or _LONGEST, _LONGEST)
    )
    remember(connection, reading, heading, offset or 0)
    return answer.result()


async def read_note(
    connection: Connection, reference: str, heading: str | None, offset: int, max_chars: int
) -> tuple[Answer, Reading]:
    """A part of a note that fits into an answer, and what was read for it."""
    while True:
        reading = await connection.app.reader.get(reference, heading, offset, max_chars)
        out = get_out(reading)
        answer = Answer(out, get_text(out, reading.provenance, offset))
        longest = max(len(answer.text), len(as_json(out)))
        if longest <= ANSWER_LIMIT or max_chars <= 1:
            return answer, reading
        shown = min(max_chars, len(reading.content))
        max_chars = max(1, min(shown - 1, shown * ANSWER_LIMIT // longest * 9 // 10))


def remember(connection: Connection, reading: Reading, heading: str | None, offset: int) -> None:
    """Note in the session what the client has now seen."""
    paged = heading is None
    connection.session.read(
        reading.reference,
        reading.revision,
        complete=reading.complete,
        start=offset if paged else None,
        end=reading.next_offset,
    )


async def memory_list(
    ctx: ToolContext,
    source: Annotated[
        Sources, Field(description="a source, a list of them, or all; the inbox without it")
    ] = "memory",
    tag: Tag = None,
    path_prefix: Prefix = None,
    limit: Annotated[int, Field(ge=1, le=1000, description="how many notes on a page")] = 100,
    cursor: Annotated[str | None, Field(description="next_cursor of the page before")] = None,
) -> Annotated[t.CallToolResult, ListOut]:
    """List notes with title, description, tags and dates, page by page.

    To find something, memory_search is better; this shows what there is.
    """
    await first_look(ctx)
    reader = connection_of(ctx.request_context).app.reader
    names = _names(source) or ("memory",)
    return list_answer(reader, names, tag, path_prefix, limit, cursor).result()


def list_answer(
    reader: Reader,
    source: tuple[str, ...],
    tag: str | None,
    path_prefix: str | None,
    limit: int,
    cursor: str | None,
) -> Answer:
    """A page of notes, with fewer of them where the page would be too long."""
    while True:
        listing = reader.list(
            source=source, tag=tag, path_prefix=path_prefix, limit=limit, cursor=cursor
        )
        out = ListOut(
            notes=[row_out(row) for row in listing.rows],
            total=listing.total,
            next_cursor=listing.next_cursor,
        )
        answer = Answer(out, list_text(out))
        longest = max(len(answer.text), len(as_json(out)))
        if longest <= ANSWER_LIMIT or limit == 1:
            return answer
        limit = max(1, len(out.notes) * ANSWER_LIMIT // longest * 9 // 10)


def _names(source: Sources | None) -> tuple[str, ...]:
    return (source,) if isinstance(source, str) else tuple(source or ())


OFFERS = (
    Offer(memory_search, "Search memory"),
    Offer(memory_get, "Read a note"),
    Offer(memory_list, "List notes"),
)
