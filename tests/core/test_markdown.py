from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.markdown import outline


def headings(body: str) -> list[tuple[int, str, int]]:
    return [(heading.level, heading.text, heading.line) for heading in outline(body).headings]


def kinds(body: str) -> list[tuple[str, int, int]]:
    return [(block.kind, block.first, block.last) for block in outline(body).blocks]


def test_headings_have_level_plain_text_and_line() -> None:
    body = (
        "# One *of* [[two|three]]\n\ntext\n\n## Closed ##\nSet `in` stone\n===\n\nLess so\n---\n"
    )
    assert headings(body) == [
        (1, "One of three", 1),
        (2, "Closed", 5),
        (1, "Set in stone", 6),
        (2, "Less so", 9),
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_hold_for_every_line_end(end: str) -> None:
    assert headings(end.join(["", "# A", "", "text", "## B"])) == [(1, "A", 2), (2, "B", 5)]


@pytest.mark.parametrize(
    "body",
    [
        "```\n# in a fence\n```",
        "~~~sh\n# in a tilde fence\n~~~",
        "~~~\n```\n# in both\n~~~",
        "- item\n  ```\n  # in a list item\n  ```",
        "```\n# never closed\n\n## still open\n",
        "<!--\n# in a comment\n-->",
        "%%\n# in an Obsidian comment\n%%",
        "- item\n%%\n# after a list\n%%",
        "> # quoted",
        "- # in a list",
        "    # indented code",
        "####### seven",
        "#tag #other",
        "<div>\n# in HTML\n</div>",
        "#",
    ],
)
def test_what_only_looks_like_a_heading_is_none(body: str) -> None:
    assert headings(f"{body}\n\n") == []


def test_a_heading_behind_each_kind_of_block_is_found() -> None:
    body = "- list\n# A\n> quote\n# B\npara\n# C\n```\ncode\n```\n# D\n<!-- c -->\n# E\n"
    body += "%%\nx\n%%\n# F\n"
    assert [(text, line) for _, text, line in headings(body)] == [
        ("A", 2),
        ("B", 4),
        ("C", 6),
        ("D", 10),
        ("E", 12),
        ("F", 16),
    ]


def test_blocks_have_kinds_and_lines() -> None:
    body = (
        "# H\n\npara\nmore\n\n- a\n- b\n\n```\nx\n```\n\n| a | b |\n|---|---|\n"
        "| 1 | 2 |\n\n> q\n\n"
        "<div>\nx\n</div>\n\n%%\nc\n%%\n\n***\n\n[ref]: page.md\n\n    indented\n"
    )
    assert kinds(body) == [
        ("heading", 1, 1),
        ("paragraph", 3, 4),
        ("list", 6, 7),
        ("code", 9, 11),
        ("table", 13, 15),
        ("quote", 17, 17),
        ("html", 19, 21),
        ("comment", 23, 25),
        ("rule", 27, 27),
        ("definition", 29, 29),
        ("code", 31, 31),
    ]


def test_comments_are_blanked_and_code_is_not() -> None:
    lines = outline("a <!-- b --> c %%d%% `%%e%%`\n\n```\n<!-- f -->\n```\n\n%% open\n").lines
    assert lines[0].split() == ["a", "c", "`%%e%%`"]
    assert lines[3] == "<!-- f -->"
    assert lines[6] == "%% open"


@pytest.mark.parametrize(
    ("body", "tags"),
    [
        ("#one and (#two), #three.", ["one", "two", "three"]),
        ("#a/b #c-d #e_f", ["a/b", "c-d", "e_f"]),
        ("#123 #y123 #2024-10", ["y123", "2024-10"]),
        ("#हिन्दी #日本 #Straße #🚀", ["हिन्दी", "日本", "Straße", "🚀"]),
        ("#One #one #ONE", ["One"]),
        ("mid#word a&#39;b x/#y \\#esc C# ##two", []),
        ("`#code` [#in](link.md) [[Note#Part]] https://a.b/c#d <a href='#x'>", []),
        ("<!-- #hidden --> %%#also%%", []),
        ("```\n#code\n```\n\n    #indented\n", []),
        (
            "- item #in-list\n\n> #in-quote\n\n## Head #in-heading",
            ["in-list", "in-quote", "in-heading"],
        ),
        ("- item\n  ```\n  #code\n  ```", []),
    ],
)
def test_inline_tags_follow_the_rules_of_obsidian(body: str, tags: list[str]) -> None:
    assert list(outline(body).tags) == tags


BLOCKS = st.sampled_from(
    [
        "# h\n",
        "## h2 ##\n",
        "text\n",
        "more text #t\n",
        "\n",
        "- item\n",
        "  - sub\n",
        "1. one\n",
        "```\n",
        "~~~\n",
        "> q\n",
        "===\n",
        "---\n",
        "%%\n",
        "<!--\n",
        "-->\n",
        "<div>\n",
        "| a |\n",
        "|---|\n",
        "    code\n",
        "[r]: x\n",
        "\ttab\n",
        "%%x%%\n",
        "* * *\n",
    ]
)


@given(st.lists(BLOCKS, max_size=14).map("".join))
def test_every_line_of_text_is_in_exactly_one_block(body: str) -> None:
    found = outline(body)
    seen = [line for block in found.blocks for line in range(block.first, block.last + 1)]
    assert seen == sorted(set(seen))
    text = {number for number, line in enumerate(found.lines, 1) if line.strip()}
    assert text <= set(seen)
    assert len(found.lines) == body.count("\n") + 1


@given(st.lists(BLOCKS, max_size=14).map("".join))
def test_a_heading_stands_on_its_line(body: str) -> None:
    found = outline(body)
    for heading in found.headings:
        block = next(block for block in found.blocks if block.first == heading.line)
        lines = found.lines[block.first - 1 : block.last]
        assert any(heading.text.split()[0] in line for line in lines)


@given(st.text(alphabet="a#`<>!-%[]()|\\*_~\n \t", max_size=80))
def test_any_body_has_an_outline(body: str) -> None:
    found = outline(body)
    assert all(1 <= block.first <= block.last <= len(found.lines) for block in found.blocks)
