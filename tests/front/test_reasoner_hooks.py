"""An agent that reasons for the memory does not feed it: its hooks do nothing."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from memory_mcp.core.chat import Message
from memory_mcp.core.config import ReasonerChoice
from memory_mcp.curate.reason.command import MARK, Command
from memory_mcp.front.home import STATE
from memory_mcp.front.hook import EVENTS, REASONER
from tests.front.fronts import Home
from tests.front.hooks import run_hook

GIVEN = {"transcript_path": "/t/one.jsonl", "session_id": "S", "prompt": "valve?"}


def test_the_mark_has_one_name() -> None:
    assert REASONER == MARK


@pytest.mark.parametrize("event", [*EVENTS, "no-such-event"])
def test_a_hook_of_a_reasoner_prints_nothing_and_queues_nothing(home: Home, event: str) -> None:
    before = sorted(home.path.rglob("*"))
    for given in (GIVEN, b"no JSON"):
        done = run_hook({**home.environ, REASONER: "1"}, event, given).fine()
        assert (done.out, done.err) == ("", "")
    assert sorted(home.path.rglob("*")) == before


def test_without_the_mark_the_same_hook_queues(home: Home) -> None:
    home.mood("fail")
    run_hook({**home.environ, REASONER: ""}, "stop", GIVEN).fine()
    assert len(list((home.path / STATE / "transcripts" / "queue").iterdir())) == 1


@pytest.mark.anyio
async def test_a_program_that_runs_its_hooks_leaves_no_trace(tmp_path: Path) -> None:
    home = tmp_path / "home"
    code = (
        "import json, subprocess, sys\n"
        "sys.stdin.read()\n"
        "hook = [sys.executable, '-P', '-m', 'memory_mcp', 'hook']\n"
        "given = json.dumps({'transcript_path': '/t/one.jsonl'})\n"
        "for event in ('session-start', 'stop'):\n"
        "    done = subprocess.run([*hook, event], input=given, capture_output=True, text=True)\n"
        "    print([done.returncode, done.stdout, done.stderr])\n"
    )
    choice = ReasonerChoice(provider="command", command=(sys.executable, "-c", code))
    environ = {**os.environ, "MEMORY_MCP_HOME": str(home)}
    reply = await Command(choice, environ, tmp_path / "work").reply([Message("user", "?")])
    lines = [line.replace("'", '"') for line in reply.text.splitlines()]
    assert [json.loads(line) for line in lines] == [[0, "", ""], [0, "", ""]]
    assert not home.exists()
