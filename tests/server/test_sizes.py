"""Answers stay below the size that clients take, whatever notes are made of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.server.worlds import talking, text_of, world

pytestmark = pytest.mark.anyio


async def test_a_note_in_the_middle_of_very_many_links_fits_into_an_answer(tmp_path: Path) -> None:
    folder = "/".join(f"a-folder-with-a-long-name-{'x' * 60}" for _ in range(8))
    names = [f"{folder}/note-{number:03}-{'y' * 150}" for number in range(130)]
    files = {f"wiki/{name}.md": "See [[hub]].\n" for name in names}
    links = "\n".join(f"- [[wiki/{name}]]" for name in names)
    files["wiki/hub.md"] = f"# Hub\n\n{links}\n" + f"\n## {'H' * 190}\n" * 250
    listed = "".join(f"  - {{to: 'wiki/{name}', relation: part_of}}\n" for name in names)
    files["memory/list.md"] = f"---\nlinks:\n{listed}---\n\nA list.\n"
    async with world(tmp_path, files) as place, talking(place) as talk:
        for tool, arguments in (
            ("memory_get", {"reference": "wiki/hub"}),
            ("memory_get", {"reference": "memory/list"}),
            ("memory_link", {"source": "memory/list", "target": "wiki/hub"}),
        ):
            result = await talk.client.call_tool(tool, arguments)
            assert not result.is_error, text_of(result)
            assert len(text_of(result)) <= 80_000
            assert len(json.dumps(result.structured_content, ensure_ascii=False)) <= 80_000
        assert "of 131" in text_of(result)
        hub = await talk.done("memory_get", reference="wiki/hub")
        assert any("of 130 links" in warning for warning in hub["warnings"])
