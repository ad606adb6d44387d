"""How the command line says things: counts, times, and commands where a model has tools."""

from __future__ import annotations

import re
from datetime import datetime

_FRAME = re.compile(r"(<MEMORY\[.*?</MEMORY>)", re.S)
"""A note's own text inside an error; it stays as it is."""

_PHRASES = (
    (r"memory_link\(source=([^,)]*), target=([^,)]*)\)", r"memory-mcp link \1 \2"),
    (r"with memory_edit\([^)]*\)", "in an editor"),
    (r"(?:with|use) memory_edit\b", "change the file in an editor"),
    (r"memory_jobs without job_id", "memory-mcp jobs"),
    (r"Use next_cursor as it was returned", "Give --cursor the value that was printed"),
    (r"\bwrite it without a revision\b", "write it without --if-revision"),
    (r"\bif_revision\b", "--if-revision"),
    (r"\bpass scope (?=project|global)", "pass --scope "),
    (r"(?:with )?resolved_manually\b", "with --resolved-manually"),
    (r"\bdream_get\b", "memory-mcp dream show"),
    (r"(?<!memory-mcp )\bdream_(run|list|apply|dismiss)\b", r"memory-mcp dream \1"),
)
_COMMANDS = {
    "search": "search",
    "get": "show",
    "list": "list",
    "write": "write",
    "delete": "delete",
    "link": "link",
    "save": "save",
    "jobs": "jobs",
}
# In quotes or inside a path it is somebody's note, not one of our tools.
_TOOL = re.compile(rf"(?<![\w\"'`/-])memory_({'|'.join(_COMMANDS)})(?![\w\"'`/-])")


def for_person(text: str) -> str:
    """A text that names tools of the server, with the commands that do the same."""
    parts = _FRAME.split(text)
    return "".join(part if place % 2 else _with_commands(part) for place, part in enumerate(parts))


def _with_commands(text: str) -> str:
    for pattern, replacement in _PHRASES:
        text = re.sub(pattern, replacement, text)
    return _TOOL.sub(lambda found: f"memory-mcp {_COMMANDS[found[1]]}", text)


def when(moment: datetime | str) -> str:
    """A time, or its ISO form, as this machine's clock shows it, with the zone."""
    at = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    return at.astimezone().isoformat(" ", "seconds")


def serving(url: str, guarded: bool) -> str:
    """What `serve` says once its port is open."""
    tokens = "with a token" if guarded else "without a token, for this machine"
    return f"Serving {url} ({tokens}). Ctrl-C ends it."
