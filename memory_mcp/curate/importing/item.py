"""What was found to import, and what was left: values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from memory_mcp.core.note import Json

Kind = Literal["markdown", "mcp-memory", "claude-code"]
KINDS: tuple[Kind, ...] = ("markdown", "mcp-memory", "claude-code")


@dataclass(frozen=True, slots=True)
class Item:
    """A note to be. `origin` is its name where it comes from, and the same every time."""

    origin: str
    path: str
    """Where it would stand by its own account: below a folder, with `/`, without `.md`."""
    text: str
    modified: str | None = None
    """When it was changed last, ISO text; None where that is not known."""
    raw: bytes | None = None
    """The file's bytes, where it is one."""
    header: dict[str, Json] = field(default_factory=dict)
    """Header values for a text that does not have them."""
    links: tuple[tuple[str, str], ...] = ()
    """(origin of another item, relation)."""
    remarks: tuple[str, ...] = ()
    """What a person should know of how it was read."""


@dataclass(frozen=True, slots=True)
class Left:
    """Something that is not taken over, and why, in words for a person."""

    origin: str
    reason: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader found. `by` names whose memory it was."""

    kind: Kind
    by: str
    items: tuple[Item, ...]
    left: tuple[Left, ...] = ()
