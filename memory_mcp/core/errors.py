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
├── EmbeddingError        a text could not be embedded
│   └── ModelError        the model cannot be loaded or used at all
└── ReasonerError         a chat model did not do its part
    ├── SetupError        its settings cannot work: no key, no model, a key that is refused
    ├── UnreachableError  its host or program is not there
    ├── BusyError         it is there, and has no time or is out of order
    ├── DeclinedError     it does not take this request
    ├── AnswerError       what it answered cannot be used
    └── BudgetError       the tokens for this job or this day are used up
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


class ReasonerError(MemoryMcpError):
    """A chat model did not do its part; nothing was changed by it."""


class SetupError(ReasonerError):
    """The settings of the chat model cannot work; trying again will not help."""


class UnreachableError(ReasonerError):
    """The host or program of the chat model is not there. Only then is the next one asked."""


class BusyError(ReasonerError):
    """The chat model is there and has no time, or is out of order; later it may answer."""


class DeclinedError(ReasonerError):
    """The chat model does not take this request, or refuses to answer it."""


class AnswerError(ReasonerError):
    """The chat model's answer cannot be used: empty, cut, too long, not of the form asked for."""


class BudgetError(ReasonerError):
    """The tokens for this job or this day are used up; the text says when it goes on."""
