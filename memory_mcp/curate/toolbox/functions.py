"""The arguments of a model's functions: those of the tools of the same names, as JSON schemas.

A test holds them to the tools, so that one prompt serves a model here and a client's agent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]


def _object(required: tuple[str, ...] = (), **properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(required)}


def _text(description: str, **more: Any) -> Schema:
    return {"type": "string", "description": description, **more}


def _whole(description: str, minimum: int, maximum: int) -> Schema:
    return {
        "type": "integer",
        "minimum": minimum,
        "maximum": maximum,
        "description": description,
    }


_SLUG = _text("name of the note in the inbox: a-z, 0-9, - and _, such as sourdough-notes")
_PAGE = _text("path of the page below the wiki, such as people/alice")
_CONTENT = _text("the whole note in Markdown")
_REVISION = _text("the revision you read: the call is refused if the note changed since")
_PREFIX = _text("start of the path, such as people/ or wiki/people")
_TAG = _text("only notes with this tag or one below it")
_HEADER: Schema = {
    "type": "object",
    "additionalProperties": True,
    "description": "header values, such as title, description, tags, aliases",
}
_SOURCES: Schema = {
    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
    "description": "a source or a list of them, such as memory or wiki",
}
_EDIT: dict[str, Schema] = {
    "content": _text("the new text of the note, or with heading of that section"),
    "old_text": _text("a text that stands in the note exactly once"),
    "new_text": _text("what replaces old_text; empty deletes it"),
    "append": _text("a text to add at the end"),
    "heading": _text("the section to replace by content, without #"),
    "frontmatter": {
        **_HEADER,
        "description": "header values to set; null removes a key; the others stay",
    },
    "if_revision": _REVISION,
}

PARAMETERS: Mapping[str, Schema] = {
    "memory_search": _object(
        ("query",),
        query=_text("a question or keywords, in any language"),
        limit=_whole("how many notes at most", 1, 50),
        min_score={
            "type": "number",
            "minimum": 0,
            "maximum": 1,
            "description": "leave out weaker hits",
        },
        source=_SOURCES,
        path_prefix=_PREFIX,
        tag=_TAG,
    ),
    "memory_get": _object(
        ("reference",),
        reference=_text("such as memory/garden or wiki/people/alice, from a hit or a list"),
        heading=_text("only this section, without #"),
        offset=_whole("where to go on, as the part before said", 0, 10**9),
        max_chars=_whole("characters of text at most", 1, 10**9),
    ),
    "memory_list": _object(
        source=_SOURCES,
        tag=_TAG,
        path_prefix=_PREFIX,
        limit=_whole("how many notes on a page", 1, 1000),
        cursor=_text("the cursor that the page before named"),
    ),
    "memory_write": _object(
        ("slug", "content"),
        slug=_SLUG,
        content=_CONTENT,
        frontmatter=_HEADER,
        if_revision=_REVISION,
        scope=_text("global, or project for the project's own inbox", enum=["global", "project"]),
    ),
    "memory_edit": _object(("slug",), slug=_SLUG, **_EDIT),
    "memory_delete": _object(("slug",), slug=_SLUG, if_revision=_REVISION),
    "memory_link": _object(
        ("source", "target"),
        source=_text("the note that gets the link"),
        target=_text("reference of the note it points to"),
        relation=_text("supersedes, part_of, contradicts, or any other word"),
    ),
    "wiki_create": _object(("path", "content"), path=_PAGE, content=_CONTENT, frontmatter=_HEADER),
    "wiki_edit": _object(("path",), path=_PAGE, **_EDIT),
    "wiki_move": _object(("path", "new_path"), path=_PAGE, new_path=_PAGE),
    "wiki_delete": _object(("path",), path=_PAGE, if_revision=_REVISION),
}
"""By name, in the order in which a model is offered them."""
