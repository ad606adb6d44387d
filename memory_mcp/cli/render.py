"""What reaches the terminal: the only place of the command line that prints."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, Protocol, TextIO

# Everything a terminal could take as a command, except tab and line end.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


CLIPPED_WIDTH = 24
"""Columns of the terminal that a cell may have, unless it is the last one."""

GAP = 3
"""Columns of the terminal between two cells."""


class Advance(Protocol):
    """Tells how far a long work is: `advance(done, total)`."""

    def __call__(self, done: int, total: int) -> None:
        """Show this state."""
        ...


def prepare() -> None:
    """Let no letter end the program: what the terminal's encoding lacks is shown as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def debugging() -> bool:
    """True where the person asked for tracebacks."""
    return os.environ.get("MEMORY_MCP_DEBUG", "") not in ("", "0")


def visible(text: str) -> str:
    """The text with control characters shown as escapes: a note must not steer a terminal."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found.group()):02x}", text)


def line(text: str = "") -> None:
    """A line on stdout."""
    print(visible(text))


def strong(text: str) -> None:
    """A line on stdout that stands out on a terminal."""
    print(_styled(visible(text), "1", sys.stdout))


def remark(text: str) -> None:
    """A remark on stderr, beside the result."""
    print(_styled(visible(text), "2", sys.stderr), file=sys.stderr)


def failure(text: str) -> None:
    """An error on stderr."""
    print(_styled("memory-mcp:", "31", sys.stderr), visible(text), file=sys.stderr)


def traceback_of(error: BaseException) -> None:
    """The whole traceback on stderr, for debugging."""
    from traceback import print_exception

    print_exception(error)


def verbatim(text: str) -> None:
    """A note's text: byte for byte into a pipe or file, made harmless on a terminal."""
    if sys.stdout.isatty():
        print(visible(text.replace("\r\n", "\n")))
        return
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(text)
        return
    sys.stdout.flush()
    buffer.write(text.encode("utf-8", "surrogatepass"))
    buffer.flush()


def as_json(value: Any) -> None:
    """One JSON value on stdout; letters as they are where the encoding has them all."""
    whole = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") == "utf8"
    print(json.dumps(value, ensure_ascii=not whole, indent=2))


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, clip: bool = False) -> None:
    """Rows under headings on a terminal, lines with tabs in a pipe.

    `clip` keeps each row on one line of the terminal: long cells, the last ones first, are cut.
    """
    shown = [[visible(cell) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        for row in shown:
            print("\t".join(cell.replace("\t", " ").replace("\n", " ") for cell in row))
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=sys.stdout)
    widths = _widths(columns, shown, console.width) if clip else [None] * len(columns)
    grid = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column, width in zip(columns, widths, strict=True):
        overflow: Literal["fold", "ellipsis"] = "ellipsis" if clip else "fold"
        grid.add_column(column, overflow=overflow, no_wrap=clip, width=width)
    for row in shown:
        grid.add_row(*(Text(cell) for cell in row))
    console.print(grid)


def _widths(columns: Sequence[str], rows: Sequence[Sequence[str]], whole: int) -> list[int | None]:
    """Widths of columns that fit on a line: the last one has what the others leave."""
    from rich.cells import cell_len

    *others, _ = zip(*([columns, *rows]), strict=True)
    widths = [min(CLIPPED_WIDTH, max(map(cell_len, cells))) for cells in others]
    return [*widths, max(10, whole - sum(widths) - GAP * len(columns))]


@contextmanager
def progress(label: str) -> Iterator[Advance]:
    """A progress bar on stderr while a long work runs; nothing where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield _silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task(label, total=None, visible=False)

        def advance(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, visible=total > 0)

        yield advance


def _silent(done: int, total: int) -> None:
    """No terminal, no bar."""


def _styled(text: str, code: str, stream: TextIO) -> str:
    plain = not stream.isatty() or "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    return text if plain else f"\x1b[{code}m{text}\x1b[0m"
