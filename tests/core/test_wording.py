"""The headings we write: the same ones in each language."""

from __future__ import annotations

from dataclasses import fields

import pytest

from memory_mcp.core.wording import ENGLISH, FOLDERS, GERMAN, Wording, wording


@pytest.mark.parametrize("code", ["de", "DE", "de-AT", " de "])
def test_german_is_chosen_by_its_code(code: str) -> None:
    assert wording(code) is GERMAN


@pytest.mark.parametrize("code", ["en", "en-GB", "fr", "", "deutsch"])
def test_everything_else_is_english(code: str) -> None:
    assert wording(code) is ENGLISH


@pytest.mark.parametrize("words", [ENGLISH, GERMAN])
def test_every_heading_is_there_and_no_two_are_alike(words: Wording) -> None:
    headings = [getattr(words, item.name) for item in fields(words) if item.name != "shelves"]
    assert all(text and not text.startswith("#") for text in headings)
    assert len(set(headings)) == len(headings)
    assert tuple(words.shelves) == FOLDERS
