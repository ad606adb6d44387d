"""How an index section is laid out in so many bytes. Pure: the same notes give the same bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from memory_mcp.core.framed import NOTICE, framed
from memory_mcp.core.framing import one_line
from memory_mcp.core.note import Card
from memory_mcp.recall.bodies import Body
from memory_mcp.settings.prompts import fill, shipped

FOLDERS = 20
"""Folders of a vault that are named."""
TAGS = 3
"""Topics shown of a note."""
LEAST = 400
"""Bytes that must be left for a note's text that is cut."""
STEPS = (20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
"""An inbox of more notes than the first of these is spoken of; the classes that are named."""
_TITLE = 80
_TAIL = 500  # bytes for the line about what was left out
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Contents:
    """What a section is made of, before it is fitted into a size."""

    counts: tuple[tuple[str, int], ...] = ()
    """Notes of each source."""
    index: Body | None = None
    pinned: tuple[Body, ...] = ()
    refused: tuple[Card, ...] = ()
    """Pinned notes, or an index file, from outside: their text is not shown."""
    rows: tuple[str, ...] = ()
    """One line for each note that may be listed."""
    unlisted: int = 0
    """Notes of inbox and wiki that may not: too deep, or beyond the number allowed."""
    folders: tuple[str, ...] = ()
    """One line for each vault."""
    unfiled: int = 0
    """Notes of the inbox that wait to be filed."""


def fitted(contents: Contents, max_bytes: int) -> str:
    """The section in at most `max_bytes` bytes of UTF-8: the index file first, then pinned notes,
    then the list. What does not fit is counted."""
    lines = [
        "# What is in memory",
        "",
        _counted(contents),
        *_unfiled(contents.unfiled),
        "",
        f"{shipped('following').strip()} {NOTICE}",
    ]
    page = _Page(lines, max_bytes - _size(lines) - _TAIL)
    if contents.index is not None:
        page.put(_index(contents.index, page.room))
    kept = [one for one in contents.pinned if page.put(["", "## Pinned", "", _framed(one)])]
    rows = page.fill("## Notes", contents.rows)
    page.fill("## Folders of the other sources", contents.folders)
    left = _left(
        contents.unlisted + len(contents.rows) - rows,
        [one.card for one in contents.pinned if one not in kept],
        contents.refused,
    )
    if left:
        lines += ["", f"Left out here: {_joined(left)}. memory_list shows all notes."]
    return _clipped("\n".join(lines) + "\n", max_bytes)


def _unfiled(count: int) -> list[str]:
    """What to do about a full inbox. It names a class of numbers: its bytes change rarely."""
    number = max((step for step in STEPS if count > step), default=0)
    return ["", fill(shipped("unfiled").strip(), number=f"{number:,}")] if number else []


@dataclass(slots=True)
class _Page:
    """Lines, and the bytes that there still are for more."""

    lines: list[str]
    room: int

    def put(self, lines: Sequence[str]) -> bool:
        """Add all of the lines, or none where they do not fit."""
        size = _size(lines)
        if size > self.room:
            return False
        self.room -= size
        self.lines += lines
        return True

    def fill(self, title: str, rows: Sequence[str]) -> int:
        """Add as many rows as fit, in their order, under a title; how many did."""
        room = self.room - _size(["", title, ""])
        count = 0
        for row in rows:
            room -= len(row.encode()) + 1
            if room < 0:
                break
            count += 1
        if count:
            self.put(["", title, "", *rows[:count]])
        return count


def _left(unlisted: int, pinned: Sequence[Card], refused: Sequence[Card]) -> list[str]:
    told = [_notes(unlisted)] if unlisted else []
    if pinned:
        told.append(f"the text of {_names(pinned)}, pinned but too long")
    if refused:
        told.append(f"the text of {_names(refused)}, which came from outside")
    return told


def _names(cards: Sequence[Card]) -> str:
    named = [f"`{one_line(card.reference, 80)}`" for card in cards[:_NAMED]]
    more = [f"{len(cards) - _NAMED} more"] if len(cards) > _NAMED else []
    return _joined([*named, *more])


def row(card: Card) -> str:
    """A line with the reference, the title where it says more than the path, and the topics."""
    line = f"- {_name(card)}"
    title = one_line(card.title, _TITLE)
    if title.casefold() != card.path.rpartition("/")[2].casefold():
        line += f" {title}"
    tags = ", ".join(one_line(tag, 40) for tag in card.tags[:TAGS])
    return f"{line} ({tags})" if tags else line


def _name(card: Card) -> str:
    return f"`{one_line(card.reference, 1000)}`"


def folders(name: str, paths: Sequence[str]) -> str:
    tops = Counter(path.partition("/")[0] if "/" in path else "" for path in paths)
    loose = tops.pop("", 0)
    named = [f"{one_line(top, 60)} {count}" for top, count in sorted(tops.items())]
    shown = named[:FOLDERS]
    if len(named) > FOLDERS:
        shown.append(f"{len(named) - FOLDERS} more folders")
    if loose:
        shown.append(f"{loose} in no folder")
    return f"- `{one_line(name, 64)}`: {', '.join(shown)}"


def _index(found: Body, room: int) -> list[str]:
    """The index file as it is; a longer one as far as there is room, cut at the end of a line."""
    head = ["", f"## Index: {_name(found.card)}", ""]
    whole = [*head, _framed(found)]
    if _size(whole) <= room:
        return whole
    if room < LEAST:
        return [*head, f"It is too long to be shown here ({found.card.size} bytes): read it."]
    around = _size([*head, _framed(Body(found.card, "x")), ""])
    kept, size = [], around + 80
    for line in found.text.splitlines():
        size += 2 * len(line.encode()) - len(line.encode()) + 1
        if size > room:
            break
        kept.append(line)
    more = len(found.text.splitlines()) - len(kept)
    kept.append(f"[… {more} more lines: read the note]")
    return [*head, _framed(Body(found.card, "\n".join(kept)))]


def _framed(one: Body) -> str:
    """A note in its frame, with the date that it says itself: that of the file may change without
    the text."""
    card = one.card
    return framed(card.reference, card.revision, card.updated, card.provenance, one.text)


def _counted(contents: Contents) -> str:
    parts = [f"{_notes(count)} in `{one_line(name, 64)}`" for name, count in contents.counts]
    if not any(count for _, count in contents.counts):
        return "Memory is empty so far."
    return f"Memory holds {_joined(parts)}."


def _joined(parts: Sequence[str]) -> str:
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def _clipped(text: str, max_bytes: int) -> str:
    """Whole lines only; a limit below the guidance itself is taken for what it is."""
    data = text.encode()
    if len(data) <= max_bytes:
        return text
    kept = data[: max_bytes - 1].rpartition(b"\n")[0]
    return kept.decode() + "\n" if kept else ""


def _size(lines: Sequence[str]) -> int:
    return len("\n".join(lines).encode()) + 1


def _notes(number: int) -> str:
    return f"{number} note" if number == 1 else f"{number} notes"
