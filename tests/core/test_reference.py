"""References: text that can only name a note below its source."""

from __future__ import annotations

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.errors import InputError
from memory_mcp.core.reference import clean, join, split

_PARTS = st.sampled_from(
    [
        "..",
        ".",
        "...",
        "a",
        "b.md",
        " ..",
        ".. ",
        "é",
        "e\u0301",
        "\\",
        "~",
        "C:",
        "\0",
        "\n",
        "/",
        "//",
        ".md",
        " ",
    ]
)


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("memory/garden", "memory/garden"),
        ("memory/garden.md", "memory/garden"),
        ("memory/garden.MD", "memory/garden"),
        ("./memory/garden", "memory/garden"),
        ("././memory/garden", "memory/garden"),
        (" memory/garden ", "memory/garden"),
        ("memory//garden", "memory/garden"),
        ("vault/Cafe\u0301", "vault/Caf\u00e9"),
        ("vault/100%25 sure", "vault/100%25 sure"),
        ("vault/a..b", "vault/a..b"),
        ("vault/...", "vault/..."),
        ("wiki/a.md.md", "wiki/a.md"),
        ("vault/Re: heating", "vault/Re: heating"),
    ],
)
def test_each_spelling_has_one_canonical_form(text: str, reference: str) -> None:
    assert clean(text) == reference


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "/", "./", ".", "..", "../a", "a/../b", "a/..", "a/ ../b", "/etc/hosts", "~/a",
        "~", "a\\b", "C:/a",
        "C:\\a", "c:", "c:a", "file:///etc/hosts", "https://example.org", "a\0b",
        "a\nb", "a\u0085b", "a\u2028b", "\ud800", "x" * 1001, ".md", "memory/.md/..",
    ],
)  # fmt: skip
def test_what_could_lead_elsewhere_is_refused_in_one_short_line(text: str) -> None:
    with pytest.raises(InputError) as caught:
        clean(text)
    assert len(str(caught.value)) < 500
    assert str(caught.value).isprintable()


def test_a_reference_is_parted_at_a_known_source_only() -> None:
    names = ("memory", "wiki", "vault")
    assert split("wiki/people/alice.md", names) == ("wiki", "people/alice")
    assert split("people/alice", names) == (None, "people/alice")
    assert split("wiki", names) == (None, "wiki")
    assert split("wiki/wiki/a", names) == ("wiki", "wiki/a")
    assert join("wiki", "people/alice") == "wiki/people/alice"


@given(st.one_of(st.text(max_size=60), st.lists(_PARTS, max_size=8).map("/".join)))
def test_nothing_that_survives_leaves_its_folder(text: str) -> None:
    try:
        path = clean(text)
    except InputError:
        return
    inside = posixpath.normpath(posixpath.join("/root/notes", path))
    assert inside.startswith("/root/notes/")
    assert not path.startswith(("/", "./", "~"))
    assert "\0" not in path
    assert "\\" not in path
    assert clean(f"{path}.md") == path
