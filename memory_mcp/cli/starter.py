"""What a new home gets: example settings, the first folders of the wiki, the skill document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

import memory_mcp
from memory_mcp.core.config import Config
from memory_mcp.core.errors import StorageError
from memory_mcp.core.wording import FOLDERS, wording
from memory_mcp.notes import files
from memory_mcp.notes.history import History
from memory_mcp.notes.scan import scan
from memory_mcp.notes.sources import Source

TEMPLATE = """\
# Settings of memory-mcp. Every key has a default, so everything here may stay commented out.
# `memory-mcp config show` says what is in force and where it comes from.

# sources:
#   memory: {path: "agents/{agent}/memory", boost: 0.85}   # the inbox: what agents write
#   wiki:   {path: wiki, boost: 1.4}                       # pages for all agents
#   vault:  {path: ~/Documents/Vault, boost: 0.65}         # any other name: read-only notes

# index:
#   watch: true            # take in changes as they happen
#   sweep_seconds: 30      # look again, in case an event was lost
#   exclude: []            # patterns as in .gitignore, e.g. ["drafts/**"]

# embedding:
#   provider: bundled      # comes with the package; none: words only

# writing:
#   read_only: false
#   secrets: warn          # warn, refuse or allow what looks like a password or key in a note

# reasoner:                # a chat model that files and reviews; none: your own agent does
#   provider: none         # openai-compatible, anthropic, or command (prompt in, answer out)
#   base_url: null         # e.g. http://127.0.0.1:11434/v1 for a model on this machine
#   model: null
#   api_key_env: null      # the name of the variable that holds the key, never the key

# curation:
#   layout: wiki           # or days: a folder for each day, and pages for names
#   language: en           # of the headings that are written for you: en or de
#   rem: true              # propose facts from conversations
#   deep_hours: 12         # inbox into the wiki this often; 0: never by itself
#   lucid_days: 7          # look for contradictions and dead links this often; 0: never
#   max_tokens_day: 200000 # the most that the chat model may cost a day
#   max_removed_share: 0.25  # a change that would drop more of a page is refused

# tools: [core]            # add curation for findings, reviews and writing to the wiki
"""

State = Literal["written", "there"]

_SKILL = Path("skills") / "memory" / "SKILL.md"
_IN_A_CLONE = Path("integrations") / "claude-code-plugin"
_PAGE = "README"


@dataclass(frozen=True, slots=True)
class Piece:
    """A file of a new home. `name` is for people; a dry run says `written`, too."""

    name: str
    state: State


def lay_out(
    config: Config, sources: tuple[Source, ...], at: datetime, *, dry: bool
) -> Iterator[Piece]:
    """Write what is missing, and never over anything. `dry` writes nothing. Blocking.

    A wiki that has pages is laid out by whoever made them, and gets none of ours. Raises OSError,
    MemoryMcpError.
    """
    home = Path(config.home)
    yield _once(home / "config.yml", TEMPLATE, "config.yml", dry)
    yield _once(home / _SKILL, skill(), _SKILL.as_posix(), dry)
    wiki = next((source for source in sources if source.kind == "wiki"), None)
    if wiki is None or config.writing.read_only or config.curation.layout != "wiki":
        return
    if scan(wiki).files or not (wiki.root.is_dir() or wiki.root.is_relative_to(home.resolve())):
        return
    shelves = wording(config.curation.language).shelves
    for folder in FOLDERS:
        path, shelf = f"{folder}/{_PAGE}", shelves[folder]
        text = f"# {shelf.title}\n\n{shelf.text}\n"
        if not dry:
            _page(wiki, path, text, History(home / ".history"), at)
        yield Piece(f"{wiki.name}/{path}.md", "written")


def skill() -> str:
    """The document for clients that have skills: inside an installed package, else beside it."""
    package = Path(memory_mcp.__file__).parent
    for place in (package, package.parent / _IN_A_CLONE):
        if (place / _SKILL).is_file():
            return (place / _SKILL).read_text(encoding="utf-8")
    raise StorageError(f"the skill document is not in {package}; install the package again")


def _page(wiki: Source, path: str, text: str, history: History, at: datetime) -> None:
    def change(current: bytes | None) -> bytes:
        return text.encode("utf-8") if current is None else current

    files.update(wiki, path, change, history, at, "init")


def _once(path: Path, text: str, name: str, dry: bool) -> Piece:
    if dry:
        return Piece(name, "there" if path.exists() else "written")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        return Piece(name, "there")
    return Piece(name, "written")
