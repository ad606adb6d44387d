"""Odd lines and odd arguments, from the wire down to the file, in both eras of the protocol."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from memory_mcp.server.lines import Bad, parse
from memory_mcp.server.session import Connection
from tests.server.wires import ENVELOPE, HELLO, RawClient, connected
from tests.server.worlds import MODES, World, talking, world

pytestmark = pytest.mark.anyio


class Speaker:
    """A raw client of one era."""

    def __init__(self, client: RawClient, place: World, mode: str) -> None:
        self.client = client
        self.place = place
        self._meta = {"_meta": ENVELOPE} if mode == "auto" else {}
        self._number = 100

    def params(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The parameters of a call."""
        return {"name": tool, "arguments": arguments, **self._meta}

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of a call."""
        self._number += 1
        answer = await self.client.call(
            self._number, "tools/call", **self.params(tool, **arguments)
        )
        result: dict[str, Any] = answer["result"]
        return result

    async def raw(
        self, arguments: bytes, tool: str = "memory_write", number: int = 7
    ) -> dict[str, Any]:
        """The answer to a call whose arguments are these bytes."""
        params = (
            json.dumps(self.params(tool))
            .encode()
            .replace(b'"arguments": {}', b'"arguments":' + arguments)
        )
        head = b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":' % number
        await self.client.send(head + params + b"}\n")
        return await self.client.answer(number)

    def file(self, slug: str) -> str:
        """The body of a note on disk."""
        text = self.place.inbox(slug).read_bytes().decode("utf-8")
        return text.partition("\n---\n\n")[2] if text.startswith("---\n") else text


@asynccontextmanager
async def client_of(place: World) -> AsyncIterator[RawClient]:
    async with connected(place.server, Connection.of(place.app)) as client:
        yield client


@asynccontextmanager
async def speaking(
    home: Path, mode: str, files: Mapping[str, str | bytes] | None = None
) -> AsyncIterator[Speaker]:
    async with world(home, files) as place, client_of(place) as client:
        if mode == "legacy":
            await client.hello()
        yield Speaker(client, place, mode)


@pytest.mark.parametrize("mode", MODES)
async def test_escapes_arrive_as_they_were_sent(tmp_path: Path, mode: str) -> None:
    async with speaking(tmp_path, mode) as raw:
        sent = (
            rb'{"slug":"esc","content":"a\\nb \\u0041 \u0041 \t tab'
            rb' \/ \"q\" \u00e9 \ud83d\ude00\nend"}'
        )
        assert "result" in await raw.raw(sent)
        assert raw.file("esc").rstrip("\n") == 'a\\nb \\u0041 A \t tab / "q" é 😀\nend'
        page = (await raw.call("memory_get", reference="memory/esc"))["structuredContent"]
        assert 'a\\nb \\u0041 A \t tab / "q" é 😀\nend' in page["content"]


@pytest.mark.parametrize("mode", MODES)
async def test_half_a_letter_and_control_characters_become_a_note_that_can_be_read(
    tmp_path: Path, mode: str
) -> None:
    async with speaking(tmp_path, mode) as raw:
        answer = await raw.raw(
            rb'{"slug":"half","content":"cut \ud83d here \udc00 a\u0000b\u0085c\u2028d"}'
        )
        assert "\ufffd" in raw.file("half")
        assert "\0" not in raw.file("half")
        assert answer["result"]["structuredContent"]["warnings"]
        answer = await raw.raw(rb'{"query":"here \udfff"}', "memory_search", 8)
        assert answer["result"]["structuredContent"]["hits"][0]["reference"] == "memory/half"
        answer = await raw.raw(rb'{"slug":"s\ud800","content":"x"}', number=9)
        assert answer["result"]["isError"]


@pytest.mark.parametrize("mode", MODES)
async def test_texts_stay_texts_down_to_the_file(tmp_path: Path, mode: str) -> None:
    files = {"memory/five.md": "There are 5 leeks.\n", "memory/none.md": "No leek.\n"}
    async with world(tmp_path, files) as place, talking(place, mode) as talk:
        found = await talk.done("memory_search", query="5")
        assert [hit["reference"] for hit in found["hits"]] == ["memory/five"]
        for slug, text in (
            ("t", "true"),
            ("n", "null"),
            ("o", '{"a": 1}'),
            ("l", "[1]"),
            ("f", "1e9"),
        ):
            await talk.done("memory_write", slug=slug, content=text)
            assert place.inbox(slug).read_text(encoding="utf-8").rstrip().endswith(f"\n{text}")
        for old, new in (
            ("leeks", "[1]"),
            ("[1]", "null"),
            ("null", "5"),
            ("5 5", "true"),
            (" true", ""),
        ):
            await talk.done("memory_edit", slug="five", old_text=old, new_text=new)
        assert place.inbox("five").read_text(encoding="utf-8") == "There are.\n"


@pytest.mark.parametrize("mode", MODES)
async def test_nothing_for_every_optional_argument_is_nothing(tmp_path: Path, mode: str) -> None:
    calls: tuple[tuple[str, dict[str, Any], tuple[str, ...]], ...] = (
        (
            "memory_search",
            {"query": "leek"},
            ("limit", "min_score", "source", "path_prefix", "tag"),
        ),
        ("memory_get", {"reference": "memory/a"}, ("heading", "offset", "max_chars")),
        ("memory_list", {}, ("source", "tag", "path_prefix", "limit", "cursor")),
        ("memory_write", {"slug": "b", "content": "x"}, ("frontmatter", "if_revision", "scope")),
        (
            "memory_edit",
            {"slug": "a", "append": "x"},
            ("content", "old_text", "new_text", "heading", "frontmatter", "if_revision"),
        ),
        ("memory_link", {"source": "a", "target": "memory/c"}, ("relation",)),
        ("memory_delete", {"slug": "gone"}, ("if_revision",)),
        ("memory_save", {"content": "A leek."}, ("context", "source_url", "scope")),
        ("memory_jobs", {}, ("job_id",)),
    )  # fmt: skip
    files = {"memory/a.md": "A leek.\n", "memory/c.md": "C.\n"}
    async with world(tmp_path, files) as place, talking(place, mode) as talk:
        for tool, needed, optional in calls:
            for nothing in (None, "null", ""):
                await talk.done(tool, **needed, **dict.fromkeys(optional, nothing))
            plain = await talk.done(tool, **needed)
            assert (
                plain.keys() == (await talk.done(tool, **needed, **dict.fromkeys(optional))).keys()
            )


@pytest.mark.parametrize("mode", MODES)
async def test_an_argument_that_no_tool_has_changes_nothing(tmp_path: Path, mode: str) -> None:
    async with world(tmp_path, {"memory/a.md": "A.\n"}) as place, talking(place, mode) as talk:
        text = await talk.refused("memory_write", slug="b", content="B", overwrite=True)
        assert "overwrite" in text
        text = await talk.refused("memory_delete", path="memory/a")
        assert "'slug'" in text
        text = await talk.refused("memory_edit", slug="a", appendd="x")
        assert "'append'" in text
        assert place.inbox("a").read_text(encoding="utf-8") == "A.\n"
        assert not place.inbox("b").exists()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "arguments",
    [
        b'{"slug":"x","content":"a\xff"}',
        b'{"slug":"x","content":"raw\ttab"}',
        b'{"slug":"x","content":"a\x00b"}',
        b'{"slug":"x","content":"a",}',
        b'{"slug":"x","content":' + b"[" * 3000 + b"]" * 3000 + b"}",
    ],
)
async def test_a_call_that_is_no_json_is_answered_and_nothing_is_done(
    tmp_path: Path, mode: str, arguments: bytes
) -> None:
    async with speaking(tmp_path, mode) as raw:
        assert (await raw.raw(arguments))["error"]["code"] == -32700
        assert not raw.place.inbox("x").exists()
        assert not (await raw.call("memory_write", slug="y", content="z"))["isError"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "header",
    [
        b'{"a":NaN}', b'{"a":Infinity}', b'{"a":-1e999}', b'{"a":' + b"9" * 5000 + b"}", b'{"":1}',
        b'{"a":' * 100 + b"1" + b"}" * 100, b'{"a":1,"a":[{}]}', b'{"tags":{"a":1}}',
        b'{"__class__":1}',
    ],
)  # fmt: skip
async def test_a_header_that_cannot_be_is_refused_or_written_as_one_that_can(
    tmp_path: Path, mode: str, header: bytes
) -> None:
    async with speaking(tmp_path, mode) as raw:
        await raw.raw(b'{"slug":"h","content":"Text.","frontmatter":' + header + b"}")
        if raw.place.inbox("h").exists():
            page = (await raw.call("memory_get", reference="memory/h"))["structuredContent"]
            assert not any("YAML" in warning for warning in page["warnings"])
        assert "structuredContent" in await raw.call("memory_search", query="text")


async def test_a_byte_order_mark_and_line_ends_of_windows_do_not_count(tmp_path: Path) -> None:
    async with world(tmp_path) as place, client_of(place) as client:
        opening = json.dumps(HELLO).encode()
        await client.send(b"\xef\xbb\xbf" + opening + b"\r\n")
        assert "result" in await client.answer(0)
        await client.send(b'\r\n\r\n{"jsonrpc":"2.0","id":2,"method":"ping"}\r\n')
        assert "result" in await client.answer(2)


async def test_the_name_of_a_method_is_not_repeated_where_it_is_endless(tmp_path: Path) -> None:
    async with speaking(tmp_path, "legacy") as raw:
        answer = await raw.client.call(5, "x" * 5_000_000)
        assert answer["error"]["code"] == -32601
        assert len(json.dumps(answer)) < 500


@pytest.mark.parametrize(
    ("line", "ids"),
    [
        (b'{"params":{"a":"\xff"},"id":"q","jsonrpc":"2.0","method":"ping"}', ("q",)),
        (b'{"params":{"a":"\x01"},"method":"ping","id":5,"jsonrpc":"2.0"}', (5,)),
        (b'[{"id":1,"method":"ping"},{"id":2,"method":"ping\xff"}]', (1, 2)),
        (b'{"method":"ping","params":{},"jsonrpc":"2.0","id":40', ()),
        (b'{"id":5,"result":{"a":"\xff"}}', ()),
        (b'{"id":true,"method":"\xff"}', ()),
    ],
)
def test_the_sender_of_a_line_with_broken_letters_is_answered(
    line: bytes, ids: tuple[str | int, ...]
) -> None:
    bad = parse(line)
    assert isinstance(bad, Bad)
    assert bad.ids == ids
