"""One pass of Deep over the inbox: what is done with each note, and what is kept of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
from memory_mcp.curate.deep.holding import Holding, held_by, same_page
from memory_mcp.curate.deep.inbox_note import InboxNote, read_note
from memory_mcp.curate.deep.origins import entry_of, with_source
from memory_mcp.curate.deep.promotion import Left, Placed, Promotion
from memory_mcp.curate.deep.skip_cache import SkipCache
from memory_mcp.curate.deep.tally import Tally
from memory_mcp.curate.parts import Parts
from memory_mcp.curate.plans.plan import Change, Spot
from memory_mcp.curate.plans.planner import Planner
from memory_mcp.curate.plans.runs import Runs
from memory_mcp.curate.review.findings import Dreams
from memory_mcp.curate.wiki.chronicle import plan_index, plan_log
from memory_mcp.curate.wiki.page_log import Logged
from memory_mcp.curate.write.decoding import decoded
from memory_mcp.curate.write.edit import iso

_ATTEMPTS = 2  # a page may change while the model thinks


@dataclass(slots=True)
class Pass:
    """Its parts, and what it has seen so far. `promotion`: None without a reasoner."""

    parts: Parts
    runs: Runs
    dreams: Dreams
    skips: SkipCache
    prompt: str
    promotion: Promotion | None
    held: Holding
    force: bool
    returned: Mapping[str, bytes] = field(default_factory=dict)
    """Notes that somebody took back from the wiki: not filed again before they change."""
    dry: bool = False
    """Nothing is kept: neither what was left, nor why."""
    run: str = ""
    tally: Tally = field(default_factory=Tally)

    async def one(self, note: InboxNote) -> bool:
        """Do what is to be done with one note; False where the pass must end."""
        try:
            await self._file(note)
        except (AnswerError, DeclinedError) as error:
            self.tally.refuse(note, str(error))
        except ReasonerError as error:
            self.tally.wait(f"The model was not asked further: {error}")
            return False
        except ConflictError:
            self.tally.wait(f"{note.reference} or its page changed meanwhile.")
        except StorageError as error:
            self.tally.wait(f"{note.reference} waits: {error}")
        except MemoryMcpError as error:
            self.tally.refuse(note, str(error))
        return True

    async def think(self, note: InboxNote, planner: Planner) -> Placed | tuple[Change, ...] | None:
        """Plan what puts a note on pages; None where it stays. What is on a page already needs no
        change, or only that the page names the note."""
        if self._is_kept(note):
            return None
        if await held_by(self.held.get((note.reference, note.revision), ()), note):
            return ()
        if await self._is_copy(note, planner):
            return planner.changes
        if self.promotion is None:
            self.tally.waiting += 1
            return None
        now = self.parts.clock.now()
        why = partial(self.skips.why, note.reference, note.data, self.prompt, now)
        if not self.force and await anyio.to_thread.run_sync(why) is not None:
            self.tally.left += 1
            return None
        done = await self.promotion.plan(note, planner, self.tally.made)
        if isinstance(done, Left):
            if not self.dry:
                await self._leave(note, done.why)
            self.tally.left += 1
            return None
        entries = [
            Logged(page.spot.path, page.before is None, note.reference, done.model)
            for page in done.pages
        ]
        await plan_log(self.parts, planner, entries)
        await plan_index(self.parts, planner)
        return done

    def _is_kept(self, note: InboxNote) -> bool:
        """Whether a person has said that a note stays: in its header, or by taking it back."""
        if note.why_it_stays() is not None:
            self.tally.stay += 1
            return True
        back = not self.force and self.returned.get(note.reference) == note.data
        self.tally.left += back
        return back

    async def _file(self, note: InboxNote) -> None:
        for attempt in range(_ATTEMPTS):
            planner = self.parts.planner()
            pages = await self.think(note, planner)
            if pages is None:
                return
            try:
                self.tally.changed += await self.runs.apply(self.run, planner.changes)
                break
            except ConflictError:
                again = await read_note(note.spot.source, note.card)
                if again is None or attempt + 1 == _ATTEMPTS:
                    raise
                note = again
        if isinstance(pages, Placed):
            self.tally.made += pages.made
        known = self.held.get((note.reference, note.revision), [])
        await self._remove(note, [change.spot for change in planner.changes] or known)

    async def _remove(self, note: InboxNote, spots: Sequence[Spot]) -> None:
        """Take a note out of the inbox, now that pages on disk say all of it."""
        if not await held_by(spots, note):
            self.tally.wait(f"{note.reference} stays: its page changed meanwhile.")
            return
        gone = Change(note.spot, note.data, None, "its text is in the wiki")
        self.tally.changed += await self.runs.apply(self.run, [gone])
        self.tally.filed += 1

    async def _is_copy(self, note: InboxNote, planner: Planner) -> bool:
        """Whether a page says the very same; planned is then that it names the note."""
        page = await same_page(self.parts.index, note)
        if page is None:
            return False
        spot = planner.page(page)
        current = await planner.read(spot)
        if current is None:
            return False
        text = decoded(spot.reference, current)
        values = frontmatter.split_and_load(text)[1].values
        entry = entry_of(note.reference, note.revision, note.values, note.card.modified)
        changed = frontmatter.change(text, with_source(values, entry, note.values))
        await planner.put(spot, changed.encode("utf-8"), reason=note.reference)
        return True

    async def index(self) -> None:
        """Build the index anew where anything changed, also by hand."""
        planner = self.parts.planner()
        try:
            await plan_index(self.parts, planner)
            self.tally.changed += await self.runs.apply(self.run, planner.changes)
        except (ConflictError, StorageError) as error:
            self.tally.trouble.append(f"The index was not written: {error}")

    async def keep(self) -> str | None:
        """Keep what was refused as findings, then do not ask again about it for a while."""
        if not self.tally.findings:
            return None
        created = iso(self.parts.clock.now())
        add = partial(self.dreams.add, "deep", created, "inbox", self.tally.findings, self.run)
        dream = await anyio.to_thread.run_sync(add)
        for note, why in self.tally.refused:
            await self._leave(note, why)
        return dream.dream_id

    async def _leave(self, note: InboxNote, why: str) -> None:
        now = self.parts.clock.now()
        leave = partial(self.skips.leave, note.reference, note.data, self.prompt, now, why)
        await anyio.to_thread.run_sync(leave)
