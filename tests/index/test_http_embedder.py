"""Embeddings over HTTP, against a real server on this machine."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest
import stamina

from memory_mcp.core.config import EmbeddingSettings
from memory_mcp.core.errors import EmbeddingError, ModelError
from memory_mcp.core.web import retry_seconds
from memory_mcp.index.http_embedder import HttpEmbedder
from memory_mcp.index.probe import ANSWERS, PAIRS, QUESTIONS

Answer = tuple[int, dict[str, str], Any]
KEY = "sk-not-for-logs"
KNOWN = frozenset(QUESTIONS + ANSWERS)


class Gateway:
    """Answers with what `answer` makes of a request; remembers the requests."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[str | None] = []
        self.answer: Callable[[list[str]], Answer] = good
        self.url = ""


def good(texts: list[str]) -> Answer:
    rows = [
        {"index": n, "embedding": [float(len(text)), 1.0, 0.0]} for n, text in enumerate(texts)
    ]
    return 200, {}, {"data": rows[::-1], "model": "m"}


@pytest.fixture(autouse=True)
def _quick_retries() -> Iterator[None]:
    stamina.set_testing(True, attempts=3)
    yield
    stamina.set_testing(False)


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    with serving() as running:
        yield running


@contextmanager
def serving() -> Iterator[Gateway]:
    state = Gateway()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            state.requests.append({"path": self.path, **body})
            state.headers.append(self.headers["authorization"])
            status, headers, answer = state.answer(body["input"])
            data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield state
        server.shutdown()
        thread.join()


@contextmanager
def embedder(gateway: Gateway, model: str = "m", timeout: float = 5.0) -> Iterator[HttpEmbedder]:
    settings = EmbeddingSettings(
        provider="openai-compatible", model=model, base_url=gateway.url, api_key_env="MY_KEY"
    )
    made = HttpEmbedder(settings, {"MY_KEY": KEY}, timeout)
    yield made
    made.close()


def test_vectors_come_in_the_order_of_the_texts_and_have_unit_length(gateway: Gateway) -> None:
    with embedder(gateway) as model:
        vectors = model.passages(["a", "bbb"])
        assert model.dimension == 3
        assert vectors.shape == (2, 3)
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
        assert vectors[1][0] / vectors[1][1] == pytest.approx(3.0)
        assert gateway.requests[-1]["path"] == "/v1/embeddings"
        assert gateway.headers[-1] == f"Bearer {KEY}"
        assert KEY not in model.identity


def test_many_and_long_texts_are_sent_in_several_calls(gateway: Gateway) -> None:
    with embedder(gateway) as model:
        before = len(gateway.requests)
        assert model.passages(["x"] * 130).shape == (130, 3)
        assert [len(r["input"]) for r in gateway.requests[before:]] == [64, 64, 2]
        before = len(gateway.requests)
        model.passages(["y" * 50_000] * 3)
        assert [len(r["input"]) for r in gateway.requests[before:]] == [2, 1]
        assert model.passages([]).shape == (0, 3)
        assert model.query("q" * 50_000).shape == (3,)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again(gateway: Gateway, status: int) -> None:
    with embedder(gateway) as model:
        left = [status, status]

        def answer(texts: list[str]) -> Answer:
            return (left.pop(), {"retry-after": "0"}, {}) if left else good(texts)

        gateway.answer = answer
        assert model.passages(["a"]).shape == (1, 3)
        gateway.answer = lambda texts: (status, {}, {})
        with pytest.raises(EmbeddingError, match=str(status)):
            model.passages(["a"])


@pytest.mark.parametrize(("status", "kind"), [(401, ModelError), (404, ModelError)])
def test_what_cannot_get_better_is_not_asked_again(
    gateway: Gateway, status: int, kind: type[Exception]
) -> None:
    with embedder(gateway) as model:
        before = len(gateway.requests)
        gateway.answer = lambda texts: (status, {}, {"error": "no"})
        with pytest.raises(kind, match=str(status)) as caught:
            model.passages(["a"])
        assert len(gateway.requests) == before + 1
        assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "data",
    [
        {"data": [{"index": 0, "embedding": [1.0, 2.0]}]},
        {"data": []},
        {"data": [{"index": 1, "embedding": [1.0, 2.0, 3.0]}]},
        {"data": [{"index": 0, "embedding": "not base 64"}]},
        {"data": [{"index": 0, "embedding": [1.0, float("nan"), 0.0]}]},
        {"data": [{"index": 0, "embedding": [0.0, 0.0, 0.0]}]},
        {"data": [{"index": 0, "embedding": "none"}]},
        {"data": [{"index": 0}]},
        {"vectors": []},
        [],
        b"<html>proxy</html>",
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_an_answer_without_the_right_vectors_is_an_error(gateway: Gateway, data: Any) -> None:
    with embedder(gateway) as model:
        gateway.answer = lambda texts: (200, {}, data)
        with pytest.raises(EmbeddingError):
            model.passages(["a"])


def test_a_server_that_is_not_there_is_named() -> None:
    with serving() as gateway:
        url = gateway.url
    settings = EmbeddingSettings(provider="openai-compatible", model="m", base_url=url)
    with pytest.raises(EmbeddingError, match="was not reached") as caught:
        HttpEmbedder(settings, {})
    assert not isinstance(caught.value, ModelError)


def test_a_body_that_is_not_packed_as_it_says_is_an_error(gateway: Gateway) -> None:
    with embedder(gateway) as model:
        gateway.answer = lambda texts: (200, {"content-encoding": "gzip"}, b"not packed at all")
        with pytest.raises(EmbeddingError, match="unreadable"):
            model.passages(["a"])


def test_what_a_server_says_is_told_unless_it_repeats_what_it_was_sent(gateway: Gateway) -> None:
    with embedder(gateway) as model:
        gateway.answer = lambda texts: (400, {}, {"error": "the limit is 8192 tokens"})
        with pytest.raises(EmbeddingError, match="8192 tokens"):
            model.passages(["my diary of last summer"])
        gateway.answer = lambda texts: (400, {}, {"error": f"bad input: {texts[0]}"})
        with pytest.raises(EmbeddingError, match=r"answered 400$"):
            model.passages(["my diary\nof last summer"])


def test_places_that_occur_twice_are_not_guessed(gateway: Gateway) -> None:
    with embedder(gateway) as model:
        row = {"index": 0, "embedding": [1.0, 2.0, 3.0]}
        gateway.answer = lambda texts: (200, {}, {"data": [row, row]})
        with pytest.raises(EmbeddingError, match="places"):
            model.passages(["a", "b"])


def test_vectors_in_base64_are_read_though_floats_were_asked_for(gateway: Gateway) -> None:
    with embedder(gateway) as model:
        packed = base64.b64encode(np.array([3.0, 4.0, 0.0], "<f4").tobytes()).decode()
        gateway.answer = lambda texts: (200, {}, {"data": [{"index": 0, "embedding": packed}]})
        assert np.allclose(model.passages(["a"]), [[0.6, 0.8, 0.0]])


def test_a_batch_that_is_too_large_for_a_server_is_halved_and_remembered(gateway: Gateway) -> None:
    with embedder(gateway) as model:

        def answer(texts: list[str]) -> Answer:
            return good(texts) if len(texts) <= 20 else (413, {}, {"error": "at most 20 texts"})

        gateway.answer = answer
        texts = ["x" * n for n in range(1, 65)]
        vectors = model.passages(texts)
        assert np.allclose(vectors[:, 0] / vectors[:, 1], range(1, 65), rtol=1e-4)
        before = len(gateway.requests)
        model.passages(texts)
        assert [len(r["input"]) for r in gateway.requests[before:]] == [16] * 4


def test_texts_of_many_bytes_are_cut_by_their_bytes(gateway: Gateway) -> None:
    with embedder(gateway) as model:
        model.passages(["茶" * 20_000])
        (sent,) = gateway.requests[-1]["input"]
        assert set(sent) == {"茶"}
        assert 15_000 < len(sent.encode()) <= 16_000


def test_the_question_after_a_long_paste_is_sent_by_itself(gateway: Gateway) -> None:
    with embedder(gateway) as model:
        model.query("The minutes of the meeting go on. " * 300 + "Where is the canoe?")
        assert gateway.requests[-1]["input"][1] == "Where is the canoe?"


def test_models_that_tell_questions_from_passages_get_their_prefixes(gateway: Gateway) -> None:
    with embedder(gateway, "intfloat/multilingual-e5-large") as model:
        model.query("who is karl")
        model.passages(["Karl repairs the roof."])
        assert gateway.requests[-2]["input"] == ["query: who is karl"]
        assert gateway.requests[-1]["input"] == ["passage: Karl repairs the roof."]
        with embedder(gateway, "multilingual-e5-large-instruct") as other:
            assert "passage:" in model.identity
            assert "passage:" not in other.identity


def test_a_server_that_hangs_costs_no_more_than_its_time(gateway: Gateway) -> None:
    with embedder(gateway, timeout=0.2) as model:
        released = threading.Event()

        def answer(texts: list[str]) -> Answer:
            released.wait(8)
            return good(texts)

        gateway.answer = answer
        started = time.monotonic()
        with pytest.raises(EmbeddingError, match="ReadTimeout"):
            model.passages(["a"])
        released.set()
        assert time.monotonic() - started < 8


@pytest.mark.parametrize(
    ("header", "date", "seconds"),
    [
        ("7", None, 7.0),
        ("Mon, 30 Nov 2026 10:00:30 GMT", "Mon, 30 Nov 2026 10:00:20 GMT", 10.0),
        ("Mon, 30 Nov 2026 10:00:30 GMT", None, None),
        ("soon", "Mon, 30 Nov 2026 10:00:20 GMT", None),
        (None, None, None),
    ],
)
def test_the_time_to_wait_is_read_as_a_number_or_a_date(
    header: str | None, date: str | None, seconds: float | None
) -> None:
    assert retry_seconds(header, date) == seconds


def test_a_password_in_the_address_is_in_no_error_and_no_identity() -> None:
    with serving() as gateway:
        url = gateway.url.replace("//", "//me:secret@")
        settings = EmbeddingSettings(provider="openai-compatible", model="m", base_url=url)
        model = HttpEmbedder(settings, {})
        assert "secret" not in model.identity
        gateway.answer = lambda texts: (500, {}, {})
        with pytest.raises(EmbeddingError) as caught:
            model.passages(["a"])
        assert "secret" not in str(caught.value)
        model.close()


def test_a_model_shows_where_its_cosines_lie(gateway: Gateway) -> None:
    def telling(texts: list[str]) -> Answer:
        places = [(QUESTIONS + ANSWERS).index(t) % len(PAIRS) if t in KNOWN else 0 for t in texts]
        rows = [
            {"index": n, "embedding": [3.0, *(float(place == k) for k in range(len(PAIRS)))]}
            for n, place in enumerate(places)
        ]
        return 200, {}, {"data": rows}

    with embedder(gateway) as model:
        assert model.band is None  # every question is as near to every answer
    gateway.answer = telling
    with embedder(gateway) as model:
        assert model.band is not None
        assert (model.band.foreign, model.band.own) == pytest.approx((0.9, 1.0))
