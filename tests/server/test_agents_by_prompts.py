"""The prompts as a script: an agent that does what they say, by tools alone and no reasoner."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from memory_mcp.curate.review.findings import Finding
from memory_mcp.settings.prompts import shipped
from tests.server.worlds import SECONDS, Talk, World, talking, world

pytestmark = pytest.mark.anyio

PROMPTS = ("remember", "recall", "enrich", "review", "orient")

FACTS = {
    "Alice Moreau moved to Lyon on 2026-03-02.": "people/alice-moreau",
    "Alice Moreau does not eat nuts.": "people/alice-moreau",
    "Alice Moreau's daughter Inès was born on 2021-07-19.": "people/alice-moreau",
    "The kitchen renovation costs 14,800 euros and begins in May.": "threads/kitchen",
    "The electrician for the kitchen is Ruedi Ganter, phone 0761 55512.": "threads/kitchen",
    "The kitchen gets an induction hob, not gas.": "threads/kitchen",
    "The summer house key hangs behind the blue shutter.": "places/summer-house",
    "The summer house pump must be drained before the first frost.": "places/summer-house",
    "The boat Seeschwalbe lies at berth 42 until October.": "places/harbour",
    "Berth 42 in the harbour costs 310 euros a year.": "places/harbour",
}

FINDINGS = (
    Finding(
        "1",
        "wanted_page",
        "wiki_edit",
        "wiki/threads/kitchen",
        "The page names no place.",
        {"path": "threads/kitchen", "append": "\nSee [[wiki/places/harbour]].\n"},
    ),
    Finding("2", "misnamed", "none", "wiki/places/harbour", "The page should be named marina."),
    Finding("3", "oversized", "none", "wiki/people/alice-moreau", "The page is long."),
)


def named_tools(text: str) -> set[str]:
    return set(re.findall(r"`((?:memory|dream|wiki)_\w+)`", text)) - {"dream_id"}


async def offered(talk: Talk) -> set[str]:
    return {tool.name for tool in (await talk.client.list_tools()).tools}


async def told(talk: Talk, name: str, **arguments: str) -> str:
    """What a prompt says, over the wire."""
    message = (await talk.client.get_prompt(name, arguments)).messages[0]
    return str(getattr(message.content, "text", ""))


@dataclass
class Agent:
    """Does the steps of the prompts, with nothing but a client."""

    place: World
    talk: Talk
    log: list[str] = field(default_factory=list)

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        self.log.append(tool)
        return await self.talk.done(tool, **arguments)

    async def remember(self, fact: str) -> None:
        job = await self.call("memory_save", content=fact)
        await self.place.app.jobs.finished(job["job_id"], SECONDS)
        (row,) = (await self.call("memory_jobs", job_id=job["job_id"]))["jobs"]
        assert (row["status"], row["error"]) == ("done", None)

    async def read(self, reference: str) -> dict[str, Any]:
        """All of a note, page by page."""
        found = await self.call("memory_get", reference=reference)
        while found["next_offset"] is not None:
            more = await self.call("memory_get", reference=reference, offset=found["next_offset"])
            found = {**more, "content": found["content"] + more["content"]}
        return found

    async def forget(self, note: dict[str, Any]) -> None:
        """Delete a note as it was read."""
        slug = slug_of(note["reference"])
        gone = await self.call("memory_delete", slug=slug, if_revision=note["revision"])
        assert gone["deleted"] is True

    async def inbox(self) -> list[str]:
        """The notes that wait, the oldest first."""
        notes = (await self.call("memory_list", source="memory"))["notes"]
        notes.sort(key=lambda note: (note["created"] or "", note["reference"]))
        return [note["reference"] for note in notes if not note["pinned"]]

    async def found(self, query: str) -> list[str]:
        return [
            hit["reference"] for hit in (await self.call("memory_search", query=query))["hits"]
        ]


def slug_of(reference: str) -> str:
    return reference.removeprefix("memory/")


def fact_of(note: dict[str, Any]) -> str:
    """The fact that a note of the inbox holds."""
    return next(fact for fact in FACTS if fact in note["content"])


async def enriched(agent: Agent) -> None:
    """The prompt `enrich`, step by step."""
    assert "dream_review" in await told(agent.talk, "enrich")
    pages = {row["reference"] for row in (await agent.call("memory_list", source="wiki"))["notes"]}
    assert (await agent.call("dream_review", action="start"))["active"] is True
    for reference in await agent.inbox():
        note = await agent.read(reference)
        fact = fact_of(note)
        path = FACTS[fact]
        await agent.found(fact)
        if f"wiki/{path}" in pages:
            await agent.read(f"wiki/{path}")
            await agent.call("wiki_edit", path=path, append=f"\n{fact}\n")
        else:
            title = path.rpartition("/")[2].replace("-", " ").title()
            await agent.call(
                "wiki_create",
                path=path,
                content=f"# {title}\n\n{fact}\n",
                frontmatter={"description": f"What is known of {title}", "tags": ["filed"]},
            )
            pages.add(f"wiki/{path}")
        assert fact in (await agent.read(f"wiki/{path}"))["content"]
        await agent.forget(note)
    done = await agent.call("dream_review", action="end", summary="Ten facts are on four pages.")
    assert done["active"] is False


async def checked(agent: Agent) -> None:
    """Where nothing waits, the prompt `review` has the wiki looked through first."""
    assert (await agent.call("dream_list"))["dreams"] == []
    job = await agent.call("dream_run", phase="lucid")
    await agent.place.app.jobs.finished(job["job_id"], SECONDS)
    (row,) = (await agent.call("memory_jobs", job_id=job["job_id"]))["jobs"]
    assert (row["status"], row["error"]) == ("done", None)
    (dream,) = (await agent.call("dream_list"))["dreams"]
    findings = (await agent.call("dream_get", dream_id=dream["dream_id"]))["findings"]
    (dead,) = (finding for finding in findings if finding["kind"] == "dead_link")
    await agent.read(dead["reference"])
    await agent.call("dream_review", action="start", dream_id=dream["dream_id"])
    old, new = "[[people/nobody]]", "[[people/alice-moreau]]"
    await agent.call("wiki_edit", path="threads/boat", old_text=old, new_text=new)
    assert new in (await agent.read("wiki/threads/boat"))["content"]
    mine = {"dream_id": dream["dream_id"], "finding_id": dead["finding_id"]}
    await agent.call("dream_apply", **mine, resolved_manually=True)
    done = await agent.call("dream_dismiss", dream_id=dream["dream_id"], reason="It may stay so.")
    assert done["left"] == 0
    await agent.call("dream_review", action="end", summary="The boat's page leads somewhere.")


async def reviewed(agent: Agent, dream_id: str) -> None:
    """The prompt `review`, step by step: one applied, one done otherwise, one put aside."""
    assert dream_id in await told(agent.talk, "review", dream_id=dream_id)
    assert (await agent.call("dream_list"))["dreams"][0]["dream_id"] == dream_id
    findings = (await agent.call("dream_get", dream_id=dream_id))["findings"]
    for finding in findings:
        await agent.read(finding["reference"])
    first, second, third = (finding["finding_id"] for finding in findings)
    await agent.call("dream_apply", dream_id=dream_id, finding_id=first)
    await agent.call("dream_review", action="start", dream_id=dream_id)
    moved = await agent.call("wiki_move", path="places/harbour", new_path="places/marina")
    assert "wiki/threads/kitchen" in moved["relinked"]
    await agent.read(moved["reference"])
    await agent.call("dream_apply", dream_id=dream_id, finding_id=second, resolved_manually=True)
    done = await agent.call(
        "dream_dismiss", dream_id=dream_id, finding_id=third, reason="It has three sentences."
    )
    assert done["left"] == 0
    await agent.call("dream_review", action="end", summary="The harbour is a marina now.")


async def test_every_tool_that_a_prompt_names_is_one_that_a_client_can_have(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, tools=["core", "curation"]) as place, talking(place) as talk:
        known = await offered(talk)
        for name in PROMPTS:
            assert named_tools(shipped(name)) <= known, name


async def test_an_agent_without_wiki_tools_tidies_up_the_inbox_and_loses_no_fact(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as place, talking(place) as talk:
        agent = Agent(place, talk)
        for fact in FACTS:
            await agent.remember(fact)
        assert len(await agent.inbox()) == len(FACTS)
        said = await told(talk, "enrich")
        assert named_tools(said.partition("**Without wiki tools**")[2]) <= await offered(talk)
        best: dict[str, str] = {}
        for reference in await agent.inbox():
            note = await agent.read(reference)
            fact = fact_of(note)
            kept = best.setdefault(FACTS[fact], reference)
            if kept == reference:
                continue
            await agent.read(kept)
            await agent.call("memory_edit", slug=slug_of(kept), append=f"\n{fact}\n")
            assert fact in (await agent.read(kept))["content"]
            await agent.forget(note)
        assert set(await agent.inbox()) == set(best.values())
        for fact, page in FACTS.items():
            assert best[page] in await agent.found(fact)
            assert fact in (await agent.read(best[page]))["content"]


async def test_an_agent_takes_the_inbox_over_into_pages_and_decides_on_findings(
    tmp_path: Path,
) -> None:
    files = {"wiki/threads/boat.md": "# Boat\n\nAsk [[people/nobody]].\n"}
    async with world(tmp_path, files, tools=["core", "curation"]) as place, talking(place) as talk:
        agent = Agent(place, talk)
        for fact in FACTS:
            await agent.remember(fact)
        await enriched(agent)
        await checked(agent)
        assert await agent.inbox() == []
        for fact, page in FACTS.items():
            assert f"wiki/{page}" in await agent.found(fact)
            assert fact in (await agent.read(f"wiki/{page}"))["content"]
        dream = place.app.curation.dreams.add("lucid", "2026-03-10T08:00:00Z", "wiki", FINDINGS)
        await reviewed(agent, dream.dream_id)
        assert (await agent.call("dream_list"))["dreams"] == []
        harbour = await agent.read("wiki/places/marina")
        assert harbour["backlinks"]
        kitchen = (await agent.read("wiki/threads/kitchen"))["content"]
        assert "[[wiki/places/marina]]" in kitchen
