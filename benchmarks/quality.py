"""Search quality on public data: `python benchmarks/quality.py --locomo DIR [--xquad DIR]`.

Notes are indexed through the product's own path with the bundled model, and every question is
searched for in four ways: words alone, vectors alone, both with fixed weights, and the default.
H@k: a gold note is among the first k. R@k: share of the gold notes among them. MRR at 10. T@B:
share of the gold facts in the passages taken in order up to B tokens (as shown: heading and text).
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import sys
import tempfile
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

import anyio
from tokenizers import Tokenizer

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.retrieval import locomo, xquad
from benchmarks.retrieval.metrics import Answer, Taken, area, error, measure
from benchmarks.retrieval.world import SET_UPS, SetUp, indexed, searcher
from memory_mcp.index import embedder
from memory_mcp.search.group import Piece
from memory_mcp.search.hit import SearchRequest
from memory_mcp.search.search import Ranking, Searcher

DEPTH = 60
"""Passages of a ranking that are looked at: far more than 1,500 tokens."""

Row = dict[str, float | int | str]


class Measure:
    """Runs questions and keeps the rows of the table."""

    def __init__(self) -> None:
        path = Path(embedder.__file__).parent / "bundled" / "tokenizer.json"
        self._tokens = Tokenizer.from_file(str(path))
        self._tokens.no_truncation()
        self._tokens.no_padding()
        self._sizes: dict[str, int] = {}
        self.rows: list[Row] = []

    def taken(self, piece: Piece, question: locomo.Question) -> Taken:
        """What a passage costs and which gold turns its lines hold."""
        passage = piece.passage
        shown = f"{passage.heading}\n{passage.text}"
        if shown not in self._sizes:
            encoded = self._tokens.encode(shown, add_special_tokens=False)
            self._sizes[shown] = len(encoded.ids)
        held = (
            turn
            for turn in question.gold_turns
            if turn[0] == piece.note[1] and passage.first <= turn[1] <= passage.last
        )
        return Taken(self._sizes[shown], frozenset(f"{path}:{line}" for path, line in held))

    def answer(self, ranking: Ranking, question: locomo.Question) -> Answer:
        """The ranking of one question beside what was right."""
        notes = tuple(dict.fromkeys(piece.note[1] for piece in ranking.pieces))
        passages = tuple(self.taken(piece, question) for piece in ranking.pieces[:DEPTH])
        facts = frozenset(f"{path}:{line}" for path, line in question.gold_turns)
        return Answer(notes, passages, question.gold_notes, facts)

    def report(self, table: str, name: str, answers: Sequence[Answer]) -> None:
        """Add a row and print it."""
        found = measure(answers)
        row: Row = {"table": table, "ranking": name, "n": len(answers)}
        row |= {key: round(100 * value, 1) for key, value in found.items()}
        if not any(answer.passages for answer in answers):
            row = {key: value for key, value in row.items() if not key.startswith("T@")}
        self.rows.append(row)
        print(line(row), flush=True)


def line(row: Row) -> str:
    """A row of the table as text."""
    numbers = " ".join(
        f"{key} {value:5}" for key, value in row.items() if isinstance(value, float)
    )
    return f"{row['table']:22} {row['ranking']:18} n={row['n']:<5} {numbers}"


async def run_locomo(data: locomo.Locomo, home: Path, measured: Measure) -> None:
    """Both set-ups, categories 1-4 and 1-5, and the tuned and the held-out conversations apart."""
    async with indexed(home, "locomo", data.notes) as index:
        for set_up in SET_UPS:
            asking = searcher(index, set_up)
            for name, prefixed in (("pool", False), ("conv", True)):
                found = [
                    measured.answer(await ask(asking, question, prefixed), question)
                    for question in data.questions
                ]
                for label, chosen in _tables(name):
                    some = [a for q, a in zip(data.questions, found, strict=True) if chosen(q)]
                    if some:
                        measured.report(label, set_up.name, some)
        await _abstention(data, searcher(index, SET_UPS[-1]), measured)


def _tables(name: str) -> list[tuple[str, Callable[[locomo.Question], bool]]]:
    return [
        (f"{name} c14", lambda q: q.category < 5),
        (f"{name} c15", lambda q: True),
        (f"{name} c14 tuned on", lambda q: q.category < 5 and q.conversation in locomo.TUNED_ON),
        (f"{name} c14 held out", lambda q: q.category < 5 and q.conversation in locomo.HELD_OUT),
    ]


async def ask(
    asking: Searcher, question: locomo.Question, prefixed: bool, foreign: str | None = None
) -> Ranking:
    """The whole ranking of a question, over all notes or those of a conversation."""
    folder = f"{foreign or question.conversation}/" if prefixed else None
    request = SearchRequest(question.text, sources=("locomo",), path_prefix=folder)
    return await asking.ranking(request)


async def _abstention(data: locomo.Locomo, asking: Searcher, measured: Measure) -> None:
    """How well the score tells a question's own conversation from another one, drawn at random."""
    names = data.conversations
    draw = random.Random(1)
    own, foreign = [], []
    for question in data.questions:
        if question.category == 5:
            continue
        other = draw.choice([name for name in names if name != question.conversation])
        own.append(_best(await ask(asking, question, True)))
        foreign.append(_best(await ask(asking, question, True, other)))
    value = 100 * area(own, foreign)
    measured.rows.append({"table": "abstention", "ranking": "score", "n": len(own), "AUC": value})
    print(f"abstention: area under the curve of the score {value:.1f}, n={len(own)}")


def _best(ranking: Ranking) -> float:
    return max((group.confidence for group in ranking.groups), default=0.0)


async def run_xquad(folder: Path, home: Path, measured: Measure) -> None:
    """Paragraphs of one language, asked in it and in the other one."""
    for language, others in (("en", ("en", "de")), ("de", ("de", "en"))):
        data = xquad.load(folder, language)
        notes = home / f"xquad-{language}"
        xquad.write_notes(data, notes)
        async with indexed(home / f"home-{language}", "xquad", notes) as index:
            for set_up in SET_UPS:
                for asked in others:
                    questions = xquad.load(folder, asked).questions
                    name = language if asked == language else f"{asked}→{language}"
                    await _xquad(searcher(index, set_up), set_up, name, questions, measured)


async def _xquad(
    asking: Searcher,
    set_up: SetUp,
    name: str,
    questions: Sequence[tuple[str, str]],
    measured: Measure,
) -> None:
    answers = []
    for text, gold in questions:
        ranking = await asking.ranking(SearchRequest(text, sources=("xquad",)))
        notes = tuple(dict.fromkeys(piece.note[1] for piece in ranking.pieces))
        answers.append(Answer(notes, (), frozenset({gold}), frozenset({gold})))
    measured.report(f"xquad {name}", set_up.name, answers)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--locomo", type=Path, help="folder with notes.json, questions.json, md/")
    parser.add_argument("--xquad", type=Path, help="folder with en.json, de.json")
    parser.add_argument("--home", type=Path, help="where embeddings are kept for the next run")
    parser.add_argument("--json", type=Path, help="write the rows to this file")
    return parser.parse_args()


async def main() -> None:
    """Measure what was asked for, print the table, write the rows."""
    options = _arguments()
    measured = Measure()
    today = datetime.now().astimezone().date()
    print(
        f"{' '.join(['python', *sys.argv])}\n{platform.platform()}, {platform.machine()}, {today}"
    )
    with tempfile.TemporaryDirectory() as temporary:
        home = (options.home or Path(temporary)).resolve()
        if options.locomo:
            await run_locomo(locomo.load(options.locomo), home / "home-locomo", measured)
        if options.xquad:
            await run_xquad(options.xquad, home, measured)
    print(f"standard error near 93 % and n=786: {100 * error(0.93, 786):.1f} points")
    if options.json:
        options.json.write_text(json.dumps(measured.rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    anyio.run(main)
