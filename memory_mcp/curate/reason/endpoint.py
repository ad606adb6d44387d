"""A chat model behind an address. Each provider's API is one POST, which needs no SDK.

Nothing of what is sent or answered is logged, and an error repeats nothing that was sent.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

import anyio

from memory_mcp.core.chat import Function, Message, Reply
from memory_mcp.core.config import ReasonerChoice
from memory_mcp.core.errors import (
    AnswerError,
    BusyError,
    DeclinedError,
    SetupError,
    UnreachableError,
)
from memory_mcp.core.web import (
    ATTEMPTS,
    CONNECT_SECONDS,
    FIRST_WAIT_SECONDS,
    LONGEST_WAIT_SECONDS,
    LaterError,
    is_busy,
    retry_seconds,
    said,
    shown,
    wait,
)

if TYPE_CHECKING:
    import ssl

    import httpx

ANSWER_SECONDS = 240.0
"""For one attempt, whether the server is silent or drips: a model that thinks takes minutes."""

_ALL_SECONDS = (
    360.0  # after that no further attempt: one that hangs is tried twice, not four times
)
_MOST_BYTES = 4 << 20
_NO_SCHEMA = (400, 404, 422)  # what servers say that do not know how to hold to a schema


class Dialect(Protocol):
    """How one kind of API is spoken. Pure."""

    @property
    def path(self) -> str:
        """What is added to the base URL."""
        ...

    def headers(self, key: str | None) -> dict[str, str]:
        """The headers that carry the key."""
        ...

    def body(
        self,
        model: str,
        messages: Sequence[Message],
        functions: Sequence[Function],
        schema: Mapping[str, Any] | None,
    ) -> dict[str, Any]:
        """The request."""
        ...

    def reply(self, answer: Any, model: str, sent: Sequence[str]) -> Reply:
        """The answer as a value; `sent` is the text of the question, by which its cost is
        estimated. Raises AnswerError, DeclinedError."""
        ...


class _NotReachedError(LaterError):
    """No connection, or no answer in time."""


class Endpoint:
    """A model of a provider; `setting` is the key of its section in the settings."""

    def __init__(
        self,
        dialect: Dialect,
        choice: ReasonerChoice,
        environ: Mapping[str, str],
        setting: str = "reasoner",
        seconds: float = ANSWER_SECONDS,
    ) -> None:
        """Raises SetupError where the settings cannot work."""
        logging.getLogger("stamina").setLevel(logging.ERROR)  # a retry is no news by itself
        self._dialect, self._setting, self._seconds = dialect, setting, seconds
        base, self._model = _address(choice, setting)
        self._url = base.removesuffix("/").removesuffix(_version(dialect)) + dialect.path
        self._shown = shown(self._url)
        self._variable = choice.api_key_env
        self._headers = {
            "Content-Type": "application/json",
            **dialect.headers(_key(choice, environ, setting)),
        }
        self._knows_schema = True
        self.name = f"{choice.provider} {self._model}"

    async def reply(
        self,
        messages: Sequence[Message],
        functions: Sequence[Function] = (),
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """The answer. Raises ReasonerError.

        A server that refuses a schema is asked once more without, and from then on always.
        """
        held = schema if self._knows_schema else None
        status, data = await self._post(self._body(messages, functions, held))
        if held is not None and status in _NO_SCHEMA:
            status, data = await self._post(self._body(messages, functions, None))
            self._knows_schema = not 200 <= status < 300
        sent = [message.text for message in messages]
        try:
            return self._dialect.reply(self._parsed(status, data, sent), self._model, sent)
        except RecursionError as error:
            raise AnswerError(f"{self._shown} answered with JSON nested too deep") from error

    def _body(
        self,
        messages: Sequence[Message],
        functions: Sequence[Function],
        schema: Mapping[str, Any] | None,
    ) -> bytes:
        body = self._dialect.body(self._model, messages, functions, schema)
        return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")

    async def _post(self, body: bytes) -> tuple[int, bytes]:
        """(status, answer) of a request; tried again where that may help."""
        import stamina

        try:
            async for attempt in stamina.retry_context(
                on=wait,
                attempts=ATTEMPTS,
                timeout=_ALL_SECONDS,
                wait_initial=FIRST_WAIT_SECONDS,
                wait_max=LONGEST_WAIT_SECONDS,
            ):
                with attempt:
                    return await self._once(body)
        except _NotReachedError as error:
            raise UnreachableError(
                f"{error}; start it, or check {self._setting}.base_url"
            ) from error
        except LaterError as error:
            raise BusyError(f"{error}; try again later") from error
        raise AssertionError("a retry ends with a result or an error")

    async def _once(self, body: bytes) -> tuple[int, bytes]:
        import httpx

        limits = httpx.Timeout(self._seconds, connect=min(self._seconds, CONNECT_SECONDS))
        try:
            with anyio.fail_after(self._seconds):
                async with (
                    httpx.AsyncClient(
                        verify=_trust(), timeout=limits, follow_redirects=False
                    ) as client,
                    client.stream(
                        "POST", self._url, content=body, headers=self._headers
                    ) as response,
                ):
                    data = await _limited(response, self._shown)
        except (TimeoutError, httpx.TransportError) as error:
            raise _NotReachedError(
                f"{self._shown} was not reached ({type(error).__name__})"
            ) from error
        except httpx.InvalidURL as error:
            raise SetupError(f"{self._setting}.base_url is no address: {self._shown}") from error
        except httpx.RequestError as error:  # such as a body that is not packed as it says
            kind = type(error).__name__
            raise AnswerError(f"{self._shown} gave an unreadable answer ({kind})") from error
        if is_busy(response.status_code):
            head = response.headers
            after = retry_seconds(head.get("retry-after"), head.get("date"))
            raise LaterError(f"{self._shown} answered {response.status_code}", after)
        return response.status_code, data

    def _parsed(self, status: int, data: bytes, sent: Sequence[str]) -> Any:
        if not 200 <= status < 300:
            self._refuse(status, said(data.decode("utf-8", "replace"), sent))
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            raise AnswerError(
                f"{self._shown} did not answer with JSON; check {self._setting}.base_url"
            ) from error

    def _refuse(self, status: int, why: str) -> None:
        if status in (401, 403):
            way_out = (
                f"check the variable {self._variable}, named by {self._setting}.api_key_env"
                if self._variable
                else f"name the variable that holds the key in {self._setting}.api_key_env"
            )
            raise SetupError(f"{self._shown} refused the key ({status}); {way_out}")
        if status == 404:
            raise SetupError(
                f"{self._shown} answered 404: no such address or model ({self._model});"
                f" check {self._setting}.base_url and {self._setting}.model"
            )
        if 300 <= status < 400:
            raise SetupError(
                f"{self._shown} answered {status}, the address has moved;"
                f" correct {self._setting}.base_url"
            )
        raise DeclinedError(f"{self._shown} answered {status}{why}")


async def _limited(response: httpx.Response, address: str) -> bytes:
    """The body of an answer. Raises AnswerError for one that no model writes."""
    data = bytearray()
    async for piece in response.aiter_bytes():
        data += piece
        if len(data) > _MOST_BYTES:
            raise AnswerError(f"{address} answered with more than {_MOST_BYTES:,} bytes")
    return bytes(data)


@cache
def _trust() -> ssl.SSLContext:
    """The authorities of the system, read once: it takes a tenth of a second."""
    import httpx

    return httpx.create_ssl_context()


def _version(dialect: Dialect) -> str:
    """The version at the beginning of a dialect's path, which some put into the base URL too."""
    first, *rest = dialect.path.strip("/").split("/")
    return f"/{first}" if rest and first == "v1" else "/"


def _address(choice: ReasonerChoice, setting: str) -> tuple[str, str]:
    """(base URL, model) of the settings."""
    base, model = choice.base_url or "", choice.model or ""
    if not base or not model:
        missing = f"{setting}.base_url" if not base else f"{setting}.model"
        raise SetupError(f"{setting}.provider {choice.provider} needs {missing}; set it")
    if not base.startswith(("http://", "https://")):
        raise SetupError(f"{setting}.base_url {shown(base)!r} must start with http:// or https://")
    return base, model


def _key(choice: ReasonerChoice, environ: Mapping[str, str], setting: str) -> str | None:
    variable = choice.api_key_env
    if not variable:
        return None
    key = environ.get(variable, "").strip()
    if not key:
        raise SetupError(
            f"{setting}.provider {choice.provider} takes its key from the variable {variable},"
            f" which is not set; set it, or name another one in {setting}.api_key_env"
        )
    if not key.isascii() or not key.isprintable():
        raise SetupError(
            f"the variable {variable}, named by {setting}.api_key_env, holds no key: there are"
            " characters in it that no header can carry"
        )
    return key
