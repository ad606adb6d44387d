"""Texts that look like a secret: keys, tokens and passwords that do not belong in a memory."""

from __future__ import annotations

import re
from dataclasses import dataclass

_KNOWN = (
    ("a private key", re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----")),
    ("an AWS access key", re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    ("a GitHub token", re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{30,})")),
    ("a GitLab token", re.compile(r"\bglpat-[\w-]{20,}")),
    ("a Slack token", re.compile(r"\bxox[abposr]-[\w-]{10,}")),
    ("a Google API key", re.compile(r"\bAIza[\w-]{35}")),
    ("a Stripe key", re.compile(r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}")),
    ("an API key", re.compile(r"\bsk-(?=[\w.-]*\d)[\w.-]{20,}")),
    ("a web token", re.compile(r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{5,}")),
    ("a password in an address", re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s/:@]+:[^\s/@]{4,}@")),
)
_NAMES = (
    r"api[ _-]?key|access[ _-]?key|client[ _-]?secret|secret(?:[ _-]?key)?|passphrase|password"
    r"|passwd|passwort|kennwort|(?:(?:access|auth|bearer)[ _-]?)?token"
)
_NAMED = re.compile(
    rf"(?i)\b(?:{_NAMES})\b[\"']?\s*(?:=|:|\bis\b|\blautet\b|\bist\b)"
    r"\s*[\"'`]?(?P<value>[^\s\"'`,;]{8,})"
)
_PLACEHOLDER = re.compile(
    r"[<${%*]|\.\.\.|…|://|^(?:your|my|x{3}|example|none|null|true|false)\b", re.I
)


@dataclass(frozen=True, slots=True)
class Suspicion:
    """What a text seems to hold, and where. The value itself is never shown."""

    kind: str
    line: int
    value: str

    def __str__(self) -> str:
        return f"{self.kind} (line {self.line})"


def suspicions(text: str) -> tuple[Suspicion, ...]:
    """What looks like a secret in a text, in order of the lines, one for each value."""
    found: dict[str, tuple[int, str]] = {}
    for kind, pattern in _KNOWN:
        for match in pattern.finditer(text):
            found.setdefault(_value_at(text, match), (match.start(), kind))
    for match in _NAMED.finditer(text):
        value = match["value"]
        if _looks_made(value) and not any(value in known or known in value for known in found):
            found.setdefault(value, (match.start(), "a password, key or token"))
    return tuple(
        Suspicion(kind, text.count("\n", 0, place) + 1, value)
        for value, (place, kind) in sorted(found.items(), key=lambda item: item[1])
    )


def new_suspicions(before: str, after: str) -> tuple[Suspicion, ...]:
    """Those of a changed text that were not in it before."""
    return tuple(item for item in suspicions(after) if item.value not in before)


def _value_at(text: str, match: re.Match[str]) -> str:
    """The value; of a private key the lines that follow, since all begin alike."""
    if "BEGIN" in match[0]:
        return text[match.start() : match.end() + 64]
    return match[0]


def _looks_made(value: str) -> bool:
    """Letters and digits mixed, as no word of a sentence is."""
    if _PLACEHOLDER.search(value):
        return False
    return any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
