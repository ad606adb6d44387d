"""Filing a text that was saved: by the model where there is one, else by rule."""

from __future__ import annotations

import logging

import anyio.to_thread

from memory_mcp.core.errors import ConflictError, InputError
from memory_mcp.core.reference import join
from memory_mcp.core.saying import saying
from memory_mcp.core.slug import shown
from memory_mcp.curate.compare.held import held
from memory_mcp.curate.jobs.task import Outcome, Task
from memory_mcp.curate.parts import Parts
from memory_mcp.curate.plans.names import names_from
from memory_mcp.curate.plans.runs import Runs
from memory_mcp.curate.save.days import DaysFiling
from memory_mcp.curate.save.drafting import drafted
from memory_mcp.curate.save.filing import Draft, Left, Text
from memory_mcp.curate.save.reasoned import ReasonedFiling
from memory_mcp.curate.write.results import WriteResult
from memory_mcp.curate.write.similar import read_body
from memory_mcp.notes.place import is_taken

log = logging.getLogger(__name__)


class Filer:
    """What the jobs of a `Saver` do."""

    def __init__(self, parts: Parts, runs: Runs) -> None:
        self._parts = parts
        self._runs = runs
        self._writer = parts.writer
        self._index = parts.index
        self._reasoned = ReasonedFiling(parts, runs)
        self._days = DaysFiling(parts, runs)

    async def run(self, task: Task) -> Outcome:
        """File one text: by the model where there is one, else, and where it fails, by rule."""
        text = _text_of(task)
        done = await self._runs.changed(task.job_id)
        if done:
            return Outcome(f"Filed in {', '.join(done)}.", done)
        filed = None
        if text.content.strip() and task.record.slug is None:  # else an attempt was cut off
            filed = await self._file_by_layout(task, text)
        if isinstance(filed, Outcome):
            return filed
        by_rule = await self._file_by_rule(task)
        return Outcome(f"{by_rule.text} {filed.why}", by_rule.changed) if filed else by_rule

    async def _file_by_layout(self, task: Task, text: Text) -> Outcome | Left | None:
        """File one text by day where that is the layout, else by the model; None where there is
        neither. What is of a project stays in its inbox: everybody reads the wiki."""
        parts = self._parts
        if parts.config.curation.layout == "days" and parts.project is None:
            return await self._days.file(task, text)
        return None if parts.reasoner is None else await self._reasoned.file(task, text)

    async def _file_by_rule(self, task: Task) -> Outcome:
        """File one text without a model."""
        record, content = task.record, _text_of(task).content
        if not content.strip():
            return Outcome("Nothing was left to save: all of it was injected or private.")
        if record.slug is not None and await self._is_filed(record.slug, content):
            reference = join(self._writer.inbox.name, record.slug)
            return Outcome(f"Filed as {reference}.", (reference,))
        known = await held(self._index, content)
        if known.same is not None:
            return Outcome(known.told)
        done = await self._create(task, await drafted(self._parts, _text_of(task)))
        near = ", ".join(f"{item.reference} ({item.score:.2f})" for item in done.similar)
        notes = [f"Filed as {done.reference}.", *filter(None, [known.told]), *done.warnings]
        if near:
            notes.append(f"Similar notes: {near}.")
        return Outcome(" ".join(notes), (done.reference,))

    async def _create(self, task: Task, made: Draft) -> WriteResult:
        """Write the note under the first free name; the name is noted before it is used."""
        names, known = names_from(made.slug), task.record.slug
        if known is not None:
            names = (known, *(name for name in names if name != known))
        for name in names:
            if await anyio.to_thread.run_sync(self._is_taken, name):
                continue
            await task.note(slug=name)
            try:
                return await self._writer.write(name, made.content, new=True)
            except ConflictError:
                log.info("The name %s was taken meanwhile", name)
        raise InputError(f"No free name was found for {shown(made.title)}; use memory_write.")

    def _is_taken(self, name: str) -> bool:
        return any(is_taken(inbox, name) for inbox in self._writer.inboxes)

    async def _is_filed(self, slug: str, content: str) -> bool:
        """Whether an attempt that was cut off had written its note already."""
        body = await anyio.to_thread.run_sync(read_body, self._writer.inbox, slug)
        return bool(body.strip()) and saying(body) == saying(content)


def _text_of(task: Task) -> Text:
    request = task.record.request
    return Text(
        str(request.get("content") or ""), request.get("context"), request.get("source_url")
    )
