"""The command `memory-mcp`: its options, its commands, its exit codes."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress

import click

from memory_mcp import __version__
from memory_mcp.cli import render
from memory_mcp.cli.config import config
from memory_mcp.cli.context import Setup
from memory_mcp.cli.doctor import doctor
from memory_mcp.cli.dream import dream
from memory_mcp.cli.ending import ended
from memory_mcp.cli.engine import engine
from memory_mcp.cli.evaluate import evaluate
from memory_mcp.cli.example import demo
from memory_mcp.cli.history import history, restore
from memory_mcp.cli.home import init
from memory_mcp.cli.hook import hook
from memory_mcp.cli.import_ import import_
from memory_mcp.cli.index import reindex, status
from memory_mcp.cli.install.command import install
from memory_mcp.cli.notes import delete, link, show, write
from memory_mcp.cli.recall import recall
from memory_mcp.cli.saving import jobs, save
from memory_mcp.cli.search import list_notes, search
from memory_mcp.cli.serve import serve
from memory_mcp.cli.trust import trust


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--home", metavar="FOLDER", help="The home, else as MEMORY_MCP_HOME says.")
@click.option("--agent", metavar="NAME", help="Whose inbox; else MEMORY_MCP_AGENT, else default.")
@click.option("--read-only", is_flag=True, help="Change no note.")
@click.option("--tools", metavar="SETS", help="Sets of tools that a client sees: core, curation.")
@click.option("--in-process", is_flag=True, help="All in this process, without the engine.")
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
    recall,
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
    install,
    evaluate,
    import_,
    jobs,
    dream,
    config,
    init,
    trust,
    demo,
    serve,
    hook,
    engine,
):
    cli.add_command(command)


def run(arguments: Sequence[str]) -> int:
    """Run one command. 0: done, 1: failed with the reason on stderr, 2: wrong usage, 130:
    interrupted."""
    return ended(lambda: _run([as_text(word) for word in arguments]))


def _run(words: list[str]) -> object:
    logging.basicConfig(
        level=logging.DEBUG if render.debugging() else logging.ERROR, stream=sys.stderr
    )
    return cli.main(words, prog_name="memory-mcp", standalone_mode=False)


def leave(code: int) -> int:
    """The exit code; where a thread is left behind that waits for a far machine, the process ends
    here with it. Everything that matters is on disk."""
    others = (thread for thread in threading.enumerate() if not thread.daemon)
    if any(thread is not threading.main_thread() for thread in others):
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # closed, or nobody reads it
                stream.flush()
        os._exit(code)
    return code


def as_text(word: str) -> str:
    """An argument as UTF-8 text, whatever encoding the surroundings claim to have."""
    return os.fsencode(word).decode("utf-8", "replace")
