"""`status`, `doctor`, `reindex`, `save` and `jobs`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memory_mcp.cli.doctor import examine_home
from tests.cli.conftest import Command, note
from tests.index.qdrant_double import KEY, qdrant


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


def test_status_says_what_a_server_of_vectors_costs_that_is_away(
    home: Path, command: Command
) -> None:
    note(home, "memory/oak", "# Oak\n")
    command("search", "oak")
    with qdrant() as server:
        vectors = f"vectors: {{url: '{server.url}', api_key: {KEY}}}\n"
        (home / "config.yml").write_text(vectors, encoding="utf-8")
        assert command("status", "--json").json["embedder"]["state"] == "ready"
        server.away = True
        state = command("status", "--json").json
        assert state["embedder"]["state"] == "failed"
        assert server.url in state["embedder"]["error"]
        assert state["vectors"] == 0
        shown = command("status").out
        assert "meaning: failed, words only (the Qdrant server at vectors.url" in shown
        assert "set vectors.url to null" in shown
        assert f"vectors: the Qdrant server at vectors.url {server.url}" in command("doctor").out
        server.away = False
        assert command("status", "--json").json["embedder"]["state"] == "ready"


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
    assert f"memory-mcp --home {nowhere} init makes it" in done.out
    assert not nowhere.exists()


def test_doctor_reports_a_model_that_cannot_be_used(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_MCP_EMBEDDING__PROVIDER", "mistral")
    monkeypatch.delenv("MISTRAL_API_KEY", raising=False)
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


def test_status_of_a_missing_home_makes_nothing(tmp_path: Path, command: Command) -> None:
    nowhere = tmp_path / "nowhere"
    done = command("--home", str(nowhere), "status", "--json")
    assert done.code == 0
    assert done.json["home"] == str(nowhere)
    assert {one["state"] for one in done.json["sources"].values()} == {"missing"}
    assert (done.json["pending"], done.json["vectors"]) == (0, 0)
    said = command("--home", str(nowhere), "status")
    way_out = f"memory-mcp --home {nowhere} init"
    assert said.out == f"there is no memory at {nowhere}; {way_out} makes it\n"
    assert not nowhere.exists()


def test_status_and_doctor_of_an_empty_home_make_nothing(tmp_path: Path, command: Command) -> None:
    empty = tmp_path / "empty"
    empty.mkdir(mode=0o700)
    state = command("--home", str(empty), "status", "--json").json
    assert {one["state"] for one in state["sources"].values()} == {"empty"}
    assert state["warnings"] == []
    assert command("--home", str(empty), "doctor").code == 0
    assert list(empty.iterdir()) == []


def test_status_says_waiting_where_nobody_is_known_to_work(
    home: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    note(home, "memory/oak", "# Oak\n")
    monkeypatch.setenv("MEMORY_MCP_EMBEDDING__PROVIDER", "bundled")
    shown = command("status").out
    assert "memory\twaiting\t" in shown
    assert "meaning: nothing embedded yet" in shown
    assert "waiting to be indexed: 1 note\n" in shown
    assert command("status", "--json").json["sources"]["memory"]["state"] == "indexing"


def test_reindex_as_json(home: Path, command: Command) -> None:
    note(home, "memory/oak", "# Oak\n")
    shown = command("reindex", "--json").json
    assert shown == {"files": 1, "vectors": 0, "pending": 0, "degraded": shown["degraded"]}


def findings(command: Command, *flags: str) -> dict[str, dict[str, str]]:
    shown = command(*flags, "doctor", "--json").json["findings"]
    return {finding["subject"]: finding for finding in shown}


def test_doctor_asks_the_vector_server(home: Path, command: Command) -> None:
    (home / "config.yml").write_text(
        "embedding: {provider: none}\nvectors: {url: 'http://127.0.0.1:9'}\n", encoding="utf-8"
    )
    found = findings(command)["vectors"]
    assert found["state"] == "wrong"
    assert "http://127.0.0.1:9" in found["text"]
    assert "vectors.url" in found["way_out"]
    assert command("doctor").code == 1


def test_doctor_names_the_key_that_is_missing(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_MCP_EMBEDDING__PROVIDER", "openai")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert "set OPENAI_API_KEY" in findings(command)["model"]["way_out"]


def test_doctor_looks_at_the_rest_after_a_missing_home(tmp_path: Path, command: Command) -> None:
    found = findings(command, "--home", str(tmp_path / "nowhere"))
    assert found["home"]["state"] == "wrong"
    assert found["model"]["state"] == "good"
    assert "index" not in found


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="owners of POSIX")
def test_doctor_says_whose_a_foreign_home_is(home: Path) -> None:
    stranger = os.getuid() + 1
    found = examine_home(home, stranger)
    assert found.state == "wrong"
    assert f"belongs to {home.owner()}" in found.text
    assert f"chown -R {stranger}" in found.way_out
    assert examine_home(home).state == "good"


def test_every_wrong_finding_has_a_way_out(
    home: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    for provider in ("openai", "google", "mistral"):
        monkeypatch.setenv("MEMORY_MCP_EMBEDDING__PROVIDER", provider)
        for variable in ("OPENAI_API_KEY", "GEMINI_API_KEY", "MISTRAL_API_KEY"):
            monkeypatch.delenv(variable, raising=False)
        found = findings(command)["model"]
        assert (found["state"], "embedding.provider" in found["way_out"]) == ("wrong", True)
    (home / "config.yml").write_text("indx: {}\n", encoding="utf-8")
    assert all(
        finding["way_out"]
        for finding in findings(command, "--tools", "nonsense").values()
        if finding["state"] == "wrong"
    )
