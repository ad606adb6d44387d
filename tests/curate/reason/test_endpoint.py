"""Chat models over HTTP: what is sent, what is read, and how each fault is named."""

from __future__ import annotations

import logging
import socket
from collections.abc import Sequence
from typing import Any, Literal

import anyio
import pytest
import stamina
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.chat import Function, FunctionCall, Message
from memory_mcp.core.config import ReasonerChoice
from memory_mcp.core.errors import (
    AnswerError,
    BusyError,
    DeclinedError,
    ReasonerError,
    SetupError,
    UnreachableError,
)
from memory_mcp.curate.reason.anthropic import MOST_TOKENS, Anthropic
from memory_mcp.curate.reason.endpoint import Dialect, Endpoint
from memory_mcp.curate.reason.openai import OpenAI
from tests.scripted_model import Fault, Request, Rule, ScriptedModel, call

pytestmark = pytest.mark.anyio

Provider = Literal["openai-compatible", "anthropic"]
BOTH: tuple[Provider, ...] = ("openai-compatible", "anthropic")
SCHEMA = {"type": "object", "properties": {"slug": {"type": "string"}}}
GET = Function("memory_get", "Reads a note.", {"type": "object", "properties": {}})
SECRET_TEXT = "The vault door opens with a silver whistle."


def dialect_of(provider: Provider) -> Dialect:
    return Anthropic() if provider == "anthropic" else OpenAI()


def endpoint(model: ScriptedModel, provider: Provider, seconds: float = 5.0) -> Endpoint:
    environ = {"SCRIPTED_KEY": "k-1"}
    return Endpoint(dialect_of(provider), model.choice(provider), environ, seconds=seconds)


def asked(text: str = "What about tea?") -> list[Message]:
    return [Message("system", "You file notes."), Message("user", text)]


@pytest.mark.parametrize("provider", BOTH)
async def test_a_question_is_answered_and_its_cost_is_known(provider: Provider) -> None:
    with ScriptedModel(Rule(r"about (\w+)", text="Found \\1.")) as model:
        reply = await endpoint(model, provider).reply(asked())
    assert (reply.text, reply.calls, reply.model) == ("Found tea.", (), "scripted")
    assert (reply.tokens, reply.estimated, reply.cut) == (10, False, False)


@pytest.mark.parametrize("provider", BOTH)
async def test_a_cost_that_is_not_told_is_estimated_and_marked(provider: Provider) -> None:
    with ScriptedModel(Rule(usage=False)) as model:
        reply = await endpoint(model, provider).reply(asked())
    assert reply.estimated
    assert 5 < reply.tokens < 30


@pytest.mark.parametrize("provider", BOTH)
async def test_calls_and_their_results_go_back_and_forth(provider: Provider) -> None:
    rule = Rule(calls=[call("memory_get", ref="a")], then=[[call("memory_get", ref="b")]])
    with ScriptedModel(rule) as model:
        reasoner = endpoint(model, provider)
        talk = asked()
        for result in ("text of a", "text of b"):
            reply = await reasoner.reply(talk, [GET])
            (made,) = reply.calls
            talk += [Message("assistant", reply.text, reply.calls)]
            talk += [Message("tool", result, call_id=made.call_id)]
        last = await reasoner.reply(talk, [GET])
    assert last.text == "OK"
    assert model.requests[0].offered == ["memory_get"]
    assert model.requests[2].results == ["text of a", "text of b"]


async def test_neither_temperature_nor_length_is_sent_to_a_chat_completion() -> None:
    with ScriptedModel() as model:
        await endpoint(model, "openai-compatible").reply(asked())
    assert set(model.requests[0].body) == {"model", "messages"}
    assert "authorization" not in model.requests[0].headers


async def test_anthropic_gets_the_system_apart_and_the_length_it_wants() -> None:
    with ScriptedModel() as model:
        await endpoint(model, "anthropic").reply(asked())
    (request,) = model.requests
    assert request.path == "/v1/messages"
    assert request.body["system"] == "You file notes."
    assert request.body["max_tokens"] == MOST_TOKENS
    assert [message["role"] for message in request.messages] == ["user"]
    assert request.headers["x-api-key"] == "k-1"


async def test_results_of_several_calls_are_one_turn_for_anthropic() -> None:
    calls = (FunctionCall("1", "memory_get", "{}"), FunctionCall("2", "memory_get", "no JSON"))
    talk = [
        *asked(),
        Message("assistant", "", calls),
        Message("tool", "one", call_id="1"),
        Message("tool", "two", call_id="2"),
    ]
    with ScriptedModel() as model:
        await endpoint(model, "anthropic").reply(talk, [GET])
    turns = model.requests[0].messages
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]
    assert [block["input"] for block in turns[1]["content"]] == [{}, {}]
    assert model.requests[0].results == ["one", "two"]


async def test_a_schema_is_held_to_by_the_means_of_each_provider() -> None:
    answer = '{"slug": "tea"}'
    with ScriptedModel(Rule(text=answer, calls=[call("answer", slug="tea")])) as model:
        for provider in BOTH:
            reply = await endpoint(model, provider).reply(asked(), (), SCHEMA)
            assert (reply.text, reply.calls) == (answer, ())
    first, second = model.requests
    assert first.body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert second.body["tool_choice"] == {"type": "tool", "name": "answer"}


@pytest.mark.parametrize("provider", BOTH)
@pytest.mark.parametrize("status", [400, 404, 422])
async def test_a_server_that_knows_no_schemas_is_asked_without_from_then_on(
    provider: Provider, status: int
) -> None:
    with ScriptedModel(Rule(fault="no schema", status=status)) as model:
        reasoner = endpoint(model, provider)
        for _ in range(2):
            assert (await reasoner.reply(asked(), (), SCHEMA)).text == "OK"
    assert len(model.requests) == 3


async def test_a_request_that_is_bad_in_itself_does_not_end_schemas() -> None:
    with ScriptedModel(Rule(fault="status", times=2)) as model:
        reasoner = endpoint(model, "openai-compatible")
        with pytest.raises(DeclinedError):
            await reasoner.reply(asked(), (), SCHEMA)
        await reasoner.reply(asked(), (), SCHEMA)
    assert "response_format" in model.requests[2].body


FAULTS: Sequence[tuple[Fault, type[ReasonerError], str, int]] = [
    ("429", BusyError, "answered 429", 3),
    ("500", BusyError, "answered 500", 3),
    ("closed", UnreachableError, "was not reached", 3),
    ("not json", AnswerError, "did not answer with JSON", 1),
    ("wrong type", AnswerError, "check reasoner.base_url", 1),
    ("huge", AnswerError, "more than 4,194,304 bytes", 1),
    ("refusal", DeclinedError, "refused to answer", 1),
    ("no choice", AnswerError, "answered without", 1),
]


@pytest.mark.parametrize("provider", BOTH)
@pytest.mark.parametrize(("fault", "kind", "text", "requests"), FAULTS)
async def test_each_fault_has_its_name(
    provider: Provider, fault: Fault, kind: type[ReasonerError], text: str, requests: int
) -> None:
    rule = Rule(fault=fault, retry_after=0)
    with ScriptedModel(rule) as model, pytest.raises(kind, match=text):
        await endpoint(model, provider).reply(asked())
    assert len(model.requests) == requests


@pytest.mark.parametrize("fault", ["hang", "drip"])
async def test_a_server_that_is_silent_or_drips_is_unreachable(fault: Fault) -> None:
    with ScriptedModel(Rule(fault=fault)) as model:
        with pytest.raises(UnreachableError, match=r"was not reached \((Timeout|Read)"):
            await endpoint(model, "openai-compatible", seconds=0.3).reply(asked())
        assert len(model.requests) == 3


@pytest.mark.parametrize("fault", ["429", "500", "closed"])
async def test_what_passes_is_tried_again(fault: Fault) -> None:
    with ScriptedModel(Rule(fault=fault, times=2, retry_after=0)) as model:
        assert (await endpoint(model, "openai-compatible").reply(asked())).text == "OK"


async def test_the_time_that_the_server_names_is_waited() -> None:
    stamina.set_testing(False)
    with ScriptedModel(Rule(fault="429", times=1, retry_after=1)) as model:
        begin = anyio.current_time()
        await endpoint(model, "openai-compatible").reply(asked())
    assert 0.9 <= anyio.current_time() - begin < 6


@pytest.mark.parametrize("provider", BOTH)
async def test_an_answer_that_is_cut_says_so(provider: Provider) -> None:
    with ScriptedModel(Rule(text="12345678", fault="cut")) as model:
        reply = await endpoint(model, provider).reply(asked())
    assert (reply.text, reply.cut) == ("1234", True)


@pytest.mark.parametrize(
    ("status", "kind", "text"),
    [
        (401, SetupError, "name the variable that holds the key in reasoner.api_key_env"),
        (404, SetupError, r"no such address or model \(scripted\)"),
        (301, SetupError, "the address has moved; correct reasoner.base_url"),
        (413, DeclinedError, "answered 413: .*the model takes 8,192 tokens"),
    ],
)
async def test_a_refusal_names_the_way_out(
    status: int, kind: type[ReasonerError], text: str
) -> None:
    rule = Rule(fault="status", status=status, says="the model takes 8,192 tokens")
    with ScriptedModel(rule) as model, pytest.raises(kind, match=text):
        await endpoint(model, "openai-compatible").reply(asked())


async def test_a_refused_key_names_its_variable() -> None:
    named = pytest.raises(SetupError, match="check the variable SCRIPTED_KEY")
    with ScriptedModel(Rule(fault="status", status=401)) as model, named:
        await endpoint(model, "anthropic").reply(asked())


async def test_a_host_that_is_not_there_is_unreachable() -> None:
    with socket.socket() as closed:  # bound, and nobody listens
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        choice = ReasonerChoice(
            provider="openai-compatible", base_url=f"http://u:pw@127.0.0.1:{port}/v1", model="m"
        )
        with pytest.raises(UnreachableError) as caught:
            await Endpoint(OpenAI(), choice, {}).reply(asked())
    assert "pw" not in str(caught.value)
    assert "start it, or check reasoner.base_url" in str(caught.value)


@pytest.mark.parametrize(
    ("values", "environ", "text"),
    [
        ({"base_url": None}, {}, "needs reasoner.fallback.0.base_url"),
        ({"model": None}, {}, "needs reasoner.fallback.0.model"),
        ({"base_url": "ftp://x"}, {}, "must start with http"),
        ({"api_key_env": "MY_KEY"}, {}, "variable MY_KEY, which is not set"),
        ({"api_key_env": "MY_KEY"}, {"MY_KEY": "a\nb"}, "holds no key"),
        ({"api_key_env": "MY_KEY"}, {"MY_KEY": "clé"}, "holds no key"),
    ],
)
def test_settings_that_cannot_work_name_their_key(
    values: dict[str, Any], environ: dict[str, str], text: str
) -> None:
    given = {"provider": "openai-compatible", "base_url": "http://h", "model": "m", **values}
    choice = ReasonerChoice(**given)
    with pytest.raises(SetupError, match=text):
        Endpoint(OpenAI(), choice, environ, "reasoner.fallback.0")


async def test_an_error_repeats_nothing_that_was_sent(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    rule = Rule(fault="status", says=f"cannot read: {SECRET_TEXT}")
    with ScriptedModel(rule) as model, pytest.raises(DeclinedError) as caught:
        await endpoint(model, "openai-compatible").reply(asked(SECRET_TEXT))
    assert "whistle" not in str(caught.value)
    assert "whistle" not in caplog.text


async def test_half_characters_in_a_note_reach_the_server_as_question_marks() -> None:
    with ScriptedModel() as model:
        await endpoint(model, "openai-compatible").reply(asked("half \ud83d"))
    assert model.requests[0].messages[1]["content"] == "half ?"


async def test_who_stops_waiting_is_not_kept() -> None:
    with ScriptedModel(Rule(fault="hang")) as model:
        with anyio.move_on_after(0.2) as scope:
            await endpoint(model, "openai-compatible", seconds=30).reply(asked())
    assert scope.cancelled_caught


ODD: Sequence[Any] = [
    None,
    [],
    {},
    {"choices": []},
    {"choices": [7]},
    {"choices": [{}]},
    {"choices": [{"message": {"tool_calls": [3]}}]},
    {"choices": [{"message": {"content": 5, "tool_calls": {}}, "finish_reason": []}]},
    {"content": 3},
    {"content": [3, {"type": "tool_use"}], "stop_reason": {}, "usage": [1]},
    {"error": "out of memory"},
]


@pytest.mark.parametrize("dialect", [OpenAI(), Anthropic()])
@pytest.mark.parametrize("answer", ODD)
def test_answers_of_any_form_are_read_or_named(dialect: Dialect, answer: Any) -> None:
    try:
        reply = dialect.reply(answer, "m", ["question"])
    except ReasonerError as error:
        assert str(error)
    else:
        assert reply.tokens > 0


KEYS = st.sampled_from(
    [
        "choices",
        "message",
        "content",
        "text",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "id",
        "usage",
        "total_tokens",
        "type",
        "finish_reason",
        "refusal",
        "error",
        "model",
        "stop_reason",
        "input",
    ]
)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats()
NAMES = st.text(max_size=5) | st.sampled_from(["text", "tool_use", "length", "answer"])
ANY = st.recursive(
    LEAVES | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=20,
)


@given(ANY, st.lists(st.dictionaries(KEYS, ANY, max_size=5), min_size=1, max_size=2))
def test_no_answer_of_a_server_ends_in_another_error(answer: Any, blocks: list[Any]) -> None:
    for dialect in (OpenAI(), Anthropic()):
        for whole in (answer, {"choices": [{"message": blocks[0]}]}, {"content": blocks}):
            try:
                assert dialect.reply(whole, "m", []).tokens >= 0
            except ReasonerError as error:
                assert str(error)


async def test_an_answer_that_is_nested_without_end_is_named() -> None:
    deep = "[" * 100_000
    rules = [Rule(text=deep), Rule(fault="raw", says=deep)]
    for rule in rules:
        with ScriptedModel(rule) as model:
            try:
                reply = await endpoint(model, "openai-compatible").reply(asked())
            except AnswerError as error:
                assert "did not answer with JSON" in str(error)
            else:
                assert reply.text == deep


def test_content_in_parts_and_arguments_as_objects_are_read() -> None:
    message = {
        "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        "tool_calls": [{"function": {"name": "f", "arguments": {"k": 1}}}],
    }
    reply = OpenAI().reply({"choices": [{"message": message}]}, "m", [])
    assert reply.text == "ab"
    assert reply.calls == (FunctionCall("call_1", "f", '{"k": 1}'),)


def test_thinking_aloud_is_no_part_of_the_answer() -> None:
    message = {"content": '<think>{"slug": "draft"}</think>\n{"slug": "tea"}'}
    reply = OpenAI().reply({"choices": [{"message": message}]}, "m", [])
    assert reply.text == '{"slug": "tea"}'


def test_a_scripted_text_may_depend_on_the_request() -> None:
    request = Request("/v1/chat/completions", {}, {"messages": [{"role": "user", "content": "a"}]})
    assert (request.prompt, request.results, request.rounds) == ("a", [], 0)
