"""Transcripts wait for the curation: durably, once each, and never too many."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from memory_mcp.front import queueing
from memory_mcp.front.home import STATE
from memory_mcp.front.queueing import MOST, queue
from tests.front.fronts import Home
from tests.front.hooks import run_hook

SAID = {"transcript_path": "/t/one.jsonl", "session_id": "S", "cwd": "/p"}


def waiting(home: Path) -> list[dict[str, Any]]:
    folder = home / STATE / queueing.FOLDER
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*"))]


@pytest.mark.parametrize("event", ["pre-compact", "session-end", "stop"])
def test_a_hook_at_the_end_leaves_the_transcript_though_no_engine_runs(
    home: Home, event: str
) -> None:
    home.mood("fail")
    run_hook(home.environ, event, SAID).fine()
    [record] = waiting(home.path)
    assert record.pop("time").endswith("Z")
    assert record == {
        "path": "/t/one.jsonl",
        "session": "S",
        "event": event,
        "agent": None,
        "cwd": "/p",
    }


def test_a_transcript_that_is_named_again_waits_once(tmp_path: Path) -> None:
    for event in ("stop", "stop", "session-end"):
        assert queue(str(tmp_path), event, None, SAID)
    [record] = waiting(tmp_path)
    assert record["event"] == "session-end"


def test_each_agent_has_its_own(tmp_path: Path) -> None:
    queue(str(tmp_path), "stop", "work", SAID)
    queue(str(tmp_path), "stop", None, SAID)
    assert {record["agent"] for record in waiting(tmp_path)} == {"work", None}


@pytest.mark.parametrize("path", [None, "", "a\0b"])
def test_without_a_path_nothing_waits(tmp_path: Path, path: str | None) -> None:
    said = {} if path is None else {"transcript_path": path}
    assert not queue(str(tmp_path), "stop", None, said)
    assert waiting(tmp_path) == []


def test_a_relative_path_begins_where_the_client_is(tmp_path: Path) -> None:
    queue(str(tmp_path), "stop", None, {**SAID, "transcript_path": "t.jsonl"})
    assert waiting(tmp_path)[0]["path"] == "/p/t.jsonl"


def test_the_oldest_are_forgotten_when_too_many_wait(tmp_path: Path) -> None:
    queue(str(tmp_path), "stop", None, SAID)
    folder = tmp_path / STATE / queueing.FOLDER
    [first] = folder.glob("*")
    os.utime(first, (1, 1))
    for number in range(MOST - 1):
        (folder / f"{number}.json").write_text("{}", encoding="utf-8")
    queue(str(tmp_path), "stop", None, {**SAID, "transcript_path": "/t/two.jsonl"})
    assert len(list(folder.glob("*"))) == MOST
    assert not first.exists()


def test_the_folder_is_for_this_user_only(tmp_path: Path) -> None:
    queue(str(tmp_path), "stop", None, SAID)
    folder = tmp_path / STATE / queueing.FOLDER
    assert folder.stat().st_mode & 0o077 == 0
    assert (tmp_path / STATE).stat().st_mode & 0o077 == 0


def test_a_folder_that_cannot_be_written_is_one_line(home: Home) -> None:
    state = home.path / STATE
    state.mkdir()
    (state / "transcripts").write_text("in the way", encoding="utf-8")
    done = run_hook(home.environ, "stop", SAID).fine()
    assert done.out == "" and done.err.startswith("memory-mcp: ")
