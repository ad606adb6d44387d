"""Literal texts that bring a note."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.note import Card
from memory_mcp.recall.triggers import fired


def card(*triggers: str, path: str = "deploy-ritual", name: str | None = None) -> Card:
    return Card("memory", path, "0" * 12, 1, "Title", "", name=name, triggers=triggers)


@pytest.mark.parametrize(
    ("trigger", "message"),
    [
        ("deploy", "We are Deploying today"),
        ("release checklist", "open the RELEASE CHECKLIST"),
        ("発売", "明日の発売について"),
        ("Straße", "in der STRASSE"),
        ("ci", "the CI is red"),
        ("Кот", "где кот?"),
    ],
)
def test_a_trigger_stands_anywhere_in_any_case_and_script(trigger: str, message: str) -> None:
    assert fired(card(trigger), message) == trigger
    assert fired(card("other", trigger), message) == trigger


def test_a_trigger_of_few_letters_is_a_word_of_its_own() -> None:
    assert fired(card("ci"), "I decide") is None


def test_case_counts_where_the_settings_say_so() -> None:
    assert fired(card("Deploy"), "deploy it", case_sensitive=True) is None
    assert fired(card("Deploy"), "Deploy it", case_sensitive=True) == "Deploy"


def test_without_triggers_the_two_names_bring_a_note_that_has_a_name() -> None:
    assert fired(card(name="deploy-ritual"), "run the deploy-ritual now") == "deploy-ritual"
    assert fired(card(name="Release steps"), "what are the release steps?") == "Release steps"
    assert fired(card(name="x", path="set-up"), "set-ups") is None
    assert fired(card(name="list", path="list"), "a list of things") is None
    assert fired(card(), "run the deploy-ritual now") is None
    assert fired(card("other", name="deploy-ritual"), "the deploy-ritual") is None


@given(st.text(), st.text())
def test_matching_never_fails(trigger: str, message: str) -> None:
    found = fired(card(trigger, name=trigger), message)
    assert found in (None, trigger, "deploy-ritual")
