"""From a conversation to a page that a search finds first, and all the way back, byte for byte.

Real fronts and the real engine, the bundled model, hooks and commands as processes of their own;
only the chat model follows a script.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest
import yaml

from tests.curate.transcripts.test_speech import claude
from tests.front.hooks import run_hook
from tests.journeys.runs import memory
from tests.journeys.test_engine import House, found, house
from tests.scripted_model import Request, Rule, ScriptedModel, call
from tests.server.test_dream_tools import FIELDS
from tests.server.worlds import Talk, write_files

__all__ = ["house"]

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.timeout(180)]

AT = "2026-03-01T10:00:00Z"
TALK = (
    ("user", "From now on I want every invoice in Swiss francs, never in euros."),
    ("assistant", "Understood. The build is green and has 412 tests right now."),
    ("user", "And Mara Lindt takes over the bookkeeping on 1 July 2026."),
    ("user", "By the way, my dentist is still Dr. Kern in Wels, he takes no calls on Fridays."),
)
HEADER = "title: Mara Lindt   # as she writes it\r\ntags: [people]\r\n"
MARA = f"---\r\n{HEADER}---\r\n\r\n# Mara Lindt\r\n\r\nShe runs the studio in Basel.  \r\n\r\n\r\n"
BY_HAND = f"{MARA}<!-- ask before calling -->\r\n*  her desk is by the window\r\n"
SHELF = "The router of the summer house stands behind the blue shelf in the hall."
NOTES = {
    "memory/dentist.md": "---\nwiki_promote: false\n---\nMy dentist is Dr. Kern in Wels.\n",
    "wiki/people/mara-lindt.md": MARA,
    "wiki/garden.md": "# Garden\n\nThe seeds are with [[mara-lind]] until May.\n",
    "wiki/boiler.md": "# Boiler\n\nThe valve of the boiler is V7.\n",
    "wiki/house.md": "# House\n\nThe valve of the boiler is V9.\n\n[It](boiler.md), [[router]].\n",
    "wiki/router.md": f"# Router\n\n{SHELF}\n",
    "wiki/summer-house.md": f"# Summer house\n\n{SHELF}\n",
}
FRANCS = "Invoices are written in Swiss francs, never in euros."
BOOKS = "Mara Lindt does the bookkeeping from 1 July 2026."


def fact(slug: str, text: str, quote: str, action: str = "memory_write", **more: str) -> Any:
    title = slug.replace("-", " ").capitalize()
    return {"action": action, "slug": slug, "title": title, "text": text, "quote": quote, **more}


FACTS = (
    fact("invoice-currency", FRANCS, "every invoice in Swiss francs", kind="decision"),
    fact("mara-books", BOOKS, "Mara Lindt takes over the bookkeeping on 1 July 2026"),
    fact(
        "dentist", "He takes no calls on Fridays.", "he takes no calls on Fridays", "memory_edit"
    ),
    fact("doctor", "Dr. Kern in Wels is the dentist.", "my dentist is still Dr. Kern in Wels"),
    fact("tests", "The build has 412 tests.", "The build is green and has 412", kind="state"),
)


def judged(request: Request) -> str:
    """The planted pairs are what they are; any other is neither."""
    verdicts = []
    for number, pair in enumerate(re.split(r"\nPair \d+:", request.prompt)[1:], 1):
        planted = "contradiction" if "V7" in pair and "V9" in pair else "neither"
        verdict = "duplicate" if pair.count("blue shelf") == 2 else planted
        verdicts.append({"pair": number, "verdict": verdict, "why": "One says V7, one V9."})
    return json.dumps({"verdicts": verdicts})


RULES = (
    Rule("propose what a long-term memory should keep", json.dumps({"facts": FACTS})),
    Rule(
        r"The note:.{0,600}MEMORY\[memory/invoice-currency",
        "Made decisions/invoice-currency.",
        [
            call(
                "wiki_create",
                path="decisions/invoice-currency",
                content=f"# Invoice currency\n\n{FRANCS}\n",
                frontmatter={"description": "The currency of invoices", "tags": ["decision"]},
            )
        ],
    ),
    Rule(
        r"The note:.{0,600}MEMORY\[memory/mara-books",
        "Merged into people/mara-lindt.",
        [call("wiki_edit", path="people/mara-lindt", append=f"Mara books. {BOOKS}")],
    ),
    Rule("You compare two passages", judged),
)


class Story:
    """The home, what it held at each step, and how it is asked."""

    def __init__(self, house: House, talk: Talk) -> None:
        self.house = house
        self.talk = talk

    def tree(self) -> dict[str, bytes]:
        """All files of inbox and wiki."""
        return {
            path.relative_to(self.house.home).as_posix(): path.read_bytes()
            for folder in ("agents", "wiki")
            for path in (self.house.home / folder).rglob("*")
            if path.is_file()
        }

    def page(self, path: str) -> str:
        return (self.house.home / "wiki" / f"{path}.md").read_bytes().decode("utf-8")

    async def done(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return await self.talk.done(tool, **arguments)

    async def phase(self, name: str) -> dict[str, Any]:
        """Run a phase to its end; its job as a client sees it."""
        asked = await self.done("dream_run", phase=name)
        assert set(asked) == {"job_id", "status"}
        with anyio.fail_after(30):
            while True:
                job: dict[str, Any]
                (job,) = (await self.done("memory_jobs", job_id=asked["job_id"]))["jobs"]
                if job["status"] in ("done", "failed"):
                    break
                await anyio.sleep(0.05)
        assert (job["status"], job["error"], job["kind"]) == ("done", None, f"dream-{name}"), job
        return job

    async def findings(self, phase: str) -> tuple[str, dict[str, dict[str, Any]]]:
        """The one pass of a phase with findings that wait, and these by what they are."""
        rows = [row for row in (await self.done("dream_list"))["dreams"] if row["phase"] == phase]
        (row,) = rows
        got = await self.done("dream_get", dream_id=row["dream_id"])
        assert {"dream_id", "phase", "created", "findings"} <= set(got)
        waiting = [item for item in got["findings"] if item["status"] == "pending"]
        assert row["pending"] == len(waiting) and row["total"] == len(got["findings"])
        assert all(set(item) == FIELDS for item in waiting)
        return row["dream_id"], {item["finding_id"]: item for item in waiting}

    async def command(self, *words: str) -> str:
        """What a person's command prints while the engine runs."""
        asked = partial(memory, self.house.home, *words, environ=self.house.environ)
        return await anyio.to_thread.run_sync(asked)

    async def back(self, run: str) -> set[str]:
        """Take a run back as a person does; the notes that are as they were."""
        told = json.loads(await self.command("restore", "--run", run, "--json"))
        assert told["run"] == run
        return set(told["restored"])


@contextmanager
def configured(house: House) -> Iterator[ScriptedModel]:
    """The home of the story, with a model as its reasoner."""
    del house.environ["MEMORY_MCP_EMBEDDING__PROVIDER"]
    for path in house.home.rglob("*.md"):
        path.unlink()
    write_files(house.home, NOTES)
    with ScriptedModel(*RULES) as model:
        settings = {**model.config(), "tools": ["core", "curation"]}
        (house.home / "config.yml").write_text(yaml.safe_dump(settings), encoding="utf-8")
        yield model


def end_session(house: House, folder: Path) -> None:
    """A conversation has ended, and the client's hook says so."""
    path = folder / "talk.jsonl"
    lines = [claude(role, text, timestamp=AT, sessionId="s1") for role, text in TALK]
    path.write_bytes(b"\n".join(lines) + b"\n")
    said = {"session_id": "s1", "transcript_path": str(path), "cwd": str(folder)}
    assert run_hook(house.environ, "session-end", said).fine().out == ""


async def approve(it: Story) -> list[str]:
    """The facts of the conversation: three are approved, one is dismissed. The runs."""
    start = it.tree()
    job = await it.phase("rem")
    assert "412" not in job["outcome"] and job["changed"] == []
    dream_id, waiting = await it.findings("rem")
    facts = {item["reference"].partition("/")[2]: item for item in waiting.values()}
    assert set(facts) == {"invoice-currency", "mara-books", "dentist", "doctor"}
    assert it.tree() == start  # nothing is written before somebody approves
    books = facts["mara-books"]
    assert (books["action"], books["proposed_content"]) == ("memory_write", BOOKS)
    assert f"The person said on {AT}: “Mara Lindt takes over" in books["reason"]
    assert not books["likely_duplicate"]
    twice = facts.pop("doctor")
    assert (twice["likely_duplicate"], twice["duplicate_of"]) == (True, "memory/dentist")
    assert "Dr. Kern in Wels" in twice["matched_excerpt"] and twice["novel_details"] == []
    put_aside = await it.done(
        "dream_dismiss", dream_id=dream_id, finding_id=twice["finding_id"], reason="Known."
    )
    assert (put_aside["status"], put_aside["changed"], put_aside["left"]) == ("dismissed", [], 3)
    runs = []
    for left, item in zip((2, 1, 0), facts.values(), strict=True):
        done = await it.done("dream_apply", dream_id=dream_id, finding_id=item["finding_id"])
        assert done == {
            "dream_id": dream_id,
            "finding_id": item["finding_id"],
            "status": "applied",
            "changed": [item["reference"]],
            "left": left,
        }
        runs.append(f"{dream_id}-{item['finding_id']}")
    note = await it.done("memory_get", reference="memory/mara-books")
    assert note["provenance"]["kind"] == "conversation", note["provenance"]
    assert BOOKS in note["content"] and note["frontmatter"]["stated_at"] == AT
    return runs


async def promote(it: Story) -> str:
    """The inbox goes into the wiki: one note as a page, one into a page a person just edited."""
    job = await it.phase("deep")
    assert set(job["changed"]) >= {
        *("wiki/decisions/invoice-currency", "wiki/people/mara-lindt", "wiki/index"),
        *("memory/invoice-currency", "memory/mara-books"),
    }
    assert "2 notes went into the wiki; 1 kept in the inbox" in job["outcome"]
    assert list((it.house.home / "agents/default/memory").iterdir()) == [it.house.note("dentist")]
    merged = it.page("people/mara-lindt")
    _, header, body = merged.split("---\r\n", 2)
    assert header.startswith(HEADER) and "note: memory/mara-books" in header
    assert body.startswith(BY_HAND.split("---\r\n", 2)[2]) and BOOKS in body
    assert "\n" not in merged.replace("\r\n", "")
    promoted = await it.done("memory_get", reference="wiki/decisions/invoice-currency")
    assert FRANCS in promoted["content"]
    (source,) = promoted["frontmatter"]["sources"]
    assert (source["note"], source["kind"]) == ("memory/invoice-currency", "conversation")
    (log,) = (path.read_text(encoding="utf-8") for path in it.house.home.glob("wiki/logs/*"))
    assert log.count("from memory/") == 2 and "by scripted" in log
    return str(job["job_id"])


async def inspect(it: Story) -> tuple[str, dict[str, str]]:
    """What is wrong with the wiki: the pass, and its planted findings by kind."""
    before = it.tree()
    job = await it.phase("lucid")
    assert it.tree() == before and job["changed"] == []
    dream_id, waiting = await it.findings("lucid")
    assert dream_id in job["outcome"]
    planted = {
        kind: item
        for kind in ("contradiction", "dead_link", "duplicate")
        for item in waiting.values()
        if item["kind"] == kind
    }
    assert [item["kind"] for item in waiting.values()].count("contradiction") == 1
    assert set(planted["contradiction"]["evidence"]) == {"wiki/boiler", "wiki/house"}
    assert all(value in planted["contradiction"]["reason"] for value in ("V7", "V9"))
    dead = planted["dead_link"]
    assert (dead["reference"], dead["action"]) == ("wiki/garden", "wiki_edit")
    assert "wiki/people/mara-lindt" in dead["reason"]
    twice = planted["duplicate"]
    assert {twice["reference"], twice["duplicate_of"]} == {"wiki/router", "wiki/summer-house"}
    assert "blue shelf" in twice["matched_excerpt"]
    return dream_id, {kind: item["finding_id"] for kind, item in planted.items()}


async def review(it: Story, dream_id: str, planted: dict[str, str]) -> str:
    """The agent mends what was found, and says so; the run of the review."""
    assert "No review" in await it.talk.refused("wiki_edit", path="house", append="x")
    opened = await it.done("dream_review", action="start", dream_id=dream_id)
    assert opened["active"] and opened["dream_id"] == dream_id and opened["expires"]
    for path in ("garden", "house", "boiler", "summer-house"):
        await it.done("memory_get", reference=f"wiki/{path}")
    edited = await it.done(
        "wiki_edit",
        path="house",
        old_text="is V9.",
        new_text="is V7; V9 was the old one.",
        frontmatter={"contradicts": "router"},
    )
    assert edited["reference"] == "wiki/house" and edited["replaced_revision"]
    await it.done(
        "wiki_edit", path="garden", old_text="[[mara-lind]]", new_text="[[mara-lindt|Mara]]"
    )
    moved = await it.done("wiki_move", path="boiler", new_path="things/boiler")
    assert (moved["reference"], moved["old_reference"]) == ("wiki/things/boiler", "wiki/boiler")
    assert moved["relinked"] == ["wiki/house"]
    gone = await it.done("wiki_delete", path="summer-house")
    assert gone["deleted"] and gone["revision"]
    for kind, finding_id in planted.items():
        done = await it.done(
            "dream_apply", dream_id=dream_id, finding_id=finding_id, resolved_manually=True
        )
        assert (done["status"], done["changed"]) == ("applied", []), kind
    await it.done("dream_dismiss", dream_id=dream_id, reason="As it should be.")
    ended = await it.done("dream_review", action="end", summary="One boiler, one router.")
    assert (ended["active"], ended["open"], ended["run"]) == (False, 0, opened["run"])
    assert "No review" in await it.talk.refused("wiki_delete", path="house")
    assert (
        "[It](things/boiler.md)" in it.page("house")
        and not (it.house.home / "wiki/boiler.md").exists()
    )
    return str(opened["run"])


async def is_known(it: Story) -> None:
    """The index names the pages as they are now, and a search finds the facts first."""
    index = it.page("index")
    decisions, _, others = index.partition("## Active")
    assert "[[decisions/invoice-currency]]" in decisions
    assert "[[things/boiler]]" in others and "summer-house" not in others
    (log,) = (it.house.home / "wiki/logs").iterdir()
    assert "review: One boiler, one router." in log.read_text(encoding="utf-8")
    for query, reference in (
        ("Who does the bookkeeping from July?", "wiki/people/mara-lindt"),
        ("In which currency are our invoices?", "wiki/decisions/invoice-currency"),
        ("Which valve does the boiler have?", "wiki/things/boiler"),
    ):
        assert (await found(it.talk, query))[0] == reference, query
    shown = await it.command("search", "What is on the page house?", "--limit", "9")
    assert "\n   contradicts wiki/router\n" in shown


async def test_talk_becomes_knowledge_and_every_step_can_be_taken_back(
    house: House, tmp_path: Path
) -> None:
    with configured(house):
        async with house.client() as talk:
            it = Story(house, talk)
            await anyio.to_thread.run_sync(house.look, "memory/dentist")
            end_session(house, tmp_path)
            start = it.tree()
            approvals = await approve(it)
            page = house.home / "wiki/people/mara-lindt.md"
            page.write_bytes(BY_HAND.encode("utf-8"))
            edited = it.tree()
            deep = await promote(it)
            promoted = it.tree()
            dream_id, planted = await inspect(it)
            run = await review(it, dream_id, planted)
            await is_known(it)

            assert await it.back(run) >= {"wiki/house", "wiki/summer-house"}
            assert it.tree() == promoted
            assert set((await it.findings("lucid"))[1]) == set(planted.values())
            assert await it.back(deep) >= {"memory/mara-books", "wiki/people/mara-lindt"}
            assert it.tree() == edited
            for approval in reversed(approvals):
                assert len(await it.back(approval)) == 1
            assert len((await it.findings("rem"))[1]) == len(approvals)  # they wait again
            assert it.tree() == {**start, "wiki/people/mara-lindt.md": BY_HAND.encode("utf-8")}
            page.write_bytes(MARA.encode("utf-8"))
            assert it.tree() == start
