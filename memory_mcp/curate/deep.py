"""Deep: what the inbox knows becomes pages of the wiki, note by note, and nothing is lost.

A note goes only after the pages that took it over were read back from disk and hold all of it.
After a kill at any moment the same work finds what is done: a page names the version of the note
that it holds, and such a note is only removed.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial

import anyio.to_thread

from memory_mcp.core import frontmatter
from memory_mcp.core.errors import (
    AnswerError,
    ConflictError,
    DeclinedError,
    MemoryMcpError,
    ReasonerError,
    StorageError,
)
from memory_mcp.curate.chronicle import plan_index, plan_log
from memory_mcp.curate.edit import iso
from memory_mcp.curate.findings import Dreams
from memory_mcp.curate.holding import Holding, held_by, holding, same_page
from memory_mcp.curate.inbox_note import InboxNote, inbox_notes, read_note
from memory_mcp.curate.origins import entry_of, with_source
from memory_mcp.curate.page_log import Logged
from memory_mcp.curate.parts import Parts
from memory_mcp.curate.plan import Change, Spot
from memory_mcp.curate.planner import Planner
from memory_mcp.curate.promotion import Left, Placed, Promotion
from memory_mcp.curate.runs import Runs
from memory_mcp.curate.skip_cache import SkipCache
from memory_mcp.curate.tally import Tally, said
from memory_mcp.curate.task import Outcome, Task
from memory_mcp.settings.prompts import prompt

log = logging.getLogger(__name__)

SECONDS = 4 * 3600.0
"""A pass over a full inbox takes a model a while; what is left is the next one's."""

KIND = "dream-deep"
"""Jobs of this name."""

_ATTEMPTS = 2  # a page may change while the model thinks


class Deep:
    """Passes over the inbox of these parts."""

    def __init__(self, parts: Parts, runs: Runs, dreams: Dreams) -> None:
        self._parts, self._runs, self._dreams = parts, runs, dreams
        told = prompt("deep", parts.config.home)
        self._prompt = told.text
        model = parts.model(told.model)
        self._promotion = None if model is None else Promotion(parts, model, told.text)
        name = "-".join(filter(None, (parts.config.agent, parts.project)))
        self._skips = SkipCache(parts.state / "deep" / f"{name}.json")

    async def run(self, task: Task) -> Outcome:
        """A pass: what a job of the kind `dream-deep` does. `force` asks about notes again that
        were left before. Raises RefusedError in read-only mode, StorageError."""
        self._runs.check_writable()
        force = bool(task.record.request.get("force"))
        tally = Tally(list(await self._runs.changed(task.job_id)))
        notes = await self._notes()
        held = await holding(self._parts.index)
        for number, note in enumerate(notes, 1):
            if not await self._one(note, task.job_id, tally, held, force=force):
                tally.waiting += len(notes) - number
                break
            done = f"{number} of {len(notes)} notes"
            await task.note(outcome=done, changed=tally.references)
        await self._index(task.job_id, tally)
        dream = await self._keep(task.job_id, tally)
        return Outcome(said(tally, dream, alone=self._promotion is None), tally.references)

    async def preview(self, *, force: bool = False) -> tuple[Change, ...]:
        """The changes that a pass would make now, as a whole; nothing is changed. A reasoner is
        asked as in a pass, and may decide otherwise the next time."""
        held = await holding(self._parts.index)
        tally = Tally()
        planner = self._parts.planner()
        for note in await self._notes():
            before = planner.changes
            try:
                if await self._think(note, planner, tally, held, force=force) is not None:
                    await planner.put(note.spot, None, reason="its text is in the wiki")
            except (AnswerError, DeclinedError):
                planner = self._from(before)
            except ReasonerError:
                planner = self._from(before)
                break
            except MemoryMcpError:
                planner = self._from(before)
        await plan_index(self._parts, planner)
        return planner.changes

    def _from(self, changes: Sequence[Change]) -> Planner:
        planner = self._parts.planner()
        planner.start_from(changes)
        return planner

    async def _notes(self) -> tuple[InboxNote, ...]:
        await self._parts.index.sweep()
        return await inbox_notes(self._parts.index, self._parts.writer.inbox)

    async def _one(
        self, note: InboxNote, run: str, tally: Tally, held: Holding, *, force: bool
    ) -> bool:
        """Do what is to be done with one note; False where the pass must end."""
        try:
            await self._file(note, run, tally, held, force=force)
        except (AnswerError, DeclinedError) as error:
            tally.refuse(note, str(error))
        except ReasonerError as error:
            tally.wait(f"The model was not asked further: {error}")
            return False
        except ConflictError:
            tally.wait(f"{note.reference} or its page changed meanwhile.")
        except StorageError as error:
            tally.wait(f"{note.reference} waits: {error}")
        except MemoryMcpError as error:
            tally.refuse(note, str(error))
        return True

    async def _file(
        self, note: InboxNote, run: str, tally: Tally, held: Holding, *, force: bool
    ) -> None:
        for attempt in range(_ATTEMPTS):
            planner = self._parts.planner()
            pages = await self._think(note, planner, tally, held, force=force)
            if pages is None:
                return
            try:
                tally.changed += await self._runs.apply(run, planner.changes)
                break
            except ConflictError:
                again = await read_note(note.spot.source, note.card)
                if again is None or attempt + 1 == _ATTEMPTS:
                    raise
                note = again
        if isinstance(pages, Placed):
            tally.made += pages.made
        spots = [change.spot for change in planner.changes] or held[note.reference, note.revision]
        await self._remove(note, spots, run, tally)

    async def _remove(
        self, note: InboxNote, spots: Sequence[Spot], run: str, tally: Tally
    ) -> None:
        """Take a note out of the inbox, now that pages on disk say all of it."""
        if not await held_by(spots, note):
            tally.wait(f"{note.reference} stays: its page changed meanwhile.")
            return
        gone = Change(note.spot, note.data, None, "its text is in the wiki")
        tally.changed += await self._runs.apply(run, [gone])
        tally.filed += 1

    async def _think(
        self, note: InboxNote, planner: Planner, tally: Tally, held: Holding, *, force: bool
    ) -> Placed | tuple[Change, ...] | None:
        """Plan what puts a note on pages; None where it stays. What is on a page already needs no
        change, or only that the page names the note."""
        if note.why_it_stays() is not None:
            tally.stay += 1
            return None
        if await held_by(held.get((note.reference, note.revision), ()), note):
            return ()
        if await self._is_copy(note, planner):
            return planner.changes
        if self._promotion is None:
            tally.waiting += 1
            return None
        now = self._parts.clock.now()
        why = partial(self._skips.why, note.reference, note.data, self._prompt, now)
        if not force and await anyio.to_thread.run_sync(why) is not None:
            tally.left += 1
            return None
        done = await self._promotion.plan(note, planner, tally.made)
        if isinstance(done, Left):
            await self._leave(note, done.why)
            tally.left += 1
            return None
        entries = [
            Logged(page.spot.path, page.before is None, note.reference, done.model)
            for page in done.pages
        ]
        await plan_log(self._parts, planner, entries)
        await plan_index(self._parts, planner)
        return done

    async def _is_copy(self, note: InboxNote, planner: Planner) -> bool:
        """Whether a page says the very same; planned is then that it names the note."""
        page = await same_page(self._parts.index, note)
        if page is None:
            return False
        spot = planner.page(page)
        current = await planner.read(spot)
        if current is None:
            return False
        text = current.decode("utf-8")
        values = frontmatter.split_and_load(text)[1].values
        entry = entry_of(note.reference, note.revision, note.values, note.card.modified)
        changed = frontmatter.change(text, with_source(values, entry, note.values))
        await planner.put(spot, changed.encode("utf-8"), reason=note.reference)
        return True

    async def _index(self, run: str, tally: Tally) -> None:
        """Build the index anew where anything changed, also by hand."""
        planner = self._parts.planner()
        try:
            await plan_index(self._parts, planner)
            tally.changed += await self._runs.apply(run, planner.changes)
        except (ConflictError, StorageError) as error:
            tally.trouble.append(f"The index was not written: {error}")

    async def _keep(self, run: str, tally: Tally) -> str | None:
        """Keep what was refused as findings, then do not ask again about it for a while."""
        if not tally.findings:
            return None
        created = iso(self._parts.clock.now())
        add = partial(self._dreams.add, "deep", created, "inbox", tally.findings, run)
        dream = await anyio.to_thread.run_sync(add)
        for note, why in tally.refused:
            await self._leave(note, why)
        return dream.dream_id

    async def _leave(self, note: InboxNote, why: str) -> None:
        now = self._parts.clock.now()
        leave = partial(self._skips.leave, note.reference, note.data, self._prompt, now, why)
        await anyio.to_thread.run_sync(leave)
