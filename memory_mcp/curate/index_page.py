"""The wiki's `index.md`: built from what the pages say of themselves, without any model. Pure.

The same pages give the same bytes. Only what stands between our two marks is ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memory_mcp.core.framing import one_line
from memory_mcp.core.note import Card
from memory_mcp.curate.page_names import is_own

BEGIN = "<!-- memory-mcp: from here to the end mark this page is written anew -->"
END = "<!-- memory-mcp: end -->"

MOST = 40
"""Pages of one part that are listed; an index of all is what `memory_list` is for."""

_ABOUT = 140  # characters of a description

_WORDS = {
    "en": {
        "index": "Index", "decisions": "Key decisions", "projects": "Project state",
        "check": "What to check", "pages": "Pages", "more": "and {n} more",
        "none": "No pages yet.", "contradicts": "contradicts {other}",
        "outside": "from outside", "open": "marked as open",
    },
    "de": {
        "index": "Übersicht", "decisions": "Wichtige Entscheidungen",
        "projects": "Stand der Projekte", "check": "Zu prüfen", "pages": "Seiten",
        "more": "und {n} weitere", "none": "Noch keine Seiten.",
        "contradicts": "widerspricht {other}", "outside": "von außen",
        "open": "als offen markiert",
    },
}  # fmt: skip
_DECISIONS = frozenset({"decision", "decisions", "entscheidung", "entscheidungen", "adr"})
_PROJECTS = frozenset({"project", "projects", "projekt", "projekte"})
_OPEN = frozenset({"todo", "open", "offen", "question", "frage", "check", "prüfen"})


def index_page(current: str | None, cards: Iterable[Card], language: str) -> str | None:
    """The text of index.md for these pages of the wiki; None where the file is a person's own and
    has no place for ours. `current`: what it is now."""
    words = _WORDS.get(language, _WORDS["en"])
    newline = "\r\n" if current is not None and "\r\n" in current else "\n"
    ours = newline.join([BEGIN, *_body(list(cards), words), END])
    if current is None:
        return f"# {words['index']}{newline}{newline}{ours}{newline}"
    start = current.find(BEGIN)
    end = current.find(END, start)
    if start < 0 or end < 0:
        return None
    return current[:start] + ours + current[end + len(END) :]


def _body(cards: Sequence[Card], words: dict[str, str]) -> list[str]:
    pages = sorted((card for card in cards if not is_own(card.path)), key=lambda card: card.path)
    decisions = [card for card in pages if _is(card, _DECISIONS)]
    projects = [card for card in pages if _is(card, _PROJECTS) and card not in decisions]
    known = {card.path for card in (*decisions, *projects)}
    folders: dict[str, list[Card]] = {}
    for card in pages:
        if card.path not in known:
            folders.setdefault(card.path.rpartition("/")[0], []).append(card)
    lines = [
        *_part(words["decisions"], _newest_first(decisions), words),
        *_part(words["projects"], _newest_first(projects), words),
    ]
    for folder in sorted(folders):
        lines += _part(_title(folder, words), _newest_first(folders[folder]), words)
    lines += _checks(pages, words)
    return lines or [words["none"]]


def _newest_first(cards: Iterable[Card]) -> list[Card]:
    """By what the pages say of themselves: a file's own time changes without its text."""
    by_path = sorted(cards, key=lambda card: card.path)
    return sorted(by_path, key=lambda card: card.updated or card.created or "", reverse=True)


def _part(title: str, cards: Sequence[Card], words: dict[str, str]) -> list[str]:
    if not cards:
        return []
    lines = [f"## {title}", "", *(_line(card, words) for card in cards[:MOST])]
    if len(cards) > MOST:
        lines.append(f"- … {words['more'].format(n=len(cards) - MOST)}")
    return [*lines, ""]


def _line(card: Card, words: dict[str, str]) -> str:
    name = card.path.rpartition("/")[2]
    title = one_line(card.title, 80)
    label = "" if title.casefold() == name.replace("-", " ").casefold() else f" {title}"
    about = f": {one_line(card.description, _ABOUT)}" if card.description else ""
    outside = card.provenance is not None and not card.provenance.trusted
    mark = f" ({words['outside']})" if outside else ""
    return f"- [[{card.path}]]{label}{about}{mark}"


def _checks(pages: Sequence[Card], words: dict[str, str]) -> list[str]:
    found: list[str] = []
    for card in pages:
        said = [one_line(warning, 120) for warning in card.warnings]
        said += [
            words["contradicts"].format(other=one_line(link.target, 80))
            for link in card.links
            if link.relation == "contradicts"
        ]
        said += [words["open"]] * (not _OPEN.isdisjoint(tag.casefold() for tag in card.tags))
        if said:
            found.append(f"- [[{card.path}]]: {'; '.join(said)}")
    if not found:
        return []
    more = [f"- … {words['more'].format(n=len(found) - MOST)}"] * (len(found) > MOST)
    return [f"## {words['check']}", "", *found[:MOST], *more, ""]


def _is(card: Card, names: frozenset[str]) -> bool:
    words = {part.casefold() for part in card.path.split("/")[:-1]}
    return not names.isdisjoint(words | {tag.casefold() for tag in card.tags})


def _title(folder: str, words: dict[str, str]) -> str:
    return one_line(folder, 80) if folder else words["pages"]
