"""How well duplicates are noticed: `python -m benchmarks.duplicates [--wrong]`.

The labelled pairs beside this file, judged with the bundled model. Precision and recall in percent
for each class, in all pairs, each half, each language. A pair that is new or contradicts and was
called "same" would have been dropped: each is printed, and the command fails.
"""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Callable
from datetime import datetime

from benchmarks.duplicates.pairs import LABELS, Judged, Pair, judge, load, precision_and_recall
from memory_mcp.index.embedder import BundledEmbedder

KEPT: dict[str, Callable[[Pair], bool]] = {
    "all": lambda pair: True,
    "tuned half": lambda pair: pair.half == "tuned",
    "other half": lambda pair: pair.half == "told",
    "en": lambda pair: pair.language == "en",
    "de": lambda pair: pair.language == "de",
    "mixed": lambda pair: pair.language == "mixed",
}


def main() -> int:
    """Print the table; 1 where a fact would have been dropped."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.duplicates", description=__doc__)
    parser.add_argument("--wrong", action="store_true", help="print the pairs judged wrongly")
    parser.add_argument("--words", action="store_true", help="without the model")
    options = parser.parse_args()
    today = datetime.now().astimezone().date()
    print(f"{platform.system()} {platform.machine()}, Python {platform.python_version()}, {today}")
    judged = judge(load(), None if options.words else BundledEmbedder())
    print("| | " + " | ".join(LABELS) + " |\n|---" * 1 + "|---" * len(LABELS) + "|")
    for name, keep in KEPT.items():
        cells = (precision_and_recall(judged, label, keep) for label in LABELS)
        shown = (f"{100 * p:.0f} / {100 * r:.0f} ({count})" for p, r, count in cells)
        print(f"| {name} | " + " | ".join(shown) + " |")
    if options.wrong:
        for item in judged:
            if item.found.kind != item.pair.label:
                print(_line(item))
    lost = [item for item in judged if item.loses]
    print(f"called the same and are not: {len(lost)}")
    print(*map(_line, lost), sep="\n", end="\n" if lost else "")
    return int(bool(lost))


def _line(item: Judged) -> str:
    pair, found = item.pair, item.found
    return f"{pair.id} {pair.half}: {found.kind} {found.likeness:.2f} {found.missing} {pair.new!r}"


if __name__ == "__main__":
    sys.exit(main())
