"""The list of links in a note's header."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memory_mcp.core import frontmatter
from memory_mcp.core.errors import InputError, MemoryMcpError
from memory_mcp.core.note import Json
from memory_mcp.core.slug import shown
from memory_mcp.curate.write.results import Relation
from memory_mcp.index.view import NamesView

DEFAULT = "related"
_MAX_RELATION = 60


def linked(text: str, target: str, relation: str, now: str, known: Mapping[str, str]) -> str:
    """The text with `{to: target, relation}` in `links`; the same text where it is there already.

    `target` is a canonical reference, `known` what `canonical` gave for this note. Raises
    InputError for a relation that is no short line or links in an odd form, RefusedError for a
    broken header.
    """
    wanted = Relation(target, _checked(relation))
    links = frontmatter.split_and_load(text)[1].values.get("links")
    if links is not None and not isinstance(links, list):
        raise InputError(
            "links in this note's header is no list of {to, relation}; correct it first with"
            " memory_edit(frontmatter={links: …})."
        )
    there = list(links or [])
    meant = {Relation(known.get(item.target, item.target), item.relation) for item in _read(there)}
    if wanted in meant:
        return text
    entry: Json = {"to": target, "relation": wanted.relation}
    return frontmatter.change(text, {"links": [*there, entry], "updated": now})


def canonical(names: NamesView, text: str) -> dict[str, str]:
    """For each link in a note's header, as written, the reference that it means."""
    return {item.target: _canonical(names, item.target) for item in relations(text)}


def relations(text: str) -> tuple[Relation, ...]:
    """The links in a note's header, as written."""
    links = frontmatter.split_and_load(text)[1].values.get("links")
    return tuple(_read(links if isinstance(links, list) else []))


def _read(links: list[Json]) -> Iterator[Relation]:
    for item in links:
        if isinstance(item, str):
            yield Relation(item, DEFAULT)
        elif isinstance(item, dict) and isinstance(target := item.get("to"), str):
            relation = item.get("relation")
            yield Relation(target, relation if isinstance(relation, str) else DEFAULT)


def _canonical(names: NamesView, target: str) -> str:
    """The reference that a written target means; as written where it means none."""
    bare = target.strip().removeprefix("[[").removesuffix("]]")
    try:
        source, path = names.resolve(bare)
    except MemoryMcpError:
        return target
    return names.reference(source.id, path)


def _checked(relation: str) -> str:
    word = " ".join(relation.split())
    if not word or len(word) > _MAX_RELATION or not word.isprintable():
        raise InputError(
            f"relation {shown(relation)} is no short word such as related, supersedes or part_of"
            f" (at most {_MAX_RELATION} characters)."
        )
    return word
