"""Whether a quote stands in what was said."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.curate.rem.facts import quoted
from memory_mcp.curate.transcripts.turns import Turn


@given(st.text(min_size=1, max_size=200), st.data())
def test_a_piece_of_what_was_said_is_found_however_it_is_set(
    text: str, data: st.DataObject
) -> None:
    turn = Turn("user", f"the beginning of it {text} and the end of it", None, 0, 1)
    start = data.draw(st.integers(0, 4))
    quote = turn.text[start:]
    assert quoted(quote, [turn]) == turn
    assert quoted(f"“{quote.upper()}”", [turn]) in (turn, None)
    assert quoted(f"{quote} and more than that", [turn]) is None


def test_a_gap_in_a_quote_is_allowed_in_one_turn_only() -> None:
    one = Turn("user", "We meet on Monday in the big hall at nine.", None, 0, 1)
    two = Turn("user", "Bring the blue folder.", None, 1, 2)
    assert quoted("We meet on Monday … at nine", [one, two]) == one
    assert quoted("at nine … We meet on Monday", [one, two]) is None
    assert quoted("We meet on Monday … the blue folder", [one, two]) is None
    assert quoted("Monday", [one, two]) is None
