"""Folders of other programs as sources, as they are: nothing is moved, and nothing is written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.server.worlds import Talk, talking, world

pytestmark = pytest.mark.anyio

AUTO_MEMORY: dict[str, str] = {
    "MEMORY.md": (
        "- [Deploy ritual](deploy_ritual.md) — the release steps that must not be reordered\n"
        "- [Speaks German](user_language.md) — answers in German, code in English\n"
        "- [Old note](topics/debugging.md) — how the flaky test was found\n"
    ),
    "deploy_ritual.md": (
        "---\n"
        "name: deploy-ritual\n"
        'description: "The release steps: never reorder them"\n'
        "metadata:\n"
        "  node_type: memory\n"
        "  type: project\n"
        "  originSessionId: 5a0c6c0e-5f0e-4d6f-9f64-0a4b8b1f1a11\n"
        "---\n\n"
        "Back up before migrating the database.\n\n"
        "**Why:** the migration of March lost a table.\n"
        "**How to apply:** run the backup job first.\n"
        "See [[user-language]] and [[not-written-yet]].\n"
    ),
    "user_language.md": (
        "---\n"
        "metadata:\n"
        "  name: user-language\n"
        "  description: Answers in German, code in English\n"
        "  type: feedback\n"
        "  tags: language, style\n"
        "---\n\n"
        "The user reads German.\n"
    ),
    "topics/debugging.md": "# Debugging\n\nThe flaky test shares a port.\n",
    "old_form.md": (
        "---\nname: Old form\ndescription: has its type at the top\ntype: reference\n"
        "created: 1/5/26\nupdated: last Tuesday\n---\nThe wiki is at port 8080.\n"
    ),
}

VAULT: dict[str, str] = {
    ".obsidian/app.json": "{}",
    ".obsidian/plugins/x/README.md": "# Plugin zebra\n",
    ".trash/Gone.md": "Gone zebra.\n",
    "Templates/Person.md": "---\naliases: [{{title}}]\ncreated: {{date}}\n---\n# {{title}}\n",
    "Home.md": "# Home\n\n[[Anna Berg]] · [[projects/Boat|the boat]] · ![[Sketch.canvas]]\n",
    "People/Anna Berg.md": (
        "---\n"
        "aliases:\n  - Anni\n  - Frau Berg\n"
        "tags:\n  - person/family\n"
        "cssclasses:\n  - wide\n"
        'partner: "[[Karl]]"\n'
        "born: 1961-03-04\n"
        "---\n"
        "Anna keeps bees. #garden/bees\n\n> [!note] Ask her about honey\n\n"
        "%% private remark: zebra %%\n"
    ),
    "People/Karl.md": "---\nalias: Charly\ntag: '#person'\n---\nKarl sails. ^sails\n",
    "Projects/Boat.md": (
        "# Boat\n\nOwner: [[Charly#Sailing]], crew [[people/anna berg|Anna]].\n\n"
        "![[Anna Berg#^bees]]\n![[boat.png|300]]\n\n"
        "| who | what |\n| --- | --- |\n| [[Karl\\|K]] | helm |\n"
    ),
    "Daily/2026-05-04.md": "Met [Karl](../People/Karl.md) and [[Frau Berg]].\n",
    "Attachments/boat.png": "not a note",
    "Sketch.canvas": "{}",
}

PLAIN: dict[str, str] = {
    "shopping list.md": "milk\nrye bread\n",
    "Ideas/2024.md": "A shed with a green roof.\n",
    "Ideas/Wärmepumpe.md": "Die Wärmepumpe steht im Keller.\n",
    "notes.txt": "plain text\n",
    "photo.jpg": "x",
}


def lay(folder: Path, files: Mapping[str, str]) -> dict[Path, tuple[bytes, int]]:
    """Write files; what must stay as it is."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return state_of(folder)


def state_of(folder: Path) -> dict[Path, tuple[bytes, int]]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


async def rows_of(talk: Talk, source: str) -> dict[str, dict[str, Any]]:
    listed = await talk.done("memory_list", source=source)
    return {row["reference"]: row for row in listed["notes"]}


async def links_of(talk: Talk, reference: str) -> list[str | None]:
    return [
        link["reference"] for link in (await talk.done("memory_get", reference=reference))["links"]
    ]


async def test_the_memory_of_claude_code_is_a_source(tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "projects" / "-home-anna-shop" / "memory"
    before = lay(folder, AUTO_MEMORY)
    sources = {"claude": {"path": str(folder)}}
    async with world(tmp_path / "home", sources=sources) as place, talking(place) as talk:
        rows = await rows_of(talk, "claude")
        assert set(rows) == {f"claude/{name.removesuffix('.md')}" for name in AUTO_MEMORY}
        ritual, language = rows["claude/deploy_ritual"], rows["claude/user_language"]
        assert ritual["title"] == "deploy-ritual"
        assert ritual["description"] == "The release steps: never reorder them"
        assert language["title"] == "user-language"
        assert language["description"] == "Answers in German, code in English"
        assert language["tags"] == ["language", "style"]
        assert rows["claude/old_form"]["created"] == "1/5/26"
        assert not [row["warnings"] for row in rows.values() if row["warnings"]]

        assert await links_of(talk, "claude/MEMORY") == [
            "claude/deploy_ritual",
            "claude/user_language",
            "claude/topics/debugging",
        ]
        assert await links_of(talk, "claude/deploy_ritual") == ["claude/user_language", None]
        for name in ("deploy-ritual", "claude/deploy-ritual", "[[deploy-ritual]]"):
            read = await talk.done("memory_get", reference=name)
            assert read["reference"] == "claude/deploy_ritual"
        assert read["frontmatter"]["metadata"]["type"] == "project"
        assert [back["reference"] for back in read["backlinks"]] == ["claude/MEMORY"]

        for query, reference in (
            ("feedback", "claude/user_language"),
            ("migration lost a table", "claude/deploy_ritual"),
        ):
            hits = (await talk.done("memory_search", query=query))["hits"]
            assert hits[0]["reference"] == reference
    assert state_of(folder) == before


async def test_a_vault_of_obsidian_is_a_source(tmp_path: Path) -> None:
    folder = tmp_path / "Vault"
    before = lay(folder, VAULT)
    sources = {"vault": {"path": str(folder), "exclude": ["Templates/**"]}}
    async with world(tmp_path / "home", sources=sources) as place, talking(place) as talk:
        rows = await rows_of(talk, "vault")
        assert set(rows) == {
            "vault/Home",
            "vault/People/Anna Berg",
            "vault/People/Karl",
            "vault/Projects/Boat",
            "vault/Daily/2026-05-04",
        }
        assert rows["vault/People/Anna Berg"]["tags"] == ["person/family", "garden/bees"]
        assert rows["vault/People/Karl"]["tags"] == ["person"]
        assert rows["vault/People/Anna Berg"]["description"] == ""
        assert not [row["warnings"] for row in rows.values() if row["warnings"]]

        assert set(await links_of(talk, "vault/Projects/Boat")) == {
            "vault/People/Karl",
            "vault/People/Anna Berg",
        }
        assert await links_of(talk, "vault/Home") == [
            "vault/People/Anna Berg",
            "vault/Projects/Boat",
        ]
        assert set(await links_of(talk, "vault/Daily/2026-05-04")) == {
            "vault/People/Karl",
            "vault/People/Anna Berg",
        }
        for name, reference in (
            ("Anni", "vault/People/Anna Berg"),
            ("vault/frau berg", "vault/People/Anna Berg"),
            ("[[Charly|him]]", "vault/People/Karl"),
            ("Karl.md", "vault/People/Karl"),
        ):
            assert (await talk.done("memory_get", reference=name))["reference"] == reference

        tagged = await talk.done("memory_list", source="vault", tag="garden")
        assert [row["reference"] for row in tagged["notes"]] == ["vault/People/Anna Berg"]
        hits = (await talk.done("memory_search", query="Frau Berg"))["hits"]
        assert hits[0]["reference"] == "vault/People/Anna Berg"
        assert not (await talk.done("memory_search", query="plugin"))["hits"]
        assert "not in the inbox" in await talk.refused(
            "memory_link", source="vault/Home", target="Anni"
        )
    assert state_of(folder) == before


async def test_a_plain_folder_is_a_source(tmp_path: Path) -> None:
    folder = tmp_path / "Notes"
    before = lay(folder, PLAIN)
    sources = {"notes": {"path": str(folder)}}
    async with world(tmp_path / "home", sources=sources) as place, talking(place) as talk:
        rows = await rows_of(talk, "notes")
        assert {reference: row["title"] for reference, row in rows.items()} == {
            "notes/shopping list": "shopping list",
            "notes/Ideas/2024": "2024",
            "notes/Ideas/Wärmepumpe": "Wärmepumpe",
        }
        hits = (await talk.done("memory_search", query="Wo steht die Wärmepumpe?"))["hits"]
        assert hits[0]["reference"] == "notes/Ideas/Wärmepumpe"
        read = await talk.done("memory_get", reference="shopping list")
        assert read["content"] == "milk\nrye bread\n"
    assert state_of(folder) == before


async def test_a_label_that_several_notes_have_names_them(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "vault/a.md": "---\naliases: [Twin]\n---\nOne.\n",
        "vault/b.md": "---\naliases: [twin]\n---\nTwo.\n",
    }
    async with world(tmp_path, files) as place, talking(place) as talk:
        said = await talk.refused("memory_get", reference="Twin")
        assert "fits 2 notes: vault/a, vault/b" in said


async def test_a_path_comes_before_a_label(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "vault/other.md": "---\naliases: [tea]\n---\nNot this one.\n",
        "memory/deep.md": "---\ntitle: tea\n---\nNor this.\n",
        "vault/drinks/tea.md": "Green tea.\n",
    }
    async with world(tmp_path, files) as place, talking(place) as talk:
        for name in ("tea", "[[tea]]"):
            read = await talk.done("memory_get", reference=name)
            assert read["reference"] == "vault/drinks/tea"
