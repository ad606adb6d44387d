"""The worker: does the jobs of the journal behind, one after another, and never one twice."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
from filelock import FileLock, Timeout

from memory_mcp.core.errors import ConflictError, MemoryMcpError, NotFoundError, StorageError
from memory_mcp.core.ports import Clock
from memory_mcp.core.slug import shown
from memory_mcp.curate.jobs.journal import OPEN, Job, Journal, Record
from memory_mcp.curate.jobs.task import LANES, Kind, Lane, Outcome, Task
from memory_mcp.curate.plans.names import job_id_of
from memory_mcp.curate.write.edit import iso
from memory_mcp.index.frames import frames
from memory_mcp.index.view import IndexView

log = logging.getLogger(__name__)

Step = Callable[[], Coroutine[Any, Any, object]]

_LOOK_SECONDS = 2.0  # how often jobs that another process noted are looked for
_READY_SECONDS = 5.0  # how long the work waits for the index after a start
_WAIT_SECONDS = 60.0  # the longest pause before a disk that refused is asked again
_MAX_TRIES = 5  # a client may be killed at any moment; only what kills its process each time ends
_CUT_OFF = f"It was cut off {_MAX_TRIES} times; its text is in the journal, save it again."
_CANCELLED = "Cancelled."


@dataclass(slots=True)
class _Running:
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    cancelled: bool = False


class Jobs:
    """The background work of one agent of a home: of the journal, nobody sees or does another
    agent's. One process at a time works; all may add and list."""

    def __init__(
        self,
        journal: Journal,
        index: IndexView,
        clock: Clock,
        agent: str,
        project: str | None = None,
        *,
        read_only: bool = False,
    ) -> None:
        """`project`: the id of the project in whose inbox the work is done."""
        self.agent = agent
        self.project = project
        self._journal = journal
        self._index = index
        self._clock = clock
        self._read_only = read_only
        self._kinds: dict[str, Kind] = {}
        self._wakes = {lane: anyio.Event() for lane in LANES}
        self._noted = anyio.Event()
        self._running: dict[str, _Running] = {}

    def learn(self, kinds: Mapping[str, Kind]) -> None:
        """How jobs of these kinds are done; before `run`."""
        self._kinds.update(kinds)

    async def add(
        self,
        kind: str,
        request: Mapping[str, Any],
        *,
        job_id: str | None = None,
        done: Outcome | None = None,
    ) -> Job:
        """Note a job durably and return at once; one that is `done` already only to be listed.

        `job_id` is that of a request that may come again: a job of this id that is there already
        is returned as it is, and nothing is noted twice. Raises InputError, ConflictError (the id
        is another agent's), StorageError.
        """
        now = iso(self._clock.now())
        add = partial(
            self._journal.add,
            f"{kind}-{secrets.token_hex(6)}" if job_id is None else job_id_of(job_id),
            kind=kind,
            agent=self.agent,
            project=self.project,
            created=now,
            request=dict(request),
            **({"status": "queued"} if done is None else _ended(done, now)),
        )
        record = await anyio.to_thread.run_sync(add)
        if record.owner != (self.agent, self.project):
            raise ConflictError(f"The job id {shown(record.job.job_id)} is taken; use another.")
        for wake in self._wakes.values():
            wake.set()
        return record.job

    def list(self, job_id: str | None = None) -> tuple[Job, ...]:
        """All jobs, the newest first, or the one that was asked for. Raises NotFoundError."""
        jobs = [record.job for record in self._seen()]
        if job_id is None:
            return tuple(reversed(jobs))
        found = [job for job in jobs if job.job_id == job_id.strip()]
        if not found:
            raise NotFoundError(
                f"There is no job {shown(job_id)}; memory_jobs without job_id lists all."
            )
        return tuple(found)

    def waiting_of(self, kind: str) -> Job | None:
        """The job of this kind that is queued or running here, if there is one."""
        found = (record.job for record in self._unfinished() if record.job.kind == kind)
        return next(found, None)

    async def finished(self, job_id: str, seconds: float | None = None) -> Job:
        """Wait until a job is done or failed, for at most so many seconds, and return it as it is.

        Raises NotFoundError.
        """
        with anyio.move_on_after(float("inf") if seconds is None else seconds):
            while self.list(job_id)[0].status in OPEN:
                with anyio.move_on_after(_LOOK_SECONDS):  # another process may do it
                    await self._noted.wait()
        return self.list(job_id)[0]

    async def cancel(self, job_id: str) -> Job:
        """End a job that is queued or running, in whichever process; what it had finished stays.

        A job that is done or failed is returned as it is. Raises NotFoundError, StorageError.
        """
        self.list(job_id)
        record = next(item for item in self._seen() if item.job.job_id == job_id.strip())
        if record.job.status not in OPEN:
            return record.job
        record = await self._note(record, status="failed", error=_CANCELLED)
        self._stop(record.job.job_id)
        return record.job

    def _stop(self, job_id: str) -> None:
        running = self._running.get(job_id)
        if running is not None:
            running.cancelled = True
            running.scope.cancel()

    async def run(self, first: Step | None = None, beside: Step | None = None) -> None:
        """Work on jobs until cancelled. What is cut off is done again, by the same name.

        `first` is done before any job, `beside` along with them, both by the one process that
        works. In read-only mode jobs stay queued. A disk that refuses is asked again later, and
        the jobs say meanwhile why they wait.
        """
        if self._read_only:
            return
        lock = await self._acquire()
        try:
            # A text that a note has already is not filed again: the notes must be known first.
            await self._index.settled(_READY_SECONDS)
            if first is not None:
                await self._attempt(first)
            await self._attempt(self._give_up)
            async with anyio.create_task_group() as tasks:
                if beside is not None:
                    tasks.start_soon(beside)
                for lane in LANES:
                    tasks.start_soon(self._work_on, lane)
                tasks.start_soon(self._watch_for_ends)
        finally:
            lock.release()

    async def _work_on(self, lane: Lane) -> None:
        pause = _LOOK_SECONDS
        while True:
            self._wakes[lane] = anyio.Event()
            fine = await self._attempt(partial(self._work_all, lane))
            pause = _LOOK_SECONDS if fine else min(2 * pause, _WAIT_SECONDS)
            with anyio.move_on_after(pause):
                await self._wakes[lane].wait()

    async def _watch_for_ends(self) -> None:
        """Stop what another process has cancelled."""
        while True:
            await anyio.sleep(_LOOK_SECONDS)
            if not self._running:
                continue
            try:
                records = await anyio.to_thread.run_sync(self._journal.records)
            except StorageError:
                continue
            for record in records:
                if record.job.status == "failed":
                    self._stop(record.job.job_id)

    async def _acquire(self) -> FileLock:
        """The lock of the one process that works; waits for it."""
        while True:
            try:
                path = self._journal.lock_path(self.agent, self.project)
                lock = FileLock(path, timeout=0, mode=0o600)
                lock.acquire()
            except Timeout:
                pass
            except (OSError, StorageError) as error:
                log.warning("Jobs wait, their folder cannot be used: %s", error)
            else:
                return lock
            await anyio.sleep(_LOOK_SECONDS)

    async def _attempt(self, step: Step) -> bool:
        """Take a step; False where the disk refused it."""
        try:
            await step()
        except StorageError as error:
            log.warning("Jobs wait: %s", error)
            return False
        return True

    async def _give_up(self) -> None:
        for record in self._unfinished():
            if record.tries >= _MAX_TRIES:
                await self._note(record, status="failed", error=_CUT_OFF)

    async def _work_all(self, lane: Lane) -> None:
        refused: StorageError | None = None
        for record in self._unfinished():
            kind = self._kinds.get(record.job.kind)
            if kind is None or kind.lane != lane:  # another version's
                continue
            try:
                await self._work(record, kind)
            except StorageError as error:  # the others may be luckier
                refused = error
        if refused is not None:
            raise refused

    def _unfinished(self) -> tuple[Record, ...]:
        return tuple(record for record in self._own() if record.job.status in OPEN)

    def _own(self) -> tuple[Record, ...]:
        owner = (self.agent, self.project)
        return tuple(item for item in self._journal.records() if item.owner == owner)

    def _seen(self) -> tuple[Record, ...]:
        """The jobs that a client is shown: those of the project, and those of the global inbox."""
        owners = ((self.agent, self.project), (self.agent, None))
        return tuple(item for item in self._journal.records() if item.owner in owners)

    @property
    def waiting(self) -> int:
        """How many jobs are neither done nor failed. Raises StorageError."""
        return len(self._unfinished())

    async def _work(self, record: Record, kind: Kind) -> None:
        current = next((r for r in self._unfinished() if r.job.job_id == record.job.job_id), None)
        if current is None:
            return  # it was cancelled while others were done
        tries = record.tries
        record = await self._note(record, status="running", tries=tries + 1)
        running = self._running[record.job.job_id] = _Running()
        try:
            with running.scope, anyio.fail_after(kind.seconds):
                outcome = await kind.work(Task(record, self._note))
                await self._note(record, error=None, **_ended(outcome, iso(self._clock.now())))
        except StorageError as error:  # not the job's fault: it waits for the disk
            await self._note(record, status="queued", tries=tries, error=f"It waits: {error}")
            raise
        except TimeoutError:
            late = f"It took longer than {kind.seconds / 60:g} minutes and was ended."
            await self._note(record, status="failed", error=late)
        except MemoryMcpError as error:
            await self._note(record, status="failed", error=str(error))
        except Exception as error:  # noqa: BLE001 - one job must not end the work on others
            log.error("Job %s failed: %s", record.job.job_id, frames(error))
            said = f"Unexpected: {type(error).__name__}: {error}"
            await self._note(record, status="failed", error=said)
        finally:
            self._running.pop(record.job.job_id, None)
        await anyio.to_thread.run_sync(self._journal.compact)

    async def _note(self, record: Record, **values: Any) -> Record:
        """Append a change of state, whole even where the work is being cancelled."""
        if values.get("status") == "failed":
            values["finished"] = iso(self._clock.now())
        with anyio.CancelScope(shield=True):
            add = partial(self._journal.append, record.job.job_id, record, **values)
            record = await anyio.to_thread.run_sync(add)
        self._noted.set()
        self._noted = anyio.Event()
        return record


def _ended(done: Outcome, at: str) -> dict[str, Any]:
    return {"status": "done", "outcome": done.text, "changed": done.changed, "finished": at}
