"""What a client hands to a hook: one JSON object on stdin, in whatever state it comes."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

INPUT_BYTES = 16 << 20
"""More than that is not read."""

PROMPT_CHARS = 32_000
"""Of a prompt: it must fit into a hello, and nobody asks a longer question. Of a longer one the
beginning and the end count, for there the question stands."""

VALUE_CHARS = 4096
"""Of any other text, such as a path; a longer one is left out."""

TEXTS = (
    "session_id",
    "transcript_path",
    "cwd",
    "hook_event_name",
    "prompt",
    "source",
    "trigger",
    "reason",
)
"""What is passed on; all of it is text."""

_BOM = b"\xef\xbb\xbf"


class Unreadable(Exception):
    """The input is none that this hook can use, and why."""


def payload_of(read: Callable[[], bytes]) -> dict[str, str]:
    """The texts in the input that count. `read` gives more of it, nothing at the end.

    An empty input is an object without anything. Raises Unreadable.
    """
    held = bytearray()
    while data := read():
        held += data
        if len(held) > INPUT_BYTES:
            raise Unreadable(f"the input has more than {INPUT_BYTES} bytes")
        if data.rstrip().endswith(b"}") and (found := _object(bytes(held))) is not None:
            return _texts(found)  # complete: some clients leave their end open
    if not bytes(held).removeprefix(_BOM).strip():
        return {}
    found = _object(bytes(held))
    if found is None:
        raise Unreadable("the input is no JSON object; a hook reads what its client hands to it")
    return _texts(found)


def _object(data: bytes) -> dict[str, object] | None:
    try:
        value = json.loads(data.removeprefix(_BOM).decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _texts(found: dict[str, object]) -> dict[str, str]:
    texts = {}
    for name in TEXTS:
        value = found.get(name)
        if not isinstance(value, str):
            continue
        if name == "prompt":
            texts[name] = _ends(value)
        elif len(value) <= VALUE_CHARS:
            texts[name] = value
    return texts


def _ends(prompt: str) -> str:
    """A prompt, or the beginning and the end of a very long one."""
    if len(prompt) <= PROMPT_CHARS:
        return prompt
    half = PROMPT_CHARS // 2
    return f"{prompt[:half]}\n{prompt[-half:]}"
