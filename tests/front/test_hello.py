"""Lines between a front and an engine, and how light a front is."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.__main__ import stdio_flags
from memory_mcp.front.hello import (
    HELLO_BYTES,
    LineReader,
    decode,
    encode,
    event_in,
    hello,
    messages_of,
)
from memory_mcp.front.messages import id_in, read
from memory_mcp.front.spawning import program, surroundings, words_of
from tests.front.fronts import ROOT

LINES = st.dictionaries(
    st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error", "x"]),
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
).map(lambda value: json.dumps(value).encode())
"""Objects that are nearly messages."""


def test_a_hello_says_what_is_the_clients_own_and_no_more(tmp_path: Path) -> None:
    environ = {"MEMORY_MCP_AGENT": "ann", "HOME": "/h", "OTHER_KEY": "secret"}
    flags = {"home": "/x", "agent": "bob", "in_process": True, "tools": None}
    value = hello("mcp", environ, flags)
    assert (value["memory_mcp"], value["kind"], value["pid"]) == (1, "mcp", os.getpid())
    assert value["env"] == {"MEMORY_MCP_AGENT": "ann"}
    assert value["flags"] == {"agent": "bob"}
    assert value["cwd"] == str(Path.cwd())


def test_names_that_are_not_unicode_survive() -> None:
    name = os.fsdecode(b"caf\xe9")
    line = encode({"memory_mcp": 1, "cwd": name})
    assert line.isascii()
    found = decode(line)
    assert found is not None
    assert os.fsencode(found["cwd"]) == b"caf\xe9"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}",
        b'{"memory_mcp":2}',
        b'["memory_mcp"]',
        b'{"memory_mcp":1',
        b'\xff"memory_mcp"',
        b'"memory_mcp"' + b"[" * 9999,
    ],
)
def test_other_lines_are_none_of_this_protocol(line: bytes) -> None:
    assert decode(line) is None


def test_control_lines_are_told_from_messages() -> None:
    assert event_in(b'{"memory_mcp":1,"event":"drain"}\n') == "drain"
    assert event_in(b'{"memory_mcp":1,"jsonrpc":"2.0","event":"drain"}\n') is None
    assert event_in(b'{"jsonrpc":"2.0","method":"x","params":{"memory_mcp":1}}\n') is None
    assert messages_of({"messages": ["a", 1]}) == ["a", "1"]
    assert messages_of({"messages": "a"}) == []


@given(st.lists(st.binary(max_size=30)))
def test_a_reader_gives_whole_lines_only(chunks: list[bytes]) -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        with ours:
            for chunk in chunks:
                ours.sendall(chunk)
        found = list(LineReader(theirs))
    *expected, _ = b"".join(chunks).split(b"\n")
    assert found == [line + b"\n" for line in expected]


@given(
    st.one_of(st.integers(-(10**14), 10**14), st.text("ab-_.:ü ", max_size=20)),
    st.booleans(),
)
def test_the_id_of_a_line_in_pieces_is_found_at_either_end(number: object, last: bool) -> None:
    message = {"jsonrpc": "2.0", "method": "tools/call", "params": {"id": 5, "t": "x" * 9000}}
    ordered = {**message, "id": number} if last else {"id": number, **message}
    line = json.dumps(ordered, ensure_ascii=False).encode() + b"\n"
    assert id_in(line[:4096], line[-400:]) == number
    found = read(line)
    assert found is not None
    assert found.id == number


@given(st.binary(max_size=80) | st.text(max_size=80).map(str.encode) | LINES)
def test_any_line_is_read_as_what_json_says_or_not_at_all(line: bytes) -> None:
    found = read(line)
    assert found is None or found.value == json.loads(line.decode("utf-8-sig"))
    assert id_in(line, line) is None or b'"id"' in line


@pytest.mark.parametrize(
    "flags",
    [
        {},
        {"agent": "x y"},
        {"home": "-odd", "read_only": True, "tools": "core,curation"},
        {"read_only": True, "in_process": True},
    ],
)
def test_flags_can_be_typed_again(flags: dict[str, object]) -> None:
    own = {name: value for name, value in flags.items() if name != "in_process"}
    assert stdio_flags(words_of(flags)) == own


def test_a_program_that_runs_from_its_sources_is_found_from_any_folder(tmp_path: Path) -> None:
    environ = surroundings({**os.environ, "PYTHONPATH": ""})
    assert environ["PYTHONPATH"].split(os.pathsep) == [str(ROOT)]
    done = subprocess.run(
        program("--version"), cwd=tmp_path, env=environ, capture_output=True, timeout=30
    )
    assert done.returncode == 0


def test_a_front_loads_nothing_heavy() -> None:
    heavy = "asyncio dataclasses hashlib inspect pathlib pydantic ssl subprocess tempfile typing"
    code = (
        "import sys; before = set(sys.modules); import memory_mcp.__main__, memory_mcp.front.run;"
        f"print(sorted(set({heavy.split()!r}) & set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=30,
    )
    assert done.stdout.decode().strip() == "[]", done.stderr.decode()


def test_a_hello_fits_with_as_many_ids_as_are_kept() -> None:
    from memory_mcp.front.client import ID_LETTERS, KEPT_REQUESTS

    ids = ["\x01" * (ID_LETTERS // 4)] * KEPT_REQUESTS
    assert len(encode({"repeated": ids})) < HELLO_BYTES * 3 // 4
