"""File descriptors as byte streams: read and written on worker threads, so that any kind works."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

import anyio
import anyio.to_thread

CHUNK = 1 << 16


class Inlet:
    """Bytes of a descriptor. `close` ends the stream even while a read waits."""

    def __init__(self, descriptor: int, ended: Callable[[], None] = lambda: None) -> None:
        """`ended` is called when the stream has ended, however that came about."""
        self._descriptor = descriptor
        self._ended = ended
        self._limiter = anyio.CapacityLimiter(1)
        self._scope = anyio.CancelScope()
        self._closed = False

    async def receive(self, max_bytes: int = CHUNK) -> bytes:
        """The next bytes. Raises EndOfStream at the end and after `close`."""
        data = b""
        with self._scope:
            try:
                data = await anyio.to_thread.run_sync(
                    partial(os.read, self._descriptor, max_bytes),
                    abandon_on_cancel=True,
                    limiter=self._limiter,
                )
            except OSError:
                data = b""
        if self._closed or not data:
            self._ended()
            raise anyio.EndOfStream
        self._scope = anyio.CancelScope()
        return data

    def close(self) -> None:
        """End the stream now."""
        self._closed = True
        self._scope.cancel()


class Outlet:
    """Bytes into a descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._limiter = anyio.CapacityLimiter(1)

    async def send(self, item: bytes) -> None:
        """Write all bytes. Raises BrokenResourceError where the reader has gone."""
        try:
            await anyio.to_thread.run_sync(
                partial(_write_all, self._descriptor, item), limiter=self._limiter
            )
        except OSError as error:
            raise anyio.BrokenResourceError from error


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
