"""What a note is: values, without the rules that make them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from memory_mcp.core.reference import GLOBAL

LinkKind = Literal["wikilink", "embed", "markdown", "relation"]
SourceKind = Literal["memory", "wiki", "vault"]
HeaderState = Literal["none", "good", "broken"]
Scope = Literal["global", "project"]
Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading outside code, comments, lists and quotes. `line` is 1-based in the whole file."""

    level: int
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Link:
    """A link as written. `target` has no heading, block or label, and may name no note."""

    target: str
    kind: LinkKind
    relation: str = "links"
    heading: str | None = None
    block: str | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a note came from: frontmatter `source: {url, kind, by, at}` and `confidence`."""

    url: str | None = None
    kind: str | None = None
    by: str | None = None
    at: str | None = None
    confidence: float | str | None = None

    @property
    def trusted(self) -> bool:
        """False for text from outside (a web page, a compaction, an import)."""
        return self.url is None and self.kind not in ("web", "compaction", "import")


@dataclass(frozen=True, slots=True)
class Card:
    """What is kept in memory of every note: all that lists and hits show, and no body."""

    source: str
    """Name of the source, e.g. `memory`."""
    path: str
    """Path below the source without `.md`, with `/`, in NFC."""
    revision: str
    """First 12 hex digits of the SHA-256 of the file's bytes."""
    size: int
    """Bytes."""
    title: str
    description: str
    """Plain text of at most 200 characters, may be empty."""
    name: str | None = None
    """Frontmatter `name`, a link target in Claude Code's auto-memory."""
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    created: str | None = None
    """As written in the frontmatter, ISO text; None where the note does not say."""
    updated: str | None = None
    modified: str = ""
    """The file's own time, ISO text with offset; stands in where the note does not say."""
    pinned: bool = False
    seed: bool = False
    """Frontmatter `metadata.seed`: given once at the start of every conversation."""
    triggers: tuple[str, ...] = ()
    """Frontmatter `metadata.triggers`: literal texts of a message that bring the note."""
    headings: tuple[Heading, ...] = ()
    links: tuple[Link, ...] = ()
    provenance: Provenance | None = None
    language: str = "en"
    """ISO 639-1 code by which the words of the note are stemmed."""
    warnings: tuple[str, ...] = ()
    scope: Scope | None = None
    """Of an inbox note: the project's own, or for all; None elsewhere."""
    shadowed: bool = False
    """Whether a project's own note has the name that this one of the global inbox would have."""

    @property
    def reference(self) -> str:
        """`<source>/<path>`, the canonical reference; `global/<path>` where it is shadowed."""
        return f"{GLOBAL if self.shadowed else self.source}/{self.path}"

    @property
    def trusted(self) -> bool:
        """Whether nothing says that the text came from outside."""
        return self.provenance is None or self.provenance.trusted


@dataclass(frozen=True, slots=True)
class Labels:
    """What the passages of a note may be filtered by, besides their source."""

    folders: tuple[str, ...] = ()
    """All folders that the note lies in, below its source, the widest first."""
    tags: tuple[str, ...] = ()
    """Its tags as they are compared, and all that they lie below."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a note as it is indexed and shown."""

    heading: str
    """The trail of headings joined with ` > `; without headings the title or the stem."""
    text: str
    """The piece as written, private parts left out. Never blank."""
    first: int
    last: int
    """1-based lines in the file, inclusive."""
    context: str
    """Title, trail and opening paragraph: put in front of `text` for both legs, never shown."""
    key: str
    """Hex SHA-256 of `embedded`: the identity of the passage. No line numbers, no time."""

    @property
    def embedded(self) -> str:
        """The text that is embedded."""
        return f"{self.context}\n{self.text}" if self.context else self.text


@dataclass(frozen=True, slots=True)
class Note:
    """A note that was read and parsed. `text` is verbatim: line ends and BOM are kept."""

    card: Card
    text: str
    header: HeaderState
    frontmatter: dict[str, Json] = field(default_factory=dict)
    """JSON-safe: dates as text. Empty where there is no readable header."""
    body: str = ""
    """The text after the header, private parts still in it."""
    passages: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a file's metadata says: a changed stamp means read and hash; the hash decides."""

    mtime_ns: int
    size: int
    inode: int
