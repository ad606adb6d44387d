"""Literal texts that bring a note."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.note import Card
from memory_mcp.recall.triggers import firing


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
    assert firing(message)(card(trigger)) == trigger
    assert firing(message)(card("other", trigger)) == trigger


def test_a_trigger_of_few_letters_is_a_word_of_its_own() -> None:
    assert firing("I decide")(card("ci")) is None


def test_case_counts_where_the_settings_say_so() -> None:
    assert firing("deploy it", case_sensitive=True)(card("Deploy")) is None
    assert firing("Deploy it", case_sensitive=True)(card("Deploy")) == "Deploy"


def test_without_triggers_the_two_names_bring_a_note_that_has_a_name() -> None:
    assert firing("run the deploy-ritual now")(card(name="deploy-ritual")) == "deploy-ritual"
    assert firing("what are the release steps?")(card(name="Release steps")) == "Release steps"
    assert firing("set-ups")(card(name="x", path="set-up")) is None
    assert firing("a list of things")(card(name="list", path="list")) is None
    assert firing("run the deploy-ritual now")(card()) is None
    assert firing("the deploy-ritual")(card("other", name="deploy-ritual")) is None


@given(st.text(), st.text())
def test_matching_never_fails(trigger: str, message: str) -> None:
    found = firing(message)(card(trigger, name=trigger))
    assert found in (None, trigger, "deploy-ritual")
