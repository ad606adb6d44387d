"""The derived index: `status` looks at it, `reindex` builds it again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from memory_mcp.cli import render
from memory_mcp.cli.context import Setup, as_json, no_memory, pass_setup
from memory_mcp.cli.wording import counted
from memory_mcp.core.config import Config
from memory_mcp.core.note import Json
from memory_mcp.index.state import IndexState


@click.command()
@as_json
@pass_setup
def status(setup: Setup, json_: bool) -> None:
    """What is indexed and what waits; loads no model."""
    config = setup.config()
    state = state_of(config)
    if json_:
        render.as_json(status_json(config, state))
    elif not Path(config.home).is_dir():
        render.line(no_memory(config.home))
    else:
        _show(config, state)


def state_of(config: Config) -> IndexState:
    """The state as files and catalog show it. Nothing is made: a folder that the first start
    makes in the home counts as empty, in a home that is not there as missing."""
    from memory_mcp.index.status import disk_state
    from memory_mcp.notes.sources import open_sources

    sources = open_sources(config, create=False)
    state = disk_state(config, sources)
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


def status_json(config: Config, state: IndexState) -> dict[str, Json]:
    """What `status --json` prints. No process is shared yet, so the engine is empty."""
    return {
        "home": config.home,
        "agent": config.agent,
        "engine": {"pid": None, "uptime_s": None, "clients": 0},
        "embedder": {
            "state": state.embedder.state,
            "model": state.embedder.model,
            "dimension": state.embedder.dimension,
            "error": state.embedder.error,
        },
        "sources": {
            name: {
                "files": source.files,
                "passages": source.passages,
                "path": source.path,
                "state": source.state,
            }
            for name, source in state.sources.items()
        },
        "vectors": state.vectors,
        "pending": state.pending,
        "warnings": [
            {"reference": warned.reference, "message": warned.message} for warned in state.warnings
        ],
    }


def _show(config: Config, state: IndexState) -> None:
    render.strong(f"{config.home}, agent {config.agent}")
    rows = [
        # Whether a process is at work on it cannot be known from here: it waits, that is sure.
        [
            name,
            "waiting" if source.state == "indexing" else source.state,
            str(source.files),
            str(source.passages),
            source.path,
        ]
        for name, source in state.sources.items()
    ]
    columns = ["source", "state", "notes", "passages", "folder"]
    render.table(columns, rows, whole=columns[:4])
    render.line(f"meaning: {_meaning(state)}")
    render.line(f"waiting to be indexed: {counted(state.pending, 'note')}")
    for warned in state.warnings:
        render.line(f"warning: {warned.reference}: {warned.message}")


def _meaning(state: IndexState) -> str:
    model = state.embedder
    match model.state:
        case "off":
            return "off (embedding.provider none)"
        case "failed":
            return f"failed ({model.error})"
    about = model.model or "the model"
    if model.dimension:
        about += f", {model.dimension} numbers a vector"
    if not state.vectors:
        return f"nothing embedded yet ({about})"
    return f"{model.state} ({about}), {counted(state.vectors, 'vector')}"


@click.command()
@click.option("--embeddings", is_flag=True, help="Compute the stored vectors again, too.")
@as_json
@pass_setup
def reindex(setup: Setup, embeddings: bool, json_: bool) -> None:
    """Build the index again from the files."""
    from memory_mcp.cli.running import rebuild

    state = rebuild(setup.existing(), embeddings)
    files = sum(source.files for source in state.sources.values())
    if json_:
        render.as_json(
            {
                "files": files,
                "vectors": state.vectors,
                "pending": state.pending,
                "degraded": state.degraded,
            }
        )
        return
    render.line(
        f"Indexed again: {counted(files, 'note')}, {counted(state.vectors, 'vector')},"
        f" {state.pending} waiting."
    )
    if state.degraded:
        render.remark(state.degraded)
