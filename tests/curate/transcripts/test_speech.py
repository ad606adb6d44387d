"""What was said is found in the transcripts of Claude Code and Codex, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.curate.transcripts.speech import Speech, last_speeches, speech_of


def claude(role: str, content: Any, name: str | None = None, **more: Any) -> bytes:
    message = {"role": role, "content": content, **({"id": name} if name else {})}
    return json.dumps({"type": role, "message": message, "uuid": "u", **more}).encode()


def codex(role: str, *texts: str, kind: str = "message") -> bytes:
    block = "output_text" if role == "assistant" else "input_text"
    content = [{"type": block, "text": text} for text in texts]
    payload = {"type": kind, "role": role, "content": content}
    return json.dumps({"timestamp": "t", "type": "response_item", "payload": payload}).encode()


def text_block(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (claude("user", "who is Ida?"), Speech("user", "who is Ida?")),
        (claude("user", [text_block("a"), text_block("b")]), Speech("user", "a\nb")),
        (
            claude("assistant", [{"type": "thinking", "thinking": "x"}, text_block("Hi")], "m"),
            Speech("assistant", "Hi", "m"),
        ),
        (codex("user", "who is Ida?"), Speech("user", "who is Ida?")),
        (codex("assistant", "Hi"), Speech("assistant", "Hi")),
        (
            claude("user", "who <system-reminder>not\nthis</system-reminder> is Ida?"),
            Speech("user", "who \n is Ida?"),
        ),
    ],
)
def test_speech_is_found_in_both_kinds(line: bytes, said: Speech) -> None:
    assert speech_of(line) == said


@pytest.mark.parametrize(
    "line",
    [
        claude("user", [{"type": "tool_result", "content": "long"}]),
        claude("assistant", [{"type": "tool_use", "name": "Read", "input": {}}], "m"),
        claude("user", "go", isSidechain=True),
        claude("user", "go", isMeta=True),
        claude("user", "This session continues …", isCompactSummary=True),
        claude("assistant", [text_block("API Error")], isApiErrorMessage=True),
        claude("user", "<system-reminder>only this</system-reminder>"),
        claude("user", "<system-reminder>without an end"),
        claude("user", "<command-name>/clear</command-name>\n<command-args></command-args>"),
        claude("user", "[Request interrupted by user for tool use]"),
        json.dumps({"type": "assistant", "message": {"role": "user", "content": "x"}}).encode(),
        json.dumps({"type": "system", "subtype": "compact_boundary", "to": "user"}).encode(),
        json.dumps({"type": "attachment", "message": {"role": "user", "content": "x"}}).encode(),
        codex("developer", "who is user?"),
        codex("user", "<environment_context>\n<cwd>/p</cwd>\n</environment_context>"),
        codex("user", "<user_instructions>be short</user_instructions>"),
        codex("user", "# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>"),
        codex("user", "<turn_aborted>\nThe user interrupted.\n</turn_aborted>"),
        claude("user", "<bash-input>ls</bash-input>"),
        codex("user", "x", kind="item_completed"),
        b'{"type": "user"',
        b'["user"]',
        b'{"type": "user", "message": "user"}',
        b'{"type": "user", "message": {"role": "user", "content": {"text": "x"}}}',
        b'{"type": "response_item", "payload": ["user"]}',
        b'"user"' + b"[" * 100_000,
        b"",
    ],
)
def test_what_is_no_speech_is_left_out(line: bytes) -> None:
    assert speech_of(line) is None


def test_a_message_in_several_lines_is_said_once() -> None:
    lines = [
        claude("user", "who is Ida?"),
        claude("assistant", [text_block("Let me look.")], "m1"),
        claude("assistant", [{"type": "tool_use", "name": "Read", "input": {}}], "m1"),
        claude("user", [{"type": "tool_result", "content": "x"}]),
        claude("assistant", [text_block("She is a")], "m2"),
        claude("assistant", [text_block("friend.")], "m2"),
    ]
    assert last_speeches(reversed(lines), 3) == (
        Speech("user", "who is Ida?"),
        Speech("assistant", "Let me look.", "m1"),
        Speech("assistant", "She is a\nfriend.", "m2"),
    )


def test_only_so_many_are_taken_and_no_line_before_them_is_read() -> None:
    lines = [claude("user", f"number {number}") for number in range(9)]
    read = []

    def newest_first() -> Any:
        for line in reversed(lines):
            read.append(line)
            yield line

    assert [said.text for said in last_speeches(newest_first(), 2)] == ["number 7", "number 8"]
    assert len(read) <= 4
    assert last_speeches(reversed(lines), 0) == ()


def test_the_message_that_is_being_said_is_no_history_of_itself() -> None:
    lines = [
        claude("user", "and his wife?"),
        claude("assistant", [text_block("Whose?")], "m"),
        claude("user", "<system-reminder>x</system-reminder>and his\nwife? "),
    ]
    told = last_speeches(reversed(lines), 2, "and his wife?")
    assert [said.text for said in told] == ["and his wife?", "Whose?"]
    assert len(last_speeches(reversed(lines), 3, "and his house?")) == 3


def test_an_empty_transcript_has_no_history() -> None:
    assert last_speeches([], 3, "x") == ()


@given(st.lists(st.binary(max_size=80), max_size=9), st.integers(0, 4), st.text(max_size=20))
def test_any_lines_are_survived(lines: list[bytes], most: int, message: str) -> None:
    assert len(last_speeches(lines, most, message)) <= most


INNER = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "text", "role", "content", "id", "message", "payload"]),
            inner | st.sampled_from(["user", "assistant", "text", "message", "response_item"]),
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(INNER, st.sampled_from(["user", "assistant", "response_item"]))
def test_any_shape_of_a_line_is_survived(inner: Any, kind: str) -> None:
    line = json.dumps({"type": kind, "message": inner, "payload": inner, "a": "user"}).encode()
    said = speech_of(line)
    assert said is None or said.text.strip()
