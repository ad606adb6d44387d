"""What a person or an agent said, without what clients and this memory put between."""

from __future__ import annotations

import re

from memory_mcp.core.framed import NOTICE

WRAPPER = "memory-context"
"""The tag around everything that is injected."""

_TAGS = re.compile(
    r"<(?P<end>/?)\s*(?P<name>memory-context|memory(?=\[|\s*>)|system[-_]reminder"
    r"|environment_context|user_instructions|user-prompt-submit-hook|task-notification"
    r"|local-command-(?:stdout|stderr|caveat)|command-(?:name|message|args|contents)"
    r"|ide_(?:opened_file|selection|diagnostics)|new-diagnostics)"
    r"(?:\[[^\]\n]{0,1000}\])?(?P<rest>[^<>\n]{0,1000})>",
    re.IGNORECASE,
)
_BLANKS = re.compile(r"\n[ \t]*(?:\n[ \t]*){2,}")


def heard(text: str) -> str:
    """The text without injected parts: frames of this memory and reminders of clients.

    A part without an end reaches to the end of the text where its tag begins a line; elsewhere the
    tag alone is what somebody wrote about. Time grows with the length of the text.
    """
    if "<" not in text:
        return text.replace(NOTICE, "").strip()
    kept: list[str] = []
    at, depth, name, start = 0, 0, "", 0
    for tag in _TAGS.finditer(text):
        here = tag["name"].lower()
        if depth and here != name:
            continue
        if not depth:
            if tag["end"] or tag["rest"].rstrip().endswith("/"):
                continue
            name, depth, start = here, 1, tag.start()
            continue
        depth += -1 if tag["end"] else 1
        if not depth:
            kept.append(text[at:start])
            at = tag.end()
    cut = depth and _begins_line(text, start)
    kept.append(text[at:start] if cut else text[at:])
    joined = "\n".join(kept).replace(NOTICE, "")
    return _BLANKS.sub("\n\n", joined).strip()


def _begins_line(text: str, place: int) -> bool:
    line = text.rfind("\n", 0, place) + 1
    return not text[line:place].strip()
