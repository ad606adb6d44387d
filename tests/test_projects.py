"""Whose memory: a project's own notes, found with the global ones and by nobody else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory_mcp.app import App, Home, open_app, open_home
from memory_mcp.core.config import Config, SourceSettings
from memory_mcp.core.edit import EditRequest
from memory_mcp.core.errors import (
    AmbiguousError,
    ConfigError,
    ConflictError,
    InputError,
    NotFoundError,
    RefusedError,
)
from memory_mcp.curate.jobs.journal import Journal
from memory_mcp.search.hit import SearchRequest
from memory_mcp.settings.project import Project
from memory_mcp.settings.project_file import ProjectFile
from tests.fakes import HashEmbedder

pytestmark = pytest.mark.anyio

SECONDS = 8.0
QUIET = {"watch": False, "sweep_seconds": 0, "rescan_minutes": 0}
ONE, OTHER = Project("one-11111111"), Project("other-22222222")


def config_of(home: Path, **settings: Any) -> Config:
    return Config.model_validate(
        {"home": str(home), "projects": "auto", "index": QUIET, **settings}
    )


@asynccontextmanager
async def opened(home: Path, **settings: Any) -> AsyncIterator[Home]:
    fake = HashEmbedder()
    async with open_home(config_of(home, **settings), embedder=lambda: fake) as there:
        there.start()
        assert await there.settled(SECONDS)
        yield there


async def found(app: App, query: str, *sources: str) -> dict[str, str | None]:
    """Reference to scope of what a search finds."""
    result = await app.searcher.search(SearchRequest(query, limit=20, sources=sources))
    return {hit.card.reference: hit.card.scope for hit in result.hits}


def listed(app: App, source: str = "all") -> dict[str, str | None]:
    return {card.reference: card.scope for card in app.reader.list(source).rows}


def text_of(home: Path, name: str) -> str:
    return (home / name).read_text(encoding="utf-8")


def put(home: Path, name: str, text: str) -> None:
    (home / name).parent.mkdir(parents=True, exist_ok=True)
    (home / name).write_text(text, encoding="utf-8")


async def test_notes_go_to_the_inbox_of_the_project_unless_they_are_for_all(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as home:
        app = home.app("default", ONE)
        assert not (tmp_path / "projects").exists()
        await app.writer.write("parcel", "The parcel service counts each return twice.")
        await app.writer.write("tea", "Alice drinks green tea.", scope="global")
        await app.writer.write("own", "The tests need a database.", scope="project")
    assert "twice" in text_of(tmp_path, "projects/one-11111111/memory/parcel.md")
    assert "database" in text_of(tmp_path, "projects/one-11111111/memory/own.md")
    assert "tea" in text_of(tmp_path, "agents/default/memory/tea.md")


async def test_both_inboxes_are_one_pool_and_each_hit_and_row_tells_its_scope(
    tmp_path: Path,
) -> None:
    put(tmp_path, "wiki/green.md", "A page about green things.")
    async with opened(tmp_path) as home:
        app = home.app("default", ONE)
        await app.writer.write("mine", "The green parcel is ours.")
        await app.writer.write("all", "The green tea is for all.", scope="global")
        hits = await found(app, "green")
        assert hits == {"memory/mine": "project", "memory/all": "global", "wiki/green": None}
        assert await found(app, "green", "memory") == {
            "memory/mine": "project",
            "memory/all": "global",
        }
        assert listed(app) == hits
        assert listed(home.app("default")) == {"memory/all": "global", "wiki/green": None}


async def test_nothing_of_a_project_is_seen_from_another_or_from_outside(tmp_path: Path) -> None:
    put(tmp_path, "wiki/page.md", "A page that links to [[secret]] and memory/secret.")
    async with opened(tmp_path) as home:
        one, other, plain = (home.app("default", project) for project in (ONE, OTHER, None))
        await one.writer.write("secret", "The zeppelin code is 4711. See [[page]].")
        await one.writer.edit("secret", EditRequest(append="Changed once."))
        await one.saver.save("The zeppelin lands on Friday.")
        await one.writer.link("secret", "wiki/page")
        assert await home.settled(SECONDS)
        assert await found(one, "zeppelin code")
        for app in (other, plain):
            assert "memory/secret" not in await found(app, "zeppelin code")
            assert "memory/secret" not in listed(app)
            assert "zeppelin" not in await app.recall.fresh_section()
            for name in (
                "secret",
                "memory/secret",
                "project/secret",
                "memory@one-11111111/secret",
            ):
                with pytest.raises(NotFoundError):
                    await app.reader.get(name)
            page = await app.reader.get("wiki/page")
            assert page.backlinks == ()
            assert {link.reference for link in page.links} == {None}
            done = await app.writer.write("near", "The zeppelin code is 4711. See [[page]].")
            assert "memory/secret" not in {item.reference for item in done.similar}
            await app.writer.delete("near")
            assert app.jobs.list() == ()
            assert app.history.references() != one.history.references()
            assert app.history.versions("memory/secret") == ()
            with pytest.raises(NotFoundError):
                await app.writer.edit("secret", EditRequest(append="x"))
            with pytest.raises(NotFoundError):
                await app.writer.link("secret", "wiki/page")
            with pytest.raises(NotFoundError):
                await app.writer.restore("memory/secret")
            assert not (await app.writer.delete("secret")).deleted
        page = await one.reader.get("wiki/page")
        assert {back.reference for back in page.backlinks} == {"memory/secret"}


async def test_projects_are_shared_by_agents_and_each_agent_keeps_its_own_global_notes(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as home:
        rook, jay = home.app("rook", ONE), home.app("jay", ONE)
        await rook.writer.write("shared", "Both build the harbour.")
        await rook.writer.write("private", "Rook likes the harbour.", scope="global")
        assert listed(jay) == {"memory/shared": "project"}
        assert set(listed(rook)) == {"memory/shared", "memory/private"}


async def test_a_new_note_gets_no_name_that_the_other_inbox_has(tmp_path: Path) -> None:
    async with opened(tmp_path) as home:
        app = home.app("default", ONE)
        await app.writer.write("all", "For all.", scope="global")
        await app.writer.write("mine", "Of the project.")
        with pytest.raises(RefusedError, match="scope global"):
            await app.writer.write("all", "Another text.")
        with pytest.raises(RefusedError, match="scope project"):
            await app.writer.write("mine", "Another text.", scope="global")
        await app.writer.write("all", "For all, anew.", scope="global")
        await app.writer.write("mine", "Of the project, anew.", scope="project")
    assert text_of(tmp_path, "agents/default/memory/all.md").strip().endswith("anew.")
    assert not (tmp_path / "projects/one-11111111/memory/all.md").exists()


async def test_edit_delete_and_link_find_the_note_in_the_inbox_that_has_it(tmp_path: Path) -> None:
    async with opened(tmp_path) as home:
        app = home.app("default", ONE)
        await app.writer.write("all", "For all.", scope="global")
        await app.writer.write("mine", "Of the project.")
        await app.writer.edit("all", EditRequest(append="More for all."))
        await app.writer.edit("mine", EditRequest(append="More of it."))
        await app.writer.link("mine", "all")
        with pytest.raises(RefusedError, match="belongs to this project"):
            await app.writer.link("all", "mine")
        assert "More for all." in text_of(tmp_path, "agents/default/memory/all.md")
        assert "memory/mine" not in text_of(tmp_path, "agents/default/memory/all.md")
        assert (await app.writer.delete("all")).deleted
        assert (await app.writer.delete("mine")).deleted
        assert (await app.writer.restore("mine")).reference == "memory/mine"
        assert (await app.writer.restore("memory/all")).reference == "memory/all"
    assert "More of it." in text_of(tmp_path, "projects/one-11111111/memory/mine.md")
    assert "More for all." in text_of(tmp_path, "agents/default/memory/all.md")


async def both(home: Home) -> App:
    """An app of a project where both inboxes got a note of one name, from outside."""
    app = home.app("default", ONE)
    await app.writer.write("both", "The lighthouse of the project.")
    await home.app("default").writer.write("both", "The lighthouse for all.")
    assert await home.settled(SECONDS)
    return app


async def test_two_notes_of_one_name_have_a_reference_each(tmp_path: Path) -> None:
    async with opened(tmp_path) as home:
        app = await both(home)
        assert listed(app) == {"memory/both": "project", "global/both": "global"}
        assert await found(app, "lighthouse") == listed(app)
        for name, text in (
            ("memory/both", "of the project"),
            ("project/both", "of the project"),
            ("global/both", "for all"),
            ("global/both.md", "for all"),
        ):
            reading = await app.reader.get(name)
            assert text in reading.content
            assert reading.source == "memory"
            assert reading.reference == name.removesuffix(".md").replace("project/", "memory/")
        with pytest.raises(AmbiguousError, match="memory/both, global/both"):
            await app.reader.get("both")
        assert listed(home.app("default")) == {"memory/both": "global"}
        await app.writer.delete("project/both")
        assert listed(app) == {"memory/both": "global"}


async def test_a_name_that_two_notes_have_changes_neither(tmp_path: Path) -> None:
    async with opened(tmp_path) as home:
        app = await both(home)
        for attempt in (
            app.writer.write("both", "x"),
            app.writer.edit("both", EditRequest(append="x")),
            app.writer.delete("both"),
            app.writer.link("both", "global/both"),
        ):
            with pytest.raises(AmbiguousError):
                await attempt
        await app.writer.edit("global/both", EditRequest(append="Red."))
        await app.writer.edit("memory/both", EditRequest(append="Blue."))
        linked = await app.writer.link("memory/both", "global/both")
        assert [link.target for link in linked.links] == ["global/both"]
        done = await app.writer.write("both", "Green.", scope="global")
        assert done.reference == "global/both"
        reading = await app.reader.get("memory/both")
        assert [link.reference for link in reading.links] == ["global/both"]
    assert "Green." in text_of(tmp_path, "agents/default/memory/both.md")
    mine = text_of(tmp_path, "projects/one-11111111/memory/both.md")
    assert "Blue." in mine
    assert "Red." not in mine


async def test_what_was_read_of_one_note_is_no_licence_to_change_its_namesake(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as home:
        app = home.app("default", ONE)
        done = await app.writer.write("note", "For all.", scope="global")
        put(tmp_path, "projects/one-11111111/memory/note.md", "Of the project.\n")
        await app.index.sweep()
        assert await home.settled(SECONDS)
        with pytest.raises(ConflictError):
            await app.writer.edit("memory/note", EditRequest(append="x"), done.revision)


async def test_saved_texts_are_filed_in_the_inbox_of_their_scope(tmp_path: Path) -> None:
    async with opened(tmp_path) as home:
        app = home.app("default", ONE)
        mine = await app.saver.save("The kiln of the project fires at noon.")
        wide = await app.saver.save("Alice likes the kiln in general.", scope="global")
        assert (await app.jobs.finished(mine.job_id, SECONDS)).status == "done"
        assert (await app.jobs.finished(wide.job_id, SECONDS)).status == "done"
        assert {job.job_id for job in app.jobs.list()} == {mine.job_id, wide.job_id}
        outside = home.app("default").jobs.list()
        assert [job.job_id for job in outside] == [wide.job_id]
        assert home.app("default", OTHER).jobs.list() == outside
        assert set((await found(app, "kiln")).values()) == {"project", "global"}


async def test_jobs_of_a_project_are_done_by_the_next_engine(tmp_path: Path) -> None:
    journal = Journal(tmp_path / ".state" / "jobs")
    journal.add(
        "save-000000000001",
        kind="save",
        agent="default",
        project=ONE.id,
        created="2026-01-01T00:00:00+00:00",
        request={"content": "The anchor was saved before.", "context": None, "source_url": None},
    )
    async with opened(tmp_path) as home:
        app = home.app("default", ONE)
        assert (await app.jobs.finished("save-000000000001", SECONDS)).status == "done"
    (note,) = (tmp_path / "projects" / ONE.id / "memory").glob("*.md")
    assert "anchor" in note.read_text(encoding="utf-8")


async def test_a_memory_that_was_closed_opens_again_with_its_notes(tmp_path: Path) -> None:
    async with opened(tmp_path) as home:
        app = home.app("default", ONE)
        await app.writer.write("kept", "The compass is kept.")
        home.close("default", ONE)
        again = home.app("default", ONE)
        assert again is not app
        assert set(listed(again)) == {"memory/kept"}
        await again.saver.save("The sextant is new.")


async def test_project_scope_is_refused_where_there_is_no_project(tmp_path: Path) -> None:
    async with opened(tmp_path) as home:
        app = home.app("default")
        with pytest.raises(InputError, match="projects: auto"):
            await app.writer.write("x", "y", scope="project")
        with pytest.raises(InputError, match="unknown"):
            await home.app("default", ONE).writer.write("x", "y", scope="planet")


async def test_names_of_the_inboxes_are_no_names_of_sources_with_projects(tmp_path: Path) -> None:
    from memory_mcp.settings import load

    put(tmp_path, "config.yml", "projects: auto\nsources: {global: {path: a}, project: {path: b}}")
    with pytest.raises(ConfigError) as refused:
        load({}, {"home": str(tmp_path)})
    assert {problem.key for problem in refused.value.problems} == {
        "sources.global",
        "sources.project",
    }


async def test_no_source_shows_the_inboxes_of_projects(tmp_path: Path) -> None:
    for path in ("projects", "projects/one-11111111/memory"):
        with pytest.raises(ConfigError, match="projects of the home"):
            async with open_app(config_of(tmp_path, sources={"leak": {"path": path}})):
                pass


def file_in(root: Path, **sources: str) -> Project:
    settings = {name: SourceSettings(path=path) for name, path in sources.items()}
    return replace(ONE, file=ProjectFile(root, "0" * 64, sources=settings), folder=root)


async def test_the_vaults_of_a_trusted_project_are_seen_in_it_alone(tmp_path: Path) -> None:
    put(tmp_path, "repo/docs/guide.md", "The zither guide.")
    home_folder = tmp_path / "home"
    async with opened(home_folder) as home:
        app = home.app("default", file_in(tmp_path / "repo", docs="docs"))
        assert await home.settled(SECONDS)
        assert await found(app, "zither guide") == {"docs/guide": None}
        with pytest.raises(RefusedError):
            await app.writer.restore("docs/guide")
        for other in (home.app("default"), home.app("default", OTHER), home.app("default", ONE)):
            assert not await found(other, "zither guide")
            with pytest.raises(NotFoundError):
                await other.reader.get("docs/guide")


async def test_vaults_that_lead_out_of_the_project_or_to_others_are_left_out(
    tmp_path: Path,
) -> None:
    repo, home_folder = tmp_path / "repo", tmp_path / "repo" / "home"
    put(tmp_path, "private/diary.md", "The zither diary.")
    put(repo, "docs/guide.md", "x")
    (repo / "out").symlink_to(tmp_path / "private")
    project = file_in(repo, out="out", all=".", vault="other", twice="docs/below", state="home")
    sources = {"vault": {"path": str(tmp_path / "v")}, "mine": {"path": str(repo / "docs")}}
    async with opened(home_folder, sources=sources) as home:
        app = home.app("default", project)
        assert [source.name for source in app.sources] == [
            "memory",
            "memory",
            "wiki",
            "mine",
            "vault",
        ]
        assert len(app.warnings) == 5
        assert any("out of the project's folder" in text for text in app.warnings)
        assert not await found(app, "zither diary")
