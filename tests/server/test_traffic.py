"""What is under way on one connection."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest

from memory_mcp.server.traffic import MOST_CALLS, Traffic

pytestmark = pytest.mark.anyio


def test_calls_are_counted_until_they_are_answered_or_cancelled() -> None:
    told: list[int] = []
    traffic = Traffic(told.append)
    traffic.opened(1)
    traffic.opened("a")
    traffic.said()
    traffic.closed("a")
    assert 1 in traffic
    assert "a" not in traffic
    traffic.closed(1)
    assert told == [1, 2, 2, 1, 0]


def test_an_id_that_is_used_twice_counts_twice() -> None:
    traffic = Traffic()
    traffic.opened(1)
    traffic.opened(1)
    traffic.closed(1)
    assert (traffic.calls, 1 in traffic) == (1, True)
    traffic.closed(1)
    assert traffic.calls == 0


def test_what_was_never_opened_cannot_be_closed() -> None:
    traffic = Traffic()
    unknown: tuple[object, ...] = (7, "x", None, [], {})
    for number in unknown:
        traffic.closed(number)
    assert traffic.calls == 0


async def test_a_client_with_many_open_calls_waits_for_an_answer_before_it_may_call_again() -> (
    None
):
    traffic = Traffic()
    for number in range(MOST_CALLS):
        traffic.opened(number)
    admitted = anyio.Event()

    async def wait() -> None:
        assert await traffic.room()
        admitted.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await anyio.lowlevel.checkpoint()
        assert not admitted.is_set()
        traffic.closed(0)
        with anyio.fail_after(5):
            await admitted.wait()


async def test_it_is_quiet_when_the_last_call_was_answered() -> None:
    traffic = Traffic()
    traffic.opened(1)
    traffic.opened(2)
    async with anyio.create_task_group() as tasks:

        async def answer() -> None:
            traffic.closed(1)
            await anyio.lowlevel.checkpoint()
            traffic.closed(2)

        tasks.start_soon(answer)
        with anyio.fail_after(5):
            await traffic.quiet()
    assert traffic.calls == 0
