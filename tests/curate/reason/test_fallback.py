"""Which model is asked when one is not there, and how the settings make them."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_mcp.core.chat import Message
from memory_mcp.core.config import CurationSettings, ReasonerChoice, ReasonerSettings
from memory_mcp.core.errors import (
    AnswerError,
    BudgetError,
    BusyError,
    DeclinedError,
    ReasonerError,
    SetupError,
    UnreachableError,
)
from memory_mcp.curate.reason.fallback import Fallback
from memory_mcp.curate.reason.make import make_reasoner
from tests.curate.reason.replies import Replies
from tests.fakes import FixedClock
from tests.scripted_model import Rule, ScriptedModel

pytestmark = pytest.mark.anyio

ASKED = [Message("user", "What about tea?")]
AWAY = UnreachableError("first is not there")


async def test_the_next_is_asked_where_one_is_not_there() -> None:
    first, second = Replies(AWAY), Replies("ok", name="second")
    reasoner = Fallback([first, second], FixedClock())
    reply = await reasoner.reply(ASKED)
    assert (reply.text, reply.model) == ("ok", "second")
    assert reasoner.name == "prepared, else second"


@pytest.mark.parametrize(
    "error",
    [AnswerError("x"), BudgetError("x"), BusyError("x"), DeclinedError("x"), SetupError("x")],
)
async def test_a_bad_answer_or_refusal_asks_nobody_else(error: ReasonerError) -> None:
    second = Replies("ok")
    with pytest.raises(type(error)):
        await Fallback([Replies(error), second], FixedClock()).reply(ASKED)
    assert second.asked == []


async def test_who_was_not_there_is_passed_over_for_a_while(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = FixedClock()
    first, second = Replies(AWAY, "back"), Replies("ok")
    reasoner = Fallback([first, second], clock)
    for _ in range(3):
        assert (await reasoner.reply(ASKED)).text == "ok"
    assert len(first.asked) == 1
    assert caplog.text.count("the next model is asked") == 1
    clock.advance(301)
    assert (await reasoner.reply(ASKED)).text == "back"


async def test_where_nobody_is_there_all_reasons_are_told() -> None:
    reasoner = Fallback([Replies(AWAY), Replies(UnreachableError("nor second"))], FixedClock())
    for _ in range(2):
        with pytest.raises(UnreachableError) as caught:
            await reasoner.reply(ASKED)
        assert {"first is not there", "nor second"} <= set(str(caught.value).split("; "))


def make(settings: ReasonerSettings, folder: Path, most: int = 1000) -> object:
    curation = CurationSettings(max_tokens_day=most)
    return make_reasoner(settings, curation, {"PATH": "/nowhere"}, folder, FixedClock())


def test_without_a_provider_there_is_none(tmp_path: Path) -> None:
    assert make(ReasonerSettings(), tmp_path) is None
    assert list(tmp_path.iterdir()) == []


async def test_a_missing_program_falls_back_to_a_host(tmp_path: Path) -> None:
    with ScriptedModel(Rule(text="hello")) as model:
        settings = ReasonerSettings(
            provider="command", command="no-such-agent -p", fallback=(model.choice(),)
        )
        reasoner = make_reasoner(
            settings, CurationSettings(), {"PATH": "/nowhere"}, tmp_path, FixedClock()
        )
        assert reasoner is not None
        assert reasoner.name == "command no-such-agent, else openai-compatible scripted"
        reply = await reasoner.reply(ASKED)
    assert (reply.text, reply.model) == ("hello", "scripted")
    assert (tmp_path / "reasoner" / "tokens.json").is_file()


def test_a_wrong_setting_of_a_fallback_is_found_at_once(tmp_path: Path) -> None:
    settings = ReasonerSettings(
        provider="command",
        command=("agent",),
        fallback=(ReasonerChoice(provider="anthropic", model="claude"),),
    )
    with pytest.raises(SetupError, match=r"reasoner\.fallback\.0\.provider anthropic takes"):
        make(settings, tmp_path)


async def test_the_day_is_capped_by_the_settings(tmp_path: Path) -> None:
    with ScriptedModel() as model:
        settings = ReasonerSettings(**model.choice().model_dump())
        reasoner = make_reasoner(
            settings, CurationSettings(max_tokens_day=1), {}, tmp_path, FixedClock()
        )
        assert reasoner is not None
        with pytest.raises(BudgetError):
            await reasoner.reply(ASKED)
    assert model.requests == []
