"""Many clients append to one note at once, and an editor saves it in between: is a line lost?

    python benchmarks/contention.py [--clients 8] [--appends 100] [--pause 2]

Each client appends its lines one by one; where the note changed since it read it the call is
refused, and the client reads again and repeats it, as an agent would. Afterwards every line that
was acknowledged must stand in the note exactly once. With an editor (a process that reads the
file, adds a line and saves it, in place or by renaming a new file) an editor may save a text it
read before a client's write: then that line is not in the note any more, but it must be in the
history. Shown for one engine and for a full server for each client. Ends with code 1 where a line
is nowhere.
"""

from __future__ import annotations

import argparse
import os
import select
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from client import Client, Refused, clients, command, environment, stop_engine

NOTE = "shared"


@dataclass(slots=True)
class Row:
    """One run."""

    title: str
    acknowledged: int = 0
    conflicts: int = 0
    edits: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0


def main() -> None:
    """Run all four, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--appends", type=int, default=100, help="lines of each client")
    parser.add_argument(
        "--pause",
        type=float,
        default=2.0,
        help="seconds between saves of an editor that saves by itself",
    )
    parser.add_argument("--edit", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.edit:
        _edit(options.edit, options.pause)
        return
    rows = []
    for title, words in (("one engine", command()), ("full servers", command("--in-process"))):
        for editor in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                home = Path(folder)
                row = Row(f"{title}, with an editor" if editor else title)
                rows.append(row)
                pause = options.pause if editor else None
                _run(home, words, row, options.clients, options.appends, pause)
                stop_engine(home)
    _print(rows)
    if any(row.counts["nowhere"] or row.counts["doubled"] for row in rows):
        sys.exit(1)


def _run(
    home: Path, words: list[str], row: Row, count: int, appends: int, pause: float | None
) -> None:
    """`pause`: seconds between the saves of an editor; None: there is none."""
    (home / "config.yml").write_text("embedding: {provider: none}\n", encoding="utf-8")
    note = home / "agents" / "default" / "memory" / f"{NOTE}.md"
    saved: list[str] = []
    with clients(count, words, environment(home)) as started:
        for client in started:
            client.hello()
        started[0].call("memory_write", slug=NOTE, content="# Shared\n")
        process = None if pause is None else _start_editor(note, pause)
        begin = time.perf_counter()
        with ThreadPoolExecutor(count) as pool:
            work = [
                pool.submit(_append, client, number, appends, row)
                for number, client in enumerate(started)
            ]
            marks = [mark for future in work for mark in future.result()]
        row.seconds = time.perf_counter() - begin
        if process is not None:
            saved = process.communicate()[0].split()
    row.acknowledged, row.edits = len(marks), len(saved)
    _look(home, note, [*marks, *saved], row)


def _append(client: Client, number: int, appends: int, row: Row) -> list[str]:
    """Append so many lines; the marks of those that were acknowledged: all."""
    done = []
    for place in range(appends):
        mark = f"c{number}-{place:04d}"
        while True:
            try:
                client.call("memory_edit", slug=NOTE, append=f"- {mark}")
            except Refused as error:
                if "Conflict" not in str(error) and "changed" not in str(error):
                    raise
                row.conflicts += 1
                client.call("memory_get", reference=f"memory/{NOTE}")
            else:
                done.append(mark)
                break
    return done


def _start_editor(note: Path, pause: float) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, __file__, "--edit", str(note), "--pause", str(pause)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _edit(note: Path, pause: float) -> None:
    """An editor: reads, thinks for a moment, saves; in place and by a new file in turn. Prints
    what it added; ends with its input."""
    number = 0
    while not select.select([sys.stdin], [], [], pause)[0]:
        text = note.read_bytes()
        mark = f"editor-{number:04d}"
        data = text + f"- {mark}\n".encode()
        if number % 2:
            note.write_bytes(data)
        else:
            beside = note.with_name(f".{note.name}.{os.getpid()}.swp")
            beside.write_bytes(data)
            beside.replace(note)
        print(mark, flush=True)
        number += 1


def _look(home: Path, note: Path, marks: list[str], row: Row) -> None:
    text = note.read_text(encoding="utf-8")
    kept = "\n".join(
        path.read_text(encoding="utf-8", errors="replace")
        for path in (home / ".history").rglob("*")
        if path.is_file()
    )
    there = Counter(line[2:] for line in text.splitlines() if line.startswith("- "))
    for mark in marks:
        if there[mark] > 1:
            row.counts["doubled"] += 1
        elif there[mark] == 1:
            row.counts["note"] += 1
        elif f"- {mark}\n" in kept:
            row.counts["history"] += 1
        else:
            row.counts["nowhere"] += 1
            print(f"{row.title}: {mark} is nowhere", file=sys.stderr)


def _print(rows: list[Row]) -> None:
    print(
        "| | lines of clients | conflicts, repeated | saves of the editor | in the note"
        " | only in the history | doubled | nowhere | seconds |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        print(
            f"| {row.title} | {row.acknowledged} | {row.conflicts} | {row.edits}"
            f" | {row.counts['note']} | {row.counts['history']} | {row.counts['doubled']}"
            f" | {row.counts['nowhere']} | {row.seconds:.0f} |"
        )


if __name__ == "__main__":
    main()
