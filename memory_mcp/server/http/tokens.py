"""The tokens of the settings: from the environment or from files, each with what it allows."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from memory_mcp.core.config import Config, HttpToken
from memory_mcp.core.errors import ConfigError, Problem
from memory_mcp.server.http.grants import Grant
from memory_mcp.server.session import Options

SHORTEST = 8
"""Characters of a token at least. Ours are made with `openssl rand -hex 32`: 64."""

LONGEST = 4096
"""Characters of a token at most; no header of a request may be much longer."""

DEFAULT_VARIABLE = "MEMORY_MCP_TOKEN"

_MADE = "make one with: openssl rand -hex 32"


@dataclass(slots=True)
class _Found:
    grants: list[Grant] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def grants_of(
    config: Config, environ: Mapping[str, str]
) -> tuple[tuple[Grant, ...], tuple[str, ...]]:
    """Who may use the port, and warnings. Without any token there is one open grant.

    A token that was asked for and is missing, empty, short or no token at all is an error, never
    a reason to go without: raises ConfigError with every problem.
    """
    found = _Found()
    _single(config, environ, found)
    for number, item in enumerate(config.http.tokens):
        _named(config, item, f"http.tokens.{number}", environ, found)
    found.problems.extend(_doubles(found.grants))
    if found.problems:
        raise ConfigError(found.problems)
    if not found.grants:
        found.grants.append(Grant("open", None, Options.of(config)))
    return tuple(found.grants), tuple(found.warnings)


def _single(config: Config, environ: Mapping[str, str], found: _Found) -> None:
    """The one token of `http.token_env` or `http.token_file`; the variable wins."""
    http = config.http
    chosen = http.token_env != DEFAULT_VARIABLE and http.token_file is None
    token = None
    if http.token_env in environ or chosen:
        token = _from_variable(http.token_env, "http.token_env", environ, found)
    elif http.token_file is not None:
        token = _from_file(config, http.token_file, "http.token_file", found)
    if token is not None:
        found.grants.append(Grant("default", token, Options.of(config)))


def _named(
    config: Config, item: HttpToken, key: str, environ: Mapping[str, str], found: _Found
) -> None:
    if item.token_env is not None:
        token = _from_variable(item.token_env, f"{key}.token_env", environ, found)
    elif item.token_file is not None:
        token = _from_file(config, item.token_file, f"{key}.token_file", found)
    else:
        problem = "has neither token_env nor token_file, so there is no token; name one of them"
        found.problems.append(Problem(key, problem, item.name))
        return
    if token is not None:
        base = Options.of(config)
        read_only = item.read_only or base.read_only
        options = Options(item.agent or base.agent, read_only, base.tools)
        found.grants.append(Grant(item.name, token, options))


def _from_variable(name: str, key: str, environ: Mapping[str, str], found: _Found) -> str | None:
    text = environ.get(name)
    if text is None:
        problem = f"names the variable {name}, which is not set; set it, or remove the key"
        found.problems.append(Problem(key, problem, "environment"))
        return None
    return _checked(text, Problem(key, name, "environment"), found)


def _from_file(config: Config, name: str, key: str, found: _Found) -> str | None:
    path = Path(config.home, Path(name).expanduser())
    try:
        text, mode = _read(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        problem = f"{path} cannot be read: {reason}; write the token into it, or remove the key"
        found.problems.append(Problem(key, problem, str(path)))
        return None
    if sys.platform != "win32" and mode & 0o077:
        found.warnings.append(
            f"{key}: other users of this machine may read {path}; allow only yourself:"
            f" chmod 600 {path}"
        )
    return _checked(text, Problem(key, "the file", str(path)), found)


def _read(path: Path) -> tuple[str, int]:
    """The text of a small file and its mode. A pipe or a device would keep the start waiting."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with open(descriptor, "rb") as file:  # noqa: PTH123 - of a descriptor
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise OSError(0, "it is no file")
        return file.read(LONGEST + 3).decode("utf-8"), mode


def _checked(text: str, place: Problem, found: _Found) -> str | None:
    """The token without the line end around it; None and a problem where it is none. The text is
    never quoted. `place` has the name of the place where a problem has its text."""
    token = text.strip()
    if not token:
        fault = "is empty, and an empty token is none"
    elif len(token) < SHORTEST:
        fault = f"has {len(token)} characters, fewer than {SHORTEST}"
    elif len(token) > LONGEST:
        fault = f"has more than {LONGEST} characters"
    elif not all("!" <= letter <= "~" for letter in token):
        fault = "has more than one line, or spaces or letters that a header cannot carry"
    else:
        return token
    problem = f"{place.message} {fault}; {_MADE}"
    found.problems.append(Problem(place.key, problem, place.origin))
    return None


def _doubles(grants: list[Grant]) -> Iterator[Problem]:
    """A token that stands for two agents, and a name that stands for two tokens."""
    tokens: dict[str | None, str] = {}
    names: set[str] = set()
    for grant in grants:
        other = tokens.setdefault(grant.token, grant.name)
        if other != grant.name:
            text = f"{grant.name} and {other} have the same token; give each its own"
            yield Problem("http.tokens", text, "tokens")
        elif grant.name in names:
            text = f"there are two tokens of the name {grant.name}; give each its own"
            yield Problem("http.tokens", text, "tokens")
        names.add(grant.name)
