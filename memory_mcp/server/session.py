"""What the server remembers of one connection: who it is, what it may do, what it has read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory_mcp.app import App
    from memory_mcp.core.config import Config, ToolSet


@dataclass(frozen=True, slots=True)
class Options:
    """What is the client's own: whose inbox, and which tools it may use."""

    agent: str = "default"
    read_only: bool = False
    tools: tuple[ToolSet, ...] = ("core",)

    @classmethod
    def of(cls, config: Config) -> Options:
        """The options that the settings give to a client."""
        return cls(config.agent, config.writing.read_only, config.tools)


@dataclass(slots=True)
class _Seen:
    revision: str
    upto: int
    """How far the text was seen without a gap, in characters."""
    complete: bool


@dataclass(slots=True)
class Session:
    """What this connection has read: reference → revision, and whether it saw the whole note."""

    waited: bool = False
    """Whether a search of this connection has already waited for the first words."""
    _seen: dict[str, _Seen] = field(default_factory=dict)

    def read(
        self,
        reference: str,
        revision: str,
        *,
        complete: bool,
        start: int | None = None,
        end: int | None = None,
    ) -> None:
        """A part of the note was shown: characters `start` to `end`, or an unknown part.

        Pages of one revision that follow each other add up; `complete` says that the last one
        reached the end.
        """
        seen = self._seen.get(reference)
        if seen is None or seen.revision != revision:
            seen = self._seen[reference] = _Seen(revision, 0, False)
        if start is not None and start <= seen.upto:
            seen.upto = max(seen.upto, end if end is not None else start)
            seen.complete = seen.complete or end is None
        seen.complete = seen.complete or complete

    def wrote(
        self, reference: str, revision: str, *, whole: bool, replaced: str | None = None
    ) -> None:
        """The note was written by this connection; `whole`: all of its text came from here.

        `replaced` is the revision that was changed in part: the note is known as a whole only
        where that very revision was.
        """
        seen = self._seen.get(reference)
        known = seen is not None and seen.complete and replaced in (None, seen.revision)
        self._seen[reference] = _Seen(revision, 0, whole or known)

    def forget(self, reference: str) -> None:
        """The note is gone."""
        self._seen.pop(reference, None)

    def revision(self, reference: str) -> str | None:
        """The revision that was read last, None if it never was."""
        seen = self._seen.get(reference)
        return seen.revision if seen is not None else None

    def partial(self, reference: str) -> bool:
        """True where the note was read, and never as a whole."""
        seen = self._seen.get(reference)
        return seen is not None and not seen.complete


class Connection:
    """One client: the memory it talks to, what it may do, what it has read.

    The memory may come later than the client: `open` brings it.
    """

    __slots__ = ("_app", "options", "session")

    def __init__(self, app: App | None, options: Options, session: Session | None = None) -> None:
        self._app = app
        self.options = options
        self.session = session or Session()

    @classmethod
    def of(cls, app: App) -> Connection:
        """A new client with the options of the settings."""
        return cls(app, Options.of(app.config))

    @property
    def app(self) -> App:
        """The memory. Nothing that needs it is passed on to a server before it is open."""
        if self._app is None:
            raise RuntimeError("the memory is not open yet")
        return self._app

    def open(self, app: App) -> None:
        """The memory is there now."""
        self._app = app
