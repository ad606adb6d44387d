"""The lane to the vector store: who asks it, and on which thread."""

from __future__ import annotations

import threading
from collections.abc import Collection

import anyio
import numpy as np
import pytest
from anyio.lowlevel import checkpoint

from memory_mcp.core.ports import Vectors
from memory_mcp.index.dense import DenseIndex, DenseStore
from memory_mcp.index.lane import AT_ONCE, Lane

pytestmark = pytest.mark.anyio

SIZE = 8


class Noting(DenseStore):
    """The real store; notes the threads that ask it."""

    def __init__(self) -> None:
        super().__init__(SIZE)
        self.threads: set[int] = set()

    def collection(self, source_id: str) -> DenseIndex:
        self.threads.add(threading.get_ident())
        return super().collection(source_id)


def rows(count: int, seed: int = 1) -> dict[int, Vectors]:
    made = np.random.default_rng(seed).standard_normal((count, SIZE)).astype(np.float32)
    return dict(enumerate(made / np.linalg.norm(made, axis=1, keepdims=True)))


async def filled(store: Noting, vectors: dict[int, Vectors], at_once: int = AT_ONCE) -> Lane:
    lane = Lane(at_once)
    await lane.open(lambda: store, ["vault"])
    await lane.add("vault", vectors)
    store.threads.clear()
    return lane


async def near(lane: Lane, vector: Vectors) -> tuple[list[int], Collection[int]]:
    found, cosines = await lane.around(["vault"], vector, 5, {"vault": [3, 4]})
    return [point for point, _ in found[:5]], cosines.keys()


@pytest.mark.parametrize("most", [20, 19])
async def test_a_small_store_is_asked_on_the_loop_and_a_large_one_on_a_thread(most: int) -> None:
    store, vectors = Noting(), rows(20)
    lane = await filled(store, vectors, most)
    closest = sorted(vectors, key=lambda point: -float(vectors[point] @ vectors[7]))
    assert await near(lane, vectors[7]) == (closest[:5], {3, 4})
    assert (store.threads == {threading.get_ident()}) is (most == 20)
    await lane.close()


async def test_while_vectors_are_added_questions_are_answered_in_turn() -> None:
    store, vectors = Noting(), rows(300)
    lane = await filled(store, dict(list(vectors.items())[:10]))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lane.add, "vault", dict(list(vectors.items())[10:]))
        while lane.count(["vault"]) < len(vectors):
            found, cosines = await near(lane, vectors[7])
            assert found[0] == 7
            assert cosines == {3, 4}
    closest = sorted(vectors, key=lambda point: -float(vectors[point] @ vectors[7]))
    assert (await near(lane, vectors[7]))[0] == closest[:5]
    await lane.close()


async def test_who_asks_again_and_again_does_not_keep_the_loop() -> None:
    vectors = rows(10)
    lane = await filled(Noting(), vectors)
    turns = 0

    async def other() -> None:
        nonlocal turns
        while turns < 5:
            await checkpoint()
            turns += 1

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(other)
        while turns < 5:
            await near(lane, vectors[7])
    await lane.close()
