"""Rules on what may be written: scope, secrets, pinning."""

from __future__ import annotations

from typing import Literal

from memory_mcp.core.config import WritingSettings
from memory_mcp.core.edit import Edited
from memory_mcp.core.errors import InputError, RefusedError
from memory_mcp.core.frontmatter import split_and_load
from memory_mcp.core.metadata import Metadata, metadata
from memory_mcp.core.secret import Suspicion
from memory_mcp.core.slug import shown
from memory_mcp.curate.write.detector import SECONDS, Unchecked, new_suspicions

_MAX_NAMED = 5


def check_scope(scope: str | None, *, project: bool = False) -> None:
    """Raise InputError for a scope that this memory does not have; `project`: it has both."""
    if scope in (None, "global") or (project and scope == "project"):
        return
    if scope == "project":
        raise InputError(
            "scope project is not available here: it needs `projects: auto` in config.yml, and a"
            " client that works in a git work tree. Leave scope out, or use global."
        )
    raise InputError(f"scope {shown(str(scope))} is unknown; use global, or leave it out.")


def checked(settings: WritingSettings, before: str, done: Edited) -> Edited:
    """A changed text, with the warnings that the rules on secrets and pinning have for it.
    Blocking. Raises RefusedError where they forbid it."""
    warnings = check_secrets(before, done.text, settings.secrets)
    if not settings.allow_pin_untrusted:
        check_pin(before, done.text)
    return Edited(done.text, (*done.warnings, *warnings))


def check_secrets(
    before: str,
    after: str,
    rule: Literal["warn", "refuse", "allow"],
    seconds: float = SECONDS,
) -> tuple[str, ...]:
    """Warnings for secrets that a change would bring in. Blocking. Raises RefusedError for
    `refuse`, also where the text could not be looked through within `seconds`.

    The secret itself is never repeated.
    """
    if rule == "allow":
        return ()
    what = _looks_like(before, after, seconds)
    if what is None:
        return ()
    if rule == "refuse":
        raise RefusedError(
            f"The text {what}; nothing was written. Leave it out, and note where it is kept"
            " instead."
        )
    return (f"The text {what}. Consider leaving it out.",)


def _looks_like(before: str, after: str, seconds: float) -> str | None:
    try:
        found = new_suspicions(before, after, seconds)
    except Unchecked as error:
        named = f": {_named(error.known)} for one" if error.known else ""
        return (
            "has so much that looks like keys or tokens that it could not be looked through in"
            f" {SECONDS:g} seconds{named}"
        )
    return f"looks like it holds a secret: {_named(found)}" if found else None


def _named(found: tuple[Suspicion, ...]) -> str:
    more = f" and {len(found) - _MAX_NAMED} more" if len(found) > _MAX_NAMED else ""
    return ", ".join(str(item) for item in found[:_MAX_NAMED]) + more


def check_pin(before: str, after: str) -> None:
    """Raise RefusedError for a change that would pin a note of untrusted origin."""
    if _is_pinned_untrusted(after) and not _is_pinned_untrusted(before):
        raise RefusedError(
            "A note from outside (source.url, or source.kind web, compaction or import) cannot be"
            " pinned: its text would stand in every conversation. Leave pinned out, or set"
            " writing.allow_pin_untrusted."
        )


def _is_pinned_untrusted(text: str) -> bool:
    known: Metadata = metadata(split_and_load(text)[1].values)
    return known.pinned and known.provenance is not None and not known.provenance.trusted
