"""Private parts reach no answer, no database, no cache, no journal and no log."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_mcp.core.private import hide, strip
from tests.server.worlds import Talk, World, talking, text_of, world

pytestmark = pytest.mark.anyio

MARK = "quokkaword"
SHOWN = "zebrafinch"

NOTES: dict[str, str] = {
    "plain": f"# T\n\n{SHOWN} <private>{MARK} one</private> after\n",
    "odd": f"{SHOWN} < PRIVATE class='a' >{MARK}< / Private > after\n",
    "lines": f"{SHOWN}\n<private\n  why=x>\n{MARK}\n</private\n>\nafter\n",
    "nested": f"{SHOWN} <private>a <private>{MARK}</private> {MARK}</private> after\n",
    "unclosed": f"{SHOWN}\n\n<private>\n{MARK} to the end\n\n# Heading {MARK}\n",
    "stray": f"{SHOWN} </private> <private>{MARK}</private></private> after\n",
    "fence": f"{SHOWN}\n\n```\n<private>\n{MARK}\n</private>\n```\n\n`<private>{MARK}</private>`",
    "comment": f"{SHOWN} <!-- <private>{MARK}</private> -->\n",
    "heading": f"# {SHOWN} <private>{MARK}</private>\n\n## <private>{MARK}</private>\n\nx\n",
    "tags": f"{SHOWN} <private>#{MARK}</private> #ok\n",
    "links": f"{SHOWN} [[a|<private>{MARK}</private>]] <private>[[{MARK}]]</private>\n",
    "label": f"{SHOWN} [<private>{MARK}</private>](x.md) ![](<private>{MARK}</private>.png)\n",
    "first": f"<private>{MARK}</private>\n\n{SHOWN} second paragraph\n",
    "values": f"---\ntitle: a <private>{MARK}</private>\ntags: [b, '<private>{MARK}</private>']\n"
    f"description: '<private>{MARK}</private> d'\nby: <private>{MARK}</private>\n---\n{SHOWN}\n",
    "keys": f"---\ntitle: k\n<private>{MARK}: {MARK}</private>\n---\n{SHOWN}\n",
    "over": f"---\ntitle: o\nx: <private>{MARK}\n---\n{MARK}\n</private>\n{SHOWN}\n",
    "source": f"---\nsource: {{by: '<private>{MARK}</private>', url: '<private>{MARK}'}}\n---\n"
    f"</private>{SHOWN}\n",
    "crlf": f"---\r\ntitle: c\r\n---\r\n{SHOWN}\r\n<private>\r\n{MARK}\r\n</private>\r\nafter\r\n",
    "mark": f"{SHOWN} <private id=1/> <private>{MARK}</private> <private id=7/>\n",
    "quotes": f"{SHOWN} <private a=\"x>y\">{MARK}</private> <private b='<'>{MARK}</private>\n",
    "open": f"{SHOWN} <private\n{MARK}\n",
    "other": f"<private-key> <private/x.h> <privateer> a<b {SHOWN} <private>{MARK}</private>\n",
    "inner": f"{SHOWN} <private <b>{MARK}</b> <br/> {MARK}</private> after\n",
    "broken": f"---\ntitle: [<private>{MARK}</private>\n---\n{SHOWN}\n",
    "secret": f"{SHOWN} <private>password: {MARK}12345x</private>\n",
}
FOREIGN = f"{SHOWN} <private>{MARK}</private> after\n".encode("utf-16")


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level(logging.DEBUG, logger="memory_mcp"):
        yield caplog


def files_of(folder: str) -> dict[str, str | bytes]:
    notes: dict[str, str | bytes] = {f"{folder}/{name}.md": text for name, text in NOTES.items()}
    return notes | {f"{folder}/foreign.md": FOREIGN}


async def answers(talk: Talk, tool: str, **arguments: object) -> str:
    """Both forms of an answer, or its error."""
    result = await talk.client.call_tool(tool, dict(arguments))
    return text_of(result) + json.dumps(result.structured_content)


def leaks(home: Path) -> list[str]:
    """Derived files that hold the word in any encoding. Notes and their history are the user's."""
    words = [MARK.encode(), MARK.encode("utf-16-le"), MARK.encode("utf-16-be")]
    return [
        str(path.relative_to(home))
        for top in (".index", ".state")
        for path in (home / top).rglob("*")
        if path.is_file() and any(word in path.read_bytes() for word in words)
    ]


async def _read_all(talk: Talk, place: World) -> str:
    """What a client can see of every note, in every way."""
    seen = [
        await answers(talk, "memory_search", query=SHOWN, limit=50),
        await answers(talk, "memory_search", query=MARK, limit=50),
        await answers(talk, "memory_list", source="all"),
        await answers(talk, "memory_list", tag=MARK),
    ]
    index = await talk.client.read_resource("memories://index")
    seen += [getattr(item, "text", "") for item in index.contents]
    for entry in place.app.index.entries():
        reference = entry.card.reference
        for more in ({}, {"heading": "T"}, {"max_chars": 20}, {"offset": 5}, {"heading": "gone"}):
            seen.append(await answers(talk, "memory_get", reference=reference, **more))
        read = await talk.client.read_resource(f"memories://note/{reference}")
        seen += [getattr(item, "text", "") for item in read.contents]
    for resource in (await talk.client.list_resources()).resources:
        seen.append(f"{resource.title} {resource.description}")
    return "\n".join(seen)


async def test_nothing_private_is_seen_or_stored(
    tmp_path: Path, log: pytest.LogCaptureFixture
) -> None:
    home = tmp_path / "home"
    async with (
        world(home, files_of("memory") | files_of("vault")) as place,
        talking(place) as talk,
    ):
        hits = await talk.done("memory_search", query=MARK, limit=50)
        assert MARK not in await _read_all(talk, place)
        assert not any(hit["bm25_score"] > 0 for hit in hits["hits"])
        assert leaks(home) == []
    assert leaks(home) == []
    assert MARK not in log.text


async def test_changes_and_conflicts_show_nothing_private(
    tmp_path: Path, log: pytest.LogCaptureFixture
) -> None:
    home = tmp_path / "home"
    async with world(home, files_of("memory")) as place, talking(place) as talk:
        seen = []
        for name in (*NOTES, "foreign"):
            await answers(talk, "memory_get", reference=f"memory/{name}")
            old = place.inbox(name).read_bytes()
            added = f"\n<private>{MARK}</private> by an editor\n"
            more = added.encode("utf-16-le" if name == "foreign" else "utf-8")
            place.inbox(name).write_bytes(old + more)
            for tool, arguments in (
                ("memory_write", {"content": "x"}),
                ("memory_edit", {"content": "x"}),
                ("memory_edit", {"old_text": MARK, "new_text": "y"}),
                ("memory_edit", {"append": "more"}),
                ("memory_edit", {"heading": MARK, "content": "y"}),
                ("memory_edit", {"frontmatter": {"a": 1}}),
                ("memory_write", {"content": "x", "if_revision": "0" * 12}),
            ):
                seen.append(await answers(talk, tool, slug=name, **arguments))
            seen.append(await answers(talk, "memory_link", source=name, target="plain"))
            seen.append(await answers(talk, "memory_delete", slug=name))
        assert any("changed since you read it" in text for text in seen)
        assert MARK not in "\n".join(seen)
        assert leaks(home) == []
    assert MARK not in log.text


async def test_what_is_saved_in_private_is_written_nowhere(
    tmp_path: Path, log: pytest.LogCaptureFixture
) -> None:
    home = tmp_path / "home"
    async with world(home) as place, talking(place) as talk:
        for text in NOTES.values():
            saved = await talk.done("memory_save", content=text, context=text)
            await place.app.jobs.finished(saved["job_id"], 8)
        assert MARK not in await answers(talk, "memory_jobs")
    written = [path for path in home.rglob("*") if path.is_file()]
    assert [path for path in written if MARK.encode() in path.read_bytes()] == []
    assert MARK not in log.text


@pytest.mark.parametrize("text", NOTES.values(), ids=NOTES)
def test_the_rules_for_hiding_and_for_indexing_agree(text: str) -> None:
    assert MARK not in strip(text)
    shown, parts = hide(text)
    assert MARK not in shown
    assert SHOWN in shown or SHOWN in "".join(parts)
