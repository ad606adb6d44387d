"""The engine is killed (-9) at random moments while three clients write: what is left?

Each round: three clients write, append, replace, link, delete and save at once, an editor drops
files into the wiki, and at a random moment the engine is killed. The clients know nothing of it:
they wait for their answers. Then every change that was acknowledged must be on disk exactly once,
no note may be cut or doubled, and what the restarted engine lists and finds must be what the files
say. Run by `faults.py`.
"""

from __future__ import annotations

import os
import random
import re
import signal
import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from client import Client, Refused, clients, command, engine_pid, environment, stop_engine

CLIENTS = 3
KINDS = ("write", "append", "replace", "link", "delete", "save")
SHARED = 4
"""Notes that all clients append to."""

HOME_KILLS = 100
"""Kills in one home: its notes grow with each, and so does the time for looking at all of them."""

LONGEST_WAIT = 0.35
"""Seconds after the start of a burst in which the kill falls: from the start of the engine, over
its first sweep, to calls that have long been answered."""

_LINE = re.compile(r"(---|[a-z_]+:.*|  ?-.*|- .*|# .*|It says .*|end|)")


class Breach(Exception):
    """Something was lost, doubled, cut or stale."""


@dataclass(slots=True)
class Told:
    """What clients were told, and what therefore has to hold."""

    there: dict[str, str] = field(default_factory=dict)
    """Mark -> path of the note that has to have it exactly once."""
    gone: set[str] = field(default_factory=set)
    """Marks that were replaced or deleted with success."""
    doubtful: set[str] = field(default_factory=set)
    """Marks of calls that ended with an error: there once, or not at all."""
    saved: set[str] = field(default_factory=set)
    """Marks of texts that are to be filed behind."""
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, other: Told) -> None:
        """Take in what was told in another home; marks are never made twice."""
        self.there |= other.there
        self.gone |= other.gone
        self.saved |= other.saved
        self.counts += other.counts


@dataclass(slots=True)
class Outcome:
    """What a run saw."""

    kills: int = 0
    back: list[float] = field(default_factory=list)


class Writer:
    """One client and its own notes."""

    def __init__(self, number: int, client: Client, told: Told, seed: int) -> None:
        self._number = number
        self._client = client
        self._told = told
        self._random = random.Random(seed)
        self._mine: dict[str, str] = {}
        self._count = 0

    def burst(self, calls: int) -> None:
        """So many calls, one after the other."""
        kinds: list[tuple[str, Callable[[], None]]] = [
            ("write", self._write),
            ("append", self._append),
            ("append", self._append),
            ("replace", self._replace),
            ("link", self._link),
            ("delete", self._delete),
            ("save", self._save),
        ]
        for _ in range(calls):
            kind, act = self._random.choice(kinds)
            self._told.counts[kind] += 1
            act()

    def _mark(self) -> str:
        self._count += 1
        return f"qz{self._number}x{self._count}x{self._random.randrange(16**8):08x}"

    def _write(self) -> None:
        mark, slug = self._mark(), f"own-{self._number}-{self._count}"
        self._told.doubtful.add(mark)
        text = f"# Own {slug}\n\nIt says {mark}.\n\nend\n"
        if self._try("memory_write", slug=slug, content=text):
            self._mine[slug] = mark
            self._promise(mark, slug)

    def _append(self) -> None:
        """With a conflict the note is read again and the call repeated, as an agent would."""
        mark, slug = self._mark(), f"shared-{self._random.randrange(SHARED)}"
        self._told.doubtful.add(mark)
        for _ in range(40):
            if self._try("memory_edit", slug=slug, append=f"- {mark}"):
                self._promise(mark, slug)
                return
            self._client.call("memory_get", reference=f"memory/{slug}")

    def _replace(self) -> None:
        slug, old = self._own()
        if slug is None:
            return
        new = self._mark()
        self._told.doubtful.add(new)
        self._take_back(old)
        if self._try("memory_edit", slug=slug, old_text=old, new_text=new):
            self._lost(old)
            self._mine[slug] = new
            self._promise(new, slug)

    def _link(self) -> None:
        slug, _ = self._own()
        if slug is not None:
            target = f"memory/shared-{self._random.randrange(SHARED)}"
            self._try("memory_link", source=f"memory/{slug}", target=target)

    def _delete(self) -> None:
        slug, mark = self._own()
        if slug is None:
            return
        self._take_back(mark)
        del self._mine[slug]
        if self._try("memory_delete", slug=slug):
            self._lost(mark)

    def _save(self) -> None:
        mark = self._mark()
        content = f"Remember the {mark} of the {self._number}. It says {mark}x."
        if self._try("memory_save", content=content):
            self._told.saved.add(mark)

    def _lost(self, mark: str) -> None:
        self._told.doubtful.discard(mark)
        self._told.gone.add(mark)

    def _own(self) -> tuple[str | None, str]:
        if not self._mine:
            return None, ""
        return self._random.choice(list(self._mine.items()))

    def _take_back(self, mark: str) -> None:
        self._told.there.pop(mark, None)
        self._told.doubtful.add(mark)

    def _promise(self, mark: str, slug: str) -> None:
        self._told.doubtful.discard(mark)
        self._told.there[mark] = slug

    def _try(self, name: str, **arguments: str) -> bool:
        try:
            self._client.call(name, **arguments)
        except Refused as error:
            self._told.counts[f"refused: {str(error)[:40]}"] += 1
            return False
        return True


def run(kills: int, seed: int, calls: int, embedding: str) -> None:
    """All rounds, in a new home every HOME_KILLS kills, and the table. Raises Breach."""
    outcome, everything = Outcome(), Told()
    try:
        while outcome.kills < kills:
            rounds = min(HOME_KILLS, kills - outcome.kills)
            with tempfile.TemporaryDirectory() as folder:
                home = Path(folder)
                try:
                    _in_home(
                        home, rounds, seed + outcome.kills, calls, embedding, outcome, everything
                    )
                finally:
                    stop_engine(home)
    except KeyboardInterrupt:
        print(f"Interrupted after {outcome.kills} kills; what was seen so far:\n")
    _print(outcome, everything)


def _in_home(
    home: Path,
    rounds: int,
    seed: int,
    calls: int,
    embedding: str,
    outcome: Outcome,
    everything: Told,
) -> None:
    (home / "wiki").mkdir(exist_ok=True)
    (home / "config.yml").write_text(f"embedding: {{provider: {embedding}}}\n", encoding="utf-8")
    told, chance = Told(), random.Random(seed)
    with clients(CLIENTS, command(), environment(home)) as started:
        for client in started:
            client.hello()
        for number in range(SHARED):
            text = f"# Shared {number}\n\nend\n"
            started[0].call("memory_write", slug=f"shared-{number}", content=text)
        writers = [Writer(n, client, told, seed + n) for n, client in enumerate(started)]
        interrupted = None
        try:
            for number in range(rounds):
                _round(home, number, writers, started, told, outcome, chance, calls)
        except KeyboardInterrupt as error:
            interrupted = error
        _check_saved(home, told, started[0])
        _check_all(home, told)
    everything.add(told)
    if interrupted is not None:
        raise interrupted


def _round(
    home: Path,
    number: int,
    writers: list[Writer],
    started: list[Client],
    told: Told,
    outcome: Outcome,
    chance: random.Random,
    calls: int,
) -> None:
    with ThreadPoolExecutor(CLIENTS + 2) as pool:
        work = [pool.submit(writer.burst, calls) for writer in writers]
        drop = pool.submit(_drop, home, number)
        killed = pool.submit(_kill, home, chance.random() * LONGEST_WAIT)
        for future in (*work, drop):
            future.result(120)
        begin = killed.result(120)
    if begin is not None:
        outcome.kills += 1
        started[0].search("shared")
        outcome.back.append(time.perf_counter() - begin)
    _check_round(home, number, told, started[number % CLIENTS])


def _drop(home: Path, number: int) -> None:
    """An editor saves wiki pages while all this happens."""
    for page in range(3):
        mark = f"wk{number}x{page}"
        path = home / "wiki" / f"page-{number % 40}-{page}.md"
        path.write_text(f"# Page\n\nIt says {mark}.\n\nend\n", encoding="utf-8")


def _kill(home: Path, wait: float) -> float | None:
    """Kill the engine after so many seconds; when that was, None where there was none."""
    threading.Event().wait(wait)
    pid = engine_pid(home)
    if pid is None:
        return None
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return None
    return time.perf_counter()


def _check_round(home: Path, number: int, told: Told, client: Client) -> None:
    """What can be seen at once: files, list, and the newest marks by search."""
    texts = _texts(home)
    _check_texts(texts)
    _check_marks(texts, told)
    _check_list(home, client)
    newest = list(told.there.items())[-3:]
    for mark, slug in newest:
        found = [hit["reference"] for hit in client.search(mark, limit=3)["hits"]]
        if f"memory/{slug}" not in found:
            raise Breach(f"round {number}: {mark} of {slug} is on disk and not found: {found}")
    for mark in list(told.gone)[-2:]:
        for hit in client.search(mark, limit=3)["hits"]:
            if any(mark in passage["text"] for passage in hit["passages"]):
                raise Breach(f"round {number}: {mark} is gone and still found")


def _texts(home: Path) -> dict[str, str]:
    inbox = home / "agents" / "default" / "memory"
    left = [path.name for path in inbox.iterdir() if path.suffix != ".md"]
    young = [name for name in left if not name.startswith(".")]
    if young:
        raise Breach(f"files that are no notes: {young}")
    return {path.stem: path.read_text(encoding="utf-8") for path in inbox.glob("*.md")}


def _check_texts(texts: dict[str, str]) -> None:
    for slug, text in texts.items():
        if not slug.startswith(("own-", "shared-")):
            continue
        lines = text.split("\n")
        if lines.count("end") != 1 or sum(line.startswith("# ") for line in lines) != 1:
            raise Breach(f"{slug} is cut or doubled: {text!r}")
        odd = [line for line in lines if not _LINE.fullmatch(line)]
        if odd:
            raise Breach(f"{slug} has broken lines: {odd}")


def _check_marks(texts: dict[str, str], told: Told) -> None:
    whole = Counter(
        mark
        for slug, text in texts.items()
        if slug.startswith(("own-", "shared-"))
        for mark in re.findall(r"qz\d+x\d+x[0-9a-f]{8}", text)
    )
    for mark, slug in told.there.items():
        if texts.get(slug, "").count(mark) != 1:
            raise Breach(f"acknowledged {mark} is in {slug} {texts.get(slug, '').count(mark)}x")
    for mark in told.gone:
        if whole[mark]:
            raise Breach(f"{mark} was replaced or deleted with success and is there")
    for mark in told.doubtful:
        if whole[mark] > 1:
            raise Breach(f"{mark}, whose call ended with an error, is there {whole[mark]} times")


def _check_list(home: Path, client: Client) -> None:
    """What the engine lists is what there is; its first look may just be under way."""
    wanted = {
        *(f"memory/{path.stem}" for path in (home / "agents/default/memory").glob("*.md")),
        *(f"wiki/{path.stem}" for path in (home / "wiki").glob("*.md")),
    }
    deadline = time.perf_counter() + 20
    while (listed := _listed(client)) != wanted:
        if time.perf_counter() > deadline:
            raise Breach(
                f"listed and not there: {listed - wanted}; there and not listed: {wanted - listed}"
            )
        wanted = {
            *(f"memory/{path.stem}" for path in (home / "agents/default/memory").glob("*.md")),
            *(f"wiki/{path.stem}" for path in (home / "wiki").glob("*.md")),
        }


def _listed(client: Client) -> set[str]:
    found: set[str] = set()
    cursor: str | None = ""
    while cursor is not None:
        page = client.call("memory_list", source="all", limit=1000, cursor=cursor or None)
        found.update(row["reference"] for row in page["notes"])
        cursor = page["next_cursor"]
    return found


def _check_saved(home: Path, told: Told, client: Client) -> None:
    """Every text that was to be filed is filed once."""
    deadline = time.perf_counter() + 120
    while True:
        jobs = client.call("memory_jobs")["jobs"]
        if not any(job["status"] in ("queued", "running") for job in jobs):
            break
        if time.perf_counter() > deadline:
            raise Breach(f"jobs never ended: {[j for j in jobs if j['status'] != 'done'][:3]}")
        threading.Event().wait(0.2)
    texts = _texts(home)
    for mark in told.saved:
        count = sum(f"{mark}x." in text for text in texts.values())
        if count != 1:
            raise Breach(f"the saved {mark} is in {count} notes")


def _check_all(home: Path, told: Told) -> None:
    """In a new engine: every mark is found where it is, and no wiki page is stale."""
    stop_engine(home)
    with clients(1, command(), environment(home)) as (client,):
        client.hello()
        _check_list(home, client)
        for mark, slug in told.there.items():
            hits = client.search(mark, limit=3)["hits"]
            if f"memory/{slug}" not in [hit["reference"] for hit in hits]:
                raise Breach(f"after all: {mark} of {slug} is not found")
        for path in (home / "wiki").glob("*.md"):
            text = client.call("memory_get", reference=f"wiki/{path.stem}")["content"]
            if text != path.read_text(encoding="utf-8"):
                raise Breach(f"after all: {path.name} is stale")


def _print(outcome: Outcome, told: Told) -> None:
    back = sorted(outcome.back) or [0.0]
    print("| | |\n|---|---|")
    print(f"| kills of the engine | {outcome.kills:,} |")
    print(f"| calls that change notes | {sum(told.counts[kind] for kind in KINDS):,} |")
    print(f"| marks acknowledged and there exactly once | {len(told.there):,} |")
    print(f"| marks replaced or deleted with success, and gone | {len(told.gone):,} |")
    print(f"| texts saved and filed exactly once | {len(told.saved):,} |")
    print(f"| calls that ended with an error | {_errors(told):,} |")
    print(
        "| kill until all clients had their answers, median / 95 % / worst |"
        f" {statistics.median(back):.2f} / {back[len(back) * 95 // 100]:.2f} / {back[-1]:.2f} s |"
    )
    for text, count in told.counts.most_common():
        if text.startswith("refused"):
            print(f"| {text}… | {count:,} |")


def _errors(told: Told) -> int:
    return sum(count for text, count in told.counts.items() if text.startswith("refused"))
