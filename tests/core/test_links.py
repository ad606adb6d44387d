from __future__ import annotations

import pytest

from memory_mcp.core.frontmatter import load
from memory_mcp.core.links import header_links, raw_header_links
from memory_mcp.core.markdown import outline
from memory_mcp.core.note import Link


def link(body: str) -> Link:
    found = outline(body).links
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("[[Note]]", Link("Note", "wikilink")),
        ("[[folder/Note.md]]", Link("folder/Note", "wikilink")),
        ("[[Note|alias]]", Link("Note", "wikilink", label="alias")),
        (
            "| a | b |\n|---|---|\n| [[Note\\|alias]] | x |",
            Link("Note", "wikilink", label="alias"),
        ),
        ("[[Note#Part]]", Link("Note", "wikilink", heading="Part")),
        ("[[Note#Part#Sub]]", Link("Note", "wikilink", heading="Part#Sub")),
        ("[[Note#^block-1]]", Link("Note", "wikilink", block="block-1")),
        ("[[#Part]]", Link("", "wikilink", heading="Part")),
        ("![[Note]]", Link("Note", "embed")),
        ("[[Node.js]]", Link("Node.js", "wikilink")),
        ("[[Meeting 2026.05]]", Link("Meeting 2026.05", "wikilink")),
        ("[x](folder/note.md#part)", Link("folder/note", "markdown", heading="part", label="x")),
        ("[x](<my note.md>)", Link("my note", "markdown", label="x")),
        ("[x](my%20note.md)", Link("my note", "markdown", label="x")),
        ('[x](../up.md "title")', Link("../up", "markdown", label="x")),
        ("[x](a_(b).md)", Link("a_(b)", "markdown", label="x")),
        ("[![pic](p.png)](note.md)", Link("note", "markdown", label="pic")),
        ("[x][r]\n\n[r]: other.md\n", Link("other", "markdown")),
        ("- item [[Note]]", Link("Note", "wikilink")),
        ("> [[Note]]", Link("Note", "wikilink")),
        ("## On [[Note]]", Link("Note", "wikilink")),
    ],
)
def test_each_form_of_link_is_read(body: str, expected: Link) -> None:
    assert link(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        "[x](https://example.org/a.md)",
        "[x](mailto:a@example.org)",
        "[x](//host/a.md)",
        "![x](picture.png)",
        "[x](paper.pdf)",
        "![[plan.png|300]]",
        "![[Files/paper.PDF#page=3]]",
        "[[Sketch.canvas]]",
        "`[[code]]`",
        "```\n[[code]]\n```",
        "    [[code]]",
        "- a\n\n      [[code in a list]]",
        "<!-- [[hidden]] -->",
        "%%[[hidden]]%%",
        "%%\n[[hidden]]\n%%",
        "\\[[escaped]]",
        "[[]] [[ ]] [[#]]",
        "[x]()",
    ],
)
def test_what_leads_to_no_note_is_no_link(body: str) -> None:
    assert outline(body).links == ()


def test_the_same_link_twice_is_one() -> None:
    assert len(outline("[[A]] and [[A]] and [[B]]").links) == 2


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (
            "links:\n  - {to: memory/roof, relation: part_of}\n",
            [Link("memory/roof", "relation", "part_of")],
        ),
        ("links: [memory/roof]\n", [Link("memory/roof", "relation", "related")]),
        ('supersedes: "[[Old roof]]"\n', [Link("Old roof", "relation", "supersedes")]),
        ("supersedes: memory/old-roof.md\n", [Link("memory/old-roof", "relation", "supersedes")]),
        (
            "part_of: [a, b]\n",
            [Link("a", "relation", "part_of"), Link("b", "relation", "part_of")],
        ),
        ("up: [[Home]]\n", [Link("Home", "relation", "up")]),
        (
            'related:\n  - [[Alpha]]\n  - "[[Beta|b]]"\n',
            [Link("Alpha", "relation", "related"), Link("Beta", "relation", "related", label="b")],
        ),
        ('friend: "met [[Kim]] there"\n', [Link("Kim", "wikilink", "friend")]),
        ("source: https://example.org/[[x]]y\n", [Link("x", "wikilink", "links")]),
        ("related: https://example.org\nnext: null\nlinks: {to: 3}\n", []),
    ],
)
def test_links_of_the_header_are_read(header: str, expected: list[Link]) -> None:
    assert list(header_links(load(header).values)) == expected


def test_wikilinks_of_a_header_that_is_no_yaml_are_read_from_its_text() -> None:
    found = raw_header_links("related:\n  - [[Alpha]] see also\nup: [[Home]]: there\n")
    assert found == (Link("Alpha", "wikilink", "related"), Link("Home", "wikilink", "up"))
