"""An unexpected error for the log: what and where, without its text, which may quote a note."""

from __future__ import annotations

import traceback

_CAUSES = 5


def frames(error: BaseException) -> str:
    """The kinds of an error and its causes, then where it arose, each place on two lines."""
    kinds: list[str] = []
    cause: BaseException | None = error
    while cause is not None and len(kinds) < _CAUSES:
        kinds.append(type(cause).__qualname__)
        cause = cause.__cause__ or cause.__context__
    places = "".join(traceback.format_tb(error.__traceback__))
    return f"{' from '.join(kinds)}\n{places}"
