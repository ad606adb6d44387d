"""Which project files count: `trust`."""

from __future__ import annotations

from pathlib import Path

import click

from memory_mcp.cli import render
from memory_mcp.cli.context import Setup, as_json, pass_setup
from memory_mcp.core.errors import ConfigError, InputError, NotFoundError, StorageError
from memory_mcp.notes.failure import plain_reason
from memory_mcp.settings.project_file import NAME, ProjectFile, parsed, read_bytes
from memory_mcp.settings.trust import Trust, digest_of


@click.command()
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("--list", "list_", is_flag=True, help="Show what is trusted.")
@click.option("--remove", is_flag=True, help="Trust PATH no more.")
@as_json
@pass_setup
def trust(setup: Setup, path: Path | None, list_: bool, remove: bool, json_: bool) -> None:
    """Let the .memory-mcp.yml of a project count as it is.

    A file that changes has to be trusted again.
    """
    if list_ == (path is not None) or (remove and path is None):
        raise click.UsageError("give PATH, or --list")
    known = Trust(Path(setup.shared().home))
    if path is None:
        _list(known, json_)
    elif remove:
        _remove(known, file_of(path), json_)
    else:
        _add(known, file_of(path), json_)


def file_of(path: Path) -> Path:
    """The project file that is meant by a folder, or by the file itself; without links above."""
    folder = path.parent if path.name == NAME else path
    try:
        return folder.resolve() / NAME
    except (OSError, RuntimeError) as error:
        raise InputError(f"{path} cannot be looked at: {error}") from error


def _add(known: Trust, path: Path, json_: bool) -> None:
    try:
        data = read_bytes(path)
    except (OSError, StorageError) as error:
        raise StorageError(f"{path} cannot be trusted: {_reason(error)}") from error
    if data is None:
        raise NotFoundError(f"there is no {path}; write it first, then trust it")
    file, problems = parsed(path.parent, data, digest_of(data))
    if file is None:
        raise ConfigError(problems)
    known.add(path, data)
    if json_:
        render.as_json({"path": str(path), "trusted": True, "sets": _sets(file)})
        return
    render.line(f"{path} counts now, as long as it stays as it is. It sets:")
    for text in _sets(file) or ["nothing"]:
        render.line(f"  {text}")


def _sets(file: ProjectFile) -> list[str]:
    """What a file changes, in lines a person can judge."""
    said = [f"agent: {file.agent}"] if file.agent else []
    said += [f"project: {file.project}"] if file.project else []
    said += ["read_only: true"] if file.read_only else []
    said += ["recall: its own settings"] if file.recall else []
    return said + [
        f"source {name}: {file.root / item.path}" for name, item in sorted(file.sources.items())
    ]


def _remove(known: Trust, path: Path, json_: bool) -> None:
    if not known.remove(path):
        raise NotFoundError(f"{path} is not trusted; --list shows what is")
    if json_:
        render.as_json({"path": str(path), "trusted": False})
    else:
        render.line(f"{path} counts no more.")


def _list(known: Trust, json_: bool) -> None:
    rows = [(path, _state(Path(path), digest)) for path, digest in sorted(known.files().items())]
    if json_:
        render.as_json({"trusted": [{"path": path, "state": state} for path, state in rows]})
        return
    if not rows:
        render.remark("No project file is trusted.")
    for path, state in rows:
        render.line(f"{path}  {state}")


def _state(path: Path, digest: str) -> str:
    try:
        data = read_bytes(path)
    except (OSError, StorageError) as error:
        return _reason(error)
    if data is None:
        return "gone"
    return "counts" if digest_of(data) == digest else "changed since: trust it again"


def _reason(error: OSError | StorageError) -> str:
    return plain_reason(error) if isinstance(error, OSError) else str(error)
