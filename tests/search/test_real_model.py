"""Searches with the bundled model."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.search.world import bundled, searching

pytestmark = pytest.mark.anyio

NOTES = {
    "memory/goat": "The goat is called Flora and eats everything in the garden.\n",
    "memory/well": "The well is nine metres deep.\n",
    "memory/car": "Our vehicle must be inspected by the authorities every second spring.\n",
    "memory/code": "Ticket QX-7719 is about the flaky login test.\n",
}


async def test_meaning_finds_what_shares_no_word(tmp_path: Path) -> None:
    async with searching(tmp_path, NOTES, bundled) as home:
        hits = await home.hits("when is the automobile check due?")
        assert hits[0].card.path == "car"
        assert hits[0].vector_score is not None and hits[0].vector_score > 0.3


async def test_nonsense_scores_at_most_half_of_a_real_match(tmp_path: Path) -> None:
    async with searching(tmp_path, NOTES, bundled) as home:
        real = await home.hits("Flora")
        for nonsense in ("blorf wuggle zanthic", "qqqq zzzz", "fnord 93x81"):
            worst = max((hit.score for hit in await home.hits(nonsense)), default=0.0)
            assert worst <= real[0].score / 2


async def test_an_exact_identifier_scores_high_where_the_model_sees_nothing(
    tmp_path: Path,
) -> None:
    async with searching(tmp_path, NOTES, bundled) as home:
        hits = await home.hits("QX-7719")
        assert hits[0].card.path == "code"
        assert hits[0].score >= 0.7
        assert all(hit.score < 0.4 for hit in hits[1:])
