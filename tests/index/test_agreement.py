"""Whatever happens to the files behind its back, the index agrees with a fresh one."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from memory_mcp.index.index import Index
from tests.index.world import SECONDS, World, until_settled

WORDS = ["oak", "iron", "stone", "gate", "moss", "rain", "lamp", "kettle", "shed", "lemon"]
NAMES = ("Alpha", "alpha", "beta", "Straße", "übung", "d-e", "f g")
FOLDERS = ("", "n/", "n/deep/", "Mm/")
numbers = st.integers(0, 50)
paths = st.builds("{}{}".format, st.sampled_from(FOLDERS), st.sampled_from(NAMES))
sources = st.sampled_from(("vault", "memory"))
sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)
bodies = st.lists(sentences, min_size=0, max_size=4).map("\n\n".join)
headers = st.sampled_from(
    (
        "",
        "---\ntags: [one]\n---\n",
        "---\ntitle: The oak\naliases: [Beta]\n---\n",
        "---\nsupersedes: vault/alpha\n---\n",
        "---\ntitle: [broken\n---\n",
    )
)
texts = st.builds("{}# Note\n\n{}\n\n[[alpha]] {}\n".format, headers, bodies, bodies)


class Agreement(RuleBasedStateMachine):
    """Random changes on disk; after each sweep both indexes must say the same."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="agreement-"))
        self.world = World(self.folder)
        self.world.write("vault/anchor", "An anchor, so that the vault is never empty.")
        self.portal_context = start_blocking_portal()
        self.portal: BlockingPortal = self.portal_context.__enter__()
        self.running = self.portal.wrap_async_context_manager(self.world.running())
        self.index: Index = self.running.__enter__()

    def teardown(self) -> None:
        try:
            self.sweep()
        finally:
            self.running.__exit__(None, None, None)
            self.portal_context.__exit__(None, None, None)
            shutil.rmtree(self.folder)

    def _files(self) -> list[tuple[str, Path]]:
        """(source, file) of every note but the anchor."""
        names = ("vault", "memory")
        found = [(s, f) for s in names for f in sorted(self._root(s).rglob("*.md"))]
        return [(source, file) for source, file in found if file.stem != "anchor"]

    def _pick(self, number: int) -> tuple[str, Path] | None:
        files = self._files()
        return files[number % len(files)] if files else None

    def _root(self, source: str) -> Path:
        return self.world.source(source).root

    @rule(source=sources, path=paths, text=texts)
    def write(self, source: str, path: str, text: str) -> None:
        self.world.write(f"{source}/{path}", text)

    @rule(number=numbers, text=sentences)
    def append(self, number: int, text: str) -> None:
        if picked := self._pick(number):
            with picked[1].open("a", encoding="utf-8") as stream:
                stream.write(f"\n\n{text}\n")

    @rule(number=numbers)
    def touch(self, number: int) -> None:
        if picked := self._pick(number):
            os.utime(picked[1], (number, 1_700_000_000 + number))

    @rule(number=numbers)
    def delete(self, number: int) -> None:
        if picked := self._pick(number):
            picked[1].unlink()

    @rule(number=numbers, new=paths)
    def rename(self, number: int, new: str) -> None:
        if picked := self._pick(number):
            target = self._root(picked[0]) / f"{new}.md"
            target.parent.mkdir(parents=True, exist_ok=True)
            picked[1].replace(target)

    @rule(source=sources, old=st.sampled_from(FOLDERS[1:]), new=st.sampled_from(("p/", "n/deep/")))
    def move_folder(self, source: str, old: str, new: str) -> None:
        folder, target = self._root(source) / old, self._root(source) / new
        if folder.is_dir() and not target.exists() and not target.is_relative_to(folder):
            target.parent.mkdir(parents=True, exist_ok=True)
            folder.rename(target)

    @rule(path=paths)
    def refresh(self, path: str) -> None:
        self.portal.call(self.index.refresh, self.world.source("memory"), path)

    @rule()
    def sweep(self) -> None:
        self.portal.call(until_settled, self.index)
        compare(self.portal.call(picture, self.index), self.portal.call(fresh, self.world))

    @invariant()
    def every_point_leads_to_its_passage(self) -> None:
        for entry in self.index.entries():
            for place, point in enumerate(entry.points):
                assert self.index.at(point) == (entry, place)


async def picture(index: Index) -> dict[str, Any]:
    """Everything an index knows, in a form that can be compared."""
    ids = [source.id for source in index.sources]
    view = index.words(ids)
    entries = {entry.card.reference: entry for entry in index.entries()}
    points = {p: (r, n) for r, e in entries.items() for n, p in enumerate(e.points)}
    words = [_Word((word,)) for word in WORDS]
    probe = await index.query_vector("oak iron stone")
    assert probe is not None
    return {
        "entries": {r: (e.card, e.passages, e.stamp, e.digest) for r, e in entries.items()},
        "embedded": all(entry.embedded for entry in entries.values()),
        "size": view.size,
        "df": [view.df(word) for word in words],
        "idf": [view.idf(word) for word in words],
        "terms": {points[p]: dict(view.frequencies(p)) for p in points},
        "scores": {points[p]: score for p, score in view.passages(words, 10_000)},
        "notes": dict(view.notes(words, 10_000)),
        "vectors": {points[p]: s for p, s in (await index.cosine(probe, list(points))).items()},
        "nearest": sorted(
            (round(score, 5), *points[p]) for p, score in await index.nearest(ids, probe, 10_000)
        ),
        "backlinks": {r: index.names.backlinks(*entries[r].key) for r in entries},
        "superseded": {r: index.names.superseded_by(*entries[r].key) for r in entries},
        "count": index.state().vectors,
    }


class _Word:
    def __init__(self, forms: tuple[str, ...]) -> None:
        self.forms = forms


async def fresh(world: World) -> dict[str, Any]:
    """The picture of a new index of the same files, in a home of its own."""
    with tempfile.TemporaryDirectory(prefix="fresh-") as folder:
        other = World(Path(folder))
        other.home = world.home
        config = world.config.model_copy(update={"home": folder})
        index = Index(config, world.sources, other.load)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(index.run)
            assert await index.settled(SECONDS), index.state()
            result = await picture(index)
            tasks.cancel_scope.cancel()
        return result


def compare(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Equal; scores to the last bits of a sum."""
    assert one["embedded"] and other["embedded"]
    for name in one:
        if name in ("scores", "notes", "vectors"):
            assert one[name] == pytest.approx(other[name], rel=1e-9, abs=1e-6), name
        elif name in ("idf",):
            assert np.allclose(one[name], other[name])
        elif name == "entries":
            assert one[name].keys() == other[name].keys()
            for reference, entry in one[name].items():
                assert entry == other[name][reference], reference
        else:
            assert one[name] == other[name], name


Agreement.TestCase.settings = settings(
    max_examples=8,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestAgreement = pytest.mark.timeout(120)(Agreement.TestCase)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_thousand_changes_end_in_agreement(seed: int) -> None:
    chance = random.Random(seed)
    machine = Agreement()
    try:
        for step in range(1000):
            _one_change(machine, chance)
            if step % 50 == 49:
                machine.sweep()
                machine.every_point_leads_to_its_passage()
    finally:
        machine.teardown()


def _one_change(machine: Agreement, chance: random.Random) -> None:
    def path() -> str:
        return chance.choice(FOLDERS) + chance.choice(NAMES)

    def text() -> str:
        sentence = " ".join(chance.choices(WORDS, k=chance.randint(1, 12)))
        return f"# Note\n\n{sentence}\n\n[[alpha]]\n"

    source = chance.choice(("vault", "memory"))
    moves: list[Callable[[], None]] = [
        lambda: machine.write(source, path(), text()),
        lambda: machine.write(source, path(), text()),
        lambda: machine.append(chance.randrange(50), text()),
        lambda: machine.touch(chance.randrange(50)),
        lambda: machine.delete(chance.randrange(50)),
        lambda: machine.rename(chance.randrange(50), path()),
        lambda: machine.move_folder(source, chance.choice(FOLDERS[1:]), "p/"),
        lambda: machine.refresh(path()),
    ]
    chance.choice(moves)()
