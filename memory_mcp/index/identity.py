"""What may be mixed: vectors of one identity, and catalog rows made by the same rules."""

from __future__ import annotations

import hashlib

from memory_mcp import __version__
from memory_mcp.core.config import Config, EmbeddingSettings

RULES = 7
"""Raise it when notes are read, cut or turned into words differently: all files are read again."""


def derivation(config: Config) -> str:
    """By which rules a row was made. Rows of other rules are made again from their files; vectors
    of passages that come out the same are kept."""
    chunking, language = config.chunking, config.search.language
    return f"{__version__}/{RULES}/{chunking.target_tokens}/{chunking.overlap}/{language}"


def settings_mark(settings: EmbeddingSettings) -> str:
    """A short mark of what chooses the vectors: the settings without the key, and the version,
    which brings the bundled model. Never empty."""
    chosen = f"{__version__}\0{settings.provider}\0{settings.model}\0{settings.base_url}"
    return f"{settings.provider}:{hashlib.sha256(chosen.encode()).hexdigest()[:12]}"


def embedding_identity(
    provider: str, model: str, weights: str, dimension: int, rules: str = "mean/unit"
) -> str:
    """What vectors must have in common to be compared: provider, model, its weights (a hash, or ""
    where the provider keeps them), dimension, and how texts are cut, prefixed and pooled."""
    return "/".join((provider, model, weights[:16], str(dimension), rules))
