"""A chat model that follows a script: real HTTP on loopback, as OpenAI and Anthropic speak it.

    with ScriptedModel(
        Rule("about (\\w+)", calls=[call("memory_search", query="\\1")], text="Found."),
        Rule("", fault="429", retry_after=0, times=1),
    ) as model:
        ...   # settings: model.choice(), model.choice("anthropic"), or model.url
        model.requests[0].prompt

The first rule whose `match` is found in the system and user texts of a request, and which is not
used up, decides. Its `calls` are made where functions of these names are offered; their results
are answered by the next round of calls in `then`, and in the end by the `text`. `\\1` in a text or
an argument stands for the group of `match`. Without a fitting rule the answer is "OK". A `fault`
is what goes wrong instead.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from memory_mcp.core.config import ReasonerChoice

Fault = Literal[
    "empty",  # an answer without text and calls
    "cut",  # ended at the limit of length, in the middle of the text
    "not json",  # a body that is no JSON
    "raw",  # the body is what the rule says
    "wrong type",  # a page of HTML
    "status",  # the rule's status
    "429",
    "500",
    "hang",  # accepts, and never answers
    "drip",  # a byte now and then
    "huge",  # more bytes than any model writes
    "closed",  # closes the connection without an answer
    "refusal",  # by the model, in the form of the API
    "no choice",  # JSON of another form
    "no schema",  # 400 where the request holds the answer to a schema, else as the rule says
]
Call = tuple[str, Mapping[str, Any]]


def call(name: str, **arguments: Any) -> Call:
    """A call of a function."""
    return name, arguments


@dataclass(frozen=True, slots=True)
class Rule:
    """What is done when `match`, a regular expression, is found. See the module."""

    match: str = ""
    text: str | Callable[[Request], str] = "OK"
    calls: Sequence[Call] = ()
    then: Sequence[Sequence[Call]] = ()
    """The calls of further rounds."""
    fault: Fault | None = None
    status: int = 400
    says: str = "scripted failure"
    retry_after: int | None = None
    times: int | None = None
    """How often it is used; then later rules decide."""
    usage: bool = True
    """Whether the answer tells what it cost."""


@dataclass(frozen=True, slots=True)
class Request:
    """What was sent."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def prompt(self) -> str:
        """The texts of system and user, without results of calls."""
        texts = [_text(self.body.get("system"))]
        texts += [
            _text(message.get("content"))
            for message in self.messages
            if message["role"] in ("system", "user", "developer")
        ]
        return "\n\n".join(text for text in texts if text)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages as they were sent."""
        return list(self.body.get("messages") or [])

    @property
    def offered(self) -> list[str]:
        """The names of the functions on offer."""
        tools = self.body.get("tools") or []
        return [str(tool.get("function", tool).get("name")) for tool in tools]

    @property
    def results(self) -> list[str]:
        """The texts of all results of calls, in order."""
        found = []
        for message in self.messages:
            if message["role"] == "tool":
                found.append(_text(message["content"]))
            elif isinstance(message.get("content"), list):
                found += [
                    _text(block.get("content"))
                    for block in message["content"]
                    if block.get("type") == "tool_result"
                ]
        return found

    @property
    def rounds(self) -> int:
        """Answers with calls since the user last said something."""
        count = 0
        for message in self.messages:
            if message["role"] == "assistant":
                count += _has_calls(message)
            elif message["role"] == "user" and not _is_result(message):
                count = 0
        return count


@dataclass(slots=True)
class _State:
    used: dict[int, int] = field(default_factory=dict)
    guard: threading.Lock = field(default_factory=threading.Lock)


class ScriptedModel:
    """A server in a thread, from `with` to its end."""

    def __init__(self, *rules: Rule, name: str = "scripted") -> None:
        self.rules: list[Rule] = list(rules)
        """May be changed between requests."""
        self.requests: list[Request] = []
        """All requests, in the order of their arrival."""
        self.asked = threading.Event()
        """Set at the first request."""
        self.name = name
        self._state = _State()
        self._over = threading.Event()
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                data = self.rfile.read(length)
                if len(data) < length:  # the client was killed
                    self.close_connection = True
                    return
                body = json.loads(data)
                headers = {key.lower(): value for key, value in self.headers.items()}
                request = Request(self.path, headers, body)
                with model._state.guard:
                    model.requests.append(request)
                model.asked.set()
                try:
                    model._respond(self, request)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def __enter__(self) -> ScriptedModel:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """The base URL of an OpenAI-compatible provider."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def choice(
        self, provider: Literal["openai-compatible", "anthropic"] = "openai-compatible"
    ) -> ReasonerChoice:
        """The settings that lead here, without a key."""
        key = "SCRIPTED_KEY" if provider == "anthropic" else None
        return ReasonerChoice(
            provider=provider, base_url=self.url, model=self.name, api_key_env=key
        )

    def config(self) -> dict[str, Any]:
        """The same as a part of `config.yml`."""
        return {
            "reasoner": {
                "provider": "openai-compatible",
                "base_url": self.url,
                "model": self.name,
            }
        }

    def _respond(self, handler: BaseHTTPRequestHandler, request: Request) -> None:
        rule, found = self._rule(request)
        if rule.fault in ("hang", "drip", "huge", "closed"):
            self._misbehave(handler, rule.fault)
            return
        status, headers, data = self._answer(rule, found, request)
        handler.send_response(status)
        for key, value in headers.items():
            handler.send_header(key, value)
        handler.send_header("content-length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    def _rule(self, request: Request) -> tuple[Rule, re.Match[str] | None]:
        with self._state.guard:
            for number, rule in enumerate(self.rules):
                found = re.search(rule.match, request.prompt, re.DOTALL)
                used = self._state.used.get(number, 0)
                if found is None or (rule.times is not None and used >= rule.times):
                    continue
                self._state.used[number] = used + 1
                return rule, found
        return Rule(), None

    def _misbehave(self, handler: BaseHTTPRequestHandler, fault: str) -> None:
        handler.close_connection = True
        if fault == "hang":
            self._over.wait(30)
        if fault in ("hang", "closed"):
            return
        handler.send_response(200)
        handler.send_header("content-type", "application/json")
        handler.end_headers()
        if fault == "huge":
            for _ in range(200):
                handler.wfile.write(b" " * 100_000)
        while fault == "drip" and not self._over.wait(0.02):
            handler.wfile.write(b" ")
            handler.wfile.flush()

    def _answer(
        self, rule: Rule, found: re.Match[str] | None, request: Request
    ) -> tuple[int, dict[str, str], bytes]:
        kind = {"content-type": "application/json"}
        if rule.fault == "wrong type":
            return 200, {"content-type": "text/html"}, b"<html>Welcome to the proxy</html>"
        if rule.fault == "raw":
            return 200, kind, rule.says.encode()
        if rule.fault == "not json":
            return 200, kind, b'{"choices": [{"mess'
        status = self._status(rule, request)
        if status != 200:
            if rule.retry_after is not None:
                kind["retry-after"] = str(rule.retry_after)
            return status, kind, _dumped({"error": {"message": rule.says, "type": "x"}})
        if rule.fault == "no choice":
            return 200, kind, _dumped({"error": {"message": rule.says}})
        text, calls = self._said(rule, found, request)
        form = _message if request.path.endswith("/messages") else _completion
        return 200, kind, _dumped(form(self.name, text, calls, rule))

    def _status(self, rule: Rule, request: Request) -> int:
        held = request.body.get("response_format") or request.body.get("tool_choice")
        named = {"429": 429, "500": 500, "status": rule.status}
        if rule.fault == "no schema":
            return rule.status if held else 200
        return named.get(rule.fault or "", 200)

    def _said(
        self, rule: Rule, found: re.Match[str] | None, request: Request
    ) -> tuple[str, list[Call]]:
        if rule.fault in ("empty", "refusal"):
            return "", []
        rounds = [
            [one for one in calls if one[0] in request.offered]
            for calls in (rule.calls, *rule.then)
        ]
        rounds = [calls for calls in rounds if calls]
        if request.rounds < len(rounds):
            calls = rounds[request.rounds]
            return "", [(name, _filled(dict(given), found)) for name, given in calls]
        text = rule.text(request) if callable(rule.text) else _filled(rule.text, found)
        return (text[: len(text) // 2] if rule.fault == "cut" else text), []


def _completion(model: str, text: str, calls: list[Call], rule: Rule) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for number, (name, arguments) in enumerate(calls)
        ]
    if rule.fault == "refusal":
        message["refusal"] = rule.says
    reason = "length" if rule.fault == "cut" else "tool_calls" if calls else "stop"
    answer: dict[str, Any] = {
        "id": "scripted-1",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
    }
    if rule.usage:
        answer["usage"] = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    return answer


def _message(model: str, text: str, calls: list[Call], rule: Rule) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    content += [
        {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": arguments}
        for number, (name, arguments) in enumerate(calls)
    ]
    reasons = {"cut": "max_tokens", "refusal": "refusal"}
    reason = reasons.get(rule.fault or "", "tool_use" if calls else "end_turn")
    answer: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": reason,
    }
    if rule.usage:
        answer["usage"] = {"input_tokens": 7, "output_tokens": 3}
    return answer


def _dumped(value: Any) -> bytes:
    return json.dumps(value).encode()


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return str(content or "")


def _has_calls(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return bool(message.get("tool_calls")) or any(b.get("type") == "tool_use" for b in blocks)


def _is_result(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return bool(blocks) and all(block.get("type") == "tool_result" for block in blocks)


def _filled(value: Any, found: re.Match[str] | None) -> Any:
    """The value with `\\1` replaced by the group, in all texts inside."""
    if isinstance(value, str) and found is not None:
        return re.sub(
            r"\\(\d)",
            lambda one: (found[int(one[1])] or "") if int(one[1]) <= found.re.groups else one[0],
            value,
        )
    if isinstance(value, dict):
        return {key: _filled(item, found) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, found) for item in value]
    return value
