"""The worst notes that can be made, against the size that clients take."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mcp_types as t
import pytest

from tests.server.worlds import Talk, talking, text_of, world

pytestmark = pytest.mark.anyio

LIMIT = 80_000


def quoted(text: str) -> str:
    """A YAML scalar."""
    return json.dumps(text)


def header(**values: Any) -> str:
    """A header of JSON values, which are YAML too."""
    return (
        "---\n"
        + "".join(f"{key}: {json.dumps(value)}\n" for key, value in values.items())
        + "---\n"
    )


def worst() -> Iterator[tuple[str, str]]:
    """Name and text of notes that are made to be too much."""
    signs = '"\\' * 100
    yield (
        "signs",
        header(title=signs * 20, description=signs, tags=[f"{n}{signs}" for n in range(90)]) + "x",
    )
    controls = "".join(f"\\u{number:04x}" for number in (1, 2, 0x1F, 0x7F)) * 30
    tags = ", ".join(f'"{number}{controls}"' for number in range(90))
    yield "controls", f'---\ntitle: "{controls}"\ntags: [{tags}]\n---\n' + "\x01\x02" * 60_000
    yield "links", "".join(f'[[target {n}"]] [[links]]' for n in range(10_000))
    yield "headings", "".join(f"## {n} {signs}\n" for n in range(5000))
    yield "frames", "<MEMORY[x]>" * 10_000
    yield "marks", "<private>x</private>" * 20_000
    yield "one-letter", "e" + "\u0301" * 200_000
    yield "family", "👩‍👩‍👧‍👦" * 12_000
    yield "keys", header(**{f"key{n}": "v" * 50 for n in range(3000)}) + "x"
    yield "nested", header(deep=json.loads("[" * 90 + "]" * 90)) + "x"
    yield (
        "warned",
        header(tags=5, aliases={}, created="x" * 5000, links="y" * 5000, pinned=signs) + "x",
    )
    source = {"url": signs * 50, "kind": signs * 50, "by": signs * 50, "at": signs * 50}
    yield "origin", header(source=source, confidence=signs * 50) + "x"
    relations = [{"to": f"memory/{signs}{n}", "relation": signs} for n in range(200)]
    yield "relations", header(links=relations, supersedes=[signs] * 50) + "x"
    yield "one-line", "lorem " * 20_000
    yield "list", "- [ ] \n" * 10_000


def fits(result: Any) -> None:
    """Both forms are short enough."""
    assert not result.is_error, text_of(result)
    assert len(text_of(result)) <= LIMIT
    assert len(json.dumps(result.structured_content, ensure_ascii=False)) <= LIMIT


async def read_through(talk: Talk, reference: str, parts: int = 2) -> None:
    """Read a note from its start, and its end."""
    offset, total = 0, 0
    for _ in range(parts):
        result = await talk.client.call_tool(
            "memory_get", {"reference": reference, "offset": offset}
        )
        fits(result)
        page = result.structured_content
        total = page["total"]
        assert page["content"] or not total
        if page["next_offset"] is None:
            return
        offset = page["next_offset"]
    fits(await talk.client.call_tool("memory_get", {"reference": reference, "offset": total - 1}))


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_the_worst_notes_fit_into_answers(tmp_path: Path) -> None:
    notes = dict(worst())
    files = {f"memory/{slug}.md": text for slug, text in notes.items()}
    async with world(tmp_path, files, start=False) as place, talking(place) as talk:
        place.app.start()
        assert await place.app.index.settled(90)
        for slug in notes:
            await read_through(talk, f"memory/{slug}")
        async with talking(place, "legacy") as older:
            for slug in notes:
                await read_through(older, f"memory/{slug}", 1)
        for arguments in ({}, {"limit": 1}, {"limit": 1000, "source": "all"}):
            fits(await talk.client.call_tool("memory_list", arguments))
        for query in (
            "x",
            "target",
            "lorem",
            "v" * 50,
            "private memory",
            "\x01",
            '"\\',
            "y" * 50_000,
        ):
            for limit in (1, 50):
                fits(
                    await talk.client.call_tool("memory_search", {"query": query, "limit": limit})
                )
        for slug in ("links", "relations", "signs"):
            link = {"source": slug, "target": "memory/one-line", "relation": "part_of"}
            fits(await talk.client.call_tool("memory_link", link))
        for uri in ("memories://note/memory/links", "memories://index"):
            (contents,) = (await talk.client.read_resource(uri)).contents
            assert isinstance(contents, t.TextResourceContents)
            assert len(contents.text) <= LIMIT
        listed = await talk.client.list_resources()
        assert len(listed.model_dump_json()) <= 1_000_000


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("size", [1_000_000, 16_000_000])
async def test_a_title_of_many_megabytes_is_a_short_title(tmp_path: Path, size: int) -> None:
    files = {
        "memory/head.md": "# " + "Title " * (size // 6) + "\n\nText of head.\n",
        "memory/key.md": f"---\ntitle: {'t' * size}\n---\nText of key.\n",
    }
    async with world(tmp_path, files, start=False) as place, talking(place) as talk:
        place.app.start()
        assert await place.app.index.settled(90)
        for slug in ("head", "key"):
            fits(await talk.client.call_tool("memory_get", {"reference": f"memory/{slug}"}))
        fits(await talk.client.call_tool("memory_list", {}))
        fits(await talk.client.call_tool("memory_search", {"query": "title text", "limit": 50}))


async def test_an_error_of_a_giant_argument_is_short(tmp_path: Path) -> None:
    giant = "y" * 2_100_000
    async with world(tmp_path, {"memory/a.md": "A.\n"}) as place, talking(place) as talk:
        for tool, arguments in (
            ("memory_get", {"reference": giant}),
            ("memory_get", {"reference": "memory/a", "heading": giant}),
            ("memory_list", {"source": giant}),
            ("memory_list", {"cursor": giant}),
            ("memory_search", {"query": "a", "source": [giant] * 3}),
            ("memory_write", {"slug": giant, "content": "x"}),
            ("memory_write", {"slug": "b", "content": giant}),
            ("memory_edit", {"slug": "a", "old_text": giant, "new_text": "x"}),
            ("memory_edit", {"slug": "a", "heading": giant, "content": "x"}),
            ("memory_edit", {"slug": "a", "append": "x", "if_revision": giant}),
            ("memory_edit", {"slug": "a", "frontmatter": {giant: 1}}),
            ("memory_link", {"source": "a", "target": giant}),
            ("memory_link", {"source": "a", "target": "memory/a", "relation": giant}),
            ("memory_jobs", {"job_id": giant}),
            ("memory_save", {"content": "x", "source_url": giant}),
            (giant, {}),
        ):
            assert len(await talk.refused(tool, **arguments)) <= 8_000, (
                tool[:20],
                list(arguments),
            )
