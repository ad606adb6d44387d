"""`memories://index`: what there is, in few lines, never longer than the settings allow."""

from __future__ import annotations

from collections import Counter

from memory_mcp.core.note import Card
from memory_mcp.server.framing import NOTICE, one_line
from memory_mcp.server.session import Connection
from memory_mcp.server.text import name

_DESCRIPTION = 120


def overview(connection: Connection) -> str:
    """Counts for each source, then one line for each note of the inbox and the wiki.

    Pinned notes come first, then the sources in the order of the settings. What does not fit is
    counted. The same notes give the same bytes.
    """
    app = connection.app
    limits = app.config.index_section
    cards = listed_cards(connection)
    counts = Counter(entry.card.source for entry in app.index.entries())
    head = [NOTICE, "", "# Memory", ""]
    head += [f"- {source.name}: {_count(counts[source.name])}" for source in app.sources]
    rows = [_row(card) for card in sorted(cards, key=_order)]
    shown = _fitting(rows[: limits.max_files], limits.max_bytes - _size(head) - 200)
    if shown:
        head += ["", "## Notes", "", *shown]
    if len(shown) < len(rows):
        left = len(rows) - len(shown)
        head += ["", f"{_count(left)} left out: memory_list shows all, memory_search finds them."]
    return "\n".join(head) + "\n"


def listed_cards(connection: Connection) -> list[Card]:
    """The notes that are listed as resources: those of the inbox and the wiki, by reference."""
    sources = [source for source in connection.app.sources if source.kind in ("memory", "wiki")]
    entries = connection.app.index.entries([source.id for source in sources])
    return sorted((entry.card for entry in entries), key=lambda card: card.reference)


def _order(card: Card) -> tuple[bool, str]:
    return not card.pinned, card.reference


def _row(card: Card) -> str:
    line = f"- {name(card.reference)} - {one_line(card.title)}"
    return f"{line}: {one_line(card.description, _DESCRIPTION)}" if card.description else line


def _fitting(rows: list[str], size: int) -> list[str]:
    for number, row in enumerate(rows):
        size -= len(row.encode()) + 1
        if size < 0:
            return rows[:number]
    return rows


def _size(lines: list[str]) -> int:
    return len("\n".join(lines).encode())


def _count(number: int) -> str:
    return f"{number} note" if number == 1 else f"{number} notes"
