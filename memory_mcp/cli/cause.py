"""The error behind an error."""

from __future__ import annotations


def innermost(error: BaseException) -> BaseException:
    """The error itself where task groups wrapped it; a group of several stays a group."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
