"""The difference between disk and index."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.change import Changes, diff
from memory_mcp.core.note import Stamp

_LISTING = st.dictionaries(
    st.text(max_size=3), st.builds(Stamp, *[st.integers(0, 2)] * 3), max_size=20
)


@given(_LISTING, _LISTING)
def test_the_difference_is_that_of_sets(disk: dict[str, Stamp], known: dict[str, Stamp]) -> None:
    assert diff(disk, known) == Changes(
        added=tuple(sorted(disk.keys() - known.keys())),
        changed=tuple(sorted(path for path in disk.keys() & known if disk[path] != known[path])),
        removed=tuple(sorted(known.keys() - disk.keys())),
    )


@given(_LISTING)
def test_nothing_differs_from_itself(disk: dict[str, Stamp]) -> None:
    assert not diff(disk, dict(disk))
    assert len(diff(disk, {})) == len(disk)
