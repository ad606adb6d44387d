"""References: text that can only name a note below its source."""

from __future__ import annotations

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.errors import InputError, SlugError
from memory_mcp.core.reference import INBOX, clean, inbox_note, join, split

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


@pytest.mark.parametrize(
    "text",
    ["tea", "memory/tea", "memory/tea.md", "./memory/tea", " memory/tea ", "memory//tea.MD"],
)
def test_an_inbox_note_is_named_by_its_slug_or_its_reference(text: str) -> None:
    name, slug = inbox_note(text)
    assert slug == "tea"
    assert name == (None if text == "tea" else INBOX)


@pytest.mark.parametrize(
    "text",
    [
        *("memory/", "memory/a/b", "memory/../tea", "memory/memory/tea", "wiki/tea"),
        *("tea.md", " tea", "/memory/tea", "memory/con", "memory/Tea", "Memory/tea", "global/tea"),
    ],
)
def test_nothing_else_names_an_inbox_note(text: str) -> None:
    with pytest.raises(SlugError):
        inbox_note(text)


@given(st.lists(_PARTS | st.just("memory"), max_size=6).map("/".join) | st.text(max_size=30))
def test_what_names_an_inbox_note_is_a_file_in_it_and_nothing_else(text: str) -> None:
    try:
        name, slug = inbox_note(text)
    except SlugError:
        return
    assert posixpath.basename(posixpath.normpath(f"inbox/{slug}.md")) == f"{slug}.md"
    assert posixpath.dirname(posixpath.normpath(f"inbox/{slug}.md")) == "inbox"
    assert inbox_note(slug) == (None, slug)
    assert inbox_note(join(name or INBOX, slug)) == (INBOX, slug)
