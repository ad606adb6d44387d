"""A home that is asked what it recalls: words only, so that nothing depends on a model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from memory_mcp.app import App, open_app
from memory_mcp.core.config import Config
from tests.server.worlds import write_files

SECONDS = 8.0


@asynccontextmanager
async def recalling(home: Path, files: Mapping[str, str], **settings: Any) -> AsyncIterator[App]:
    """An open memory with these notes, all of them known."""
    write_files(home, files)
    if (home / "vault").is_dir():
        settings.setdefault("sources", {"vault": {"path": "vault"}})
    settings.setdefault("embedding", {"provider": "none"})
    async with open_app(Config.model_validate({"home": str(home), **settings})) as app:
        app.start()
        assert await app.settled(SECONDS)
        yield app
