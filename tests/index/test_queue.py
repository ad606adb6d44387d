"""Work that waits is done once, the urgent first, and nothing is lost while it is in hand."""

from __future__ import annotations

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.index.queue import Pulse, WorkQueue

A, B, C = ("s", "a"), ("s", "b"), ("s", "c")


def test_a_note_waits_once_and_urgent_ones_come_first() -> None:
    queue = WorkQueue(Pulse())
    queue.put(A)
    queue.put(B)
    queue.put(A)
    queue.put(C, urgent=True)
    assert list(queue.take(10)) == [C, A, B]
    queue.done()
    assert queue.idle


def test_a_note_put_while_in_hand_waits_again() -> None:
    queue = WorkQueue(Pulse())
    queue.put(A)
    assert list(queue.take(1)) == [A]
    queue.put(A, anew=True)
    queue.done()
    assert queue.take(1) == {A: True}
    assert not queue.idle


def test_unfinished_work_goes_back_to_the_front() -> None:
    queue = WorkQueue(Pulse())
    for key in (A, B, C):
        queue.put(key)
    queue.take(2)
    queue.done(back=[B])
    assert list(queue.take(10)) == [B, C]


def test_what_was_asked_for_meanwhile_holds_for_work_that_goes_back() -> None:
    queue = WorkQueue(Pulse())
    queue.put(A)
    queue.put(B)
    queue.take(1)
    queue.put(A, anew=True)
    queue.done(back=[A])
    assert list(queue.take(10).items()) == [(A, True), (B, False)]


@given(st.lists(st.tuples(st.sampled_from("pudtb"), st.sampled_from([A, B, C])), max_size=30))
def test_no_note_is_lost_by_any_order_of_calls(steps: list[tuple[str, tuple[str, str]]]) -> None:
    queue = WorkQueue(Pulse())
    open_: set[tuple[str, str]] = set()
    hand: set[tuple[str, str]] = set()
    for step, key in steps:
        match step:
            case "p" | "u":
                queue.put(key, urgent=step == "u")
                open_.add(key)
            case "d":
                queue.drop(key)
                open_.discard(key)
            case "t":
                queue.done(hand)
                open_ |= hand
                hand = set(queue.take(2))
                open_ -= hand
            case _:
                queue.done()
                hand = set()
        assert set(queue) == queue.keys == open_ | hand
        assert queue.waits == bool(open_)


@pytest.mark.anyio
async def test_a_pulse_wakes_all_who_wait() -> None:
    pulse = Pulse()
    woken: list[int] = []

    async def wait(number: int) -> None:
        await pulse.wait()
        woken.append(number)

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait, 1)
            tasks.start_soon(wait, 2)
            await anyio.wait_all_tasks_blocked()
            pulse.beat()
    assert sorted(woken) == [1, 2]
