"""What the tools that change notes answer, from what was done."""

from __future__ import annotations

from collections.abc import Sequence

import mcp_types as t

from memory_mcp.curate.write.results import DeleteResult, EditResult, LinkResult, WriteResult
from memory_mcp.server.answers import Answer
from memory_mcp.server.convert import fitting, shorts
from memory_mcp.server.text import delete_text, edit_text, link_text, write_text
from memory_mcp.server.text_curation import moved_text
from memory_mcp.server.wire import (
    DeleteOut,
    EditOut,
    LinkedOut,
    RelationOut,
    SimilarOut,
    WriteOut,
)
from memory_mcp.server.wire_curation import MovedOut

_LINKS = 30_000
"""Characters of the links in an answer, as JSON; a header with more has hundreds."""


def wrote(done: WriteResult) -> t.CallToolResult:
    """The answer of memory_write."""
    out = WriteOut(
        reference=done.reference,
        revision=done.revision,
        created=done.created,
        replaced_revision=done.replaced_revision,
        similar=[SimilarOut(reference=item.reference, score=item.score) for item in done.similar],
        warnings=shorts(done.warnings),
    )
    return Answer(out, write_text(out)).result()


def edited(done: EditResult) -> t.CallToolResult:
    """The answer of memory_edit."""
    out = EditOut(
        reference=done.reference,
        revision=done.revision,
        replaced_revision=done.replaced_revision,
        warnings=shorts(done.warnings),
    )
    return Answer(out, edit_text(out)).result()


def deleted(done: DeleteResult) -> t.CallToolResult:
    """The answer of memory_delete."""
    out = DeleteOut(reference=done.reference, deleted=done.deleted, revision=done.revision)
    return Answer(out, delete_text(out)).result()


def linked(done: LinkResult) -> t.CallToolResult:
    """The answer of memory_link."""
    links = [RelationOut(to=link.target, relation=link.relation) for link in done.links]
    latest = fitting(links[::-1], _LINKS)[::-1]
    out = LinkedOut(reference=done.reference, revision=done.revision, links=latest)
    return Answer(out, link_text(out, len(links))).result()


def moved(
    reference: str, old: str, relinked: Sequence[str], warnings: Sequence[str]
) -> t.CallToolResult:
    """The answer of wiki_move."""
    out = MovedOut(
        reference=reference,
        old_reference=old,
        relinked=shorts(relinked),
        warnings=shorts(warnings),
    )
    return Answer(out, moved_text(out)).result()
