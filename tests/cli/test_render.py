"""What reaches the terminal: escapes, encodings, JSON, tables, closed pipes."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.cli import render


@given(st.text())
def test_visible_text_has_nothing_that_steers_a_terminal(text: str) -> None:
    shown = render.visible(text)
    assert not any(ord(letter) < 32 and letter not in "\t\n" for letter in shown)
    assert not any(letter in shown for letter in "\x7f\x9b\u202e\u2066")


def test_visible_text_keeps_letters_of_all_scripts() -> None:
    assert render.visible("Grüße, 龙井茶 ☕\tx\n") == "Grüße, 龙井茶 ☕\tx\n"


def test_a_note_cannot_move_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    render.line("a\x1b[2Jb")
    assert capsys.readouterr().out == "a\\x1b[2Jb\n"


def test_a_table_in_a_pipe_is_lines_with_tabs(capsys: pytest.CaptureFixture[str]) -> None:
    render.table(["name", "text"], [["a", "one\ntwo"], ["b", "x\ty"]])
    assert capsys.readouterr().out == "a\tone two\nb\tx y\n"


def test_json_keeps_its_letters(capsys: pytest.CaptureFixture[str]) -> None:
    render.as_json({"title": "龙井茶"})
    out = capsys.readouterr().out
    assert json.loads(out) == {"title": "龙井茶"}
    assert "龙井茶" in out


def printed(code: str, encoding: str) -> bytes:
    """What a program prints where the terminal has this encoding."""
    program = f"from memory_mcp.cli import render\nrender.prepare()\n{code}"
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, env=environment, timeout=9
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_letters_that_the_terminal_lacks_are_escaped() -> None:
    assert printed("render.line('tea 茶')", "latin-1").strip() == b"tea \\u8336"


def test_json_stays_json_where_the_terminal_lacks_letters() -> None:
    out = printed("render.as_json({'t': '茶 ä'})", "cp1252")
    assert json.loads(out.decode("ascii")) == {"t": "茶 ä"}


def test_a_broken_letter_does_not_end_the_program() -> None:
    assert printed("render.line('a\\udcffb')", "utf-8").strip() == b"a\\udcffb"


def test_a_notes_text_goes_byte_for_byte_into_a_pipe() -> None:
    code = "render.verbatim('\\ufeff# Tee\\r\\n\\x1b[1m茶')"
    assert printed(code, "latin-1") == "\ufeff# Tee\r\n\x1b[1m茶".encode()


def test_progress_without_a_terminal_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    with render.progress("Indexing") as advance:
        advance(1, 2)
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_tables_colours_and_a_progress_bar(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out, err = Terminal(), Terminal()
    sys_out, sys_err = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = out, err
    try:
        render.strong("Result")
        render.table(["name"], [["[bold]not markup[/bold] \x1b[2J"]])
        render.table(["a", "b", "c"], [["x" * 30, "short", "y" * 90]], whole=["a"], clip=["c"])
        with render.progress("Indexing") as advance:
            advance(1, 2)
    finally:
        sys.stdout, sys.stderr = sys_out, sys_err
    assert "Result" in out.getvalue()
    assert "[bold]not markup[/bold]" in out.getvalue()
    assert "\x1b[2J" not in out.getvalue()
    assert "Indexing" in err.getvalue()
    clipped = next(line for line in out.getvalue().splitlines() if "short" in line)
    assert "…" in clipped
    assert len(clipped) <= 80


def on_terminal(columns: int, code: str) -> str:
    """What a program prints on a terminal of so many columns, without its styles."""
    import pty
    import re

    ours, theirs = pty.openpty()
    program = f"from memory_mcp.cli import render\nrender.prepare()\n{code}"
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm"}
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    parts = []
    try:
        while part := os.read(ours, 65536):
            parts.append(part)
    except OSError:  # how a terminal ends
        pass
    os.close(ours)
    assert process.wait(9) == 0
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", b"".join(parts).decode()).replace("\r\n", "\n")


posix = pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
REFERENCE = "wiki/projects/tidewater/a-name-that-is-longer-than-usual"


@posix
@pytest.mark.parametrize("columns", [60, 80, 100, 200])
def test_a_list_never_cuts_a_reference(columns: int) -> None:
    code = (
        f"render.table(['note', 'updated', 'title', 'description'],"
        f" [[{REFERENCE!r}, '2026-03-01', 'T' * 40, 'D' * 300], ['memory/a', '', 't', 'd']],"
        f" whole=('note', 'updated'), clip=('title', 'description'))"
    )
    shown = on_terminal(columns, code)
    assert REFERENCE in shown
    assert all(len(line) <= columns for line in shown.splitlines())
    if columns == 200:
        assert "T" * 24 not in shown
        assert "D" * 60 in shown


@posix
@pytest.mark.parametrize("columns", [60, 80, 120])
def test_an_outcome_goes_on_on_the_next_line(columns: int) -> None:
    words = [f"word{number}" for number in range(30)]
    code = (
        "render.table(['job', 'status', 'created', 'outcome'],"
        f" [['save-8c7193bc9360', 'done', '2026-03-01 10:15:00+01:00', {' '.join(words)!r}]],"
        " whole=('job', 'status', 'created'))"
    )
    shown = on_terminal(columns, code)
    heading, _, first, *_ = lines = shown.splitlines()
    assert first.startswith(" save-8c7193bc9360 ")
    start = heading.index("outcome")
    outcome = "".join(line[start:] for line in [first, *lines[3:]])
    assert "".join(outcome.split()) == "".join(words)
    assert all(len(line) <= columns for line in lines)


@posix
def test_a_note_on_a_terminal_ends_where_it_ends() -> None:
    assert on_terminal(80, "render.verbatim('# Tea\\n')") == "# Tea\n"
    assert on_terminal(80, "render.verbatim('# Tea')") == "# Tea\n"


@posix
def test_a_bar_that_has_nothing_to_show_leaves_no_trace() -> None:
    assert on_terminal(80, "with render.progress('Indexing') as advance: advance(0, 0)") == ""


@given(
    st.dictionaries(st.sampled_from("abcd"), st.integers(1, 300), min_size=1),
    st.integers(-50, 300),
)
def test_cut_columns_fit_into_their_room(widths: dict[str, int], room: int) -> None:
    cut = render.clipped(widths, room)
    assert sum(width + render.GAP for width in cut.values()) <= max(room, 0)
    assert all(1 <= cut[name] <= widths[name] for name in cut)
    assert list(cut) == list(widths)[: len(cut)]
