"""Surroundings that know no letters but those of ASCII, and a home that needs others."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_mcp.front.stopping import stop
from tests.server.test_stdio import environment, process
from tests.server.worlds import write_files

SURROUNDINGS = (
    {"LANG": "C", "LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
    {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"LANG": "de_DE.ISO-8859-1", "LC_ALL": "", "PYTHONIOENCODING": "cp1252:strict"},
)
NAME = "Żółć 日本 e\u0301"
TEXT = "✓ done 🔥 שלום 你好 Żółć\n"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home whose path and files need more letters. No engine of it is left behind."""
    path = tmp_path / "Ordner é 記憶"
    write_files(path, {f"wiki/{NAME}.md": TEXT, "memory/a.md": "Åse's plum.\n"})
    yield path
    stop(environment(path), {})


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.skipif(sys.platform == "win32", reason="the variables mean something else there")
@pytest.mark.parametrize("flags", [("--in-process",), ()], ids=["alone", "engine"])
@pytest.mark.parametrize("around", SURROUNDINGS, ids=["posix", "c", "latin"])
def test_notes_names_and_paths_keep_their_letters(
    home: Path, around: dict[str, str], flags: tuple[str, ...]
) -> None:
    with process(home, *flags, **around) as server:
        server.hello()
        listed = server.call(1, "memory_list", source="all")["structuredContent"]["notes"]
        reference = "wiki/" + NAME.replace("e\u0301", "é")
        assert [note["reference"] for note in listed] == ["memory/a", reference]
        found = server.call(2, "memory_search", query="你好")["structuredContent"]
        assert found["hits"][0]["reference"] == reference
        page = server.call(3, "memory_get", reference=f"wiki/{NAME}")["structuredContent"]
        assert page["content"] == TEXT
        server.call(
            4, "memory_write", slug="b", content="★ 🎉 naïve\n", frontmatter={"title": "Ü"}
        )
        done = server.call(5, "memory_link", source="b", target=reference)
        assert done["structuredContent"]["links"][0]["to"] == reference
        refused = server.call(6, "memory_get", reference="wiki/Łódź")
        assert "Łódź" in refused["content"][0]["text"]
        server.close_input()
        assert server.inner.stderr is not None
        assert b"Encode" not in server.inner.stderr.read()
    text = (home / "agents" / "default" / "memory" / "b.md").read_bytes().decode("utf-8")
    assert "★ 🎉 naïve" in text
    assert "title: Ü" in text
    assert "\ufffd" not in text
    assert (home / "wiki" / f"{NAME}.md").read_text(encoding="utf-8") == TEXT
