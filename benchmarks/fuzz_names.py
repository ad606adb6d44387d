"""Texts that try to name something outside of a source, each with the kind of its trick."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable
from urllib.parse import quote

NAMES = (
    "note", "note-1", "secret", "outside", "link-file", "link-folder", "people", "deep", "dir",
    ".git", ".index", ".state", ".history", "node_modules", "config.yml", "passwd", "etc", "a",
    "é", "e\u0301", "日本", "\u212b", "\u1e9b\u0323", "🗒", "memory", "wiki", "vault", "vault2",
)  # fmt: skip
UPS = ("..", "../..", "./..", "a/../..", "....//", "..//", "...", ". .", ".. ", " ..")
HIDDEN_UPS = ("..\u200b", "..\u00ad", "\u200e..", "..\ufeff", ".\u2060.", "..\u0301", "..\ufe0f")
ALIKE_UPS = ("․․", "‥", "．．", "。。", "｡｡", "\u2024.", "\uff0e\uff0e", "٠٠", "…", "·.", "܁܁")
SLASHES = ("/", "//", "/./", "///")
ALIKE_SLASHES = ("∕", "⁄", "／", "＼", "⧵", "﹨", "╱", "¥", "₩", "\u29f8", "\u2571", "\u0338")
DRIVES = (
    "C:\\", "c:/", "C:", "\\\\?\\C:\\", "\\\\.\\", "\\\\host\\share\\", "//host/share/", "\\",
    "..\\", "..\\..\\", "C:..\\", "\\??\\", "ｃ：／",
)  # fmt: skip
DEVICES = (
    "con", "CON", "nul", "NUL.md", "aux", "aux.md", "prn", "com1", "COM¹", "com²", "lpt9",
    "CONIN$", "conout$", "con ", "con.", "nul.txt.md", "clock$", "ＣＯＮ",
)  # fmt: skip
ENDINGS = (
    ":x", "::$DATA", ":$I30:$INDEX_ALLOCATION", ".", "..", " ", ". .", ".md.", ".md ", ".MD",
    ".md/", "/", "/.", "\u00a0", "~", "~1", "#h", "?q=1", ";a", "|b", "*", '"', "<", "`id`",
    "$HOME", "${HOME}", "{agent}", "%HOME%", "%TEMP%",
)  # fmt: skip
CONTROLS = (
    "\x00", "\n", "\r\n", "\t", "\x7f", "\x1b[2J", "\x85", "\u2028", "\u2029", "\ud800", "\udcff",
    "\u202e", "\ufeff", "\x00.md", "\x00../",
)  # fmt: skip
ABSOLUTE = (
    "/etc/passwd", "/", "//", "/proc/self/environ", "/proc/self/cwd/", "/dev/stdin", "/dev/zero",
    "~", "~/", "~root/", "~/.ssh/id", "file:///etc/passwd", "file:", "memories://note/", "http://x/",
    "data:,x", "\\etc\\passwd",
)  # fmt: skip
SOURCES = ("", "", "", "memory/", "wiki/", "vault/", "vault2/", "memory//", "./", "Memory/")

Make = Callable[[random.Random, str], str]


def _name(draw: random.Random) -> str:
    return draw.choice(NAMES)


def _tail(draw: random.Random) -> str:
    return draw.choice(("outside/secret", "secret", "vault2/note", "etc/passwd", _name(draw)))


def _plain(draw: random.Random, _: str) -> str:
    parts = [_name(draw) for _ in range(draw.randint(1, 3))]
    return draw.choice(SOURCES) + draw.choice(SLASHES).join(parts) + draw.choice(("", ".md"))


def _climb(draw: random.Random, _: str) -> str:
    steps = draw.choice(SLASHES).join(draw.choice(UPS) for _ in range(draw.randint(1, 6)))
    middle = f"{_name(draw)}/" if draw.random() < 0.3 else ""
    return f"{draw.choice(SOURCES)}{middle}{steps}{draw.choice(SLASHES)}{_tail(draw)}"


def _absolute(draw: random.Random, outer: str) -> str:
    start = draw.choice((*ABSOLUTE, f"{outer}/outside/", f"/{outer}/outside/"))
    return f"{draw.choice(SOURCES)}{start}{draw.choice(('', _tail(draw)))}"


def _encoded(draw: random.Random, outer: str) -> str:
    text = draw.choice((_climb, _absolute, _ending))(draw, outer)
    for _ in range(draw.choice((1, 1, 2, 3))):
        safe = draw.choice(("", "/", ".", "/."))
        text = quote(text.encode("utf-8", "surrogatepass"), safe=safe)
        if draw.random() < 0.7:
            text = text.replace(".", draw.choice(("%2e", "%2E", "%c0%ae", "%u002e", "&#46;")))
    return text


def _alike(draw: random.Random, _: str) -> str:
    ups = (*ALIKE_UPS, *HIDDEN_UPS, "..")
    slashes = (*ALIKE_SLASHES, "/")
    steps = "".join(draw.choice(ups) + draw.choice(slashes) for _ in range(draw.randint(1, 4)))
    return draw.choice(SOURCES) + steps + _tail(draw)


def _formed(draw: random.Random, outer: str) -> str:
    text = draw.choice((_plain, _climb, _alike, _device))(draw, outer)
    return unicodedata.normalize(draw.choice(("NFC", "NFD", "NFKC", "NFKD")), text)


def _device(draw: random.Random, _: str) -> str:
    name = draw.choice(DEVICES)
    return draw.choice((name, f"{draw.choice(SOURCES)}{name}", f"{_name(draw)}/{name}"))


def _drive(draw: random.Random, _: str) -> str:
    return draw.choice(SOURCES) + draw.choice(DRIVES) + _tail(draw)


def _ending(draw: random.Random, _: str) -> str:
    return f"{draw.choice(SOURCES)}{_name(draw)}{draw.choice(ENDINGS)}{draw.choice(('', '.md'))}"


def _control(draw: random.Random, outer: str) -> str:
    text = draw.choice((_plain, _climb))(draw, outer)
    at = draw.randint(0, len(text))
    return text[:at] + draw.choice(CONTROLS) + text[at:]


def _long(draw: random.Random, outer: str) -> str:
    unit = draw.choice(("a", "é", "日", "a/", "../", "./", "%2e", "\u0301", "memory/"))
    return unit * draw.choice((90, 101, 255, 256, 999, 1001, 4096, 70_000)) + _tail(draw)


def _link(draw: random.Random, _: str) -> str:
    below = draw.choice(("", "/secret", "/deep/a", "/new", "/.."))
    return draw.choice(SOURCES) + draw.choice(("link-file", "link-folder", "dir", "pipe")) + below


def _letters(draw: random.Random, _: str) -> str:
    return "".join(chr(draw.randrange(1, 0x3000)) for _ in range(draw.randint(1, 12)))


KINDS: dict[str, Make] = {
    "plain names": _plain,
    "climbing": _climb,
    "absolute, addresses": _absolute,
    "percent-encoded": _encoded,
    "look-alikes": _alike,
    "normal forms": _formed,
    "devices": _device,
    "drives, shares": _drive,
    "streams, endings": _ending,
    "control characters": _control,
    "very long": _long,
    "links, pipes, folders": _link,
    "any letters": _letters,
}


def make(draw: random.Random, outer: str) -> tuple[str, str]:
    """A kind and a text of it. `outer` is the folder in which the forbidden tree lies."""
    kind = draw.choice(tuple(KINDS))
    if kind == "very long" and draw.random() < 0.7:  # costly, and all alike
        kind = "climbing"
    text = KINDS[kind](draw, outer)
    if draw.random() < 0.03:
        text = draw.choice((text.upper(), text.swapcase(), f" {text}", f"{text} ", text * 2))
    return kind, text
