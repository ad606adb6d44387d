"""Names of inbox notes: one plain form that is safe on every file system."""

from __future__ import annotations

import re

from anyascii import anyascii

from memory_mcp.core.errors import SlugError

_VALID = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}\Z")
# Windows opens a device for these names, with any ending; a synced folder must not hold them.
_RESERVED = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{device}{n}" for device in ("com", "lpt") for n in "0123456789¹²³"]
)
_WORDS = re.compile(r"[a-z0-9]+")
_MAX_SLUG = 60
_MAX_SHOWN = 60
_SPELLED = (("c++", " c plus plus "), ("c#", " c sharp "), ("f#", " f sharp "), ("&", " and "))

RULE = (
    "a slug has 1 to 100 of the characters a-z (lower-case letters), 0-9, _ and -, and begins with"
    " a letter or digit"
)


def check_slug(text: str) -> str:
    """Return `text` where it can name an inbox note. Raises SlugError, with a name that can."""
    if _VALID.match(text) is None:
        raise SlugError(f"The slug {shown(text)} cannot be used: {RULE}.{_suggestion(text)}")
    if text in _RESERVED:
        raise SlugError(
            f"The slug {shown(text)} cannot be used: Windows keeps this name for a device."
            f" Did you mean {text}-note? ({RULE})"
        )
    return text


def is_device(name: str) -> bool:
    """Whether Windows opens a device for a file or folder of this name, whatever its ending."""
    return name.partition(".")[0].strip().lower() in _RESERVED


def is_lost_on_windows(name: str) -> bool:
    """Whether Windows takes a name for something else: a device, a stream of another file, a
    pattern, or the same without its last dot or blank."""
    return is_device(name) or name.endswith((".", " ")) or bool(set(name) & set('<>:"|?*'))


def slug_from(text: str, fallback: str = "note") -> str:
    """A valid slug of at most 60 characters from a text in any script, cut between words.

    `fallback` is used where nothing readable is left.
    """
    words = _words(text)
    slug = ""
    for word in words:
        longer = f"{slug}-{word}" if slug else word[:_MAX_SLUG]
        if len(longer) > _MAX_SLUG:
            break
        slug = longer
    slug = slug or fallback
    return f"{slug}-note" if slug in _RESERVED else slug


def shown(text: str, limit: int = _MAX_SHOWN) -> str:
    """`text` in quotes for an error: control characters escaped, at most `limit` characters."""
    escaped = "".join(char if char.isprintable() else _escape(char) for char in text[: limit + 1])
    if len(escaped) > limit:
        escaped = escaped[: limit - 1] + "…"
    return f'"{escaped}"'


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def _words(text: str) -> list[str]:
    lowered = text[:400].casefold()
    for sign, words in _SPELLED:
        lowered = lowered.replace(sign, words)
    return _WORDS.findall(anyascii(lowered).lower().replace("'", ""))


def _suggestion(text: str) -> str:
    tail = re.split(r"[\\/]", text.strip().rstrip("\\/"))[-1]
    name = re.sub(r"\.(md|markdown|txt)\Z", "", tail, flags=re.IGNORECASE)
    suggested = slug_from(name, fallback="")
    return f" Did you mean {suggested}?" if suggested else ""
