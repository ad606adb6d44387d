"""Picks the face: MCP on stdio where a client starts it, else the command line."""

from __future__ import annotations

import sys
from collections.abc import Sequence

_VALUES = {"--agent": "agent", "--home": "home", "--tools": "tools"}
_SWITCHES = {"--read-only": "read_only", "--in-process": "in_process"}


def stdio_flags(arguments: Sequence[str]) -> dict[str, object] | None:
    """The flags of a start on stdio, by the names of the settings; None: for the command line."""
    flags: dict[str, object] = {}
    rest = _without_serve(list(arguments))
    while rest:
        word, equals, value = rest.pop(0).partition("=")
        if word in _SWITCHES and not equals:
            flags[_SWITCHES[word]] = True
        elif word in _VALUES and (equals or rest):
            flags[_VALUES[word]] = value if equals else rest.pop(0)
        else:
            return None
    return flags


def _without_serve(words: list[str]) -> list[str]:
    """The words without `serve` and `--transport stdio`, which say what is the case anyway."""
    if "serve" not in words:
        return words
    words.remove("serve")
    if "--transport=stdio" in words:
        words.remove("--transport=stdio")
    elif "--transport" in words:
        at = words.index("--transport")
        if words[at + 1 : at + 2] == ["stdio"]:
            del words[at : at + 2]
    return words


def hook_call(arguments: Sequence[str]) -> tuple[str, dict[str, object]] | None:
    """The event of a hook and its flags; None where something else is asked for.

    Whatever is wrong with the words becomes part of the event: a hook must not fail."""
    flags: dict[str, object] = {}
    named: list[str] = []
    rest = list(arguments)
    while rest:
        word, equals, value = rest.pop(0).partition("=")
        if word in ("-h", "--help", "--version"):
            return None
        if word in _SWITCHES and not equals:
            flags[_SWITCHES[word]] = True
        elif word in _VALUES and (equals or rest):
            flags[_VALUES[word]] = value if equals else rest.pop(0)
        else:
            named.append(word + equals + value)
    command = next((word for word in named if not word.startswith("-")), "")
    if command != "hook":
        return None
    named.remove("hook")
    return " ".join(named), flags


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the arguments ask for; the exit code."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    if words[:2] == ["engine", "run"] and words[-1] == "--detached":
        return _run_engine(words[2:-1])
    if "hook" in words and (call := hook_call(words)) is not None:
        return _run_hook(*call)
    flags = stdio_flags(words)
    if flags is None:
        from memory_mcp.cli.main import leave
        from memory_mcp.cli.main import run as run_command

        code = run_command(words)
        return leave(code) if arguments is None else code
    if "serve" not in words and sys.stdin is not None and sys.stdin.isatty():
        from memory_mcp.cli.welcome import explain

        return explain(flags)
    if flags.get("in_process"):
        from memory_mcp.server.stdio import run as run_alone

        return run_alone(flags)
    from memory_mcp.front.run import run as run_front

    return run_front(flags)


def _run_hook(event: str, flags: dict[str, object]) -> int:
    """A client waits for each of them: it ends without the farewells of the interpreter."""
    import os

    from memory_mcp.front.hook import run as run_hook

    os._exit(run_hook(event, flags, os.environ))


def _run_engine(words: list[str]) -> int:
    """As a front starts it: a client waits, and the command line costs a tenth of a second."""
    import os

    from memory_mcp.server.engine.run import leave
    from memory_mcp.server.engine.run import run as run_engine

    home = stdio_flags(words) or {}
    leave(run_engine(os.environ, home.get("home"), detached=True))


if __name__ == "__main__":
    sys.exit(main())
