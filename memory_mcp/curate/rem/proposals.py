"""Findings from what a model proposes: how each is carried out, and what is known already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import anyio.to_thread

from memory_mcp.core.errors import MemoryMcpError, SlugError
from memory_mcp.core.framing import one_line
from memory_mcp.core.note import Json
from memory_mcp.core.parse import revision_of
from memory_mcp.core.plain import clip, plain
from memory_mcp.core.reference import inbox_note
from memory_mcp.core.saying import saying
from memory_mcp.core.slug import slug_from
from memory_mcp.curate.compare.held import nearest
from memory_mcp.curate.parts import Parts
from memory_mcp.curate.plans.names import names_from
from memory_mcp.curate.rem.facts import Fact, Left, Quoted
from memory_mcp.curate.review.findings import Dreams, Finding
from memory_mcp.notes.place import is_taken

_QUOTE = 400
_NOVEL = 12


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a proposal comes from. `harvested`: from a talk that goes on, just before its details
    are forgotten, so it may be taken back in the next sentence."""

    agent: str
    model: str
    harvested: bool
    day: str
    """When it was said, where the turn does not tell."""

    def header(self, said: Quoted) -> dict[str, Json]:
        """What a note says about where its text is from."""
        at = said.turn.at or self.day
        kind = "compaction" if self.harvested else "conversation"
        source: dict[str, Json] = {"by": self.agent, "kind": kind, "at": at}
        values: dict[str, Json] = {"source": {**source, "model": self.model}, "stated_at": at}
        if self.harvested or said.turn.role == "assistant":
            values["confidence"] = "low"
        return values


class Proposals:
    """Makes findings of the proposals of one pass. Reads memory, and writes nothing."""

    def __init__(self, parts: Parts, dreams: Dreams, left: Left) -> None:
        """`left` counts what is not proposed."""
        self._parts = parts
        self._dreams = dreams
        self._left = left
        self._said: set[tuple[str, ...]] | None = None

    async def findings(self, proposed: Sequence[Quoted], origin: Origin) -> tuple[Finding, ...]:
        """The findings for these proposals, without those that memory or a finding has already."""
        found: list[Finding] = []
        for item in proposed:
            try:
                finding = await self._finding(item, origin)
            except MemoryMcpError:
                self._left.unusable += 1
                continue
            if finding is not None:
                found.append(replace(finding, finding_id=f"f{len(found) + 1}"))
        return tuple(found)

    async def _finding(self, item: Quoted, origin: Origin) -> Finding | None:
        fact = item.fact
        if await self._is_repeated(fact):
            return None
        slug = _slug(fact)
        current = await self._text(slug)
        if fact.action == "memory_delete":
            return self._deletion(item, slug, current, origin)
        if current is None or origin.harvested:
            finding = await self._writing(item, slug, current, origin)
        else:
            finding = self._editing(item, slug, current, origin)
        return await self._compared(finding, fact.text)

    async def _is_repeated(self, fact: Fact) -> bool:
        """Whether a finding of any status says it: what was dismissed is not proposed again."""
        if self._said is None:
            dreams = await anyio.to_thread.run_sync(self._dreams.all, "all")
            self._said = {
                _mark(item.action, item.proposed_content or "", item.reference)
                for dream in dreams
                for item in dream.findings
            }
        mark = _mark(fact.action, fact.text, f"memory/{fact.slug}")
        if mark in self._said:
            self._left.repeated += 1
            return True
        self._said.add(mark)
        return False

    def _deletion(
        self, item: Quoted, slug: str, current: bytes | None, origin: Origin
    ) -> Finding | None:
        if current is None:
            self._left.unusable += 1  # there is no such note
            return None
        arguments = {"slug": slug, "if_revision": revision_of(current)}
        return self._made(item, "memory_delete", slug, arguments, None, origin)

    async def _writing(
        self, item: Quoted, slug: str, current: bytes | None, origin: Origin
    ) -> Finding:
        """A note of its own; beside one that exists where its text must not get into that."""
        name, header = await self._free(slug), origin.header(item)
        title = clip(plain(item.fact.title), 80) or slug.replace("-", " ")
        if current is not None:
            header["links"] = [{"to": f"memory/{slug}", "relation": "related"}]
        text = item.fact.text.strip()
        content = text if text.startswith("# ") else f"# {title}\n\n{text}\n"
        arguments = {"slug": name, "content": content, "frontmatter": {"title": title, **header}}
        return self._made(item, "memory_write", name, arguments, text, origin)

    def _editing(self, item: Quoted, slug: str, current: bytes, origin: Origin) -> Finding:
        text, old = item.fact.text.strip(), item.fact.old_text
        arguments: dict[str, Any] = {"slug": slug}
        if old and old.strip() and current.decode("utf-8", "replace").count(old) == 1:
            arguments |= {"old_text": old, "new_text": text}
        else:
            arguments |= {"append": text}
        return self._made(item, "memory_edit", slug, arguments, text, origin)

    def _made(
        self,
        item: Quoted,
        action: str,
        slug: str,
        arguments: Mapping[str, Any],
        content: str | None,
        origin: Origin,
    ) -> Finding:
        return Finding(
            finding_id="",
            kind=item.fact.kind if item.turn.role == "user" else "claim",
            action=action,
            reference=f"memory/{slug}",
            reason=_reason(item, arguments, origin),
            arguments=arguments,
            proposed_content=content,
        )

    async def _compared(self, finding: Finding, text: str) -> Finding | None:
        """The finding with what memory holds of it already; None where that is all of it."""
        near = await nearest(self._parts.index, text)
        first = next((item for item in near if item.superseded_by is None), None)
        if first is None:
            return finding
        novelty = first.novelty
        if novelty.kind == "same" and "old_text" not in finding.arguments:
            self._left.known += 1
            return None
        finding = replace(finding, novel_details=novelty.missing[:_NOVEL])
        if finding.action == "memory_edit" and first.reference == finding.reference:
            return finding  # it is that note which it changes
        return replace(
            finding,
            kind="contradiction" if novelty.kind == "contradiction" else finding.kind,
            likely_duplicate=not novelty.missing,
            duplicate_of=first.reference,
            matched_excerpt=novelty.excerpt or None,
        )

    async def _text(self, slug: str) -> bytes | None:
        planner = self._parts.planner()
        return await planner.on_disk(planner.note(slug))

    async def _free(self, slug: str) -> str:
        for name in names_from(slug):
            inboxes = self._parts.writer.inboxes
            taken = [
                await anyio.to_thread.run_sync(partial(is_taken, inbox, name)) for inbox in inboxes
            ]
            if not any(taken):
                return name
        raise SlugError(f"No free name was found for {slug}.")


def _slug(fact: Fact) -> str:
    try:
        return inbox_note(fact.slug.strip())[1]
    except SlugError:
        name = fact.slug.strip().rpartition("/")[2].removesuffix(".md")
        return slug_from(name if any(map(str.isalnum, name)) else fact.title)


def _mark(action: str, text: str, reference: str) -> tuple[str, ...]:
    """What makes two proposals one: the same words, or the same note to be deleted."""
    if action == "memory_delete":
        return action, reference
    return saying(text)


def _reason(item: Quoted, arguments: Mapping[str, Any], origin: Origin) -> str:
    at = f" on {item.turn.at}" if item.turn.at else ""
    words = one_line(item.fact.quote, _QUOTE)
    said = (
        f"The person said{at}: “{words}”."
        if item.turn.role == "user"
        else f"Only the assistant said{at}: “{words}”; ask the person before it is kept."
    )
    why = one_line(item.fact.reason, _QUOTE)
    parts = [why if not why or why.endswith((".", "!", "?", "…")) else f"{why}.", said]
    if old := arguments.get("old_text"):
        parts.append(f"It takes the place of: “{one_line(str(old), _QUOTE)}”.")
    if origin.harvested:
        parts.append("Taken from a talk that went on, before its details were forgotten.")
    return " ".join(part for part in parts if part)
