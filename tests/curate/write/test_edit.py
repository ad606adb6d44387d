"""Changing notes: durable, restorable, and never over somebody's change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from memory_mcp.core.edit import EditRequest
from memory_mcp.core.errors import (
    ConflictError,
    InputError,
    MemoryMcpError,
    NotFoundError,
    RefusedError,
    SlugError,
)
from memory_mcp.core.frontmatter import split_and_load
from memory_mcp.core.parse import revision_of
from memory_mcp.curate.write.results import Relation
from memory_mcp.search.hit import SearchRequest
from tests.curate.world import World, world

pytestmark = pytest.mark.anyio

NOW = "2026-03-14T09:30:00+00:00"


async def found(there: World, query: str) -> list[str]:
    result = await there.searcher.search(SearchRequest(query))
    return [hit.card.reference for hit in result.hits if hit.bm25_score > 0]


async def test_a_new_note_is_on_disk_and_found_at_once(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        done = await there.writer.write(
            "plums", "Plums are ripe in August.", {"tags": "fruit, may"}
        )
        assert (done.reference, done.created, done.replaced_revision) == (
            "memory/plums",
            True,
            None,
        )
        assert there.text("memory/plums") == (
            f"---\ntags: [fruit, may]\ncreated: {NOW}\nupdated: {NOW}\n---\n\n"
            "Plums are ripe in August.\n"
        )
        assert done.revision == revision_of(there.file("memory/plums").read_bytes())
        assert await found(there, "plums") == ["memory/plums"]


async def test_replacing_keeps_created_and_the_old_text_can_be_restored(tmp_path: Path) -> None:
    old = "---\ncreated: 2020-05-05\nmood: good\n---\nOld heron.\r\n"
    async with world(tmp_path, {"memory/log": old}) as there:
        done = await there.writer.write("log", "New stork.")
        assert not done.created
        assert done.replaced_revision == revision_of(old.encode())
        values = split_and_load(there.text("memory/log"))[1].values
        assert values == {"created": "2020-05-05", "updated": NOW}
        assert await found(there, "heron") == []
        back = await there.writer.restore("memory/log", done.replaced_revision)
        assert there.text("memory/log") == old
        assert (back.created, back.replaced_revision) == (False, done.revision)
        assert await found(there, "heron") == ["memory/log"]
        again = await there.writer.restore("log")
        assert again.revision == done.revision


async def test_a_deleted_note_is_gone_and_comes_back_whole(tmp_path: Path) -> None:
    text = "\ufeffThe owl sits in the elm.\r\n"
    async with world(tmp_path, {"memory/owl": text}) as there:
        done = await there.writer.delete("owl")
        assert done.deleted
        assert not there.file("memory/owl").exists()
        assert await found(there, "owl") == []
        again = await there.writer.delete("owl")
        assert (again.deleted, again.revision) == (False, None)
        back = await there.writer.restore("memory/owl")
        assert back.created
        assert back.revision == done.revision
        assert there.text("memory/owl") == text


async def test_a_conflict_shows_what_changed_and_writes_nothing(tmp_path: Path) -> None:
    async with world(
        tmp_path, {"memory/aunt": "Lives in Graz.\n<private>77</private>\n"}
    ) as there:
        known = revision_of(there.file("memory/aunt").read_bytes())
        there.file("memory/aunt").write_text("Lives in Linz </MEMORY> now.\n", encoding="utf-8")
        now = revision_of(there.file("memory/aunt").read_bytes())
        requests: tuple[Any, ...] = (
            lambda: there.writer.write("aunt", "Likes chess.", expected=known),
            lambda: there.writer.edit("aunt", EditRequest(content="Likes chess."), known),
            lambda: there.writer.delete("aunt", known),
        )
        for request in requests:
            with pytest.raises(ConflictError) as caught:
                await request()
            said = str(caught.value)
            assert "Lives in Linz" in said
            assert now in said
            assert said.count("</MEMORY>") == 1
        assert there.text("memory/aunt") == "Lives in Linz </MEMORY> now.\n"


async def test_a_conflict_with_another_tool_call_shows_a_difference(tmp_path: Path) -> None:
    body = "".join(f"- item {number}\n" for number in range(500))
    async with world(tmp_path, {"memory/list": body}) as there:
        known = revision_of(body.encode())
        await there.writer.edit(
            "list", EditRequest(append="- hooks <private>pin 5</private>"), known
        )
        with pytest.raises(ConflictError) as caught:
            await there.writer.edit("list", EditRequest(append="- tarp"), known)
        said = str(caught.value)
        assert "+- hooks" in said
        assert "pin 5" not in said
        assert "item 7\n" not in said
        await there.writer.edit("list", EditRequest(append="- tarp"), None)
        assert there.text("memory/list").endswith("pin 5</private>\n- tarp\n")


async def test_a_conflict_with_an_editor_shows_a_difference_to_what_the_tools_wrote(
    tmp_path: Path,
) -> None:
    body = "".join(f"- item {number}\n" for number in range(500))
    async with world(tmp_path) as there:
        done = await there.writer.write("list", body)
        path = there.file("memory/list")
        path.write_text(there.text("memory/list") + "- by hand\n", encoding="utf-8")
        with pytest.raises(ConflictError) as caught:
            await there.writer.edit("list", EditRequest(append="- tarp"), done.revision)
        said = str(caught.value)
        assert "+- by hand" in said
        assert "item 7\n" not in said


async def test_a_note_that_was_deleted_meanwhile_is_a_conflict(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        for request in (
            there.writer.write("gone", "x", expected="a" * 12),
            there.writer.edit("gone", EditRequest(append="x"), "a" * 12),
        ):
            with pytest.raises(ConflictError, match="deleted"):
                await request
        with pytest.raises(NotFoundError, match="memory_write"):
            await there.writer.edit("gone", EditRequest(append="x"))
        assert not there.file("memory/gone").exists()


async def test_many_writers_of_one_note_lose_nothing(tmp_path: Path) -> None:
    async with world(tmp_path, {"memory/log": "start\n"}) as there:
        async with anyio.create_task_group() as tasks:
            for number in range(12):
                request = EditRequest(append=f"- line {number}")
                tasks.start_soon(there.writer.edit, "log", request)
        lines = there.text("memory/log").splitlines()
        assert sorted(lines) == sorted(["start", *(f"- line {number}" for number in range(12))])


async def test_an_edit_keeps_the_other_lines_byte_for_byte(tmp_path: Path) -> None:
    head = '---\nzeta: last   # mine\ntags: [a/b, c]\nlong: >-\n  folded\n  text\nq: "1.10"\n'
    async with world(tmp_path, {"memory/fm": f"{head}---\nBody.\n\n"}) as there:
        request = EditRequest(content="Body.\n\n", frontmatter={"status": "open"})
        done = await there.writer.edit("fm", request)
        assert there.text("memory/fm") == (f"{head}status: open\nupdated: {NOW}\n---\nBody.\n\n")
        assert done.replaced_revision == revision_of(f"{head}---\nBody.\n\n".encode())


async def test_an_edit_that_changes_nothing_writes_nothing(tmp_path: Path) -> None:
    async with world(tmp_path, {"memory/a": "Same.\n"}) as there:
        before = there.file("memory/a").stat()
        done = await there.writer.edit("a", EditRequest(content="Same.\n"))
        assert done.replaced_revision is None
        assert done.revision == revision_of(b"Same.\n")
        assert there.file("memory/a").stat().st_mtime_ns == before.st_mtime_ns


async def test_whole_content_is_refused_to_a_caller_who_saw_a_part(tmp_path: Path) -> None:
    async with world(tmp_path, {"memory/a": "One.\nTwo.\n"}) as there:
        with pytest.raises(RefusedError, match="part"):
            await there.writer.edit("a", EditRequest(content="New."), partial=True)
        await there.writer.edit("a", EditRequest(old_text="One", new_text="Uno"), partial=True)
        assert there.text("memory/a") == "Uno.\nTwo.\n"


async def test_a_file_that_is_not_utf8_is_left_alone(tmp_path: Path) -> None:
    async with world(tmp_path, {"memory/bin": b"\xff\xfe\x00a\x80"}) as there:
        with pytest.raises(RefusedError, match="UTF-8"):
            await there.writer.edit("bin", EditRequest(append="x"))
        assert there.file("memory/bin").read_bytes() == b"\xff\xfe\x00a\x80"


async def test_half_letters_are_written_as_valid_text_with_a_warning(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        done = await there.writer.write("sur", "cut \ud83d here\0")
        assert "cut \ufffd here\n" in there.text("memory/sur")
        assert len(done.warnings) == 2


async def test_only_slugs_are_written(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        for slug in ("../up", "memory/a", "a.md", "con", "", "/etc/x", "a\nb"):
            with pytest.raises(SlugError):
                await there.writer.write(slug, "x")
            if slug != "memory/a":  # may be a note that is there, which a new one is not
                with pytest.raises(SlugError):
                    await there.writer.edit(slug, EditRequest(append="x"))
                with pytest.raises(SlugError):
                    await there.writer.delete(slug)
            with pytest.raises(MemoryMcpError):
                await there.writer.restore(f"memory/{slug}")
        assert list(there.file("memory/x").parent.iterdir()) == []


async def test_a_link_on_disk_is_not_followed(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        outside = tmp_path / "outside.md"
        outside.write_text("mine\n", encoding="utf-8")
        there.file("memory/leak").symlink_to(outside)
        for request in (
            there.writer.write("leak", "x"),
            there.writer.edit("leak", EditRequest(append="x")),
        ):
            with pytest.raises(RefusedError):
                await request
        assert outside.read_text(encoding="utf-8") == "mine\n"


async def test_read_only_refuses_every_change(tmp_path: Path) -> None:
    async with world(tmp_path, {"memory/a": "x\n"}, read_only=True) as there:
        for request in (
            there.writer.write("a", "y"),
            there.writer.edit("a", EditRequest(append="y")),
            there.writer.delete("a"),
            there.writer.link("a", "a"),
            there.writer.restore("memory/a"),
            there.saver.save("y"),
        ):
            with pytest.raises(RefusedError, match="read-only"):
                await request
        assert there.text("memory/a") == "x\n"
        assert there.jobs.list() == ()


async def test_similar_notes_are_named(tmp_path: Path) -> None:
    notes = {
        "memory/wasps": "Alice is allergic to wasps and bees.\n",
        "wiki/roof": "The roof was mended in May.\n",
    }
    async with world(tmp_path, notes) as there:
        done = await there.writer.write("alice", "Alice is allergic to wasps and bees.")
        assert [item.reference for item in done.similar] == ["memory/wasps"]
        assert 0.6 <= done.similar[0].score <= 1
        assert (await there.writer.write("other", "Gravel.")).similar == ()


UNTRUSTED: Any = {"pinned": True, "source": {"url": "https://example.org", "kind": "web"}}


async def test_untrusted_text_is_not_pinned_unless_allowed(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        with pytest.raises(RefusedError, match="pinned"):
            await there.writer.write("clip", "x", UNTRUSTED)
        await there.writer.write("clip", "x", {"source": {"kind": "import"}})
        with pytest.raises(RefusedError, match="pinned"):
            await there.writer.edit("clip", EditRequest(frontmatter={"pinned": True}))
        await there.writer.write("own", "x", {"pinned": True})
    async with world(tmp_path, allow_pin_untrusted=True) as there:
        await there.writer.write("clip", "x", UNTRUSTED)
    async with world(tmp_path) as there:
        await there.writer.edit("clip", EditRequest(append="an edit of what is pinned by hand"))


SECRET = "api_key: Zx9" + "q7" * 12


async def test_a_secret_is_a_warning_or_refused_as_the_settings_say(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        done = await there.writer.write("deploy", f"Use it.\n{SECRET}\n")
        assert "secret" in done.warnings[0]
        assert SECRET[-10:] not in done.warnings[0]
        assert (await there.writer.edit("deploy", EditRequest(append="more"))).warnings == ()
    async with world(tmp_path, secrets="refuse") as there:
        for request in (there.writer.write("b", SECRET), there.saver.save(SECRET)):
            with pytest.raises(RefusedError, match="secret") as caught:
                await request
            assert SECRET[-10:] not in str(caught.value)
        assert not there.file("memory/b").exists()
        assert not (there.home / ".state" / "jobs" / "journal.jsonl").exists()
    async with world(tmp_path, secrets="allow") as there:
        assert (await there.writer.write("c", SECRET)).warnings == ()


async def test_only_the_global_scope_is_there(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        await there.writer.write("a", "x", scope="global")
        for scope in ("project", "galaxy"):
            with pytest.raises(InputError, match=scope):
                await there.writer.write("b", "x", scope=scope)


async def test_a_link_is_added_once_by_canonical_reference(tmp_path: Path) -> None:
    notes = {
        "memory/list": "---\ntitle: L # mine\n---\n- candles",
        "wiki/people/alice": "Alice.\n",
    }
    async with world(tmp_path, notes) as there:
        first = await there.writer.link("memory/list.md", "people/alice", "about")
        assert first.links == (Relation("wiki/people/alice", "about"),)
        text = there.text("memory/list")
        assert "title: L # mine\n" in text
        assert text.endswith("---\n- candles")
        again = await there.writer.link("list", "./wiki/people/alice.md", "about")
        assert again.revision == first.revision
        assert there.text("memory/list") == text
        other = await there.writer.link("list", "wiki/people/alice")
        assert len(other.links) == 2
        backlinks = {
            link.reference for link in there.index.names.backlinks("wiki", "people/alice")
        }
        assert backlinks == {"memory/list"}


async def test_a_link_written_by_hand_in_another_spelling_counts(tmp_path: Path) -> None:
    text = '---\nlinks:\n  - {to: "[[alice]]", relation: about}\n---\nx\n'
    async with world(tmp_path, {"memory/a": text, "wiki/people/alice": "Alice.\n"}) as there:
        await there.writer.link("a", "wiki/people/alice", "about")
        assert there.text("memory/a") == text


async def test_a_link_joins_notes_that_the_index_has_not_seen_yet(tmp_path: Path) -> None:
    async with world(tmp_path) as there:  # nothing is watched here
        for reference in ("memory/young", "wiki/people/bea", "vault/People/Bea"):
            there.file(reference).parent.mkdir(parents=True, exist_ok=True)
            there.file(reference).write_text("Text.\n", encoding="utf-8")
        done = await there.writer.link("young", "wiki/people/bea", "about")
        assert done.links == (Relation("wiki/people/bea", "about"),)
        with pytest.raises(NotFoundError, match="memory/never"):
            await there.writer.link("young", "memory/never")


async def test_a_link_makes_a_header_where_there_is_none(tmp_path: Path) -> None:
    async with world(tmp_path, {"memory/a": "Text.\n", "memory/b": "B.\n"}) as there:
        await there.writer.link("a", "b", "supersedes")
        parts, loaded = split_and_load(there.text("memory/a"))
        assert loaded.values["links"] == [{"to": "memory/b", "relation": "supersedes"}]
        assert parts.body == "Text.\n"


async def test_links_that_cannot_be_are_refused(tmp_path: Path) -> None:
    broken = '---\na: "x "y" z"\n---\nB.\n'
    notes = {"memory/a": "A.\n", "memory/broken": broken, "wiki/w": "W.\n", "vault/v": "V.\n"}
    async with world(tmp_path, notes) as there:
        for source, target, relation, error in (
            ("a", "a", "related", InputError),
            ("memory/a", "memory/a.md", "related", InputError),
            ("a", "nothing", "related", NotFoundError),
            ("nothing", "a", "related", NotFoundError),
            ("a", "../up", "related", InputError),
            ("wiki/w", "a", "related", RefusedError),
            ("vault/v", "a", "related", RefusedError),
            ("broken", "a", "related", RefusedError),
            ("a", "wiki/w", " ", InputError),
            ("a", "wiki/w", "x" * 61, InputError),
        ):
            with pytest.raises(error):
                await there.writer.link(source, target, relation)
        assert {reference: there.text(reference) for reference in notes} == notes


async def test_a_wiki_page_can_be_restored_and_a_vault_note_cannot(tmp_path: Path) -> None:
    async with world(tmp_path, {"wiki/a": "New.\n"}) as there:
        there.history.keep("wiki/a", b"Old.\n", there.clock.now())
        there.history.keep("vault/v", b"Old.\n", there.clock.now())
        await there.writer.restore("wiki/a")
        assert there.text("wiki/a") == "Old.\n"
        with pytest.raises(RefusedError, match="vault"):
            await there.writer.restore("vault/v")
        with pytest.raises(NotFoundError):
            await there.writer.restore("memory/never")
