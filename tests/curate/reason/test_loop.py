"""A model at work with functions, and every way in which that ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
import pytest

from memory_mcp.core.errors import BudgetError
from memory_mcp.curate.reason.endpoint import Endpoint
from memory_mcp.curate.reason.loop import Limits, work
from memory_mcp.curate.reason.openai import OpenAI
from tests.curate.reason.replies import Box, Replies, said
from tests.scripted_model import Rule, ScriptedModel, call

pytestmark = pytest.mark.anyio

GET = ("memory_get", '{"ref": "a"}')
EDIT = ("memory_edit", '{"ref": "a"}')


async def test_calls_are_carried_out_in_order_until_the_model_answers() -> None:
    box = Box()
    rule = Rule(
        "file (\\w+)",
        calls=[call("memory_get", ref="\\1"), call("memory_edit", ref="\\1")],
        then=[[call("memory_get", ref="b")]],
        text="Filed \\1.",
    )
    with ScriptedModel(rule) as model:
        worked = await work(Endpoint(OpenAI(), model.choice(), {}), "Policy.", "file tea", box)
    assert [(name, given["ref"]) for name, given in box.called] == [
        ("memory_get", "tea"),
        ("memory_edit", "tea"),
        ("memory_get", "b"),
    ]
    assert (worked.text, worked.ended, worked.rounds, worked.calls) == (
        "Filed tea.",
        "answered",
        3,
        3,
    )
    assert (worked.models, worked.tokens) == (("scripted",), 30)
    told = "Error: the page has no heading 'Plan'"
    assert model.requests[-1].results == ["read tea", told, "read b"]


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (("memory_gett", "{}"), "no function 'memory_gett'; did you mean memory_get?"),
        (("rm", "{}"), "no function 'rm'; there are memory_get, memory_edit"),
        (("memory_get", "[1]"), "not made: the arguments are no JSON object but a list"),
        (("memory_get", '{"ref": '), "not made: the answer is not JSON"),
        (("memory_get", '{"ref": "\\ud800"}'), "half a character"),
    ],
)
async def test_a_wrong_call_is_told_and_not_made(made: tuple[str, str], told: str) -> None:
    box, reasoner = Box(), Replies(said("", made), "Done.")
    worked = await work(reasoner, "s", "t", box)
    assert worked.ended == "answered"
    assert box.called == []
    assert told in reasoner.asked[1][-1].text


async def test_a_call_without_arguments_gets_an_empty_object() -> None:
    box = Box()
    await work(Replies(said("", ("memory_get", "")), "Done."), "s", "t", box)
    assert box.called == [("memory_get", {})]


@pytest.mark.parametrize(
    ("limits", "ended", "rounds", "calls"),
    [
        (Limits(rounds=3), "rounds", 3, 6),
        (Limits(calls=3), "calls", 2, 3),
        (Limits(tokens=25), "tokens", 3, 4),
    ],
)
async def test_a_limit_ends_a_model_that_never_does(
    limits: Limits, ended: str, rounds: int, calls: int
) -> None:
    worked = await work(Replies(said("", GET, GET)), "s", "t", Box(), limits)
    assert (worked.ended, worked.rounds, worked.calls) == (ended, rounds, calls)


async def test_time_ends_it_in_the_middle_of_a_call() -> None:
    class Slow(Box):
        async def call(self, name: str, arguments: Mapping[str, Any]) -> str:
            await anyio.Event().wait()
            return ""

    worked = await work(Replies(said("so far", GET)), "s", "t", Slow(), Limits(seconds=0.1))
    assert (worked.ended, worked.text) == ("seconds", "so far")


async def test_the_same_failing_call_three_times_ends_it() -> None:
    box = Box()
    worked = await work(Replies(said("", GET, EDIT)), "s", "t", box)
    assert worked.ended == "repeated failure"
    assert [name for name, _ in box.called].count("memory_edit") == 3


@pytest.mark.parametrize(
    ("reply", "ended"), [(said("  "), "empty"), (said("half of", cut=True), "cut")]
)
async def test_an_answer_that_is_none_says_so(reply: Any, ended: str) -> None:
    assert (await work(Replies(reply), "s", "t", Box())).ended == ended


async def test_half_characters_do_not_leave_the_loop() -> None:
    worked = await work(Replies("half \ud800"), "s", "t", Box())
    assert worked.text == "half ?"


async def test_an_error_of_the_model_ends_the_work() -> None:
    with pytest.raises(BudgetError):
        await work(Replies(said("", GET), BudgetError("used up")), "s", "t", Box())
