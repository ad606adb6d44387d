"""Links to other notes: all forms of Obsidian, Markdown links, and those in the header."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

import regex

from memory_mcp.core.note import Json, Link, LinkKind
from memory_mcp.core.plain import plain

# re of Python before 3.11.5 matches possessive groups wrongly (gh-106052); regex does not.
_WIKILINK = regex.compile(r"(!?)\[\[((?:[^\[\]\n]|\](?!\])|\[(?!\[))++)\]\]")
_MARKDOWN = regex.compile(
    r"(!?)\[((?:[^\[\]]|!?\[[^\[\]]*+\](?:\([^()\s]*+\))?)*+)\]"
    r"\(\s*(<[^<>\n]*>|[^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*+)"
    r"(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*\)"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//|www\.", re.I)
_ENDING = re.compile(r"\.(?=[A-Za-z0-9]*[A-Za-z])[A-Za-z0-9]{1,5}\Z")
_NOTE_ENDING = re.compile(r"\.(?:md|markdown)\Z", re.I)
_ATTACHMENT = re.compile(
    r"\.(?:avif|bmp|gif|jpe?g|png|svg|webp|flac|m4a|mp3|og[gv]|wav|webm|3gp|mkv|mov|mp4|pdf"
    r"|canvas|base)\Z",
    re.I,
)
"""Files that Obsidian shows and that are no notes. No other endings: `[[Node.js]]` is a note."""

_HEADER_KEY = re.compile(r"([^\W\d_][\w -]{0,60}?)[ \t]*:(?:\s|$)")

RELATIONS = frozenset(
    word
    for line in """
    supersedes superseded_by part_of has_part contradicts supports refines extends depends_on
    required_by derived_from follows precedes caused_by causes related related_to relates_to
    see_also see same_as replaces replaced_by blocks blocked_by up down parent parents child
    children next previous prev
    """.splitlines()
    for word in line.split()
)
"""Header keys whose plain texts name notes."""

_NO_LINKS = frozenset(
    ["title", "name", "description", "aliases", "alias", "tags", "tag", "source"]
)


def body_links(text: str) -> Iterator[tuple[int, int, Link | None]]:
    """(start, end, link) for each link in a silenced text; None where it leads to no note."""
    for match, link in _matches(text):
        yield match.start(), match.end(), link


def addressed_links(text: str) -> Iterator[tuple[int, int, Link]]:
    """(start, end, link) of what names the note in each link of a silenced text: all that stands
    between `[[` and `]]`, or the address of a Markdown link, its `<>` included."""
    for match, link in _matches(text):
        if link is not None:
            wiki = match.re is _WIKILINK
            yield match.start(2 if wiki else 3), match.end(2 if wiki else 3), link


def _matches(text: str) -> Iterator[tuple[re.Match[str], Link | None]]:
    if "[" not in text:
        return
    taken = 0
    for match in _wikilinks(text):
        yield match, wikilink(match[2], embed=bool(match[1]))
    if "](" not in text:
        return
    for match in _MARKDOWN.finditer(text):
        if match.start() >= taken:
            taken = match.end()
            yield match, _markdown_link(match)


def wikilink(inner: str, embed: bool = False, relation: str = "links") -> Link | None:
    """The link between `[[` and `]]`; None where it names nothing, or a file that is no note."""
    target, bar, label = inner.replace("\\|", "|").partition("|")
    name, heading, block = _split_target(target)
    if (not name and not heading and not block) or _ATTACHMENT.search(name):
        return None
    kind: LinkKind = "embed" if embed else "wikilink"
    return Link(name, kind, relation, heading, block, label.strip() or None if bar else None)


def target_of(reference: str) -> str:
    """The name in a reference that was copied as a wikilink; any other reference as it is."""
    match = _WIKILINK.fullmatch(reference.strip())
    link = wikilink(match[2]) if match else None
    return link.target if link is not None and link.target else reference


def local_link(address: str, kind: LinkKind = "markdown", label: str | None = None) -> Link | None:
    """The link of a Markdown address to a note of the same folder tree; None for the web, for
    mail, and for files that are no notes."""
    address = address.strip()
    if not address or _SCHEME.match(address):
        return None
    path, mark, fragment = address.partition("#")
    path = unquote(path.partition("?")[0])
    if not path and not mark:
        return None
    if _ENDING.search(path) and not _NOTE_ENDING.search(path):
        return None
    _, heading, block = _split_target("#" + unquote(fragment)) if mark else ("", None, None)
    if not path and heading is None and block is None:
        return None
    return Link(_without_ending(path), kind, "links", heading, block, label)


def header_links(values: Mapping[str, Json]) -> tuple[Link, ...]:
    """The links of a header's values: `links: [{to, relation}]`, relation keys, and wikilinks in
    any value (their relation is the key)."""
    found: dict[Link, None] = {}
    for key, value in values.items():
        name = key.strip().lower().replace("-", "_").replace(" ", "_")
        if name == "links":
            found.update(dict.fromkeys(_listed(value)))
        elif name in RELATIONS:
            found.update(dict.fromkeys(_related(value, name)))
        else:
            relation = "links" if name in _NO_LINKS else name
            found.update(dict.fromkeys(_in_value(value, relation)))
    return tuple(found)


def raw_header_links(header: str) -> tuple[Link, ...]:
    """The wikilinks in the text of a header that is not valid YAML."""
    found: dict[Link, None] = {}
    relation = "links"
    for line in header.split("\n"):
        match = _HEADER_KEY.match(line)
        if match:
            name = match[1].strip().lower().replace("-", "_").replace(" ", "_")
            relation = "links" if name in _NO_LINKS or name == "links" else name
        found.update(dict.fromkeys(_in_text(line, relation)))
    return tuple(found)


def _wikilinks(text: str) -> Iterator[re.Match[str]]:
    return _WIKILINK.finditer(text) if "[[" in text else iter(())


def _markdown_link(match: re.Match[str]) -> Link | None:
    address = match[3]
    if address.startswith("<"):
        address = address[1:-1]
    kind: LinkKind = "embed" if match[1] else "markdown"
    label = plain(match[2][:200]) or None
    return local_link(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", address), kind, label)


def _split_target(text: str) -> tuple[str, str | None, str | None]:
    """(name, heading, block) of `Note#Heading` or `Note#^block`."""
    name, _, rest = text.partition("#")
    rest = rest.strip().strip("#").strip()
    before, caret, block = rest.rpartition("^")
    if caret and not before.strip("# "):
        return _without_ending(name.strip()), None, block.strip() or None
    return _without_ending(name.strip()), rest or None, None


def _without_ending(name: str) -> str:
    return _NOTE_ENDING.sub("", name)


def _listed(value: Json) -> Iterator[Link]:
    """`links:` as a list of {to, relation}, of texts, or one of them."""
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict):
            relation = item.get("relation") or item.get("type") or "related"
            target = item.get("to") or item.get("target")
            if isinstance(target, str) and isinstance(relation, str):
                yield from _targets(target, relation.strip() or "related")
        elif isinstance(item, str):
            yield from _targets(item, "related")
        elif isinstance(item, list):
            yield from _listed(item)


def _related(value: Json, relation: str) -> Iterator[Link]:
    if isinstance(value, str):
        yield from _targets(value, relation)
    elif isinstance(value, list):
        for item in value:
            yield from _related(item, relation)
    elif isinstance(value, dict):
        yield from _listed(value)


def _targets(text: str, relation: str) -> Iterator[Link]:
    """The note that a text names: by links in it, else by itself."""
    linked = list(_in_text(text, relation))
    if linked:
        for link in linked:
            yield Link(link.target, "relation", relation, link.heading, link.block, link.label)
        return
    named = named_note(text, relation)
    if named is not None:
        yield named


def named_note(text: str, relation: str = "related") -> Link | None:
    """The link of a text that is the name of a note as a whole; None where it can be none."""
    name = text.strip()
    if not name or len(name) > 500 or "\n" in name or _SCHEME.match(name):
        return None
    target, heading, block = _split_target(name)
    return Link(target, "relation", relation, heading, block) if target else None


def _in_value(value: Json, relation: str) -> Iterator[Link]:
    if isinstance(value, str):
        yield from _in_text(value, relation)
    elif isinstance(value, list):
        for item in value:
            yield from _in_value(item, relation)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _in_text(key, relation)
            yield from _in_value(item, relation)


def _in_text(text: str, relation: str) -> Iterator[Link]:
    for match in _wikilinks(text):
        link = wikilink(match[2], embed=bool(match[1]), relation=relation)
        if link is not None:
            yield link
    if "](" in text:
        for match in _MARKDOWN.finditer(text):
            link = _markdown_link(match)
            if link is not None:
                yield Link(link.target, link.kind, relation, link.heading, link.block, link.label)
