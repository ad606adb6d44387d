"""The derived index: `status` looks at it, `reindex` builds it again."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memory_mcp.cli import render
from memory_mcp.cli.asking import asked
from memory_mcp.cli.context import Setup, as_json, no_memory, pass_setup, project_here
from memory_mcp.cli.reasoner import NOBODY, described, reasoner_json
from memory_mcp.core.config import Config
from memory_mcp.core.counting import counted
from memory_mcp.core.errors import MemoryMcpError, StorageError
from memory_mcp.index.state import IndexState
from memory_mcp.settings.project import Project

if TYPE_CHECKING:
    from memory_mcp.notes.sources import Source

REINDEX_SECONDS = 60.0
"""How long an engine may be silent while it builds the index again."""


@click.command()
@as_json
@pass_setup
def status(setup: Setup, json_: bool) -> None:
    """What is indexed and what waits; loads no model."""
    config = setup.config()
    found = status_of(setup, config)
    if json_:
        render.as_json(found)
    elif not Path(config.home).is_dir():
        render.line(no_memory(config.home))
    else:
        _show(found)


def status_of(setup: Setup, config: Config) -> dict[str, Any]:
    """What `status --json` prints: from the engine where one runs, else from the files."""
    from memory_mcp.server.status import status_json

    try:
        found = asked(setup, "status")
    except MemoryMcpError as error:
        render.remark(f"The engine runs: {error}.")
        found = None
    if found is None:
        project = project_here(config)
        sources, warnings = sources_of(config, project)
        state = state_of(config, sources)
        found = status_json(config.home, config.agent, state, project=project, warnings=warnings)
    engine = {key: found["engine"][key] for key in ("pid", "uptime_s", "clients")}
    projects = {} if config.projects == "off" else {"projects": projects_json(config)}
    chosen = reasoner_json(config, os.environ)
    reasoner = {} if chosen is None else {"reasoner": chosen}
    return {**found, "home": config.home, "engine": engine, **projects, **reasoner}


def sources_of(
    config: Config, project: Project | None
) -> tuple[tuple[Source, ...], tuple[str, ...]]:
    """The sources that a client here would see, and warnings of the project. Nothing is made."""
    from memory_mcp.notes.projects import project_inbox, project_vaults
    from memory_mcp.notes.sources import open_sources

    shared = open_sources(config, create=False)
    if project is None:
        return shared, ()
    vaults, warnings = project_vaults(config, project, shared)
    sources = (project_inbox(config, project), *shared, *vaults)
    return sources, (*project.warnings, *warnings)


def projects_json(config: Config) -> list[dict[str, Any]]:
    """The projects that have notes in this home, for the one to whom it belongs."""
    from memory_mcp.notes.projects import known_projects

    return [
        {"id": one.id, "path": str(one.folder), "files": one.notes}
        for one in known_projects(Path(config.home))
    ]


def state_of(config: Config, sources: Sequence[Source]) -> IndexState:
    """The state as files and catalog show it, and a Qdrant server if one is used. Nothing is
    made: a folder that the first start makes in the home counts as empty, in a home that is not
    there as missing."""
    from memory_mcp.index.status import disk_state

    state = disk_state(config, sources, _away(config))
    home = Path(config.home).resolve()
    if not home.is_dir():
        return state
    later = {
        source.name
        for source in sources
        if source.kind != "vault" and source.root.is_relative_to(home) and not source.root.exists()
    }
    known = {
        name: replace(one, state="empty") if name in later and one.state == "missing" else one
        for name, one in state.sources.items()
    }
    warnings = tuple(warned for warned in state.warnings if warned.reference not in later)
    return replace(state, sources=known, warnings=warnings)


def _away(config: Config) -> str | None:
    """Why the Qdrant server cannot be asked that keeps the vectors; None where it can, or there is
    none."""
    if config.vectors.url is None or config.embedding.provider == "none":
        return None
    from memory_mcp.index.server import probe  # the client of Qdrant

    try:
        probe(config.vectors)
    except StorageError as error:
        return str(error)
    return None


def _show(found: Mapping[str, Any]) -> None:
    render.strong(f"{found['home']}, agent {found['agent']}")
    engine, sources = found["engine"], found["sources"]
    rows = [
        # Where no engine runs nobody is known to be at work on it: it waits, that is sure.
        [
            name,
            "waiting" if source["state"] == "indexing" and not engine["pid"] else source["state"],
            str(source["files"]),
            str(source["passages"]),
            source["path"],
        ]
        for name, source in sources.items()
    ]
    columns = ["source", "state", "notes", "passages", "folder"]
    render.table(columns, rows, whole=columns[:4])
    if engine["pid"]:
        render.line(f"engine: process {engine['pid']}, {counted(engine['clients'], 'client')}")
    render.line(f"meaning: {_meaning(found['embedder'], found['vectors'])}")
    reasoner = found.get("reasoner")
    render.line(f"reasoner: {NOBODY if reasoner is None else described(reasoner)}")
    render.line(f"waiting to be indexed: {counted(found['pending'], 'note')}")
    if "project" in found:
        render.line(f"project: {found['project']['id']}, {found['project']['folder']}")
    others = [one["id"] for one in found.get("projects", ())]
    if others:
        render.line(f"projects with notes: {', '.join(others)}")
    for warned in found["warnings"]:
        render.line(f"warning: {warned['reference']}: {warned['message']}")


def _meaning(model: Mapping[str, Any], vectors: int) -> str:
    match model["state"]:
        case "off":
            return "off (embedding.provider none)"
        case "failed":
            return f"failed, words only ({model['error']})"
    about = model["model"] or "the model"
    if model["dimension"]:
        about += f", {model['dimension']} numbers a vector"
    if not vectors:
        return f"nothing embedded yet ({about})"
    return f"{model['state']} ({about}), {counted(vectors, 'vector')}"


@click.command()
@click.option("--embeddings", is_flag=True, help="Compute the stored vectors again, too.")
@as_json
@pass_setup
def reindex(setup: Setup, embeddings: bool, json_: bool) -> None:
    """Build the index again from the files."""
    config = setup.existing()
    with render.progress("Indexing") as advance:
        question = {"embeddings": embeddings}
        found = asked(setup, "reindex", question, seconds=REINDEX_SECONDS, progress=advance)
    if found is None:
        found = _rebuilt(config, embeddings)
    if json_:
        render.as_json(found)
        return
    render.line(
        f"Indexed again: {counted(found['files'], 'note')}, {counted(found['vectors'], 'vector')},"
        f" {found['pending']} waiting."
    )
    if found["degraded"]:
        render.remark(found["degraded"])


def _rebuilt(config: Config, embeddings: bool) -> dict[str, Any]:
    """Build the index in this process; what it says about itself afterwards."""
    from memory_mcp.cli.running import rebuild

    state = rebuild(config, embeddings)
    return {
        "files": sum(source.files for source in state.sources.values()),
        "vectors": state.vectors,
        "pending": state.pending,
        "degraded": state.degraded,
    }
