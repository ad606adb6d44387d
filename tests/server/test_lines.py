"""Lines of bytes as messages."""

from __future__ import annotations

import json
from collections.abc import Iterable

import anyio
import mcp_types as t
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.server.lines import Bad, cleaned, dump, lines, parse

pytestmark = pytest.mark.anyio

CALL = b'{"jsonrpc":"2.0","id":5,"method":"tools/list"}'


class Chunks:
    """Bytes in given pieces."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)

    async def receive(self, max_bytes: int = 65536) -> bytes:
        await anyio.lowlevel.checkpoint()
        try:
            return next(self._chunks)
        except StopIteration:
            raise anyio.EndOfStream from None


async def read(*chunks: bytes, limit: int = 1000) -> list[bytes | Bad]:
    return [line async for line in lines(Chunks(chunks), limit)]


async def test_lines_come_whole_however_the_bytes_arrive() -> None:
    assert await read(b"on", b"e\ntw", b"o\n\nthree") == [b"one", b"two", b"three"]


async def test_blank_lines_and_carriage_returns_do_not_count() -> None:
    assert await read(b"\n \r\none\r\n\r\ntwo\r\n") == [b"one", b"two"]


async def test_a_line_over_the_limit_is_dropped_and_the_next_one_is_read() -> None:
    giant = b'{"jsonrpc":"2.0","id":"g","method":"x","params":{"a":"' + b"y" * 400 + b'"}}\n'
    first, second = await read(giant[:90], giant[90:200], giant[200:], CALL + b"\n", limit=150)
    assert isinstance(first, Bad)
    assert first.ids == ("g",)
    assert "150 bytes" in first.reason
    assert second == CALL


async def test_a_giant_line_at_the_end_without_its_end_is_dropped() -> None:
    (only,) = await read(b"x" * 100, b"y" * 100, limit=150)
    assert isinstance(only, Bad)


async def test_a_line_of_exactly_the_limit_is_read() -> None:
    assert await read(b"x" * 60, b"y" * 40 + b"\n", limit=100) == [b"x" * 60 + b"y" * 40]


def test_a_message_is_read() -> None:
    message = parse(CALL)
    assert isinstance(message, t.JSONRPCRequest)
    assert message.id == 5


@pytest.mark.parametrize(
    ("line", "ids"),
    [
        (b"this is not json", ()),
        (b'{"jsonrpc":"2.0","id":1,', (1,)),
        (b'{"jsonrpc": "2.0", "method": "ping", "id": "a-1", "params": {', ("a-1",)),
        (b'{"method":"ping","params":{"id":7,},"jsonrpc":"2.0","id":8}', (8,)),
        (b'{"method":"ping","params":{"id":7', ()),
        (b'{"params":{"id":7},', ()),
        (b'{"jsonrpc":"2.0","id":3,"result":{', ()),
        (b'{"jsonrpc":"2.0","id":9,"method":"x\xff"}', (9,)),
        (b"[" * 100_000, ()),
        (b"\x00\x01", ()),
    ],
)
def test_a_line_that_is_no_json_is_a_parse_error_for_the_id_it_has(
    line: bytes, ids: tuple[str | int, ...]
) -> None:
    bad = parse(line)
    assert isinstance(bad, Bad)
    assert bad.code == t.PARSE_ERROR
    assert bad.ids == ids


@pytest.mark.parametrize(
    ("value", "ids"),
    [
        ([], ()),
        ([{"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"id": "b"}, 5], (1, "b")),
        ({"id": 4, "method": "ping"}, (4,)),
        ({"jsonrpc": "1.0", "id": 4, "method": "ping"}, (4,)),
        ({"jsonrpc": "2.0", "id": 4, "result": 5}, ()),
        ("text", ()),
        (7, ()),
        (None, ()),
    ],
)
def test_json_that_is_no_message_is_an_invalid_request(
    value: object, ids: tuple[str | int, ...]
) -> None:
    bad = parse(json.dumps(value).encode())
    assert isinstance(bad, Bad)
    assert bad.code == t.INVALID_REQUEST
    assert bad.ids == ids
    assert [reply.id for reply in bad.replies()] == list(ids)


def test_halves_of_letters_become_replacement_marks_and_whole_ones_stay() -> None:
    line = (
        rb'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a\udc00":["\ud83d cut \ud83d\ude00"]}}'
    )
    message = parse(line)
    assert isinstance(message, t.JSONRPCRequest)
    assert message.params == {"a\ufffd": ["\ufffd cut 😀"]}


@given(st.text(st.characters(), max_size=40))
def test_cleaned_text_can_always_be_written(text: str) -> None:
    clean = cleaned(text)
    assert clean.encode("utf-8").decode("utf-8") == clean
    if text.isascii():
        assert clean == text


def test_an_answer_is_one_line_even_with_line_separators_and_broken_letters() -> None:
    result = {"text": "a\nb\u2028c\u2029d\u0085e\ud800f"}
    data = dump(t.JSONRPCResponse(jsonrpc="2.0", id=1, result=result))
    assert data.endswith(b"\n")
    assert len(data.decode("utf-8").splitlines()) == 1
    assert json.loads(data)["result"]["text"] == "a\nb\u2028c\u2029d\u0085e\ufffdf"


@given(st.binary(max_size=200))
async def test_any_bytes_become_messages_or_bad_lines(data: bytes) -> None:
    for line in await read(data):
        assert isinstance(line, Bad) or parse(line) is not None
