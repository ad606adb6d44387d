"""The wiki's `index.md`: built from what the pages say of themselves, without any model. Pure.

The same pages give the same bytes. Only what stands between our two marks is ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from memory_mcp.core.framing import one_line
from memory_mcp.core.note import Card
from memory_mcp.core.wording import GERMAN, wording
from memory_mcp.curate.wiki.page_names import is_own
from memory_mcp.curate.wiki.timeline import outside

BEGIN = "<!-- memory-mcp: from here to the end mark this page is written anew -->"
END = "<!-- memory-mcp: end -->"

MOST = 40
"""Pages of one part that are listed; an index of all is what `memory_list` is for."""

_ABOUT = 140  # characters of a description

_ENGLISH = {
    "more": "and {n} more", "none": "No pages yet.", "contradicts": "contradicts {other}",
    "open": "marked as open",
}  # fmt: skip
_GERMAN = {
    "more": "und {n} weitere", "none": "Noch keine Seiten.",
    "contradicts": "widerspricht {other}", "open": "als offen markiert",
}  # fmt: skip
_DECISIONS = frozenset({"decision", "decisions", "entscheidung", "entscheidungen", "adr"})
_PROJECTS = frozenset({"project", "projects", "projekt", "projekte"})
_OPEN = frozenset({"todo", "open", "offen", "question", "frage", "check", "prüfen"})


def index_page(current: str | None, cards: Iterable[Card], language: str) -> str | None:
    """The text of index.md for these pages of the wiki; None where the file is a person's own and
    has no place for ours. `current`: what it is now."""
    newline = "\r\n" if current is not None and "\r\n" in current else "\n"
    ours = newline.join([BEGIN, *_body(list(cards), language), END])
    if current is None:
        return f"# {wording(language).index}{newline}{newline}{ours}{newline}"
    start = current.find(BEGIN)
    end = current.find(END, start)
    if start < 0 or end < 0:
        return None
    return current[:start] + ours + current[end + len(END) :]


def _body(cards: Sequence[Card], language: str) -> list[str]:
    titles = wording(language)
    words = _GERMAN if titles is GERMAN else _ENGLISH
    pages = sorted((card for card in cards if not is_own(card.path)), key=lambda card: card.path)
    decisions = [card for card in pages if _is(card, _DECISIONS)]
    projects = [card for card in pages if _is(card, _PROJECTS) and card not in decisions]
    known = {card.path for card in (*decisions, *projects)}
    folders: dict[str, list[Card]] = {}
    for card in pages:
        if card.path not in known:
            folders.setdefault(card.path.rpartition("/")[0], []).append(card)
    line = partial(_line, language=language)
    parts = [
        *_part(f"## {titles.decisions}", map(line, _newest_first(decisions)), words),
        *_part(f"## {titles.state}", map(line, _newest_first(projects)), words),
        *([f"## {titles.active}", ""] if folders else []),
    ]
    for folder in sorted(folders):
        name = f"### {one_line(folder, 80)}" if folder else ""
        parts += _part(name, map(line, _newest_first(folders[folder])), words)
    parts += _part(f"## {titles.check}", _checks(pages, words), words)
    return parts or [words["none"]]


def _newest_first(cards: Iterable[Card]) -> list[Card]:
    """By what the pages say of themselves: a file's own time changes without its text."""
    by_path = sorted(cards, key=lambda card: card.path)
    return sorted(by_path, key=lambda card: card.updated or card.created or "", reverse=True)


def _part(title: str, lines: Iterable[str], words: dict[str, str]) -> list[str]:
    """A heading with its lines; nothing without any."""
    items = list(lines)
    if not items:
        return []
    more = [f"- … {words['more'].format(n=len(items) - MOST)}"] * (len(items) > MOST)
    return [*([title, ""] if title else []), *items[:MOST], *more, ""]


def _line(card: Card, language: str) -> str:
    name = card.path.rpartition("/")[2]
    title = one_line(card.title, 80)
    label = "" if _plain(title) == _plain(name) else f" {title}"
    about = f": {one_line(card.description, _ABOUT)}" if card.description else ""
    mark = "" if card.trusted else f" ({outside(language)})"
    return f"- [[{card.path}]]{label}{about}{mark}"


def _plain(name: str) -> str:
    return name.replace("-", " ").casefold()


def _checks(pages: Sequence[Card], words: dict[str, str]) -> Iterator[str]:
    for card in pages:
        said = [one_line(warning, 120) for warning in card.warnings]
        said += [
            words["contradicts"].format(other=one_line(link.target, 80))
            for link in card.links
            if link.relation == "contradicts"
        ]
        said += [words["open"]] * (not _OPEN.isdisjoint(tag.casefold() for tag in card.tags))
        if said:
            yield f"- [[{card.path}]]: {'; '.join(said)}"


def _is(card: Card, names: frozenset[str]) -> bool:
    words = {part.casefold() for part in card.path.split("/")[:-1]}
    return not names.isdisjoint(words | {tag.casefold() for tag in card.tags})
