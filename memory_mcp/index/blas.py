"""numpy's matrix products on one thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def single() -> Iterator[None]:
    """While an index is at work: no second thread for a product.

    It would gain a millisecond over ten thousand passages; and OpenBLAS, which most builds of
    numpy bring, then has it turn in circles for the next product: 45 ms of a core for each search,
    and where other programs want that core the first thread waits eight times as long as without
    it."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        yield
