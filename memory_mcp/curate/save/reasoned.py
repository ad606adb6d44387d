"""Filing a text by a chat model: it works with our tools, and what it plans is checked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from memory_mcp.core.errors import ConflictError, MemoryMcpError, ReasonerError, RefusedError
from memory_mcp.core.framing import in_frame, one_line, opening
from memory_mcp.core.frontmatter import split
from memory_mcp.core.note import Json
from memory_mcp.core.plain import clip
from memory_mcp.core.ports import Reasoner
from memory_mcp.core.private import strip
from memory_mcp.curate.compare.loss import lost, seen
from memory_mcp.curate.jobs.task import Outcome, Task
from memory_mcp.curate.parts import Parts
from memory_mcp.curate.plans import guards
from memory_mcp.curate.plans.names import names_from
from memory_mcp.curate.plans.plan import Spot
from memory_mcp.curate.plans.planner import Planner
from memory_mcp.curate.plans.provenance import sign
from memory_mcp.curate.plans.runs import Runs
from memory_mcp.curate.save.drafting import drafted
from memory_mcp.curate.save.filing import Draft, Left, Text, origin_of
from memory_mcp.curate.toolbox.toolbox import READING, Toolbox
from memory_mcp.curate.write.similar import read_body
from memory_mcp.notes.place import is_taken
from memory_mcp.search.locate import locate
from memory_mcp.settings.prompts import Prompt, fill, prompt

if TYPE_CHECKING:
    from memory_mcp.curate.reason.loop import Limits, Worked

OFFERED = (*READING, "memory_write", "memory_edit", "memory_link")
PAGES = ("wiki_create", "wiki_edit")
"""Offered where the text is the person's own and of no project: everybody reads the wiki."""

_SECONDS = 240.0  # of one attempt; there may be two, and a save has ten minutes
_TRIES = 2
_SAID = 300
_NAMED = 8
_REFERENCE = re.compile(r"(?<![\w/])[\w-]+/[^\s`'\"\[\](){}<>|,;]+")
_SKIP = re.compile(r"\s*\W{0,3}SKIP\b\W*", re.I)


class ReasonedFiling:
    """Files texts with the chat model of a memory. Nothing of a text is lost, whatever it does."""

    def __init__(self, parts: Parts, runs: Runs) -> None:
        self._parts = parts
        self._runs = runs

    async def file(self, task: Task, text: Text) -> Outcome | Left:
        """File a text as the model decides, once its plan was checked. Raises StorageError."""
        told = await anyio.to_thread.run_sync(prompt, "save", self._parts.config.home)
        reasoner = self._parts.model(told.model)
        if reasoner is None:
            return Left("No reasoner is configured.")
        try:
            for _ in range(_TRIES):
                try:
                    return await self._attempt(task, text, told, reasoner)
                except ConflictError:
                    continue
        except ReasonerError as error:
            return Left(f"The reasoner {reasoner.name} could not file it: {_line(error)}.")
        except RefusedError as error:
            return Left(f"What {reasoner.name} planned was refused: {_line(error)}.")
        return Left("The notes that were to change were changed by somebody else meanwhile.")

    async def _attempt(
        self, task: Task, text: Text, told: Prompt, reasoner: Reasoner
    ) -> Outcome | Left:
        from memory_mcp.curate.reason.loop import work

        planner, outside = self._parts.planner(), text.source_url is not None
        names = _offered(told, wiki=not outside and self._parts.project is None)
        toolbox = Toolbox(self._parts, planner, names, read_first=True, outside=outside)
        worked = await work(reasoner, told.text, self._task(text), toolbox, _limits())
        model = ", ".join(worked.models) or reasoner.name
        await task.note(model=model, tokens=worked.tokens)
        if worked.ended not in ("answered", "empty"):
            return Left(f"The work of {model} was ended before it was done ({worked.ended}).")
        if not planner.changes and (skip := _SKIP.match(worked.text)):
            return await self._skip(text, worked.text[skip.end() :], model)
        await sign(planner, self._source(text, model))
        limits = guards.Limits(self._parts.config.curation.max_removed_share)
        check = partial(guards.check_plan, planner.changes, limits, instructions=told.text)
        await anyio.to_thread.run_sync(check)
        return await self._carry_out(task, text, planner, worked, model)

    async def _carry_out(
        self, task: Task, text: Text, planner: Planner, worked: Worked, model: str
    ) -> Outcome | Left:
        named = await self._named(worked.text)
        if not planner.changes and not named:
            return Left(f"{model} changed nothing, and named no note that has it.")
        made = planner.changes
        held = [_read_by_people(item.after) for item in made if item.after]
        gone = lost(text.content, *held, *map(seen, named.values()))
        said = f"{model}: {one_line(worked.text, _SAID)}"
        if not made:
            if gone:
                return Left(f"{model} named {_listed(named)}, which lacks {_few(gone)}.")
            return Outcome(f"Nothing new: {_listed(named)} says it already. {said}")
        whole = await self._file_whole(planner, text) if gone else None
        changed = await self._runs.apply(task.job_id, planner.changes)
        parts = [f"Filed in {', '.join(item.reference for item in made)}.", said]
        if whole is not None:
            parts.insert(1, f"That lacks {_few(gone)}, so the whole text stands in {whole}, too.")
        return Outcome(" ".join(parts), changed)

    async def _file_whole(self, planner: Planner, text: Text) -> str:
        """Plan a note with the very text, beside what the model wrote."""
        made = await drafted(self._parts, text)
        spot = await self._free(planner, made)
        await planner.write(spot, made.content, new=True)
        return spot.reference

    async def _free(self, planner: Planner, made: Draft) -> Spot:
        """A place in the inbox that no note has, nor the plan."""
        for name in names_from(made.slug):
            spot = planner.note(name)
            if await planner.read(spot) is None and not await self._is_taken(name):
                return spot
        raise RefusedError(f"no free name was found for {made.title}")

    async def _is_taken(self, name: str) -> bool:
        inboxes = self._parts.writer.inboxes
        return any([await anyio.to_thread.run_sync(is_taken, one, name) for one in inboxes])

    async def _skip(self, text: Text, reason: str, model: str) -> Outcome:
        """Leave a text out of the notes. It goes where a deleted note would be, under a name that
        no note has: to have it back must replace none."""
        made = await drafted(self._parts, text)
        reference = (await self._free(self._parts.planner(), made)).reference
        keep = partial(
            self._parts.history.keep,
            reference,
            made.content.encode("utf-8"),
            self._parts.clock.now(),
            "not saved",
        )
        revision = await anyio.to_thread.run_sync(keep)
        return Outcome(
            f"Not saved, since it can be looked up: {one_line(reason, _SAID)} ({model})"
            f" To have it all the same: memory-mcp restore {reference} {revision}"
        )

    async def _named(self, answer: str) -> Mapping[str, str]:
        """The notes that an answer names, and their texts."""
        found: dict[str, str] = {}
        for name in list(dict.fromkeys(_REFERENCE.findall(answer)))[:_NAMED]:
            try:
                source, path = await locate(self._parts.index, name.rstrip(".:!?*_"))
            except MemoryMcpError:
                continue  # a word with a slash, or a note that is only planned
            body = await anyio.to_thread.run_sync(read_body, source, path)
            if body.strip():
                found[Spot(source, path).reference] = body
        return found

    def _source(self, text: Text, model: str) -> Mapping[str, Json]:
        """The provenance of what the model writes: a web page's text stays one."""
        return {**origin_of(text, self._parts.config.agent), "model": model}

    def _task(self, text: Text) -> str:
        now = self._parts.clock.now()
        context = f"It belongs to: {one_line(text.context, 1000)}\n" if text.context else ""
        url = text.source_url
        origin = f"It was taken from the page {one_line(url, 2000)}.\n" if url else ""
        kind = "web" if url else "agent"
        return fill(
            prompt("save_task", self._parts.config.home).text,
            today=now.strftime("%Y-%m-%d (%A)"),
            agent=self._parts.config.agent,
            context=context,
            origin=origin,
            framed=in_frame(opening("to be saved", provenance=kind), text.content),
        )


def _offered(told: Prompt, *, wiki: bool) -> Sequence[str]:
    names = (*OFFERED, *PAGES) if wiki else OFFERED
    return names if told.tools is None else [name for name in names if name in told.tools]


def _read_by_people(after: bytes) -> str:
    """A note without what it hides: private parts and comments."""
    parts = split(after.decode("utf-8", "replace"))
    return strip(f"{parts.raw_header_with_fences}{seen(parts.body)}")


def _limits() -> Limits:
    from memory_mcp.curate.reason.loop import Limits

    return Limits(seconds=_SECONDS)


def _line(error: Exception) -> str:
    return one_line(str(error), _SAID).rstrip(".")


def _few(items: Sequence[Any]) -> str:
    shown = ", ".join(one_line(clip(str(item), 40)) for item in items[:5])
    return f"{shown} and {len(items) - 5} more" if len(items) > 5 else shown


def _listed(named: Mapping[str, str]) -> str:
    return ", ".join(named)
