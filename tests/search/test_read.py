"""Reading and listing notes."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_mcp.core.errors import AmbiguousError, InputError, NotFoundError
from memory_mcp.search.read import MAX_CHARS
from tests.search.world import searching

pytestmark = pytest.mark.anyio

PLAN = """---
title: Garden plan
created: 2025-04-01
tags: [garden]
links:
  - {to: vault/Tools/Spade, relation: uses}
---
# Garden plan

See [[Spade]] and [[nowhere]].

## Beds

Three beds. <PRIVATE>The hidden
treasure.</private> Roses.

## Paths

Gravel.
"""
HOME = {
    "memory/plan": PLAN,
    "vault/Tools/Spade": "A spade. Belongs to [[plan]].\n",
    "vault/Tools/Index": "Tools.\n",
    "vault/Books/Index": "Books.\n",
}


async def test_a_note_is_shown_verbatim_without_its_private_parts(tmp_path: Path) -> None:
    async with searching(tmp_path, HOME) as home:
        reading = await home.reader.get("memory/plan")
        hidden = "<PRIVATE>The hidden\ntreasure.</private>"
        assert reading.content == PLAN.replace(hidden, "<private id=1/>")
        assert reading.total == len(reading.content)
        assert reading.complete and not reading.truncated and reading.next_offset is None
        assert reading.title == "Garden plan"
        assert reading.created == "2025-04-01"
        assert reading.updated
        assert reading.tags == ("garden",)
        assert [heading.text for heading in reading.headings] == ["Garden plan", "Beds", "Paths"]


async def test_links_lead_to_references_and_back(tmp_path: Path) -> None:
    async with searching(tmp_path, HOME) as home:
        reading = await home.reader.get("plan")
        known = {(link.target, link.reference, link.relation) for link in reading.links}
        assert ("Spade", "vault/Tools/Spade", "links") in known
        assert ("nowhere", None, "links") in known
        assert ("vault/Tools/Spade", "vault/Tools/Spade", "uses") in known
        assert [link.reference for link in reading.backlinks] == ["vault/Tools/Spade"]


async def test_a_section_after_a_private_part_is_cut_at_its_own_lines(tmp_path: Path) -> None:
    async with searching(tmp_path, HOME) as home:
        beds = await home.reader.get("memory/plan", heading="Beds")
        paths = await home.reader.get("memory/plan", heading="Garden plan > Paths")
        assert beds.content == "## Beds\n\nThree beds. <private id=1/> Roses.\n\n"
        assert paths.content == "## Paths\n\nGravel.\n"
        assert not beds.complete


async def test_a_missing_heading_lists_the_headings(tmp_path: Path) -> None:
    async with searching(tmp_path, HOME) as home:
        with pytest.raises(NotFoundError, match="Garden plan > Beds"):
            await home.reader.get("memory/plan", heading="Fences")


async def test_a_missing_note_names_near_ones_or_how_to_look(tmp_path: Path) -> None:
    async with searching(tmp_path, HOME) as home:
        with pytest.raises(NotFoundError, match="memory/plan"):
            await home.reader.get("memory/plans")
        with pytest.raises(NotFoundError, match="memory_search"):
            await home.reader.get("memory/zzzzzz")


async def test_a_reference_that_fits_two_notes_lists_both(tmp_path: Path) -> None:
    async with searching(tmp_path, HOME) as home:
        with pytest.raises(AmbiguousError, match=r"vault/Books/Index, vault/Tools/Index"):
            await home.reader.get("Index")
        assert (await home.reader.get("Books/Index")).content == "Books.\n"


async def test_the_text_on_disk_counts_even_where_the_index_is_behind(tmp_path: Path) -> None:
    async with searching(tmp_path, HOME) as home:
        home.world.write("memory/plan", "Changed a moment ago.\n")
        home.world.write("memory/fresh", "Not indexed yet.\n")
        assert (await home.reader.get("memory/plan")).content == "Changed a moment ago.\n"
        assert (await home.reader.get("memory/fresh.md")).content == "Not indexed yet.\n"


async def test_a_long_note_is_read_page_by_page_without_gaps_or_doubles(tmp_path: Path) -> None:
    text = "".join(f"Line {n}: käse und brot \U0001f469\u200d\U0001f33e.\n" for n in range(6000))
    async with searching(tmp_path, {}) as home:
        home.world.write("memory/long", text)
        parts: list[str] = []
        offset: int | None = 0
        while offset is not None:
            page = await home.reader.get("memory/long", offset=offset)
            assert len(page.content) <= MAX_CHARS
            assert page.total == len(text)
            assert not page.complete
            assert page.truncated == (page.next_offset is not None)
            parts.append(page.content)
            offset = page.next_offset
        assert "".join(parts) == text
        assert len(parts) > 3


async def test_offsets_count_within_a_section(tmp_path: Path) -> None:
    async with searching(tmp_path, HOME) as home:
        first = await home.reader.get("memory/plan", heading="Beds", max_chars=12)
        assert first.next_offset is not None
        rest = await home.reader.get("memory/plan", heading="Beds", offset=first.next_offset)
        whole = await home.reader.get("memory/plan", heading="Beds")
        assert first.content + rest.content == whole.content
        assert first.total == whole.total == len(whole.content)


@pytest.mark.parametrize(("offset", "limit"), [(-1, None), (10_000, None), (0, 0), (0, -5)])
async def test_places_out_of_the_text_are_errors(
    tmp_path: Path, offset: int, limit: int | None
) -> None:
    async with searching(tmp_path, HOME) as home:
        with pytest.raises(InputError):
            await home.reader.get("memory/plan", offset=offset, max_chars=limit)


@pytest.mark.parametrize("reference", ["../x", "/etc/passwd", "memory/../../x", "memory/a\0b", ""])
async def test_a_reference_that_leads_out_is_refused(tmp_path: Path, reference: str) -> None:
    async with searching(tmp_path, HOME) as home:
        with pytest.raises((InputError, NotFoundError)):
            await home.reader.get(reference)


async def test_a_link_to_a_file_outside_is_not_read(tmp_path: Path) -> None:
    outside = tmp_path / "secret.md"
    outside.write_text("secret\n", encoding="utf-8")
    async with searching(tmp_path, HOME) as home:
        (home.world.vault / "link.md").symlink_to(outside)
        with pytest.raises(NotFoundError):
            await home.reader.get("vault/link")


async def test_an_empty_note_can_be_read(tmp_path: Path) -> None:
    async with searching(tmp_path, {"memory/empty": ""}) as home:
        reading = await home.reader.get("memory/empty")
        assert (reading.content, reading.total, reading.complete) == ("", 0, True)


async def test_lists_are_filtered_sorted_and_paged(tmp_path: Path) -> None:
    notes = {f"vault/n{n}": f"Note {n}.\n" for n in range(12)} | HOME
    async with searching(tmp_path, notes) as home:
        assert [card.reference for card in home.reader.list().rows] == ["memory/plan"]
        every = home.reader.list("all")
        assert every.total == 16
        assert [c.reference for c in every.rows] == sorted(c.reference for c in every.rows)
        ones = home.reader.list("vault", path_prefix="n1")
        assert [card.path for card in ones.rows] == ["n1", "n10", "n11"]
        assert home.reader.list(["memory", "wiki"], tag="GARDEN").total == 1
        first = home.reader.list("vault", limit=4)
        second = home.reader.list("vault", limit=4, cursor=first.next_cursor)
        assert not {c.path for c in first.rows} & {c.path for c in second.rows}
        with pytest.raises(InputError, match="memory, wiki, vault"):
            home.reader.list("shelf")
