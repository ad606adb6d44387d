"""Passes, findings and runs on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memory_mcp.cli.wording import for_person
from memory_mcp.curate.review.findings import Dreams, Finding
from tests.cli.conftest import Command, note

TEA = "\ufeff---\r\ntitle: Tea # mine\r\n---\r\n# Tea\r\n\r\nBlack, at four.\r\n"


def finding(number: int = 1, **values: Any) -> Finding:
    header: dict[str, Any] = {
        "finding_id": f"f{number}",
        "kind": "fact",
        "action": "memory_edit",
        "reference": "memory/tea",
        "reason": "The person said: “I drink green tea”.",
        "arguments": {"slug": "tea", "old_text": "Black", "new_text": "Green"},
        "proposed_content": "Green, at four.",
    }
    return Finding(**{**header, **values})


def kept(home: Path, *findings: Finding) -> str:
    """Findings of a pass; its id."""
    dreams = Dreams(home / ".state" / "dreams", "default")
    return dreams.add("rem", "2026-03-01T10:00:00+00:00", "conversation x", findings).dream_id


def notes(home: Path) -> dict[str, bytes]:
    """Every note of the home as it is on disk."""
    return {
        str(path.relative_to(home)): path.read_bytes()
        for folder in ("agents", "wiki", "vault")
        for path in (home / folder).rglob("*.md")
    }


def test_findings_are_listed_and_shown(home: Path, command: Command) -> None:
    dream_id = kept(home, finding(1), finding(2, duplicate_of="wiki/tea", evidence=("wiki/x",)))
    listed = command("dream", "list")
    assert (listed.code, listed.err) == (0, "")
    assert listed.out.startswith(f"{dream_id}\trem\t")
    assert "2 of 2\tconversation x" in listed.out
    assert command("dream", "list", "--json").json["dreams"][0]["pending"] == 2
    shown = command("dream", "show", dream_id).out
    assert "f1  fact  memory_edit  memory/tea  pending" in shown
    assert "    Green, at four." in shown
    assert "Near to wiki/tea; new in it: nothing concrete." in shown
    assert len(command("dream", "show", dream_id, "--json").json["findings"]) == 2


def test_a_dry_run_prints_the_diff_and_touches_nothing(home: Path, command: Command) -> None:
    note(home, "memory/tea", "").write_bytes(TEA.encode("utf-8"))
    dream_id = kept(home, finding())
    before, state = notes(home), (home / ".state" / "dreams" / f"{dream_id}.json").read_bytes()
    done = command("dream", "apply", dream_id, "f1", "--dry-run")
    assert done.code == 0
    assert "--- a/memory/tea.md" in done.out
    assert "-Black, at four." in done.out
    assert "+Green, at four." in done.out
    rows = command("dream", "apply", dream_id, "f1", "--dry-run", "--json").json["changes"]
    assert [row["reference"] for row in rows] == ["memory/tea"]
    assert notes(home) == before
    assert (home / ".state" / "dreams" / f"{dream_id}.json").read_bytes() == state
    assert not (home / ".history").exists()


def test_a_run_is_applied_and_taken_back_byte_for_byte(home: Path, command: Command) -> None:
    note(home, "memory/tea", "").write_bytes(TEA.encode("utf-8"))
    note(home, "memory/old", "# Old\n\nGone soon.\n")
    new = {"slug": "cup", "content": "# Cup\n\nBlue.\n"}
    dream_id = kept(
        home,
        finding(1),
        finding(2, action="memory_write", reference="memory/cup", arguments=new),
        finding(3, action="memory_delete", reference="memory/old", arguments={"slug": "old"}),
    )
    start = notes(home)
    for number in (1, 2, 3):
        done = command("dream", "apply", dream_id, f"f{number}", "--json")
        assert done.json["status"] == "applied"
        assert done.json["left"] == 3 - number
    after = notes(home)
    assert set(after) - set(start) == {"agents/default/memory/cup.md"}
    assert set(start) - set(after) == {"agents/default/memory/old.md"}
    for number in (3, 2, 1):
        run = f"{dream_id}-f{number}"
        back = command("restore", "--run", run, "--json")
        assert back.code == 0
        assert back.json["run"] == run
        assert len(back.json["restored"]) == 1
    assert notes(home) == start
    shown = command("dream", "show", dream_id, "--json").json["findings"]
    assert [item["status"] for item in shown] == ["pending"] * 3
    again = command("restore", "--run", f"{dream_id}-f1")
    assert (again.code, "nothing had to be changed" in again.out) == (0, True)
    forth = command("restore", "--run", f"undo-{dream_id}-f2")
    assert "Taken back: memory/cup" in forth.out
    assert f"Applied again: {dream_id} f2." in forth.out
    assert "agents/default/memory/cup.md" in notes(home)


def test_a_finding_that_was_taken_back_waits_again_and_is_done_again(
    home: Path, command: Command
) -> None:
    tea = note(home, "memory/tea", "")
    tea.write_bytes(TEA.encode("utf-8"))
    dream_id = kept(home, finding(1))
    command("dream", "apply", dream_id, "f1")
    assert b"Green" in tea.read_bytes()
    back = command("restore", "--run", f"{dream_id}-f1")
    assert f"Waits again: {dream_id} f1." in back.out
    assert tea.read_bytes() == TEA.encode("utf-8")
    again = command("dream", "apply", dream_id, "f1", "--json").json
    assert (again["status"], again["changed"], again["left"]) == ("applied", ["memory/tea"], 0)
    assert b"Green" in tea.read_bytes()
    assert command("restore", "--run", f"{dream_id}-f1", "--json").json["pending"] == [
        f"{dream_id} f1"
    ]
    assert tea.read_bytes() == TEA.encode("utf-8")


def test_a_run_whose_note_was_changed_since_is_not_taken_back(
    home: Path, command: Command
) -> None:
    note(home, "memory/tea", "# Tea\n\nBlack, at four.\n")
    dream_id = kept(home, finding())
    assert command("dream", "apply", dream_id, "f1").code == 0
    edited = note(home, "memory/tea", "# Tea\n\nMint.\n")
    done = command("restore", "--run", f"{dream_id}-f1")
    assert done.code == 1
    assert "memory-mcp history memory/tea" in done.err
    assert edited.read_text(encoding="utf-8") == "# Tea\n\nMint.\n"


def test_what_is_dismissed_stays_undone(home: Path, command: Command) -> None:
    note(home, "memory/tea", "# Tea\n\nBlack.\n")
    dream_id = kept(home, finding(1), finding(2), finding(3))
    one = command("dream", "dismiss", dream_id, "f1", "--reason", "wrong", "--json")
    assert one.json == {
        "dream_id": dream_id,
        "finding_id": "f1",
        "status": "dismissed",
        "changed": [],
        "left": 2,
    }
    by_hand = command("dream", "apply", dream_id, "f2", "--resolved-manually")
    assert f"{dream_id} f2: applied." in by_hand.out
    assert command("dream", "dismiss", dream_id).code == 0
    assert command("dream", "list").out == ""
    assert "(wrong)" in command("dream", "show", dream_id).out
    assert "Black." in (home / "agents/default/memory/tea.md").read_text(encoding="utf-8")


def test_a_phase_is_noted_and_done_where_one_waits(home: Path, command: Command) -> None:
    noted = command("dream", "run", "rem", "--json").json
    assert (noted["kind"], noted["status"]) == ("dream-rem", "queued")
    assert command("dream", "run", "rem", "--json").json["job_id"] == noted["job_id"]
    done = command("dream", "run", "rem", "--wait")
    assert done.code == 0
    assert "no reasoner is configured" in done.out
    listed = command("jobs", noted["job_id"], "--json").json["jobs"]
    assert listed[0]["status"] == "done"


def test_a_job_is_cancelled(home: Path, command: Command) -> None:
    job = command("dream", "run", "lucid", "--json").json["job_id"]
    done = command("jobs", "--cancel", job, "--json")
    assert done.json["jobs"][0]["status"] == "failed"
    assert done.json["jobs"][0]["error"] == "Cancelled."
    assert command("jobs", "--cancel", "dream-none").code == 1


def test_a_run_that_is_under_way_is_not_taken_back(home: Path, command: Command) -> None:
    job = command("dream", "run", "lucid", "--json").json["job_id"]
    done = command("restore", "--run", job)
    assert done.code == 1
    assert f"memory-mcp jobs --cancel {job}" in done.err


def test_a_phase_that_only_proposes_says_so_for_a_dry_run(command: Command) -> None:
    done = command("dream", "run", "rem", "--dry-run")
    assert (done.code, done.out) == (0, "")
    assert "proposes findings" in done.err


@pytest.mark.parametrize(
    "words",
    [
        ("dream", "run", "rom"),
        ("dream", "run"),
        ("dream", "apply", "x"),
        ("dream", "list", "--status", "open"),
        ("restore",),
        ("restore", "memory/x", "--run", "y"),
        ("jobs", "a", "--cancel", "b"),
    ],
)
def test_wrong_usage_is_two(command: Command, words: tuple[str, ...]) -> None:
    assert command(*words).code == 2


@pytest.mark.parametrize(
    ("words", "way_out"),
    [
        (("dream", "show", "rem-x"), "memory-mcp dream list"),
        (("dream", "apply", "rem-x", "f1"), "memory-mcp dream list"),
        (("dream", "dismiss", "rem-x"), "memory-mcp dream list"),
        (("restore", "--run", "none"), "memory-mcp jobs"),
        (("--read-only", "restore", "--run", "none"), "read-only"),
    ],
)
def test_errors_name_the_way_out(command: Command, words: tuple[str, ...], way_out: str) -> None:
    done = command(*words)
    assert (done.code, done.out) == (1, "")
    assert way_out in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_texts_for_models_are_put_in_the_words_of_the_command_line() -> None:
    said = "Call dream_apply with resolved_manually, or dream_dismiss; dream_get shows all."
    assert for_person(said) == (
        "Call memory-mcp dream apply with --resolved-manually, or memory-mcp dream dismiss;"
        " memory-mcp dream show shows all."
    )


def test_what_is_printed_as_json_is_json(home: Path, command: Command) -> None:
    dream_id = kept(home, finding(proposed_content="\x1b[31m„ä“"))
    out = command("dream", "show", dream_id, "--json").out
    assert json.loads(out)["findings"][0]["proposed_content"] == "\x1b[31m„ä“"
    assert "\x1b" not in command("dream", "show", dream_id).out
