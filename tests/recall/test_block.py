"""The text that comes into a turn."""

from __future__ import annotations

from memory_mcp.core.note import Card
from memory_mcp.recall.block import block
from memory_mcp.search.hit import Hit, HitPassage


def hit(*passages: tuple[str, str]) -> Hit:
    card = Card("memory", "roof.md", "0" * 12, 1, "Roof", "")
    shown = tuple(HitPassage(heading, text, 1, 2, 0.9) for heading, text in passages)
    return Hit(card, 0.9, 0.5, 0.5, shown)


def test_a_heading_is_said_once_for_the_passages_that_follow_each_other_below_it() -> None:
    found = hit(("Beams", "Oak."), ("Beams", "Sound."), ("Tiles", "Red."), ("Beams", "Dry."))
    text = block((), [found], 0, 5, 1500).text
    assert "[Beams]\nOak.\n\nSound.\n\n[Tiles]\nRed.\n\n[Beams]\nDry.\n" in text
