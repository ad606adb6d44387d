"""The first line of a client: what it is allowed, what it is told, and who has to go.

Settings of a home are the engine's. Those that are the client's own come from its flags and its
environment; the rest of its environment is compared, and differences are said.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_mcp import __version__
from memory_mcp.core.config import Config
from memory_mcp.core.errors import ConfigError
from memory_mcp.front.hello import PROTOCOL
from memory_mcp.server.session import Options
from memory_mcp.settings import FILE, Loaded, disclosed, load
from memory_mcp.settings.project import project_of, settled

_OWN_KEYS = ("home", "agent", "tools", "projects", "recall", "writing.read_only", "http")
"""Settings that are taken from the client: those of `http` by the command that opens a port."""

_OWN_VARIABLES = (
    *("AGENT", "TOOLS", "PROJECTS", "RECALL", "READ_ONLY", "WRITING__READ_ONLY"),
    "FOLDER",
)
_PREFIX = "MEMORY_MCP_"
_ABOUT_THE_ENGINE = frozenset({"status", "stop", "look"})
"""Questions that are no reason for another engine: they are about this one."""


@dataclass(frozen=True, slots=True)
class Welcome:
    """The client may come in."""

    options: Options
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """It may not: `error` as the front knows it, and one message for each problem."""

    error: str
    messages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Leave:
    """It may, but with another engine: this one has to go."""

    reason: str


Verdict = Welcome | Refusal | Leave


def own_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of the engine: of the client that started it, without what is that
    client's own."""
    return {name: value for name, value in environ.items() if not _is_own_variable(name)}


def _is_own_variable(name: str) -> bool:
    if not name.upper().startswith(_PREFIX):
        return False
    rest = name.upper()[len(_PREFIX) :]
    return any(rest == own or rest.startswith(f"{own}__") for own in _OWN_VARIABLES)


def file_mark(home: str) -> str:
    """What changes when the settings file does."""
    path = Path(home) / FILE
    try:
        if not path.is_file():  # a pipe would be waited for
            return ""
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        return type(error).__name__


class Door:
    """Decides about hellos. Blocking: it reads the settings file."""

    def __init__(self, home: str, token: str, environ: Mapping[str, str]) -> None:
        """Loads the engine's own settings; raises ConfigError."""
        self._home = home
        self._token = token
        self._environ = own_environment(environ)
        self._mark = self._last = file_mark(home)
        self.loaded: Loaded = load(self._environ, {"home": home})

    @property
    def config(self) -> Config:
        """The engine's settings."""
        return self.loaded.config

    def outdated(self) -> bool:
        """Whether the settings file was another one at the last two looks (an editor may write it
        in parts), and can be loaded."""
        mark = file_mark(self._home)
        settled, self._last = mark == self._last, mark
        if mark == self._mark or not settled:
            return False
        try:
            load(self._environ, {"home": self._home})
        except ConfigError:
            return False
        return True

    def decide(self, hello: Mapping[str, Any] | None) -> Verdict:
        """What becomes of a client that says this."""
        if hello is None or hello.get("memory_mcp") != PROTOCOL:
            return Refusal("refused", ("this is not a hello of this program's version 1",))
        token = str(hello.get("token", ""))
        if not hmac.compare_digest(token.encode("utf-8", "replace"), self._token.encode()):
            return Refusal("refused", ("the token is wrong",))
        question = hello.get("ask")
        name = question.get("name") if isinstance(question, Mapping) else None
        lasting = hello.get("kind") == "ask" and name in _ABOUT_THE_ENGINE
        if lasting and name == "stop":  # whatever its settings are
            return Welcome(Options(), ())
        if _is_newer(str(hello.get("version", ""))) and not lasting:
            return Leave(f"version {hello.get('version')} replaces {__version__}")
        return self._settings(hello, lasting)

    def _settings(self, hello: Mapping[str, Any], lasting: bool) -> Verdict:
        changed = file_mark(self._home) != self._mark
        theirs = {name: text for name, text in self._environ.items() if not _is_ours(name)}
        theirs.update(_texts(hello.get("env")))
        theirs.pop(f"{_PREFIX}HOME", None)
        flags = hello.get("flags")
        try:
            given = {**(flags if isinstance(flags, Mapping) else {}), "home": self._home}
            found = load(theirs, given)
        except ConfigError as error:
            return Refusal("config", tuple(str(problem) for problem in error.problems))
        if changed and not lasting:
            return Leave("config.yml changed")
        project = project_of(found.config, _folder(hello), theirs)
        options = Options.of(settled(found, project), project)
        told = () if project is None else project.warnings
        return Welcome(options, (*found.warnings, *told, *self._differences(found)))

    def _differences(self, theirs: Loaded) -> tuple[str, ...]:
        """Settings of the client's environment that the engine does not have."""
        warnings = list(_differences(self.config, theirs))
        if self.config.writing.read_only and not theirs.config.writing.read_only:
            warnings.append(
                "writing.read_only is true in config.yml, and holds for all clients of the shared"
                " engine; change it there, or start this client with --in-process"
            )
        return tuple(warnings)


def _folder(hello: Mapping[str, Any]) -> str:
    """Where a client works. A hook is told of it by its client: that counts more than where the
    hook was started. A relative path would mean a folder of the engine's."""
    question = hello.get("ask")
    payload = question.get("payload") if isinstance(question, Mapping) else None
    for told in (payload, question, hello):
        folder = told.get("cwd") if isinstance(told, Mapping) else None
        if isinstance(folder, str) and os.path.isabs(folder):  # noqa: PTH117 - as it is told
            return folder
    return ""


def _is_ours(name: str) -> bool:
    return name.upper().startswith(_PREFIX)


def _texts(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        return {}
    return {str(name): str(text) for name, text in value.items()}


def _differences(config: Config, theirs: Loaded) -> tuple[str, ...]:
    """Settings of the client's environment that the engine does not have."""
    ours, other = _flat(config.model_dump()), _flat(theirs.config.model_dump())
    keys = sorted(key for key in ours.keys() | other.keys() if ours.get(key) != other.get(key))
    return tuple(
        f"{_compared(key, ours, other)} ({theirs.origins.get(key, 'default')}); put it into"
        " config.yml, or stop the engine to start one with this environment: memory-mcp engine"
        " stop"
        for key in keys
        if not _is_own_key(key)
    )


def _compared(key: str, ours: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    here, there = disclosed(key, other.get(key)), disclosed(key, ours.get(key))
    if here == there:  # they differ in what is secret
        return f"{key} has another value in the engine that all clients share than here"
    return f"{key} is {there!r} in the engine that all clients share, not {here!r}"


def _is_own_key(key: str) -> bool:
    return any(key == own or key.startswith(f"{own}.") for own in _OWN_KEYS)


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            flat.update(_flat(value, f"{prefix}{name}."))
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def _is_newer(version: str) -> bool:
    return _numbers(version) > _numbers(__version__)


def _numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version; an unreadable one is the oldest."""
    numbers = []
    for part in version.split("+")[0].split("."):
        if not part.isdigit():
            break
        numbers.append(int(part))
    return tuple(numbers)
