"""What is entered into a client's file: the server, the hooks, the line of instruction."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from memory_mcp.cli.install.formats import Format, Path, at
from memory_mcp.cli.install.json_edit import newline_of
from memory_mcp.core.errors import RefusedError

HOME = "MEMORY_MCP_HOME"
_OWN_NAMES = {"memory-mcp", "memory_mcp"}
_ENVIRONMENTS = ("env", "envs")
_PROGRAMS = ("command", "cmd")

BEGIN, END = "<!-- memory-mcp: begin -->", "<!-- memory-mcp: end -->"
INSTRUCTION = (
    "Before you answer questions about my projects, people or preferences, search the memory"
    " (memory_search). When I correct you or decide something that will matter again, keep it"
    " there (memory_save)."
)


class Part(Protocol):
    """Something that is entered into a text, and taken out again."""

    def enter(self, text: str) -> str:
        """The text with it; the same text where it is there already. Raises RefusedError,
        BrokenError."""
        ...

    def remove(self, text: str, base: str | None) -> str:
        """The text without it. `base`: the text before it was entered, where that is known; what
        is empty now and was not there then goes, too."""
        ...

    def commands(self, text: str) -> tuple[str, ...]:
        """The programs that the entries of ours in this text start."""
        ...


@dataclass(frozen=True, slots=True)
class Server:
    """The entry of our MCP server."""

    format: Format
    path: Path
    entry: Mapping[str, Any]

    def enter(self, text: str) -> str:
        """As Part. An entry of another server by this name is refused."""
        there = at(self.format.parse(text), self.path)
        if there is None:
            return self.format.put(text, self.path, dict(self.entry))
        if not is_entry(there):
            raise RefusedError(
                f"there is another server by the name {self.path[-1]!r}; choose a name for this"
                " one with --name"
            )
        wanted = merged(there, self.entry)
        return text if wanted == there else self.format.put(text, self.path, wanted)

    def remove(self, text: str, base: str | None) -> str:
        """As Part."""
        if not is_entry(at(self.format.parse(text), self.path)):
            return text
        return _pruned(self.format, self.format.take(text, self.path), self.path, base)

    def commands(self, text: str) -> tuple[str, ...]:
        """As Part."""
        there = at(self.format.parse(text), self.path)
        return (_words(there)[0],) if is_entry(there) else ()


@dataclass(frozen=True, slots=True)
class Hook:
    """A command that a client runs at an event. `timeout` in seconds."""

    event: str
    command: str
    timeout: int
    matcher: str | None = None

    def group(self) -> dict[str, Any]:
        """As it stands in the list of its event."""
        inner = {"type": "command", "command": self.command, "timeout": self.timeout}
        return {**({"matcher": self.matcher} if self.matcher else {}), "hooks": [inner]}


@dataclass(frozen=True, slots=True)
class Hooks:
    """Our hooks beside those of others."""

    format: Format
    hooks: tuple[Hook, ...]

    def enter(self, text: str) -> str:
        """As Part. A hook of ours that is there is brought up to date where it stands."""
        for hook in self.hooks:
            values = self.format.parse(text)
            found = next(own_hooks(values, hook.event), None)
            if found is None:
                groups = _list(at(values, ("hooks", hook.event)))
                text = self.format.put(text, ("hooks", hook.event, len(groups)), hook.group())
                continue
            for key, value in (("command", hook.command), ("timeout", hook.timeout)):
                if at(values, (*found, key)) != value:
                    text = self.format.put(text, (*found, key), value)
        return text

    def remove(self, text: str, base: str | None) -> str:
        """As Part."""
        for event in _events(self.format.parse(text)):
            while (found := next(own_hooks(self.format.parse(text), event), None)) is not None:
                inner = at(self.format.parse(text), found[:-1])
                path = found if len(inner) > 1 else found[:-2]
                text = _pruned(self.format, self.format.take(text, path), path, base)
        return text

    def commands(self, text: str) -> tuple[str, ...]:
        """As Part."""
        values = self.format.parse(text)
        paths = [path for event in _events(values) for path in own_hooks(values, event)]
        found = [at(values, path)["command"] for path in paths]
        return tuple(split(command)[0] for command in found)


@dataclass(frozen=True, slots=True)
class Instruction:
    """A line for the agent, between marks, at the end of a Markdown file."""

    def enter(self, text: str) -> str:
        """As Part."""
        if BEGIN in text:
            return text
        newline = newline_of(text)
        gap = "" if not text else newline if text.endswith("\n") else newline * 2
        return text + gap + newline.join([BEGIN, INSTRUCTION, END, ""])

    def remove(self, text: str, base: str | None) -> str:
        """As Part. What was written between the marks goes with them."""
        start = text.find(BEGIN)
        end = text.find(END, start)
        if start < 0 or end < 0:
            return text
        before, after = text[:start], text[end + len(END) :]
        newline = newline_of(text)
        after = after.removeprefix(newline)
        if before.endswith(newline * 2):
            before = before.removesuffix(newline)
        return before + after

    def commands(self, text: str) -> tuple[str, ...]:
        """As Part."""
        return ()


def is_entry(entry: Any) -> bool:
    """Whether an entry starts this program."""
    return isinstance(entry, dict) and is_own(_words(entry))


def is_own(words: Sequence[str]) -> bool:
    """Whether the words of a command line start this program, however it was installed."""
    names = (re.split(r"[\\/]", word)[-1].removesuffix(".exe") for word in words)
    return any(name in _OWN_NAMES for name in names)


def _words(entry: Mapping[str, Any]) -> list[str]:
    program = next((entry[name] for name in _PROGRAMS if isinstance(entry.get(name), str)), "")
    arguments = entry.get("args")
    return [program, *map(str, arguments if isinstance(arguments, list) else ())]


def merged(there: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """An entry brought up to date: how to start is ours, everything else stays the person's."""
    found = {**wanted, **there}
    for name in (*_PROGRAMS, "args"):
        if name in wanted:
            found[name] = wanted[name]
    for name in _ENVIRONMENTS:
        given = there.get(name)
        pairs = given.items() if isinstance(given, Mapping) else ()
        kept = {key: value for key, value in pairs if key != HOME}
        if name in found:
            found[name] = {**kept, **wanted.get(name, {})}
            if not found[name] and not there.get(name):
                found[name] = there.get(name, {})
    return found


def _events(values: Any) -> list[str]:
    """The events that have hooks, whosever they are."""
    found = at(values, ("hooks",))
    return list(found) if isinstance(found, dict) else []


def own_hooks(values: Any, event: str) -> Iterator[Path]:
    """The paths of our hooks at an event."""
    for number, group in enumerate(_list(at(values, ("hooks", event)))):
        for place, hook in enumerate(_list(at(group, ("hooks",)))):
            command = at(hook, ("command",))
            if isinstance(command, str) and is_own_hook(command):
                yield ("hooks", event, number, "hooks", place)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def is_own_hook(command: str) -> bool:
    """Whether a shell's line is a hook of ours."""
    words = split(command)
    return "hook" in words and is_own(words)


def split(command: str) -> list[str]:
    """The words of a shell's line; what no shell would take, at its blanks."""
    try:
        return shlex.split(command) or [""]
    except ValueError:
        return command.split() or [""]


def _pruned(format: Format, text: str, path: Path, base: str | None) -> str:
    """Without the containers that are empty now and were not there before."""
    if base is None:
        return text
    before = format.parse(base)
    for end in range(len(path) - 1, 0, -1):
        above = path[:end]
        left = at(format.parse(text), above)
        if left or left is None or at(before, above) is not None:
            break
        text = format.take(text, above)
    return text
