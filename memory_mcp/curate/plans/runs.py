"""Carrying out plans: all of a plan or nothing, once, and back again byte for byte."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread

from memory_mcp.core.errors import (
    ConflictError,
    MemoryMcpError,
    NotFoundError,
    RefusedError,
    StorageError,
)
from memory_mcp.core.parse import revision_of
from memory_mcp.core.ports import Clock
from memory_mcp.curate.plans.plan import Change, Spot, references
from memory_mcp.curate.plans.record import Planned, Records, run_id_of, undo_of
from memory_mcp.curate.write.edit import iso
from memory_mcp.index.view import IndexView
from memory_mcp.notes import files
from memory_mcp.notes.history import History
from memory_mcp.notes.lock import WAIT_SECONDS, held

log = logging.getLogger(__name__)


class Runs:
    """The only way in which a plan becomes files.

    A run is a job, or one approval; it may carry out several plans. The old bytes of every note
    are in the history, too, with the run as the reason.
    """

    def __init__(
        self, folder: Path, history: History, index: IndexView, clock: Clock, *, read_only: bool
    ) -> None:
        self._records = Records(folder, index.sources)
        self._history = history
        self._index = index
        self._clock = clock
        self._read_only = read_only
        self._locks = history.locks
        self._left: set[str] = set()
        """Runs with a plan that the disk did not let end; it ends before others build upon it."""

    async def apply(self, run: str, changes: Sequence[Change]) -> tuple[str, ...]:
        """Carry out a plan as a part of a run, and return the references that changed.

        It is done as a whole: where one file is not as the plan knew it, none is changed. Cut off
        by a kill, it is gone on with by `recover`. Raises ConflictError, RefusedError (read-only,
        a name that cannot be), StorageError.
        """
        self.check_writable()
        wanted = [change for change in changes if change.before != change.after]
        if wanted:
            await self._begin(run_id_of(run), wanted)
        return references(wanted)

    async def _begin(
        self, run: str, changes: Sequence[Change], takes_back: Sequence[int] = ()
    ) -> None:
        with anyio.CancelScope(shield=True):
            await self._settle()
            async with self._alone(run):
                known = await anyio.to_thread.run_sync(self._known, run)
                with suppress(ConflictError):  # a record can be open at its last plan only
                    await self._go_on(run, known)
                await anyio.to_thread.run_sync(_check_all, changes)
                number, at = len(known) + 1, iso(self._clock.now())
                note = partial(self._records.begin, run, number, at, changes, takes_back)
                await anyio.to_thread.run_sync(note)
                await self._carry_out(run, Planned(number, tuple(changes)))

    def _alone(self, run: str, seconds: float = WAIT_SECONDS) -> AbstractAsyncContextManager[None]:
        """The time in which nobody else carries out plans of a run: one that is open then was cut
        off."""
        name = hashlib.sha256(run.encode("ascii")).hexdigest()[:32]
        return held(self._locks / f"run-{name}.lock", f"the run {run}", seconds)

    async def _settle(self) -> None:
        """Go on with plans that were begun here and not ended. One that is taken up much later
        would be put back, with what others had built upon it. Raises as `resume`."""
        for run in sorted(self._left):
            self._left.discard(run)
            await self.resume(run)

    async def recover(self) -> tuple[str, ...]:
        """Go on with the plans that a kill cut off, here or in another process; the runs they are
        part of. What is being carried out is left alone."""
        if self._read_only:
            return ()
        taken = []
        for run in await anyio.to_thread.run_sync(self._records.open):
            with suppress(MemoryMcpError):  # it says so itself, and has put back its part
                async with self._alone(run, 0):
                    taken.append(run)
                    await self._end_open(run)
        return tuple(taken)

    async def resume(self, run: str) -> tuple[str, ...]:
        """Go on with the plans of one run that were cut off, and return what the run has changed.

        Raises ConflictError where a note was changed meanwhile; what was done is put back then.
        """
        async with self._alone(run_id_of(run)):
            await self._end_open(run_id_of(run))
        return await self.changed(run)

    async def _end_open(self, run: str) -> None:
        await self._go_on(run, await anyio.to_thread.run_sync(self._known, run))

    async def _go_on(self, run: str, known: Iterable[Planned]) -> None:
        """Carry out those of a run's plans that were cut off. Raises as `resume`, after the
        last."""
        failure: MemoryMcpError | None = None
        for planned in known:
            if planned.end is None:
                try:
                    await self._carry_out(run, planned)
                except MemoryMcpError as error:
                    failure = error
        if failure is not None:
            raise failure

    async def changed(self, run: str) -> tuple[str, ...]:
        """The references that a run has changed so far, without what was taken back; none where
        it is not known."""
        plans = await anyio.to_thread.run_sync(self._standing, run_id_of(run))
        return references([c for plan in plans if plan.end == "done" for c in plan.changes])

    async def brought_back(self, kind: str) -> Mapping[str, bytes]:
        """Notes that came back when runs of this kind of job were taken back, by reference, with
        their bytes; none of a run that was brought back itself."""

        def look() -> dict[str, bytes]:
            found: dict[str, bytes] = {}
            for run in self._records.runs():
                if run.startswith(undo_of(f"{kind}-")):
                    with suppress(StorageError):  # another agent's, or damaged
                        changes = [c for plan in self._standing(run) for c in plan.changes]
                        found |= {c.reference: c.after for c in changes if c.after is not None}
            return found

        return await anyio.to_thread.run_sync(look)

    async def restore(self, run: str) -> tuple[str, ...]:
        """Take a whole run back and return the references that are as they were before it.

        Nothing is touched where a note was changed since by somebody else: it is named, and its
        own history can still be restored. Taking back is a run itself, `undo-<run>`, of which the
        latest is taken back. Raises NotFoundError, ConflictError, RefusedError, StorageError.
        """
        self.check_writable()
        run = run_id_of(run)
        known = await anyio.to_thread.run_sync(self._records.plans, run)
        if any(plan.end is None for plan in known):  # else `recover` would do it once more
            with suppress(ConflictError):
                await self.resume(run)
        plans = await anyio.to_thread.run_sync(self._standing, run)
        if plans and plans[-1].takes_back:
            plans = plans[-1:]
        done = [change for plan in plans for change in plan.changes]
        back = await anyio.to_thread.run_sync(_way_back, done)
        if plans:
            await self._begin(undo_of(run), back, [plan.number for plan in plans])
        return references(back)

    def check_writable(self) -> None:
        """Raise RefusedError in read-only mode."""
        if self._read_only:
            raise RefusedError("This memory is in read-only mode; nothing was changed.")

    def _known(self, run: str) -> tuple[Planned, ...]:
        try:
            return self._records.plans(run)
        except NotFoundError:
            return ()

    def _standing(self, run: str) -> tuple[Planned, ...]:
        """The plans of a run without those that were put back, or that an undo takes back which
        stands itself."""
        plans = [plan for plan in self._known(run) if plan.end != "undone"]
        undo = undo_of(run)
        if not plans or undo == run:
            return tuple(plans)
        back = {number for plan in self._standing(undo) for number in plan.takes_back}
        return tuple(plan for plan in plans if plan.number not in back)

    async def _carry_out(self, run: str, planned: Planned) -> None:
        try:
            await self._carry_to_an_end(run, planned)
        except StorageError:
            self._left.add(run)
            raise

    async def _carry_to_an_end(self, run: str, planned: Planned) -> None:
        done: list[Change] = []
        try:
            for change in planned.changes:
                await self._make(change, run)
                done.append(change)
        except MemoryMcpError as error:
            log.warning("A plan of run %s was put back: %s", run, type(error).__name__)
            for change in reversed(done):
                back = Change(change.spot, change.after, change.before)
                with suppress(ConflictError):  # changed again by somebody: theirs stays
                    await self._make(back, run)
            await anyio.to_thread.run_sync(self._records.end, run, planned.number, "undone")
            raise
        await anyio.to_thread.run_sync(self._records.end, run, planned.number, "done")

    async def _make(self, change: Change, run: str) -> None:
        spot = change.spot

        def step(current: bytes | None) -> bytes | None:
            if current not in (change.before, change.after):
                raise _changed(change, current)
            return change.after

        work = partial(
            files.update, spot.source, spot.path, step, self._history, self._clock.now(), run
        )
        written = await anyio.to_thread.run_sync(work)
        if written.after is not None:
            self._history.recent.keep(spot.reference, written.after)
        await self._index.refresh(spot.source, spot.path)


def _check_all(changes: Iterable[Change]) -> None:
    for change in changes:
        current = _on_disk(change.spot)
        if current != change.before:
            raise _changed(change, current)


def _on_disk(spot: Spot) -> bytes | None:
    try:
        return files.read(spot.source, spot.path).data
    except NotFoundError:
        return None


def _changed(change: Change, current: bytes | None) -> ConflictError:
    now = "is gone" if current is None else f"is at revision {revision_of(current)}"
    was = (
        "there was no such note"
        if change.before is None
        else (f"it was at revision {revision_of(change.before)}")
    )
    return ConflictError(
        f"Conflict: {change.reference} changed meanwhile: it {now}, and {was} when this was"
        " planned; nothing was changed. Look at it and plan again."
    )


def _way_back(done: Sequence[Change]) -> list[Change]:
    """What takes these changes back, the last one first. Raises ConflictError where a note is not
    as the run left it, or was changed by somebody else in between."""
    nets: dict[tuple[str, str], Change] = {}
    for change in done:
        key = (change.spot.source.id, change.spot.path)
        known = nets.pop(key, None)
        # Put back in between to what the run had found (an undo of it) is nobody's own text.
        if known is not None and change.before not in (known.after, known.before):
            raise ConflictError(
                f"{change.reference} was changed by somebody else while the run was under way;"
                " nothing was taken back. Restore its versions one by one: memory-mcp history"
                f" {change.reference}."
            )
        nets[key] = Change(change.spot, known.before if known else change.before, change.after)
    back = []
    for net in reversed(nets.values()):
        current = _on_disk(net.spot)
        if current == net.before:
            continue
        if current != net.after:
            raise ConflictError(
                f"{net.reference} was changed since the run; nothing was taken back. Restore what"
                f" you want of it with memory-mcp history {net.reference}."
            )
        back.append(Change(net.spot, net.after, net.before, "taken back"))
    return back
