"""Which notes somebody may have meant by a name that none has."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from memory_mcp.index.labels import fold

_MOST = 3


def near(asked: str, references: Iterable[str]) -> list[str]:
    """References whose spelling is close to `asked`, or to the end of it; at most three."""
    stems: dict[str, list[str]] = {}
    whole: dict[str, str] = {}
    for reference in references:
        whole[fold(reference)] = reference
        stems.setdefault(fold(reference.rpartition("/")[2]), []).append(reference)
    stem = fold(asked.rpartition("/")[2])
    close = [whole[name] for name in difflib.get_close_matches(fold(asked), whole, _MOST, 0.75)]
    for name in difflib.get_close_matches(stem, stems, _MOST, 0.7):
        close.extend(stems[name])
    close.extend(whole[name] for name in whole if len(stem) > 2 and stem in name)
    return list(dict.fromkeys(close))[:_MOST]
