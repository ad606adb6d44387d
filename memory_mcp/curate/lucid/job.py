"""Lucid: the wiki is looked through, and what is wrong with it is told. Nothing is changed.

What can be seen without a model is seen without one. A reasoner only judges pairs of passages that
rules have found, and sees nothing else.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import anyio
import anyio.to_thread
from pydantic import BaseModel, Field

from memory_mcp.core.errors import MemoryMcpError, NotFoundError, ReasonerError
from memory_mcp.core.framed import NOTICE
from memory_mcp.core.framing import harmless, in_frame, opening
from memory_mcp.core.plain import clip
from memory_mcp.curate.jobs.task import Outcome, Task
from memory_mcp.curate.lucid.lasting import GONE, follow
from memory_mcp.curate.lucid.pages import Page, pages_of, state_of
from memory_mcp.curate.lucid.pairs import Pair, Side, candidates, compared
from memory_mcp.curate.lucid.repair import repaired, with_link
from memory_mcp.curate.lucid.rules import Found, all_found, first_of_each_kind, found
from memory_mcp.curate.lucid.unlinked import Unlinked, few_of_a_page, unlinked
from memory_mcp.curate.parts import Parts
from memory_mcp.curate.plans.planner import WIKI
from memory_mcp.curate.review.findings import Dream, Dreams, Finding
from memory_mcp.curate.write.edit import iso
from memory_mcp.index.frames import frames
from memory_mcp.notes import files
from memory_mcp.settings.prompts import prompt

log = logging.getLogger(__name__)

MOST_JUDGED = 24
"""Pairs that a reasoner is asked about in a pass."""

_SETTLE_SECONDS = 60.0  # what changed just now is to be seen as it is
_AT_ONCE = 8  # pairs in one question
_PAIR_KINDS = ("duplicate", "contradiction")
_SHOWN = 1_500  # characters of a passage in a question
_QUOTE = 300


class _Verdict(BaseModel):
    """How one pair stands."""

    pair: int = Field(description="the number of the pair")
    verdict: Literal["contradiction", "duplicate", "neither"]
    why: str = ""


class _Verdicts(BaseModel):
    """How all pairs stand."""

    verdicts: list[_Verdict]


@dataclass(slots=True)
class _Seen:
    """What a pass has seen, and what it has to say of itself."""

    findings: list[Finding] = field(default_factory=list)
    there: set[str] = field(default_factory=set)
    """The ids of all that is there, also of what this pass does not tell of."""
    said: list[str] = field(default_factory=list)


class Lucid:
    """Passes over the wiki that these parts see."""

    def __init__(self, parts: Parts, dreams: Dreams) -> None:
        self._parts = parts
        self._dreams = dreams

    async def run(self, task: Task) -> Outcome:
        """A pass: what a job of the kind `dream-lucid` does. `force` looks again at a wiki that
        has not changed. What was dismissed is told again only where it rests on something else.
        Raises StorageError."""
        index = self._parts.index
        await index.sweep()
        await index.settled(_SETTLE_SECONDS)
        pages = await pages_of(index)
        name = state_of(pages)
        if task.record.request.get("force"):
            name = f"{name}-{task.job_id.rpartition('-')[2]}"
        await task.note(outcome=f"looking at {len(pages)} pages")
        seen = await self._look(pages)
        work = partial(follow, self._dreams, pages, seen.findings, seen.there)
        if gone := await anyio.to_thread.run_sync(work):
            seen.said.append(f"{gone} that waited {'is' if gone == 1 else 'are'} {GONE}.")
        mark = task.job_id.rpartition("-")[2]
        dream = await anyio.to_thread.run_sync(self._keep, name, mark, seen.findings)
        return Outcome(_told(len(pages), dream, seen))

    async def _look(self, pages: Sequence[Page]) -> _Seen:
        mechanical = await anyio.to_thread.run_sync(all_found, pages)
        names = await anyio.to_thread.run_sync(lambda: list(unlinked(pages)))
        seen = _Seen(there={one.finding.finding_id for one in mechanical})
        seen.there |= {one.finding.finding_id for one in names}
        seen.findings += [await self._with_repair(one) for one in first_of_each_kind(mechanical)]
        seen.findings += [
            await self._with_link(one) for one in first_of_each_kind(few_of_a_page(names))
        ]
        pairs = await anyio.to_thread.run_sync(candidates, pages)
        likeness = await self._likeness(pairs)
        judged = await anyio.to_thread.run_sync(lambda: list(compared(pairs, likeness)))
        for pair in judged:
            seen.there |= {_pair_finding(pair, kind, "").finding_id for kind in _PAIR_KINDS}
        seen.findings += await self._judged(judged, seen)
        seen.findings = list({item.finding_id: item for item in seen.findings}.values())
        return seen

    async def _likeness(self, pairs: Sequence[Pair]) -> dict[tuple[int, int], float]:
        """The cosine of each pair; empty without vectors."""
        found_so_far: dict[tuple[int, int], float] = {}
        index = self._parts.index
        try:
            for one in {pair.one.point: pair.one for pair in pairs}.values():
                others = [pair.other.point for pair in pairs if pair.one.point == one.point]
                vector = await index.query_vector(one.text)
                if vector is None:
                    return {}
                for point, cosine in (await index.cosine(vector, others)).items():
                    found_so_far[one.point, point] = cosine
        except Exception as error:  # noqa: BLE001 - words alone decide then
            log.error("Comparing pages by meaning failed: %s", frames(error))
            return {}
        return found_so_far

    async def _judged(self, pairs: Sequence[Pair], seen: _Seen) -> list[Finding]:
        """The pairs as findings: judged by the reasoner where there is one, else as they are."""
        told = prompt("lucid", self._parts.config.home)
        reasoner = self._parts.model(told.model)
        if reasoner is None:
            return [_pair_finding(pair, pair.kind, "") for pair in pairs]
        from memory_mcp.curate.reason.structured import structured  # only where one is asked

        findings: list[Finding] = []
        asked = pairs[:MOST_JUDGED]
        for start in range(0, len(asked), _AT_ONCE):
            some = asked[start : start + _AT_ONCE]
            try:
                answer, _ = await structured(reasoner, told.text, _question(some), _Verdicts)
            except ReasonerError as error:
                seen.said.append(f"The reasoner did not judge all pairs: {error}")
                rest = asked[start:]
                return findings + [_pair_finding(pair, pair.kind, "") for pair in rest]
            findings += _answered(some, answer)
        if len(pairs) > len(asked):
            seen.said.append(f"{len(pairs) - len(asked)} pairs wait for the next pass.")
        return findings

    async def _with_repair(self, one: Found) -> Finding:
        """The finding with the call that carries it out, where one can."""
        repair = one.repair
        text = None if repair is None else await self._text(repair.path)
        if repair is None or text is None:
            return one.finding
        edit = repaired(self._parts.index, repair, text)
        return _with_edit(one.finding, repair.path, edit)

    async def _with_link(self, one: Unlinked) -> Finding:
        text = await self._text(one.path)
        if text is None:
            return one.finding
        edit = with_link(self._parts.index, one, text)
        return _with_edit(one.finding, one.path, edit)

    async def _text(self, path: str) -> str | None:
        """The text of a page, if it is UTF-8."""
        wiki = next(item for item in self._parts.index.sources if item.kind == WIKI)
        try:
            data = (await anyio.to_thread.run_sync(files.read, wiki, path)).data
            return data.decode("utf-8")
        except (MemoryMcpError, UnicodeDecodeError):
            return None

    def _keep(self, name: str, mark: str, findings: Sequence[Finding]) -> Dream | None:
        """Store what is new; under another name where a pass over the very same wiki found other
        things. Blocking."""
        known = {
            item.finding_id
            for dream in self._dreams.all("all")
            if dream.phase == "lucid"
            for item in dream.findings
            if item.status != "applied"
        }
        fresh = [item for item in findings if item.finding_id not in known]
        if not fresh:
            try:  # of this very pass, which was cut off after it had stored them
                return self._dreams.get(f"lucid-{name}")
            except NotFoundError:
                return None
        now = iso(self._parts.clock.now())
        with suppress(NotFoundError):
            self._dreams.get(f"lucid-{name}")
            name = f"{name}-{mark}"
        return self._dreams.add("lucid", now, "the wiki", fresh, name)


def _with_edit(finding: Finding, path: str, edit: dict[str, Any] | None) -> Finding:
    if edit is None:
        return finding
    return replace(
        finding,
        action="wiki_edit",
        arguments={"path": path, **edit},
        proposed_content=edit["new_text"],
    )


def _question(pairs: Sequence[Pair]) -> str:
    lines = [NOTICE]
    for number, pair in enumerate(pairs, 1):
        lines.append(f"\nPair {number}:")
        for side in (pair.one, pair.other):
            text = harmless(clip(side.text, _SHOWN))
            lines.append(in_frame(opening(side.page.reference), text))
    return "\n".join(lines)


def _answered(pairs: Sequence[Pair], answer: _Verdicts) -> Iterator[Finding]:
    said = {item.pair: item for item in answer.verdicts}
    for number, pair in enumerate(pairs, 1):
        verdict = said.get(number)
        if verdict is None:  # not judged: told as the rules saw it
            yield _pair_finding(pair, pair.kind, "")
        elif verdict.verdict != "neither":
            yield _pair_finding(pair, verdict.verdict, clip(verdict.why.strip(), _QUOTE))


def _pair_finding(pair: Pair, kind: str, why: str) -> Finding:
    """Both sides with their words."""
    one, other = pair.one.page.reference, pair.other.page.reference
    duplicate = kind in ("same", "duplicate")
    first, second = _quoted(pair.one, pair.sentence), _quoted(pair.other, pair.other_sentence)
    may = "" if why else "may "
    verb = f"{may}say the same" if duplicate else f"{may}contradict each other"
    reason = f"{one} and {other} {verb}. {one}: “{first}” {other}: “{second}”"
    made = found(
        "duplicate" if duplicate else "contradiction",
        one,
        f"{reason} {why}".strip(),
        [one, other, first, second],
        [one, other],
    )
    return replace(
        made,
        likely_duplicate=duplicate,
        duplicate_of=other if duplicate else None,
        matched_excerpt=second,
        quotes=(first, second),
    )


def _quoted(side: Side, sentence: str) -> str:
    return clip(" ".join((sentence or side.text).split()), _QUOTE)


def _told(pages: int, dream: Dream | None, seen: _Seen) -> str:
    looked = f"Looked at {pages} {'page' if pages == 1 else 'pages'}."
    if dream is None:
        return " ".join([looked, "Nothing new was found.", *seen.said])
    counts: dict[str, int] = {}
    for item in dream.findings:
        counts[item.kind] = counts.get(item.kind, 0) + 1
    kinds = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in counts.items())
    many = f"{len(dream.findings)} findings ({kinds}): dream_get {dream.dream_id}."
    return " ".join([looked, many, *seen.said])
