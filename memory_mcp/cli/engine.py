"""`engine`: the process that all clients share."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from memory_mcp.cli import render
from memory_mcp.cli.asking import asked
from memory_mcp.cli.context import Setup, as_json, pass_setup
from memory_mcp.core.counting import counted
from memory_mcp.core.errors import MemoryMcpError
from memory_mcp.front import stopping
from memory_mcp.front.endpoint import home_of, pid_of
from memory_mcp.front.locks import engine_runs


@click.group()
def engine() -> None:
    """The process that all clients of a home share. A client starts it where there is none."""


@engine.command("run")
@click.option("--home", metavar="FOLDER", help="The home, as before the command.")
@click.option("--detached", is_flag=True, help="Report on stdout in one line of JSON, then log.")
@pass_setup
def run_engine(setup: Setup, home: str | None, detached: bool) -> int:
    """Run it here, until it is stopped, replaced or idle."""
    from memory_mcp.server.engine.run import leave, run

    leave(run(os.environ, home or setup.flags.get("home"), detached))


@engine.command("status")
@as_json
@pass_setup
def engine_status(setup: Setup, json_: bool) -> None:
    """Whether an engine runs, since when, and who uses it."""
    found = running(setup)
    silent = None if found else _silent(setup)
    if json_:
        render.as_json(found or {"pid": silent, "uptime_s": None, "clients": []})
    elif found is not None:
        _show(found)
    elif silent is not None:
        render.line(
            f"The engine (process {silent}) runs and does not answer; memory-mcp engine stop"
            " ends it, and the next client starts another."
        )
    else:
        render.line("No engine runs; the next client starts one.")


def _silent(setup: Setup) -> int | None:
    """The process of an engine that holds its lock and gave no answer."""
    home = home_of(os.environ, setup.flags.get("home"))
    pid = pid_of(home)
    return pid if pid is not None and engine_runs(home) else None


def running(setup: Setup) -> dict[str, Any] | None:
    """What the running engine says of itself; None where there is none that answers."""
    try:
        found = asked(setup, "status")
    except MemoryMcpError as error:
        render.remark(f"The engine runs: {error}.")
        return None
    if found is None:
        return None
    told: dict[str, Any] = found["engine"]
    told["clients"] = told.pop("client_list")
    return told


def _show(found: dict[str, Any]) -> None:
    render.strong(
        f"engine {found['version']}, process {found['pid']}, for {_time(found['uptime_s'])},"
        f" {counted(len(found['clients']), 'client')}"
    )
    columns = ["process", "agent", "connected", "idle", "calls", "may write"]
    rows = [
        [
            f"{one['pid']}{' (port)' if one['kind'] == 'serve' else ''}",
            one["agent"],
            _time(one["connected_s"]),
            _time(one["idle_s"]),
            str(one["calls"]),
            "no" if one["read_only"] else "yes",
        ]
        for one in found["clients"]
    ]
    if rows:
        render.table(columns, rows, whole=columns)


def _time(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


@engine.command("stop")
@pass_setup
def stop(setup: Setup) -> None:
    """Stop the engine. Its clients start another one with their next call."""
    try:
        outcome = stopping.stop(os.environ, setup.flags)
    except stopping.StillThere as error:
        raise MemoryMcpError(str(error)) from error
    match outcome:
        case "none":
            render.line("No engine runs.")
        case "stopped":
            render.line("The engine has stopped.")
        case "killed":
            render.line("The engine did not answer and was ended.")
    sys.stdout.flush()
