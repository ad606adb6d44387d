"""Reading the knowledge graph of the reference memory server: entities, observations, relations.

JSONL, one entity or relation a line, or one JSON object as its tool `read_graph` prints it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from memory_mcp.core.note import Json
from memory_mcp.core.plain import clip, one_line
from memory_mcp.core.slug import shown, slug_from
from memory_mcp.core.wording import Wording
from memory_mcp.curate.importing.item import Item, Left, Reading

_MAX_TITLE = 200
_KINDS = {
    "people": """person people human user individual contact family team group company organization
        organisation client customer friend colleague""",
    "places": "place location city country region building house room office site venue",
}
"""Folder of the wiki → types of entities that belong there; all others are threads."""


@dataclass(slots=True)
class _Entity:
    """What all lines of one name say together."""

    name: str
    kinds: dict[str, None] = field(default_factory=dict)
    observations: dict[str, None] = field(default_factory=dict)
    relations: dict[tuple[str, str], None] = field(default_factory=dict)


def read_graph(text: str, words: Wording) -> Reading:
    """One note for each entity, with its observations as a list. A relation to another entity is
    a link; to a name that is none, a line of its own. Never raises: what cannot be read is left
    with the number of its line."""
    left: list[Left] = []
    found: dict[str, _Entity] = {}
    relations: list[tuple[str, Mapping[str, Any]]] = []
    for where, value in _records(text, left):
        if _is_entity(value):
            _add(found, value, where, left)
        elif _is_relation(value):
            relations.append((where, value))
        else:
            left.append(Left(where, f"it is neither entity nor relation: {_short(value)}"))
    for where, value in relations:
        entity = found.get(value["from"])
        if entity is None:
            said = " ".join(value[key] for key in ("from", "relationType", "to"))
            left.append(Left(where, f"no entity has the name it starts from: {shown(said, 120)}"))
        else:
            entity.relations[value["relationType"], value["to"]] = None
    items = tuple(_item(entity, found, words) for entity in found.values())
    return Reading("mcp-memory", "mcp-memory", items, tuple(left))


def _records(text: str, left: list[Left]) -> Iterator[tuple[str, Any]]:
    whole = _parsed(text)
    if isinstance(whole, dict) and isinstance(whole.get("entities"), list):
        relations = whole.get("relations")
        for name, values in (
            ("entity", whole["entities"]),
            ("relation", relations if isinstance(relations, list) else []),
        ):
            for number, value in enumerate(values, 1):
                kept = {**value, "type": name} if isinstance(value, dict) else value
                yield f"{name} {number}", kept
        return
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        value = _parsed(line)
        if value is None:
            left.append(Left(f"line {number}", f"it is no JSON: {shown(line.strip(), 80)}"))
        else:
            yield f"line {number}", value


def _parsed(text: str) -> Any:
    try:
        return _clean(json.loads(text.removeprefix("\ufeff")))
    except (ValueError, RecursionError):
        return None


def _clean(value: Any) -> Any:
    """The value with texts that can be written: half letters replaced, NUL left out."""
    if isinstance(value, str):
        whole = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return whole.replace("\0", "")
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    return value


def _is_entity(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.get("type", "entity") == "entity"
        and isinstance(value.get("name"), str)
        and bool(one_line(value["name"]))
    )


def _is_relation(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.get("type", "relation") == "relation"
        and all(
            isinstance(value.get(key), str) and value[key].strip()
            for key in ("from", "to", "relationType")
        )
    )


def _add(
    found: dict[str, _Entity], value: Mapping[str, Any], where: str, left: list[Left]
) -> None:
    name = value["name"]
    entity = found.setdefault(name, _Entity(name))
    kind = value.get("entityType")
    if isinstance(kind, str) and one_line(kind):
        entity.kinds[one_line(kind)] = None
    observations = value.get("observations", [])
    for item in observations if isinstance(observations, list) else [observations]:
        said = item.get("content") if isinstance(item, dict) else item
        if isinstance(said, str) and said.strip():
            entity.observations[said.strip()] = None
        elif not isinstance(said, str):
            left.append(Left(where, f"an observation of {shown(name)} is no text: {_short(item)}"))


def _item(entity: _Entity, known: Mapping[str, _Entity], words: Wording) -> Item:
    title = clip(one_line(entity.name), _MAX_TITLE)
    lines = [_bullet(text) for text in entity.observations]
    links = []
    remarks = []
    for relation, target in entity.relations:
        if target in known and target != entity.name and len(one_line(relation)) <= 60:
            links.append((target, one_line(relation)))
        else:
            lines.append(_bullet(f"{relation} {target}"))
            remarks.append(f"the relation {shown(relation)} to {shown(target)} is a line of text")
    body = f"# {title}\n"
    if lines:
        body += f"\n## {words.observations}\n\n" + "\n".join(lines) + "\n"
    header: dict[str, Json] = {"title": title}
    if entity.kinds:
        header["tags"] = [kind.replace(" ", "-") for kind in entity.kinds]
    path = f"{_folder(entity.kinds)}/{slug_from(entity.name)}"
    return Item(entity.name, path, body, header=header, links=tuple(links), remarks=tuple(remarks))


def _bullet(text: str) -> str:
    """A list item; further lines stand indented below it, so that nothing ends the list."""
    return "- " + "\n  ".join(text.splitlines())


def _folder(kinds: Iterable[str]) -> str:
    own = {kind.lower() for kind in kinds}
    return next((name for name, words in _KINDS.items() if own & {*words.split()}), "threads")


def _short(value: Any) -> str:
    return shown(json.dumps(value, ensure_ascii=False), 80)
