"""Single questions to the engine: one answer, then the connection ends."""

from __future__ import annotations

import functools
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import anyio

from memory_mcp.core.errors import InputError, MemoryMcpError, StorageError
from memory_mcp.search.hit import SearchRequest
from memory_mcp.server.connection import serve
from memory_mcp.server.engine.faces import Faces
from memory_mcp.server.engine.hooks import Hooks
from memory_mcp.server.read_tools import search_shown
from memory_mcp.server.session import Connection, Options
from memory_mcp.server.status import status_json

if TYPE_CHECKING:
    from memory_mcp.app import App

OPEN_SECONDS = 4.0
"""How long who asks for the status waits for a memory that is being opened; the state on disk
tells as much then."""

SWEEP_SECONDS = 2.0
"""How long the status looks for changes that no event told of; a share may be slow."""

STORE_SECONDS = 2.0
"""How long the status waits for a Qdrant server to say how it is."""

PULSE_SECONDS = 0.5
"""How often one who waits for the index hears how far it is."""

MOST_SETTLE_SECONDS = 600.0
_LOOK_SECONDS = 0.02

Progress = Callable[[int, int], None]
Answer = Callable[[Mapping[str, Any], Options, Progress], Awaitable[Any]]

_OPENING = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "memory-mcp", "version": "1"},
}


class Asks:
    """Answers by name. All raise MemoryMcpError with what to tell."""

    def __init__(
        self, faces: Faces, engine: Callable[[], dict[str, Any]], stop: Callable[[], None]
    ) -> None:
        """`engine` tells of the process and its clients."""
        self._faces = faces
        self._engine = engine
        self._stop = stop
        self._answers: dict[str, Answer] = {
            "status": self._tell_status,
            "stop": self._end,
            "tool": self._tool,
            "search": self._search,
            "reindex": self._reindex,
            "look": self._look,
            "hook": self._hook,
        }
        self._hooks = Hooks(self._app)

    async def answer(
        self, question: Mapping[str, Any], options: Options, progress: Progress
    ) -> Any:
        """The answer to a question, as JSON."""
        name = str(question.get("name"))
        answer = self._answers.get(name)
        if answer is None:
            known = ", ".join(self._answers)
            raise InputError(f"There is no question {name!r}; there are {known}.")
        return await answer(question, options, progress)

    async def _tell_status(
        self, question: Mapping[str, Any], options: Options, progress: Progress
    ) -> Any:
        app: App | None = None
        with anyio.move_on_after(OPEN_SECONDS):
            app = await self._app(options)
        if app is None:
            raise StorageError("the memory is being opened; what is on disk tells its state")
        with anyio.move_on_after(SWEEP_SECONDS):
            await app.index.sweep()
        await app.index.look_at_store(STORE_SECONDS)
        return status_json(
            app.config.home,
            options.agent,
            app.index.state(),
            self._engine(),
            options.project,
            app.warnings,
        )

    async def _end(self, question: Mapping[str, Any], options: Options, progress: Progress) -> Any:
        self._stop()
        return {"stopping": True}

    async def _tool(
        self, question: Mapping[str, Any], options: Options, progress: Progress
    ) -> Any:
        app = await self._settled(question, options, progress)
        connection = Connection(app, options)
        server = self._faces.server(options)
        params = {"name": question.get("tool"), "arguments": question.get("arguments") or {}}
        lines = _Lines(params)
        await serve(lines, lines, server, connection, lambda: None)
        result = lines.result()
        text = "\n".join(part.get("text", "") for part in result.get("content", ()))
        return {
            "structured": result.get("structuredContent"),
            "text": text,
            "is_error": bool(result.get("isError")),
        }

    async def _search(
        self, question: Mapping[str, Any], options: Options, progress: Progress
    ) -> Any:
        app = await self._settled(question, options, progress)
        given = dict(question.get("request") or {})
        given["sources"] = tuple(given.get("sources") or ())
        return search_shown(await app.searcher.search(SearchRequest(**given)))

    async def _settled(
        self, question: Mapping[str, Any], options: Options, progress: Progress
    ) -> App:
        await self._faces.opened()
        app = await self._app(options)
        settled = app.settled if question.get("meaning") else functools.partial(_words, app)
        await _settle(app, settled, _seconds(question.get("settle")), progress)
        return app

    async def _reindex(
        self, question: Mapping[str, Any], options: Options, progress: Progress
    ) -> Any:
        home = await self._faces.opened()
        app = await self._app(options)
        await home.index.rebuild(progress, embeddings=bool(question.get("embeddings")))
        await _settle(app, app.settled, MOST_SETTLE_SECONDS, progress)
        state = app.index.state()
        return {
            "files": sum(source.files for source in state.sources.values()),
            "vectors": state.vectors,
            "pending": state.pending,
            "degraded": state.degraded,
        }

    async def _look(
        self, question: Mapping[str, Any], options: Options, progress: Progress
    ) -> Any:
        app = await self._app(options)
        references: Sequence[Any] = question.get("references") or ()
        for reference in references:
            name, places = app.index.places(str(reference))
            if name is None:
                raise InputError(f"{reference!r} does not say which source it is in.")
            for source, path in places:
                await app.index.refresh(source, path)
        return {"looked": len(references)}

    async def _hook(
        self, question: Mapping[str, Any], options: Options, progress: Progress
    ) -> Any:
        return await self._hooks.answer(question, options)

    async def _app(self, options: Options) -> App:
        await self._faces.opened()
        return self._faces.app_for(options)


async def _settle(
    app: App, settled: Callable[[float], Awaitable[bool]], seconds: float, progress: Progress
) -> None:
    """Take over what is on disk now, for so many seconds at most."""
    if seconds <= 0:
        return
    with anyio.move_on_after(seconds):
        await app.index.sweep()
        most = 0
        while not await settled(PULSE_SECONDS):
            left = app.index.state().pending
            most = max(most, left)
            progress(most - left, most)


async def _words(app: App, seconds: float) -> bool:
    """Whether all notes can be found by words; waits for so many seconds at most."""
    with anyio.move_on_after(seconds):
        while True:
            if not app.index.state().unread:
                return True
            await anyio.sleep(_LOOK_SECONDS)
    return False


def _seconds(value: object) -> float:
    given = float(value) if isinstance(value, (int, float)) else 0.0
    return min(given, MOST_SETTLE_SECONDS)


class _Lines:
    """A client of one call: what it says, and what it hears."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        said = (
            {"id": 1, "method": "initialize", "params": _OPENING},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/call", "params": params},
        )
        self._said = [json.dumps({"jsonrpc": "2.0", **one}).encode() + b"\n" for one in said]
        self._heard: dict[Any, dict[str, Any]] = {}
        self._answered = anyio.Event()

    async def receive(self, max_bytes: int = 65536) -> bytes:
        """The next line; the end once the answer is there."""
        if self._said:
            return self._said.pop(0)
        await self._answered.wait()
        raise anyio.EndOfStream

    async def send(self, item: bytes) -> None:
        """A line of the server."""
        message = json.loads(item)
        if "method" not in message:
            self._heard[message.get("id")] = message
            if message.get("id") == 2:
                self._answered.set()

    def result(self) -> dict[str, Any]:
        """The result of the call. Raises MemoryMcpError with an error of the protocol."""
        message = self._heard.get(2, {})
        if "result" not in message:
            raise MemoryMcpError(str(message.get("error", {}).get("message", "no answer came")))
        result: dict[str, Any] = message["result"]
        return result
