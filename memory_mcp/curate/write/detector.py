"""Secrets in a text: the rules of Kingfisher, a detector that is well kept, and our own for prose.

Kingfisher (MongoDB, Apache-2.0) knows the tokens of some four hundred issuers. Scanning stays in
this process and asks nobody. Its rules are compiled once for a user account and machine, which
takes seconds, and kept in the user's cache folder; to load them takes half a second and some
35 MB, so that happens only where a text holds something that could be a token at all.
"""

from __future__ import annotations

import logging
import re
import threading
from typing import TYPE_CHECKING

from memory_mcp.core import secret
from memory_mcp.core.secret import Suspicion, merged

if TYPE_CHECKING:
    from kingfisher_sdk import Finding, Scanner

log = logging.getLogger(__name__)

SECONDS = 4.0
"""The longest scan. 16 MiB of prose take half a second; only a text made for it takes longer."""

_RUN = re.compile(r"[A-Za-z0-9_+/=.:@%~-]{16,}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?")
_DIGIT = re.compile(r"\d")
_MIXED = re.compile(r"[a-z][A-Z]")
_MOST = 500


class _Rules:
    """The compiled rules, loaded at the first need; None where they cannot be."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._asked = False
        self._scanner: Scanner | None = None

    def scanner(self) -> Scanner | None:
        """The scanner. Blocking; safe for threads."""
        with self._guard:
            if not self._asked:
                self._asked = True
                self._scanner = _load()
            return self._scanner


def _load() -> Scanner | None:
    try:
        from kingfisher_sdk import Rules, Scanner

        return Scanner(Rules(confidence="low"), redact=False)
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        log.warning(
            "Secrets are looked for by a few rules only; the detector cannot be loaded: %s", error
        )
        return None


_rules = _Rules()


class Unchecked(Exception):
    """A text took too long to look through; `known` are the secrets that were seen in it."""

    def __init__(self, known: tuple[Suspicion, ...]) -> None:
        super().__init__("not looked through in time")
        self.known = known


def suspicions(text: str, seconds: float = SECONDS) -> tuple[Suspicion, ...]:
    """What looks like a secret in a text, in order of the lines. Blocking, for so many seconds at
    most. Raises Unchecked where that is not enough."""
    own = secret.suspicions(text)
    scanner = _rules.scanner() if could_hold_token(text) else None
    if scanner is None:
        return own
    try:
        found = scanner.scan(text.encode("utf-8", "replace"), timeout=seconds)
    except TimeoutError:
        raise Unchecked(own) from None
    return merged(own, {_key(item): _suspicion(item) for item in found if item.visible}.values())


def new_suspicions(before: str, after: str, seconds: float = SECONDS) -> tuple[Suspicion, ...]:
    """Those of a changed text that were not in it before. Blocking; raises Unchecked."""
    found = suspicions(after, seconds)
    if not found or not before:
        return found
    known = {item.value for item in suspicions(before, seconds)}
    fresh = [item for item in found if item.value not in known]
    # A value may have stood there without the words that give it away.
    return tuple(item for item in fresh[:_MOST] if item.value not in before)


def could_hold_token(text: str) -> bool:
    """Whether a text has a run of letters and digits that is none of a sentence.

    A time is none either: the tools write two into the header of each note.
    """
    return any(
        (_DIGIT.search(run[0]) and not _TIME.fullmatch(run[0]))
        or (len(run[0]) >= 24 and _MIXED.search(run[0]))
        for run in _RUN.finditer(text)
    )


def _key(found: Finding) -> tuple[str, str]:
    return found.rule_id, found.secret


def _suspicion(found: Finding) -> Suspicion:
    kind = found.rule_id.rpartition(".")[2].replace("-", " ").replace("_", " ")
    return Suspicion(kind, found.location["line"], found.secret)
