"""Names of wiki pages: which belong to curation itself, and which mean a page that is there."""

from __future__ import annotations

import re
from collections.abc import Iterable

from memory_mcp.core.errors import RefusedError
from memory_mcp.core.note import Card
from memory_mcp.core.slug import check_slug, shown
from memory_mcp.core.words import terms
from memory_mcp.search.rules import is_log

INDEX = "index"
"""The page that is built anew from the others."""

GUIDE = "readme"
"""The page of a folder that says what belongs there."""

LOGS = "logs"
"""The folder of what curation did, a page for each month."""

DEPTH = 4
"""Parts of a page's path; deeper folders are a filing system that nobody keeps up."""

_APART = re.compile(r"[\W_]+")


def is_own(path: str) -> bool:
    """Whether a page is a chronicle or the index: what is written there is not what pages say."""
    guide = path.casefold().rpartition("/")[2] == GUIDE
    return guide or path.casefold() == INDEX or is_log(path)


def check_new_page(path: str, cards: Iterable[Card]) -> None:
    """Raise RefusedError for a page that may not be made: there is one of that name, title or
    alias, or a folder that means the same, or it is no plain path. `cards`: those of the wiki."""
    if is_own(path):
        raise RefusedError(f"wiki/{path} is written by curation itself; take another path.")
    *folders, stem = path.split("/")
    if len(folders) >= DEPTH:
        raise RefusedError(f"wiki/{path} lies too deep; use at most {DEPTH} parts.")
    pages = [card for card in cards if not is_own(card.path)]
    known = {part for card in pages for part in _folders(card.path)}
    for number in range(1, len(folders) + 1):
        _check_folder("/".join(folders[:number]), known)
    check_slug(stem)
    near = same_name(stem.replace("-", " "), pages)
    if near is not None:
        raise RefusedError(
            f"{near.reference} ({shown(near.title)}) has that name already: change that page"
            " instead of making a second one."
        )


def same_name(name: str, cards: Iterable[Card]) -> Card | None:
    """The page of which a name says the same words as this, in whatever order and form."""
    wanted = _key(name)
    if not wanted:
        return None
    return next((card for card in cards if wanted in map(_key, _names(card))), None)


def _check_folder(folder: str, known: set[str]) -> None:
    if folder in known:
        return
    check_slug(folder.rsplit("/", 1)[-1])
    parent = folder.rpartition("/")[0]
    for other in sorted(known):
        if other.rpartition("/")[0] == parent and _key(other) == _key(folder):
            raise RefusedError(
                f"The folder {shown(folder)} would stand beside {shown(other)}; use that one."
            )


def _folders(path: str) -> Iterable[str]:
    parts = path.split("/")[:-1]
    return ("/".join(parts[:number]) for number in range(1, len(parts) + 1))


def _names(card: Card) -> Iterable[str]:
    yield card.path.rpartition("/")[2]
    yield card.title
    yield from card.aliases
    if card.name:
        yield card.name


def _key(name: str) -> frozenset[str]:
    text = _APART.sub(" ", name.casefold())
    return frozenset(form for code in ("en", "de") for form in terms(text, code))
