"""Naming other notes in links, and only there."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memory_mcp.core.config import ChunkSettings
from memory_mcp.core.link_places import link_places
from memory_mcp.core.note import Card, Link
from memory_mcp.core.parse import parse
from memory_mcp.core.relink import Relinked, other_names, relink

OLD, NEW = ("wiki", "people/alice"), ("wiki", "team/alice-moser")


def card(text: str, path: str = "people/bob") -> Card:
    return parse("wiki", "wiki", path, text.encode("utf-8"), "", ChunkSettings()).card


def moved(text: str, here: tuple[str, str] = ("wiki", "people/bob")) -> Relinked:
    """As if each link that is called alice led to the page that moves, and any name were free."""

    def wanted(link: Link) -> list[str] | None:
        if "alice" not in link.target.casefold():
            return None
        return list(other_names(link, here, OLD, NEW))

    return relink(text, wanted)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("[[alice]]", "[[alice-moser]]"),
        ("[[Alice]]", "[[alice-moser]]"),
        ("[[people/alice]]", "[[team/alice-moser]]"),
        ("[[wiki/people/alice]]", "[[wiki/team/alice-moser]]"),
        ("[[wiki/people/alice.md]]", "[[wiki/team/alice-moser.md]]"),
        ("[[alice|Alice M.]]", "[[alice-moser|Alice M.]]"),
        ("[[ alice #Work ^b1| her ]]", "[[ alice-moser #Work ^b1| her ]]"),
        ("![[people/alice#Work]]", "![[team/alice-moser#Work]]"),
        ("| [[alice\\|A]] |", "| [[alice-moser\\|A]] |"),
        ("[A](alice.md)", "[A](../team/alice-moser.md)"),
        ("[A](./alice.md 'her')", "[A](../team/alice-moser.md 'her')"),
        ("[A](../people/alice.md#work)", "[A](../team/alice-moser.md#work)"),
        ("[A](</people/alice.md>)", "[A](</team/alice-moser.md>)"),
        ("> - [A]( people/alice )", "> - [A]( team/alice-moser )"),
        ("[a]: ../people/alice.md 'her'\n\n[a]", "[a]: ../team/alice-moser.md 'her'\n\n[a]"),
    ],
)  # fmt: skip
def test_a_link_names_the_new_place_in_the_style_of_its_writer(
    written: str, expected: str
) -> None:
    assert moved(written).text == expected
    assert not moved(written).failed


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("links:\n  - to: people/alice # her", "links:\n  - to: team/alice-moser # her"),
        ("links: [{to: 'alice', relation: x}]", "links: [{to: 'alice-moser', relation: x}]"),
        ("supersedes: wiki/people/alice", "supersedes: wiki/team/alice-moser"),
        ("see: [alice, carol]", "see: [alice-moser, carol]"),
        ('up: "[[alice|A]]"', 'up: "[[alice-moser|A]]"'),
        ("up: [[alice]]", "up: [[alice-moser]]"),
        ("note: about [[alice]], and [b](b.md)", "note: about [[alice-moser]], and [b](b.md)"),
        ("up: [[alice]]\nodd: [", "up: [[alice-moser]]\nodd: ["),
    ],
)  # fmt: skip
def test_a_header_names_it_in_the_style_of_its_writer(written: str, expected: str) -> None:
    assert moved(f"---\n{written}\n---\n").text == f"---\n{expected}\n---\n"
    windows = f"\ufeff---\r\n{written}\r\n---\r\nA\r\n[[alice]]\r\n".replace("\n ", "\r\n ")
    assert moved(windows).text.startswith("\ufeff---\r\n")
    assert moved(windows).text.endswith("A\r\n[[alice-moser]]\r\n")
    assert not moved(windows).failed


@pytest.mark.parametrize(
    "text",
    [
        "alice and `[[alice]]`",
        "```\n[[alice]]\n```\n",
        "- item\n\n  ```\n  [[alice]]\n  ```\n",
        "    [[alice]]\n",
        "<!-- [[alice]] -->",
        "%% [[alice]] %%",
        "<private>[[alice]]</private>",
        "\\[[alice]]",
        "[A](https://example.org/alice.md)",
        "![[alice.png]]",
        "---\ntitle: alice\naliases: [alice]\n---\n",
    ],
)
def test_what_is_no_link_stays(text: str) -> None:
    assert moved(text) == Relinked(text, (), ())


def test_a_private_part_hides_its_links_and_not_those_around_it() -> None:
    text = "<private>\n[[alice]]\n\n</private> [[alice]] <private>x</private>[[alice]]\n"
    assert moved(text).text == (
        "<private>\n[[alice]]\n\n</private> [[alice-moser]] <private>x</private>[[alice-moser]]\n"
    )


def test_a_name_that_cannot_stand_in_a_link_leaves_it_and_says_so() -> None:
    done = relink("[[alice]] [A](alice)", lambda _: ["who|what"])
    assert done.text == "[[alice]] [A](who|what)"
    assert [link.target for link in done.failed] == ["alice"]


def test_a_name_with_blanks_and_signs_is_written_so_that_it_is_read_again() -> None:
    name = "team/Alice (work) #1?"
    done = relink("[A](alice.md) [B](<alice.md>) [C](%C3%A4/alice)", lambda _: [name])
    assert {link.target for link in card(done.text).links} == {name}


PIECES = st.sampled_from(
    [
        "[[alice]]", "[[people/alice#A|b]]", "![[alice]]", "[x](alice.md)",
        "[x](../people/alice.md)", "[[bob]]", "[y](bob.md)", "`[[alice]]`", "text", "\n", "\n\n",
        "\r\n", "- ", "> ", "```\n", "`",
        "    ", "# ", "<!--", "-->", "%%", "<private>", "</private>", "<div>",
        "|", "\x0b", "\\", "[a]: alice.md\n",
        "\t", "~~~\n", "1. ", "é", "[[", "]]", "(", ")",
    ]
)  # fmt: skip
HEADERS = st.sampled_from(
    [
        "",
        "---\nlinks: [{to: alice}, 'bob']\nup: '[[alice]]'\n---\n",
        "---\nsee:\n- alice\n- bob\n---\r\n",
    ]
)


@given(HEADERS, st.lists(PIECES, max_size=30).map("".join))
def test_after_a_change_the_note_has_the_same_links_but_those(header: str, body: str) -> None:
    assume("[[[" not in body)  # read another way once a bracket less stands before it
    text = header + body
    before = card(text).links

    def wanted(link: Link) -> list[str] | None:
        return ["team/alice-moser"] if link.target.endswith("alice") else None

    done = relink(text, wanted)
    expected = {
        replace(link, target="team/alice-moser") if link.target.endswith("alice") else link
        for link in before
    }
    assert not done.failed
    assert set(card(done.text).links) == expected


@given(HEADERS, st.lists(PIECES, max_size=30).map("".join))
def test_every_link_that_is_read_has_a_place(header: str, body: str) -> None:
    text = header + body
    found = {(place.link.target, place.link.kind) for place in link_places(text)}
    assert {(link.target, link.kind) for link in card(text).links} <= found


@given(HEADERS, st.lists(PIECES, max_size=30).map("".join))
def test_a_change_there_and_back_gives_the_same_bytes(header: str, body: str) -> None:
    text = (header + body).replace("people/", "").replace("../", "")

    def there(link: Link) -> list[str] | None:
        return ["carol"] if link.target == "alice" else None

    def back(link: Link) -> list[str] | None:
        return ["alice"] if link.target == "carol" else None

    assert relink(relink(text, there).text, back).text == text
