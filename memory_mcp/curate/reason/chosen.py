"""Which chat model does the work of a home, and what it is told to do."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memory_mcp.core.chat import Function, Message, Reply
from memory_mcp.core.config import Config
from memory_mcp.core.errors import SetupError
from memory_mcp.core.ports import Clock, Reasoner

log = logging.getLogger(__name__)


class Unusable:
    """Stands for a model whose settings cannot work: memory goes on without it, and each job that
    would have asked it says why."""

    def __init__(self, name: str, error: SetupError) -> None:
        self.name = name
        self._error = error

    async def reply(
        self,
        messages: Sequence[Message],
        functions: Sequence[Function] = (),
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Raises SetupError, always."""
        raise self._error


def reasoner_of(config: Config, clock: Clock, model: str | None = None) -> Reasoner | None:
    """The model that the settings name, or another `model` of the same provider; None where no
    provider is configured. Asks nobody, and never fails: see `Unusable`."""
    settings = config.reasoner
    if settings.provider == "none":
        return None
    if model is not None:
        settings = settings.model_copy(update={"model": model})
    from memory_mcp.curate.reason.make import make_reasoner  # an HTTP client: only where needed

    state = Path(config.home) / ".state"
    try:
        return make_reasoner(settings, config.curation, os.environ, state, clock)
    except SetupError as error:
        log.warning("The reasoner cannot be used: %s", error)
        return Unusable(settings.provider, error)
