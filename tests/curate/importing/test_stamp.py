"""What an import does to a note: it says where it came from, and nothing else changes."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memory_mcp.core import frontmatter
from memory_mcp.core.errors import RefusedError
from memory_mcp.core.metadata import metadata
from memory_mcp.core.note import Json
from memory_mcp.curate.importing.stamp import Origin, check_readable, origin_of, stamped

ORIGIN = Origin("old-notes", "garden/tea.md")
AT = "2026-03-01T09:30:00+00:00"

LOUD = """\
---
# mine
title: Tea   # short
pinned: true
metadata: {seed: true, triggers: [tea], type: user}
source: https://example.org/tea
---
Green, at 80 degrees.\r
"""


def test_a_note_from_outside_is_neither_pinned_nor_a_seed_nor_triggered() -> None:
    made = stamped(LOUD, ORIGIN, AT, {"title": "Other", "description": "hot"})
    known = metadata(frontmatter.split_and_load(made.text)[1].values)
    assert not (known.pinned or known.seed or known.triggers)
    assert known.provenance is not None
    assert not known.provenance.trusted
    assert (known.provenance.url, known.title) == ("https://example.org/tea", "Tea")
    assert known.description == "hot"
    assert made.dropped == ("pinned", "metadata.seed", "metadata.triggers")
    assert "# mine\ntitle: Tea   # short\n" in made.text
    assert "type: user" in made.text
    assert made.text.endswith("---\nGreen, at 80 degrees.\r\n")
    assert origin_of(made.text) == (ORIGIN, AT)


@pytest.mark.parametrize("source", ["a book", "{by: Ann, kind: web}", "[x, y]"])
def test_a_source_that_is_no_address_is_kept_beside(source: str) -> None:
    made = stamped(f"---\nsource: {source}\n---\nx\n", ORIGIN, AT, {})
    values = frontmatter.split_and_load(made.text)[1].values
    former = frontmatter.split_and_load(f"---\nsource: {source}\n---\n")[1].values["source"]
    assert values["original_source"] == former
    assert origin_of(made.text) == (ORIGIN, AT)


def test_a_header_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(RefusedError, match="mend the header"):
        check_readable("---\ntitle: [a\n---\nx\n")


@pytest.mark.parametrize(
    "text", ["", "x", "---\nsource: {kind: import}\n---\n", "---\na: 1\n---\n"]
)
def test_a_note_that_was_not_imported_has_no_origin(text: str) -> None:
    assert origin_of(text) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab: [x", max_size=6),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("ab", min_size=1), inner),
    max_leaves=4,
)
LOUDER = st.fixed_dictionaries(
    {},
    optional={
        "pinned": JSON,
        "source": JSON,
        "metadata": JSON
        | st.fixed_dictionaries({"seed": JSON, "triggers": JSON}, optional={"type": JSON}),
        "title": JSON,
    },
)


@given(LOUDER)
def test_whatever_a_header_says_an_imported_note_is_quiet_and_untrusted(
    header: dict[str, Json],
) -> None:
    text = frontmatter.compose(header) + "Tea.\n" if header else "Tea.\n"
    made = stamped(text, ORIGIN, AT, {}).text
    known = metadata(frontmatter.split_and_load(made)[1].values)
    assert not (known.pinned or known.seed or known.triggers)
    assert known.provenance is not None
    assert not known.provenance.trusted
    assert made.endswith("---\nTea.\n")


@given(
    st.text(max_size=200),
    st.sampled_from(["", "---\ntitle: x\n---\n", "---\r\npinned: true\r\n---\r\n", "\ufeff"]),
)
def test_the_body_stays_byte_for_byte_and_a_second_import_knows_the_first(
    body: str, header: str
) -> None:
    assume("\r" not in body and "\0" not in body)
    text = header + body
    assume(frontmatter.split_and_load(text)[1].state != "broken")
    made = stamped(text, ORIGIN, AT, {})
    assert frontmatter.split(made.text).body == frontmatter.split(text).body
    assert origin_of(made.text) == (ORIGIN, AT)
    again = stamped(made.text, Origin("b", "c"), AT, {}).text  # from one memory into the next
    values = frontmatter.split_and_load(again)[1].values
    assert values["original_source"] == frontmatter.split_and_load(made.text)[1].values["source"]
    assert frontmatter.split(again).body == frontmatter.split(text).body
