"""What differs between the files on disk and the files that are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from memory_mcp.core.note import Stamp


@dataclass(frozen=True, slots=True)
class Changes:
    """Paths by what happened to them; each tuple is sorted and no path is in two of them."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)

    def __len__(self) -> int:
        return len(self.added) + len(self.changed) + len(self.removed)


def diff(disk: Mapping[str, Stamp], known: Mapping[str, Stamp]) -> Changes:
    """Compare two listings (path -> stamp) by one walk over both in sorted order."""
    added: list[str] = []
    changed: list[str] = []
    removed: list[str] = []
    there, here = iter(sorted(disk)), iter(sorted(known))
    on_disk, in_index = next(there, None), next(here, None)
    while on_disk is not None or in_index is not None:
        if in_index is None or (on_disk is not None and on_disk < in_index):
            assert on_disk is not None
            added.append(on_disk)
            on_disk = next(there, None)
        elif on_disk is None or in_index < on_disk:
            removed.append(in_index)
            in_index = next(here, None)
        else:
            if disk[on_disk] != known[in_index]:
                changed.append(on_disk)
            on_disk, in_index = next(there, None), next(here, None)
    return Changes(tuple(added), tuple(changed), tuple(removed))
