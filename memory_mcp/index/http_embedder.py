"""Embeddings over HTTP, in the form that OpenAI's `/embeddings` has and many others speak."""

from __future__ import annotations

import logging
from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from memory_mcp.core.config import EmbeddingSettings
from memory_mcp.core.errors import EmbeddingError, ModelError
from memory_mcp.core.ports import Vectors
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
from memory_mcp.index.identity import embedding_identity
from memory_mcp.index.prefixes import prefixes
from memory_mcp.index.probe import ANSWERS, QUESTIONS, band
from memory_mcp.index.unit import unit_vectors
from memory_mcp.index.windows import question_vector

if TYPE_CHECKING:
    import httpx

BATCH = 64  # google takes 100 texts a call, openai 2,048
_BYTES_TEXT = 16_000  # 4,000 tokens of English, 8,000 of Chinese: what openai and mistral take
_BYTES_CALL = 32_000  # mistral takes 16,384 tokens a call
_QUESTION = 256  # tokens; of a longer text its ends and windows are embedded
_BYTES_TOKEN = 4
_TIMEOUT_SECONDS = 60.0  # of silence; some machines embed a batch that slowly
_TOO_MUCH = (400, 413, 422)  # what servers say to a batch that is larger than they take


class _RefusedError(EmbeddingError):
    """The server does not take these texts; fewer of them it may."""


class HttpEmbedder:
    """A model behind an OpenAI-compatible address. Blocking; waits between attempts."""

    batch = BATCH

    def __init__(
        self,
        settings: EmbeddingSettings,
        environ: Mapping[str, str],
        timeout: float = _TIMEOUT_SECONDS,
    ) -> None:
        """Read address, model and key, and ask once for the dimension. Raises ModelError where the
        settings cannot work, EmbeddingError where trying again may help."""
        logging.getLogger("stamina").setLevel(logging.ERROR)  # a retry is no news by itself
        base, self.model, key = _choice(settings, environ)
        self._url = f"{base.rstrip('/')}/embeddings"
        self._shown = shown(self._url)
        self._ask, self._tell = prefixes(self.model)
        self._most = BATCH
        self._client = _client(key, timeout)
        self.dimension = len(self._embed(["dimension"], None)[0])
        asked = self._all([self._ask + text for text in QUESTIONS])
        self.band = band(asked, self.passages(ANSWERS))
        rules = f"{self._tell.strip()}/unit" if self._tell else "mean/unit"
        self.identity = embedding_identity(
            settings.provider, self.model, shown(base), self.dimension, rules
        )

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), dimension). Raises EmbeddingError."""
        return self._all([self._tell + text for text in texts])

    def query(self, text: str) -> Vectors:
        """The unit vector of a question, shape (dimension,); a long one counts by its ends and
        windows. Raises EmbeddingError."""

        def asked(texts: Sequence[str]) -> Vectors:
            return self._all([self._ask + text for text in texts])

        return question_vector(text, _QUESTION, lambda it: _size(it) // _BYTES_TOKEN, asked)

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()

    def _all(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        calls = _calls([_cut(text) for text in texts], self._most)
        return np.concatenate([self._some(call) for call in calls])

    def _some(self, texts: Sequence[str]) -> Vectors:
        """One call, or two with half of the texts each where the server refuses so many."""
        try:
            return self._embed(texts, self.dimension)
        except _RefusedError:
            if len(texts) == 1:
                raise
        half = len(texts) // 2
        vectors = np.concatenate([self._some(texts[:half]), self._some(texts[half:])])
        self._most = min(self._most, len(texts) - half)  # what it took it will take again
        return vectors

    def _embed(self, texts: Sequence[str], dimension: int | None) -> Vectors:
        answer = self._send(
            {"model": self.model, "input": list(texts), "encoding_format": "float"}
        )
        try:
            rows = sorted(answer["data"], key=lambda row: int(row["index"]))
            values = [_numbers(row["embedding"]) for row in rows]
            places = [int(row["index"]) for row in rows]
        except (KeyError, TypeError, ValueError) as error:
            raise EmbeddingError(
                f"{self._shown} did not answer with embeddings; check embedding.base_url"
            ) from error
        if places != list(range(len(texts))):
            raise EmbeddingError(
                f"{self._shown} answered with {len(places)} vectors to {len(texts)} texts, or with"
                " places that are not theirs"
            )
        return unit_vectors(values, len(texts), dimension, self.model)

    def _send(self, body: Mapping[str, Any]) -> Any:
        import stamina

        try:
            for attempt in stamina.retry_context(
                on=wait,
                attempts=ATTEMPTS,
                timeout=4 * LONGEST_WAIT_SECONDS,
                wait_initial=FIRST_WAIT_SECONDS,
                wait_max=LONGEST_WAIT_SECONDS,
            ):
                with attempt:
                    return self._post(body)
        except LaterError as error:
            raise EmbeddingError(
                f"{error}; the words of the notes are searched meanwhile"
            ) from error
        raise AssertionError("a retry ends with a result or an error")

    def _post(self, body: Mapping[str, Any]) -> Any:
        import httpx

        try:
            response = self._client.post(self._url, json=body)
        except httpx.TransportError as error:
            raise LaterError(f"{self._shown} was not reached ({type(error).__name__})") from error
        except httpx.InvalidURL as error:
            raise ModelError(f"embedding.base_url is no address: {self._shown}") from error
        except httpx.RequestError as error:  # such as a body that is not packed as it says
            kind = type(error).__name__
            raise EmbeddingError(f"{self._shown} gave an unreadable answer ({kind})") from error
        if is_busy(response.status_code):
            after = retry_seconds(
                response.headers.get("retry-after"), response.headers.get("date")
            )
            raise LaterError(f"{self._shown} answered {response.status_code}", after)
        return _answer(response, self._shown, body)


def _answer(response: httpx.Response, url: str, body: Mapping[str, Any]) -> Any:
    status, model = response.status_code, body["model"]
    if status in (401, 403):
        raise ModelError(
            f"{url} refused the key ({status}); check the variable named by embedding.api_key_env"
        )
    if status == 404:
        raise ModelError(f"{url} answered 404: no such address or model ({model}); check both")
    if not response.is_success:
        kind = _RefusedError if status in _TOO_MUCH else EmbeddingError
        raise kind(f"{url} answered {status}{said(response.text, body['input'])}")
    try:
        return response.json()
    except (ValueError, RecursionError) as error:
        raise EmbeddingError(
            f"{url} did not answer with JSON; check embedding.base_url"
        ) from error


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


def _client(key: str | None, timeout: float) -> httpx.Client:
    import httpx

    headers = {"Authorization": f"Bearer {key}"} if key else {}
    limits = httpx.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS))
    return httpx.Client(headers=headers, timeout=limits, follow_redirects=False)


def _numbers(embedding: Any) -> Any:
    """A vector as it was asked for, or as base64 of 32-bit floats, which some servers send
    whatever they are asked for."""
    if isinstance(embedding, str):
        return np.frombuffer(b64decode(embedding, validate=True), "<f4")
    return embedding


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _cut(text: str) -> str:
    """The beginning of a text, as much as every provider takes."""
    return text.encode("utf-8", "replace")[:_BYTES_TEXT].decode("utf-8", "ignore")


def _calls(texts: Sequence[str], most: int) -> list[list[str]]:
    """The texts in order, cut into calls of at most so many texts and _BYTES_CALL bytes."""
    calls: list[list[str]] = [[]]
    size = 0
    for text in texts:
        if calls[-1] and (len(calls[-1]) >= most or size + _size(text) > _BYTES_CALL):
            calls.append([])
            size = 0
        calls[-1].append(text)
        size += _size(text)
    return calls
