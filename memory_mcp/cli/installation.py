"""Where this program is installed, and what starts it tomorrow, too."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

NAME = "memory-mcp"
SCRIPT = f"{NAME}.exe" if os.name == "nt" else NAME
_UV_CACHE = re.compile(r"(?:archive|environments|builds)-v\d+")
_PIPX_CACHE = {".cache", "pipx"}
"""Two folders in a row, in either order: ~/.cache/pipx, and pipx/.cache of older versions."""


@dataclass(frozen=True, slots=True)
class Installation:
    """What starts this program, and what a person should know about it."""

    command: tuple[str, ...]
    remark: str | None = None


def installation() -> Installation:
    """This very installation."""
    command = _own_command()
    if not is_passing(Path(command[0])):
        return Installation(command)
    return _passing(command, _clone())


def is_passing(program: Path) -> bool:
    """Whether a program lies in the cache of uv or pipx, which may be emptied at any time."""
    parts = program.parts
    pairs = [set(pair) for pair in pairwise(parts)]
    return any(_UV_CACHE.fullmatch(part) for part in parts) or _PIPX_CACHE in pairs


def _passing(command: tuple[str, ...], clone: Path | None) -> Installation:
    """How to start a program that lies in a cache: from its clone, where that is known."""
    where = f"This memory-mcp runs from a cache ({Path(command[0]).parent}) that may be emptied"
    advice = "To have a command that stays, install it:"
    if clone is None:
        return Installation(
            command,
            f"{where}: then the lines below do not work any more. {advice} uv tool install"
            " /path/to/clone, and run memory-mcp init again.",
        )
    uvx = shutil.which("uvx") or "uvx"
    return Installation(
        (uvx, "--from", str(clone), NAME),
        f"{where}, so the lines below start it from your clone through uvx. {advice} uv tool"
        f" install {clone}, and run memory-mcp init again.",
    )


def _own_command() -> tuple[str, ...]:
    """The script beside this Python, else the one that was called, else the module."""
    beside = Path(sys.executable).parent / SCRIPT
    if beside.is_file():
        return (str(beside),)
    called = Path(sys.argv[0])
    if called.name == SCRIPT and (found := shutil.which(str(called))):
        return (str(Path(found).absolute()),)
    return (sys.executable, "-m", "memory_mcp")


def _clone() -> Path | None:
    """The folder this package was installed from, where the installer noted one."""
    try:
        return clone_of(distribution(NAME).read_text("direct_url.json"))
    except PackageNotFoundError:
        return None


def clone_of(noted: str | None) -> Path | None:
    """The folder that a `direct_url.json` names; None for none, or one that is not there."""
    try:
        url = urlsplit(json.loads(noted or "{}").get("url", ""))
    except (ValueError, AttributeError):
        return None
    folder = Path(url2pathname(url.path))
    return folder if url.scheme == "file" and folder.is_dir() else None
