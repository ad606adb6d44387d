"""From the bytes of a file to a note: the one place that knows all rules of reading."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from memory_mcp.core.chunk import Facts, passages
from memory_mcp.core.config import ChunkSettings
from memory_mcp.core.decoding import Decoded, decode
from memory_mcp.core.frontmatter import Loaded, Parts, split, split_and_load
from memory_mcp.core.language import detect
from memory_mcp.core.link_places import CONTROL
from memory_mcp.core.links import raw_header_links
from memory_mcp.core.markdown import Outline, normalised, outline
from memory_mcp.core.metadata import LIMIT, Metadata, merged_tags, metadata, subject
from memory_mcp.core.note import Card, Heading, Json, Link, Note, SourceKind
from memory_mcp.core.opening import Opening, first_line_of_content, opening
from memory_mcp.core.plain import clip, one_line
from memory_mcp.core.private import strip
from memory_mcp.core.yaml_writer import inline

_CONTROL = re.compile(rf"[{CONTROL}]")
# Keys whose values a note shows elsewhere, or that say nothing about its subject.
_SHOWN = frozenset(
    ("title", "name", "description", "tags", "tag", "aliases", "alias", "created", "updated")
) | {"pinned", "metadata", "links", "cssclass", "cssclasses"}


def revision_of(data: bytes) -> str:
    """The first 12 hex digits of the SHA-256 of a note's bytes."""
    return hashlib.sha256(data).hexdigest()[:12]


def parse(
    source: str,
    kind: SourceKind,
    path: str,
    data: bytes,
    modified: str,
    chunking: ChunkSettings,
    language: str | None = None,
) -> Note:
    """The note in a file. Never raises on content: what is wrong is a warning on its card.

    `path` is the canonical path without `.md`, `modified` the file's time as ISO text. `language`
    is the code of one that names none in its header; without it the text tells.
    """
    decoded = decode(data)
    stem = clip(one_line(path.rsplit("/", 1)[-1]), LIMIT) or "note"
    if decoded.text is None:
        return _unreadable(source, path, data, modified, stem, decoded)
    clean = _CONTROL.sub("", normalised(strip(decoded.text)))
    parts, loaded = split_and_load(clean)
    meta = metadata(loaded.values)
    seen = outline(parts.body)
    first_line = parts.raw_header_with_fences.count("\n") + 1
    if parts.raw_header_with_fences and not parts.raw_header_with_fences.endswith("\n"):
        first_line += 1
    title = _title(meta, seen, stem)
    begin = opening(seen)
    description = _description(meta, seen, begin, kind)
    card = Card(
        source=source,
        path=path,
        revision=revision_of(data),
        size=len(data),
        title=title,
        description=description,
        name=meta.name,
        tags=merged_tags(meta.tags, seen.tags),
        aliases=meta.aliases,
        created=meta.created,
        updated=meta.updated,
        modified=modified,
        pinned=meta.pinned,
        seed=meta.seed,
        triggers=meta.triggers,
        headings=_headings(seen, first_line),
        links=_links(meta, seen, parts, loaded),
        provenance=meta.provenance,
        language=meta.language or language or _detected(title, meta, seen),
        warnings=_warnings(decoded, loaded, meta),
    )
    found = passages(
        title,
        seen,
        first_line,
        chunking,
        created=meta.created,
        facts=_facts(meta, loaded, parts),
        begin=begin,
    )
    body = parts.body if clean == decoded.text else _body(decoded.text, parts)
    return Note(card, decoded.text, loaded.state, loaded.values, body, found)


def _detected(title: str, meta: Metadata, seen: Outline) -> str:
    return detect(f"{title}\n{meta.description or ''}\n" + "\n".join(seen.lines))


def _body(text: str, parts: Parts) -> str:
    """The text after the header as it is in the file, private parts still in it."""
    return split(text).body if parts.header is not None else text.removeprefix("\ufeff")


def _unreadable(
    source: str, path: str, data: bytes, modified: str, stem: str, decoded: Decoded
) -> Note:
    card = Card(
        source=source,
        path=path,
        revision=revision_of(data),
        size=len(data),
        title=stem,
        description="",
        modified=modified,
        warnings=(decoded.warning or "skipped: the file is not text",),
    )
    return Note(card, "", "none")


def _title(meta: Metadata, seen: Outline, stem: str) -> str:
    if meta.title or meta.name:
        return meta.title or meta.name or stem
    first = next((heading.text for heading in seen.headings if heading.level == 1), "")
    return clip(first, LIMIT) or stem


def _description(meta: Metadata, seen: Outline, begin: Opening, kind: SourceKind) -> str:
    """The header's wins; a vault's body is never direction."""
    if meta.description:
        return clip(meta.description, LIMIT)
    if kind == "vault":
        return ""
    return clip(begin.text or first_line_of_content(seen), LIMIT)


def _headings(seen: Outline, first_line: int) -> tuple[Heading, ...]:
    shift = first_line - 1
    return tuple(
        Heading(heading.level, heading.text, heading.line + shift) for heading in seen.headings
    )


def _links(meta: Metadata, seen: Outline, parts: Parts, loaded: Loaded) -> tuple[Link, ...]:
    header = meta.links
    if loaded.state == "broken" and parts.header is not None:
        header = (*header, *raw_header_links(parts.header))
    return tuple(dict.fromkeys((*header, *seen.links)))


def _warnings(decoded: Decoded, loaded: Loaded, meta: Metadata) -> tuple[str, ...]:
    own = (decoded.warning,) if decoded.warning else ()
    return tuple(dict.fromkeys((*own, *loaded.warnings, *meta.warnings)))


def _facts(meta: Metadata, loaded: Loaded, parts: Parts) -> Facts:
    if parts.header is None or not parts.header.strip():
        return Facts()
    summary = [meta.description or "", *meta.aliases, " ".join(meta.tags)]
    height = parts.header.rstrip("\n").count("\n") + 1
    rest = parts.header.strip("\n") if loaded.state == "broken" else _rest(loaded.values)
    return Facts("; ".join(part for part in summary if part), rest, 2, 1 + height)


def _rest(values: Mapping[str, Json]) -> str:
    """The other keys, one a line, as the reader understands them."""
    lines = []
    below = values.get("metadata")
    kind = {"type": below.get("type")} if isinstance(below, dict) else {}
    for key, value in {**kind, **subject(values)}.items():
        if key not in _SHOWN and value not in (None, "", [], {}):
            text = value if isinstance(value, str) else inline(value)
            lines.append(one_line(text if key == "source" else f"{key}: {text}"))
    return "\n".join(lines)
