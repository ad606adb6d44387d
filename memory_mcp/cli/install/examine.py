"""What `doctor` says of the clients: the entries are there, and what they start is, too."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from memory_mcp.cli.finding import Finding
from memory_mcp.cli.install import files
from memory_mcp.cli.install.catalog import CLIENTS, Client
from memory_mcp.cli.install.formats import JSON, TOML, at
from memory_mcp.cli.install.json_tree import BrokenError
from memory_mcp.cli.install.parts import Hooks, Instruction, Part, Server
from memory_mcp.cli.install.places import Machine, codex_folder
from memory_mcp.cli.install.record import Record, Records
from memory_mcp.cli.install.trust import are_off, untrusted
from memory_mcp.core.errors import MemoryMcpError


def examine_clients(home: Path) -> Iterator[Finding]:
    """One finding for each file that `install` has changed for this home."""
    for record in Records(home).all():
        client = CLIENTS.get(record.client)
        if client is not None:
            try:
                yield _examine(client, record)
            except (MemoryMcpError, BrokenError) as error:
                way_out = f"mend {record.file}"
                yield Finding(client.title, "wrong", f"{record.file}: {error}", way_out)


def _examine(client: Client, record: Record) -> Finding:
    file = Path(record.file)
    text = files.text_of(file, files.read(file))
    part = _part(client, record)
    again = f"memory-mcp install {client.name}{' --project' if record.project else ''}"
    if part.remove(text, None) == text:
        said = f"{file} has nothing of memory-mcp any more; {again} enters it, and with"
        return Finding(client.title, "remark", f"{said} --uninstall it is forgotten")
    for command in part.commands(text):
        if not _can_start(command):
            said = f"{file} starts {command}, which is not there"
            return Finding(client.title, "wrong", said, again)
    if isinstance(part, Hooks):
        return _hooks(client, file, text)
    return Finding(client.title, "good", f"{record.what} in {file}")


def _part(client: Client, record: Record) -> Part:
    if record.kind == "hooks":
        return Hooks(JSON, ())
    if record.kind == "instructions":
        return Instruction()
    return Server(client.format, (client.section, record.name), {})


def _can_start(command: str) -> bool:
    return shutil.which(os.path.expanduser(command)) is not None  # noqa: PTH111 - text


def _hooks(client: Client, file: Path, text: str) -> Finding:
    hooks = JSON.parse(text)
    if hooks.get("disableAllHooks") is True:
        said = f"{file} switches all hooks off (disableAllHooks)"
        return Finding(client.title, "remark", said)
    if client.name == "codex":
        settings = codex_folder(Machine()) / "config.toml"
        config = TOML.parse(files.text_of(settings, files.read(settings)))
        if are_off(config):
            return Finding(client.title, "remark", f"{settings} switches all hooks off")
        if skipped := untrusted(file, hooks, config):
            said = f"{file}: not trusted yet, and so never run: {', '.join(skipped)}"
            way_out = "start codex, enter /hooks, and trust those of memory-mcp"
            return Finding(client.title, "wrong", said, way_out)
    count = len(at(hooks, ("hooks",)) or ())
    return Finding(client.title, "good", f"hooks at {count} events in {file}")
