"""A durable list of jobs: one JSON line for each change of state, appended and synced.

Several processes may share it. Each reads what the others appended; a line that was cut by a
crash is skipped; one process at a time rewrites the file when it has grown.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any, Literal

from filelock import FileLock, Timeout

from memory_mcp.core.errors import StorageError

log = logging.getLogger(__name__)

Status = Literal["queued", "running", "done", "failed"]
STATUSES: tuple[Status, ...] = ("queued", "running", "done", "failed")
OPEN: tuple[Status, ...] = ("queued", "running")
KEEP = 200
"""Jobs done of each agent that stay listed when the file is rewritten."""
_MAX_BYTES = 1_000_000
_LOCK_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Job:
    """A piece of background work as it is shown. Times are ISO text with offset."""

    job_id: str
    kind: str
    status: Status
    created: str
    outcome: str | None = None
    changed: tuple[str, ...] = ()
    """References of the notes that it changed."""
    error: str | None = None
    finished: str | None = None


Owner = tuple[str, str | None]
"""An agent, and the id of a project where the job is of its inbox."""


@dataclass(frozen=True, slots=True)
class Record:
    """A job with what it needs to be done, or done again."""

    job: Job
    request: Mapping[str, Any]
    agent: str = "default"
    """Whose job it is. Lines of older versions do not say; those are the default agent's, and
    never those of whoever comes first."""
    project: str | None = None
    """The id of the project in whose inbox the text is filed; None: in the global one."""
    slug: str | None = None
    """The name under which the note is filed, known before it is written."""
    tries: int = 0

    @property
    def owner(self) -> Owner:
        """Whose job it is, and of which project."""
        return self.agent, self.project


class Journal:
    """The jobs of a home, in `<folder>/journal.jsonl`. Blocking; safe to use from any thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / "journal.jsonl"
        self._records: dict[str, Record] = {}
        self._read = 0
        self._file: tuple[int, int] | None = None
        self._guard = Lock()

    def lock_path(self, agent: str, project: str | None = None) -> Path:
        """The lock of who works on the jobs of an agent (in a project): another for each spelling,
        also where a disk does not tell capital letters. Raises StorageError."""
        with self._explained():
            self._make_folder()
        owner = agent if project is None else f"{agent}\0{project}"
        mark = hashlib.sha256(owner.encode()).hexdigest()[:16]
        return self._folder / f"worker-{mark}.lock"

    def records(self) -> tuple[Record, ...]:
        """All jobs, the oldest first, as the file says now. Raises StorageError."""
        with self._guard:
            self._catch_up()
            return tuple(self._records.values())

    def add(self, job_id: str, **values: Any) -> Record:
        """Note a new job durably (`kind`, `agent`, `created`, `request`). Where there is a job of
        this id already, that is returned as it is. Raises StorageError."""
        return self._append(job_id, None, values, new=True)

    def owners_left(self) -> frozenset[Owner]:
        """Who has jobs that are neither done nor failed, and no process at work on them. Raises
        StorageError."""
        owners = {item.owner for item in self.records() if item.job.status in OPEN}
        return frozenset(owner for owner in owners if self._is_free(owner))

    def _is_free(self, owner: Owner) -> bool:
        path = self.lock_path(*owner)
        with self._explained(), suppress(Timeout), FileLock(path, timeout=0, mode=0o600):
            return True
        return False

    def append(self, job_id: str, known: Record | None = None, **values: Any) -> Record:
        """Set values of a job (`status`, `outcome`, `request`, `slug`, …) durably.

        `known` is the job as the caller knows it: it is written again where the file has lost it.
        Raises StorageError.
        """
        return self._append(job_id, known, values)

    def _append(
        self, job_id: str, known: Record | None, values: dict[str, Any], new: bool = False
    ) -> Record:
        with self._guard:
            with self._explained():
                self._make_folder()
                with self._locked():
                    self._catch_up()
                    if new and job_id in self._records:
                        return self._records[job_id]
                    if known is not None and job_id not in self._records:
                        values = {**_line(known), **values}
                    line = {"job_id": job_id, **values}
                    self._write(json.dumps(line, ensure_ascii=False) + "\n")
                    self._catch_up()
            if job_id not in self._records:
                raise StorageError(f"The jobs in {self._path} were damaged by another program.")
            return self._records[job_id]

    def compact(self) -> None:
        """Rewrite the file without what nobody asks for any more, where it has grown large.

        All unfinished jobs stay, those that failed with their texts, which are nowhere else, and
        for each agent the newest of those that are done, without their requests.
        """
        with self._guard:
            self._catch_up()
            if self._read < _MAX_BYTES:
                return
            with self._explained(), self._locked():
                self._catch_up()
                self._rewrite_kept()
            self._catch_up()

    def _rewrite_kept(self) -> None:
        records = list(self._records.values())
        done: dict[Owner, list[str]] = {}
        for item in records:
            if item.job.status == "done":
                done.setdefault(item.owner, []).append(item.job.job_id)
        dropped = {job_id for ids in done.values() for job_id in ids[:-KEEP]}
        kept = [_slim(item) for item in records if item.job.job_id not in dropped]
        lines = (json.dumps(_line(item), ensure_ascii=False) + "\n" for item in kept)
        self._rewrite("".join(lines))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StorageError(
                f"The jobs in {self._path} cannot be written: {error.strerror or error}."
            ) from error

    def _make_folder(self) -> None:
        """The folder of the jobs and the one above it; both are the owner's alone."""
        for folder in (self._folder.parent, self._folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def _locked(self) -> FileLock:
        return FileLock(self._folder / "journal.lock", timeout=_LOCK_SECONDS, mode=0o600)

    def _write(self, line: str) -> None:
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(fd, "rb+", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - 1, 0))
            cut = file.read(1) not in (b"", b"\n")
            data = memoryview((b"\n" if cut else b"") + line.encode("utf-8", "replace"))
            try:
                while data:
                    data = data[file.write(data) :]
                os.fsync(fd)
            except OSError:  # who is told that it failed must not find it done later
                os.ftruncate(fd, size)
                raise
        if size == 0:
            self._sync_folder()

    def _rewrite(self, text: str) -> None:
        temporary = self._folder / ".journal.tmp"
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(text.encode("utf-8", "replace"))
            file.flush()
            os.fsync(fd)
        temporary.replace(self._path)
        self._sync_folder()

    def _sync_folder(self) -> None:
        if os.name == "nt":
            return
        fd = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def _catch_up(self) -> None:
        """Read what was appended since; everything where the file is another one."""
        try:
            with self._path.open("rb") as file:
                state = os.fstat(file.fileno())
                if self._file != (state.st_dev, state.st_ino) or state.st_size < self._read:
                    self._records, self._read = {}, 0
                    self._file = (state.st_dev, state.st_ino)
                file.seek(self._read)
                data = file.read()
        except FileNotFoundError:
            self._records, self._read, self._file = {}, 0, None
            return
        except OSError as error:
            raise StorageError(
                f"The jobs in {self._path} cannot be read: {error.strerror or error}."
            ) from error
        whole = data.rfind(b"\n") + 1
        self._read += whole
        for line in data[:whole].splitlines():
            self._take(line)

    def _take(self, line: bytes) -> None:
        """Apply one line; one that was cut, or is not ours, is left out."""
        if not line.strip():
            return
        try:
            values = json.loads(line)
            job_id = str(values["job_id"])
            self._records[job_id] = _applied(self._records.get(job_id), job_id, values)
        except (ValueError, KeyError, TypeError, RecursionError):
            log.warning("A line of %s cannot be read and is skipped", self._path)


def _applied(known: Record | None, job_id: str, values: Mapping[str, Any]) -> Record:
    if known is None:
        job = Job(job_id, str(values["kind"]), "queued", str(values["created"]))
        project = values.get("project")
        agent = str(values.get("agent") or "default")
        known = Record(job, dict(values["request"]), agent, None if not project else str(project))
    status = values.get("status", known.job.status)
    if status not in STATUSES:
        raise ValueError(f"unknown status {status!r}")
    own = ("outcome", "error", "finished")
    said = {key: values[key] for key in own if key in values}
    changed = tuple(values.get("changed", known.job.changed))
    job = replace(known.job, status=status, changed=changed, **said)
    rest = {key: values[key] for key in ("request", "slug") if key in values}
    return replace(known, job=job, tries=int(values.get("tries", known.tries)), **rest)


def _slim(record: Record) -> Record:
    """Without the request where the job succeeded; what failed can still be looked up."""
    return replace(record, request={}) if record.job.status == "done" else record


def _line(record: Record) -> dict[str, Any]:
    job = record.job
    return {
        "job_id": job.job_id,
        "kind": job.kind,
        "agent": record.agent,
        "project": record.project,
        "created": job.created,
        "request": dict(record.request),
        "status": job.status,
        "outcome": job.outcome,
        "changed": list(job.changed),
        "error": job.error,
        "finished": job.finished,
        "slug": record.slug,
        "tries": record.tries,
    }
