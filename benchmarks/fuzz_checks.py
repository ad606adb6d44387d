"""What must hold whatever a client sends: of answers, of the log, of files."""

from __future__ import annotations

import json
import logging
import re
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import anyio
from fuzz_grammar import KEPT, MARK
from fuzz_messages import Line, key

LIMIT = 80_000
"""Characters of each form of an answer."""

LONGEST_LINE = 1_000_000
"""Bytes of a line of the server, beside the id, which is the client's."""

LONGEST_ERROR = 20_000
_SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}\.md")
_ROOT = Path(__file__).resolve().parent.parent
_LEAKS = ("Traceback (most", 'File "', "site-packages", ".py:", ".py\\", str(_ROOT), sys.prefix)


class Breach(Exception):
    """Something that must never happen; what it was."""


class Tally:
    """How often which kind of line had which outcome."""

    def __init__(self) -> None:
        self.lines: Counter[str] = Counter()
        self.outcomes: Counter[tuple[str, str]] = Counter()

    def rows(self) -> Iterator[str]:
        """A table: kind, lines, and its outcomes, the most frequent first."""
        yield "| kind | lines | outcomes |"
        yield "|---|---|---|"
        for kind in sorted(self.lines):
            found = Counter({end: n for (of, end), n in self.outcomes.items() if of == kind})
            said = ", ".join(f"{end} {count:,}" for end, count in found.most_common())
            yield f"| {kind} | {self.lines[kind]:,} | {said or 'silence'} |"


class Conversation:
    """The answers of one connection, each held against what was sent."""

    def __init__(self, tally: Tally, home: Path) -> None:
        self._tally = tally
        self._home = str(home)
        self._places = (*_LEAKS, tempfile.gettempdir() + "/")
        self._sent: dict[str, tuple[Line, int, int]] = {}
        self._got: Counter[str] = Counter()
        self._open: set[str] = set()
        self._silent: set[str] = set()
        self._done = anyio.Event()
        self._rest = b""

    def sent(self, line: Line) -> None:
        """A line is about to be sent."""
        self._tally.lines[line.kind] += 1
        for number, least, most in line.answers:
            self._sent[number] = (line, least, most)
            if least:
                self._open.add(number)
            else:
                self._silent.add(number)

    async def answered(self, seconds: float) -> None:
        """Wait until every request that must be answered is. Raises Breach."""
        with anyio.move_on_after(seconds):
            while self._open:
                self._done = anyio.Event()
                await self._done.wait()
        for number in sorted(self._open)[:1]:
            raise Breach(f"no answer within {seconds:g} s to {_cut(self._sent[number][0].data)}")

    def finish(self) -> None:
        """Count what was never answered and did not have to be."""
        for number in self._silent:
            self._tally.outcomes[self._sent[number][0].kind, "no answer"] += 1

    def heard(self, data: bytes) -> None:
        """Bytes of the server. Raises Breach."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._line(line)

    def _line(self, line: bytes) -> None:
        try:
            message = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            raise Breach(f"a line that is no JSON ({error}): {_cut(line)}") from None
        if len(line.decode("utf-8").splitlines()) != 1:
            raise Breach(f"a line that some clients split in two: {_cut(line)}")
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            raise Breach(f"a line that is no message: {_cut(line)}")
        self.message(message, len(line))

    def message(self, message: dict[str, Any], size: int) -> None:
        """A message of the server. Raises Breach."""
        if "method" in message:
            if "id" in message or not isinstance(message["method"], str):
                raise Breach(f"not a notification: {_cut(message)}")
            return
        if ("result" in message) == ("error" in message) or "id" not in message:
            raise Breach(f"neither an answer nor an error: {_cut(message)}")
        number = key(message["id"])
        if number not in self._sent:
            raise Breach(f"an answer to nothing that was asked: {_cut(message)}")
        line, _, most = self._sent[number]
        self._got[number] += 1
        if self._got[number] > most:
            raise Breach(f"answer {self._got[number]} of at most {most} to {_cut(line.data)}")
        if size > LONGEST_LINE + 6 * len(number):
            raise Breach(f"an answer of {size:,} bytes to {_cut(line.data)}")
        self._tally.outcomes[line.kind, self.judge(message, line)] += 1
        self._settle(number)

    def _settle(self, number: str) -> None:
        self._silent.discard(number)
        if number in self._open and self._got[number] >= self._sent[number][1]:
            self._open.discard(number)
            self._done.set()

    def judge(self, message: dict[str, Any], line: Line) -> str:
        """The outcome in a word. Raises Breach where an answer is too long or tells too much."""
        if "error" in message:
            error = message["error"]
            self._plain(json.dumps(error, ensure_ascii=False), line)
            if error["code"] in (0, -32603):
                raise Breach(f"an internal error: {_cut(error)} to {_cut(line.data)}")
            return f"error {error['code']}"
        result = message["result"]
        if result.get("isError"):
            self._plain(result["content"][0]["text"], line)
            if "inside the server" in result["content"][0]["text"]:
                raise Breach(f"an internal error: {_cut(result)} to {_cut(line.data)}")
            return "refused"
        parts = result.get("content", []) + result.get("contents", [])
        texts = [part.get("text", "") for part in parts]
        form = json.dumps(result.get("structuredContent"), ensure_ascii=False)
        if sum(map(len, texts)) > LIMIT or len(form) > LIMIT:
            raise Breach(f"an answer over {LIMIT:,} characters to {_cut(line.data)}")
        return "answered"

    def _plain(self, text: str, line: Line) -> None:
        if len(text) > LONGEST_ERROR:
            raise Breach(f"an error of {len(text):,} characters to {_cut(line.data)}")
        text = text.replace(self._home, "HOME")
        for leak in self._places:
            if leak in text:
                raise Breach(f"an error with {leak!r}: {_cut(text)} to {_cut(line.data)}")


class Ear(logging.Handler):
    """Hears what the server logs: faults, and text of notes that has no place there."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.faults: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """One record."""
        text = record.getMessage()
        if record.exc_info:
            text += "\n" + "".join(traceback.format_exception(*record.exc_info))
        self.hear(text, record.levelno >= logging.ERROR)

    def hear(self, text: str, fault: bool) -> None:
        """A line of the log, or a whole one of another process."""
        if MARK in text:
            self.faults.append(f"the log holds text of notes: {_cut(text)}")
        elif fault or "Traceback (most" in text or "inside the server" in text:
            self.faults.append(f"the log tells of a fault: {text[-3000:]}")


class Files:
    """The files that nobody named, before and after."""

    def __init__(self, outer: Path, home: Path) -> None:
        self._outer = outer
        self._inbox = home / "agents" / "default" / "memory"
        self._own = tuple(home / name for name in (".state", ".index", ".history"))
        self._before = dict(self._untouched())

    def check(self) -> int:
        """Raises Breach for a file that was changed or stands where none may; counts notes."""
        after = dict(self._untouched())
        for path in sorted({*self._before, *after}):
            if self._before.get(path) != after.get(path):
                raise Breach(f"a file that nobody named was changed, made or removed: {path}")
        names = [path.name for path in self._inbox.iterdir()]
        for name in names:
            if not _SLUG.fullmatch(name):
                raise Breach(f"a file in the inbox that is no note: {name!r}")
            (self._inbox / name).read_bytes().decode("utf-8")
        return len(names)

    def _untouched(self) -> Iterator[tuple[Path, tuple[int, bytes]]]:
        for path in self._outer.rglob("*"):
            mine = path.parent == self._inbox and path.stem not in KEPT
            if mine or not path.is_file() or any(path.is_relative_to(own) for own in self._own):
                continue
            yield path, (path.stat().st_mtime_ns, path.read_bytes())


def resident(pid: int | str = "self") -> float:
    """Resident set of a process in MB (Linux)."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 1e6


def growth(samples: Sequence[float]) -> float:
    """MB from the end of the warm-up (a fifth of the samples) to the highest of the last fifth."""
    fifth = max(1, len(samples) // 5)
    return max(samples[-fifth:]) - max(samples[:fifth])


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _cut(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 1500 else f"{shown[:500]} … {shown[-300:]} ({len(shown):,})"
