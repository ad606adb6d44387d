"""What reaches the terminal: the only place of the command line that prints."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from memory_mcp.cli.wording import for_person
from memory_mcp.core.errors import StorageError
from memory_mcp.notes.failure import plain_reason

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

# Everything a terminal could take as a command, except tab and line end.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


CLIPPED_WIDTH = 24
"""Columns of the terminal that a cell which may be cut has, unless it is the last one."""

LEAST_WIDTH = 8
"""Columns below which a cell that may be cut says nothing; its column is left out then."""

FOLDED_WIDTH = 16
"""Columns that are left at least for cells that go on on the next line."""

GAP = 3
"""Columns of the terminal between two cells."""


class Advance(Protocol):
    """Tells how far a long work is: `advance(done, total)`."""

    def __call__(self, done: int, total: int) -> None:
        """Show this state."""
        ...


def prepare() -> None:
    """Let no letter end the program: what the terminal's encoding lacks is shown as an escape.

    Standard streams that are closed get a descriptor nobody else may have, so that no file that
    is opened later takes their place. Raises StorageError where there is nowhere to print."""
    spare = os.open(os.devnull, os.O_RDWR)
    while spare <= 2:
        spare = os.open(os.devnull, os.O_RDWR)
    os.close(spare)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - for the whole run
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - for the whole run
        raise StorageError("standard output is closed, so there is nowhere to print")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@contextmanager
def writing() -> Iterator[None]:
    """Turn what the system says about standard output into a StorageError; a reader that went
    away stays a BrokenPipeError."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StorageError(f"standard output cannot be written: {plain_reason(error)}") from error


def flush() -> None:
    """Have everything that was printed written. Raises StorageError, BrokenPipeError."""
    with writing():
        sys.stdout.flush()


def give_up() -> None:
    """Let the rest of standard output go nowhere: it cannot be written, and trying once more at
    the end would only complain."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def debugging() -> bool:
    """True where the person asked for tracebacks."""
    return os.environ.get("MEMORY_MCP_DEBUG", "") not in ("", "0")


def visible(text: str) -> str:
    """The text with control characters shown as escapes: a note must not steer a terminal."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found.group()):02x}", text)


def line(text: str = "") -> None:
    """A line on stdout."""
    _out(visible(text))


def strong(text: str) -> None:
    """A line on stdout that stands out on a terminal."""
    _out(_styled(visible(text), "1", sys.stdout))


def _out(text: str, end: str = "\n") -> None:
    with writing():
        print(text, end=end)


def remark(text: str) -> None:
    """A remark on stderr, beside the result."""
    _err(_styled(visible(for_person(text)), "2", sys.stderr))


def failure(text: str) -> None:
    """An error on stderr, in the words of the command line."""
    _err(f"{_styled('memory-mcp:', '31', sys.stderr)} {visible(for_person(text))}")


def _err(text: str) -> None:
    """On stderr, after what stdout has so far: both may go to the same place. Where stderr cannot
    be written there is nobody left to tell."""
    with suppress(OSError):
        sys.stdout.flush()
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def traceback_of(error: BaseException) -> None:
    """The whole traceback on stderr, for debugging."""
    from traceback import print_exception

    print_exception(error)


def verbatim(text: str) -> None:
    """A note's text: byte for byte into a pipe or file, made harmless on a terminal."""
    if sys.stdout.isatty():
        _out(visible(text.replace("\r\n", "\n")), end="" if text.endswith("\n") else "\n")
        return
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        _out(text, end="")
        return
    with writing():
        sys.stdout.flush()
        buffer.write(text.encode("utf-8", "surrogatepass"))
        buffer.flush()


def as_json(value: Any) -> None:
    """One JSON value on stdout; letters as they are where the encoding has them all."""
    whole = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") == "utf8"
    _out(json.dumps(value, ensure_ascii=not whole, indent=2))


def table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    whole: Collection[str] = (),
    clip: Collection[str] = (),
) -> None:
    """Rows under headings on a terminal, lines with tabs in a pipe.

    Columns in `whole` keep their width. Those in `clip` are cut, so that each row has one line;
    where the others leave them no room they are left out. The rest goes on on the next line.
    """
    shown = [[visible(cell) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        for row in shown:
            _out("\t".join(cell.replace("\t", " ").replace("\n", " ") for cell in row))
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=sys.stdout)
    widths = {
        name: max(map(cell_len, cells))
        for name, cells in zip(columns, zip(*[columns, *shown], strict=True), strict=True)
    }
    left = console.width - sum(widths[name] + GAP for name in columns if name not in clip)
    cut = clipped({name: widths[name] for name in columns if name in clip}, left)
    kept_whole = _whole({name: widths[name] for name in columns}, whole, clip, console.width)
    grid = Table(box=SIMPLE_HEAD, show_edge=False)
    for name in columns:
        if name in cut:
            grid.add_column(name, overflow="ellipsis", no_wrap=True, width=cut[name])
        elif name not in clip:
            grid.add_column(name, overflow="fold", width=kept_whole.get(name))
    kept = [place for place, name in enumerate(columns) if name in cut or name not in clip]
    for row in shown:
        grid.add_row(*(Text(row[place]) for place in kept))
    with writing():
        console.print(grid)


def _whole(
    widths: Mapping[str, int], whole: Collection[str], clip: Collection[str], screen: int
) -> dict[str, int]:
    """Widths of the columns that are not broken, as far as they leave room for the rest."""
    rest = any(name not in whole and name not in clip for name in widths)
    room = screen - (FOLDED_WIDTH + GAP if rest else 0)
    found: dict[str, int] = {}
    for name in widths:
        if name in whole and widths[name] + GAP <= room:
            found[name] = widths[name]
            room -= widths[name] + GAP
    return found


def cell_len(text: str) -> int:
    """Columns of the terminal that a text needs."""
    from rich.cells import cell_len as measured

    return measured(text)


def clipped(widths: Mapping[str, int], room: int) -> dict[str, int]:
    """Widths of columns that may be cut, of those that fit into the room; the last one of these
    has what the others leave."""
    found: dict[str, int] = {}
    for name, width in widths.items():
        if room - GAP < LEAST_WIDTH:
            break
        found[name] = min(width, CLIPPED_WIDTH, room - GAP)
        room -= found[name] + GAP
    if found:
        last = next(reversed(found))
        found[last] = min(widths[last], found[last] + max(room, 0))
    return found


@contextmanager
def progress(label: str) -> Iterator[Advance]:
    """A progress bar on stderr, from the first time there is something to show; nothing where
    stderr is no terminal."""
    if not sys.stderr.isatty():
        yield _silent
        return
    bar: tuple[Progress, TaskID] | None = None

    def advance(done: int, total: int) -> None:
        nonlocal bar
        if bar is None and total > 0:
            bar = _bar(label)
        if bar is not None:
            bar[0].update(bar[1], completed=done, total=total)

    try:
        yield advance
    finally:
        if bar is not None:
            bar[0].stop()


def _bar(label: str) -> tuple[Progress, TaskID]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    shown = Progress(*columns, console=Console(file=sys.stderr), transient=True)
    shown.start()
    return shown, shown.add_task(label, total=None)


def _silent(done: int, total: int) -> None:
    """No terminal, no bar."""


def _styled(text: str, code: str, stream: TextIO) -> str:
    plain = not stream.isatty() or "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    return text if plain else f"\x1b[{code}m{text}\x1b[0m"
