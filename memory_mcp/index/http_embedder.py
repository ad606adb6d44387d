"""Embeddings over HTTP, in the form that OpenAI's `/embeddings` has and many others speak."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from memory_mcp.core.config import EmbeddingSettings
from memory_mcp.core.errors import EmbeddingError, ModelError
from memory_mcp.core.ports import Vectors
from memory_mcp.index.identity import embedding_identity
from memory_mcp.index.unit import mean_direction, unit_vectors

if TYPE_CHECKING:
    import httpx

BATCH = 64
_CHARS_TEXT = 20_000  # about 5,000 tokens; the smallest known limit of a text is 8,192 (mistral)
_CHARS_CALL = 40_000  # about 10,000 tokens; mistral takes 16,384 a call
_ATTEMPTS = 4
_TIMEOUT_SECONDS = 60.0
_LONGEST_WAIT_SECONDS = 30.0  # whatever Retry-After says
_SAID, _ECHO = 200, 12  # characters of an error's text, and of a text that is no chance in it
_BUSY = (408, 409, 425, 429)


class _BusyError(Exception):
    """The server asked to come back later, or was not reached."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class HttpEmbedder:
    """A model behind an OpenAI-compatible address. Blocking; waits between attempts."""

    batch = BATCH

    def __init__(self, settings: EmbeddingSettings, environ: Mapping[str, str]) -> None:
        """Read address, model and key, and ask once for the dimension. Raises ModelError where the
        settings cannot work, EmbeddingError where trying again may help."""
        logging.getLogger("stamina").setLevel(logging.ERROR)  # a retry is no news by itself
        base, self.model, key = _choice(settings, environ)
        self._url = f"{base.rstrip('/')}/embeddings"
        self._client = _client(key)
        self.dimension = len(self._ask(["dimension"], None)[0])
        self.identity = embedding_identity(settings.provider, self.model, base, self.dimension)

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), dimension). Raises EmbeddingError."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        cut = [text[:_CHARS_TEXT] for text in texts]
        return np.concatenate([self._ask(some, self.dimension) for some in _calls(cut)])

    def query(self, text: str) -> Vectors:
        """The unit vector of a question, shape (dimension,). Of a text that is too long the
        beginning and the end count alike. Raises EmbeddingError."""
        if len(text) <= _CHARS_TEXT:
            vector: Vectors = self.passages([text])[0]
            return vector
        return mean_direction(self.passages([text[:_CHARS_TEXT], text[-_CHARS_TEXT:]]))

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()

    def _ask(self, texts: Sequence[str], dimension: int | None) -> Vectors:
        answer = self._send(
            {"model": self.model, "input": list(texts), "encoding_format": "float"}
        )
        try:
            rows = sorted(answer["data"], key=lambda row: int(row["index"]))
            values = [row["embedding"] for row in rows]
        except (KeyError, TypeError, ValueError) as error:
            raise EmbeddingError(
                f"{self._url} did not answer with embeddings; check embedding.base_url"
            ) from error
        return unit_vectors(values, len(texts), dimension, self.model)

    def _send(self, body: Mapping[str, Any]) -> Any:
        import stamina

        try:
            for attempt in stamina.retry_context(
                on=_wait, attempts=_ATTEMPTS, timeout=4 * _LONGEST_WAIT_SECONDS
            ):
                with attempt:
                    return self._post(body)
        except _BusyError as error:
            raise EmbeddingError(
                f"{error}; the words of the notes are searched meanwhile"
            ) from error
        raise AssertionError("a retry ends with a result or an error")

    def _post(self, body: Mapping[str, Any]) -> Any:
        import httpx

        try:
            response = self._client.post(self._url, json=body)
        except httpx.TransportError as error:
            raise _BusyError(f"{self._url} was not reached ({type(error).__name__})") from error
        except httpx.InvalidURL as error:
            raise ModelError(f"embedding.base_url is no address: {self._url}") from error
        except httpx.RequestError as error:  # such as a body that is not packed as it says
            kind = type(error).__name__
            raise EmbeddingError(f"{self._url} gave an unreadable answer ({kind})") from error
        if response.status_code in _BUSY or response.status_code >= 500:
            wait = _seconds(response.headers.get("retry-after"))
            raise _BusyError(f"{self._url} answered {response.status_code}", wait)
        return _answer(response, self._url, body)


def _answer(response: httpx.Response, url: str, body: Mapping[str, Any]) -> Any:
    status, model = response.status_code, body["model"]
    if status in (401, 403):
        raise ModelError(
            f"{url} refused the key ({status}); check the variable named by embedding.api_key_env"
        )
    if status == 404:
        raise ModelError(f"{url} answered 404: no such address or model ({model}); check both")
    if not response.is_success:
        raise EmbeddingError(f"{url} answered {status}{_said(response.text, body['input'])}")
    try:
        return response.json()
    except (ValueError, RecursionError) as error:
        raise EmbeddingError(
            f"{url} did not answer with JSON; check embedding.base_url"
        ) from error


def _said(answer: str, texts: Sequence[str]) -> str:
    """What a server says about an error, unless it repeats what it was sent: notes belong into no
    log."""
    said = " ".join(answer.split())[:_SAID]
    sent = " ".join(" ".join(text.split()) for text in texts)
    pieces = (said[start : start + _ECHO] for start in range(max(1, len(said) - _ECHO + 1)))
    return "" if not said or any(piece in sent for piece in pieces) else f": {said}"


def _choice(
    settings: EmbeddingSettings, environ: Mapping[str, str]
) -> tuple[str, str, str | None]:
    """(base URL, model, key) of the settings. Raises ModelError."""
    base, model = settings.base_url or "", settings.model or ""
    variable = settings.api_key_env
    if not base or not model:
        missing = "embedding.base_url" if not base else "embedding.model"
        raise ModelError(f"embedding.provider {settings.provider} needs {missing}")
    if not base.startswith(("http://", "https://")):
        raise ModelError(f"embedding.base_url {base!r} must start with http:// or https://")
    key = environ.get(variable) if variable else None
    if variable and not key:
        raise ModelError(
            f"embedding.provider {settings.provider} takes its key from the variable {variable},"
            " which is not set"
        )
    return base, model, key


def _client(key: str | None) -> httpx.Client:
    import httpx

    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return httpx.Client(headers=headers, timeout=_TIMEOUT_SECONDS, follow_redirects=False)


def _wait(error: Exception) -> bool | float | timedelta:
    """Whether to try again, and after which time if the server named one within bounds."""
    if not isinstance(error, _BusyError):
        return False
    if error.retry_after is None:
        return True
    return min(max(error.retry_after, 0.0), _LONGEST_WAIT_SECONDS)


def _seconds(header: str | None) -> float | None:
    """Seconds of a Retry-After header; None for none, or for a date, which needs a clock."""
    try:
        return float(header) if header else None
    except ValueError:
        return None


def _calls(texts: Sequence[str]) -> list[list[str]]:
    """The texts in order, cut into calls of at most BATCH texts and _CHARS_CALL characters."""
    calls: list[list[str]] = [[]]
    size = 0
    for text in texts:
        if calls[-1] and (len(calls[-1]) >= BATCH or size + len(text) > _CHARS_CALL):
            calls.append([])
            size = 0
        calls[-1].append(text)
        size += len(text)
    return calls
