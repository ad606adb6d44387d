"""Two agents on one home, each through a server of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import mcp_types as t
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from memory_mcp.app import App, open_home
from memory_mcp.core.config import Config
from memory_mcp.server.build import build
from tests.fakes import HashEmbedder
from tests.server.worlds import SECONDS, Talk

pytestmark = pytest.mark.anyio

QUIET = {"watch": False, "sweep_seconds": 0, "rescan_minutes": 0}


async def completed(talk: Talk, typed: str) -> list[str]:
    reference = t.ResourceTemplateReference(uri="memories://note/{+reference}")
    argument = {"name": "reference", "value": typed}
    return (await talk.client.complete(reference, argument)).completion.values


async def test_no_answer_of_one_agents_server_tells_of_the_others_notes(tmp_path: Path) -> None:
    config = Config.model_validate({"home": str(tmp_path), "index": QUIET})
    async with open_home(config, embedder=HashEmbedder) as home:
        home.start()
        rook, jay = home.app("rook"), home.app("jay")
        assert await home.settled(SECONDS)
        async with Client(build(rook)) as one, Client(build(jay)) as other:
            talk, spy = Talk(one), Talk(other)
            await talk.done("memory_write", slug="hidden-garden", content="Roses grow here.")
            await talk.done("memory_save", content="Tulips grow there.")
            texts = [
                await spy.text("memory_search", query="roses hidden garden"),
                await spy.text("memory_list", source="all"),
                await spy.text("memory_jobs"),
                await spy.refused("memory_get", reference="hidden-gardn"),
                await spy.refused("memory_get", reference="memory/hidden-garden"),
                await spy.refused("memory_edit", slug="hidden-garden", append="x"),
            ]
            for text in texts:
                assert "Roses" not in text
                assert "Did you mean" not in text
            assert "memory/hidden-garden" not in "".join(texts[:3])
            assert await completed(talk, "hidden") == ["memory/hidden-garden"]
            assert await completed(spy, "hidden") == []
            listed = [resource.uri for resource in (await other.list_resources()).resources]
            assert listed == ["memories://index"]
            with pytest.raises(MCPError):
                await other.read_resource("memories://note/memory/hidden-garden")


@pytest.mark.filterwarnings("ignore:resources/:mcp.shared.exceptions.MCPDeprecationWarning")
async def test_who_subscribes_hears_of_the_own_note_of_a_name_only(tmp_path: Path) -> None:
    config = Config.model_validate({"home": str(tmp_path), "index": QUIET})
    async with open_home(config, embedder=HashEmbedder) as home:
        home.start()
        rook, jay = home.app("rook"), home.app("jay")
        for app in (rook, jay):
            await app.writer.write("foo", "First.")
        heard: dict[str, list[str]] = {"rook": [], "jay": []}
        news = {"rook": anyio.Event(), "jay": anyio.Event()}

        def client(app: App, agent: str) -> Client:
            async def hear(message: Any) -> None:
                if isinstance(message, t.ResourceUpdatedNotification):
                    heard[agent].append(str(message.params.uri))
                    news[agent].set()

            return Client(build(app), mode="legacy", message_handler=hear)

        async with client(rook, "rook") as one, client(jay, "jay") as other:
            uri = "memories://note/memory/foo"
            for each in (one, other):
                await each.subscribe_resource(uri)
            await rook.writer.write("foo", "Second.")
            with anyio.fail_after(SECONDS):
                await news["rook"].wait()
            await jay.writer.write("foo", "Third.")
            with anyio.fail_after(SECONDS):
                await news["jay"].wait()
        assert heard == {"rook": [uri], "jay": [uri]}
