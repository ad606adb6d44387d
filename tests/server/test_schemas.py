"""What `tools/list` tells a client, pinned: names, types, ranges, defaults, annotations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mcp_types as t
import pytest

from tests.server.worlds import MODES, talking, world

pytestmark = pytest.mark.anyio

ARGUMENTS: dict[str, dict[str, str]] = {
    "memory_search": {
        "query": "string!",
        "limit": "integer 1..50 =5",
        "min_score": "number 0..1 =0",
        "source": "string|array|null =None",
        "path_prefix": "string|null =None",
        "tag": "string|null =None",
    },
    "memory_get": {
        "reference": "string!",
        "heading": "string|null =None",
        "offset": "integer|null 0..1000000000 =None",
        "max_chars": "integer|null 1..1000000000 =None",
    },
    "memory_list": {
        "source": "string|array =memory",
        "tag": "string|null =None",
        "path_prefix": "string|null =None",
        "limit": "integer 1..1000 =100",
        "cursor": "string|null =None",
    },
    "memory_recall": {
        "message": "string!",
        "history": "array|null =None",
        "max_tokens": "integer|null 1..1000000 =None",
    },
    "memory_write": {
        "slug": "string!",
        "content": "string!",
        "frontmatter": "object|null =None",
        "if_revision": "string|null =None",
        "scope": "string|null =None",
    },
    "memory_edit": {
        "slug": "string!",
        "content": "string|null =None",
        "old_text": "string|null =None",
        "new_text": "string|null =None",
        "append": "string|null =None",
        "heading": "string|null =None",
        "frontmatter": "object|null =None",
        "if_revision": "string|null =None",
    },
    "memory_delete": {"slug": "string!", "if_revision": "string|null =None"},
    "memory_link": {"source": "string!", "target": "string!", "relation": "string =related"},
    "memory_save": {
        "content": "string!",
        "context": "string|null =None",
        "source_url": "string|null =None",
        "scope": "string|null =None",
    },
    "memory_jobs": {"job_id": "string|null =None"},
}

RESULTS: dict[str, list[str]] = {
    "memory_search": ["notice", "hits", "degraded", "pending", "total"],
    "memory_get": [
        *("notice", "reference", "source", "path", "title", "content", "frontmatter", "revision"),
        *("created", "updated", "tags", "headings", "links", "backlinks", "provenance"),
        *("truncated", "next_offset", "total", "warnings"),
    ],
    "memory_list": ["notice", "notes", "total", "next_cursor"],
    "memory_recall": ["notice", "block", "hits", "triggered", "query", "left_out", "degraded"],
    "memory_write": [
        *("reference", "revision", "created", "replaced_revision", "similar", "warnings"),
    ],
    "memory_edit": ["reference", "revision", "replaced_revision", "warnings"],
    "memory_delete": ["reference", "deleted", "revision"],
    "memory_link": ["reference", "revision", "links"],
    "memory_save": ["job_id", "status"],
    "memory_jobs": ["jobs", "total"],
}

# read-only, destructive, idempotent
HINTS: dict[str, tuple[bool, bool, bool]] = {
    "memory_search": (True, False, True),
    "memory_get": (True, False, True),
    "memory_list": (True, False, True),
    "memory_recall": (True, False, True),
    "memory_write": (False, True, True),
    "memory_edit": (False, True, False),
    "memory_delete": (False, True, True),
    "memory_link": (False, False, True),
    "memory_save": (False, False, False),
    "memory_jobs": (True, False, True),
}


def described(name: str, schema: dict[str, Any]) -> str:
    """One argument in a few words; `!` stands for required."""
    part = schema["properties"][name]
    kinds = part.get("anyOf", [part])
    text = "|".join(kind["type"] for kind in kinds)
    if "minimum" in kinds[0]:
        text += f" {kinds[0]['minimum']}..{kinds[0]['maximum']}"
    return text + ("!" if name in schema.get("required", []) else f" ={part['default']}")


@pytest.mark.parametrize("mode", MODES)
async def test_the_tools_are_those_of_the_contract(tmp_path: Path, mode: str) -> None:
    async with world(tmp_path) as place, talking(place, mode) as talk:
        tools = {tool.name: tool for tool in (await talk.client.list_tools()).tools}
    assert list(tools) == list(ARGUMENTS)
    for name, tool in tools.items():
        schema = tool.input_schema
        assert {key: described(key, schema) for key in schema["properties"]} == ARGUMENTS[name]
        assert tool.output_schema is not None
        assert list(tool.output_schema["properties"]) == RESULTS[name]


async def test_every_tool_says_what_it_does_to_the_world(tmp_path: Path) -> None:
    async with world(tmp_path) as place, talking(place) as talk:
        for tool in (await talk.client.list_tools()).tools:
            hints = tool.annotations
            assert isinstance(hints, t.ToolAnnotations)
            told = (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint)
            assert told == HINTS[tool.name]
            assert hints.open_world_hint is False
            assert tool.title
            assert tool.description
            assert len(tool.description) < 600
            assert "\n    " not in tool.description
            for part in tool.input_schema["properties"].values():
                assert part["description"]


@pytest.mark.parametrize("mode", MODES)
async def test_the_handshake_names_the_server_and_says_how_to_use_it(
    tmp_path: Path, mode: str
) -> None:
    async with world(tmp_path) as place, talking(place, mode) as talk:
        client = talk.client
        assert client.server_info is not None
        assert client.server_info.name == "memory-mcp"
        assert client.server_info.version
        assert client.instructions is not None
        assert len(client.instructions) < 3500
        assert client.instructions.index("memory_search") < 600
        capabilities = client.server_capabilities
        assert capabilities.resources is not None
        assert capabilities.resources.subscribe
        assert capabilities.resources.list_changed
        assert capabilities.tools is not None and capabilities.tools.list_changed
        assert capabilities.prompts is not None and capabilities.prompts.list_changed
        assert capabilities.completions is not None
