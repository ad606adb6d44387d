from __future__ import annotations

import inspect
import math
import unicodedata
from importlib.resources import files
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from memory_mcp.core import chunk as chunk_module
from memory_mcp.core.chunk import Facts, passages, tokens
from memory_mcp.core.config import ChunkSettings
from memory_mcp.core.markdown import outline
from memory_mcp.core.note import Passage

ENGLISH = """
The heating engineer came on Tuesday and replaced the pump in the cellar. He said that the old
one had been running without oil for months, which explains the noise we heard in winter. The
new pump has a guarantee of five years, but only if somebody checks the pressure every spring.
The receipt is in the blue folder next to the router, together with the manual and the key for
the valve. If the pressure falls below one bar, open the tap slowly until the needle is back
in the green area.
"""
GERMAN = """
Der Heizungsmonteur war am Dienstag da und hat die Pumpe im Keller ausgetauscht. Er meinte,
die alte sei seit Monaten ohne Öl gelaufen, was die Geräusche im Winter erklärt. Auf die neue
Pumpe gibt es fünf Jahre Garantie, aber nur, wenn jedes Frühjahr jemand den Druck überprüft.
Die Rechnung liegt im blauen Ordner neben dem Router, zusammen mit der Anleitung und dem
Schlüssel für das Ventil. Fällt der Druck unter ein Bar, muss der Hahn langsam geöffnet
werden, bis der Zeiger wieder im grünen Bereich steht.
"""


def cut(
    body: str, target: int = 200, overlap: int = 1, title: str = "Note"
) -> tuple[Passage, ...]:
    return passages(title, outline(body), 1, ChunkSettings(target_tokens=target, overlap=overlap))


def sentence(number: int) -> str:
    return f"Sentence number {number} is about the old stone house by the lake."


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    data = files("memory_mcp.index").joinpath("bundled/tokenizer.json").read_text("utf-8")
    loaded = Tokenizer.from_str(data)
    loaded.no_truncation()
    loaded.no_padding()
    return loaded


# Counting


@pytest.mark.parametrize(
    "text",
    [ENGLISH, GERMAN, inspect.getsource(chunk_module), ENGLISH + GERMAN],
    ids=["english", "german", "code", "mixed"],
)
def test_the_estimate_is_within_fifteen_percent_of_the_tokenizer(
    tokenizer: Tokenizer, text: str
) -> None:
    real = len(tokenizer.encode(text, add_special_tokens=False).ids)
    assert tokens(text) == pytest.approx(real, rel=0.15)


@pytest.mark.parametrize(
    "text", ["鍵は庭の石の下にあります。", "钥匙在花园的石头下面。", "Ключ под камнем."]
)
def test_a_character_of_another_script_is_about_one_token(tokenizer: Tokenizer, text: str) -> None:
    real = len(tokenizer.encode(text, add_special_tokens=False).ids)
    assert tokens(text) == pytest.approx(real, rel=0.15)
    assert tokens(text) == pytest.approx(len(text), rel=0.25)


def test_a_blank_text_has_no_tokens() -> None:
    assert (tokens(""), tokens(" \n"), tokens(".")) == (0, 0, 1)


# Cutting


def test_a_passage_is_cut_at_each_heading_and_carries_its_trail() -> None:
    body = "before\n\n# One\n\na\n\n## Two\n\nb\n\n### Three\n\nc\n\n# Four\n\nd\n"
    assert [(p.heading, p.text, p.first) for p in cut(body)] == [
        ("Note", "before", 1),
        ("One", "a", 5),
        ("One > Two", "b", 9),
        ("One > Two > Three", "c", 13),
        ("Four", "d", 17),
    ]


def test_skipped_levels_and_a_second_chapter_keep_their_own_trail() -> None:
    body = "# A\n\n#### Deep\n\nmoss\n\n# B\n\n### Sub\n\n###### Six\n\nlichen\n"
    assert [(p.heading, p.text) for p in cut(body)] == [
        ("A > Deep", "#### Deep\n\nmoss"),
        ("B > Sub > Six", "###### Six\n\nlichen"),
    ]


def test_a_passage_over_several_deep_headings_has_the_trail_they_share() -> None:
    (passage,) = cut("## A\n\n#### B\n\nx\n\n#### C\n\ny\n")
    assert passage.heading == "A"
    assert passage.text == "#### B\n\nx\n\n#### C\n\ny"


def test_long_sections_are_cut_between_sentences_with_one_of_overlap() -> None:
    body = "# H\n\n" + " ".join(sentence(n) for n in range(60))
    found = cut(body, target=160)
    assert len(found) > 5
    for before, after in pairwise(found):
        last = before.text.rsplit("Sentence", 1)[1]
        assert after.text.startswith("Sentence" + last)
    assert all(p.text.startswith("Sentence") and p.text.endswith("lake.") for p in found)


def test_without_overlap_no_sentence_stands_twice() -> None:
    body = " ".join(sentence(n) for n in range(60))
    found = cut(body, target=100, overlap=0)
    assert " ".join(p.text for p in found) == body


def test_paragraphs_and_items_are_kept_whole_where_they_fit() -> None:
    body = "\n\n".join(f"{sentence(n)} {sentence(n + 100)}" for n in range(20))
    for passage in cut(body, target=120, overlap=0):
        assert all(part.count("Sentence") == 2 for part in passage.text.split("\n\n"))
    items = "\n".join(f"- {sentence(n)}\n  and more of it" for n in range(30))
    for passage in cut(items, target=120):
        assert passage.text.startswith("- ")
        assert passage.text.endswith("more of it")


def test_lines_are_those_of_the_file() -> None:
    body = "\n".join(f"- {sentence(n)}" for n in range(40))
    for passage in passages("T", outline(body), 8, ChunkSettings(target_tokens=100)):
        lines = body.split("\n")[passage.first - 8 : passage.last - 7]
        assert passage.text == "\n".join(lines)


def test_each_piece_of_a_long_code_block_is_a_code_block() -> None:
    code = "\n".join(f"# step {n}\nvalue_{n} = {n}" for n in range(200))
    found = cut(f"# Script\n\nIntro.\n\n```python\n{code}\n```\n\n## After\n\nend\n")
    assert found[-1].heading == "Script > After"
    pieces = [p for p in found if "value_" in p.text]
    assert len(pieces) > 3
    for piece in pieces:
        assert {heading.text for heading in outline(piece.text).headings} == set()
        assert piece.text.count("```") % 2 == 0
        assert piece.text.endswith("\n```")
    shown = "\n".join(piece.text for piece in pieces)
    assert all(f"value_{n} = {n}" in shown for n in range(200))


def test_a_code_block_that_fits_is_not_cut() -> None:
    code = "```\n" + "\n".join(f"call({n})" for n in range(15)) + "\n```"
    body = f"{ENGLISH.strip()}\n\n{code}\n\n{ENGLISH.strip()}\n"
    assert any(code in passage.text for passage in cut(body, target=150))


def test_each_piece_of_a_long_table_has_the_head() -> None:
    rows = "\n".join(f"| item {n} | the place of item {n} |" for n in range(80))
    found = cut(f"| what | where |\n|---|---|\n{rows}\n")
    assert len(found) > 2
    assert all(p.text.startswith("| what | where |\n|---|---|\n| item") for p in found)
    assert found[-1].last == 82


@pytest.mark.parametrize(
    "line",
    [
        "QUJD+/" * 2000,
        "x" * 9000,
        "鍵は庭の石の下にあります" * 300,
        "e\u0301" * 3000,
        "a,b;" * 3000,
    ],
    ids=["base64", "letters", "japanese", "combining", "minified"],
)
def test_a_line_without_blanks_is_cut_between_graphemes(line: str) -> None:
    found = cut(line, overlap=0)
    assert "".join(passage.text for passage in found) == line
    assert all(passage.first == passage.last == 1 for passage in found)
    assert not any(unicodedata.combining(passage.text[0]) for passage in found)
    assert max(len(passage.text) for passage in found) <= 900


# What belongs to a passage


def test_comments_are_not_indexed() -> None:
    found = cut(
        "# A\n\nseen <!-- hidden --> text %%hidden%%\n\n<!--\nhidden\n-->\n\n%%\nhidden\n%%\n"
    )
    assert len(found) == 1
    assert "hidden" not in found[0].embedded
    assert found[0].text.split() == ["seen", "text"]


def test_the_context_has_title_trail_date_and_the_opening_paragraph() -> None:
    body = "# Trip\n\nWe went north.\n\n## Food\n\nFish.\n"
    found = passages(
        "Lofoten", outline(body), 1, ChunkSettings(), created="2026-05-18T10:00:00+02:00"
    )
    assert found[0].context == "Lofoten (2026-05-18): Trip"
    assert found[1].context == "Lofoten (2026-05-18): Trip > Food\nWe went north."


def test_a_title_that_heads_the_trail_is_not_said_twice() -> None:
    assert cut("# Trip\n\nx\n", title="Trip")[0].context == "Trip"


def test_short_header_values_go_into_the_context_and_long_ones_get_a_passage() -> None:
    short = Facts("a summary", "status: blocked by the permit", 2, 4)
    found = passages("T", outline("text\n"), 6, ChunkSettings(), facts=short)
    assert len(found) == 1
    assert "blocked by the permit" in found[0].context
    long = Facts("", "history: " + " ".join(sentence(n) for n in range(40)), 2, 4)
    found = passages("T", outline("text\n"), 6, ChunkSettings(), facts=long)
    assert found[-1].text == "text"
    assert "Sentence number 39" in found[-2].text
    assert all(2 <= passage.first <= passage.last <= 4 for passage in found[:-1])


def test_a_heading_without_text_stays_searchable_and_is_no_passage() -> None:
    found = cut("# List\n\n## Plumber\n\n## Electrician\n\nKim, 555\n\n## Painter\n")
    assert [(p.heading, p.text) for p in found] == [("List > Electrician", "Kim, 555")]
    assert "Plumber" in found[0].context
    assert "Painter" in found[0].context


@pytest.mark.parametrize(
    ("body", "facts", "expected"),
    [
        ("# Only this\n", None, [("Only this", "# Only this", 1, 1)]),
        ("", Facts("what it is", "", 2, 3), [("Only this", "Only this\nwhat it is", 2, 3)]),
        ("", None, []),
        (" \n\t\n\n", None, []),
        ("<!-- hidden -->\n", None, []),
        ("---\n\n***\n", None, []),
    ],
)
def test_a_note_with_next_to_nothing_has_one_passage_or_none(
    body: str, facts: Facts | None, expected: list[tuple[str, str, int, int]]
) -> None:
    found = passages("Only this", outline(body), 1, ChunkSettings(), facts=facts)
    assert [(p.heading, p.text, p.first, p.last) for p in found] == expected


def test_the_key_is_that_of_what_is_embedded_and_no_line_number() -> None:
    (one,) = cut("text\n")
    (two,) = cut("\n\n\ntext\n")
    (other,) = cut("text\n", title="Other")
    assert one.key == two.key != other.key
    assert len(one.key) == 64


BLOCKS = st.sampled_from(
    [
        "# Head\n",
        "## Sub\n",
        "#### Deep\n",
        "\n",
        "A line of text here.\n",
        "- an item\n",
        "1. first\n",
        "```\n",
        "# not or is\n",
        "| a | b |\n",
        "|---|---|\n",
        "> quoted\n",
        "<!-- c -->\n",
        "%%\n",
        "    code\n",
        "word " * 80 + "\n",
        "無" * 300 + "\n",
        "[r]: x\n",
        "***\n",
    ]
)


@given(st.lists(BLOCKS, max_size=16).map("".join), st.integers(32, 90), st.integers(0, 2))
@settings(deadline=None)
def test_passages_are_never_blank_lie_in_the_file_and_are_bounded(
    body: str, target: int, overlap: int
) -> None:
    count = body.count("\n") + 1
    found = cut(body, target=target, overlap=overlap)
    for passage in found:
        assert passage.text.strip()
        assert passage.text == passage.text.strip("\n")
        assert 1 <= passage.first <= passage.last <= count
        assert tokens(passage.text) <= math.ceil(target * 1.3) + 16
        assert passage.heading


@given(st.lists(BLOCKS, max_size=16).map("".join))
@settings(deadline=None)
def test_no_word_of_the_visible_text_is_lost(body: str) -> None:
    seen = outline(body)
    shown = " ".join(p.embedded for p in cut(body, target=60, overlap=0))
    for block in seen.blocks:
        if block.kind in ("comment", "rule", "heading"):
            continue
        for line in seen.lines[block.first - 1 : block.last]:
            for word in line.split():
                if len(word) > 20:
                    continue  # it may be cut where no passage could hold it
                assert word.strip("`~") in shown.replace("\n", " ")
    for heading in seen.headings:
        assert heading.text in shown
