"""What one value demands of another, and what the model cannot see in a single value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from pathspec import GitIgnoreSpec

from memory_mcp.core.config import Config, ReasonerChoice
from memory_mcp.core.errors import Problem
from memory_mcp.core.reference import GLOBAL, PROJECT
from memory_mcp.core.web import shown
from memory_mcp.settings.level import Level, place_of

_VARIABLE = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_KEY = re.compile(r"(?=.*\d)[A-Za-z0-9]{20,}")  # one long word with a digit in it
_CORE = "write core, or leave it out"


def across(config: Config, levels: Sequence[Level]) -> list[Problem]:
    """The problems between values, each with the place of the key that has to be changed."""
    found = [*_sources(config), *_embedding(config), *_vectors(config), *_reasoner(config)]
    found += [*_tokens(config), *_tools(config), *_variables(config)]
    return [Problem(key, message, place_of(key, levels)) for key, message in found]


def _sources(config: Config) -> Iterator[tuple[str, str]]:
    yield from _patterns("index.exclude", config.index.exclude)
    seen: dict[str, str] = {}
    for name, source in config.sources.items():
        yield from _patterns(f"sources.{name}.exclude", source.exclude)
        if not source.path.strip():
            yield f"sources.{name}.path", "is empty; name a folder"
        if name.casefold() == "all":
            yield f"sources.{name}", "cannot be a name: 'all' means every source; choose another"
        if config.projects == "auto" and name.casefold() in (GLOBAL, PROJECT):
            yield (
                f"sources.{name}",
                "cannot be a name with `projects: auto`: it tells the inboxes apart; choose"
                " another",
            )
        other = seen.setdefault(name.casefold(), name)
        if other != name:
            yield (
                f"sources.{name}",
                f"differs from {other!r} in capitals only; choose another name",
            )


def _patterns(key: str, patterns: Sequence[str]) -> Iterator[tuple[str, str]]:
    for pattern in patterns:
        try:
            GitIgnoreSpec.from_lines([pattern])
        except ValueError:
            yield (
                key,
                (
                    f"{pattern!r} is not a pattern; write it as in a .gitignore, for example"
                    " 'Templates/**'"
                ),
            )


def _embedding(config: Config) -> Iterator[tuple[str, str]]:
    chosen = config.embedding
    if chosen.provider == "openai-compatible":
        if not chosen.base_url:
            yield (
                "embedding.base_url",
                "is needed for openai-compatible: the address of the endpoint, for example"
                " http://127.0.0.1:11434/v1",
            )
        if not chosen.model:
            yield (
                "embedding.model",
                "is needed for openai-compatible: the name of the model, as the endpoint lists it",
            )
    yield from _address("embedding.base_url", chosen.base_url)


def _vectors(config: Config) -> Iterator[tuple[str, str]]:
    yield from _address("vectors.url", config.vectors.url)
    if config.vectors.words == "server" and config.vectors.url is None:
        yield "vectors.words", "server needs vectors.url: the address of a Qdrant server"


def _address(key: str, url: str | None) -> Iterator[tuple[str, str]]:
    if url and not _is_web(url):
        yield (
            key,
            f"{shown(url)!r} is no address; it begins with http:// or https:// and names a host",
        )


def _is_web(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _reasoner(config: Config) -> Iterator[tuple[str, str]]:
    yield from _chat_model("reasoner", config.reasoner)
    for index, choice in enumerate(config.reasoner.fallback):
        yield from _chat_model(f"reasoner.fallback.{index}", choice)
        if choice.provider == "none":
            yield (
                f"reasoner.fallback.{index}.provider",
                "none cannot stand in for another; remove it",
            )


def _chat_model(key: str, choice: ReasonerChoice) -> Iterator[tuple[str, str]]:
    needed: dict[str, dict[str, object]] = {
        "openai-compatible": {"base_url": choice.base_url, "model": choice.model},
        "anthropic": {"model": choice.model},
        "command": {"command": choice.command},
    }
    for name, value in needed.get(choice.provider, {}).items():
        if not value:
            yield f"{key}.{name}", f"is needed for the provider {choice.provider}"
    yield from _address(f"{key}.base_url", choice.base_url)


def _tools(config: Config) -> Iterator[tuple[str, str]]:
    if not config.tools:
        yield "tools", f"is empty, so a client would see no tools; {_CORE}"


def _tokens(config: Config) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for index, token in enumerate(config.http.tokens):
        if bool(token.token_env) == bool(token.token_file):
            yield (
                f"http.tokens.{index}",
                f"{token.name!r} needs one of token_env (the name of a variable) and token_file",
            )
        if token.name in seen:
            yield f"http.tokens.{index}.name", f"{token.name!r} stands twice; choose another name"
        seen.add(token.name)


def _variables(config: Config) -> Iterator[tuple[str, str]]:
    """A key in the place of the variable that holds it is not repeated."""
    named = {
        "embedding.api_key_env": config.embedding.api_key_env,
        "reasoner.api_key_env": config.reasoner.api_key_env,
        "http.token_env": config.http.token_env,
    }
    choices = enumerate(config.reasoner.fallback)
    named |= {f"reasoner.fallback.{n}.api_key_env": one.api_key_env for n, one in choices}
    named |= {f"http.tokens.{n}.token_env": t.token_env for n, t in enumerate(config.http.tokens)}
    for key, name in named.items():
        if name and (not _VARIABLE.fullmatch(name) or _KEY.fullmatch(name)):
            yield (
                key,
                "is no name of a variable but, it seems, what belongs into one; set a variable to"
                " it and write the name of that here",
            )
