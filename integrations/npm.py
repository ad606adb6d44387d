"""npm, for the checks in this folder: what they need goes beside them, in fixed versions."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

NODE = "22.23.3"
"""Installed where the Node.js of this machine is older than a check needs."""

OFFLINE = re.compile(
    r"\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH"
    r"|ERR_SOCKET_TIMEOUT|EIDLETIMEOUT|ENOTCACHED|E403|E5\d\d)\b"
)
"""The words of npm for: the packages cannot be reached from here."""

QUIET = ("--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1")


class Unavailable(Exception):
    """What a check needs cannot be had on this machine; the reason, for people."""


def install(folder: Path) -> None:
    """Install what the lock file in the folder names, unless that is there already.

    Raises Unavailable without npm or without the network, RuntimeError where npm fails otherwise.
    """
    lock = folder / "package-lock.json"
    stamp = folder / "node_modules" / ".memory-mcp-lock"
    if stamp.is_file() and stamp.read_bytes() == lock.read_bytes():
        return
    _npm(folder, "ci", *QUIET)
    stamp.write_bytes(lock.read_bytes())


def node(least: int, folder: Path) -> str:
    """A Node.js of at least this major version: the machine's, or one put into the folder."""
    own = shutil.which("node")
    if own is not None and major(own) >= least:
        return own
    local = folder / "node_modules" / "node" / "bin" / "node"
    if not local.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        _npm(folder, "install", *QUIET, "--no-save", "--prefix", str(folder), f"node@{NODE}")
    if not local.is_file() or major(str(local)) < least:
        raise Unavailable(f"Node.js {least} is needed, and npm has none for this machine")
    return str(local)


def major(program: str) -> int:
    """The major version of a Node.js; 0 where it does not say."""
    try:
        told = subprocess.run(
            [program, "--version"], capture_output=True, encoding="utf-8", check=False
        )
    except OSError:
        return 0
    found = re.match(r"v(\d+)\.", told.stdout)
    return int(found[1]) if found else 0


def _npm(folder: Path, *words: str) -> None:
    program = shutil.which("npm")
    if program is None:
        raise Unavailable("npm is not installed")
    done = subprocess.run(
        [program, *words],
        cwd=folder,
        env={**os.environ, "npm_config_update_notifier": "false"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode == 0:
        return
    if found := OFFLINE.search(done.stderr):
        raise Unavailable(f"npm cannot reach its packages ({found[0]})")
    raise RuntimeError(f"npm {words[0]} failed in {folder.name}:\n{done.stderr.strip()}")
