"""Long work on the event loop, in slices: others get their turn every twenty milliseconds."""

from __future__ import annotations

import time

from anyio.lowlevel import checkpoint

SLICE_SECONDS = 0.02


class Slices:
    """Call `pause` after each small piece of work."""

    def __init__(self) -> None:
        self._since = time.monotonic()

    async def pause(self) -> None:
        """Let others run, if the slice is used up."""
        if time.monotonic() - self._since > SLICE_SECONDS:
            await checkpoint()
            self._since = time.monotonic()
