"""What `status` and `doctor` say of the chat model that the settings name. Nobody is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memory_mcp.cli.finding import Finding
from memory_mcp.core.config import Config, ReasonerChoice
from memory_mcp.core.errors import ReasonerError

NOBODY = "none; your own agent does what needs judgement"


def reasoner_json(config: Config, environ: Mapping[str, str]) -> dict[str, Any] | None:
    """The model, whether the variable of its key is set here (None: it takes no key), and what is
    wrong with it; None where none is configured. The key itself is never told."""
    if config.reasoner.provider == "none":
        return None
    first, *others = _choices(config)
    return {
        **_row(*first, config, environ),
        "fallback": [_row(*other, config, environ) for other in others],
    }


def examine_reasoner(config: Config, environ: Mapping[str, str]) -> Iterator[Finding]:
    """The model and each fallback: whether it could be asked from here."""
    found = reasoner_json(config, environ)
    if found is None:
        yield Finding("reasoner", "good", NOBODY)
        return
    for (setting, _), row in zip(_choices(config), [found, *found["fallback"]], strict=True):
        if row["error"] is None:
            yield Finding(setting, "good", described(row))
            continue
        way_out = f"correct {setting}, for the clients that start the engine too"
        yield Finding(setting, "wrong", f"{described(row)}: {row['error']}", way_out)
    if config.curation.max_tokens_day == 0:
        yield Finding("reasoner", "remark", "curation.max_tokens_day is 0: it is never asked")


def described(row: Mapping[str, Any]) -> str:
    """A model of `reasoner_json` in a few words."""
    about: str = row["provider"] + (f" {row['model']}" if row["model"] else "")
    variable = row["api_key_env"]
    if variable is None:
        return about
    return f"{about}, its key from {variable} ({'set' if row['api_key_set'] else 'not set'} here)"


def _choices(config: Config) -> list[tuple[str, ReasonerChoice]]:
    """The model and its fallbacks by the keys of their sections."""
    from memory_mcp.curate.reason.make import choices_of  # an HTTP client: only where needed

    return choices_of(config.reasoner)


def _row(
    setting: str, choice: ReasonerChoice, config: Config, environ: Mapping[str, str]
) -> dict[str, Any]:
    variable = choice.api_key_env or None
    return {
        "provider": choice.provider,
        "model": choice.model,
        "api_key_env": variable,
        "api_key_set": None if variable is None else bool(environ.get(variable, "").strip()),
        "error": _error(setting, choice, config, environ),
    }


def _error(
    setting: str, choice: ReasonerChoice, config: Config, environ: Mapping[str, str]
) -> str | None:
    """What keeps a model from being asked, as far as it can be seen without asking."""
    from memory_mcp.curate.reason.make import check_usable

    try:
        check_usable(choice, environ, Path(config.home) / ".state", setting)
    except ReasonerError as error:
        return str(error)
    return None
