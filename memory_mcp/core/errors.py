"""The errors of memory-mcp. Each text says what was wrong, with which value, and what to do next.

MemoryMcpError
├── ConfigError           settings that cannot be used; every problem at once
├── InputError            an argument that cannot be used
│   └── SlugError         a name that an inbox note cannot have
├── NotFoundError         no such note, heading, job, revision
├── AmbiguousError        more than one note fits a reference
├── ConflictError         the note changed since the caller read it
├── RefusedError          understood, and not allowed (read-only, a private part would be lost, …)
├── StorageError          the disk or the file system said no
├── EngineError           no server of the memory answers
├── ToolError             a tool refused, for a caller that is no model
└── EmbeddingError        a text could not be embedded
    └── ModelError        the model cannot be loaded or used at all
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class MemoryMcpError(Exception):
    """Root of all errors that are meant to be read by a person or a model."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in the settings: dotted key, what is wrong, where it came from."""

    key: str
    message: str
    origin: str

    def __str__(self) -> str:
        return f"{self.key}: {self.message} ({self.origin})"


class ConfigError(MemoryMcpError):
    """Settings that cannot be used. `problems` holds all of them."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class InputError(MemoryMcpError):
    """An argument that cannot be used."""


class SlugError(InputError):
    """A name that an inbox note cannot have."""


class NotFoundError(MemoryMcpError):
    """Something that was asked for does not exist."""


class AmbiguousError(MemoryMcpError):
    """More than one note fits a reference; the text lists the candidates."""


class ConflictError(MemoryMcpError):
    """The note changed since the caller read it; nothing was written. It shows what changed."""


class RefusedError(MemoryMcpError):
    """A request that was understood and is not allowed."""


class StorageError(MemoryMcpError):
    """The file system refused: full disk, missing permission, vanished folder."""


class EngineError(MemoryMcpError):
    """No server of the memory answers, or not in time."""


class ToolError(MemoryMcpError):
    """A tool refused what was asked of it; its text says why."""


class EmbeddingError(MemoryMcpError):
    """A text could not be embedded; trying again may help."""


class ModelError(EmbeddingError):
    """The embedding model cannot be loaded or used; trying again will not help."""
