"""A real memory in a temporary folder, and clients of its server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mcp_types as t
from mcp import Client
from mcp.server import MCPServer

from memory_mcp.app import App, open_app
from memory_mcp.core.config import Config
from memory_mcp.server.build import build
from memory_mcp.server.session import Connection
from tests.fakes import HashEmbedder

SECONDS = 8.0
MODES = ("auto", "legacy")


@dataclass(frozen=True, slots=True)
class World:
    """A home with an app and a server."""

    home: Path
    app: App
    server: MCPServer[Connection]

    def inbox(self, slug: str) -> Path:
        """The file of an inbox note."""
        return self.home / "agents" / "default" / "memory" / f"{slug}.md"


def write_files(home: Path, files: Mapping[str, str | bytes]) -> None:
    """Write notes: `memory/…` is the inbox, `wiki/…` and `vault/…` are folders of the home."""
    for name, content in files.items():
        path = home / name
        if name.startswith("memory/"):
            path = home / "agents" / "default" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


@asynccontextmanager
async def world(
    home: Path,
    files: Mapping[str, str | bytes] | None = None,
    *,
    start: bool = True,
    **settings: Any,
) -> AsyncIterator[World]:
    """An open memory with these files, indexed. A `vault` is there where a file is in it."""
    write_files(home, files or {})
    if (home / "vault").is_dir():
        settings.setdefault("sources", {"vault": {"path": "vault"}})
    config = Config.model_validate({"home": str(home), **settings})
    async with open_app(config, embedder=HashEmbedder) as app:
        if start:
            app.start()
            assert await app.settled(SECONDS)
        yield World(home, app, build(app))


@dataclass(frozen=True, slots=True)
class Talk:
    """A client with short ways to call tools."""

    client: Client

    async def done(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer of a call that must succeed."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, text_of(result)
        data: dict[str, Any] | None = result.structured_content
        assert data is not None
        return data

    async def text(self, tool: str, **arguments: Any) -> str:
        """The text of a call that must succeed."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, text_of(result)
        return text_of(result)

    async def refused(self, tool: str, **arguments: Any) -> str:
        """The error text of a call that must fail."""
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error, text_of(result)
        return text_of(result)


def text_of(result: t.CallToolResult) -> str:
    """The text blocks of an answer."""
    return "\n".join(block.text for block in result.content if isinstance(block, t.TextContent))


@asynccontextmanager
async def talking(place: World, mode: Any = "auto", **options: Any) -> AsyncIterator[Talk]:
    """A client of the world's server."""
    async with Client(place.server, mode=mode, **options) as client:
        yield Talk(client)
