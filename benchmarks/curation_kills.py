"""Deep is killed (-9) at random moments: where is each note, and how often is it on its page?

    python -m benchmarks.curation_kills [--kills 200] [--seed 1] [--notes 6]

Each round fills the inbox up, begins a pass of Deep in a process of its own, against a chat
model that follows a script over real HTTP, and kills it after a random time. After each kill every
note must be in the inbox, on its page or in the history, never nowhere, and never twice on a page.
In the end a pass runs to its end: all notes are on their pages once, and none is in the inbox.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.scripted_model import Rule, ScriptedModel, call

PAGES = 12
"""Pages that notes are merged into; every third note becomes a page of its own."""

AT_WORK = 0.8
"""Share of the kills that fall while notes are filed."""

FILING = 1.2
"""Seconds after the first question to the model within which these kills fall."""

LAST = 2
"""Passes in the end that nobody kills."""


class Breach(Exception):
    """A note is nowhere, or twice."""


@dataclass(slots=True)
class Seen:
    """What was seen over all rounds."""

    kills: int = 0
    ended: int = 0
    """Passes that were through before the kill came."""
    cut: Counter[str] = field(default_factory=Counter)
    """Where the notes of a round were after its kill."""
    notes: dict[str, str] = field(default_factory=dict)
    """Mark -> the sentence of its note."""


def main() -> int:
    """Kill, look, print; 1 where the guarantee does not hold."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--notes", type=int, default=6, help="in the inbox as a round begins")
    options = parser.parse_args()
    chance, seen, said = random.Random(options.seed), Seen(), ""
    with tempfile.TemporaryDirectory() as folder, ScriptedModel(*_rules()) as model:
        home = Path(folder)
        _begin(home)
        try:
            longest = _timed(home, model.url)
            while seen.kills < options.kills:
                _add(home, seen, options.notes - len(_waiting(home)), chance)
                _round(home, model, seen, chance, longest)
                _check(home, seen)
            for _ in range(LAST):
                said, _ = _run(home, model.url, subprocess.PIPE).communicate()
            _check(home, seen, whole=True)
        except Breach as breach:
            print(f"BREACH after {seen.kills} kills: {breach} {said}")
            return 1
    _print(seen, longest)
    return 0


def _rules() -> list[Rule]:
    """Merge what names a page, promote what names none."""
    note = r"The note:(?:(?!</MEMORY>).)*?Mark (qz\w+)"
    read = [call("memory_get", reference="wiki/\\2")]
    merge = [call("wiki_edit", path="\\2", append="Mark \\1 of \\2 weighs \\3 kg.")]
    make = [
        call("wiki_create", path="single/\\1", content="# \\1\n\nMark \\1 alone weighs \\2 kg.")
    ]
    return [
        Rule(rf"{note} of (pages/\w+) weighs (\d+) kg", calls=read, then=[merge]),
        Rule(rf"{note} alone weighs (\d+) kg", calls=make),
    ]


def _begin(home: Path) -> None:
    for number in range(PAGES):
        path = home / "wiki" / "pages" / f"p{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Page {number}\n\nIt is about weights.\n", encoding="utf-8")
    _inbox(home).mkdir(parents=True)


def _inbox(home: Path) -> Path:
    return home / "agents" / "default" / "memory"


def _waiting(home: Path) -> list[Path]:
    return list(_inbox(home).glob("*.md"))


def _add(home: Path, seen: Seen, notes: int, chance: random.Random) -> None:
    for _ in range(notes):
        mark = f"qz{len(seen.notes):05d}"
        single = len(seen.notes) % 3 == 2
        what = "alone" if single else f"of pages/p{chance.randrange(PAGES)}"
        text = f"Mark {mark} {what} weighs {chance.randrange(10, 99)} kg."
        seen.notes[mark] = text
        (_inbox(home) / f"{mark}.md").write_text(f"{text}\n", encoding="utf-8")


def _run(home: Path, url: str, out: int = subprocess.DEVNULL) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "benchmarks.deep_pass", str(home), url]
    return subprocess.Popen(words, stdout=out, stderr=subprocess.DEVNULL, text=True)


def _timed(home: Path, url: str) -> float:
    """How long a pass takes that nobody kills."""
    begin = time.perf_counter()
    if _run(home, url).wait():
        raise Breach("a pass over an empty inbox fails")
    return time.perf_counter() - begin


def _round(
    home: Path, model: ScriptedModel, seen: Seen, chance: random.Random, longest: float
) -> None:
    """One pass and its kill: mostly while notes are filed, at times in the start before it, in
    which what an earlier kill cut off is gone on with."""
    model.asked.clear()
    process = _run(home, model.url)
    wait = chance.uniform(0, longest)
    if chance.random() < AT_WORK:
        model.asked.wait(longest)
        wait = chance.uniform(0, FILING)
    try:
        process.wait(wait)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
        seen.kills += 1
    else:
        seen.ended += 1


def _check(home: Path, seen: Seen, *, whole: bool = False) -> None:
    pages = [path.read_text(encoding="utf-8") for path in _pages(home)]
    history = _history(home)
    for mark, text in seen.notes.items():
        kept = (_inbox(home) / f"{mark}.md").exists()
        times = [page.count(text) for page in pages if text in page]
        if sum(times) > 1:
            raise Breach(f"{mark} is on pages {sum(times)} times")
        if not kept and not times and text not in history:
            raise Breach(f"{mark} is nowhere")
        if not kept and not times:
            raise Breach(f"{mark} is only in the history")
        if whole and kept:
            raise Breach(f"{mark} is still in the inbox after all")
        if not whole:
            seen.cut["in the inbox alone" if not times else _place(kept)] += 1


def _place(kept: bool) -> str:
    return "on its page, still in the inbox" if kept else "on its page alone"


def _pages(home: Path) -> list[Path]:
    own = (home / "wiki" / "logs", home / "wiki" / "index.md")
    found = (home / "wiki").rglob("*.md")
    return [path for path in found if path.parent != own[0] and path != own[1]]


def _history(home: Path) -> str:
    files = [path for path in (home / ".history").rglob("*") if path.is_file()]
    return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in files)


def _print(seen: Seen, longest: float) -> None:
    print("| | |\n|---|---|")
    print(f"| kills of a pass (one takes {longest:.1f} s to start) | {seen.kills:,} |")
    print(f"| passes that were done before the kill | {seen.ended:,} |")
    print(f"| notes | {len(seen.notes):,} |")
    for place, count in sorted(seen.cut.items()):
        print(f"| looks at a note after a kill: {place} | {count:,} |")
    print("| notes nowhere, or twice on a page | 0 |")


if __name__ == "__main__":
    sys.exit(main())
