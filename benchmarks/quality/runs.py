"""The runs of the quality benchmark: each data set indexed, asked and measured."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from pathlib import Path

from tokenizers import Tokenizer

from benchmarks.quality import golden, locomo, xquad
from benchmarks.quality.metrics import Answer, Taken, area
from benchmarks.quality.table import Table
from benchmarks.quality.ways import LEGS, SHIPPED, VECTORS, WORDS, Way
from benchmarks.quality.world import World, indexed
from memory_mcp.core.config import RecallSettings
from memory_mcp.index import embedder
from memory_mcp.search.gather import Found
from memory_mcp.search.group import Piece
from memory_mcp.search.search import Ranking

DEPTH = 60
"""Passages of a ranking that are looked at: far more than 1,500 tokens."""
FLOOR = RecallSettings().min_score
"""Below it nothing is worth giving unasked."""

Settings = Mapping[str, str]


class Facts:
    """What passages cost and which gold turns they hold."""

    def __init__(self) -> None:
        path = Path(embedder.__file__).parent / "bundled" / "tokenizer.json"
        self._tokens = Tokenizer.from_file(str(path))
        self._tokens.no_truncation()
        self._tokens.no_padding()
        self._sizes: dict[str, int] = {}

    def answer(self, ranking: Ranking, question: locomo.Question) -> Answer:
        """The ranking of one question beside what was right."""
        notes = tuple(dict.fromkeys(piece.note[1] for piece in ranking.pieces))
        passages = tuple(self._taken(piece, question) for piece in ranking.pieces[:DEPTH])
        facts = frozenset(f"{path}:{line}" for path, line in question.gold_turns)
        return Answer(notes, passages, question.gold_notes, facts)

    def _taken(self, piece: Piece, question: locomo.Question) -> Taken:
        passage = piece.passage
        shown = f"{passage.heading}\n{passage.text}"
        if shown not in self._sizes:
            encoded = self._tokens.encode(shown, add_special_tokens=False)
            self._sizes[shown] = len(encoded.ids)
        held = (
            f"{path}:{line}"
            for path, line in question.gold_turns
            if path == piece.note[1] and passage.first <= line <= passage.last
        )
        return Taken(self._sizes[shown], frozenset(held))


async def run_golden(home: Path, table: Table, ways: Sequence[Way], embedding: Settings) -> None:
    """The golden set: all questions, those that an English model can see, by language and kind."""
    questions = golden.load()
    golden.write_home(home, golden.FOLDER)
    async with indexed(home, {"vault": home / golden.SOURCES["vault"]}, embedding) as world:
        looked = [await world.look(question.asked) for question in questions]
        named = {
            way.name: [world.names(world.ranked(found, way)) for found in looked] for way in ways
        }
    seen = [not question.beyond_english for question in questions]
    for way in ways:
        _report_golden(table, "golden", way.name, questions, named[way.name])
        some = list(compress(questions, seen)), list(compress(named[way.name], seen))
        _report_golden(table, "golden, seen in English", way.name, *some)
    shipped = named[SHIPPED.name]
    for part in ("language", "kind"):
        groups = defaultdict(list)
        for question, names in zip(questions, shipped, strict=True):
            groups[getattr(question, part)].append((question, names))
        for name, rows in sorted(groups.items()):
            asked, found = zip(*rows, strict=True)
            _report_golden(table, f"golden {name}", SHIPPED.name, asked, found)
    for leg in (WORDS, VECTORS):
        wrong = len(_misses(questions, named[leg.name]))
        print(f"golden: {leg.name} get {wrong} of {len(questions)} wrong")
    print("golden: beyond the rank allowed:", *_misses(questions, shipped), sep="\n")


def _report_golden(
    table: Table,
    name: str,
    way: str,
    questions: Sequence[golden.Question],
    named: Sequence[Sequence[str]],
) -> None:
    rows = [
        Answer(tuple(names), (), question.gold, question.gold)
        for question, names in zip(questions, named, strict=True)
    ]
    fine = 1 - len(_misses(questions, named)) / len(questions)
    table.report(name, way, rows, {"in rank": fine})


def _misses(questions: Sequence[golden.Question], named: Sequence[Sequence[str]]) -> list[str]:
    found = []
    for question, names in zip(questions, named, strict=True):
        place = golden.place_of(question, names)
        if place is None or place > question.rank:
            first = names[0] if names else "nothing"
            found.append(
                f"  {question.id} ({question.kind}) place {place}, allowed {question.rank}:"
                f" {question.text!r}; first is {first}"
            )
    return found


async def run_locomo(
    data: locomo.Locomo, home: Path, table: Table, ways: Sequence[Way], embedding: Settings
) -> None:
    """Both set-ups, categories 1-4 and 1-5, halves apart, and what foreign questions find."""
    facts = Facts()
    async with indexed(home, {"locomo": data.notes}, embedding) as world:
        for name, inside in (("pool", False), ("conv", True)):
            looked = [
                await world.look(question.text, f"{question.conversation}/" if inside else None)
                for question in data.questions
            ]
            for way in ways if name == "pool" else LEGS:
                _report_locomo(table, name, way, data.questions, looked, world, facts)
            if inside:
                await _foreign(data, looked, world, table)


def _report_locomo(
    table: Table,
    name: str,
    way: Way,
    questions: Sequence[locomo.Question],
    looked: Sequence[Found],
    world: World,
    facts: Facts,
) -> None:
    asked = [
        (question, found)
        for question, found in zip(questions, looked, strict=True)
        if question.category < 5 or way is SHIPPED
    ]
    answers = [
        (question, facts.answer(world.ranked(found, way), question)) for question, found in asked
    ]
    for label, chosen in _tables(name, way):
        some = [answer for question, answer in answers if chosen(question)]
        if some:
            table.report(label, way.name, some)


def _tables(name: str, way: Way) -> list[tuple[str, Callable[[locomo.Question], bool]]]:
    found: list[tuple[str, Callable[[locomo.Question], bool]]] = [
        (f"{name} c14", lambda q: q.category < 5)
    ]
    if way is SHIPPED:
        found += [
            (f"{name} c15", lambda q: True),
            (f"{name} tuned on", lambda q: q.category < 5 and q.conversation in locomo.TUNED_ON),
            (f"{name} held out", lambda q: q.category < 5 and q.conversation in locomo.HELD_OUT),
        ]
    return found


async def _foreign(
    data: locomo.Locomo, looked: Sequence[Found], world: World, table: Table
) -> None:
    """How well the score tells a question's own conversation from another one, drawn at random."""
    draw = random.Random(1)
    own, foreign, right = [], [], []
    for question, found in zip(data.questions, looked, strict=True):
        if question.category == 5:
            continue
        others = [name for name in data.conversations if name != question.conversation]
        if not others:
            continue
        ranking = world.ranked(found, SHIPPED)
        elsewhere = await world.look(question.text, f"{draw.choice(others)}/")
        own.append(_best(ranking))
        foreign.append(_best(world.ranked(elsewhere, SHIPPED)))
        right.append(_gives(ranking, question))
    if own:
        figures = {
            "AUC": 100 * area(own, foreign),
            "foreign silent": 100 * sum(score < FLOOR for score in foreign) / len(foreign),
            "own right": 100 * sum(right) / len(right),
        }
        table.add("no answer", SHIPPED.name, len(own), figures)


def _best(ranking: Ranking) -> float:
    return max((group.confidence for group in ranking.groups), default=0.0)


def _gives(ranking: Ranking, question: locomo.Question) -> bool:
    """Whether a right note is among the first five at the floor."""
    kept = [group for group in ranking.groups if group.confidence >= FLOOR][:5]
    return any(group.note[1] in question.gold_notes for group in kept)


async def run_xquad(
    folder: Path, home: Path, table: Table, ways: Sequence[Way], embedding: Settings
) -> None:
    """Paragraphs of one language, asked in it and in others."""
    asked_in = {"en": ("en", "de"), "de": ("de", "en"), "es": ("es",)}
    for language, others in asked_in.items():
        data = xquad.load(folder, language)
        notes = home / f"xquad-{language}"
        xquad.write_notes(data, notes)
        async with indexed(home / f"home-{language}", {"xquad": notes}, embedding) as world:
            for asked in others:
                name = language if asked == language else f"{asked}→{language}"
                questions = xquad.load(folder, asked).questions
                looked = [await world.look(text) for text, _ in questions]
                for way in ways if name == "de" else LEGS:
                    rankings = [world.ranked(found, way) for found in looked]
                    _report_xquad(table, f"xquad {name}", way, questions, rankings)


def _report_xquad(
    table: Table,
    name: str,
    way: Way,
    questions: Sequence[tuple[str, str]],
    rankings: Sequence[Ranking],
) -> None:
    answers = [
        Answer(
            tuple(dict.fromkeys(piece.note[1] for piece in ranking.pieces)),
            (),
            frozenset({gold}),
            frozenset({gold}),
        )
        for (_, gold), ranking in zip(questions, rankings, strict=True)
    ]
    table.report(name, way.name, answers)
    if way is SHIPPED:
        table.report(f"{name} odd half", way.name, answers[1::2])
