"""Programs as chat models: real processes, with limits, and never through a shell."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from memory_mcp.core.chat import Function, FunctionCall, Message
from memory_mcp.core.config import ReasonerChoice
from memory_mcp.core.errors import (
    AnswerError,
    BusyError,
    DeclinedError,
    SetupError,
    UnreachableError,
)
from memory_mcp.curate.reason.command import Command
from memory_mcp.curate.reason.loop import work
from memory_mcp.curate.reason.written import answer_of, prompt_of
from tests.curate.reason.replies import Box

pytestmark = pytest.mark.anyio

ASKED = [Message("system", "You file notes."), Message("user", "What about tea?")]
GET = Function("memory_get", "Reads a note.", {"type": "object"})


def program(folder: Path, code: str, seconds: float = 8.0, **environ: str) -> Command:
    """A Python program as a reasoner, run in `folder / "work"`."""
    path = folder / "program.py"
    path.write_text(code, encoding="utf-8")
    choice = ReasonerChoice(provider="command", command=(sys.executable, str(path)))
    return Command(choice, {**os.environ, **environ}, folder / "work", seconds=seconds)


async def test_the_prompt_is_read_and_the_answer_printed(tmp_path: Path) -> None:
    code = (
        "import sys, os\n"
        "text = sys.stdin.read()\n"
        "print(text.upper().strip(), os.environ['MEMORY_MCP_REASONER'], os.listdir('.'))\n"
    )
    reply = await program(tmp_path, code).reply(ASKED)
    assert reply.text == "YOU FILE NOTES.\n\nWHAT ABOUT TEA? 1 []"
    assert reply.estimated
    assert reply.tokens > 5
    assert reply.model == f"command {Path(sys.executable).name}"


async def test_a_command_may_be_one_text_which_no_shell_reads(tmp_path: Path) -> None:
    script = tmp_path / "two words.py"
    script.write_text("import sys; print(sys.argv[1:])", encoding="utf-8")
    command = f"'{sys.executable}' '{script}' '$HOME; ls' *"
    choice = ReasonerChoice(provider="command", command=command)
    reply = await Command(choice, os.environ, tmp_path / "work").reply(ASKED)
    assert reply.text == "['$HOME; ls', '*']"


async def test_a_program_that_reads_nothing_answers_all_the_same(tmp_path: Path) -> None:
    asked = [Message("user", "long " * 200_000)]
    assert (await program(tmp_path, "print('done')").reply(asked)).text == "done"


async def test_calls_of_functions_are_named_in_the_answer(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "text = sys.stdin.read()\n"
        "assert 'memory_get' in text\n"
        "if 'read wiki/tea' in text:\n"
        '    print(\'{"calls": [], "text": "Tea is known."}\')\n'
        "else:\n"
        "    print('Let me look:\\n```json\\n'\n"
        '          \'{"calls": [{"name": "memory_get", "arguments": {"ref": "wiki/tea"}}]}\'\n'
        "          '\\n```')\n"
    )
    box = Box()
    worked = await work(program(tmp_path, code), "You file notes.", "What about tea?", box)
    assert (worked.text, worked.ended, worked.rounds) == ("Tea is known.", "answered", 2)
    assert box.called == [("memory_get", {"ref": "wiki/tea"})]


@pytest.mark.parametrize(
    ("code", "kind", "text"),
    [
        ("import sys; sys.exit('not logged in')", DeclinedError, "exit code 1: not logged in"),
        ("while True: print('x' * 10000)", AnswerError, "printed more than 2,097,152 bytes"),
        ("import time; time.sleep(60)", BusyError, "did not answer within 0.5 s"),
        ("import os; os.kill(os.getpid(), 11)", DeclinedError, "exit code -11"),
    ],
)
async def test_each_fault_has_its_name(
    tmp_path: Path, code: str, kind: type[Exception], text: str
) -> None:
    seconds = 0.5 if kind is BusyError else 8.0
    with pytest.raises(kind, match=text):
        await program(tmp_path, code, seconds).reply(ASKED)


async def test_an_error_does_not_repeat_the_prompt(tmp_path: Path) -> None:
    code = "import sys; sys.exit('bad prompt: ' + sys.stdin.read())"
    with pytest.raises(DeclinedError) as caught:
        await program(tmp_path, code).reply(ASKED)
    assert "tea" not in str(caught.value)


FAMILY = (
    "import os, subprocess, sys, time\n"
    "alive = os.open(os.environ['ALIVE'], os.O_WRONLY)\n"
    "os.set_inheritable(alive, True)\n"
    "sleep = [sys.executable, '-c', 'import time; time.sleep(60)']\n"
    "subprocess.Popen(sleep, close_fds=False)\n"
    "os.write(alive, b'!')\n"
)
"""A program with a child. Both hold the pipe ALIVE open, which ends when both have."""


async def read(pipe: int, count: int) -> bytes:
    """Up to so many bytes; empty once nobody holds the other end any more."""
    os.set_blocking(pipe, True)
    with anyio.fail_after(8):
        return await anyio.to_thread.run_sync(os.read, pipe, count, abandon_on_cancel=True)


@pytest.fixture
def alive(tmp_path: Path) -> Iterator[int]:
    os.mkfifo(tmp_path / "alive")
    pipe = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)
    yield pipe
    os.close(pipe)


async def test_who_stops_waiting_ends_the_program_and_its_children(
    tmp_path: Path, alive: int
) -> None:
    family = program(tmp_path, FAMILY + "time.sleep(60)\n", ALIVE=str(tmp_path / "alive"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(family.reply, ASKED)
        with anyio.fail_after(8):
            await anyio.wait_readable(alive)
        assert await read(alive, 1) == b"!"
        tasks.cancel_scope.cancel()
    assert await read(alive, 1) == b""


async def test_a_child_that_is_left_behind_is_ended_and_not_waited_for(
    tmp_path: Path, alive: int
) -> None:
    family = program(tmp_path, FAMILY + "print('done')\n", ALIVE=str(tmp_path / "alive"))
    assert (await family.reply(ASKED)).text == "done"
    assert await read(alive, 2) == b"!"
    assert await read(alive, 1) == b""


async def test_a_program_that_is_not_there_is_unreachable(tmp_path: Path) -> None:
    choice = ReasonerChoice(provider="command", command="no-such-agent -p")
    with pytest.raises(UnreachableError, match=r"'no-such-agent' of reasoner\.command is not"):
        await Command(choice, {"PATH": str(tmp_path)}, tmp_path / "work").reply(ASKED)


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("agent 'open", "close the quotes"),
        ("", "needs reasoner.command"),
        ((), "needs reasoner.command"),
        ("bin/agent -p", "give the whole path"),
    ],
)
def test_a_command_that_cannot_be_read_says_why(tmp_path: Path, command: Any, text: str) -> None:
    with pytest.raises(SetupError, match=text):
        Command(ReasonerChoice(provider="command", command=command), {}, tmp_path)


async def test_a_file_that_is_no_program_says_so(tmp_path: Path) -> None:
    path = tmp_path / "agent"
    path.write_bytes(b"\x00\x01")
    path.chmod(0o755)
    choice = ReasonerChoice(provider="command", command=(str(path),))
    with pytest.raises(SetupError, match="cannot be run"):
        await Command(choice, {}, tmp_path / "work").reply(ASKED)


def test_a_conversation_is_one_text() -> None:
    calls = (FunctionCall("call_1", "memory_get", '{"ref": "a"}'),)
    talk = [
        *ASKED,
        Message("assistant", "", calls),
        Message("tool", "text of a", call_id="call_1"),
    ]
    text = prompt_of(talk, [GET])
    assert text.index("memory_get") < text.index("<user_message>") < text.index("<assistant>")
    assert '<tool_result call="call_1">\ntext of a\n</tool_result>' in text
    assert text.endswith("Your next answer:\n")
    assert prompt_of(ASKED) == "You file notes.\n\nWhat about tea?\n"


@pytest.mark.parametrize(
    ("text", "answer", "names"),
    [
        ("Just prose.", "Just prose.", []),
        ('{"text": "Done."}', "Done.", []),
        ('{"calls": null, "text": "Done."}', "Done.", []),
        ('{"slug": "tea"}', '{"slug": "tea"}', []),
        ('{"calls": [{"name": "f"}, {"name": "g", "arguments": "{}"}]}', "", ["f", "g"]),
    ],
)
def test_an_answer_is_read_leniently(text: str, answer: str, names: list[str]) -> None:
    said, calls = answer_of(text, [GET], 5)
    assert (said, [call.name for call in calls]) == (answer, names)
    assert [call.call_id for call in calls] == [f"call_{5 + n}" for n in range(len(names))]
    assert all(json.loads(call.arguments) == {} for call in calls)


@pytest.mark.parametrize(
    "text", ['{"calls": [{"name": "f"', '{"calls": 3}', '{"calls": [{"nome": "f"}]}']
)
def test_calls_that_cannot_be_read_are_an_error(text: str) -> None:
    with pytest.raises(AnswerError, match="call"):
        answer_of(text, [GET], 1)
