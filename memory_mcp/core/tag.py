"""Tags as they are compared."""

from __future__ import annotations

from collections.abc import Collection

from memory_mcp.core.normal_form import normal_form


def fold_tag(text: str) -> str:
    """A tag as it is compared: without `#` and outer slashes, composed, in lower case."""
    return normal_form("NFC", text.strip().lstrip("#").strip("/")).casefold()


def has_tag(tags: Collection[str], wanted: str) -> bool:
    """Whether one of a note's tags is the wanted one or lies below it (`a/b` below `a`)."""
    return any(
        own == wanted or own.startswith(f"{wanted}/") for own in (fold_tag(tag) for tag in tags)
    )


def above(path: str) -> tuple[str, ...]:
    """What a path lies below, the widest first: `a/b/c` below `a` and `a/b`."""
    parts = path.split("/")[:-1]
    return tuple("/".join(parts[: depth + 1]) for depth in range(len(parts)))
