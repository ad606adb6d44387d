"""What `init` lays out: once, over nothing, in the language of the settings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memory_mcp.cli.starter import skill
from tests.cli.conftest import Command, note


def contents(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and not {".history", ".state"} & {*path.parts}
    }


def test_init_lays_out_a_home_and_a_second_time_changes_nothing(
    tmp_path: Path, command: Command
) -> None:
    place = tmp_path / "new"
    done = command("--home", str(place), "init")
    assert done.out.count("  written\n") == 5
    found = contents(place)
    assert set(found) == {
        "config.yml",
        "skills/memory/SKILL.md",
        "wiki/people/README.md",
        "wiki/places/README.md",
        "wiki/threads/README.md",
    }
    assert found["wiki/people/README.md"].startswith(b"# People\n\nOne page for each person")
    assert found["skills/memory/SKILL.md"].decode() == skill()
    again = command("--home", str(place), "init")
    assert again.out.count("was there, left as it is") == 2
    assert contents(place) == found


def test_a_dry_run_makes_nothing_and_names_the_same_files(
    tmp_path: Path, command: Command
) -> None:
    place = tmp_path / "new"
    shown = command("--home", str(place), "init", "--dry-run")
    assert shown.out.count("would be written") == 5
    assert not place.exists()
    planned = command("--home", str(place), "init", "--dry-run", "--json").json
    done = command("--home", str(place), "init", "--json").json
    assert planned["files"] == done["files"]
    assert (planned["config_written"], done["config_written"]) == (False, True)


def test_folders_are_explained_in_german(home: Path, command: Command) -> None:
    (home / "config.yml").write_text("curation: {language: de}\n", encoding="utf-8")
    assert command("init").code == 0
    text = (home / "wiki" / "threads" / "README.md").read_text(encoding="utf-8")
    assert text.startswith("# Vorhaben\n")


def test_a_wiki_that_has_pages_is_left_as_it_is(home: Path, command: Command) -> None:
    note(home, "wiki/personen/anna", "Anna.\n")
    assert "README" not in command("init").out
    assert [path.name for path in (home / "wiki").iterdir()] == ["personen"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"curation": {"layout": "days"}}, ()), ({}, ("--read-only",))],
)
def test_no_pages_come_where_none_are_wanted(
    home: Path, command: Command, settings: dict[str, object], words: tuple[str, ...]
) -> None:
    (home / "config.yml").write_text(json.dumps(settings), encoding="utf-8")
    assert command(*words, "init").code == 0
    assert not list((home / "wiki").rglob("*.md"))


def test_a_wiki_on_a_disk_that_is_not_there_is_not_made(
    home: Path, tmp_path: Path, command: Command
) -> None:
    away = tmp_path / "disk" / "wiki"
    (home / "config.yml").write_text(
        json.dumps({"sources": {"wiki": {"path": str(away)}}}), encoding="utf-8"
    )
    assert command("init").code == 0
    assert not away.parent.exists()
