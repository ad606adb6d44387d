"""How fast a search is, and what it costs to keep: as ratios to bare libraries in the same run.

    pip install -e '.[bench,edge]'
    python benchmarks/speed.py [--passages 1000 10000 100000] [--no-edge]

Notes of ten passages of some sixty words, drawn from a vocabulary with the frequencies of real
text; vectors are random unit vectors given through the embedder's port, since embedding a hundred
thousand passages is not what is measured. "with embedding" adds the bundled model's time for the
question. Each size runs in a process of its own. A ticker tells how long the event loop was kept.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import hashlib
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import numpy as np

from benchmarks.floors import DEPTH, Floor, NumpyAndTantivy, SqliteVecAndFts
from memory_mcp.core.config import Config
from memory_mcp.core.ports import Vectors
from memory_mcp.index.embedder import BundledEmbedder
from memory_mcp.index.index import Index
from memory_mcp.index.view import IndexView
from memory_mcp.notes.sources import open_sources
from memory_mcp.search.hit import SearchRequest
from memory_mcp.search.query import Lexicon, build
from memory_mcp.search.search import Searcher

DIMENSION = 384
SECTIONS, WORDS = 10, 60
VOCABULARY = 30_000
QUESTIONS, WRITES = 60, 20
TICK_SECONDS = 0.002
FILTERS: dict[str, dict[str, Any]] = {
    "all": {},
    "source (20 %)": {"sources": ("vault",)},
    "folder (1 %)": {"path_prefix": "topic7/"},
    "folder (50 %)": {"path_prefix": "a/"},
    "tag (10 %)": {"tag": "tenth"},
    "tag (one note)": {"tag": "note-7"},
}


class RandomVectors:
    """An embedder whose vector is a hash of the text; `model`: what a question costs beside."""

    dimension, identity, model, batch = DIMENSION, "random/384", "random", 256

    def __init__(self) -> None:
        self.asked: BundledEmbedder | None = None

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), 384)."""
        rows = np.stack([_numbers(text) for text in texts])
        unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    def query(self, text: str) -> Vectors:
        """The unit vector of a question, after the time that the real model needs."""
        if self.asked is not None:
            self.asked.query(text)
        vector: Vectors = self.passages([text])[0]
        return vector


def _numbers(text: str) -> Vectors:
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
    return np.random.default_rng(seed).standard_normal(DIMENSION, np.float32)


class Prose:
    """Words as frequent as in real text (Zipf), the same for the same seed."""

    def __init__(self) -> None:
        chance = random.Random(1)
        parts = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
        words = dict.fromkeys(
            "".join(chance.choices(parts, k=2 + (n > 300) + (n > 9000)))
            for n in range(2 * VOCABULARY)
        )
        self.words = list(words)[:VOCABULARY]
        self._weights = np.cumsum(1 / np.arange(10, len(self.words) + 10))

    def text(self, seed: int, words: int) -> str:
        """So many words in sentences."""
        draw = np.random.default_rng(seed).random(words) * self._weights[-1]
        chosen = [self.words[n] for n in np.searchsorted(self._weights, draw)]
        lines = [" ".join(chosen[at : at + 12]) for at in range(0, words, 12)]
        return ". ".join(line.capitalize() for line in lines) + "."

    def note(self, seed: int) -> str:
        """A note with ten sections."""
        tags = [f"note-{seed}", *(["tenth"] if seed % 10 == 3 else [])]
        parts = [f"---\ntags: [{', '.join(tags)}]\n---\n# {self.text(seed, 3)}"]
        parts += [
            f"## {self.text(10**9 - seed * 50 - n, 2)}\n\n{self.text(seed * 50 + n + 7, WORDS)}"
            for n in range(SECTIONS)
        ]
        return "\n\n".join(parts) + "\n"


class Ticker:
    """Notes how late the event loop wakes up, and how much processor time its thread took
    meanwhile: on a loaded machine it is also late while others have the processor."""

    def __init__(self) -> None:
        self.late: list[float] = []
        self.busy: list[float] = []

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            begin, worked = time.perf_counter(), time.thread_time()
            await anyio.sleep(TICK_SECONDS)
            self.late.append(time.perf_counter() - begin - TICK_SECONDS)
            self.busy.append(time.thread_time() - worked)

    def take(self) -> dict[str, float]:
        """Milliseconds since the last call: the longest, and how many were above 50."""
        late, self.late = self.late, []
        busy, self.busy = self.busy, []
        return {
            "longest_ms": 1000 * max(late, default=0.0),
            "p99_ms": 1000 * float(np.quantile(late or [0.0], 0.99)),
            "above_50": sum(one > 0.05 for one in late),
            "busy_ms": 1000 * max(busy, default=0.0),
        }


def memory() -> int:
    """Bytes that this process holds."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def spread(seconds: Sequence[float]) -> dict[str, float]:
    """Median and 95th percentile in milliseconds."""
    return {
        "p50": 1000 * float(np.median(seconds)),
        "p95": 1000 * float(np.quantile(seconds, 0.95)),
    }


def config_of(home: Path) -> Config:
    """A home with an inbox and a vault, without watcher and sweeps."""
    (home / "vault").mkdir(parents=True, exist_ok=True)
    still = {"watch": False, "sweep_seconds": 0, "rescan_minutes": 0}
    vault = {"path": str(home / "vault")}
    return Config.model_validate({"home": str(home), "sources": {"vault": vault}, "index": still})


def write_notes(home: Path, prose: Prose, passages: int) -> None:
    """One fifth in the vault; half of the rest in a/, one in a hundred in topic7/."""
    inbox = home / "agents" / "default" / "memory"
    for seed in range(passages // SECTIONS):
        folder = home / "vault" if seed % 5 == 4 else inbox
        place = "topic7" if seed % 100 == 7 else "a" if seed % 2 else f"b{seed % 40}"
        file = folder / place / f"n{seed}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(prose.note(seed), encoding="utf-8")


async def timed_searches(searcher: Searcher, questions: Sequence[str], **more: Any) -> list[float]:
    """Seconds of each search, one after the other."""
    taken = []
    for question in questions:
        begin = time.perf_counter()
        await searcher.search(SearchRequest(question, **more))
        taken.append(time.perf_counter() - begin)
    return taken


async def timed_writes(index: Index, searcher: Searcher, prose: Prose) -> list[float]:
    """Seconds from a written file to a search that has it as a hit."""
    source = next(one for one in index.sources if one.name == "memory")
    taken = []
    for n in range(WRITES):
        word = f"quartzite{chr(97 + n)}"
        file = source.root / f"fresh{n}.md"
        file.write_text(f"# Fresh {n}\n\n{word} {prose.text(n, 40)}\n", encoding="utf-8")
        begin = time.perf_counter()
        await index.refresh(source, f"fresh{n}")
        result = await searcher.search(SearchRequest(word))
        taken.append(time.perf_counter() - begin)
        assert f"fresh{n}" in {hit.card.path for hit in result.hits}, (n, result.degraded)
    return taken


def floors(index: Index, questions: Sequence[str], embedder: RandomVectors) -> dict[str, Any]:
    """The bare libraries on the passages and words that the index has."""
    entries = list(index.entries())
    vectors = np.concatenate(
        [embedder.passages([p.embedded for p in e.passages]) for e in entries]
    )
    view = index.words([source.id for source in index.sources])
    texts = [
        " ".join(word for word, n in view.frequencies(point).items() for _ in range(n))
        for entry in entries
        for point in entry.points
    ]
    lexicon = Lexicon(frozenset({"en"}), view.idf, 1.0, lambda part: [])
    queries = [
        (
            embedder.passages([question])[0],
            [form for term in build(question, lexicon).terms for form in term.forms],
        )
        for question in questions
    ]
    results: dict[str, Any] = {}
    kinds: list[Callable[..., Floor]] = [NumpyAndTantivy, SqliteVecAndFts]
    for kind in kinds:
        with suppress(ImportError, AttributeError):
            floor = kind(vectors, texts)
            taken = []
            for vector, words in queries:
                begin = time.perf_counter()
                floor.ask(vector, words)
                taken.append(time.perf_counter() - begin)
            results[floor.name] = spread(taken)
    return results


async def measure(home: Path, passages: int) -> dict[str, Any]:
    """Everything for one size."""
    prose = Prose()
    write_notes(home, prose, passages)
    config, embedder, ticker = config_of(home), RandomVectors(), Ticker()
    questions = [prose.text(10**6 + n, 6) for n in range(QUESTIONS)]
    gc.collect()
    before, begin = memory(), time.perf_counter()
    result: dict[str, Any] = {"passages": passages}
    async with anyio.create_task_group() as tasks:
        index = Index(config, open_sources(config), lambda: embedder)
        view = IndexView(index, index.sources)
        searcher = Searcher(view, config.search)
        tasks.start_soon(ticker.run)
        tasks.start_soon(index.run)
        searched = 0
        while not await index.settled(0.05):
            await timed_searches(searcher, [questions[searched % QUESTIONS]])
            searched += 1
        result["indexing"] = ticker.take() | {
            "seconds": time.perf_counter() - begin,
            "searches": searched,
        }
        gc.collect()
        result["bytes_per_passage"] = (memory() - before) / passages
        result["store"] = index.vector_store
        await timed_searches(searcher, questions)
        ticker.take()
        result["search"] = {
            name: spread(await timed_searches(searcher, questions, **more))
            for name, more in FILTERS.items()
        }
        embedder.asked = BundledEmbedder()
        fresh = [prose.text(2 * 10**6 + n, 6) for n in range(QUESTIONS)]
        embedder.asked.query(fresh[0])
        result["embed"] = spread([_timed(partial(embedder.asked.query, q)) for q in fresh])
        result["with embedding"] = spread(await timed_searches(searcher, fresh))
        embedder.asked = None
        result["searching"] = ticker.take()
        ticker.take()
        result["write"] = spread(await timed_writes(index, searcher, prose))
        result["writing"] = ticker.take()
        result["floors"] = floors(index, questions, embedder)
        tasks.cancel_scope.cancel()
    return result


def _timed(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def show(result: dict[str, Any]) -> None:
    """A readable table of one size."""
    print(f"\n## {result['passages']:,} passages, vectors in {result['store']}\n")
    names = list(result["floors"])
    print(f"| search | p50 ms | p95 ms | {' | '.join(f'× {name}' for name in names)} | × all |")
    print(f"|---|---|---|{'---|' * (len(names) + 1)}")
    whole, embed = result["search"]["all"]["p50"], result["embed"]["p50"]
    rows = [(name, one, 0.0) for name, one in result["search"].items()]
    rows.append(("all, with embedding", result["with embedding"], embed))
    for name, one, more in rows:
        ratios = [f"{one['p50'] / (result['floors'][f]['p50'] + more):.1f}" for f in names]
        cells = [f"{one['p50']:.1f}", f"{one['p95']:.1f}", *ratios, f"{one['p50'] / whole:.2f}"]
        print(f"| {name} | {' | '.join(cells)} |")
    for name in names:
        one = result["floors"][name]
        print(f"| {name} (top {DEPTH} each) | {one['p50']:.2f} | {one['p95']:.2f} | |")
    print(
        f"\nwrite to found: p50 {result['write']['p50']:.0f} ms, p95 {result['write']['p95']:.0f}"
    )
    print(f"memory per passage: {result['bytes_per_passage'] / 1024:.1f} KiB, texts included")
    print(f"the question's embedding: p50 {embed:.1f} ms")
    for name in ("indexing", "searching", "writing"):
        one = result[name]
        more = f", {one['seconds']:.0f} s, {one['searches']} searches" if "seconds" in one else ""
        print(
            f"event loop while {name}: late at most {one['longest_ms']:.0f} ms, p99"
            f" {one['p99_ms']:.1f}, above 50 ms: {one['above_50']}; of its own work at most"
            f" {one['busy_ms']:.0f} ms at once{more}"
        )


def main() -> None:
    """Run each size in a process of its own and print what it saw."""
    parser = argparse.ArgumentParser(description="Search speed as ratios to bare libraries.")
    parser.add_argument("--passages", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true", help="print the values instead")
    asked = parser.parse_args()
    if asked.one:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(anyio.run(measure, Path(folder).resolve(), asked.one)))
        return
    print(f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} CPUs,")
    print(f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}")
    for passages in asked.passages:
        command = [sys.executable, "-m", "benchmarks.speed", "--one", str(passages)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        result = json.loads(done.stdout)
        print(done.stdout) if asked.json else show(result)


if __name__ == "__main__":
    main()
