"""What one client has read and asked to be written, kept beside: it outlives an engine.

An append-only file of JSON lines for each client of the engine. It is written without fsync: it
has to survive the death of the process, not of the machine, for the client would die as well.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Any

from memory_mcp.core.errors import InputError

log = logging.getLogger(__name__)

FOLDER = "sessions"
"""Below `.state`."""

KEEP_SECONDS = 7 * 24 * 3600
"""How long the file of a client stays that did not say good-bye."""

_NAME = re.compile(r"[0-9a-f]{32}")
_JOB_ID = re.compile(r"save-[0-9a-f]{12}")
_ROOM = 1_000_000
"""Bytes that a file may grow before it is rewritten, and by as much as it has then."""

_CALLS = 200
"""Calls that are remembered; a repeat concerns those that were open, at most 128."""


@dataclass(frozen=True, slots=True)
class Seen:
    """How much of a note a client has seen."""

    revision: str
    upto: int
    """How far the text was seen without a gap, in characters."""
    complete: bool


@dataclass(frozen=True, slots=True)
class Intention:
    """A change that was about to be made. Digests are SHA-256 in hex, None: no file."""

    tool: str
    reference: str
    before: str | None
    after: str | None
    kept: str | None = None
    """When the newest version in the history was replaced, as `time_text`; None: it had none."""
    whole: bool = False
    """Whether the caller knows all of the new text."""
    warnings: tuple[str, ...] = ()
    project: bool = False
    """Whether the note is one of a project's own inbox."""
    also: tuple[str, ...] = ()
    """Other notes that the change names: where the note was, and whose links follow it."""


@dataclass(slots=True)
class Call:
    """A request that changes notes, as far as it came."""

    digest: str
    """Of its tool and arguments: a client may use an id again for something else."""
    job_id: str
    """For the job that it notes, if it does."""
    intention: Intention | None = None
    answer: dict[str, Any] | None = None


@dataclass(slots=True)
class Ledger:
    """The record of one client. Safe to use from any thread."""

    path: Path
    seen: dict[str, Seen] = field(default_factory=dict)
    _calls: dict[str, Call] = field(default_factory=dict)
    _guard: Lock = field(default_factory=Lock)
    _most: int = _ROOM
    _said: bool = False

    @classmethod
    def open(cls, state: Path, name: str) -> Ledger:
        """The ledger of the client of that name (32 hex digits), with what it holds already.

        `state` is the state folder of the home. Raises InputError for any other name."""
        if not _NAME.fullmatch(name):
            raise InputError(f"{name[:80]!r} is no name of a client; it has 32 hex digits.")
        ledger = cls(state / FOLDER / f"{name}.jsonl")
        ledger._load()
        return ledger

    @property
    def name(self) -> str:
        """The name of the client."""
        return self.path.stem

    def saw(self, reference: str, seen: Seen) -> None:
        """The client has seen this much of a note."""
        self._note({"seen": reference, **asdict(seen)})

    def forgot(self, reference: str) -> None:
        """The note is gone."""
        if reference in self.seen:
            self._note({"forgot": reference})

    def begin(self, key: str, digest: str) -> Call:
        """A new request that changes notes has come; an older one of this key is of the past."""
        self._note({"begins": key, "digest": digest, "job_id": f"save-{secrets.token_hex(6)}"})
        return self._calls[key]

    def again(self, key: str, digest: str) -> Call | None:
        """What is known of this request, where it was begun before."""
        call = self._calls.get(key)
        return call if call is not None and call.digest == digest else None

    def call(self, key: str) -> Call | None:
        """The request that was begun last with this key."""
        return self._calls.get(key)

    def intend(self, key: str, intention: Intention) -> None:
        """A request is about to change a note. Called before it does; the last one counts."""
        self._note({"intends": key, **asdict(intention)})

    def answered(self, key: str, result: Mapping[str, Any]) -> None:
        """A request that changes notes was answered."""
        self._note({"answered": key, "result": dict(result)})

    def end(self) -> None:
        """The client has gone for good."""
        with self._guard:
            self.path.unlink(missing_ok=True)

    def _note(self, line: dict[str, Any]) -> None:
        with self._guard:
            self._take(line)
            try:
                if self._write(_encoded(line), os.O_APPEND) > self._most:
                    self._rewrite()
            except OSError as error:
                self._complain(error)

    def _write(self, data: bytes, how: int, path: Path | None = None) -> int:
        """Write to the file; its size."""
        try:
            handle = self._open(path or self.path, how)
        except FileNotFoundError:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = self._open(path or self.path, how)
        try:
            while data:
                data = data[os.write(handle, data) :]
            return os.fstat(handle).st_size
        finally:
            os.close(handle)

    def _open(self, path: Path, how: int) -> int:
        flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | how
        return os.open(path, flags, 0o600)

    def _rewrite(self) -> None:
        """Only what still counts."""
        for key in list(self._calls)[:-_CALLS]:
            del self._calls[key]
        lines = [{"seen": name, **asdict(seen)} for name, seen in self.seen.items()]
        for key, call in self._calls.items():
            lines.append({"begins": key, "digest": call.digest, "job_id": call.job_id})
            if call.intention is not None:
                lines.append({"intends": key, **asdict(call.intention)})
            if call.answer is not None:
                lines.append({"answered": key, "result": call.answer})
        beside = self.path.with_suffix(".tmp")
        size = self._write(b"".join(map(_encoded, lines)), os.O_TRUNC, beside)
        beside.replace(self.path)
        self._most = size + max(size, _ROOM)

    def _complain(self, error: OSError) -> None:
        """Once: the memory works without, it only forgets when the engine dies."""
        if not self._said:
            self._said = True
            log.warning("%s cannot be written: %s", self.path, error.strerror)

    def _load(self) -> None:
        try:
            data = self.path.read_bytes()
        except OSError:
            return
        for line in data.split(b"\n"):
            try:
                self._take(json.loads(line))
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                continue  # cut off by the end of an engine, or blank
        self._most = max(_ROOM, len(data))

    def _take(self, line: dict[str, Any]) -> None:
        """Let a line count. Raises where it is none of ours, and then it does not."""
        if "seen" in line:
            seen = Seen(_text(line["revision"]), int(line["upto"]), bool(line["complete"]))
            self.seen[_text(line["seen"])] = seen
        elif "forgot" in line:
            self.seen.pop(line["forgot"], None)
        elif "begins" in line:
            call = Call(_text(line["digest"]), _job_id(line["job_id"]))
            self._calls.pop(line["begins"], None)  # the newest comes last
            self._calls[_text(line["begins"])] = call
        elif "intends" in line:
            intention, known = _intention(line), self._calls.get(line["intends"])
            if known is not None:  # so many others came meanwhile that it was dropped
                known.intention = intention
        elif "answered" in line:
            answer, known = dict(line["result"]), self._calls.get(line["answered"])
            if known is not None:
                known.answer = answer


def key_of(request_id: str | int) -> str:
    """How a request is known in a ledger: 1 and "1" are different requests."""
    return json.dumps(request_id)


def digest_of_bytes(data: bytes | None) -> str | None:
    """A note's bytes as an `Intention` tells them; None: no file."""
    return None if data is None else hashlib.sha256(data).hexdigest()


def digest_of(tool: str, arguments: Mapping[str, Any]) -> str:
    """What tells a call from another one with the same id."""
    return hashlib.sha256(json.dumps([tool, arguments], sort_keys=True).encode()).hexdigest()


def time_text(time: datetime) -> str:
    """A time in UTC as text; a later one is a larger text."""
    return time.isoformat(timespec="microseconds")


def _encoded(line: Mapping[str, Any]) -> bytes:
    """A line begins where it begins: the one before it may have been cut off."""
    return b"\n" + json.dumps(line, separators=(",", ":")).encode("ascii")


def _intention(line: Mapping[str, Any]) -> Intention:
    return Intention(
        tool=_text(line["tool"]),
        reference=_text(line["reference"]),
        before=_maybe(line["before"]),
        after=_maybe(line["after"]),
        kept=_maybe(line["kept"]),
        whole=bool(line["whole"]),
        warnings=tuple(_text(item) for item in line["warnings"]),
        project=bool(line.get("project")),
        also=tuple(_text(item) for item in line.get("also", ())),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _maybe(value: object) -> str | None:
    return None if value is None else _text(value)


def _job_id(value: object) -> str:
    text = _text(value)
    if not _JOB_ID.fullmatch(text):
        raise ValueError(text)
    return text


def sweep(state: Path, now: float) -> None:
    """Remove the files of clients that have not been heard of for long. Blocking; `now` in
    seconds since the epoch."""
    for path in (state / FOLDER).glob("*"):
        try:
            if now - path.stat().st_mtime > KEEP_SECONDS:
                path.unlink()
        except OSError:
            continue
