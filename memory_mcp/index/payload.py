"""What a point on a Qdrant server says of itself, and filters by it.

Many collections slow a server down, and each source of a home would be one; the documentation of
Qdrant advises a payload field with a tenant index instead. So a home has a collection (or one for
its vectors and one for its words), and the field is the source.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from memory_mcp.core.note import Labels
from memory_mcp.index.chosen import Chosen

if TYPE_CHECKING:
    from qdrant_client import QdrantClient, models

SOURCE, FOLDERS, TAGS = "source", "folders", "tags"
MANY_IDS = 1000
"""Ids that a filter hands over; more are told by the rule that chose them."""


def described(source_id: str, labels: Labels) -> dict[str, Any]:
    """The payload of a passage."""
    return {SOURCE: source_id, FOLDERS: list(labels.folders), TAGS: list(labels.tags)}


def has_rule(allowed: Collection[int] | None) -> bool:
    """Whether a filter is told by its rule: then the hits are to be compared with it."""
    return isinstance(allowed, Chosen) and len(allowed) > MANY_IDS


def within(
    source_id: str, allowed: Collection[int] | None = None, *, by_id: bool = False
) -> models.Filter:
    """Passages of a source: all, or those `allowed`, by their rule where there are many of them
    and not `by_id`."""
    from qdrant_client import models

    must: list[Any] = [_is(SOURCE, [source_id])]
    if isinstance(allowed, Chosen) and has_rule(allowed) and not by_id:
        rule = allowed.rule
        must += [_is(FOLDERS, rule.folders)] if rule.folders else []
        must += [_is(TAGS, [rule.tag])] if rule.tag else []
    elif allowed is not None:
        must.append(models.HasIdCondition(has_id=list(allowed)))
    return models.Filter(must=must)


def _is(field: str, values: Collection[str]) -> models.FieldCondition:
    from qdrant_client import models

    return models.FieldCondition(key=field, match=models.MatchAny(any=list(values)))


def make_indexes(client: QdrantClient, name: str) -> None:
    """Index what filters look at; to ask for an index again changes nothing."""
    from qdrant_client import models

    keyword = models.KeywordIndexType.KEYWORD
    tenant = models.KeywordIndexParams(type=keyword, is_tenant=True)
    client.create_payload_index(name, SOURCE, tenant)
    for field in (FOLDERS, TAGS):
        client.create_payload_index(name, field, models.KeywordIndexParams(type=keyword))
