"""Recall without being asked: `python -m benchmarks.recall [--locomo DIR] [--home DIR]`.

Answerable prompts should get a right note, prompts without need should get nothing. Four of the
five conversations of LoCoMo are indexed, in rotation: questions about one of them are answerable;
questions about the fifth, small talk and requests for code are not. The golden set has two-turn
dialogues, with and without their first turn, its questions, and the same prompts without need.
All through `Recall.turn` of the product, beside five notes for each message, and words alone.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import anyio

from benchmarks.quality import golden
from benchmarks.quality.locomo import TUNED_ON
from benchmarks.recall_figures import Figures, Given, by, figures
from benchmarks.recall_prompts import (
    Prompt,
    Rotation,
    behind,
    dialogues,
    golden_questions,
    no_need,
    rotations,
)
from memory_mcp.app import App, open_app
from memory_mcp.core.config import Config
from memory_mcp.core.tokens import tokens
from memory_mcp.recall.block import block
from memory_mcp.search.hit import Hit, SearchRequest

Way = Callable[[App, Prompt], Awaitable[Given]]
FIVE = 5
RECALL, ALWAYS, WORDS = "recall", "always five", "words alone"


@dataclass(slots=True)
class Report:
    """Rows of the tables, printed as they come."""

    rows: list[dict[str, Any]] = field(default_factory=list)

    def add(self, table: str, way: str, part: str, found: Figures) -> None:
        """A row of a table."""
        self.rows.append({"table": table, "way": way, "part": part, **asdict(found)})
        print(
            f"{table:22} {way:12} {part:14} | n={found.answerable:4} right {_share(found.right)}"
            f" gold {_share(found.gold_share)} | n={found.no_need:4} silent {_share(found.silent)}"
            f" | useful {_share(found.useful)} tokens {found.tokens or 0:5.0f}",
            flush=True,
        )

    def parts(self, table: str, way: str, found: Mapping[str, Figures]) -> None:
        """A row for each part."""
        for part, one in found.items():
            self.add(table, way, part, one)


def _share(value: float | None) -> str:
    return "    -" if value is None else f"{100 * value:5.1f}"


async def recalled(app: App, prompt: Prompt) -> Given:
    """What the product gives for a turn of a new session."""
    found = await app.recall.turn(prompt.message, prompt.history)
    return _given(prompt, found.block, found.hits)


async def five(app: App, prompt: Prompt) -> Given:
    """The first five notes that a search for the message finds, in the block of the product."""
    found = await app.searcher.search(SearchRequest(prompt.message, limit=FIVE))
    made = block((), found.hits, 0, FIVE, app.config.recall.max_tokens)
    return _given(prompt, made.text, made.hits)


def _given(prompt: Prompt, text: str, hits: Iterable[Hit]) -> Given:
    shown = {hit.card.reference: hit.passages for hit in hits}
    gold = [p.text for name, own in shown.items() if name in prompt.gold for p in own]
    spent = tokens(text) if text else 0
    return Given(prompt, tuple(shown), spent, min(spent, sum(map(tokens, gold))))


@asynccontextmanager
async def memory(
    home: Path, sources: Mapping[str, Path], settings: Mapping[str, Any]
) -> AsyncIterator[App]:
    """A home with these folders as vaults beside its own, all indexed; its cache stays."""
    config = Config.model_validate(
        {
            "home": str(home),
            "sources": {name: {"path": str(folder)} for name, folder in sources.items()},
            "index": {"watch": False, "sweep_seconds": 0, "rescan_minutes": 0},
            **settings,
        }
    )
    async with open_app(config) as app:
        app.start()
        await app.settled()
        yield app


async def _asked(app: App, prompts: Sequence[Prompt], way: Way) -> list[Given]:
    return [await way(app, prompt) for prompt in prompts]


async def run_locomo(
    folder: Path, home: Path, report: Report, every: int, settings: Mapping[str, Any]
) -> list[tuple[str, Given]]:
    """All rotations, each way; what each prompt got, with the name of its run."""
    rows: list[tuple[str, Given]] = []
    for rotation in rotations(folder, every):
        sources = {name: folder / "md" / name for name in rotation.indexed}
        session = _session(rotation)
        alone = [prompt.alone for prompt in session]
        async with memory(home / "locomo", sources, settings) as app:
            rows += [(RECALL, one) for one in await _asked(app, session, recalled)]
            rows += [(f"{RECALL}, alone", one) for one in await _asked(app, alone, recalled)]
            rows += [(ALWAYS, one) for one in await _asked(app, session, five)]
        words = {**settings, "embedding": {"provider": "none"}}
        async with memory(home / "locomo-words", sources, words) as app:
            rows += [(WORDS, one) for one in await _asked(app, session, recalled)]
        print(f"without {rotation.left_out}: done", flush=True)
    _report_locomo(report, rows)
    return rows


def _session(rotation: Rotation) -> list[Prompt]:
    """All prompts of a rotation; those without need come after one that has its answer here."""
    return [*rotation.asked, *rotation.foreign, *behind(no_need(), rotation.asked)]


def _report_locomo(report: Report, rows: Sequence[tuple[str, Given]]) -> None:
    for way in dict.fromkeys(way for way, _ in rows):
        own = [one for name, one in rows if name == way]
        report.add("LoCoMo", way, "all", figures(own))
        if way.startswith(RECALL):
            report.parts("LoCoMo", way, by(own, lambda prompt: prompt.kind))
            asked = [one for one in own if one.prompt.id.startswith("conv-")]
            report.parts("LoCoMo half", way, by(asked, _half))


def _half(prompt: Prompt) -> str:
    return "tuned on" if prompt.id.startswith(TUNED_ON) else "held out"


async def run_golden(
    home: Path, report: Report, settings: Mapping[str, Any]
) -> list[tuple[str, Given]]:
    """The dialogues and the prompts without need, on the notes of the golden set."""
    golden.write_home(home / "golden")
    golden.write_home(home / "golden-words")
    asked, spared, questions = dialogues(), no_need(), golden_questions()
    alone = [prompt.alone for prompt in asked]
    after = behind(spared, asked)
    rows: list[tuple[str, str, list[Given]]] = []
    vault = {"vault": home / "golden" / golden.SOURCES["vault"]}
    async with memory(home / "golden", vault, settings) as app:
        rows += [
            ("dialogues", RECALL, await _asked(app, asked, recalled)),
            ("without their turns", RECALL, await _asked(app, alone, recalled)),
            ("dialogues", ALWAYS, await _asked(app, asked, five)),
            ("questions", RECALL, await _asked(app, questions, recalled)),
            ("questions", ALWAYS, await _asked(app, questions, five)),
            ("no need", RECALL, await _asked(app, spared, recalled)),
            ("no need, after a turn", RECALL, await _asked(app, after, recalled)),
        ]
    words = {**settings, "embedding": {"provider": "none"}}
    vault = {"vault": home / "golden-words" / golden.SOURCES["vault"]}
    async with memory(home / "golden-words", vault, words) as app:
        rows += [
            ("dialogues", WORDS, await _asked(app, asked, recalled)),
            ("questions", WORDS, await _asked(app, questions, recalled)),
            ("no need", WORDS, await _asked(app, spared, recalled)),
        ]
    for table, way, own in rows:
        report.add(table, way, "all", figures(own))
        if way == RECALL:
            report.parts(table, way, by(own, lambda prompt: f"{prompt.half} half"))
            report.parts(table, way, by(own, lambda prompt: prompt.language))
            report.parts(table, way, by(own, lambda prompt: prompt.kind))
    return [(f"{table}: {way}", one) for table, way, own in rows for one in own]


def _misses(rows: Iterable[tuple[str, Given]]) -> Iterable[str]:
    for way, one in rows:
        wrong = not one.right if one.prompt.gold else not one.silent
        if RECALL in way and wrong:
            got = ", ".join(one.notes) or "nothing"
            yield f"{way}: {one.prompt.id} ({one.prompt.kind}) {one.prompt.message!r} got {got}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recall", description=__doc__)
    parser.add_argument("--locomo", type=Path, help="folder with questions.json and md/")
    parser.add_argument("--every", type=int, default=1, help="only every n-th question of LoCoMo")
    parser.add_argument("--home", type=Path, help="where embeddings are kept for the next run")
    parser.add_argument("--recall", type=json.loads, default={}, help="recall settings, as JSON")
    parser.add_argument("--misses", type=Path, help="write what went wrong to this file")
    parser.add_argument("--write", type=Path, help="write the rows to this file")
    return parser.parse_args()


async def main() -> int:
    """Measure what was asked for."""
    options = _arguments()
    report = Report()
    today = datetime.now().astimezone().date()
    print(f"{platform.platform()}, Python {platform.python_version()}, {today}")
    settings = {"recall": options.recall}
    with tempfile.TemporaryDirectory() as temporary:
        home = (options.home or Path(temporary)).resolve()
        rows = await run_golden(home, report, settings)
        if options.locomo:
            rows += await run_locomo(options.locomo, home, report, options.every, settings)
    if options.misses:
        options.misses.write_text("\n".join(_misses(rows)) + "\n", encoding="utf-8")
    if options.write:
        options.write.write_text(json.dumps(report.rows, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(anyio.run(main))
