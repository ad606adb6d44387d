"""Search quality: `python -m benchmarks.quality [--locomo DIR] [--xquad DIR] [--ablations]`.

The golden set of this repository always, the public data where their folders are given. Notes are
indexed through the product's own path; the evidence for each question is ranked in several ways.
H@k: a right note is among the first k. R@k: share of the right notes among them. MRR at 10. T@B:
share of the right facts in the passages taken in order up to B tokens, as shown (heading, text).
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
from datetime import datetime
from pathlib import Path

import anyio

from benchmarks.quality import locomo
from benchmarks.quality.metrics import error
from benchmarks.quality.runs import run_golden, run_locomo, run_xquad
from benchmarks.quality.table import Table, falls
from benchmarks.quality.ways import ABLATIONS, IDEAS, LEGS, SHIPPED

BASELINE = Path(__file__).parent / "baseline.json"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("--locomo", type=Path, help="folder with notes.json, questions.json, md/")
    parser.add_argument("--xquad", type=Path, help="folder with en.json, de.json, es.json")
    parser.add_argument("--ablations", action="store_true", help="also with each rule left out")
    parser.add_argument(
        "--ideas", action="store_true", help="other weights against those shipped, in pairs"
    )
    parser.add_argument("--provider", help="embedding.provider, instead of the bundled model")
    parser.add_argument("--model", help="embedding.model")
    parser.add_argument("--home", type=Path, help="where embeddings are kept for the next run")
    parser.add_argument("--write", type=Path, help="write the rows to this file")
    parser.add_argument(
        "--check",
        type=Path,
        nargs="?",
        const=BASELINE,
        help="fail where a figure fell by more than a point against these rows",
    )
    return parser.parse_args()


async def main() -> int:
    """Measure what was asked for; 1 where a comparison failed."""
    options = _arguments()
    table = Table()
    today = datetime.now().astimezone().date()
    print(
        f"{platform.platform()}, {platform.machine()}, Python {platform.python_version()}, {today}"
    )
    ways = LEGS + ABLATIONS * options.ablations + IDEAS * options.ideas
    given = {"provider": options.provider, "model": options.model}
    embedding = {name: value for name, value in given.items() if value}
    with tempfile.TemporaryDirectory() as temporary:
        home = (options.home or Path(temporary)).resolve()
        await run_golden(home / "golden", table, ways, embedding)
        if options.locomo:
            data = locomo.load(options.locomo)
            await run_locomo(data, home / "locomo", table, ways, embedding)
        if options.xquad:
            await run_xquad(options.xquad, home, table, ways, embedding)
    table.compare(SHIPPED.name, [way.name for way in IDEAS])
    print(f"standard error near 93 % and n=786: {100 * error(0.93, 786):.1f} points")
    if options.write:
        table.write(options.write)
    if options.check:
        fallen = falls(json.loads(options.check.read_text(encoding="utf-8")), table.rows)
        print(*fallen, sep="\n")
        return int(bool(fallen))
    return 0


if __name__ == "__main__":
    sys.exit(anyio.run(main))
