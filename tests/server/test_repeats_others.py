"""A write whose engine died is repeated, and others were there in between."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from tests.server.attempts import Caller, place, refusal, structured
from tests.server.worlds import World

pytestmark = pytest.mark.anyio

BEFORE, AFTER = "intend+", "saw-"
"""The engine dies right before the file changes, or right after."""


async def died(caller: Caller, cut: str, number: int, tool: str, **arguments: object) -> None:
    assert await caller.attempt(number, tool, arguments, cut=cut) is None


async def again(caller: Caller, number: int, tool: str, **arguments: object) -> dict[str, object]:
    result = await caller.attempt(number, tool, arguments, repeated=[number])
    assert result is not None
    return result


def text(world: World, slug: str) -> str:
    return world.inbox(slug).read_text(encoding="utf-8")


async def test_a_done_append_that_another_client_built_on_is_not_done_again(
    tmp_path: Path,
) -> None:
    async with place(tmp_path / "home") as world:
        one, other = Caller(world), Caller(world)
        await other.call("memory_write", slug="list", content="# List\n")
        await died(one, AFTER, 7, "memory_edit", slug="list", append="- one")
        await other.call("memory_get", reference="memory/list")
        await other.call("memory_edit", slug="list", append="- other")
        found = structured(await again(one, 7, "memory_edit", slug="list", append="- one"))
        assert text(world, "list").count("- one") == 1
        assert text(world, "list").count("- other") == 1
        assert found["replaced_revision"]
        stale = await one.call("memory_edit", slug="list", append="- two")
        assert "- other" in refusal(stale), "what the other did was never shown to this client"


async def test_a_done_append_that_another_client_took_out_again_stays_out(tmp_path: Path) -> None:
    async with place(tmp_path / "home") as world:
        one, other = Caller(world), Caller(world)
        await other.call("memory_write", slug="list", content="# List\n")
        await died(one, AFTER, 7, "memory_edit", slug="list", append="- one")
        await other.call("memory_get", reference="memory/list")
        await other.call("memory_edit", slug="list", old_text="- one\n", new_text="")
        structured(await again(one, 7, "memory_edit", slug="list", append="- one"))
        assert "- one" not in text(world, "list")


async def test_a_done_write_of_a_note_that_another_client_deleted_is_not_done_again(
    tmp_path: Path,
) -> None:
    async with place(tmp_path / "home") as world:
        one, other = Caller(world), Caller(world)
        await died(one, AFTER, 7, "memory_write", slug="tea", content="Green.")
        structured(await other.call("memory_delete", slug="tea"))
        found = structured(await again(one, 7, "memory_write", slug="tea", content="Green."))
        assert found["created"]
        assert not world.inbox("tea").exists()


async def test_a_done_write_of_a_text_that_was_deleted_before_and_after_is_not_done_again(
    tmp_path: Path,
) -> None:
    async with place(tmp_path / "home") as world:
        one, other = Caller(world), Caller(world)
        call = {"slug": "tea", "content": "Green."}
        structured(await one.call("memory_write", **call))
        structured(await one.call("memory_delete", slug="tea"))
        await died(one, AFTER, 7, "memory_write", **call)
        structured(await other.call("memory_delete", slug="tea"))
        assert structured(await again(one, 7, "memory_write", **call))["created"]
        assert not world.inbox("tea").exists()
        third = Caller(world)
        await died(third, BEFORE, 8, "memory_write", **call)
        structured(await again(third, 8, "memory_write", **call))
        assert "Green." in text(world, "tea")


@pytest.mark.parametrize("cut", [BEFORE, AFTER])
async def test_where_an_editor_saved_in_between_the_repeat_is_a_conflict_and_changes_nothing(
    tmp_path: Path, cut: str
) -> None:
    async with place(tmp_path / "home") as world:
        one = Caller(world)
        structured(await one.call("memory_write", slug="list", content="# List\n"))
        await died(one, cut, 7, "memory_edit", slug="list", append="- one")
        world.inbox("list").write_text("# Quite another list\n", encoding="utf-8")
        for _ in range(2):
            said = refusal(await again(one, 7, "memory_edit", slug="list", append="- one"))
            assert "memory/list was changed by somebody else" in said
            assert "memory_get" in said
        assert text(world, "list") == "# Quite another list\n"


async def test_where_another_client_wrote_before_the_change_the_repeat_is_a_conflict(
    tmp_path: Path,
) -> None:
    async with place(tmp_path / "home") as world:
        one, other = Caller(world), Caller(world)
        await other.call("memory_write", slug="list", content="# List\n")
        await died(one, BEFORE, 7, "memory_edit", slug="list", append="- one")
        await other.call("memory_edit", slug="list", append="- other")
        refusal(await again(one, 7, "memory_edit", slug="list", append="- one"))
        assert "- one" not in text(world, "list")
        structured(await one.call("memory_edit", slug="list", append="- one"))
        assert text(world, "list").count("- one") == 1


async def test_a_file_that_was_removed_after_its_change_is_a_conflict(tmp_path: Path) -> None:
    async with place(tmp_path / "home") as world:
        one = Caller(world)
        structured(await one.call("memory_write", slug="list", content="# List\n"))
        await died(one, AFTER, 7, "memory_edit", slug="list", append="- one")
        world.inbox("list").unlink()
        refusal(await again(one, 7, "memory_edit", slug="list", append="- one"))
        assert not world.inbox("list").exists()


async def test_an_old_version_of_the_same_text_is_not_taken_for_the_change(
    tmp_path: Path,
) -> None:
    async with place(tmp_path / "home") as world:
        one, other = Caller(world), Caller(world)
        for content in ("Green.", "Black."):  # the first is in the history now
            structured(await one.call("memory_write", slug="tea", content=content))
        await died(one, BEFORE, 7, "memory_write", slug="tea", content="Green.")
        structured(await other.call("memory_write", slug="tea", content="White."))
        refusal(await again(one, 7, "memory_write", slug="tea", content="Green."))
        assert "White." in text(world, "tea")


async def test_a_change_that_an_editor_made_impossible_leaves_no_doubt_behind(
    tmp_path: Path,
) -> None:
    """It was noted, then another text was there and it was refused: nothing was done."""
    arguments = {"slug": "list", "old_text": "- old\n", "new_text": "- new\n"}
    async with place(tmp_path / "home") as world:
        one = Caller(world)
        await Caller(world).call("memory_write", slug="list", content="# List\n\n- old\n")

        def save() -> None:
            world.inbox("list").write_text("# List\n\n- edited\n", encoding="utf-8")

        refused = await one.attempt(7, "memory_edit", arguments, editor=save)
        assert refused is not None
        again = await one.attempt(7, "memory_edit", arguments, repeated=[7])
        assert again is not None
        assert refusal(again) == refusal(refused)


@pytest.mark.parametrize("cut", ["intend+", "saw-", "answered-", "answered+"])
async def test_what_an_editor_saved_while_a_change_was_made_is_in_it_and_the_repeat_knows(
    tmp_path: Path, cut: str
) -> None:
    async with place(tmp_path / "home") as world:
        one = Caller(world)
        await Caller(world).call("memory_write", slug="list", content="# List\n")

        def save() -> None:
            with world.inbox("list").open("a", encoding="utf-8") as file:
                file.write("- by hand\n")

        arguments = {"slug": "list", "append": "- one"}
        if cut == "intend+":  # before the editor's save was seen
            await died(one, cut, 7, "memory_edit", **arguments)
        else:
            assert await one.attempt(7, "memory_edit", arguments, cut=cut, editor=save) is None
            assert "- by hand" in text(world, "list")
        structured(await again(one, 7, "memory_edit", **arguments))
        assert text(world, "list").count("- one") == 1


async def test_a_repeat_can_be_found_before_the_new_engine_has_come_to_its_note(
    tmp_path: Path,
) -> None:
    async with place(tmp_path / "home") as world:
        one = Caller(world)
        call = {"slug": "tea", "content": "Gunpowder from Zhejiang."}
        await died(one, AFTER, 7, "memory_write", **call)
    async with place(tmp_path / "home", started=False) as world:
        structured(await again(Caller(world, one.name), 7, "memory_write", **call))
        found = structured(await Caller(world, one.name).call("memory_search", query="zhejiang"))
        assert [hit["reference"] for hit in found["hits"]] == ["memory/tea"]


async def test_one_and_one_as_text_are_two_requests(tmp_path: Path) -> None:
    async with place(tmp_path / "home") as world:
        one = Caller(world)
        structured(await one.call("memory_write", slug="list", content="# List\n"))
        call = {"slug": "list", "append": "- mark"}
        await died(one, "answered+", 1, "memory_edit", **call)
        done = await one.attempt("1", "memory_edit", call, repeated=["1"])
        assert done is not None
        structured(done)
        assert text(world, "list").count("- mark") == 2
        structured(await again(one, 1, "memory_edit", **call))
        assert text(world, "list").count("- mark") == 2


async def test_an_id_that_is_used_again_is_not_a_repeat(tmp_path: Path) -> None:
    async with place(tmp_path / "home") as world:
        one = Caller(world)
        structured(await one.call("memory_write", slug="list", content="# List\n"))
        call = {"slug": "list", "append": "- mark"}
        for count in (1, 2):
            done = await one.attempt(1, "memory_edit", call)
            assert done is not None
            structured(done)
            assert text(world, "list").count("- mark") == count


async def test_a_repeat_of_what_the_engine_never_saw_is_not_taken_for_an_older_call_of_its_id(
    tmp_path: Path,
) -> None:
    async with place(tmp_path / "home") as world:
        one = Caller(world)
        structured(await one.call("memory_write", slug="list", content="# List\n"))
        for mark in ("- older", "- newer"):
            done = await one.attempt(
                1, "memory_edit", {"slug": "list", "append": mark}, repeated=[1]
            )
            assert done is not None
            structured(done)
            assert text(world, "list").count(mark) == 1


async def test_a_text_that_is_saved_is_one_job_however_often_engines_die(tmp_path: Path) -> None:
    async with place(tmp_path / "home") as world:
        one = Caller(world)
        cuts = ["begin+", "answered-", "answered-", "answered+"]
        ids = []
        for number in range(3):
            call = {"content": f"The valve number {number} is in the cellar."}
            ids.append(structured(await one.call("memory_save", cuts=cuts, **call))["job_id"])
        jobs = structured(await one.call("memory_jobs"))["jobs"]
        assert sorted(job["job_id"] for job in jobs) == sorted(ids)
        for job_id in ids:
            with anyio.fail_after(8):
                assert (await world.app.jobs.finished(job_id)).status == "done"
        assert len(list(world.inbox("x").parent.glob("*.md"))) == 3


async def test_the_same_text_saved_twice_with_one_id_is_two_jobs(tmp_path: Path) -> None:
    async with place(tmp_path / "home") as world:
        one = Caller(world)
        call = {"content": "The valve is in the cellar."}
        first, second = [await one.attempt(1, "memory_save", call) for _ in range(2)]
        assert first is not None
        assert second is not None
        assert structured(first)["job_id"] != structured(second)["job_id"]


async def test_what_a_client_has_read_holds_for_the_next_engine(tmp_path: Path) -> None:
    async with place(tmp_path / "home") as world:
        one, other = Caller(world), Caller(world)
        await other.call("memory_write", slug="tea", content="Green.")
        await one.call("memory_get", reference="memory/tea")
        await other.call("memory_write", slug="tea", content="Black.")
        said = refusal(await one.call("memory_write", slug="tea", content="White."))
        assert "Black." in said, "a conflict shows what changed"
        assert "Black." in text(world, "tea")


async def test_a_memory_whose_sessions_cannot_be_kept_works_and_says_so_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with place(tmp_path / "home") as world:
        (world.home / ".state").mkdir(exist_ok=True)
        (world.home / ".state" / "sessions").write_text("in the way", encoding="utf-8")
        one = Caller(world)
        structured(await one.call("memory_write", slug="tea", content="Green."))
        assert len([line for line in caplog.messages if "cannot be written" in line]) == 1
        assert world.inbox("tea").exists()
