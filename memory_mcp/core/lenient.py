"""A header that is not valid YAML, key by key: what is unambiguous stays usable."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_mcp.core.note import Json
from memory_mcp.core.yaml_reader import Loaded, NotYamlError, read

_KEY = re.compile(r"(?P<key>[^\W\d_][\w -]{0,60}|\"[^\"\n]{1,60}\"|'[^'\n]{1,60}')[ \t]*:(?=\s|$)")
_ITEM = re.compile(r"\s*-(?:\s+(.*))?$")
_STRUCTURE = ("[", "{", "|", ">", "&", "!", "'", '"')
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_BLOCKS = 400  # keys; more is no header that a person wrote


def looks_like_header(header: str) -> bool:
    """Whether the first line that says something is a key: else it is prose between two rules."""
    for line in header.split("\n"):
        if line.strip() and not line.lstrip().startswith("#"):
            return _KEY.match(line.rstrip("\r")) is not None
    return False


def fallback(header: str, error: NotYamlError) -> Loaded:
    """State "broken", with the values of those keys that can be read on their own."""
    values: dict[str, Json] = {}
    lost: list[str] = []
    for key, lines in _blocks(_CONTROL.sub(" ", header)):
        found = _own_values(key, lines)
        if found is None:
            lost.append(key)
        else:
            values.update(found)
    return Loaded(values, "broken", (_warning(error, values, lost),))


def _warning(error: NotYamlError, values: dict[str, Json], lost: list[str]) -> str:
    where = f" (line {error.line + 1}: {error.reason})" if error.line else f" ({error.reason})"
    text = f"the header is not valid YAML{where}"
    if values:
        text += f"; read line by line: {_names(list(values))}"
    if lost:
        text += f"; not readable: {_names(lost)}"
    hint = "put quotes around values with `: `, `#`, `@` or `*`"
    return f"{text}; {hint}" if error.line else text


def _names(keys: list[str]) -> str:
    shown = ", ".join(key[:40] for key in keys[:8])
    return shown + (f" and {len(keys) - 8} more" if len(keys) > 8 else "")


def _blocks(header: str) -> Iterator[tuple[str, list[str]]]:
    """(key, its lines) for each key at the left margin."""
    key: str | None = None
    lines: list[str] = []
    count = 0
    for line in header.replace("\r\n", "\n").split("\n"):
        match = _KEY.match(line)
        if match:
            if key is not None:
                yield key, lines
            count += 1
            if count > _BLOCKS:
                return
            key, lines = match["key"].strip("\"'").strip(), [line]
        elif key is not None:
            lines.append(line)
    if key is not None:
        yield key, lines


def _own_values(key: str, lines: list[str]) -> dict[str, Json] | None:
    try:
        loaded = read("\n".join(line.replace("\t", "  ") for line in lines))
    except NotYamlError:
        pass
    else:
        return loaded.values if loaded.state == "good" else None
    first = lines[0].split(":", 1)[1].strip()
    rest = [line for line in lines[1:] if line.strip() and not line.lstrip().startswith("#")]
    if first and not rest and not first.startswith(_STRUCTURE):
        return {key: first}
    items = [_ITEM.match(line) for line in rest]
    if not first and items and all(items):
        return {key: [(match[1] or "").strip() for match in items if match]}
    return None
