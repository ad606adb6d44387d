"""Saving: noted durably at once, filed behind, and never twice."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
from filelock import FileLock, Timeout

from memory_mcp.core.errors import (
    ConflictError,
    InputError,
    MemoryMcpError,
    NotFoundError,
    StorageError,
)
from memory_mcp.core.given import given_text
from memory_mcp.core.ports import Clock
from memory_mcp.core.reference import GLOBAL, join
from memory_mcp.core.saying import saying
from memory_mcp.core.slug import shown
from memory_mcp.curate.edit import Writer, iso
from memory_mcp.curate.filing import Draft, draft, request_of
from memory_mcp.curate.journal import OPEN, Job, Journal, Record
from memory_mcp.curate.policy import check_scope
from memory_mcp.curate.results import WriteResult
from memory_mcp.curate.saved import job_id_of, line_of, names_from, url_of
from memory_mcp.curate.similar import find_same, read_body
from memory_mcp.index.frames import frames
from memory_mcp.index.view import IndexView
from memory_mcp.notes.place import is_taken

log = logging.getLogger(__name__)

_LOOK_SECONDS = 2.0  # how often jobs that another process noted are looked for
_READY_SECONDS = 5.0  # how long filing waits for the index after a start
_WAIT_SECONDS = 60.0  # the longest pause before a disk that refused is asked again
_MAX_TRIES = 5  # a client may be killed at any moment; only what kills its process each time ends
_CUT_OFF = f"It was cut off {_MAX_TRIES} times; its text is in the journal, save it again."


class Jobs:
    """The background work of one agent of a home: of the journal, nobody sees or does another
    agent's. One process at a time works; all may add and list."""

    def __init__(
        self,
        journal: Journal,
        writer: Writer,
        index: IndexView,
        clock: Clock,
        agent: str,
        project: str | None = None,
        wider: Jobs | None = None,
    ) -> None:
        """`project`: the id of the project in whose inbox texts are filed; `wider` are then the
        agent's jobs of the global inbox."""
        self._agent = agent
        self._project = project
        self._wider = wider
        self._journal = journal
        self._writer = writer
        self._index = index
        self._clock = clock
        self._wake = anyio.Event()
        self._noted = anyio.Event()

    async def save(
        self,
        content: str,
        context: str | None = None,
        source_url: str | None = None,
        scope: str | None = None,
        *,
        job_id: str | None = None,
    ) -> Job:
        """Note a text to be filed, durably, and return at once.

        Private parts and injected frames are left out before anything is on disk. `job_id` is
        that of a request that may come again: a job of this id that is there already is returned
        as it is, and nothing is noted twice. Raises InputError, RefusedError (read-only; a secret
        where the settings refuse), ConflictError (the id is another agent's), StorageError.
        """
        self._writer.check_writable()
        check_scope(scope, project=self._project is not None)
        if scope == GLOBAL and self._wider is not None:
            return await self._wider.save(content, context, source_url, scope, job_id=job_id)
        given = given_text(content, "content").text
        if not given.strip():
            raise InputError("content is empty; give the text to remember.")
        request = request_of(given, line_of(context, "context"), url_of(source_url))
        await anyio.to_thread.run_sync(self._writer.check_text, request["content"] or "")
        add = partial(
            self._journal.add,
            f"save-{secrets.token_hex(6)}" if job_id is None else job_id_of(job_id),
            kind="save",
            agent=self._agent,
            project=self._project,
            status="queued",
            created=iso(self._clock.now()),
            request=dict(request),
        )
        record = await anyio.to_thread.run_sync(add)
        if record.owner != (self._agent, self._project):
            raise ConflictError(f"The job id {shown(record.job.job_id)} is taken; use another.")
        self._wake.set()
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

    async def finished(self, job_id: str, seconds: float | None = None) -> Job:
        """Wait until a job is done or failed, for at most so many seconds, and return it as it is.

        Raises NotFoundError.
        """
        with anyio.move_on_after(float("inf") if seconds is None else seconds):
            while self.list(job_id)[0].status in OPEN:
                with anyio.move_on_after(_LOOK_SECONDS):  # another process may do it
                    await self._noted.wait()
        return self.list(job_id)[0]

    async def run(self) -> None:
        """Work on jobs until cancelled. What is cut off is done again, by the same name.

        In read-only mode jobs stay queued. A disk that refuses is asked again later, and the jobs
        say meanwhile why they wait.
        """
        if self._writer.read_only:
            return
        lock = await self._acquire()
        try:
            # A text that a note has already is not filed again: the notes must be known first.
            await self._index.settled(_READY_SECONDS)
            await self._attempt(self._give_up)
            pause = _LOOK_SECONDS
            while True:
                self._wake = anyio.Event()
                fine = await self._attempt(self._work_all)
                pause = _LOOK_SECONDS if fine else min(2 * pause, _WAIT_SECONDS)
                with anyio.move_on_after(pause):
                    await self._wake.wait()
        finally:
            lock.release()

    async def _acquire(self) -> FileLock:
        """The lock of the one process that works; waits for it."""
        while True:
            try:
                path = self._journal.lock_path(self._agent, self._project)
                lock = FileLock(path, timeout=0, mode=0o600)
                lock.acquire()
            except Timeout:
                pass
            except (OSError, StorageError) as error:
                log.warning("Jobs wait, their folder cannot be used: %s", error)
            else:
                return lock
            await anyio.sleep(_LOOK_SECONDS)

    async def _attempt(self, step: Callable[[], Awaitable[None]]) -> bool:
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

    async def _work_all(self) -> None:
        refused: StorageError | None = None
        for record in self._unfinished():
            try:
                await self._work(record)
            except StorageError as error:  # the others may be luckier
                refused = error
        if refused is not None:
            raise refused

    def _unfinished(self) -> tuple[Record, ...]:
        return tuple(record for record in self._own() if record.job.status in OPEN)

    def _own(self) -> tuple[Record, ...]:
        owner = (self._agent, self._project)
        return tuple(item for item in self._journal.records() if item.owner == owner)

    def _seen(self) -> tuple[Record, ...]:
        """The jobs that a client is shown: those of the project, and those of the global inbox."""
        owners = ((self._agent, self._project), (self._agent, None))
        return tuple(item for item in self._journal.records() if item.owner in owners)

    @property
    def waiting(self) -> int:
        """How many jobs are neither done nor failed. Raises StorageError."""
        return len(self._unfinished())

    async def _work(self, record: Record) -> None:
        tries = record.tries
        record = await self._note(record, status="running", tries=tries + 1)
        try:
            outcome, changed = await self._file(record)
        except StorageError as error:  # not the job's fault: it waits for the disk
            await self._note(record, status="queued", tries=tries, error=f"It waits: {error}")
            raise
        except MemoryMcpError as error:
            await self._note(record, status="failed", error=str(error))
        except Exception as error:  # noqa: BLE001 - one job must not end the work on others
            log.error("Job %s failed: %s", record.job.job_id, frames(error))
            await self._note(
                record, status="failed", error=f"Unexpected: {type(error).__name__}: {error}"
            )
        else:
            await self._note(record, status="done", outcome=outcome, changed=changed, error=None)
        await anyio.to_thread.run_sync(self._journal.compact)

    async def _file(self, record: Record) -> tuple[str, tuple[str, ...]]:
        """File one text; what is said about it, and the references that changed."""
        request = record.request
        content = str(request.get("content") or "")
        if not content.strip():
            return "Nothing was left to save: all of it was injected or private.", ()
        if record.slug is not None and await self._is_filed(record.slug, content):
            reference = join(self._writer.inbox.name, record.slug)
            return f"Filed as {reference}.", (reference,)
        same = await find_same(self._index, content)
        if same is not None:
            return f"Nothing new: {same} says it already.", ()
        source = request.get("source_url")
        make = partial(draft, content, request.get("context"), source, self._agent)
        made = await anyio.to_thread.run_sync(make)
        done = await self._create(record, made)
        near = ", ".join(f"{item.reference} ({item.score:.2f})" for item in done.similar)
        notes = [f"Filed as {done.reference}.", *done.warnings]
        if near:
            notes.insert(1, f"Similar notes: {near}.")
        return " ".join(notes), (done.reference,)

    async def _create(self, record: Record, made: Draft) -> WriteResult:
        """Write the note under the first free name; the name is noted before it is used."""
        names = names_from(made.slug)
        if record.slug is not None:
            names = (record.slug, *(name for name in names if name != record.slug))
        for name in names:
            if await anyio.to_thread.run_sync(self._is_taken, name):
                continue
            await self._note(record, slug=name)
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

    async def _note(self, record: Record, **values: Any) -> Record:
        """Append a change of state, whole even where the work is being cancelled."""
        if values.get("status") in ("done", "failed"):
            values["finished"] = iso(self._clock.now())
        with anyio.CancelScope(shield=True):
            add = partial(self._journal.append, record.job.job_id, record, **values)
            record = await anyio.to_thread.run_sync(add)
        self._noted.set()
        self._noted = anyio.Event()
        return record
