"""The English that a model reads: shipped Markdown files, and the user's own versions of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

PREFACE = "prompt"
"""The user's own `prompt.md` is put in front of every prompt."""

LONGEST = 32_768
"""Bytes of a user's own version that are read; a longer one is no prompt."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text for a model, and what its header says of how it is to be worked with."""

    text: str
    model: str | None = None
    """Another model of the provider that is configured."""
    tools: tuple[str, ...] | None = None
    """The only functions that are offered; None: those that the job has."""


def load(name: str, home: str | None = None) -> str:
    """The text of a prompt: the user's own version below `home`, else the shipped one.

    Raises FileNotFoundError where there is neither.
    """
    return prompt(name, home).text


def prompt(name: str, home: str | None = None) -> Prompt:
    """A prompt with what its header sets; the preface's header counts where its own is silent.

    Raises FileNotFoundError where there is neither an own nor a shipped one.
    """
    own = _own(name, home)
    found = _read(own if own is not None else _shipped(name))
    preface = _own(PREFACE, home)
    if not preface:
        return found
    before = _read(preface)
    return Prompt(
        f"{before.text.strip()}\n\n{found.text}",
        found.model or before.model,
        before.tools if found.tools is None else found.tools,
    )


def shipped(name: str) -> str:
    """The text of a shipped prompt."""
    return _read(_shipped(name)).text


@cache
def _shipped(name: str) -> str:
    return (_folder() / f"{name}.md").read_text(encoding="utf-8")


def _read(text: str) -> Prompt:
    """A prompt without its header; what is no header of a prompt is text."""
    if not text.removeprefix("\ufeff").startswith("---"):
        return Prompt(text)
    from memory_mcp.core.frontmatter import split_and_load  # a handshake has no time for YAML

    parts, loaded = split_and_load(text)
    if parts.header is None or loaded.state != "good":
        return Prompt(text)
    model, tools = loaded.values.get("model"), loaded.values.get("tools")
    names = tools.replace(",", " ").split() if isinstance(tools, str) else tools
    return Prompt(
        parts.body.lstrip("\r\n"),
        model.strip() or None if isinstance(model, str) else None,
        tuple(str(name) for name in names) if isinstance(names, list) else None,
    )


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
