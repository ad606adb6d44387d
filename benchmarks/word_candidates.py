"""Words on a server: what a member saves, and whether the server names the right passages.

`python -m benchmarks.word_candidates [--notes DIR --questions FILE]`

Without arguments the golden set. The passages are put as sparse vectors into qdrant-edge (extra
`edge`), the search engine of a Qdrant server in this process, by the code that makes those for a
server. Printed: bytes of a passage's words with postings and without, how many of the best 100
passages of an index in memory are among the engine's first 100, 150 and 200, and how long a search
takes that reads all documents. `FILE` has a question a line, as text or as JSON with `question`.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from zlib import crc32

from qdrant_edge import (
    EdgeConfig,
    EdgeShard,
    EdgeSparseVectorParams,
    Modifier,
    Point,
    Query,
    QueryRequest,
    SparseVector,
    UpdateOperation,
)

from memory_mcp.core.config import Config
from memory_mcp.core.words import QueryTerm, query_terms
from memory_mcp.index.prepare import prepare
from memory_mcp.index.server_words import vector
from memory_mcp.index.table import Parsed
from memory_mcp.index.wordview import SourceWords, WordView, without_postings
from memory_mcp.notes.scan import scan
from memory_mcp.notes.sources import open_sources

GOLDEN = Path(__file__).parent / "golden"
LANGUAGES = ("en", "de")
DEPTH, AT_ONCE = 100, 256


def _parsed(folder: Path, home: Path) -> list[Parsed]:
    sources = {"notes": {"path": str(folder), "max_files": 100_000}}
    config = Config.model_validate({"home": str(home), "sources": sources})
    found = (
        prepare(source, path, None, config)
        for source in open_sources(config)
        for path in scan(source).files
    )
    return [one for one in found if isinstance(one, Parsed)]


def _words(make: Callable[[], SourceWords], notes: Sequence[Parsed]) -> tuple[SourceWords, int]:
    """All words, and how many bytes they take."""
    tracemalloc.start()
    words, point = make(), 0
    for note in notes:
        words.notes.add(note.card.path, note.note_words)
        for counts in note.words:
            point += 1
            words.passages.add(point, counts)
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return words, size


def _shard(notes: Sequence[Parsed], folder: Path) -> EdgeShard:
    params = EdgeSparseVectorParams(modifier=Modifier.Idf)
    shard = EdgeShard.create(str(folder), EdgeConfig(vectors={}, sparse_vectors={"words": params}))
    points = [
        Point(id=number, vector={"words": SparseVector(*vector(counts))}, payload={})
        for number, counts in enumerate((counts for note in notes for counts in note.words), 1)
    ]
    for start in range(0, len(points), AT_ONCE):
        shard.update(UpdateOperation.upsert_points(points[start : start + AT_ONCE]))
    return shard


def _candidates(shard: EdgeShard, terms: Sequence[QueryTerm], limit: int) -> set[int]:
    places = sorted({crc32(form.encode()) for term in terms for form in term.forms})
    asked = SparseVector(places, [1.0] * len(places))
    query = Query.Nearest(asked, using="words")
    request = QueryRequest(query=query, limit=limit, with_payload=False, with_vector=False)
    return {int(hit.id) for hit in shard.query(request)}


def _questions(file: Path | None) -> list[str]:
    files = [file] if file else [GOLDEN / f"questions-{language}.jsonl" for language in LANGUAGES]
    lines = [line for one in files for line in one.read_text(encoding="utf-8").splitlines()]
    return [json.loads(line)["question"] if line.startswith("{") else line for line in lines]


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.word_candidates")
    parser.add_argument("--notes", type=Path, default=GOLDEN / "notes")
    parser.add_argument("--questions", type=Path)
    options = parser.parse_args()
    print(f"{platform.platform()}, Python {platform.python_version()}")
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary).resolve()
        notes = _parsed(options.notes.resolve(), home)
        shard = _shard(notes, home)
        _report(
            notes, shard, [query_terms(text, LANGUAGES) for text in _questions(options.questions)]
        )


def _report(
    notes: Sequence[Parsed], shard: EdgeShard, questions: Sequence[Sequence[QueryTerm]]
) -> None:
    lengths = [sum(counts.values()) for note in notes for counts in note.words]
    print(f"{len(lengths)} passages of {statistics.mean(lengths):.1f} words in the mean")
    with_postings, size = _words(SourceWords, notes)
    without, smaller = _words(without_postings, notes)
    each = len(lengths)
    print(f"bytes a passage: {size / each:.0f} with postings, {smaller / each:.0f} without")
    view = WordView({"notes": with_postings})
    best = [{point for point, _ in view.passages(terms, DEPTH)} for terms in questions]
    for limit in (DEPTH, DEPTH + DEPTH // 2, 2 * DEPTH):
        shares = [
            len(known & _candidates(shard, terms, limit)) / len(known)
            for known, terms in zip(best, questions, strict=True)
            if known
        ]
        print(
            f"{limit} candidates: {statistics.mean(shares):.2%} of the best {DEPTH},"
            f" {min(shares):.1%} at worst, {len(shares)} questions"
        )
    scanned = WordView({"notes": without})
    begin = time.perf_counter()
    for terms in questions:
        scanned.passages(terms, DEPTH)
    print(f"reading all documents: {(time.perf_counter() - begin) / len(questions) * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
