"""The front as a process."""

from __future__ import annotations

import os
import signal

from memory_mcp.front.relay import Relay, leave
from memory_mcp.front.streams import claim

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def run(flags: Mapping[str, object]) -> int:
    """Serve one client on stdin and stdout through the engine of its home.

    `flags` are those of the start on stdio. Ends the process: 0 when the client has gone or a
    signal says so, 1 where the settings are wrong, with every problem on stderr.
    """
    claim()
    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: leave(0))
    Relay(os.environ, flags).run()
