"""One question to an engine, as hooks and quick commands ask it."""

from __future__ import annotations

import threading

import pytest

from memory_mcp.front.ask import BadSettings, Failure, NoEngine, ask
from memory_mcp.front.starting import reach
from tests.front.fronts import Home


def question(home: Home, name: str, start: bool = True, seconds: float = 9.0) -> object:
    return ask(None, home.environ, {}, name, {"deep": 1}, start=start, seconds=seconds)


def test_a_question_starts_an_engine_only_where_it_may(home: Home) -> None:
    with pytest.raises(NoEngine, match="no engine runs"):
        question(home, "status", start=False)
    assert home.engines() == []
    assert question(home, "status") == {"name": "status", "deep": 1}
    assert question(home, "status", start=False) == {"name": "status", "deep": 1}
    assert len(home.engines()) == 1


def test_progress_is_told_before_the_answer(home: Home) -> None:
    seen: list[tuple[int, int]] = []
    ask(
        str(home.path),
        home.environ,
        {},
        "reindex",
        {},
        start=True,
        seconds=9.0,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen == [(0, 3), (1, 3), (2, 3)]


def test_what_the_engine_cannot_do_is_a_failure_of_its_own(home: Home) -> None:
    with pytest.raises(Failure, match="it cannot be done"):
        question(home, "fail")


def test_wrong_settings_come_one_by_one(home: Home) -> None:
    home.mood("config")
    with pytest.raises(BadSettings) as caught:
        question(home, "status")
    assert caught.value.messages == ["first", "second"]


def test_a_dead_engine_is_no_engine(home: Home) -> None:
    question(home, "status")
    home.kill()
    with pytest.raises(NoEngine, match=r"is gone|hung up"):
        question(home, "status", start=False)


def test_an_engine_that_does_not_answer_is_waited_for_no_longer_than_asked(home: Home) -> None:
    home.mood("deaf")
    with pytest.raises(NoEngine, match=r"did not answer within 0\.3 s"):
        question(home, "status", seconds=0.3)


def test_many_questions_at_once_start_one_engine(home: Home) -> None:
    answers: list[object] = []
    threads = [
        threading.Thread(target=lambda: answers.append(question(home, "status")))
        for _ in range(10)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 10
    assert len(home.engines()) == 1


def test_a_lock_without_an_endpoint_is_waited_for_and_then_reported(home: Home) -> None:
    question(home, "status")
    (home.path / ".state" / "engine.json").unlink()
    with pytest.raises(NoEngine, match=r"gave up after 0\.3 s"):
        reach(str(home.path), {}, home.environ, patience=0.3)
    assert len(home.engines()) == 1
