"""The English that a model reads: shipped Markdown files, and the user's own versions of them."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

PREFACE = "prompt"
"""The user's own `prompt.md` is put in front of every prompt."""

LONGEST = 32_768
"""Bytes of a user's own version that are read; a longer one is no prompt."""


def load(name: str, home: str | None = None) -> str:
    """The text of a prompt: the user's own version below `home`, else the shipped one.

    Raises FileNotFoundError where there is neither.
    """
    own = _own(name, home)
    preface = _own(PREFACE, home)
    text = own if own is not None else shipped(name)
    return f"{preface.strip()}\n\n{text}" if preface else text


@cache
def shipped(name: str) -> str:
    """The text of a shipped prompt."""
    return (_folder() / f"{name}.md").read_text(encoding="utf-8")


def fill(text: str, **values: str) -> str:
    """The text with `{name}` replaced by the values; other braces stay."""
    for name, value in values.items():
        text = text.replace("{" + name + "}", value)
    return text


def _own(name: str, home: str | None) -> str | None:
    if home is None:
        return None
    path = Path(home) / "prompts" / f"{name}.md"
    try:
        if not path.is_file():  # opening a pipe would wait for ever, and the handshake with it
            return None
        with path.open("rb") as file:
            return file.read(LONGEST).decode("utf-8", "replace")
    except OSError:
        return None


@cache
def _folder() -> Traversable:
    """Where the prompts are: inside the package when installed, beside it in a source tree."""
    package = files("memory_mcp")
    installed = package / "prompts"
    if installed.is_dir():
        return installed
    return Path(str(package)).parent / "prompts"
