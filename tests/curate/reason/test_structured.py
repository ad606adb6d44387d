"""Answers in a form: read leniently, asked for once more, and refused by name."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, RootModel

from memory_mcp.core.chat import Reply
from memory_mcp.core.errors import AnswerError, BusyError
from memory_mcp.curate.reason.structured import checked, structured
from tests.curate.reason.replies import Replies, said
from tests.scripted_model import Fault, Rule, ScriptedModel

pytestmark = pytest.mark.anyio


class Fact(BaseModel):
    slug: str = Field(min_length=1)
    certain: bool = True


class Facts(BaseModel):
    facts: list[Fact]


class FactList(RootModel[list[Fact]]):
    pass


GOOD = '{"slug": "tea"}'


async def test_an_answer_is_a_value_and_its_cost_is_told() -> None:
    reasoner = Replies(f"Here you are:\n```json\n{GOOD}\n```")
    fact, spent = await structured(reasoner, "You file.", "File tea.", Fact)
    assert fact == Fact(slug="tea")
    assert (spent.tokens, spent.models, spent.replies) == (10, ("prepared",), 1)
    system, user = reasoner.asked[0]
    assert system.text.startswith("You file.")
    assert '"minLength": 1' in system.text
    assert user.text == "File tea."
    assert reasoner.schemas[0] == Fact.model_json_schema()


async def test_a_wrong_answer_goes_back_once_with_what_was_wrong() -> None:
    reasoner = Replies('{"slug": "", "certain": "perhaps"}', GOOD)
    fact, spent = await structured(reasoner, "s", "t", Fact)
    assert fact.slug == "tea"
    assert spent.replies == 2
    wrong, told = reasoner.asked[1][-2:]
    assert wrong.role == "assistant"
    assert "slug: String should have at least 1 character" in told.text
    assert "certain: Input should be a valid boolean" in told.text


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        ("", "the answer is empty"),
        ("I would rather not.", "is not JSON .*; it begins 'I would rather not.'"),
        (said('{"slug": "te', cut=True), "was cut at the limit of length"),
        (said(GOOD, cut=True), "was cut at the limit of length"),
        ("x" * 300_000, "too long"),
        ('{"slug": NaN}', "not finite"),
        ('{"slug": "\\ud800"}', "half a character"),
        ('{"a":' * 300 + "1" + "}" * 300, "nested too deep"),
        ("[1, 2]", "has not the form asked for"),
        ("{}", "slug: Field required"),
        (said("", ("memory_get", "{}")), "the answer is empty"),
    ],
)
async def test_a_second_wrong_answer_is_an_error_with_its_name(
    reply: str | Reply, fault: str
) -> None:
    with pytest.raises(AnswerError, match=f"gave no usable answer, asked twice: .*{fault}") as e:
        await structured(Replies(reply), "s", "t", Fact)
    assert len(str(e.value)) < 500


async def test_the_quote_of_a_wrong_answer_is_short_and_one_line() -> None:
    with pytest.raises(AnswerError) as caught:
        await structured(Replies("line one\n<system>" + "y" * 500), "s", "t", Fact)
    assert "\n" not in str(caught.value)
    assert "y" * 61 not in str(caught.value)


async def test_other_errors_of_the_model_are_not_asked_away() -> None:
    reasoner = Replies(BusyError("the server answered 429"))
    with pytest.raises(BusyError):
        await structured(reasoner, "s", "t", Fact)
    assert len(reasoner.asked) == 1


@pytest.mark.parametrize(
    ("text", "shape", "count"),
    [
        (f"[{GOOD}]", Fact, None),
        (GOOD, FactList, 1),
        (f"[{GOOD}, {GOOD}]", FactList, 2),
        (f'{{"facts": [{GOOD}]}}', Facts, 1),
        (f"[{GOOD}, {GOOD}]", Facts, 2),
        ("[]", Facts, 0),
        (f'[{{"facts": [{GOOD}]}}]', Facts, 1),
    ],
)
def test_a_list_and_its_item_may_stand_for_each_other(
    text: str, shape: type[BaseModel], count: int | None
) -> None:
    value = checked(said(text), shape)
    assert isinstance(value, shape)
    if count is not None:
        facts = value.root if isinstance(value, FactList) else value.facts  # type: ignore[attr-defined]
        assert len(facts) == count


def test_two_answers_are_never_taken_for_one() -> None:
    with pytest.raises(AnswerError):
        checked(said(f"[{GOOD}, {GOOD}]"), Fact)


@given(st.text(), st.booleans())
def test_any_reply_is_a_value_or_an_error_with_a_name(text: str, cut: bool) -> None:
    for shape in (Fact, Facts, FactList):
        try:
            checked(said(text, cut=cut), shape)
        except AnswerError as error:
            assert str(error)


@pytest.mark.parametrize("fault", ["empty", "cut", "not json", "wrong type", "huge", "no choice"])
async def test_a_misbehaving_server_ends_in_an_error_with_a_name(
    fault: Fault, caplog: pytest.LogCaptureFixture
) -> None:
    from memory_mcp.curate.reason.endpoint import Endpoint
    from memory_mcp.curate.reason.openai import OpenAI

    caplog.set_level(logging.DEBUG)
    with ScriptedModel(Rule(text=GOOD, fault=fault)) as model:
        endpoint = Endpoint(OpenAI(), model.choice(), {}, seconds=5)
        with pytest.raises(AnswerError):
            await structured(endpoint, "Policy of filing.", "The whistle is silver.", Fact)
    assert "whistle" not in caplog.text
    assert GOOD not in caplog.text


async def test_a_server_is_told_what_was_wrong_and_answers_right() -> None:
    from memory_mcp.curate.reason.endpoint import Endpoint
    from memory_mcp.curate.reason.openai import OpenAI

    rules = (Rule("cannot be used: .*Field required", text=GOOD), Rule(text="{}"))
    with ScriptedModel(*rules) as model:
        fact, spent = await structured(Endpoint(OpenAI(), model.choice(), {}), "s", "t", Fact)
    assert fact.slug == "tea"
    assert spent.tokens == 20
