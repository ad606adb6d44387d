"""What is known of a source beyond its notes, and what there is to say about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from memory_mcp.core.config import Config
from memory_mcp.index.state import SourceStateName
from memory_mcp.notes.scan import Warned
from memory_mcp.notes.sources import Source


@dataclass(slots=True)
class Known:
    """Belongs to the event loop."""

    source: Source
    guarded: bool
    """Whether an empty folder may be a disk that is not there."""
    state: SourceStateName = "scanning"
    aside: int | None = None
    """Notes kept on disk and not served, while the folder is missing or suddenly empty."""
    scanned: tuple[Warned, ...] = ()
    failures: dict[str, str] = field(default_factory=dict)
    """Path -> why the note cannot be read."""
    young: set[str] = field(default_factory=set)
    """Notes that were read so soon after a change that their stamp may hide another one."""

    @property
    def comes_later(self) -> bool:
        """Whether a missing folder is one that the first note makes: the inbox of a project."""
        return self.source.scope == "project" and not self.aside

    def warnings(self) -> Iterator[Warned]:
        """Everything a person should know of this source, but for the notes' own warnings."""
        yield from self.scanned
        if self.state in ("missing", "empty") and (self.aside or self.state == "missing"):
            yield Warned(self.source.name, aside_text(self.source, self.state, self.aside or 0))
        for path, message in self.failures.items():
            yield Warned(f"{self.source.name}/{path}", message)


def aside_text(source: Source, state: str, aside: int) -> str:
    """Why nothing is served from a folder, and that nothing is lost by it."""
    kept = f"; what is known of its {aside} notes is kept until they are back" if aside else ""
    return f"the folder {source.root} is {state}{kept}"


def is_guarded(source: Source, config: Config) -> bool:
    """Whether an empty folder may be a disk that is away: not so for what lies in the home."""
    return source.kind == "vault" or not source.root.is_relative_to(config.home)
