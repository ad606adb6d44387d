"""Writing, showing, linking, deleting and restoring notes on the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.cli.conftest import Command, note


def test_a_note_is_written_found_and_shown(home: Path, command: Command) -> None:
    done = command("write", "kettle", "--content", "The kettle hums in E flat.", "--tag", "sound")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Created memory/kettle, revision ")
    assert (home / "agents/default/memory/kettle.md").is_file()
    assert "1. memory/kettle" in command("search", "what does the kettle hum").out
    shown = command("show", "kettle")
    assert shown.code == 0
    assert "The kettle hums in E flat." in shown.out
    assert "sound" in shown.out


def test_show_prints_the_bytes_of_the_file(home: Path, command: Command) -> None:
    text = "\ufeff---\r\ntitle: Tee\r\n---\r\n# Tee\r\n\r\n龙井茶\r\n"
    file = note(home, "wiki/tea", "")
    file.write_bytes(text.encode("utf-8"))
    assert command("show", "wiki/tea").out == text


def test_show_prints_all_pages_of_a_long_note_and_no_private_part(
    home: Path, command: Command
) -> None:
    lines = "".join(f"Line {number} of a very long chronicle.\n" for number in range(3000))
    note(home, "wiki/long", f"# Long\n\n<private>combination 4711</private>\n{lines}End.\n")
    shown = command("show", "wiki/long").out
    assert shown.endswith(f"{lines}End.\n")
    assert "4711" not in shown
    whole = command("show", "wiki/long", "--json").json
    assert whole["content"] == shown
    assert (whole["truncated"], whole["next_offset"]) == (False, None)


def test_show_passages_says_how_a_note_is_cut(home: Path, command: Command) -> None:
    note(home, "wiki/pipe", "# Pipe\n\nOpening.\n\n## Thread\n\nM6 by 1.\n")
    shown = command("show", "wiki/pipe", "--passages", "--json").json
    assert [item["heading"] for item in shown] == ["Pipe", "Pipe > Thread"]
    assert all(item["lines"][0] <= item["lines"][1] for item in shown)
    assert "Pipe > Thread (lines" in command("show", "wiki/pipe", "--passages").out


def test_json_of_a_written_note_names_what_was_replaced(command: Command) -> None:
    first = command("write", "lamp", "--content", "60 W.", "--json").json
    assert (first["created"], first["replaced_revision"]) == (True, None)
    second = command("write", "lamp", "--content", "40 W.", "--json").json
    assert (second["created"], second["replaced_revision"]) == (False, first["revision"])
    assert set(second) == {
        "reference",
        "revision",
        "created",
        "replaced_revision",
        "similar",
        "warnings",
    }


def test_if_revision_protects_what_changed(home: Path, command: Command) -> None:
    revision = command("write", "lamp", "--content", "60 W.", "--json").json["revision"]
    file = note(home, "memory/lamp", "75 W, said a person.\n")
    before = file.read_bytes()
    for words in (("write", "lamp", "--content", "40 W."), ("delete", "lamp")):
        refused = command(*words, "--if-revision", revision)
        assert refused.code == 1
        assert "memory-mcp:" in refused.err
        assert "75 W" in refused.err
        assert file.read_bytes() == before


def test_a_deleted_note_comes_back_byte_for_byte(home: Path, command: Command) -> None:
    command("write", "fuse", "--content", "The fuse is 16 A.")
    file = home / "agents/default/memory/fuse.md"
    text = file.read_bytes()
    gone = command("delete", "fuse", "--json").json
    assert (gone["deleted"], file.exists()) == (True, False)
    assert command("delete", "fuse").out == "There was no note memory/fuse.\n"
    back = command("restore", "memory/fuse", gone["revision"], "--json").json
    assert back["reference"] == "memory/fuse"
    assert file.read_bytes() == text
    assert "memory/fuse" in command("search", "fuse").out


def test_history_lists_kept_versions_newest_first(command: Command) -> None:
    revisions = [
        command("write", "dial", "--content", text, "--json").json["revision"]
        for text in ("one", "two", "three")
    ]
    shown = command("history", "dial", "--json").json
    assert shown["reference"] == "memory/dial"
    assert [item["revision"] for item in shown["versions"]] == revisions[1::-1]
    assert [
        line.split("\t")[0] for line in command("history", "memory/dial").out.splitlines()
    ] == (revisions[1::-1])


def test_history_of_a_note_that_never_changed_says_so(command: Command) -> None:
    command("write", "dial", "--content", "one")
    done = command("history", "dial")
    assert done.code == 1
    assert "memory/dial" in done.err
    assert command("history", "dial", "--json").json["versions"] == []


def test_restore_finds_a_wiki_page_without_its_source(home: Path, command: Command) -> None:
    kept = home / ".history/wiki/people/ida/20260301T101500.000000Z-2a97516c354b.md"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b"x")
    done = command("history", "people/ida", "--json")
    assert done.json["reference"] == "wiki/people/ida"


def test_a_link_is_entered_once(home: Path, command: Command) -> None:
    note(home, "wiki/house", "# House\n")
    command("write", "fuse", "--content", "The fuse is 16 A.")
    for _ in range(2):
        done = command("link", "fuse", "wiki/house", "--relation", "part_of", "--json")
        assert done.json["links"] == [{"to": "wiki/house", "relation": "part_of"}]
    assert "wiki/house (part_of)" in command("link", "fuse", "house").out.replace("related", "")
    backlinks = command("show", "wiki/house", "--json").json["backlinks"]
    assert "memory/fuse" in json.dumps(backlinks)


def test_read_only_changes_nothing(home: Path, command: Command) -> None:
    for words in (
        ("write", "lamp", "--content", "x"),
        ("delete", "lamp"),
        ("save", "--content", "x"),
    ):
        done = command("--read-only", *words)
        assert done.code == 1
        assert "read-only" in done.err
    assert not list((home / "agents/default/memory").glob("*.md"))


def test_an_unknown_note_is_one_clear_line(command: Command) -> None:
    done = command("show", "memory/nothing-here")
    assert done.code == 1
    assert done.out == ""
    assert "memory/nothing-here" in done.err
    assert "Traceback" not in done.err


def test_a_name_that_leads_out_is_refused(home: Path, command: Command) -> None:
    done = command("write", "../evil", "--content", "x")
    assert done.code == 1
    assert "a-z" in done.err
    assert not (home / "agents/default/evil.md").exists()


def test_a_reference_of_the_inbox_is_as_good_as_a_slug(home: Path, command: Command) -> None:
    assert command("write", "memory/tea", "--content", "Green.").out.startswith(
        "Created memory/tea"
    )
    gone = command("delete", "memory/tea")
    assert (gone.code, gone.out.splitlines()[0]) == (0, "Deleted memory/tea.")
    assert not (home / "agents/default/memory/tea.md").exists()


def test_delete_never_proposes_another_note(home: Path, command: Command) -> None:
    (home / "config.yml").write_text(
        "embedding: {provider: none}\nsources: {vault: {path: v}}\n", encoding="utf-8"
    )
    (home / "v").mkdir()
    (home / "v/bad.md").write_text("# Bad\n", encoding="utf-8")
    command("write", "bad", "--content", "Another one.")
    for name in ("vault/bad", "Bad", "../bad", "bad.md", "wiki/bad"):
        done = command("delete", name)
        assert (done.code, done.out) == (1, "")
        assert "inbox" in done.err
        assert "id you mean" not in done.err
    assert (home / "agents/default/memory/bad.md").exists()
    assert (home / "v/bad.md").exists()


def test_errors_speak_of_commands(home: Path, command: Command) -> None:
    note(home, "wiki/house", "# House\n")
    for words in (
        ("show", "memory/none"),
        ("list", "--cursor", "abc"),
        ("link", "wiki/house", "wiki/house"),
        ("jobs", "save-none"),
        ("delete", "none", "--if-revision", "0123456789ab"),
    ):
        done = command(*words)
        assert "memory_" not in done.err
        assert "next_cursor" not in done.err


def test_times_of_history_and_jobs_have_one_form(command: Command) -> None:
    command("write", "dial", "--content", "one")
    command("write", "dial", "--content", "two")
    command("save", "--content", "The gate is green.")
    form = r"\t\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d\d:\d\d\t"
    for words in (("history", "dial"), ("jobs",)):
        assert re.search(form, command(*words).out)
