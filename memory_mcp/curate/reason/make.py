"""The chat model that the settings ask for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from memory_mcp.core.config import CurationSettings, ReasonerChoice, ReasonerSettings
from memory_mcp.core.ports import Clock, Reasoner
from memory_mcp.curate.reason.anthropic import Anthropic
from memory_mcp.curate.reason.budget import DayBudget, Ledger
from memory_mcp.curate.reason.command import Command
from memory_mcp.curate.reason.endpoint import Endpoint
from memory_mcp.curate.reason.fallback import Fallback
from memory_mcp.curate.reason.openai import OpenAI

FOLDER = "reasoner"
"""Below the state folder: the count of tokens, and `work`, in which a command runs."""


def make_reasoner(
    settings: ReasonerSettings,
    curation: CurationSettings,
    environ: Mapping[str, str],
    state_folder: Path,
    clock: Clock,
) -> Reasoner | None:
    """The model with its fallbacks, its tokens counted for the day; None where none is configured.

    Asks nobody. Raises SetupError where the settings of any of them cannot work.
    """
    if settings.provider == "none":
        return None
    folder = state_folder / FOLDER
    choices = choices_of(settings)
    made = [_one(choice, environ, folder / "work", setting) for setting, choice in choices]
    reasoner = made[0] if len(made) == 1 else Fallback(made, clock)
    return DayBudget(reasoner, Ledger(folder, curation.max_tokens_day, clock))


def choices_of(settings: ReasonerSettings) -> list[tuple[str, ReasonerChoice]]:
    """The model and its fallbacks in their order, by the keys of their sections."""
    numbered = enumerate(settings.fallback)
    return [("reasoner", settings), *((f"reasoner.fallback.{n}", one) for n, one in numbered)]


def check_usable(
    choice: ReasonerChoice, environ: Mapping[str, str], state_folder: Path, setting: str
) -> None:
    """Look for what would keep a model from being asked; asks nobody. Raises SetupError for its
    settings, UnreachableError for a program that is not there."""
    made = _one(choice, environ, state_folder / FOLDER / "work", setting)
    if isinstance(made, Command):
        made.program()


def _one(
    choice: ReasonerChoice, environ: Mapping[str, str], folder: Path, setting: str
) -> Command | Endpoint:
    if choice.provider == "command":
        return Command(choice, environ, folder, setting)
    dialect = Anthropic() if choice.provider == "anthropic" else OpenAI()
    return Endpoint(dialect, choice, environ, setting)
