"""Deciding on findings: one is carried out as a run of its own, once, or put aside."""

from __future__ import annotations

import hashlib
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio
import anyio.to_thread

from memory_mcp.core.errors import ConflictError, MemoryMcpError, RefusedError, StorageError
from memory_mcp.core.plain import clip
from memory_mcp.core.slug import shown
from memory_mcp.curate.parts import Parts
from memory_mcp.curate.plans.plan import Change
from memory_mcp.curate.plans.planner import Planner
from memory_mcp.curate.plans.record import is_undo_of
from memory_mcp.curate.plans.runs import Runs
from memory_mcp.curate.review.findings import Dream, Dreams, Finding, Status
from memory_mcp.curate.toolbox.toolbox import Toolbox
from memory_mcp.notes.lock import held

NO_ACTION = "none"
"""The action of a finding that no single call carries out."""

_LONGEST_RUN = 100
_LONGEST_REASON = 500


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of a finding, or of all of a dream; `left` are those that still wait."""

    dream_id: str
    finding_id: str | None
    status: Status
    changed: tuple[str, ...]
    left: int
    run: str | None = None
    """The run that can be taken back; None where nothing was carried out."""


@dataclass(frozen=True, slots=True)
class TakenBack:
    """The notes that are as they were before a run, and the findings that changed their status
    with it, as `<dream_id> <finding_id>`."""

    restored: tuple[str, ...]
    waiting: tuple[str, ...]
    applied: tuple[str, ...]


class Approvals:
    """The decisions on the findings of one owner. Tools and command line share them."""

    def __init__(self, parts: Parts, runs: Runs, dreams: Dreams) -> None:
        self._parts = parts
        self._runs = runs
        self._dreams = dreams

    async def preview(self, dream_id: str, finding_id: str) -> tuple[Change, ...]:
        """What applying a finding would change; nothing is touched. Raises as `apply`."""
        _, finding = await self._find(dream_id, finding_id)
        if finding.status != "pending":
            return ()
        return await self._planned(finding)

    async def apply(
        self,
        dream_id: str,
        finding_id: str,
        reason: str | None = None,
        *,
        resolved_manually: bool = False,
        review: str | None = None,
    ) -> Decided:
        """Carry a finding out, or only note that it was `resolved_manually`; twice is once.
        `review`: the run of the review in which that was done.

        Raises NotFoundError, RefusedError (dismissed before, nothing that a call could do,
        read-only), and what planning and applying raise: then the finding stays pending.
        """
        self._runs.check_writable()
        async with self._alone():
            dream, finding = await self._find(dream_id, finding_id)
            if finding.status == "applied":
                return _decided(dream, finding)
            _check_pending(finding)
            if resolved_manually:
                said = f"Resolved by hand. {reason or ''}".strip()
                return await self._decide(dream, finding, "applied", said, (), review)
            run = run_of(dream.dream_id, finding.finding_id)
            changed = await self._carried_out(run, finding)
            return await self._decide(dream, finding, "applied", reason, changed, run)

    async def dismiss(
        self, dream_id: str, finding_id: str | None = None, reason: str | None = None
    ) -> Decided:
        """Put a finding aside, or all of a dream that wait. Raises NotFoundError, RefusedError
        (it was applied before, read-only), StorageError."""
        self._runs.check_writable()
        async with self._alone():
            dream = await anyio.to_thread.run_sync(self._dreams.get, dream_id)
            if finding_id is None:
                for finding in dream.pending:
                    await self._decide(dream, finding, "dismissed", reason, ())
                dream = await anyio.to_thread.run_sync(self._dreams.get, dream_id)
                return Decided(dream.dream_id, None, "dismissed", (), len(dream.pending))
            dream, finding = await self._find(dream_id, finding_id)
            if finding.status == "applied":
                run = run_of(dream.dream_id, finding.finding_id)
                raise RefusedError(
                    f"{finding.finding_id} was applied already; take it back with memory-mcp"
                    f" restore --run {run}."
                    if finding.changed
                    else f"{finding.finding_id} was resolved already; there is nothing to dismiss."
                )
            if finding.status == "dismissed":
                return _decided(dream, finding)
            return await self._decide(dream, finding, "dismissed", reason, ())

    async def take_back(self, run: str) -> TakenBack:
        """Take a whole run back, and let the findings that it has settled wait again; where the
        run is an undo, they are settled again. What was dismissed stays so. Raises as
        `Runs.restore`."""
        restored = await self._runs.restore(run)
        waiting: list[str] = []
        applied: list[str] = []
        async with self._alone():
            for dream in await anyio.to_thread.run_sync(self._dreams.all, "all"):
                for item in dream.findings:
                    if item.run is None or not is_undo_of(run, item.run):
                        continue
                    name = f"{dream.dream_id} {item.finding_id}"
                    changed = await self._runs.changed(item.run)
                    if item.status == "applied" and not changed:
                        await self._decide(dream, item, "pending", None, (), item.run)
                        waiting.append(name)
                    elif item.status == "pending" and changed:
                        own = item.run == run_of(dream.dream_id, item.finding_id)
                        kept = changed if own else ()
                        await self._decide(dream, item, "applied", None, kept, item.run)
                        applied.append(name)
        return TakenBack(restored, tuple(waiting), tuple(applied))

    async def _find(self, dream_id: str, finding_id: str) -> tuple[Dream, Finding]:
        find = partial(self._dreams.finding, dream_id, finding_id)
        finding = await anyio.to_thread.run_sync(find)
        return await anyio.to_thread.run_sync(self._dreams.get, dream_id), finding

    async def _carried_out(self, run: str, finding: Finding) -> tuple[str, ...]:
        """The references that the run has changed, now or in an attempt that was cut off."""
        try:
            done = await self._runs.resume(run)
            return done or await self._runs.apply(run, await self._planned(finding))
        except ConflictError as error:
            raise ConflictError(f"{error} {_stays(finding)}") from error
        except StorageError:
            raise
        except MemoryMcpError as error:
            raise RefusedError(f"{error} {_stays(finding)}") from error

    async def _planned(self, finding: Finding) -> tuple[Change, ...]:
        if finding.action == NO_ACTION:
            raise RefusedError(
                f"{finding.finding_id} needs judgement that no single call has: look at the notes"
                " it names, in a dream_review for pages of the wiki. Then call dream_apply with"
                " resolved_manually, or dream_dismiss."
            )
        planner = self._parts.planner()
        await self._check_free(planner, finding)
        await Toolbox(self._parts, planner).call(finding.action, dict(finding.arguments))
        return planner.changes

    async def _check_free(self, planner: Planner, finding: Finding) -> None:
        """A note that was proposed as a new one replaces none that has come since."""
        slug = finding.arguments.get("slug")
        if finding.action != "memory_write" or "if_revision" in finding.arguments:
            return
        if isinstance(slug, str) and await planner.read(spot := planner.note(slug)) is not None:
            raise ConflictError(f"{spot.reference} exists since; nothing was replaced.")

    async def _decide(
        self,
        dream: Dream,
        finding: Finding,
        status: Status,
        reason: str | None,
        changed: tuple[str, ...],
        run: str | None = None,
    ) -> Decided:
        said = clip(reason.strip(), _LONGEST_REASON) if reason and reason.strip() else None
        values: dict[str, Any] = {"status": status, "changed": changed}
        values |= {"run": run, "decided": said}
        note = partial(self._dreams.decide, dream.dream_id, finding.finding_id, **values)
        after = await anyio.to_thread.run_sync(note)
        known = next(item for item in after.findings if item.finding_id == finding.finding_id)
        return _decided(after, known)

    def _alone(self) -> AbstractAsyncContextManager[None]:
        """The time in which this is the only decision of the home."""
        return held(self._parts.state / "dreams" / "decide.lock", "deciding on findings")


def run_of(dream_id: str, finding_id: str) -> str:
    """The run that carries a finding out, and by which it is taken back."""
    run = f"{dream_id}-{finding_id}"
    if len(run) <= _LONGEST_RUN:
        return run
    return f"{run[:80]}-{hashlib.sha256(run.encode()).hexdigest()[:12]}"


def _check_pending(finding: Finding) -> None:
    if finding.status == "dismissed":
        raise RefusedError(
            f"{finding.finding_id} was dismissed ({shown(finding.decided or 'without a reason')});"
            " nothing was changed. What it proposed can still be written with the memory tools."
        )


def _decided(dream: Dream, finding: Finding) -> Decided:
    run = run_of(dream.dream_id, finding.finding_id) if finding.changed else None
    left = len(dream.pending)
    return Decided(dream.dream_id, finding.finding_id, finding.status, finding.changed, left, run)


def _stays(finding: Finding) -> str:
    return (
        f"The finding {finding.finding_id} stays pending: dismiss it with dream_dismiss, or do it"
        " yourself and call dream_apply with resolved_manually."
    )
