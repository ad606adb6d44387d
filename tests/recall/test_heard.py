"""What was said, without what clients and memory put between."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.framed import NOTICE
from memory_mcp.recall.heard import heard


@pytest.mark.parametrize(
    "injected",
    [
        "<system-reminder>winter tyres</system-reminder>",
        "<memory-context>\nx\n<MEMORY[a/b] revision=1>\nwinter\n</MEMORY>\n</memory-context>",
        "<MEMORY[a/b] revision=1>\nwinter\n</MEMORY>",
        "<environment_context>\n<cwd>/winter</cwd>\n</environment_context>",
        "<local-command-stdout>winter</local-command-stdout>",
        "<SYSTEM-REMINDER>a <system-reminder>b</system-reminder> winter</SYSTEM-REMINDER>",
        NOTICE,
    ],
)
def test_what_was_injected_is_not_heard(injected: str) -> None:
    assert heard(f"{injected}\nHow hot for green tea?") == "How hot for green tea?"
    text = heard(f"before {injected} after")
    assert "winter" not in text
    assert text.startswith("before")
    assert text.endswith("after")


def test_a_part_without_an_end_at_the_start_of_a_line_hides_the_rest() -> None:
    assert heard("question\n<system-reminder>cut off here") == "question"


def test_a_tag_that_somebody_writes_about_stays() -> None:
    text = "what does <system-reminder> mean in a transcript?"
    assert heard(text) == text
    assert heard("a </MEMORY> alone, and 1 < 2") == "a </MEMORY> alone, and 1 < 2"


@given(st.text())
def test_plain_text_stays_as_it_is(text: str) -> None:
    plain = text.replace("<", "").strip()
    assert heard(plain) == plain.replace(NOTICE, "").strip()


@given(st.text(alphabet="<>/memory-context[] \n"), st.text(alphabet="<>/MEMORY[ab] \n"))
def test_hearing_never_fails_and_never_adds(before: str, after: str) -> None:
    text = f"{before}<memory-context>{after}"
    assert len(heard(text)) <= len(text) + 2 * text.count("<")
