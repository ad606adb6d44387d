"""How a command ends: the exit code, one clear line for what failed, and what was printed."""

from __future__ import annotations

from collections.abc import Callable

import click

from memory_mcp.cli import render
from memory_mcp.cli.cause import innermost
from memory_mcp.core.errors import MemoryMcpError
from memory_mcp.notes.failure import plain_reason

FAILED = 1
INTERRUPTED = 130
"""128 + SIGINT, as shells have it."""


def ended(act: Callable[[], object]) -> int:
    """Run a command that gives its exit code, or None for 0. What it raises becomes a line on
    stderr and an exit code: 1 failed, 2 wrong usage, 130 interrupted."""
    try:
        render.prepare()
        code = act()
        render.flush()
    except click.NoSuchOption as error:
        return _no_such_option(error)
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


def _no_such_option(error: click.NoSuchOption) -> int:
    """Wrong usage; an option of the whole program that came too late is told where it stands."""
    shown: click.UsageError = error
    context = error.ctx
    whole = context.find_root() if context is not None else None
    if context is not None and whole is not None and whole is not context:
        known = {name: item for item in whole.command.params for name in item.opts}
        if option := known.get(error.option_name):
            value = "" if getattr(option, "is_flag", False) else f" {option.make_metavar(whole)}"
            command = context.command_path.removeprefix(f"{whole.command_path} ")
            shown = click.UsageError(
                f"{error.option_name} stands before the command: {whole.command_path}"
                f" {error.option_name}{value} {command} …",
                context,
            )
    shown.show()
    return shown.exit_code


def _failed(error: Exception) -> int:
    cause = innermost(error)
    if isinstance(cause, BrokenPipeError):
        return _reader_gone()
    if render.debugging():
        render.traceback_of(error)
    text = str(cause)
    if isinstance(cause, OSError) and cause.filename is None:  # of a stream: files have names
        text = f"the output cannot be written: {plain_reason(cause)}"
    if not isinstance(cause, (MemoryMcpError, OSError)):
        text = (
            f"unexpected {type(cause).__name__}: {text}; MEMORY_MCP_DEBUG=1 shows where it arose"
        )
    try:
        render.flush()
    except (MemoryMcpError, OSError):  # this is what failed, and is said
        render.give_up()
    render.failure(text)
    return FAILED


def _reader_gone() -> int:
    """The reader of our output closed it (`| head`): no error, and nothing more to write."""
    render.give_up()
    return 0
