"""Two agents and more in one home: each has its own memory, and they share the rest."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from memory_mcp.app import App, Home, open_app, open_home
from memory_mcp.core.config import Config
from memory_mcp.core.errors import ConfigError, ConflictError, NotFoundError
from memory_mcp.curate.jobs.journal import Journal
from memory_mcp.search.hit import SearchRequest
from tests.fakes import HashEmbedder

pytestmark = pytest.mark.anyio

SECONDS = 8.0
QUIET = {"watch": False, "sweep_seconds": 0, "rescan_minutes": 0}


def config_of(home: Path, **settings: Any) -> Config:
    return Config.model_validate({"home": str(home), "index": QUIET, **settings})


@asynccontextmanager
async def opened(
    home: Path, *, start: bool = True, embedder: HashEmbedder | None = None, **settings: Any
) -> AsyncIterator[Home]:
    """A home at work; nobody has a memory in it yet."""
    fake = embedder or HashEmbedder()
    async with open_home(config_of(home, **settings), embedder=lambda: fake) as there:
        if start:
            there.start()
            assert await there.settled(SECONDS)
        yield there


async def found(app: App, query: str) -> list[str]:
    """References of what a search finds."""
    result = await app.searcher.search(SearchRequest(query))
    return [hit.card.reference for hit in result.hits]


def listed(app: App, source: str = "all") -> list[str]:
    return [card.reference for card in app.reader.list(source).rows]


def write(home: Path, name: str, text: str) -> Path:
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


async def test_each_agent_finds_reads_and_lists_its_own_notes_and_what_all_share(
    tmp_path: Path,
) -> None:
    write(tmp_path, "wiki/page.md", "Everybody knows the harbour.")
    async with opened(tmp_path) as home:
        rook, jay = home.app("rook"), home.app("jay")
        await rook.writer.write("boat", "The harbour has a blue boat.")
        await rook.writer.write("secret", "Rook alone knows the code of the harbour.")
        await jay.writer.write("boat", "The harbour has a red boat.")
        assert sorted(await found(rook, "harbour")) == [
            "memory/boat",
            "memory/secret",
            "wiki/page",
        ]
        assert sorted(await found(jay, "harbour")) == ["memory/boat", "wiki/page"]
        assert "blue" in (await rook.reader.get("memory/boat")).content
        assert "red" in (await jay.reader.get("boat")).content
        assert listed(jay) == ["memory/boat", "wiki/page"]
        with pytest.raises(NotFoundError) as caught:
            await jay.reader.get("memory/secret")
        assert "Did you mean" not in str(caught.value)
        with pytest.raises(NotFoundError):
            await jay.writer.link("boat", "secret")
        assert "secret" not in await jay.recall.fresh_section()
        assert "1 note in `memory`" in await jay.recall.fresh_section()
        assert jay.index.state().sources["memory"].files == 1


async def test_similar_notes_and_repeated_facts_are_looked_for_in_the_own_inbox_only(
    tmp_path: Path,
) -> None:
    text = "The key of the boat house hangs behind the stove."
    async with opened(tmp_path) as home:
        rook, jay = home.app("rook"), home.app("jay")
        await rook.writer.write("key", text)
        assert (await jay.writer.write("where-the-key-is", text)).similar == ()
        await jay.writer.delete("where-the-key-is")
        job = await jay.saver.save(text)
        done = await jay.jobs.finished(job.job_id, SECONDS)
        assert (done.status, len(done.changed)) == ("done", 1)
        again = await jay.jobs.finished((await jay.saver.save(text)).job_id, SECONDS)
        assert again.changed == ()


async def test_a_shared_page_is_found_by_all_the_moment_it_is_written(tmp_path: Path) -> None:
    page = write(tmp_path, "wiki/page.md", "The old text.")
    async with opened(tmp_path) as home:
        rook, jay = home.app("rook"), home.app("jay")
        assert await home.settled(SECONDS)
        rook.history.keep("wiki/page", b"The ferry leaves at noon.", rook.clock.now())
        await rook.writer.restore("wiki/page")
        assert await found(jay, "ferry") == ["wiki/page"]
        assert page.read_text(encoding="utf-8") == "The ferry leaves at noon."


async def test_an_agent_that_comes_later_joins_the_index_that_runs(tmp_path: Path) -> None:
    write(tmp_path, "agents/jay/memory/old.md", "Jay wrote this before.")
    index = {"watch": True, "sweep_seconds": 0, "rescan_minutes": 0}
    async with opened(tmp_path, index=index) as home:
        rook = home.app("rook")
        assert await home.settled(SECONDS)
        jay = home.app("jay")
        assert home.app("jay") is jay
        assert await home.settled(SECONDS)
        assert await found(jay, "before") == ["memory/old"]
        heard = anyio.Event()
        jay.index.subscribe(lambda event: heard.set())
        write(tmp_path, "agents/jay/memory/typed.md", "Typed in an editor.")
        with anyio.fail_after(SECONDS):
            await heard.wait()
        assert await found(jay, "editor") == ["memory/typed"]
        assert await found(rook, "editor") == []


async def test_agents_that_come_before_the_start_are_there_after_it(tmp_path: Path) -> None:
    write(tmp_path, "agents/jay/memory/a.md", "Jay.")
    write(tmp_path, "agents/rook/memory/a.md", "Rook.")
    async with opened(tmp_path, start=False) as home:
        jay, rook = home.app("jay"), home.app("rook")
        rook.start()
        jay.start()
        assert await jay.settled(SECONDS)
        assert await found(jay, "jay") == ["memory/a"]
        assert await found(rook, "rook") == ["memory/a"]


async def test_a_restart_embeds_nobodys_notes_again(tmp_path: Path) -> None:
    first, second = HashEmbedder(), HashEmbedder()
    for embedder in (first, second):
        async with opened(tmp_path, embedder=embedder) as home:
            for agent in ("rook", "jay", "daw"):
                app = home.app(agent)
                if embedder is first:
                    await app.writer.write("name", f"I am {agent}.")
            assert await home.settled(SECONDS)
            assert home.index.state().vectors == 3
    assert len(first.calls) == 3
    assert second.calls == []


async def test_each_agent_sees_and_does_its_own_jobs(tmp_path: Path) -> None:
    async with opened(tmp_path) as home:
        rook, jay = home.app("rook"), home.app("jay")
        job = await rook.saver.save("Rook collects stamps.")
        done = await rook.jobs.finished(job.job_id, SECONDS)
        assert done.status == "done"
        assert jay.jobs.list() == ()
        with pytest.raises(NotFoundError):
            jay.jobs.list(job.job_id)
        assert listed(jay, "memory") == []
        assert listed(rook, "memory") == list(done.changed)
        assert home.jobs_waiting() == 0


async def test_a_job_of_the_same_id_is_noted_once_and_belongs_to_one_agent(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path, start=False) as home:
        rook, jay = home.app("rook"), home.app("jay")
        first = await rook.saver.save("Once.", job_id="save-abc")
        again = await rook.saver.save("Once.", job_id="save-abc")
        assert first == again
        assert len(rook.jobs.list()) == 1
        with pytest.raises(ConflictError):
            await jay.saver.save("Once.", job_id="save-abc")
        assert jay.jobs.list() == ()


async def test_a_job_of_an_agent_that_is_not_open_is_done_when_the_home_starts(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path, start=False) as home:
        job = await home.app("jay").saver.save("Jay's bicycle is green.")
        assert home.jobs_waiting() == 1
    async with open_app(config_of(tmp_path, agent="rook"), embedder=HashEmbedder) as rook:
        filed = anyio.Event()
        rook.home.index.subscribe(lambda event: filed.set() if event.changed else None)
        rook.start()
        with anyio.fail_after(SECONDS):
            await filed.wait()
            jay = rook.home.app("jay")
            assert (await jay.jobs.finished(job.job_id)).status == "done"
        assert listed(rook, "memory") == []
        assert rook.jobs.list() == ()


async def test_jobs_of_an_agent_that_another_process_serves_are_left_to_it(
    tmp_path: Path,
) -> None:
    async with open_app(config_of(tmp_path, agent="jay"), embedder=HashEmbedder) as jay:
        jay.start()
        job = await jay.saver.save("Jay's bicycle is green.")
        assert (await jay.jobs.finished(job.job_id, SECONDS)).status == "done"
        journal = Journal(tmp_path / ".state" / "jobs")
        journal.add("save-later", kind="save", agent="jay", created="2026-01-01", request={})
        journal.add("save-other", kind="save", agent="daw", created="2026-01-01", request={})
        assert journal.owners_left() == {("daw", None)}


async def test_a_job_of_nobody_is_the_default_agents(tmp_path: Path) -> None:
    journal = Journal(tmp_path / ".state" / "jobs")
    journal.add(
        "save-old", kind="save", created="2026-01-01", request={"content": "The tide is at six."}
    )
    async with opened(tmp_path, start=False) as home:
        rook, default = home.app("rook"), home.app("default")
        assert rook.jobs.list() == ()
        home.start()
        assert (await default.jobs.finished("save-old", SECONDS)).status == "done"
        assert len(listed(default, "memory")) == 1


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../rook", "a/b", "a\\b", "rook\n", "con", "NUL.x", "rook.", "é", "~"]
)
async def test_a_name_that_is_no_name_of_an_agent_opens_nothing(tmp_path: Path, name: str) -> None:
    async with opened(tmp_path / "home", start=False) as home:
        home.app("rook")
        with pytest.raises(ConfigError, match="agent"):
            home.app(name)
        assert [path.name for path in (tmp_path / "home/agents").iterdir()] == ["rook"]
    with pytest.raises(ValueError, match="agent"):
        Config.model_validate({"home": str(tmp_path), "agent": name})
    with pytest.raises(ValueError, match="agent"):
        token = {"name": "t", "token_env": "T", "agent": name}
        Config.model_validate({"home": str(tmp_path), "http": {"tokens": [token]}})


async def test_two_agents_whose_folders_are_linked_share_one_source(tmp_path: Path) -> None:
    write(tmp_path, "agents/rook/memory/a.md", "One text.")
    (tmp_path / "agents/jay").symlink_to("rook")
    async with opened(tmp_path) as home:
        rook, jay = home.app("rook"), home.app("jay")
        assert await home.settled(SECONDS)
        assert rook.sources[0] is jay.sources[0]
        assert len(home.index.sources) == 2
        await jay.writer.write("b", "Both see it.")
        assert listed(rook, "memory") == ["memory/a", "memory/b"]


async def test_an_inbox_that_all_agents_share_is_one_source(tmp_path: Path) -> None:
    async with opened(tmp_path, sources={"memory": {"path": "notes"}}) as home:
        rook, jay = home.app("rook"), home.app("jay")
        await rook.writer.write("a", "Written by rook.")
        assert await found(jay, "rook") == ["memory/a"]
        await jay.writer.write("a", "Written by jay.")
        assert rook.history.references() == ("memory/a",)
        job = await rook.saver.save("A fact of rook's.")
        assert (await rook.jobs.finished(job.job_id, SECONDS)).status == "done"
        assert jay.jobs.list() == ()
        assert [source.id for source in home.index.sources] == ["memory", "wiki"]


async def test_a_vault_around_the_inboxes_shows_none_of_them(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    write(vault, "home/agents/rook/memory/a.md", "Rook's own.")
    write(vault, "note.md", "A note of the vault.")
    inbox = {"path": str(vault / "home" / "agents" / "{agent}" / "memory")}
    sources = {"vault": {"path": str(vault)}, "memory": inbox}
    async with opened(tmp_path / "home", sources=sources) as home:
        jay = home.app("jay")
        assert await home.settled(SECONDS)
        (vault / "home" / "agents" / "daw" / "memory").mkdir(parents=True)
        await home.app("daw").writer.write("b", "Daw's own.")
        await home.index.sweep()
        assert await home.settled(SECONDS)
        assert listed(jay) == ["vault/note"]
        for reference in ("vault/home/agents/rook/memory/a", "vault/home/agents/daw/memory/b"):
            with pytest.raises(NotFoundError):
                await jay.reader.get(reference)


async def test_a_vault_whose_every_folder_could_be_an_agents_is_refused(tmp_path: Path) -> None:
    sources = {"memory": {"path": "v/{agent}"}, "vault": {"path": "v"}}
    with pytest.raises(ConfigError, match=r"sources\.memory\.path: every folder in .*agents"):
        async with open_home(config_of(tmp_path, sources=sources)):
            pass


async def test_each_agent_may_have_a_vault_of_its_own(tmp_path: Path) -> None:
    write(tmp_path, "vaults/rook/x.md", "Rook's vault.")
    write(tmp_path, "vaults/jay/y.md", "Jay's vault.")
    async with opened(tmp_path, sources={"vault": {"path": "vaults/{agent}"}}) as home:
        rook, jay = home.app("rook"), home.app("jay")
        assert await home.settled(SECONDS)
        assert listed(rook) == ["vault/x"]
        assert listed(jay) == ["vault/y"]
        assert await found(jay, "vault") == ["vault/y"]


async def test_read_only_settings_hold_for_every_agent(tmp_path: Path) -> None:
    Journal(tmp_path / ".state" / "jobs").add(
        "save-x", kind="save", agent="daw", created="2026-01-01", request={"content": "Text."}
    )
    async with opened(tmp_path, writing={"read_only": True}) as home:
        assert home.app("rook").writer.read_only
        assert home.app("jay").writer.read_only
        assert home.app("daw").jobs.list()[0].status == "queued"
        assert home.jobs_waiting() == 0


async def test_a_home_makes_no_inbox_until_an_agent_comes(tmp_path: Path) -> None:
    async with opened(tmp_path):
        assert not (tmp_path / "agents").exists()
