"""Which words a passage and a note are found by."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_mcp.core.compound import parts
from memory_mcp.core.config import ChunkSettings
from memory_mcp.core.parse import parse
from memory_mcp.index.prepare import Gone, Same, count_words, prepare
from memory_mcp.index.table import Parsed
from tests.index.world import World, found, until_settled

pytestmark = pytest.mark.anyio


async def test_path_name_aliases_tags_and_header_values_are_found(tmp_path: Path) -> None:
    world = World(tmp_path)
    header = (
        "---\nname: harbour-log\naliases: [KM]\ntags: [urgent]\n"
        "description: observatory upkeep\nowner: {team: [anna, 884]}\n---\n"
    )
    world.write("vault/people/jonas-huber", f"{header}The mount needs grease.\n")
    world.write("vault/other", "Nothing of this.")
    async with world.running() as index:
        for query in (
            "jonas huber",
            "people",
            "harbour",
            "KM",
            "urgent",
            "observatory",
            "anna 884",
        ):
            assert found(index, query) == ["vault/people/jonas-huber"], query


async def test_words_of_an_old_header_are_gone_with_it(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.write("memory/t", "---\ndescription: ancient words\n---\nGrease.\n")
    async with world.running() as index:
        world.write("memory/t", "---\ndescription: observatory upkeep\n---\nGrease.\n")
        await until_settled(index)
        assert found(index, "ancient") == []
        assert found(index, "observatory") == ["memory/t"]


async def test_what_tools_write_of_themselves_finds_no_note(tmp_path: Path) -> None:
    world = World(tmp_path)
    origin = "{kind: import, by: default, url: 'https://quay.example/x'}"
    header = f"---\nsource: {origin}\nconfidence: vague\nstatus: closed\n---\n"
    world.write("memory/shop", f"{header}Opens at nine.\n")
    async with world.running() as index:
        for word in ("import", "default", "source", "kind", "vague"):
            assert found(index, word) == []
        for word in ("quay", "closed", "nine"):
            assert found(index, word) == ["memory/shop"]


async def test_private_parts_are_in_no_word_of_the_index(tmp_path: Path) -> None:
    world = World(tmp_path)
    header = "---\nnote: <private>hidden sesame</private> open\n---\n"
    world.write("memory/p", f"{header}Before.\n\n<private>sesame pin</private>\n\nAfter.\n")
    async with world.running() as index:
        assert found(index, "sesame") == []
        assert found(index, "pin") == []
        assert found(index, "after") == ["memory/p"]


def test_every_passage_has_the_words_of_the_path_once() -> None:
    body = "# Top\n\n" + "\n\n".join(f"## Part {n}\n\nStone {n}." for n in range(5))
    note = parse("vault", "vault", "boats/canoe", body.encode(), "2026-01-01", ChunkSettings())
    passages, whole = count_words(note)
    assert len(passages) == len(note.passages) >= 5
    assert [words.count("cano") for words in passages] == [1] * len(passages)
    assert all(words[-4:] == ("", "boat", "", "cano") for words in passages)
    assert sum(whole.values()) > 10


def test_a_file_is_prepared_only_where_its_bytes_changed(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.write("vault/a", "Stone.")
    vault = world.source("vault")
    first = prepare(vault, "a", None, world.config)
    assert isinstance(first, Parsed)
    assert isinstance(prepare(vault, "a", first.digest, world.config), Same)
    assert isinstance(prepare(vault, "absent", None, world.config), Gone)


def test_the_header_names_the_language_before_the_settings_and_the_text(tmp_path: Path) -> None:
    text = "Der Schlüssel liegt unter dem Stein.\n"
    plain, named = text.encode(), f"---\nlang: Dutch\n---\n{text}".encode()
    code = f"---\nlanguage: python\n---\n{text}".encode()

    def language(data: bytes, fixed: str | None) -> str:
        return parse(
            "vault", "vault", "a", data, "2026-01-01", ChunkSettings(), fixed
        ).card.language

    assert [language(data, None) for data in (plain, named, code)] == ["de", "nl", "de"]
    assert [language(data, "fr") for data in (plain, named, code)] == ["fr", "nl", "fr"]


def test_a_compound_is_cut_into_two_words_that_notes_have() -> None:
    split = parts("haftpflichtversicherung", ["de"], {"haftpflicht", "versicher"}.__contains__)
    assert split == (("haftpflicht",), ("versicher",))
    assert parts("wohnungsschlüssel", ["de"], {"wohnung", "schlussel"}.__contains__)
    assert not parts("wohnungsschlüssel", ["en"], {"wohnung", "schlussel"}.__contains__)
    assert not parts("haftpflichtversicherung", ["de"], {"haftpflicht"}.__contains__)
