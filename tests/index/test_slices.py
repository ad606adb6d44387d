"""Long work lets others have their turn: on the loop, on a thread, and between the two."""

from __future__ import annotations

import sys
import time

import anyio
import anyio.lowlevel
import numpy as np
import pytest
from threadpoolctl import threadpool_info

from memory_mcp.index.blas import single
from memory_mcp.index.slices import THREAD_SECONDS, first_of, on_thread
from memory_mcp.index.switching import quick

pytestmark = pytest.mark.anyio


def _slow(number: int) -> int:
    end = time.monotonic() + 2 * THREAD_SECONDS
    while time.monotonic() < end:
        pass
    return -number


def test_a_slice_ends_after_the_item_that_fills_it() -> None:
    assert first_of(_slow, [1, 2, 3]) == [-1]
    assert first_of(abs, [-1, -2, -3]) == [1, 2, 3]
    assert first_of(abs, []) == []


async def test_the_loop_has_a_turn_between_the_slices_of_a_thread() -> None:
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await anyio.lowlevel.checkpoint()
            turns += 1

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(count)
        assert await on_thread(_slow, [1, 2, 3, 4]) == [-1, -2, -3, -4]
        tasks.cancel_scope.cancel()
    assert turns > 3


def test_matrix_products_have_one_thread_while_asked_to() -> None:
    np.ones((2, 2)) @ np.ones(2)
    before = [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]
    with single():
        within = [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]
    after = [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]
    assert set(within) <= {1}
    assert after == before


def test_threads_give_the_interpreter_away_sooner_while_asked_to() -> None:
    before = sys.getswitchinterval()
    with quick():
        assert sys.getswitchinterval() < before
    assert sys.getswitchinterval() == before
