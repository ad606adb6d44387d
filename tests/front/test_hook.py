"""Hooks: they print what the engine says, soon or not at all, and never fail."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_mcp.front.ask import ask
from memory_mcp.front.hook import EVENTS, UNITS, units_of
from memory_mcp.front.payload import PROMPT_CHARS, TEXTS, Unreadable, payload_of
from tests.front.fronts import Home
from tests.front.hooks import SECONDS, Done, run_hook

PROMPT = "user-prompt-submit"
AT_ONCE = 2.0
"""Seconds: the second that is promised, and one for a busy machine."""


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def start(home: Home, context: str = "The valve is V7.") -> None:
    ask(None, home.environ, {}, "status", {}, start=True, seconds=SECONDS)
    (home.path / "context").write_text(context, encoding="utf-8")


def hook(home: Home, event: str, given: bytes | dict[str, Any]) -> Done:
    return run_hook(home.environ, event, given).fine()


def asked(home: Home) -> dict[str, Any]:
    question: dict[str, Any] = json.loads((home.path / "asked").read_text(encoding="utf-8"))
    return question


def test_what_the_engine_says_is_printed_as_the_client_reads_it(home: Home) -> None:
    start(home, 'Näh "so" 🔥\nnext')
    done = hook(home, PROMPT, {"prompt": "valve?", "hook_event_name": "UserPromptSubmit"})
    inner = json.loads(done.out)["hookSpecificOutput"]
    assert inner == {
        "hookEventName": "UserPromptSubmit",
        "additionalContext": 'Näh "so" 🔥\nnext',
    }
    assert done.err == ""
    assert hook(home, "session-start", {"source": "startup"}).context == 'Näh "so" 🔥\nnext'


def test_the_engine_is_asked_with_what_the_client_said_and_how_long_it_has(
    home: Home,
) -> None:
    start(home)
    said = {"prompt": "valve?", "cwd": "/p", "session_id": "S", "transcript_path": "/t.jsonl"}
    hook(home, PROMPT, {**said, "permission_mode": "plan", "extra": {"deep": [1]}})
    question = asked(home)
    assert question["event"] == PROMPT
    assert question["payload"] == said
    assert question["until"] - 1 < time.time()


def test_nothing_to_say_prints_nothing(home: Home) -> None:
    start(home, " \n")
    assert hook(home, PROMPT, {"prompt": "ok"}).out == ""


@pytest.mark.parametrize("event", ["pre-compact", "session-end", "stop"])
def test_at_the_end_nothing_is_said_whatever_the_engine_says(home: Home, event: str) -> None:
    start(home)
    assert hook(home, event, {"session_id": "S"}).out == ""
    assert asked(home)["event"] == event


@pytest.mark.parametrize(
    ("given", "answered"),
    [
        (b"", True),
        (b"{}", True),
        (b"not json", False),
        (b"[1, 2]", False),
        (b"\xff\xfe\x00", False),
        (b'\xef\xbb\xbf{"prompt": "green tea"}\r\n', True),
        (b'{"prompt": ["green tea"]}', True),
        (b'{"prompt": null, "session_id": 7}', True),
        (b'{"hook_event_name": "SomethingNew", "prompt": "green tea"}', False),
        (b'{"prompt": "' + b"pasted log line " * 65000 + b'?"}', True),
        (b"[" * 100_000, False),
        (b'{"prompt": "\\ud83d"}', True),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_odd_input_is_survived(home: Home, given: bytes, answered: bool) -> None:
    start(home)
    done = hook(home, PROMPT, given)
    assert bool(done.out) is answered
    assert bool(done.err) is not answered


def test_of_a_huge_prompt_the_beginning_and_the_end_are_asked(home: Home) -> None:
    start(home)
    hook(home, PROMPT, {"prompt": "First. " + "log line\n" * 100_000 + " How hot?"})
    prompt = asked(home)["payload"]["prompt"]
    assert prompt.startswith("First.") and prompt.endswith("How hot?")
    assert len(prompt) <= PROMPT_CHARS + 1


def test_a_client_that_keeps_its_end_open_is_answered(home: Home) -> None:
    start(home)
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "memory_mcp", "hook", PROMPT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=home.environ,
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(b'{"prompt": "valve?"}\n')
        process.stdin.flush()
        assert b"V7" in process.stdout.readline()
        assert process.wait(SECONDS) == 0


def test_a_client_that_says_nothing_is_not_waited_for(home: Home) -> None:
    start(home)
    begin = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "memory_mcp", "hook", PROMPT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=home.environ,
    ) as process:
        assert process.wait(SECONDS) == 0
        assert time.monotonic() - begin < AT_ONCE
        assert process.stdout is not None and process.stdout.read() == b""
        assert process.stderr is not None and b"without an answer" in process.stderr.read()


def test_streams_that_are_closed_are_no_failure(home: Home) -> None:
    start(home)
    shell = f'"{sys.executable}" -P -m memory_mcp hook {PROMPT} <&- >&- 2>&-'
    assert subprocess.run(["sh", "-c", shell], env=home.environ, check=False).returncode == 0


def test_without_an_engine_one_is_started_and_nothing_is_waited_for(home: Home) -> None:
    done = hook(home, PROMPT, {"prompt": "valve?"})
    assert done.out == ""
    assert "one starts now" in done.err
    assert done.seconds < AT_ONCE
    ask(None, home.environ, {}, "status", {}, start=True, seconds=SECONDS)
    assert len(home.engines()) == 1


def test_hooks_that_come_together_start_one_engine(home: Home) -> None:
    threads = [
        threading.Thread(target=hook, args=(home, PROMPT, {"prompt": "valve?"})) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ask(None, home.environ, {}, "status", {}, start=True, seconds=SECONDS)
    assert len(home.engines()) == 1


def test_the_start_of_a_session_waits_for_an_engine(home: Home) -> None:
    (home.path / "context").write_text("The valve is V7.", encoding="utf-8")
    assert hook(home, "session-start", {"source": "startup"}).context == "The valve is V7."
    assert len(home.engines()) == 1


@pytest.mark.parametrize("event", [PROMPT, "session-start"])
def test_an_engine_that_does_not_answer_costs_the_time_that_is_allowed(
    home: Home, event: str
) -> None:
    home.mood("deaf")
    with pytest.raises(Exception, match="did not answer"):
        ask(None, home.environ, {}, "status", {}, start=True, seconds=1.0)
    done = hook(home, event, {"prompt": "valve?"})
    assert done.out == "" and done.err
    assert done.seconds < AT_ONCE + (1.5 if event == "session-start" else 0)


@pytest.mark.skipif(os.name != "posix", reason="pipes that can be filled")
def test_a_client_that_never_reads_stderr_gets_its_prompt_back_in_time(home: Home) -> None:
    home.mood("deaf")
    with pytest.raises(Exception, match="did not answer"):
        ask(None, home.environ, {}, "status", {}, start=True, seconds=1.0)
    outlet, inlet = os.pipe()
    try:
        os.set_blocking(inlet, False)
        with pytest.raises(BlockingIOError):
            while True:
                os.write(inlet, b"x" * 4096)
        begin = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "memory_mcp", "hook", PROMPT],
            input=b'{"prompt": "valve?"}',
            stdout=subprocess.PIPE,
            stderr=inlet,
            env=home.environ,
            timeout=SECONDS,
        )
        assert (done.returncode, done.stdout) == (0, b"")
        assert time.monotonic() - begin < AT_ONCE
    finally:
        os.close(outlet)
        os.close(inlet)


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no such signal here")
def test_an_engine_that_stands_still_costs_the_time_that_is_allowed(home: Home) -> None:
    start(home)
    os.kill(home.engines()[-1], signal.SIGSTOP)
    done = hook(home, PROMPT, {"prompt": "valve?"})
    assert done.out == "" and done.err
    assert done.seconds < AT_ONCE
    os.kill(home.engines()[-1], signal.SIGCONT)
    assert hook(home, PROMPT, {"prompt": "valve?"}).context == "The valve is V7."
    assert len(home.engines()) == 1


def test_the_socket_of_a_dead_engine_is_not_waited_for(home: Home) -> None:
    start(home)
    home.kill()
    done = hook(home, PROMPT, {"prompt": "valve?"})
    assert done.out == "" and "one starts now" in done.err
    assert done.seconds < AT_ONCE
    assert ask(None, home.environ, {}, "status", {}, start=True, seconds=SECONDS)
    assert len(home.engines()) == 2


@pytest.mark.parametrize("mood", ["fail", "silent", "config", "refuse", "rude"])
def test_an_engine_that_cannot_be_had_is_one_line(home: Home, mood: str) -> None:
    home.mood(mood)
    for event in (PROMPT, "session-start"):
        done = hook(home, event, {"prompt": "valve?"})
        assert done.out == "" and done.err.startswith("memory-mcp: ")


def test_a_text_that_is_too_long_is_not_printed(home: Home) -> None:
    start(home, "x" * UNITS)
    done = hook(home, PROMPT, {"prompt": "valve?"})
    assert done.out == "" and "too long" in done.err


@pytest.mark.parametrize("letter", ["x", "ß", "検", "🔥", '"'])
def test_a_text_of_the_length_that_is_allowed_is_printed(home: Home, letter: str) -> None:
    start(home)
    around = units_of(hook(home, PROMPT, {"prompt": "valve?"}).out) - len("The valve is V7.")
    each = units_of(json.dumps(letter, ensure_ascii=False)) - 2
    most = (UNITS - around) // each
    for count in (most, most + 1):
        (home.path / "context").write_text(f"{letter * count}", encoding="utf-8")
        text = hook(home, PROMPT, {"prompt": "valve?"}).context
        assert text == (letter * count if count == most else "")


@pytest.mark.slow
@pytest.mark.timeout(120)
@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    event=st.sampled_from(sorted(EVENTS)),
    data=st.binary(max_size=200) | st.builds(lambda said: json.dumps(said).encode(), JSON),
)
def test_whatever_comes_the_hook_ends_well(home: Home, event: str, data: bytes) -> None:
    if not home.engines():
        start(home)
    hook(home, event, data)


@given(st.lists(st.binary(max_size=60), max_size=5))
def test_whatever_comes_is_read_or_refused(pieces: list[bytes]) -> None:
    rest = [piece for piece in pieces if piece]
    try:
        found = payload_of(lambda: rest.pop(0) if rest else b"")
    except Unreadable:
        return
    assert all(isinstance(value, str) for value in found.values())


@given(
    st.dictionaries(st.sampled_from([*TEXTS, "other"]), JSON, max_size=9),
    st.integers(1, 50),
    st.booleans(),
)
def test_texts_are_found_however_they_are_cut(
    said: dict[str, Any], size: int, marked: bool
) -> None:
    data = (b"\xef\xbb\xbf" if marked else b"") + json.dumps(said).encode()
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    found = payload_of(lambda: pieces.pop(0) if pieces else b"")
    assert found == {
        name: value for name, value in said.items() if name in TEXTS and isinstance(value, str)
    }


def test_input_without_end_is_refused() -> None:
    with pytest.raises(Unreadable, match="more than"):
        payload_of(lambda: b"x" * (1 << 20))
