"""Filing without a model: what is kept of a text, and the note made of it."""

from __future__ import annotations

import time

import pytest

from memory_mcp.core.frontmatter import split_and_load
from memory_mcp.curate.save.filing import Text, draft, title_of, worth_saving


@pytest.mark.parametrize(
    ("content", "left"),
    [
        ("Plain text.", "Plain text."),
        ("  indented\n\n\n\ntext \n", "  indented\n\n\n\ntext"),
        ("A. <private>PIN 88 <private>in</private> ner</private> B.", "A. B."),
        ("A. <private>never closed", "A."),
        ("<private>all</private>", ""),
        ("<system-reminder>todo</system-reminder>", ""),
        ("A <system-reminder>x\ny</system-reminder> B", "A  B"),
        (
            "Sum. <MEMORY[memory/dog] revision=a1 provenance=own>\nOld.\n</MEMORY> New.",
            "Sum.  New.",
        ),
        ("Open <MEMORY[memory/dog] revision=a1> text", "Open  text"),
        ("A memory of <b>bold</b> & MEMORY.", "A memory of <b>bold</b> & MEMORY."),
    ],
)
def test_injected_and_private_parts_are_left_out(content: str, left: str) -> None:
    assert worth_saving(content) == left


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("# C++\n\nFor the simulator.", "C++"),
        ("The pump is loud. It was loud before.", "The pump is loud"),
        (
            "\n\n- **Pump** v1.2 is at pump.example.org today\n- b",
            "Pump v1.2 is at pump.example.org today",
        ),
        ("猫が好き。犬も好き。", "猫が好き"),
        ("---\ntitle: Given\n---\nText.", "Given"),
        ("***\n\nText", "Text"),
        ("🔥", "🔥"),
        ("Is it loud? Yes.", "Is it loud?"),
    ],
)
def test_the_title_is_the_first_heading_or_sentence(content: str, title: str) -> None:
    assert title_of(content) == title


def test_a_long_title_is_cut_between_words() -> None:
    title = title_of("word " * 40)
    assert len(title) <= 80
    assert title.endswith("word…")
    assert len(title_of("x" * 500)) <= 81


def test_a_draft_holds_the_text_verbatim_under_a_header_of_its_own() -> None:
    content = "---\npinned: true\n---\n# Big\n\n```\nopen"
    made = draft(
        Text(content, "From a *talk*", "https://example.org/a"),
        "default",
        ["2026-03-14", "decision"],
        ["memory/garden"],
    )
    parts, loaded = split_and_load(made.content)
    assert parts.body == "\n" + content
    assert loaded.values == {
        "title": "Big",
        "description": "From a talk",
        "tags": ["2026-03-14", "decision"],
        "links": [{"to": "memory/garden", "relation": "mentions"}],
        "source": {"url": "https://example.org/a", "kind": "web", "by": "default"},
    }
    assert made.slug == "big"


def test_a_draft_without_context_says_who_wrote_it() -> None:
    _, loaded = split_and_load(draft(Text("Text."), "me").content)
    assert loaded.values == {"title": "Text", "source": {"by": "me"}}


def test_a_secret_reaches_neither_the_name_nor_the_title_nor_the_description() -> None:
    secret = "sk-live-9f8e7d6c5b4a39281706"
    made = draft(Text(f"The API key is {secret} for the printer", f"key {secret} found"), "a")
    assert secret not in made.title
    assert "9f8e7d6c" not in made.slug
    header, body = made.content.split("\n---\n")
    assert secret not in header
    assert secret in body


@pytest.mark.parametrize(
    "part", ["<MEMORY[a]>", "<MEMORY[", "<system-reminder>", "<system-reminder "]
)
def test_frames_that_are_not_closed_take_a_moment(part: str) -> None:
    begin = time.process_time()
    worth_saving("x" + part * (400_000 // len(part)))
    assert time.process_time() - begin < 8


def test_blanks_around_a_private_part_take_a_moment() -> None:
    begin = time.process_time()
    assert worth_saving("a <private>b</private> c" + " " * 200_000 + "d").startswith("a c")
    assert time.process_time() - begin < 2
