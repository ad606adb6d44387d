"""A plan: changes of notes that are thought out and not yet made. Values, and what they look like.

Whatever judges (a model, a rule, a person's approval) only makes a plan; `Runs` carries it out.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memory_mcp.core.reference import join
from memory_mcp.notes.sources import Source


@dataclass(frozen=True, slots=True)
class Spot:
    """The place of a note, there or not: its source, and its canonical path below it."""

    source: Source
    path: str

    @property
    def reference(self) -> str:
        """As clients name it."""
        return join(self.source.name, self.path)


@dataclass(frozen=True, slots=True)
class Change:
    """A file before and after; None where there is no file. It is made only where the file is
    still as it was before."""

    spot: Spot
    before: bytes | None
    after: bytes | None
    reason: str = ""

    @property
    def reference(self) -> str:
        """The note that changes."""
        return self.spot.reference


def unified_diff(changes: Iterable[Change]) -> str:
    """What a plan would do, as `diff -u` shows it; a file without bytes is /dev/null."""
    return "".join(_diff(change) for change in changes)


def _diff(change: Change) -> str:
    old = "/dev/null" if change.before is None else f"a/{change.reference}.md"
    new = "/dev/null" if change.after is None else f"b/{change.reference}.md"
    lines = difflib.unified_diff(_lines(change.before), _lines(change.after), old, new)
    shown = (
        f"{line}\n\\ No newline at end of file\n" if _is_open(line) else line for line in lines
    )
    return "".join(shown)


def _is_open(line: str) -> bool:
    return not line.endswith("\n")


def _lines(data: bytes | None) -> list[str]:
    return [] if data is None else data.decode("utf-8", "replace").splitlines(keepends=True)


def references(changes: Sequence[Change]) -> tuple[str, ...]:
    """The notes that change, each once, in order."""
    return tuple(dict.fromkeys(change.reference for change in changes))
