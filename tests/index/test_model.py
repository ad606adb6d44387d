"""A model that is slow, that fails in ways of its own, or that comes back."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest
from anyio.lowlevel import checkpoint

from memory_mcp.core.errors import EmbeddingError
from memory_mcp.core.ports import Embedder, Tokens, Vectors
from memory_mcp.index.tokens import projected
from tests.fakes import HashEmbedder
from tests.index.world import SECONDS, World, found, near

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("where", ["load", "passages"])
async def test_the_end_does_not_wait_for_a_model_that_does_not_answer(
    tmp_path: Path, where: str
) -> None:
    asked, release = threading.Event(), threading.Event()

    class Stuck(HashEmbedder):
        """Answers once it is released."""

        def passages(self, texts: Sequence[str]) -> Vectors:
            asked.set()
            release.wait(SECONDS)
            return super().passages(texts)

    def load() -> Embedder:
        stuck = Stuck()
        if where == "load":
            stuck.passages(["a"])
        return stuck

    world = World(tmp_path, load)
    world.write("memory/a", "The kettle is in the shed.")
    try:
        with anyio.fail_after(SECONDS / 2):
            async with world.running(settled=False) as index:
                assert await anyio.to_thread.run_sync(asked.wait, SECONDS)
                while found(index, "kettle") != ["memory/a"]:
                    await index._pulse.wait()
    finally:
        release.set()


async def test_an_error_of_the_models_own_kind_costs_the_vectors_and_shows_no_text(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Odd(HashEmbedder):
        """Fails on every text, and repeats it."""

        def passages(self, texts: Sequence[str]) -> Vectors:
            raise LookupError(f"no vector for {texts}")

        def query(self, text: str) -> Vectors:
            raise LookupError(f"no vector for {text}")

    world = World(tmp_path, Odd)
    world.write("memory/a", "The kettle is in the shed.")
    async with world.running(settled=False) as index:
        with anyio.fail_after(SECONDS):
            while (degraded := index.state().degraded) is None or "LookupError" not in degraded:
                await index._pulse.wait()
        assert await index.query_vector("where is the kettle") is None
        assert found(index, "kettle") == ["memory/a"]
    assert "kettle" not in caplog.text


async def test_notes_get_their_vectors_as_soon_as_a_model_that_was_away_answers_again(
    tmp_path: Path,
) -> None:
    class Away(HashEmbedder):
        """Answers nothing until it is back."""

        back = False
        attempts = 0

        def passages(self, texts: Sequence[str]) -> Vectors:
            self.attempts += 1
            if not self.back:
                raise EmbeddingError("nobody there")
            return super().passages(texts)

        def query(self, text: str) -> Vectors:
            if not self.back:
                raise EmbeddingError("nobody there")
            return super().query(text)

    away = Away()
    world = World(tmp_path, lambda: away)
    world.write("memory/a", "The kettle is in the shed.")
    async with world.running(settled=False) as index:
        with anyio.fail_after(2 * SECONDS):
            while away.attempts < 3:  # the next one would come seconds later
                await checkpoint()
            assert await near(index, "kettle") == []
            away.back = True
            begun = anyio.current_time()
            await index.query_vector("is it back?")
            assert await index.settled()
        assert anyio.current_time() - begun < 1.0
        assert await near(index, "kettle") == ["memory/a"]


async def test_files_are_read_while_there_is_always_something_to_look_at(tmp_path: Path) -> None:
    world = World(tmp_path)
    async with world.running() as index, anyio.create_task_group() as tasks:

        async def storm() -> None:
            while True:
                index._sync.hint("vault", f"part{anyio.current_time()}")
                await checkpoint()

        tasks.start_soon(storm)
        world.write("memory/a", "The kettle is in the shed.")
        await index.sweep()
        with anyio.fail_after(SECONDS):
            while not found(index, "kettle"):
                await checkpoint()
        tasks.cancel_scope.cancel()


async def test_tokens_are_compared_only_for_a_question_that_had_its_vector(tmp_path: Path) -> None:
    asked: list[str] = []

    class Telling(HashEmbedder):
        """Tells tokens: each word's own vector."""

        def read(self, texts: Sequence[str]) -> tuple[Vectors, list[Tokens]]:
            words = [projected(self.passages(text.split() or ["nothing"])) for text in texts]
            return self.passages(texts), words

        def ask(self, text: str) -> tuple[Vectors, Tokens | None]:
            asked.append(text)
            return self.query(text), self.read([text])[1][0]

    world = World(tmp_path, Telling)
    world.write("memory/a", "The kettle is in the shed.")
    world.write("memory/b", "Gravel for the path.")
    async with world.running() as index:
        points = [point for entry in index.entries() for point in entry.points]
        assert await index.likeness("kettle", points) == {}
        assert asked == []
        assert await index.query_vector("kettle") is not None
        alike = await index.likeness("kettle", points)
        assert asked == ["kettle"]
        best = index.at(max(alike, key=lambda point: alike[point]))
        assert alike.keys() == set(points)
        assert best is not None and best[0].card.path == "a"
