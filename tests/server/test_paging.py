"""Pages of notes and of lists: put together they are the whole, without gaps or doubles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core import private
from memory_mcp.search.window import page_end
from tests.server.worlds import MODES, Talk, talking, world

pytestmark = pytest.mark.anyio

PIECES = (
    "plain words ", "\n", "\r\n", "\r", "e\u0301\u0323", "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪🇫🇷", "\u0301",
    "\u200d", "﷽", "<private>hidden</private>", "<private>open", "</private>", "`<private>`", "\t",
    "\u2028", "日本語", "שלום", "\ufeff", "x" * 90, "<MEMORY[a]>", "क्षि", "\x0b\x0c", "\0",
)  # fmt: skip
NOTES = {
    "emoji": "👩‍👩‍👧‍👦🏳️‍🌈e\u0301\u0323\u1e9b" * 20,
    "ends": "one\r\ntwo\rthree\n\n\r\n" * 30,
    "marked": "---\ntitle: M\r\n---\n" + "seen <private>hid\nden</private> é\n" * 20,
    "unclosed": "a <private>b\n" * 3 + "👍🏽 tail <private> never ends\n" * 5,
    "zalgo": "z" + "\u0301\u0323" * 700 + " end",
    "flags": "🇩🇪" * 150,
    "tiny": "e\u0301\r\n👩‍👩‍👧‍👦\tx\n",
    "empty": "",
    "letter": "x",
    "bom": "\ufeff---\ntitle: B\n---\r\nText 日本\n",
    "separators": "a\u2028b\u2029c\u0085d\x0b\x0c" * 30,
}


async def through(talk: Talk, reference: str, **more: Any) -> str:
    """The text of a note, page by page."""
    parts: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = await talk.done("memory_get", reference=reference, offset=offset, **more)
        assert page["truncated"] == (page["next_offset"] is not None)
        assert page["next_offset"] is None or page["next_offset"] > offset
        parts.append(page["content"])
        offset = page["next_offset"]
    return "".join(parts)


@pytest.mark.parametrize("mode", MODES)
async def test_the_pages_of_a_note_are_the_note(tmp_path: Path, mode: str) -> None:
    files = {f"memory/{slug}.md": text for slug, text in NOTES.items()}
    async with world(tmp_path, files) as place, talking(place, mode) as talk:
        for slug, text in NOTES.items():
            whole = (await talk.done("memory_get", reference=f"memory/{slug}"))["content"]
            assert whole == private.hide(text)[0]
            for size in (31, 400):
                assert await through(talk, f"memory/{slug}", max_chars=size) == whole, (slug, size)
        assert await through(talk, "memory/tiny", max_chars="1") == NOTES["tiny"]


async def test_the_pages_of_a_section_are_the_section(tmp_path: Path) -> None:
    section = "## Two\r\n\r\n" + "e\u0301👩‍👩‍👧‍👦 <private>x</private>\r\n" * 9
    first = "# One\r\n\r\na <private>p</private>\r\n\r\n"
    files = {"memory/a.md": f"{first}{section}\r\n## Three\r\n\r\nc\r\n"}
    async with world(tmp_path, files) as place, talking(place) as talk:
        whole = (await talk.done("memory_get", reference="memory/a", heading="Two"))["content"]
        assert whole.startswith("## Two\r\n")
        for size in (1, 10, 33):
            assert await through(talk, "memory/a", heading="Two", max_chars=size) == whole


async def test_an_offset_behind_the_end_or_inside_a_letter_is_answered(tmp_path: Path) -> None:
    async with world(tmp_path, {"memory/a.md": "👩‍👩‍👧‍👦 end"}) as place, talking(place) as talk:
        text = await talk.refused("memory_get", reference="memory/a", offset=10**9)
        assert "next_offset" in text
        page = await talk.done("memory_get", reference="memory/a", offset=1)
        assert page["content"] == "👩‍👩‍👧‍👦 end"[1:]
        page = await talk.done("memory_get", reference="memory/a", offset=11)
        assert (page["content"], page["next_offset"]) == ("", None)


@given(
    st.lists(st.sampled_from(PIECES), max_size=30).map("".join),
    st.integers(1, 60),
)
def test_pages_of_any_text_add_up_and_get_on(text: str, limit: int) -> None:
    shown, _ = private.hide(text)
    at, parts = 0, []
    while at < len(shown):
        end = page_end(shown, at, len(shown), limit)
        assert at < end <= len(shown)
        assert end - at <= max(limit, 200)
        parts.append(shown[at:end])
        at = end
    assert "".join(parts) == shown


@pytest.mark.parametrize("size", [300, 50_000, 2_000_000])
def test_a_letter_with_marks_without_end_is_cut_like_any_text(size: int) -> None:
    text = "e" + "\u0301" * size
    assert page_end(text, 0, len(text), 250) == 250
    assert page_end(text, 250, len(text), 40_000) == min(size + 1, 40_250)


async def listed(talk: Talk, cursor: str | None, limit: int = 7) -> tuple[list[str], str | None]:
    page = await talk.done("memory_list", limit=limit, cursor=cursor, source="all")
    return [note["reference"] for note in page["notes"]], page["next_cursor"]


@pytest.mark.parametrize("mode", MODES)
async def test_a_list_has_no_gaps_or_doubles_while_notes_come_and_go(
    tmp_path: Path, mode: str
) -> None:
    stay = [f"k{number:02}" for number in range(30)]
    go = [f"k{number:02}-gone" for number in range(0, 30, 3)]
    files = {f"memory/{slug}.md": f"Note {slug}.\n" for slug in (*stay, *go)}
    files |= {f"wiki/é {number}.md": "Wiki.\n" for number in range(5)}
    async with world(tmp_path, files) as place, talking(place, mode) as talk:
        seen, cursor = await listed(talk, None)
        left = iter(go)
        while cursor is not None:
            for slug in (next(left, None), next(left, None)):
                if slug is not None:
                    await talk.done("memory_delete", slug=slug)
            number = len(seen)
            await talk.done("memory_write", slug=f"k{number % 30:02}-new", content="New.")
            await talk.done("memory_write", slug=f"a{number}", content="In front of the cursor.")
            more, cursor = await listed(talk, cursor)
            seen += more
        assert len(seen) == len(set(seen))
        assert {f"memory/{slug}" for slug in stay} <= set(seen)
        assert {f"wiki/é {number}" for number in range(5)} <= set(seen)


async def test_a_list_that_is_cut_to_size_goes_on_where_it_was_cut(tmp_path: Path) -> None:
    text = '---\ntitle: "' + "\\u0001\\\\ " * 300 + '"\ntags: [' + "x" * 190 + "]\n---\nText.\n"
    files = {f"memory/n{number:03}.md": text for number in range(150)}
    async with world(tmp_path, files) as place, talking(place) as talk:
        seen: list[str] = []
        cursor: str | None = None
        pages = 0
        while pages == 0 or cursor is not None:
            more, cursor = await listed(talk, cursor, limit=1000)
            seen += more
            pages += 1
        assert pages > 1
        assert seen == [f"memory/n{number:03}" for number in range(150)]


@pytest.mark.parametrize("mode", MODES)
async def test_resources_have_no_gaps_or_doubles_while_notes_come_and_go(
    tmp_path: Path, mode: str
) -> None:
    files = {f"memory/r{number:03}.md": f"Note {number}.\n" for number in range(450)}
    async with world(tmp_path, files, start=False) as place, talking(place, mode) as talk:
        place.app.start()
        with anyio.fail_after(30):
            assert await place.app.settled(30)
        seen: list[str] = []
        cursor: str | None = None
        pages = 0
        while pages == 0 or cursor is not None:
            page = await talk.client.list_resources(cursor=cursor)
            seen += [str(resource.name) for resource in page.resources]
            cursor = page.next_cursor
            await talk.done("memory_write", slug=f"a{pages}", content="In front.")
            await talk.done("memory_delete", slug=f"r{pages * 200 + 199:03}")
            pages += 1
        assert pages == 3
        assert len(seen) == len(set(seen))
        gone = {"memory/r199", "memory/r399"}
        assert {f"memory/r{number:03}" for number in range(450)} - gone <= set(seen)
