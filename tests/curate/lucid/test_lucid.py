"""Looking through the wiki: what is found, with what evidence, and that nothing is changed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.chat import Function, Message, Reply
from memory_mcp.core.private import hide
from memory_mcp.curate.jobs.journal import Job
from memory_mcp.curate.jobs.kinds import LUCID, LUCID_SECONDS
from memory_mcp.curate.jobs.task import Kind
from memory_mcp.curate.lucid.job import Lucid
from memory_mcp.curate.lucid.pages import pages_of
from memory_mcp.curate.lucid.pairs import candidates, compared
from memory_mcp.curate.lucid.repair import line_edit
from memory_mcp.curate.review.findings import Finding
from tests.curate.world import World, world

pytestmark = pytest.mark.anyio


async def looked(w: World, **request: Any) -> tuple[Job, tuple[Finding, ...]]:
    """A pass, and all that has ever been found."""
    w.tasks.start_soon(w.curation.run) if not w.jobs.list() else None
    job = await w.jobs.add("dream-lucid", request)
    done = await w.jobs.finished(job.job_id, 8)
    assert done.status == "done", done
    return done, tuple(f for dream in w.curation.dreams.all("all") for f in dream.findings)


def of(findings: tuple[Finding, ...], kind: str) -> list[Finding]:
    return [item for item in findings if item.kind == kind]


def snapshot(w: World) -> Mapping[str, bytes]:
    return {str(path): path.read_bytes() for path in w.home.glob("wiki/**/*.md")}


async def applied(w: World, finding: Finding) -> tuple[str, ...]:
    dream = next(d for d in w.curation.dreams.all() if finding in d.findings)
    return (await w.curation.approvals.apply(dream.dream_id, finding.finding_id)).changed


async def test_a_dead_link_comes_with_the_nearest_page_and_the_edit(tmp_path: Path) -> None:
    notes = {
        "wiki/garden": "# Garden\n\nAsk [[alise|her]] today.\nAnd [x](nowhere-at-all.md).\n",
        "wiki/people/alice": "# Alice\n",
        "wiki/logs/2026-01": "- created [[gone]]\n",
    }
    async with world(tmp_path, notes) as w:
        before = snapshot(w)
        _, findings = await looked(w)
        assert snapshot(w) == before
        near, far = sorted(of(findings, "dead_link"), key=lambda item: item.action, reverse=True)
        assert near.action == "wiki_edit" and near.evidence == ("wiki/people/alice",)
        assert "“alise”" in near.reason
        assert far.action == "none" and "nowhere-at-all" in far.reason
        assert await applied(w, near) == ("wiki/garden",)
        assert "Ask [[alice|her]] today." in w.text("wiki/garden")


async def test_a_page_that_several_link_to_is_wanted_and_no_dead_link(tmp_path: Path) -> None:
    notes = {"wiki/a": "[[Boiler]]\n", "wiki/b": "[[things/boiler]]\n", "wiki/c": "[[memory/x]]\n"}
    async with world(tmp_path, notes) as w:
        _, findings = await looked(w)
        (wanted,) = of(findings, "wanted_page")
        assert wanted.evidence == ("wiki/a", "wiki/b")
        assert not of(findings, "dead_link")


async def test_pages_of_one_name_long_pages_and_orphans_are_told(tmp_path: Path) -> None:
    notes = {
        "wiki/tea": "# Tea\n\nGreen.\n",
        "wiki/drinks/tee": "---\naliases: [tea]\n---\n# Tee\n\nSchwarz.\n",
        "wiki/long": "# Long\n\n## One\n\n" + "word " * 1600 + "\n\n## Two\n\nSee [[tea]].\n",
        "wiki/index": "[[long]] [[drinks/tee]]\n",
    }
    async with world(tmp_path, notes) as w:
        _, findings = await looked(w)
        (twice,) = of(findings, "duplicate")
        assert set(twice.evidence) == {"wiki/drinks/tee", "wiki/tea"}
        assert "Green." in twice.reason and "Schwarz." in twice.reason
        (long,) = of(findings, "oversized")
        assert long.reference == "wiki/long" and "One; Two" in long.reason
        assert {item.reference for item in of(findings, "orphan")} == {
            "wiki/drinks/tee",
            "wiki/long",
        }


async def test_a_page_that_is_replaced_and_still_linked_as_current(tmp_path: Path) -> None:
    notes = {
        "wiki/old": "# Old\n\nV7.\n",
        "wiki/new": "---\nsupersedes: old\n---\n# New\n\nV9.\n",
        "wiki/guide": "# Guide\n\nSee [[old]].\n",
        "wiki/story": "# Story\n\nFrom [[old]] to [[new]].\n",
    }
    async with world(tmp_path, notes) as w:
        _, findings = await looked(w)
        (outdated,) = of(findings, "outdated_link")
        assert outdated.reference == "wiki/guide"
        await applied(w, outdated)
        assert w.text("wiki/guide").endswith("See [[new]].\n")


async def test_contradictions_are_told_with_both_sides_declared_or_seen(tmp_path: Path) -> None:
    notes = {
        "wiki/boiler": "# Boiler\n\nThe valve of the boiler is V7.\n",
        "wiki/house": "# House\n\nThe valve of the boiler is V9.\n",
        "wiki/tea": "---\ncontradicts: coffee\n---\n# Tea\n\nTea is best.\n",
        "wiki/coffee": "# Coffee\n\nCoffee is best.\n",
        "wiki/people/alice": "# Alice\n\nLives in Graz.\n",
        "wiki/people/bob": "# Bob\n\nLives in Linz.\n",
    }
    async with world(tmp_path, notes) as w:
        before = snapshot(w)
        _, findings = await looked(w)
        told = {item.evidence: item.reason for item in of(findings, "contradiction")}
        assert set(told) == {("wiki/boiler", "wiki/house"), ("wiki/tea", "wiki/coffee")}
        assert "V7" in told["wiki/boiler", "wiki/house"]
        assert "V9" in told["wiki/boiler", "wiki/house"]
        assert "Tea is best." in told["wiki/tea", "wiki/coffee"]
        assert snapshot(w) == before


async def test_the_same_text_on_two_pages_is_a_duplicate(tmp_path: Path) -> None:
    said = "The router of the summer house stands behind the blue shelf in the hall."
    notes = {"wiki/router": f"# Router\n\n{said}\n", "wiki/summer": f"# Summer\n\n{said}\n"}
    async with world(tmp_path, notes) as w:
        _, findings = await looked(w)
        (twice,) = of(findings, "duplicate")
        assert twice.likely_duplicate and twice.duplicate_of == "wiki/summer"
        assert twice.matched_excerpt is not None and "blue shelf" in twice.matched_excerpt


async def test_names_without_links_are_linked_once_and_not_in_code(tmp_path: Path) -> None:
    notes = {
        "wiki/people/alice": "---\ntitle: Alice Moreau\n---\nShe.\n",
        "wiki/trip": "# Trip\n\n`Alice Moreau`.\nAlice Moreau drives; Alice Moreau pays.\n",
        "wiki/known": "# Known\n\n[[people/alice]] and Alice Moreau.\n",
        "wiki/garden": "# Garden\n\nA garden.\n",
        "wiki/yard": "# Yard\n\nGarden work is in the garden.\n",
    }
    async with world(tmp_path, notes) as w:
        _, findings = await looked(w)
        (missing,) = of(findings, "missing_link")
        assert missing.reference == "wiki/trip"
        await applied(w, missing)
        assert "[[Alice Moreau]] drives; Alice Moreau pays." in w.text("wiki/trip")
        assert "`Alice Moreau`." in w.text("wiki/trip")


async def test_a_repeat_adds_nothing_and_what_was_dismissed_stays_so(tmp_path: Path) -> None:
    notes = {"wiki/a": "# A\n\nSee [[nowhere-at-all]].\n", "wiki/b": "# B\n"}
    async with world(tmp_path, notes) as w:
        first, findings = await looked(w)
        dead = of(findings, "dead_link")[0]
        (dream,) = w.curation.dreams.all()
        assert dream.dream_id in (first.outcome or "")
        _, again = await looked(w)
        assert again == findings
        await w.curation.approvals.dismiss(dream.dream_id, dead.finding_id, "I know.")
        w.file("wiki/b").write_text("# B\n\nChanged.\n", encoding="utf-8")
        _, now = await looked(w, force=True)
        assert len(of(now, "dead_link")) == 1
        w.file("wiki/a").write_text("# A\n\nSee [[elsewhere-then]].\n", encoding="utf-8")
        _, now = await looked(w)
        assert len(of(now, "dead_link")) == 2


async def test_what_was_mended_by_hand_waits_no_more_and_waits_again_when_it_is_back(
    tmp_path: Path,
) -> None:
    notes = {**PAIRS, "wiki/a": "# A\n\nSee [[nowhere-at-all]].\n\nAsk [[rooter]].\n"}
    async with world(tmp_path, notes) as w:
        _, first = await looked(w)
        kinds = {item.kind for item in first}
        assert kinds >= {"dead_link", "contradiction", "duplicate"}
        kept = {path: w.text(path) for path in notes}
        for path, mended in {
            "wiki/a": "# A\n\nAsk [[rooter]] today.\n",
            "wiki/house": "# House\n\nIt has a roof.\n",
            "wiki/summer": "# Summer\n\nSun.\n",
        }.items():
            w.file(path).write_text(mended, encoding="utf-8")
        job, now = await looked(w)
        assert "3 that waited are no longer there" in (job.outcome or "")
        for item in now:
            if item.kind in ("contradiction", "duplicate") or "nowhere" in item.reason:
                assert (item.status, item.decided) == ("dismissed", "no longer there"), item
        (near,) = [item for item in of(now, "dead_link") if item.status == "pending"]
        assert near.arguments["old_text"] == "Ask [[rooter]] today."  # as the line is now
        for path, text in kept.items():
            w.file(path).write_text(text, encoding="utf-8")
        await looked(w)
        states = [item.status for dream in w.curation.dreams.all("all") for item in dream.findings]
        assert states == ["pending"] * len(first)


async def test_what_was_dismissed_stays_so_and_what_was_applied_is_told_again(
    tmp_path: Path,
) -> None:
    notes = {"wiki/a": "# A\n\nAsk [[alise]].\n", "wiki/alice": "# Alice\n\n[[a]]\n"}
    async with world(tmp_path, notes) as w:
        _, findings = await looked(w)
        (dead,) = of(findings, "dead_link")
        await applied(w, dead)
        w.file("wiki/a").write_text(notes["wiki/a"], encoding="utf-8")
        _, now = await looked(w)
        assert sorted(item.status for item in of(now, "dead_link")) == ["applied", "pending"]
        for dream in w.curation.dreams.all():
            await w.curation.approvals.dismiss(dream.dream_id, reason="So be it.")
        w.file("wiki/a").write_text("# A\n", encoding="utf-8")
        await looked(w)
        _, now = await looked(w, force=True)
        assert {item.decided for item in of(now, "dead_link")} == {None, "So be it."}


ROUTER = "The router of the summer house stands behind the blue shelf in the hall."
PAIRS = {
    "wiki/router": f"# Router\n\n{ROUTER}\n",
    "wiki/summer": f"# Summer\n\n{ROUTER}\n",
    "wiki/boiler": "# Boiler\n\nThe valve of the boiler is V7.\n",
    "wiki/house": "# House\n\nThe valve of the boiler is V9.\n",
}


class Judge:
    """A model that answers by the pages of each pair."""

    name = "judge"

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def reply(
        self,
        messages: Sequence[Message],
        functions: Sequence[Function] = (),
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        self.asked.append(messages[-1].text)
        return Reply(self.answers.pop(0), (), "judge", 10, False)


async def judged(w: World, judge: Judge) -> tuple[str, tuple[Finding, ...]]:
    dreams = w.curation.dreams
    lucid = Lucid(replace(w.curation.parts, reasoner=judge), dreams)
    w.jobs.learn({LUCID: Kind(lucid.run, LUCID_SECONDS)})
    job, findings = await looked(w)
    return job.outcome or "", findings


async def test_a_reasoner_judges_the_pairs_and_sees_only_them(tmp_path: Path) -> None:
    async with world(tmp_path, {**PAIRS, "wiki/other": "# Other\n\nSecret garden.\n"}) as w:
        pairs = candidates(await pages_of(w.curation.parts.index))
        order = [pair.one.page.reference for pair in compared(pairs, {})]
        verdicts = [
            {
                "pair": number,
                "verdict": "contradiction" if page == "wiki/boiler" else "neither",
                "why": "One says V7, the other V9.",
            }
            for number, page in enumerate(order, 1)
        ]
        judge = Judge(json.dumps({"verdicts": verdicts}))
        _, findings = await judged(w, judge)
        (told,) = of(findings, "contradiction")
        assert told.reason.endswith("One says V7, the other V9.") and "may" not in told.reason
        assert not of(findings, "duplicate")
        (asked,) = judge.asked
        assert "V7" in asked and "blue shelf" in asked and "Secret garden" not in asked
        assert asked.count("<MEMORY[") == 4


async def test_what_a_reasoner_does_not_answer_is_told_as_the_rules_saw_it(tmp_path: Path) -> None:
    async with world(tmp_path, PAIRS) as w:
        outcome, findings = await judged(w, Judge("no", "no"))
        assert len(of(findings, "contradiction")) == len(of(findings, "duplicate")) == 1
        assert "did not judge" in outcome


@given(st.text(max_size=80), st.text(max_size=80))
def test_an_edit_of_a_line_changes_that_line_alone(before: str, after: str) -> None:
    text = f"{before}\nSee [[alise]] today.\n{after}"
    with_private = hide(text)[0] != text
    edit = line_edit(text, text.find("See [[alise]]"), lambda line: line.replace("alise", "alice"))
    if edit is not None and not with_private:
        assert text.count(edit["old_text"]) == 1
        changed = text.replace(edit["old_text"], edit["new_text"])
        assert changed == text.replace("See [[alise]] today.", "See [[alice]] today.", 1)


async def test_an_empty_wiki_has_nothing_to_say(tmp_path: Path) -> None:
    async with world(tmp_path, {"memory/x": "X\n"}) as w:
        job, findings = await looked(w)
        assert findings == () and "0 pages" in (job.outcome or "")
