"""What is not MCP: `/health` for programs that watch, `/api/…` for a look into the memory."""

from __future__ import annotations

import difflib
from typing import Annotated, Any, TypeVar

import anyio
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from memory_mcp import __version__
from memory_mcp.app import App
from memory_mcp.core.errors import InputError
from memory_mcp.search.hit import SearchRequest
from memory_mcp.server.convert import trace_out
from memory_mcp.server.first_look import wait_for_words
from memory_mcp.server.http.guard import GRANT
from memory_mcp.server.http.rooms import Memories
from memory_mcp.server.read_tools import list_answer, search_answer
from memory_mcp.server.recall_tools import Said, recall_answer
from memory_mcp.server.session import Patience

HEALTH_SECONDS = 0.5
"""How long `/health` waits for a memory that is being opened: who watches wants an answer."""

Asked = TypeVar("Asked", bound="_Asked")


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    source: tuple[str, ...] = ()
    path_prefix: str | None = None
    tag: str | None = None


class _Search(_Asked):
    q: Annotated[str, Field(min_length=1)]
    limit: Annotated[int, Field(ge=1, le=50)] = 5
    min_score: Annotated[float, Field(ge=0, le=1)] = 0
    explain: bool = False


class _Notes(_Asked):
    limit: Annotated[int, Field(ge=1, le=1000)] = 100
    cursor: str | None = None


class _Recall(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    message: Annotated[str, Field(min_length=1)]
    history: tuple[Said, ...] = ()
    max_tokens: Annotated[int, Field(ge=1, le=10**6)] | None = None


def routes_for(memories: Memories, agent: str) -> list[Route]:
    """The routes, which raise MemoryMcpError; `/health` tells of the memory of `agent`."""

    async def health(request: Request) -> Response:
        app: App | None = None
        with anyio.move_on_after(HEALTH_SECONDS):
            app = (await memories(agent)).app
        return JSONResponse(
            {"status": "opening", "version": __version__} if app is None else _health(app)
        )

    patience = Patience()  # of all who ask here together: there are no sessions

    async def app_of(request: Request) -> App:
        app = (await memories(request.scope[GRANT].options.agent)).app
        await wait_for_words(patience, app.index)
        return app

    async def search(request: Request) -> Response:
        asked = _asked(request, _Search)
        app = await app_of(request)
        result = await app.searcher.search(
            SearchRequest(
                asked.q,
                asked.limit,
                asked.min_score,
                asked.source,
                asked.path_prefix,
                asked.tag,
                asked.explain,
            )
        )
        out = search_answer(result).out.model_dump(mode="json")
        if asked.explain:
            for shown, hit in zip(out["hits"], result.hits, strict=False):
                shown["trace"] = None if hit.trace is None else trace_out(hit.trace)
        return JSONResponse(out)

    async def notes(request: Request) -> Response:
        asked = _asked(request, _Notes)
        app = await app_of(request)
        source = asked.source or ("memory",)
        answer = list_answer(
            app.reader, source, asked.tag, asked.path_prefix, asked.limit, asked.cursor
        )
        return JSONResponse(answer.out.model_dump(mode="json"))

    async def recall(request: Request) -> Response:
        asked = _told(await request.body())
        app = await app_of(request)
        answer = await recall_answer(app.recall, asked.message, asked.history, asked.max_tokens)
        return JSONResponse(answer.out.model_dump(mode="json"))

    return [
        Route("/health", health),
        Route("/api/recall-preview", recall, methods=["POST"]),
        Route("/api/search", search),
        Route("/api/notes", notes),
    ]


def _asked(request: Request, kind: type[Asked]) -> Asked:
    """The query of an address as values. Raises InputError with everything that is wrong."""
    given: dict[str, Any] = {}
    for name, value in request.query_params.multi_items():
        if name == "source":
            given[name] = (*given.get(name, ()), *(part for part in value.split(",") if part))
        elif value:
            given[name] = value
    unknown = [name for name in given if name not in kind.model_fields]
    if unknown:
        raise InputError(_unknown(unknown[0], kind))
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        raise InputError(_problems(error)) from None


def _told(body: bytes) -> _Recall:
    """The JSON of a request as values. Raises InputError with everything that is wrong."""
    try:
        return _Recall.model_validate_json(body)
    except ValidationError as error:
        raise InputError(
            f'{_problems(error)}. Send JSON such as {{"message": "who is karl?"}}.'
        ) from None


def _unknown(name: str, kind: type[_Asked]) -> str:
    known = list(kind.model_fields)
    near = difflib.get_close_matches(name[:60], known, n=1)
    meant = f"did you mean {near[0]}? " if near else ""
    return f"there is no {name[:60]!r} to ask by: {meant}There are {', '.join(known)}."


def _problems(error: ValidationError) -> str:
    problems = (
        f"{'.'.join(str(part) for part in item['loc'])}: {item['msg']}"
        for item in error.errors(include_input=False, include_url=False)
    )
    return "; ".join(problems)


def _health(app: App) -> dict[str, Any]:
    """The state of the index, with nothing in it that says where or what notes are."""
    state = app.index.state()
    return {
        "status": "ok",
        "version": __version__,
        "embedder": {
            "state": state.embedder.state,
            "model": state.embedder.model,
            "dimension": state.embedder.dimension,
        },
        "sources": {
            name: {"files": source.files, "passages": source.passages, "state": source.state}
            for name, source in state.sources.items()
        },
        "vectors": state.vectors,
        "pending": state.pending,
    }
