from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_mcp.core.config import ChunkSettings
from memory_mcp.core.frontmatter import compose
from memory_mcp.core.note import Link, Note, Provenance, SourceKind
from memory_mcp.core.parse import parse, revision_of


def read(text: str | bytes, path: str = "folder/stem", kind: SourceKind = "memory") -> Note:
    data = text.encode() if isinstance(text, str) else text
    return parse("memory", kind, path, data, "2026-01-02T03:04:05+00:00", ChunkSettings())


def warnings(header: str) -> str:
    return " | ".join(read(f"---\n{header}---\nbody\n").card.warnings)


# Bytes


def test_the_revision_is_that_of_the_bytes() -> None:
    data = b"\xef\xbb\xbf# A\r\n"
    assert read(data).card.revision == revision_of(data) == hashlib.sha256(data).hexdigest()[:12]
    assert read(data).card.size == len(data)


def test_the_text_is_kept_verbatim_with_mark_and_line_ends() -> None:
    text = "\ufeff---\r\ntitle: T\r\n---\r\n\r\n# A\r\n\r\nbody\r\n"
    note = read(text)
    assert note.text == text
    assert note.body == "\r\n# A\r\n\r\nbody\r\n"
    assert note.card.title == "T"
    assert [(h.text, h.line) for h in note.card.headings] == [("A", 5)]
    assert (note.passages[0].first, note.passages[0].text) == (7, "body")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-16-le"])
def test_utf_16_is_read_with_a_warning(encoding: str) -> None:
    data = "# Bericht\r\n\r\nDer Keller war trocken.\r\n".encode(encoding)
    note = read(b"\xfe\xff" + data if encoding == "utf-16-be" else data)
    assert note.card.title == "Bericht"
    assert "UTF-16" in note.card.warnings[0]


def test_an_older_encoding_is_read_with_a_warning() -> None:
    note = read("Der Schlüssel hängt am Türrahmen.".encode("cp1252"))
    assert note.passages[0].text == "Der Schlüssel hängt am Türrahmen."
    assert "not UTF-8" in note.card.warnings[0]


def test_one_damaged_byte_costs_only_itself() -> None:
    note = read("Größe und Maß für Türen: ".encode() + b"\xff" + " übrig".encode())
    assert "Größe und Maß" in note.passages[0].text
    assert "damaged" in note.card.warnings[0]


@pytest.mark.parametrize(
    "data", [bytes(range(256)) * 4, b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x01", b"\0" * 99]
)
def test_a_binary_file_is_skipped_with_a_warning(data: bytes) -> None:
    note = read(data)
    assert note.passages == ()
    assert note.card.title == "stem"
    assert "binary" in note.card.warnings[0]


def test_nul_and_control_characters_cost_only_themselves() -> None:
    note = read("# Log\x1b[0m\n\nread: \0\0ok\x07\n\nThe code is 7713.\n")
    assert note.passages[0].text == "read: ok\n\nThe code is 7713."
    assert note.text.count("\0") == 2


# Title, description


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: From header\nname: slug\n---\n# Heading\n", "From header"),
        ("---\nname: a-slug\n---\n# Heading\n", "a-slug"),
        ("---\ntitle: 2026\n---\n", "2026"),
        ("---\ntitle: 2026-05-18\n---\n", "2026-05-18"),
        ("---\ntitle: Re: unquoted\n---\n", "Re: unquoted"),
        ("---\ntitle: |\n  two\n  lines\n---\n", "two lines"),
        ("---\ntitle: #1 priority\n---\n# Heading\n", "Heading"),
        ("---\ntitle: '  '\n---\ntext", "stem"),
        ("---\ntitle: [a]\n---\ntext", "stem"),
        ("## Second\n\n# First\n", "First"),
        ("# **Bold** [[x|link]]\n", "Bold link"),
        ("```\n# no\n```\n", "stem"),
        ("", "stem"),
    ],
)
def test_the_title_is_that_of_the_header_the_first_h1_or_the_file(text: str, title: str) -> None:
    assert read(text).card.title == title


@pytest.mark.parametrize(
    ("text", "description"),
    [
        ("---\ndescription: Of **the** header\n---\nPara.\n", "Of the header"),
        ("# H\n\n- item\n\nFirst *para*\nin two lines.\n\nSecond.\n", "First para in two lines."),
        ("# H\n\n- [ ] only items\n- more\n", "only items"),
        ("#just #tags\n\nThen words.\n", "Then words."),
        ("<!-- hidden -->\n\n%%hidden%%\n\nSeen.\n", "Seen."),
        ("# Only a heading\n", ""),
    ],
)
def test_the_description_is_that_of_the_header_or_how_the_note_begins(
    text: str, description: str
) -> None:
    assert read(text).card.description == description


def test_the_body_of_a_vault_note_is_no_description() -> None:
    assert read("Order the model around.\n", kind="vault").card.description == ""
    assert read("---\ndescription: Mine\n---\n", kind="vault").card.description == "Mine"


def test_title_and_description_are_cut_between_graphemes() -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    marks = "e\u0301" * 400
    card = read(f"# {marks}\n\n" + f"{family} " * 100).card
    assert len(card.title) <= 200
    assert card.title.removesuffix("…").endswith("e\u0301")
    assert card.description.removesuffix("…").rstrip().endswith("\U0001f467")


# Header keys


@pytest.mark.parametrize(
    ("header", "tags"),
    [
        ("tags: [a, '#b', c/d]", ("a", "b", "c/d")),
        ("tags: a, b ,c", ("a", "b", "c")),
        ("tags: a b", ("a", "b")),
        ("tag: one", ("one",)),
        ("tags:\n  - two words\n  - 2026\n  - ''\n  -", ("two words", "2026")),
        ('tags: \'["a", "b"]\'', ("a", "b")),
        ("tags: '[\"a\"'", ("a",)),
        ("tags: [Note, note, NOTE]", ("Note",)),
        ("tags:", ()),
        ("tags: {a: b}", ()),
    ],
)
def test_tags_of_the_header_are_read_in_every_form(header: str, tags: tuple[str, ...]) -> None:
    assert read(f"---\n{header}\n---\nbody\n").card.tags == tags


def test_inline_tags_join_those_of_the_header() -> None:
    assert read("---\ntags: [Roof]\n---\n#roof and #cellar\n").card.tags == ("Roof", "cellar")


@pytest.mark.parametrize(
    ("header", "aliases"),
    [
        ("aliases: [KM, Karla M]", ("KM", "Karla M")),
        ("alias: Karla", ("Karla",)),
        ("aliases: one two, three", ("one two", "three")),
    ],
)
def test_aliases_are_read(header: str, aliases: tuple[str, ...]) -> None:
    assert read(f"---\n{header}\n---\n").card.aliases == aliases


def test_dates_are_text_as_written() -> None:
    card = read("---\ncreated: 2026-05-18\nupdated: 2026-05-18T09:30:00+02:00\n---\n").card
    assert (card.created, card.updated) == ("2026-05-18", "2026-05-18T09:30:00+02:00")
    assert card.modified == "2026-01-02T03:04:05+00:00"


@pytest.mark.parametrize(
    ("value", "pinned"),
    [("true", True), ("false", False), ("yes", False), ("'true'", False), ("1", False)],
)
def test_only_true_pins(value: str, pinned: bool) -> None:
    note = read(f"---\npinned: {value}\n---\nx\n")
    assert note.card.pinned is pinned
    assert bool(note.card.warnings) is (value not in ("true", "false"))


@pytest.mark.parametrize(
    ("header", "provenance"),
    [
        (
            "source: {url: https://a.b, kind: web, by: kim, at: 2026-01-02}\nconfidence: 0.5",
            Provenance("https://a.b", "web", "kim", "2026-01-02", 0.5),
        ),
        ("source: https://a.b/c", Provenance(url="https://a.b/c")),
        ("source: [https://a.b/c]", Provenance(url="https://a.b/c")),
        ("source: import", Provenance(kind="import")),
        ("source: a talk with Kim", Provenance(by="a talk with Kim")),
        ("confidence: low", Provenance(confidence="low")),
        ("title: x", None),
    ],
)
def test_provenance_is_read_in_every_form(header: str, provenance: Provenance | None) -> None:
    card = read(f"---\n{header}\n---\nx\n").card
    assert card.provenance == provenance
    if provenance:
        outside = provenance.url is not None or provenance.kind is not None
        assert provenance.trusted is not outside


def test_the_form_of_claude_code_is_read() -> None:
    text = "---\nname: likes-tea\ndescription: Drinks tea\nmetadata:\n  type: user\n---\nTea.\n"
    note = read(text)
    assert (note.card.name, note.card.title) == ("likes-tea", "likes-tea")
    assert note.card.description == "Drinks tea"
    assert note.frontmatter["metadata"] == {"type": "user"}
    assert note.card.warnings == ()
    assert "type: user" in note.passages[0].context


def test_what_stands_below_metadata_counts_where_the_header_does_not_say_it() -> None:
    header: dict[str, Any] = {
        "title": "",
        "name": "own",
        "metadata": {"name": "x", "title": "T", "tags": "a, b"},
    }
    card = read(compose(header) + "Tea.\n").card
    assert (card.title, card.name, card.tags) == ("T", "own", ("a", "b"))
    assert read(compose({"metadata": [1]}) + "Tea.\n").card.warnings == ()


@pytest.mark.parametrize(
    ("header", "warning"),
    [
        ("tags: {a: b}\n", "tags should be a list of words, is a mapping"),
        ("tags: [[a, {b: c}]]\n", "an item of tags should be a word, is a list"),
        ("title: [a]\n", "title should be a text, is a list"),
        ("description: true\n", "description should be a text, is true or false"),
        ("pinned: always\n", "pinned should be true or false, is a text"),
        ("created: {y: 1}\n", "created should be a text, is a mapping"),
        ("source: 5\n", "source should be a mapping {url, kind, by, at}, is a number"),
        ("source: {url: [a]}\n", "source.url should be a text, is a list"),
        ("confidence: [1]\n", "confidence should be a number or a word, is a list"),
        ("links: {a: b}\n", "links should be a list of {to, relation}, is a mapping"),
    ],
)
def test_a_key_of_the_wrong_type_is_a_warning(header: str, warning: str) -> None:
    assert warning in warnings(header)


def test_a_header_that_is_no_yaml_is_a_warning_and_its_text_is_found() -> None:
    note = read("---\nrelated:\n  - [[Alpha project]] see also\nplan: a: b\n---\nGamma.\n")
    assert note.header == "broken"
    assert note.body == "Gamma.\n"
    assert Link("Alpha project", "wikilink", "related") in note.card.links
    assert "Alpha project" in note.passages[0].embedded
    assert "not valid YAML" in note.card.warnings[0]


def test_every_value_of_the_header_is_searchable() -> None:
    text = (
        "---\nstatus: waiting for a permit\nrooms: [attic, {floor: cellar}]\nempty:\n---\nText.\n"
    )
    (passage,) = read(text).passages
    assert "waiting for a permit" in passage.embedded
    assert "attic" in passage.embedded
    assert "cellar" in passage.embedded
    assert passage.text == "Text."


def test_who_wrote_a_note_and_how_is_no_text_of_it() -> None:
    origin = "{url: 'https://quay.example/tides', kind: import, by: default, at: 2026-03-02}"
    text = (
        f"---\nsource: {origin}\nconfidence: low\nwiki_promote: false\nstatus: new\n---\nText.\n"
    )
    (passage,) = read(text).passages
    for word in ("import", "default", "2026", "source", "low", "promote"):
        assert word not in passage.embedded
    assert "https://quay.example/tides" in passage.embedded
    assert "status: new" in passage.embedded


# Private parts


def test_private_parts_reach_nothing_but_text_and_body() -> None:
    text = (
        "---\ntitle: <private>T0pS</private>\ndescription: a <private>T0pS</private> b\n"
        "tags: [x, <private>T0pS</private>]\nkey: <private>T0pS\n---\n"
    )
    body = (
        "# Head <private>T0pS</private>\n\n<private>T0pS\n\n## T0pS\n\n[[T0pS]] #T0pS\n"
        "</private>\n\nSeen <private>T0pS</private> too.\n\n## After\n\nEnd. <PRIVATE>T0pS\n"
    )
    header = text.replace("key: <private>T0pS\n", "")
    note = read(header + body)
    assert "T0pS" not in repr(note.card)
    assert "T0pS" not in repr(note.passages)
    assert "T0pS" not in repr(note.frontmatter)
    assert note.body == body
    assert [(h.text, h.line) for h in note.card.headings] == [("Head", 6), ("After", 17)]
    unclosed = read(text + body)
    assert "T0pS" not in repr((unclosed.card, unclosed.passages, unclosed.frontmatter))


# Nearly nothing


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        (" \n\t\n\n", 0),
        ("# Only a heading\n", 1),
        ("---\ntitle: Only a header\n---\n", 1),
        ("---\ntitle: Only a header\n---", 1),
        ("---\ntitle: Both\n---\n# Heading\n", 1),
        ("---\n---\n", 0),
    ],
)
def test_a_note_with_next_to_nothing_is_listed_and_found_by_what_it_has(
    text: str, count: int
) -> None:
    note = read(text)
    assert note.card.title
    assert len(note.passages) == count
    assert all(passage.text.strip() for passage in note.passages)


def test_the_language_is_that_of_the_text() -> None:
    assert read("Der Schlüssel liegt unter dem Stein neben der Tür.\n").card.language == "de"
    assert read("# Plain words\n\nThe key is under the stone.\n").card.language == "en"


# Anything


@given(st.binary(max_size=200))
def test_any_bytes_are_a_note(data: bytes) -> None:
    note = read(data)
    assert note.card.revision == revision_of(data)


PARTS = st.sampled_from(
    [
        "---\n",
        "title: x\n",
        "tags: [a\n",
        "- b\n",
        "# H\n",
        "text #t [[l]]\n",
        "\n",
        "```\n",
        "<private>",
        "</private>",
        "\r\n",
        "\ufeff",
        "%%",
        "<!--",
        "-->",
        "\0",
        "key: &a [*a]\n",
        "{{x}}\n",
        "\x85",
        "\u2028",
    ]
)


@given(st.lists(PARTS, max_size=14).map("".join))
@settings(deadline=None)
def test_any_text_is_a_note_with_sound_values(text: str) -> None:
    note = read(text)
    count = text.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
    json.dumps(note.frontmatter, allow_nan=False)
    assert note.text.endswith(note.body)
    assert note.card.title.strip() == note.card.title != ""
    assert all("\n" not in part for part in (note.card.title, note.card.description))
    assert all(1 <= heading.line <= count for heading in note.card.headings)
    for passage in note.passages:
        assert passage.text.strip()
        assert "\0" not in passage.embedded
        assert 1 <= passage.first <= passage.last <= count


@given(
    st.dictionaries(
        st.sampled_from(
            [
                "title",
                "name",
                "description",
                "tags",
                "aliases",
                "created",
                "pinned",
                "source",
                "links",
                "confidence",
                "metadata",
                "supersedes",
            ]
        ),
        st.one_of(
            st.none(),
            st.booleans(),
            st.integers(),
            st.text(max_size=5),
            st.lists(st.one_of(st.none(), st.integers(), st.text(max_size=5)), max_size=3),
            st.dictionaries(st.sampled_from(["to", "url", "relation", "x"]), st.text(max_size=5)),
        ),
    )
)
@settings(deadline=None)
def test_any_value_under_a_known_key_is_read_or_warned_about(values: dict[str, Any]) -> None:
    note = read(compose(values) + "body\n")
    assert note.card.title
    assert isinstance(note.card.pinned, bool)


@pytest.mark.parametrize(
    "text",
    [
        "<!--" * 40_000,
        "[[a" * 40_000,
        "`a``b" * 30_000,
        "**a" * 40_000,
        "a line\n" * 60_000,
        "%%\n" * 30_001,
        "[a](" * 40_000,
        "<a " * 40_000,
        "<private>" * 30_000,
        "_a_b" * 40_000,
    ],
)
def test_time_grows_with_the_text_and_not_with_its_square(text: str) -> None:
    assert read(text).card.title == "stem"
