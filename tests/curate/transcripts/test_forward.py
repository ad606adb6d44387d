"""A transcript is read on from where it was left: whole lines, each once, whatever happens."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_mcp.curate.transcripts.exports import turns_in
from memory_mcp.curate.transcripts.forward import Reading
from memory_mcp.curate.transcripts.marker import Marker, Markers
from memory_mcp.curate.transcripts.waiting import Queue, in_folders
from memory_mcp.front.queueing import queue
from tests.curate.transcripts.test_speech import claude, codex


def said(text: str, role: str = "user") -> bytes:
    """A line of a transcript in which something is said."""
    return claude(role, text, timestamp="2026-03-01T10:00:00Z") + b"\n"


def read_all(path: Path, marker: Marker, characters: int = 50) -> tuple[list[str], Marker]:
    """All that stands behind a marker, piece by piece, and the marker at its end."""
    reading = Reading(str(path), marker)
    texts: list[str] = []
    while True:
        piece = reading.next(characters)
        again = Reading(str(path), reading.taken_up(piece)).next(characters)
        assert again == piece  # a kill between reading and judging changes nothing
        texts += [turn.text for turn in piece.turns]
        marker = reading.passed(piece)
        if not piece.rest:
            return texts, marker


WORDS = st.text("abcdefgh äß\n", min_size=1, max_size=40).filter(str.strip)


@given(st.lists(st.tuples(WORDS, st.booleans()), max_size=12), st.data())
@settings(max_examples=60, deadline=None)
def test_a_growing_file_is_read_once_at_any_cut(
    tmp_path_factory: pytest.TempPathFactory, lines: list[tuple[str, bool]], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("grow") / "t.jsonl"
    whole = b"".join(said(text, "user" if user else "assistant") for text, user in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=5)))
    marker, seen = Marker(), []
    for cut in [*cuts, len(whole)]:
        path.write_bytes(whole[:cut])
        texts, marker = read_all(path, marker)
        seen += texts
    assert seen == [text.strip("\r\n").strip() for text, _ in lines]


@given(st.lists(WORDS, min_size=1, max_size=6), st.lists(WORDS, max_size=6), st.data())
@settings(max_examples=60, deadline=None)
def test_a_file_that_was_rewritten_or_cut_is_read_anew(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[str],
    others: list[str],
    data: st.DataObject,
) -> None:
    path = tmp_path_factory.mktemp("cut") / "t.jsonl"
    whole = b"".join(map(said, lines))
    path.write_bytes(whole)
    _, marker = read_all(path, Marker())
    kept = data.draw(st.integers(0, len(lines) - 1))
    now = [*lines[:kept], *others]
    path.write_bytes(b"".join(map(said, now)))
    texts, _ = read_all(path, marker)
    expected = now if not path.read_bytes().startswith(whole) else now[len(lines) :]
    assert texts == [text.strip("\r\n").strip() for text in expected]


def test_who_said_what_and_when_is_known_of_both_kinds(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    rollout = json.loads(codex("assistant", "It is set."))
    rollout["timestamp"] = "2026-03-01T10:00:05.120Z"
    path.write_bytes(
        said("The server is in Oslo.")
        + json.dumps(rollout).encode()
        + b"\n"
        + claude("user", "not said", isSidechain=True)
        + b"\n"
        + claude("user", [{"type": "tool_result", "content": "x"}])
        + b"\n"
    )
    turns = Reading(str(path), Marker()).next().turns
    assert [(turn.role, turn.text, turn.at) for turn in turns] == [
        ("user", "The server is in Oslo.", "2026-03-01T10:00:00Z"),
        ("assistant", "It is set.", "2026-03-01T10:00:05.120Z"),
    ]


def test_private_parts_injected_text_and_secrets_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    path.write_bytes(
        said("I live in Rome. <private>My pin is 4711.</private>")
        + said("<memory-context>\nYou live in Paris.\n</memory-context>\nWhere do I live?")
        + said(f"The token is {key}, keep it.")
    )
    text = "\n".join(turn.text for turn in Reading(str(path), Marker()).next().turns)
    assert "Rome" in text
    assert "Where do I live?" in text
    for hidden in ("4711", "Paris", key):
        assert hidden not in text


def test_a_long_message_of_a_person_is_read_whole_and_one_of_an_assistant_cut(
    tmp_path: Path,
) -> None:
    path = tmp_path / "t.jsonl"
    long = " ".join(f"word{number}" for number in range(5000))
    path.write_bytes(said(long) + said(long, "assistant"))
    texts, _ = read_all(path, Marker(), 20_000)
    assert "".join(texts[:-1]) == long
    assert len(texts[-1]) < 2100


def test_a_line_that_is_being_written_waits(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    whole = said("one") + said("two")
    path.write_bytes(whole[:-9])
    texts, marker = read_all(path, Marker())
    assert texts == ["one"]
    path.write_bytes(whole[:-1])
    assert read_all(path, marker)[0] == ["two"]


@pytest.mark.parametrize(
    "export",
    [
        "User: I moved to Bern.\n\nAssistant: Noted.\nWhen?\n\nUser: In May.\n",
        "# Talk\n\n**User:** I moved to Bern.\n\n**Claude:** Noted.\nWhen?\n\n**User:** In May.",
        "## You\nI moved to Bern.\n\n## ChatGPT\nNoted.\nWhen?\n\n## You\nIn May.\n",
        "You said:\nI moved to Bern.\nChatGPT said:\nNoted.\nWhen?\nYou said:\nIn May.\n",
        "Ich: I moved to Bern.\nAssistent: Noted.\nWhen?\nIch: In May.\n",
        "[2026-05-01 10:00] Human: I moved to Bern.\n[2026-05-01 10:01] AI: Noted.\nWhen?\n"
        "[2026-05-01 10:02] Human: In May.\n",
    ],
)
def test_exports_of_many_kinds_are_read(export: str) -> None:
    turns = turns_in(export.encode())
    assert [(turn.role, turn.text) for turn in turns] == [
        ("user", "I moved to Bern."),
        ("assistant", "Noted.\nWhen?"),
        ("user", "In May."),
    ]


@pytest.mark.parametrize(
    "text",
    ["", "# Notes\n\nUser stories are short.\n", "You are here.\n", "Assistant: only me.\n"],
)
def test_a_text_in_which_no_person_speaks_is_no_conversation(text: str) -> None:
    assert turns_in(text.encode()) == ()


def test_a_name_in_code_begins_no_turn() -> None:
    export = "User: Look:\n```\nUser: root\n```\nAssistant: Seen.\n"
    assert [turn.role for turn in turns_in(export.encode())] == ["user", "assistant"]


@given(st.lists(st.tuples(st.booleans(), WORDS), min_size=1, max_size=8), st.data())
@settings(max_examples=60, deadline=None)
def test_a_growing_export_loses_and_repeats_nothing(
    tmp_path_factory: pytest.TempPathFactory, talk: list[tuple[bool, str]], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("export") / "t.md"
    parts = [f"{'User' if user else 'Assistant'}: {' '.join(t.split())}\n" for user, t in talk]
    if not any(user for user, _ in talk):
        parts.insert(0, "User: hello\n")
    count = data.draw(st.integers(1, len(parts)))
    marker, seen = Marker(), []
    for upto in (count, len(parts)):
        path.write_text("".join(parts[:upto]), encoding="utf-8")
        texts, marker = read_all(path, marker)
        seen += texts
    expected = [part.partition(": ")[2].strip() for part in parts]
    if any(part.startswith("User") for part in parts[:count]):
        assert seen == expected
    else:  # nobody had said anything yet: it was no conversation, and what came later is read
        assert seen == expected[count:]


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "missing", "."):
        with pytest.raises(OSError):
            Reading(str(tmp_path / name), Marker()).next()


def test_a_marker_is_kept_for_each_owner_and_a_broken_one_is_a_new_one(tmp_path: Path) -> None:
    markers = Markers(tmp_path, "kim")
    markers.keep("/t.jsonl", Marker(7, "d", 9, "job", "s"))
    assert markers.load("/t.jsonl") == Marker(7, "d", 9, "job", "s")
    assert Markers(tmp_path, "lou").load("/t.jsonl") == Marker()
    for path in tmp_path.glob("*.json"):
        path.write_bytes(b"{")
    assert markers.load("/t.jsonl") == Marker()


def test_a_queued_transcript_goes_when_it_was_read_and_stays_when_it_was_named_again(
    tmp_path: Path,
) -> None:
    payload = {"transcript_path": str(tmp_path / "t.jsonl"), "session_id": "s", "cwd": "/w"}
    queue(str(tmp_path), "session-end", None, payload)
    queue(str(tmp_path), "stop", "lou", payload)
    mine = Queue(tmp_path, "default")
    (waiting,) = mine.all()
    assert (waiting.session, waiting.event) == ("s", "session-end")
    queue(str(tmp_path), "pre-compact", None, payload)
    mine.done(waiting)
    (again,) = mine.all()
    assert again.event == "pre-compact"
    mine.done(again)
    assert mine.all() == ()
    assert len(Queue(tmp_path, "lou").all()) == 1


def test_folders_files_and_globs_are_looked_through(tmp_path: Path) -> None:
    for name in ("a/x.jsonl", "a/deep/y.md", "a/z.png", "b/talk.txt", "a/.hidden.md"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("User: x", encoding="utf-8")
    found = in_folders(["a", "b/*.txt", str(tmp_path / "a" / "x.jsonl"), "none"], tmp_path)
    names = [os.path.relpath(item.path, tmp_path) for item in found]
    assert sorted(names) == ["a/deep/y.md", "a/x.jsonl", "b/talk.txt"]
