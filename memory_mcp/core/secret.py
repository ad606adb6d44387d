"""Secrets that only the words around them give away: passwords, keys and tokens by their name.

Tokens that tell by their form what they are, are left to the detector that `curate/detector.py`
owns; here is what it leaves out, measured: values named in prose and settings, in several
languages, passwords in addresses and commands, and a few forms that it takes for too uncertain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

_LATIN = (
    r"api[ _-]?key|access[ _-]?key|account[ _-]?key|client[ _-]?secret|secret(?:[ _-]?key)?"
    r"|passphrase|password|passwd|pwd|passwort|kennwort|mot de passe|contrase[nñ]a|senha"
    r"|wachtwoord|(?:(?:access|auth|bearer)[ _-]?)?token"
)
_IDEOGRAPHS = ("密码", "密碼", "口令", "密钥", "密鑰", "パスワード", "비밀번호")
_NAME = re.compile(rf"(?:(?<![^\W\d_])(?:{_LATIN})|{'|'.join(_IDEOGRAPHS)})\Z", re.I)
_LONGEST_NAME = 40
_ENDS = ("key", "secret", "phrase", "password", "passwd", "pwd", "wort", "passe", "contraseña",
         "contrasena", "senha", "wachtwoord", "token", *_IDEOGRAPHS)  # fmt: skip
_SET = re.compile(
    r"(?![0-9A-Za-zÀ-ɏ])[\"'\]]{0,2}\s{0,9}"
    r"(?:=>|:?=|[:：]|\b(?:is|ist|lautet|est|es)\b|是|为|為|は|が)"
    r"\s{0,9}[\"'`]?(?P<value>[^\s\"'`,;。，；、]{8,300})",
    re.I,
)


@dataclass(frozen=True, slots=True)
class _Rule:
    """A secret by its form: `pattern` is tried wherever `mark` (lower case) stands in a text."""

    mark: str
    pattern: re.Pattern[str]
    kind: str = "a password, key or token"
    before: re.Pattern[str] | None = None
    """What must stand before the mark, on the same line."""


_BLOCK = "-----begin "
_RULES = (
    _Rule(
        _BLOCK,
        re.compile(r"(?P<value>-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
                   r"[\s\S]{0,64})"),
        "a private key",
    ),
    _Rule("akia", re.compile(r"(?P<value>\bAKIA[0-9A-Z]{16}\b)"), "an AWS access key"),
    _Rule("asia", re.compile(r"(?P<value>\bASIA[0-9A-Z]{16}\b)"), "an AWS access key"),
    _Rule(
        "gocspx-",
        re.compile(r"(?P<value>\bGOCSPX-[\w-]{28})(?![\w-])", re.A),
        "a Google client secret",
    ),
    _Rule(
        ":aa",
        re.compile(r"(?P<value>:AA[\w-]{33})(?![\w-])", re.A),
        "a Telegram bot token",
        re.compile(r"(?<!\d)\d{8,10}\Z", re.A),
    ),
    _Rule("sk-", re.compile(r"\b(?P<value>sk-[\w.-]{20,300})", re.A), "an API key"),
    _Rule("bearer ", re.compile(r"\bBearer\s{1,9}(?P<value>[\w.~+/=-]{20,300})", re.I | re.A)),
    _Rule(
        "://",
        re.compile(r"://[^\s/:@]{0,100}:(?P<value>[^\s/@]{4,200})@"),
        before=re.compile(r"[a-z0-9+.-]\Z", re.I),
    ),
    *(
        _Rule(
            option,
            re.compile(option + r"[ =]['\"]?[^\s:'\"]{1,80}:(?P<value>[^\s'\"]{6,200})"),
            before=re.compile(r"\bcurl\b.*\s\Z"),
        )
        for option in ("-u", "--user")
    ),
)  # fmt: skip
_PLACEHOLDER = re.compile(
    r"[<${%*]|\.\.\.|…|://|^(?:your|my|x{3}|example|change[-_]?me|none|null|true|false)(?![a-z])"
    r"|^(?:password|passwort|pass|secret|token|user)\W*\Z",
    re.I,
)


_LOOK_BACK = 200
_MANY = 200  # beyond, values are not compared with each other any more


@dataclass(frozen=True, slots=True)
class Suspicion:
    """What a text seems to hold, and where. The value itself is never shown."""

    kind: str
    line: int
    value: str = field(repr=False)

    def __str__(self) -> str:
        return f"{self.kind} (line {self.line})"


def suspicions(text: str) -> tuple[Suspicion, ...]:
    """What these rules take for a secret, in order of the lines, one for each value."""
    lowered = text.replace("\u0130", "I").lower()  # the one letter that grows in lower case
    found: dict[str, tuple[int, str]] = {}
    for rule in _RULES:
        for at, value in _by_form(rule, text, lowered):
            _note(found, value, at, rule.kind)
    for end in _ENDS:
        for at, value in _by_name(end, text, lowered):
            _note(found, value, at, "a password, key or token")
    return _numbered(text, found)


def _note(found: dict[str, tuple[int, str]], value: str, at: int, kind: str) -> None:
    if value in found:
        return
    if len(found) > _MANY or not any(value in known or known in value for known in found):
        found[value] = (at, kind)


def _by_form(rule: _Rule, text: str, lowered: str) -> Iterator[tuple[int, str]]:
    for at, match in _matches(rule.pattern, rule.mark, 0, text, lowered):
        value = match["value"]
        if rule.mark == "sk-" and not any(map(str.isdigit, value)):
            continue
        if rule.mark != _BLOCK and _PLACEHOLDER.search(value):
            continue
        line = max(text.rfind("\n", max(at - _LOOK_BACK, 0), at) + 1, at - _LOOK_BACK)
        if rule.before is None or rule.before.search(text[line:at]):
            yield at, value


def _by_name(end: str, text: str, lowered: str) -> Iterator[tuple[int, str]]:
    for at, match in _matches(_SET, end, len(end), text, lowered):
        value = match["value"].rstrip(".)]}>")
        start = max(at - _LONGEST_NAME, 0)
        if _looks_made(value) and _NAME.search(text[start : match.start()]):
            yield at, value


def _matches(
    pattern: re.Pattern[str], mark: str, skip: int, text: str, lowered: str
) -> Iterator[tuple[int, re.Match[str]]]:
    """Where the pattern matches, `skip` characters behind a mark; never twice over one text."""
    at = lowered.find(mark)
    while at >= 0:
        match = pattern.match(text, at + skip)
        if match is not None:
            yield at, match
        at = lowered.find(mark, at + 1 if match is None else match.end())


def merged(first: Iterable[Suspicion], then: Iterable[Suspicion]) -> tuple[Suspicion, ...]:
    """Both, in order of the lines; of two that share a line and a value the first."""
    kept = list(first)
    lines: dict[int, list[str]] = {}
    for item in kept:
        lines.setdefault(item.line, []).append(item.value)
    for item in then:
        known = lines.setdefault(item.line, [])
        if not any(item.value in value or value in item.value for value in known):
            kept.append(item)
            known.append(item.value)
    return tuple(sorted(kept, key=lambda item: item.line))


def _numbered(text: str, found: dict[str, tuple[int, str]]) -> tuple[Suspicion, ...]:
    """Count the lines once, from one place to the next."""
    line, at = 1, 0
    numbered: list[Suspicion] = []
    for value, (place, kind) in sorted(found.items(), key=lambda item: item[1]):
        line, at = line + text.count("\n", at, place), place
        numbered.append(Suspicion(kind, line, value))
    return tuple(numbered)


def _looks_made(value: str) -> bool:
    """Letters and digits mixed, as no word of a sentence is."""
    if len(value) < 8 or _PLACEHOLDER.search(value):
        return False
    return any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
