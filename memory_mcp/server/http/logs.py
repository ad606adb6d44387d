"""What the libraries behind the port may write into the log: faults, and nothing of a note."""

from __future__ import annotations

import logging

from memory_mcp.index.frames import frames

_NOISY = ("uvicorn.error", "uvicorn.access", "uvicorn.asgi")
"""They warn of every request that is no HTTP: whoever scans ports could fill the log."""

_WORDY = (
    "mcp.server.sse",
    "mcp.server.streamable_http",
    "mcp.server.streamable_http_manager",
    "mcp.server._streamable_http_modern",
    "mcp.server.runner",
    "mcp.shared.jsonrpc_dispatcher",
    "sse_starlette.sse",
)
"""They log messages as they come when debugging, and the text of errors that quote them."""


class _WithoutText(logging.Filter):
    """Replaces the text of an error by where it arose: the text may quote a note."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.exc_info and record.exc_info[1] is not None:
            record.msg = f"{record.getMessage()}: {frames(record.exc_info[1])}"
            record.args, record.exc_info, record.exc_text = (), None, None
        return True


_without_text = _WithoutText()


def quieten() -> None:
    """Set the loggers of the libraries, whatever the level of the rest. Doing it twice is
    harmless."""
    for name in _NOISY:
        logging.getLogger(name).setLevel(logging.ERROR)
    for name in _WORDY:
        logger = logging.getLogger(name)
        logger.setLevel(logging.WARNING)
        logger.addFilter(_without_text)
