"""`status`, `doctor`, `reindex`, `save` and `jobs`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Command, note


def test_status_has_the_fields_that_others_rely_on(home: Path, command: Command) -> None:
    note(home, "memory/oak", "# Oak\n\nStands by the gate.\n")
    command("search", "oak")
    state = command("status", "--json").json
    assert set(state) == {
        "home",
        "agent",
        "engine",
        "embedder",
        "sources",
        "vectors",
        "pending",
        "warnings",
    }
    assert (state["home"], state["agent"]) == (str(home), "default")
    assert state["engine"] == {"pid": None, "uptime_s": None, "clients": 0}
    assert state["embedder"]["state"] == "off"
    assert set(state["embedder"]) == {"state", "model", "dimension", "error"}
    assert state["sources"]["memory"] == {
        "files": 1,
        "passages": 1,
        "path": str(home / "agents/default/memory"),
        "state": "ready",
    }
    assert state["sources"]["wiki"]["state"] == "empty"
    assert state["pending"] == 0


def test_status_counts_what_the_index_does_not_have_yet(home: Path, command: Command) -> None:
    note(home, "memory/oak", "# Oak\n")
    assert command("status", "--json").json["pending"] == 1
    command("search", "oak")
    assert command("status", "--json").json["pending"] == 0
    note(home, "memory/oak", "# Oak\n\nFelled.\n")
    note(home, "memory/elm", "# Elm\n")
    assert command("status", "--json").json["pending"] == 2
    assert "waiting to be indexed: 2" in command("status").out


def test_status_shows_warnings_of_notes_and_missing_folders(home: Path, command: Command) -> None:
    (home / "config.yml").write_text(
        "embedding: {provider: none}\nsources: {vault: {path: gone}}\n", encoding="utf-8"
    )
    note(home, "memory/bad", "---\ntags: {a: 1}\npinned: [x]\n---\n# Bad\n")
    command("search", "bad")
    state = command("status", "--json").json
    assert state["sources"]["vault"]["state"] == "missing"
    assert "memory/bad" in [warned["reference"] for warned in state["warnings"]]
    assert "warning: memory/bad:" in command("status").out


def test_status_loads_no_model_and_no_vector_store() -> None:
    code = (
        "import sys; from memory_mcp.cli.main import run; run(['status']);"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=9)
    loaded = set(done.stdout.decode().splitlines()[-1].split())
    assert not loaded & {"onnxruntime", "tokenizers", "qdrant_client", "mcp", "rich"}


def test_doctor_finds_a_sound_home_sound(home: Path, command: Command) -> None:
    note(home, "memory/oak", "# Oak\n")
    command("search", "oak")
    done = command("doctor")
    assert (done.code, done.err) == (0, "")
    assert "All is well." in done.out
    report = command("doctor", "--json").json
    assert report["ok"] is True
    subjects = {finding["subject"] for finding in report["findings"]}
    assert {"versions", "home", "settings", "source memory", "model", "index"} <= subjects


def test_doctor_names_a_damaged_index_and_the_way_out(home: Path, command: Command) -> None:
    note(home, "memory/oak", "# Oak\n")
    command("search", "oak")
    catalog = home / ".index" / "catalog.sqlite3"
    for side in home.glob(".index/catalog.sqlite3-*"):
        side.unlink()
    catalog.write_bytes(b"\0" * 8192)
    done = command("doctor")
    assert done.code == 1
    assert "WRONG  .index/catalog.sqlite3: damaged" in done.out
    assert "way out: delete it" in done.out
    assert catalog.read_bytes() == b"\0" * 8192, "doctor repairs nothing"
    assert "1. memory/oak" in command("search", "oak").out
    assert command("doctor").code == 0


def test_doctor_names_missing_folders_wrong_settings_and_a_missing_home(
    home: Path, command: Command, tmp_path: Path
) -> None:
    (home / "config.yml").write_text(
        "embedding: {provider: none}\nsources: {vault: {path: gone}}\n", encoding="utf-8"
    )
    done = command("doctor")
    assert done.code == 1
    assert f"source vault: {home / 'gone'} is not there" in done.out
    (home / "config.yml").write_text("indx: {}\n", encoding="utf-8")
    done = command("doctor")
    assert done.code == 1
    assert "indx" in done.out
    nowhere = tmp_path / "nowhere"
    done = command("--home", str(nowhere), "doctor")
    assert done.code == 1
    assert "memory-mcp init" in done.out
    assert not nowhere.exists()


def test_doctor_reports_a_model_that_cannot_be_used(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_MCP_EMBEDDING__PROVIDER", "multilingual")
    done = command("doctor")
    assert done.code == 1
    assert "WRONG  model:" in done.out


def test_reindex_reads_everything_again(home: Path, command: Command) -> None:
    note(home, "memory/oak", "# Oak\n")
    note(home, "wiki/elm", "# Elm\n")
    done = command("reindex")
    assert done.code == 0
    assert "Indexed again: 2 notes" in done.out
    assert command("status", "--json").json["pending"] == 0


def test_a_saved_fact_is_filed_and_listed(home: Path, command: Command) -> None:
    saved = command("save", "--content", "The gate key hangs behind the barrel.", "--json").json
    assert saved["status"] == "done"
    assert saved["changed"]
    assert "memory/" in command("search", "where is the gate key").out
    listed = command("jobs", "--json").json["jobs"]
    assert [job["job_id"] for job in listed] == [saved["job_id"]]
    assert command("jobs", saved["job_id"]).out.startswith(saved["job_id"])
    assert command("jobs", "save-unknown").code == 1


def test_no_jobs_is_no_failure(command: Command) -> None:
    done = command("jobs")
    assert (done.code, done.out) == (0, "")
    assert command("jobs", "--json").json == {"jobs": []}
