"""The command `memory-mcp`: its options, its commands, its exit codes."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence

import click

from memory_mcp import __version__
from memory_mcp.cli import render
from memory_mcp.cli.cause import innermost
from memory_mcp.cli.config import config
from memory_mcp.cli.context import Setup
from memory_mcp.cli.doctor import doctor
from memory_mcp.cli.engine import engine, serve
from memory_mcp.cli.example import demo
from memory_mcp.cli.history import history, restore
from memory_mcp.cli.home import init
from memory_mcp.cli.index import reindex, status
from memory_mcp.cli.notes import delete, link, show, write
from memory_mcp.cli.saving import jobs, save
from memory_mcp.cli.search import list_notes, search
from memory_mcp.core.errors import MemoryMcpError

INTERRUPTED = 130
"""128 + SIGINT, as shells have it."""


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--home", metavar="FOLDER", help="The home, else as MEMORY_MCP_HOME says.")
@click.option("--agent", metavar="NAME", help="Whose inbox; else MEMORY_MCP_AGENT, else default.")
@click.option("--read-only", is_flag=True, help="Change no note.")
@click.option("--tools", metavar="SETS", help="Which sets of tools a client sees: core.")
@click.option("--in-process", is_flag=True, help="Run all in this process (always so).")
@click.version_option(__version__, prog_name="memory-mcp")
@click.pass_context
def cli(
    context: click.Context,
    home: str | None,
    agent: str | None,
    read_only: bool,
    tools: str | None,
    in_process: bool,
) -> None:
    """The long-term memory that every AI agent on this machine shares: a folder of Markdown notes.

    Without a command it speaks MCP on stdio: that is what a client starts.
    """
    context.obj = Setup.of(home, agent, read_only, tools, in_process)


for command in (
    search,
    show,
    list_notes,
    write,
    save,
    delete,
    link,
    history,
    restore,
    status,
    doctor,
    reindex,
    jobs,
    config,
    init,
    demo,
    serve,
    engine,
):
    cli.add_command(command)


def run(arguments: Sequence[str]) -> int:
    """Run one command. 0: done, 1: failed with the reason on stderr, 2: wrong usage."""
    render.prepare()
    logging.basicConfig(
        level=logging.DEBUG if render.debugging() else logging.ERROR, stream=sys.stderr
    )
    try:
        code = cli.main(
            [as_text(word) for word in arguments], prog_name="memory-mcp", standalone_mode=False
        )
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except (BrokenPipeError, SystemExit):  # click ends the process where a pipe is broken
        return _reader_gone()
    except Exception as error:  # noqa: BLE001 - the last frame: every failure becomes one line
        return _failed(error)
    return code if isinstance(code, int) else 0


def as_text(word: str) -> str:
    """An argument as UTF-8 text, whatever encoding the surroundings claim to have."""
    return os.fsencode(word).decode("utf-8", "replace")


def _failed(error: Exception) -> int:
    cause = innermost(error)
    if isinstance(cause, BrokenPipeError):
        return _reader_gone()
    if render.debugging():
        render.traceback_of(error)
    if isinstance(cause, (MemoryMcpError, OSError)):
        render.failure(str(cause))
    else:
        render.failure(
            f"unexpected {type(cause).__name__}: {cause}; MEMORY_MCP_DEBUG=1 shows where it arose"
        )
    return 1


def _reader_gone() -> int:
    """The reader of our output closed it (`| head`): no error, and nothing more to write."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
