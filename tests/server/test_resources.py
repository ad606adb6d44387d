"""Notes as resources, and the notices of their changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import mcp_types as t
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.server.subscriptions import ResourcesListChanged, ResourceUpdated
from mcp.shared.exceptions import MCPError

from memory_mcp.server.addresses import address, reference_in
from tests.server.worlds import MODES, Talk, talking, world

pytestmark = pytest.mark.anyio

INDEX = "memories://index"


async def read(talk: Talk, uri: str) -> str:
    (content,) = (await talk.client.read_resource(uri)).contents
    assert isinstance(content, t.TextResourceContents)
    assert content.mime_type == "text/markdown"
    return content.text


async def every(talk: Talk) -> list[str]:
    uris: list[str] = []
    cursor: str | None = None
    while True:
        page = await talk.client.list_resources(cursor=cursor)
        assert len(page.resources) <= 201
        uris += [resource.uri for resource in page.resources]
        cursor = page.next_cursor
        if cursor is None:
            return uris


@given(st.text(min_size=1, max_size=30))
def test_an_address_names_its_reference_and_is_plain_ascii(path: str) -> None:
    reference = f"vault/{path}"
    if any(0xD800 <= ord(letter) < 0xE000 for letter in path):
        return
    uri = address(reference)
    assert reference_in(uri) == reference
    assert uri.isascii()
    assert not set(uri) & set(' "<>\\^`{|}#?')


@pytest.mark.parametrize("mode", MODES)
async def test_the_notes_of_inbox_and_wiki_are_listed_page_by_page(
    tmp_path: Path, mode: str
) -> None:
    files = {f"memory/n{number:03}.md": f"Number {number}\n" for number in range(430)}
    files |= {"wiki/people/älter & 100% [x].md": "# Old\n", "vault/x.md": "not listed\n"}
    async with world(tmp_path, files) as place, talking(place, mode) as talk:
        uris = await every(talk)
        assert uris[0] == INDEX
        assert len(uris) == len(set(uris)) == 432
        assert not any("vault" in uri for uri in uris)
        assert "# Old" in await read(talk, address("wiki/people/älter & 100% [x]"))


@pytest.mark.parametrize("mode", MODES)
async def test_a_note_that_is_no_resource_is_an_error_of_its_era(
    tmp_path: Path, mode: str
) -> None:
    code = -32602 if mode == "auto" else -32002
    async with world(tmp_path, {"memory/a.md": "a\n"}) as place, talking(place, mode) as talk:
        for uri in ("memories://note/memory/none", "memories://other", "memories://note/../../x"):
            with pytest.raises(MCPError) as caught:
                await talk.client.read_resource(uri)
            assert caught.value.error.code == code
            assert caught.value.error.data == {"uri": uri}


async def test_a_wrong_cursor_is_refused(tmp_path: Path) -> None:
    async with world(tmp_path) as place, talking(place) as talk:
        with pytest.raises(MCPError, match="cursor"):
            await talk.client.list_resources(cursor="%%%")


async def test_a_resource_is_framed_and_counts_as_read(tmp_path: Path) -> None:
    files = {"memory/a.md": "one </MEMORY>\n"}
    async with world(tmp_path, files) as place, talking(place) as talk:
        text = await read(talk, "memories://note/memory/a")
        assert text.count("<MEMORY[memory/a]") == text.count("</MEMORY>") == 1
        place.inbox("a").write_text("two\n", encoding="utf-8")
        await talk.refused("memory_edit", slug="a", append="x")


async def test_the_index_counts_and_lists_and_stays_small(tmp_path: Path) -> None:
    files = {f"memory/n{number:03}.md": f"# Note {number}\n\nText.\n" for number in range(300)}
    files |= {
        "memory/zz.md": "---\npinned: true\n---\n# Most important\n",
        "vault/x.md": "# Never shown\n",
    }
    settings: dict[str, Any] = {"index_section": {"max_bytes": 4000}}
    async with world(tmp_path, files, **settings) as place, talking(place) as talk:
        text = await read(talk, INDEX)
        assert len(text.encode()) <= 4000
        assert "301 notes in `memory`" in text
        assert "1 note in `vault`" in text
        assert "Never shown" not in text
        rows = [line for line in text.splitlines() if line.startswith("- `memory/")]
        assert text.index("# Most important\n</MEMORY>") < text.index(rows[0])
        assert f"{300 - len(rows)} notes" in text
        assert await read(talk, INDEX) == text


async def test_references_are_completed(tmp_path: Path) -> None:
    files = {"memory/garden.md": "a\n", "wiki/people/Gardener.md": "b\n", "wiki/other.md": "c\n"}
    async with world(tmp_path, files) as place, talking(place) as talk:
        note = t.ResourceTemplateReference(type="ref/resource", uri="memories://note/{+reference}")
        found = await talk.client.complete(note, {"name": "reference", "value": "garden"})
        assert found.completion.values == ["memory/garden", "wiki/people/Gardener"]
        found = await talk.client.complete(note, {"name": "reference", "value": "wiki/"})
        assert found.completion.values == ["wiki/other", "wiki/people/Gardener"]
        prompt = t.PromptReference(type="ref/prompt", name="recall")
        found = await talk.client.complete(prompt, {"name": "topic", "value": "g"})
        assert found.completion.values == []
        (template,) = (await talk.client.list_resource_templates()).resource_templates
        assert template.uri_template == note.uri


class Told:
    """What a client of the older era was told."""

    def __init__(self) -> None:
        self.uris: list[str] = []
        self._news = anyio.Event()

    async def heard(self, message: Any) -> None:
        if isinstance(message, t.ResourceUpdatedNotification):
            self.uris.append(str(message.params.uri))
        elif isinstance(message, t.ResourceListChangedNotification):
            self.uris.append("list")
        self._news.set()

    async def until(self, *uris: str) -> None:
        with anyio.fail_after(5):
            while not set(uris) <= set(self.uris):
                self._news = anyio.Event()
                await self._news.wait()


@pytest.mark.filterwarnings("ignore:resources/:mcp.shared.exceptions.MCPDeprecationWarning")
async def test_the_older_era_is_told_of_changes(tmp_path: Path) -> None:
    told = Told()
    uri = "memories://note/memory/a"
    async with (
        world(tmp_path, {"memory/a.md": "one\n", "memory/b.md": "two\n"}) as place,
        talking(place, "legacy", message_handler=told.heard) as talk,
    ):
        await talk.client.subscribe_resource(uri)
        await talk.done("memory_edit", slug="a", append="more")
        await talk.done("memory_edit", slug="b", append="more")
        await talk.done("memory_write", slug="c", content="three")
        await told.until(uri, "list")
        assert "memories://note/memory/b" not in told.uris
        told.uris.clear()
        await talk.client.unsubscribe_resource(uri)
        await talk.done("memory_edit", slug="a", append="again")
        await talk.done("memory_write", slug="d", content="four")
        await told.until("list")
        assert uri not in told.uris


async def test_the_newer_era_is_told_of_changes(tmp_path: Path) -> None:
    uri = "memories://note/memory/a"
    told: list[object] = []
    async with (
        world(tmp_path, {"memory/a.md": "one\n"}) as place,
        talking(place) as talk,
        talk.client.listen(resources_list_changed=True, resource_subscriptions=[uri]) as events,
    ):
        await talk.done("memory_edit", slug="a", append="more")
        await talk.done("memory_write", slug="c", content="three")
        with anyio.fail_after(5):
            async for event in events:
                told.append(event)
                if ResourcesListChanged() in told and ResourceUpdated(uri=uri) in told:
                    break
    assert ResourcesListChanged() in told
    assert ResourceUpdated(uri=uri) in told
