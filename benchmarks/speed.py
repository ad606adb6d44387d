"""How fast a search is, and what it costs to keep: as ratios to bare libraries in the same run.

    pip install -e '.[bench,edge]'
    python -m benchmarks.speed [--passages 1000 10000 100000]

Notes of ten passages of some sixty words, drawn from a vocabulary with the frequencies of real
text; vectors are random unit vectors given through the embedder's port, since embedding a hundred
thousand passages is not what is measured. "with embedding" adds the bundled model's time for the
question. Each size runs in a process of its own. A ticker tells how long the event loop was kept,
and another one, in a process that does nothing else, how much of that was the machine. With
`--bundled` the notes are embedded by the bundled model, and only the loop is measured; with
`--sections 1` each passage is a note.
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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import numpy as np

from benchmarks import ticker
from benchmarks.floors import Floor, NumpyAndTantivy, SqliteVecAndFts
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
PAUSE_SECONDS = 0.25  # between two searches while it is indexed
EMBEDDING, EMBEDDED = "the question's embedding alone", "all, with embedding"
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

    band = None

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

    def __init__(self, sections: int = SECTIONS) -> None:
        """`sections`: of a note, a passage each."""
        self.sections = sections
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
        """A note with its sections."""
        tags = [f"note-{seed}", *(["tenth"] if seed % 10 == 3 else [])]
        parts = [f"---\ntags: [{', '.join(tags)}]\n---\n# {self.text(seed, 3)}"]
        parts += [
            f"## {self.text(10**9 - seed * 50 - n, 2)}\n\n{self.text(seed * 50 + n + 7, WORDS)}"
            for n in range(self.sections)
        ]
        return "\n\n".join(parts) + "\n"


def memory() -> int:
    """Bytes that this process holds."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


Times = list[tuple[float, float]]
"""(seconds, seconds of processor time in all threads), one for each question."""


def spread(times: Times) -> dict[str, float]:
    """Median and 95th percentile in milliseconds; and the mean of the processor's, which says
    more on a machine that has other work."""
    seconds = [one for one, _ in times]
    return {
        "p50": 1000 * float(np.median(seconds)),
        "p95": 1000 * float(np.quantile(seconds, 0.95)),
        "cpu": 1000 * float(np.mean([one for _, one in times])),
    }


@contextmanager
def timed(times: Times) -> Iterator[None]:
    """Add what the body takes."""
    begin, worked = time.perf_counter(), time.process_time()
    yield
    times.append((time.perf_counter() - begin, time.process_time() - worked))


def config_of(home: Path) -> Config:
    """A home with an inbox and a vault, without watcher and sweeps."""
    (home / "vault").mkdir(parents=True, exist_ok=True)
    still = {"watch": False, "sweep_seconds": 0, "rescan_minutes": 0}
    vault = {"path": str(home / "vault")}
    return Config.model_validate({"home": str(home), "sources": {"vault": vault}, "index": still})


def write_notes(home: Path, prose: Prose, passages: int) -> None:
    """One fifth in the vault; half of the rest in a/, one in a hundred in topic7/."""
    inbox = home / "agents" / "default" / "memory"
    for seed in range(passages // prose.sections):
        folder = home / "vault" if seed % 5 == 4 else inbox
        place = "topic7" if seed % 100 == 7 else "a" if seed % 2 else f"b{seed % 40}"
        file = folder / place / f"n{seed}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(prose.note(seed), encoding="utf-8")


async def timed_writes(index: Index, searcher: Searcher, prose: Prose) -> Times:
    """From a written file to a search that has it as a hit."""
    source = next(one for one in index.sources if one.name == "memory")
    times: Times = []
    for n in range(WRITES):
        word = f"quartzite{chr(97 + n)}"
        file = source.root / f"fresh{n}.md"
        file.write_text(f"# Fresh {n}\n\n{word} {prose.text(n, 40)}\n", encoding="utf-8")
        with timed(times):
            await index.refresh(source, f"fresh{n}")
            result = await searcher.search(SearchRequest(word))
        assert f"fresh{n}" in {hit.card.path for hit in result.hits}, (n, result.degraded)
    return times


def floors(index: Index, embedder: RandomVectors) -> list[Floor]:
    """The bare libraries, filled with the passages and words that the index has."""
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
    made: list[Floor] = []
    kinds: list[Callable[..., Floor]] = [NumpyAndTantivy, SqliteVecAndFts]
    for kind in kinds:
        with suppress(ImportError, AttributeError):  # many Pythons load no extension of SQLite
            made.append(kind(vectors, texts))
    return made


def words_of(index: Index, question: str) -> list[str]:
    """The terms that the product looks for."""
    view = index.words([source.id for source in index.sources])
    lexicon = Lexicon(frozenset({"en"}), view.idf, 1.0, lambda part: [])
    return [form for term in build(question, lexicon).terms for form in term.forms]


async def timed_searches(
    index: Index, searcher: Searcher, bare: Sequence[Floor], embedder: RandomVectors, prose: Prose
) -> dict[str, dict[str, float]]:
    """All ways to ask in turn for each question, so that all see the machine in the same state."""
    times: dict[str, Times] = {}
    for n in range(QUESTIONS):
        question = prose.text(10**6 + n, 6)
        vector, words = embedder.passages([question])[0], words_of(index, question)
        await searcher.search(SearchRequest(question))  # from here on its vector is remembered
        for name, more in FILTERS.items():
            with timed(times.setdefault(name, [])):
                await searcher.search(SearchRequest(question, **more))
        for floor in bare:
            with timed(times.setdefault(floor.name, [])):
                floor.ask(vector, words)
        assert embedder.asked is not None
        fresh = prose.text(2 * 10**6 + n, 6)
        with timed(times.setdefault(EMBEDDING, [])):
            embedder.asked.query(fresh)
        with timed(times.setdefault(EMBEDDED, [])):
            await searcher.search(SearchRequest(fresh))
    return {name: spread(one) for name, one in times.items()}


async def indexed(
    index: Index, searcher: Searcher, prose: Prose, tick: ticker.Ticker
) -> dict[str, float]:
    """Search four times a second until all notes are indexed; how the loop was meanwhile."""
    begin = time.perf_counter()
    times: Times = []
    while not await index.settled(PAUSE_SECONDS):
        with timed(times):
            await searcher.search(SearchRequest(prose.text(10**6 + len(times) % QUESTIONS, 6)))
    seconds = time.perf_counter() - begin
    return tick.take() | spread(times) | {"seconds": seconds, "searches": len(times)}


async def measure_loop(home: Path, passages: int, sections: int) -> dict[str, Any]:
    """The event loop alone, while the bundled model embeds and searches."""
    prose, config = Prose(sections), config_of(home)
    write_notes(home, prose, passages)
    result: dict[str, Any] = {"passages": passages}
    async with ticker.ticking() as tick, anyio.create_task_group() as tasks:
        index = Index(config, open_sources(config), BundledEmbedder)
        searcher = Searcher(IndexView(index, index.sources), config.search)
        tasks.start_soon(index.run)
        result["indexing"] = await indexed(index, searcher, prose, tick)
        result["store"] = index.vector_store
        for n in range(QUESTIONS):
            await searcher.search(SearchRequest(prose.text(10**6 + n, 6)))
        result["searching"] = tick.take()
        tasks.cancel_scope.cancel()
    return result


async def measure(home: Path, passages: int, sections: int) -> dict[str, Any]:
    """Everything for one size."""
    prose = Prose(sections)
    write_notes(home, prose, passages)
    config, embedder = config_of(home), RandomVectors()
    gc.collect()
    before = memory()
    result: dict[str, Any] = {"passages": passages}
    async with ticker.ticking() as tick, anyio.create_task_group() as tasks:
        index = Index(config, open_sources(config), lambda: embedder)
        searcher = Searcher(IndexView(index, index.sources), config.search)
        tasks.start_soon(index.run)
        result["indexing"] = await indexed(index, searcher, prose, tick)
        gc.collect()
        result["bytes_per_passage"] = (memory() - before) / passages
        result["store"] = index.vector_store
        tick.take()
        result["write"] = spread(await timed_writes(index, searcher, prose))
        result["writing"] = tick.take()
        for n in range(QUESTIONS):
            await searcher.search(SearchRequest(prose.text(10**6 + n, 6)))
        result["searching"] = tick.take()
        bare = floors(index, embedder)
        result["floors"] = [floor.name for floor in bare]
        embedder.asked = BundledEmbedder()
        embedder.asked.query("warm")
        result["search"] = await timed_searches(index, searcher, bare, embedder, prose)
        tasks.cancel_scope.cancel()
    return result


def show(result: dict[str, Any]) -> None:
    """A readable table of one size."""
    names, search = result["floors"], result["search"]
    print(f"\n## {result['passages']:,} passages, vectors in {result['store']}\n")
    heads = [f"× {name} | × its CPU" for name in names]
    print(f"| | p50 ms | p95 ms | CPU ms | {' | '.join(heads)} | × all |")
    print(f"|---|---|---|---|{'---|---|' * len(names)}---|")
    whole = search["all"]
    for name, one in search.items():
        embed = search[EMBEDDING] if name == EMBEDDED else {"p50": 0.0, "cpu": 0.0}
        cells = [f"{one['p50']:.1f}", f"{one['p95']:.1f}", f"{one['cpu']:.1f}"]
        for floor in names:
            cells += [
                f"{one[key] / (search[floor][key] + embed[key]):.1f}" for key in ("p50", "cpu")
            ]
        print(f"| {name} | {' | '.join(cells)} | {one['cpu'] / whole['cpu']:.2f} |")
    print(
        f"\nwrite to found: p50 {result['write']['p50']:.0f} ms, p95 {result['write']['p95']:.0f}"
    )
    print(f"memory per passage: {result['bytes_per_passage'] / 1024:.1f} KiB, texts included")
    show_loop(result)


def show_loop(result: dict[str, Any]) -> None:
    """How the event loop was."""
    one = result["indexing"]
    print(
        f"{result['passages']:,} passages indexed in {one['seconds']:.0f} s, with"
        f" {one['searches']:.0f} searches, p50 {one['p50']:.0f} ms, p95 {one['p95']:.0f}"
    )
    for name in ("indexing", "searching", "writing"):
        if name in result:
            ticker.show(name, result[name])


def main() -> None:
    """Run each size in a process of its own and print what it saw."""
    parser = argparse.ArgumentParser(description="Search speed as ratios to bare libraries.")
    parser.add_argument("--passages", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--sections", type=int, default=SECTIONS, help="passages of a note")
    parser.add_argument("--bundled", action="store_true", help="the loop beside the real model")
    parser.add_argument("--json", action="store_true", help="print the values instead")
    asked = parser.parse_args()
    if asked.one:
        with tempfile.TemporaryDirectory() as folder:
            work = measure_loop if asked.bundled else measure
            home = Path(folder).resolve()
            print(json.dumps(anyio.run(work, home, asked.one, asked.sections)))
        return
    print(f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} CPUs,")
    print(f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}")
    for passages in asked.passages:
        command = [sys.executable, "-m", "benchmarks.speed", "--one", str(passages)]
        command += ["--sections", str(asked.sections)]
        if asked.bundled:
            command.append("--bundled")
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        result = json.loads(done.stdout)
        if asked.json:
            print(done.stdout)
        else:
            (show_loop if asked.bundled else show)(result)


if __name__ == "__main__":
    main()
