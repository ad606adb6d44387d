"""`import` on the command line: what it says, and that a dry run leaves everything."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Command, note
from tests.curate.importing.test_folder import lay


def test_an_import_says_what_it_took_and_how_to_take_it_back(
    home: Path, tmp_path: Path, command: Command
) -> None:
    root = lay(tmp_path / "garden", tea="---\npinned: true\n---\nTea.\n", empty="")
    shown = command("import", "markdown", str(root), "--dry-run")
    assert shown.code == 0
    assert "+++ b/wiki/garden/tea.md" in shown.out
    assert "1 note would be imported" in shown.out
    assert not (home / "wiki" / "garden").exists()
    done = command("import", "markdown", str(root))
    assert "taken  tea.md -> wiki/garden/tea" in done.out
    assert "pinned was left out" in done.out
    assert "left   empty.md: it is empty" in done.out
    assert "memory-mcp restore --run import-" in done.out
    assert (home / "wiki" / "garden" / "tea.md").read_text(encoding="utf-8").endswith("\nTea.\n")
    (job,) = command("jobs", "--json").json["jobs"]
    assert f"restore --run {job['job_id']}\n" in done.out
    assert (job["kind"], job["status"]) == ("import", "done")
    assert (job["outcome"], job["changed"]) == (f"1 note from {root}.", ["wiki/garden/tea"])
    again = command("import", "markdown", str(root))
    assert "0 notes imported" in again.out
    assert len(command("jobs", "--json").json["jobs"]) == 1
    assert "restore" not in again.out


def test_an_import_reports_as_json(tmp_path: Path, command: Command) -> None:
    root = lay(tmp_path / "old" / "memory", tea="Tea.\n")
    shown = command("import", "claude-code", str(root), "--dry-run", "--json").json
    assert (shown["run"], shown["dry_run"], shown["by"]) == (None, True, "claude-code")
    assert "+Tea." in shown["diff"]
    done = command("import", "claude-code", str(root), "--json").json
    assert done["taken"] == [{"from": "old/tea.md", "reference": "memory/tea", "remarks": []}]
    assert done["run"].startswith("import-")


def test_an_import_that_cannot_be_fails_with_one_line(
    home: Path, tmp_path: Path, command: Command
) -> None:
    root = lay(tmp_path / "old", tea="Tea.\n")
    note(home, "memory/mine", "Mine.\n")
    assert command("import", "notion", str(root)).code == 2
    done = command("import", "markdown", str(tmp_path / "nowhere"))
    assert (done.code, done.out) == (1, "")
    assert "nowhere" in done.err
    done = command("--read-only", "import", "markdown", str(root))
    assert (done.code, done.out) == (1, "")
    assert "read-only" in done.err
    done = command("import", "markdown", str(home))
    assert "memory already" in done.err
