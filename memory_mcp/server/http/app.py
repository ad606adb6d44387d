"""The whole of a port as one ASGI application: who comes in, and what is behind which path."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio
from anyio.abc import TaskGroup
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from memory_mcp.core.errors import AmbiguousError, InputError, MemoryMcpError, NotFoundError
from memory_mcp.server.http.exchanges import Exchanges
from memory_mcp.server.http.grants import PortRequest
from memory_mcp.server.http.guard import Guard
from memory_mcp.server.http.hosts import Hosts
from memory_mcp.server.http.rooms import Memories, Rooms
from memory_mcp.server.http.routes import routes_for
from memory_mcp.server.http.sse import Posts, Streams

MCP_PATH = "/mcp"
SSE_PATH = "/sse"
POST_PATH = "/messages/"


CUT_SECONDS = 0.5
"""How long streams may take to end when they are told to."""


@dataclass(frozen=True, slots=True)
class Application:
    """The outermost layer, and what tells whether calls are under way."""

    exchanges: Exchanges
    endpoint: Rooms | Streams

    async def finish(self, seconds: float) -> None:
        """Take nothing new and let what is under way end, then end the rest."""
        with anyio.move_on_after(seconds):
            await self.exchanges.finish()
            await self.endpoint.quiet()
        await self.exchanges.cut(CUT_SECONDS)


def application(
    request: PortRequest, hosts: Hosts, memories: Memories, agent: str, tasks: TaskGroup
) -> Application:
    """The application for a port; sessions live in `tasks`. `agent`: whose state `/health` is."""
    endpoint, transport = _endpoint(request, memories, tasks)
    routes = [*transport, *routes_for(memories, agent)]
    paths = ", ".join(dict.fromkeys(route.path.rstrip("/") for route in routes))
    errors = {
        HTTPException: _plainly,
        404: _lost(paths),
        MemoryMcpError: _told,
        Exception: _hidden,
    }
    inner = Starlette(routes=routes, exception_handlers=errors)
    inner.router.redirect_slashes = False  # a redirect would carry the name that a client gave
    return Application(Exchanges(Guard(inner, hosts, request.grants)), endpoint)


def _endpoint(
    request: PortRequest, memories: Memories, tasks: TaskGroup
) -> tuple[Rooms | Streams, list[Route]]:
    if request.transport == "streamable-http":
        rooms = Rooms(memories, tasks)
        return rooms, [Route(MCP_PATH, rooms), Route(f"{MCP_PATH}/", rooms)]
    streams = Streams(memories, POST_PATH)
    listen = Route(SSE_PATH, streams, methods=["GET"])
    return streams, [listen, Route(POST_PATH, Posts(streams), methods=["POST"])]


def _lost(paths: str) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def answer(request: Request, error: Exception) -> Response:
        return JSONResponse({"error": f"there is nothing here; there is {paths}"}, 404)

    return answer


async def _told(request: Request, error: Exception) -> Response:
    """Our own errors say what was wrong."""
    match error:
        case InputError() | AmbiguousError():
            status = 400
        case NotFoundError():
            status = 404
        case _:
            status = 500
    return JSONResponse({"error": str(error)}, status)


async def _hidden(request: Request, error: Exception) -> Response:
    """Others may quote a note; the error itself goes on to where it is logged."""
    return JSONResponse({"error": "the server failed; its log says more"}, 500)


async def _plainly(request: Request, error: Exception) -> Response:
    """Errors of the framework, such as a method that a path does not know, as JSON."""
    assert isinstance(error, HTTPException)
    text, headers = error.detail, error.headers
    if error.status_code == 405 and headers and "Allow" in headers:
        text = f"{request.method} is not possible here; use {headers['Allow']}"
    return JSONResponse({"error": text}, error.status_code, headers=headers)
