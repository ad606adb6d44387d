"""A change of a note, told before it is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """A change of one note that is about to be made; the bytes are None where there is no file."""

    reference: str
    before: bytes | None
    after: bytes | None
    warnings: tuple[str, ...] = ()
    project: bool = False
    """Whether the note is one of a project's own inbox."""


Intend = Callable[[Step], None]
