"""`serve --in-process`: a port that this very process serves, with a memory of its own."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import anyio

from memory_mcp.cli import render
from memory_mcp.cli.wording import serving
from memory_mcp.core.config import Config

if TYPE_CHECKING:
    from memory_mcp.server.http.grants import PortRequest

_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name)
)


def serve_here(config: Config, request: PortRequest) -> int:
    """Serve until a signal comes: 0. Raises what opening the port raises, in a group."""
    anyio.run(_serve, config, request)
    return 0


async def _serve(config: Config, request: PortRequest) -> None:
    """Signals are heeded from the start: opening may take a while."""
    with anyio.open_signal_receiver(*_SIGNALS) as received:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_hold, config, request)
            async for _ in received:
                break
            tasks.cancel_scope.cancel()


async def _hold(config: Config, request: PortRequest) -> None:
    """The home and its port, until cancelled."""
    from memory_mcp.server.engine.faces import Faces
    from memory_mcp.server.http.server import open_port

    faces = Faces(config)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(faces.run)
        async with open_port(faces.opened, faces.of_agent, request) as opened:
            render.remark(serving(opened.url, bool(request.grants[0].token)))
            await anyio.sleep_forever()
