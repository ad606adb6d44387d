"""What commands wait for: words where names are enough, and not for a model that hangs."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from memory_mcp.app import open_app
from memory_mcp.cli.context import Setup
from memory_mcp.cli.running import WORDS, Wait, prepared
from memory_mcp.core.ports import Embedder
from tests.cli.conftest import note
from tests.fakes import HashEmbedder

pytestmark = pytest.mark.anyio
COUNT = 300


@pytest.fixture
def full(tmp_path: Path) -> Path:
    """A new home with many notes that were never indexed."""
    home = tmp_path / "home"
    for number in range(COUNT):
        note(home, f"wiki/n{number}", f"# Note {number}\n\nKettle {number} hums.\n")
    return home


class Slow:
    """A model that is not there until it is let go."""

    def __init__(self) -> None:
        self.free = threading.Event()

    def __call__(self) -> Embedder:
        assert self.free.wait(9)
        return HashEmbedder()


async def test_names_and_words_do_not_wait_for_vectors(
    full: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = Slow()
    async with open_app(Setup({"home": str(full)}).config(), embedder=model) as app:
        app.start()
        try:
            await prepared(app, WORDS)
            assert app.reader.list("all", None, None, 1000, None).total == COUNT
            assert app.index.state().unread == 0
            assert app.index.state().pending == COUNT
        finally:
            model.free.set()
    assert capsys.readouterr().err == ""


async def test_what_still_waits_is_counted_on_stderr(
    full: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = Slow()
    async with open_app(Setup({"home": str(full)}).config(), embedder=model) as app:
        app.start()
        try:
            await prepared(app, WORDS)
            await prepared(app, Wait(0.0, meaning=True))
        finally:
            model.free.set()
    assert f"{COUNT} notes wait" in capsys.readouterr().err


async def test_without_a_model_nothing_waits_for_vectors(full: Path) -> None:
    (full / "config.yml").write_text("embedding: {provider: none}\n", encoding="utf-8")
    async with open_app(Setup({"home": str(full)}).config()) as app:
        app.start()
        await prepared(app, WORDS)
        assert await app.settled(5)
        assert app.index.state().pending == 0
        assert app.reader.list("all", None, None, 1000, None).total == COUNT
