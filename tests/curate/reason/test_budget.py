"""Tokens of a day and of a job: counted durably, by several processes, and capped."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from datetime import datetime, timedelta, timezone
from pathlib import Path

import anyio
import pytest

from memory_mcp.core.chat import Message
from memory_mcp.core.errors import AnswerError, BudgetError, ReasonerError, UnreachableError
from memory_mcp.curate.reason.budget import DayBudget, JobBudget, Ledger
from memory_mcp.curate.reason.endpoint import Endpoint
from memory_mcp.curate.reason.openai import OpenAI
from tests.curate.reason.replies import Replies, said
from tests.fakes import FixedClock
from tests.scripted_model import Rule, ScriptedModel

pytestmark = pytest.mark.anyio

ASKED = [Message("user", "one two three four five six seven eight nine ten")]
NIGHT = datetime(2026, 3, 14, 23, 0, tzinfo=timezone(timedelta(hours=2)))


def ledger(folder: Path, most: int = 100, clock: FixedClock | None = None) -> Ledger:
    return Ledger(folder, most, clock or FixedClock(NIGHT))


async def test_the_day_counts_what_the_model_says_it_cost(tmp_path: Path) -> None:
    budget = DayBudget(Replies(said("a", tokens=30)), ledger(tmp_path))
    await budget.reply(ASKED)
    await budget.reply(ASKED)
    assert ledger(tmp_path).spent() == 60
    assert budget.name == "prepared"


async def test_a_day_that_is_used_up_says_when_it_goes_on(tmp_path: Path) -> None:
    clock = FixedClock(NIGHT)
    reasoner = Replies(said("a", tokens=95))
    budget = DayBudget(reasoner, ledger(tmp_path, clock=clock))
    await budget.reply(ASKED)
    with pytest.raises(BudgetError, match=r"95 of 100 tokens .* 2026-03-15T00:00\+02:00"):
        await budget.reply(ASKED)
    assert len(reasoner.asked) == 1
    clock.advance(3600)  # midnight where the user is
    await budget.reply(ASKED)
    assert ledger(tmp_path, clock=clock).spent() == 95


@pytest.mark.parametrize("most", [0, 5])
async def test_a_request_above_a_whole_day_names_the_setting(tmp_path: Path, most: int) -> None:
    budget = DayBudget(Replies("a"), ledger(tmp_path, most))
    with pytest.raises(BudgetError, match=r"more than a day may cost .* curation\.max_tokens_day"):
        await budget.reply(ASKED)


@pytest.mark.parametrize(
    ("error", "counted"), [(UnreachableError("away"), False), (AnswerError("bad"), True)]
)
async def test_what_was_not_answered_costs_nothing(
    tmp_path: Path, error: ReasonerError, counted: bool
) -> None:
    with pytest.raises(type(error)):
        await DayBudget(Replies(error), ledger(tmp_path)).reply(ASKED)
    assert (ledger(tmp_path).spent() > 0) is counted


async def test_who_stops_waiting_has_asked_all_the_same(tmp_path: Path) -> None:
    with ScriptedModel(Rule(fault="hang")) as model:
        endpoint = Endpoint(OpenAI(), model.choice(), {})
        with anyio.move_on_after(0.2):
            await DayBudget(endpoint, ledger(tmp_path)).reply(ASKED)
    assert ledger(tmp_path).spent() > 0


def take_until_killed(folder: Path) -> None:
    mine = ledger(folder, 10**9)
    mine.take(7)
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_process_has_counted(tmp_path: Path) -> None:
    process = multiprocessing.get_context("spawn").Process(
        target=take_until_killed, args=(tmp_path,)
    )
    process.start()
    process.join(8)
    assert process.exitcode == -signal.SIGKILL
    assert ledger(tmp_path).spent() == 7
    assert ledger(tmp_path).take(3) == "2026-03-14"


def take_many(folder: Path) -> None:
    mine = ledger(folder, 10**9)
    for _ in range(25):
        mine.correct(mine.take(2), -1)


def test_several_processes_count_together(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=take_many, args=(tmp_path,)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(8)
        assert process.exitcode == 0
    assert ledger(tmp_path).spent() == 75


def test_days_of_several_time_zones_do_not_erase_each_other(tmp_path: Path) -> None:
    east, west = FixedClock(NIGHT + timedelta(hours=2)), FixedClock(NIGHT)
    ledger(tmp_path, clock=west).take(10)
    ledger(tmp_path, clock=east).take(20)
    ledger(tmp_path, clock=west).take(10)
    assert ledger(tmp_path, clock=west).spent() == 20
    for day in range(1, 20):
        ledger(tmp_path, clock=FixedClock(NIGHT + timedelta(days=day))).take(1)
    assert len(json.loads((tmp_path / "tokens.json").read_text(encoding="utf-8"))) == 7


@pytest.mark.parametrize("damage", ["", "{", "[1]", '{"2026-03-14": "x"}', "[" * 100_000])
def test_a_damaged_count_begins_anew_and_says_so(
    tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "tokens.json").write_text(damage, encoding="utf-8")
    assert ledger(tmp_path).take(5) == "2026-03-14"
    assert ledger(tmp_path).spent() == 5
    assert "was damaged" in caplog.text


async def test_a_count_that_cannot_be_kept_asks_nobody(tmp_path: Path) -> None:
    (tmp_path / "tokens.json").mkdir()
    reasoner = Replies("a")
    with pytest.raises(BudgetError, match="cannot be counted"):
        await DayBudget(reasoner, ledger(tmp_path)).reply(ASKED)
    assert reasoner.asked == []


async def test_a_job_ends_with_its_tokens() -> None:
    job = JobBudget(Replies(said("a", tokens=40)), 100)
    for _ in range(3):
        await job.reply(ASKED)
    with pytest.raises(BudgetError, match="used 120 of its 100 tokens"):
        await job.reply(ASKED)
    assert (job.spent.tokens, job.spent.replies, job.name) == (120, 3, "prepared")
