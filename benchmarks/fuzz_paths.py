"""Slugs and references that try to leave a source: does any of them?

    python benchmarks/fuzz_paths.py [--count 200000] [--seed 1]

A home with notes, links that lead out, and a tree beside it that nobody may read or touch. Each
text is made from a grammar of names, climbing, encodings, look-alikes, drives, devices, streams,
control characters and length, and given to the functions behind the tools: reading, writing,
editing, deleting, linking, listing by prefix. Allowed outcomes are success inside a source and the
errors of this program. Afterwards the tree beside must be what it was, and its text in no answer.
Prints outcomes by operation; ends with code 1 on a breach.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
import unicodedata
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.parse import quote

import anyio

from memory_mcp.app import App, open_app
from memory_mcp.core.config import Config
from memory_mcp.core.edit import EditRequest
from memory_mcp.core.errors import MemoryMcpError

MARK = "granite-outside-9f3a"
SLOW_SECONDS = 5.0

NAMES = (
    "note", "note-1", "secret", "outside", "link-file", "link-folder", "wiki", "memory", "vault",
    "CON", "nul", "aux", "COM1", "COM¹", "LPT9", "con.md", ".git", ".index", ".state", ".history",
    "node_modules", "config.yml", "passwd", "etc", "a", "é",
    "e\u0301", "日本", "ﬁle", "ｎｏｔｅ", "~",
)  # fmt: skip
CLIMBS = (
    "..", ".", "...", "….", "․․", "‥", "．．", "%2e%2e", "%252e%252e", ".%2e", "..;", "..\u200b",
    "..\u00ad", "\u2024.", "\uff0e\uff0e", "..\x00", " ..", ".. ", "..\t", "..\\", "\\..",
)  # fmt: skip
SLASHES = ("/", "//", "\\", "/./", "%2f", "%5c", "%252f", "∕", "⁄", "／", "＼", "⧵", "¥", "₩")
STARTS = (
    "", "", "", "/", "\\", "//", "\\\\", "C:\\", "c:/", "C:", "\\\\?\\", "\\\\.\\", "~/",
    "file://",
    "memory/", "wiki/", "vault/", "memory//", "./", "../", "/proc/self/", "/dev/",
    "memories://note/",
)  # fmt: skip
ENDS = (
    "",
    "",
    ".md",
    ".MD",
    ".md.",
    " ",
    ".",
    ":x",
    "::$DATA",
    "\x00",
    "\n",
    "#h",
    "?q",
    "/",
    "%00",
)


def main() -> None:
    """Try all, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        _build(root)
        before = _state(root / "outside")
        config = Config.model_validate(
            {
                "home": str(root / "home"),
                "embedding": {"provider": "none"},
                "index": {"watch": False, "sweep_seconds": 0},
                "sources": {"vault": {"path": str(root / "vault")}},
            }
        )
        run = Run(root, random.Random(options.seed))
        anyio.run(run.all, config, options.count)
        if _state(root / "outside") != before:
            run.breaches.append("the tree outside was changed")
        _print(run, options.count)
    if run.breaches:
        sys.exit(1)


def _build(root: Path) -> None:
    outside, inbox = root / "outside", root / "home" / "agents" / "default" / "memory"
    for folder in (outside / "deep", inbox, root / "home" / "wiki" / "people", root / "vault"):
        folder.mkdir(parents=True)
    (root / "vault2").mkdir()
    for place in (outside / "secret.md", outside / "deep" / "a.md", root / "vault2" / "note.md"):
        place.write_text(f"# Secret\n\n{MARK}\n", encoding="utf-8")
    for folder in (inbox, root / "home" / "wiki", root / "home" / "wiki" / "people"):
        (folder / "note.md").write_text("# Note\n\nInside.\n", encoding="utf-8")
    (root / "vault" / "note.md").write_text("# Note\n\nInside.\n", encoding="utf-8")
    for folder in (inbox, root / "home" / "wiki", root / "vault"):
        (folder / "link-file.md").symlink_to(outside / "secret.md")
        (folder / "link-folder").symlink_to(outside)
        os.mkfifo(folder / "secret.md")


def _state(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    return {
        str(path): (
            path.stat().st_mtime_ns,
            path.stat().st_ino,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in sorted(folder.rglob("*"))
    }


class Run:
    """All attempts and what came of them."""

    def __init__(self, root: Path, chance: random.Random) -> None:
        self.outcomes: Counter[tuple[str, str]] = Counter()
        self.breaches: list[str] = []
        self.slowest = 0.0
        self.seconds = 0.0
        self._root = root
        self._chance = chance

    async def all(self, config: Config, count: int) -> None:
        """So many attempts on a memory of these settings."""
        begin = time.perf_counter()
        async with open_app(config) as app:
            app.start()
            await app.settled()
            ways = _ways(app)
            for number in range(count):
                kind, act = self._chance.choice(ways)
                await self._try(kind, act, self._text())
                if number % 2000 == 1999:
                    await _tidy(app)
        self.seconds = time.perf_counter() - begin

    async def _try(self, kind: str, act: Callable[[str], Awaitable[object]], text: str) -> None:
        begin = time.perf_counter()
        try:
            with anyio.fail_after(SLOW_SECONDS):
                answer = str(await act(text))
            outcome = "done inside"
        except MemoryMcpError as error:
            answer, outcome = str(error), type(error).__name__
        except Exception as error:  # noqa: BLE001 - that there are no others is what is tested
            answer, outcome = "", f"CRASH {type(error).__name__}"
            self.breaches.append(f"{kind} {text[:200]!r}: {outcome} {error}")
        self.slowest = max(self.slowest, time.perf_counter() - begin)
        if MARK in answer:
            self.breaches.append(f"{kind} {text[:200]!r}: text from outside in the answer")
        self.outcomes[kind, outcome] += 1

    def _text(self) -> str:
        pick = self._chance.choice
        if self._chance.random() < 0.25:
            return pick(STARTS) + pick(NAMES) + pick(("", ".md"))
        if self._chance.random() < 0.03:
            return pick(NAMES) * self._chance.randint(30, 400)
        if self._chance.random() < 0.05:
            letters = (chr(self._chance.randrange(1, 0x2FFF)) for _ in range(9))
            return "".join(letter for letter in letters if not 0xD800 <= ord(letter) < 0xE000)
        parts = [pick(CLIMBS) if self._chance.random() < 0.4 else pick(NAMES) for _ in range(3)]
        text = parts[0]
        for part in parts[1 : self._chance.randint(1, 3)]:
            text += pick(SLASHES) + part
        text = pick(STARTS) + text + pick(ENDS)
        twist = self._chance.random()
        if twist < 0.05:
            return quote(text, safe="")
        if twist < 0.1:
            return unicodedata.normalize(pick(("NFC", "NFD", "NFKC", "NFKD")), text)
        if twist < 0.13:
            return str(self._root / "outside") + "/" + text
        return text.upper() if twist < 0.16 else text


def _ways(app: App) -> tuple[tuple[str, Callable[[str], Awaitable[object]]], ...]:
    reader, writer = app.reader, app.writer

    async def listed(text: str) -> object:
        return [row.title for row in reader.list("all", path_prefix=text).rows]

    return (
        ("read", lambda text: reader.get(text)),
        ("read a heading", lambda text: reader.get("wiki/note", heading=text)),
        ("write", lambda text: writer.write(text, "# New\n\nInside.\n")),
        ("append", lambda text: writer.edit(text, EditRequest(append="more"))),
        ("delete", lambda text: writer.delete(text)),
        ("link from", lambda text: writer.link(text, "wiki/note")),
        ("link to", lambda text: writer.link("memory/note", text)),
        ("restore", lambda text: writer.restore(text)),
        ("list", listed),
    )


async def _tidy(app: App) -> None:
    """The note that the others work on is there again."""
    await app.writer.write("note", "# Note\n\nInside.\n")


def _print(run: Run, count: int) -> None:
    print(f"{count:,} texts in {run.seconds:.0f} s, the slowest {1000 * run.slowest:.0f} ms\n")
    outcomes = sorted({outcome for _, outcome in run.outcomes})
    print(f"| | {' | '.join(outcomes)} |")
    print(f"|---|{'---|' * len(outcomes)}")
    for kind in sorted({kind for kind, _ in run.outcomes}):
        cells = (f"{run.outcomes[kind, outcome]:,}" for outcome in outcomes)
        print(f"| {kind} | {' | '.join(cells)} |")
    print(f"\nBreaches: {len(run.breaches)}")
    for breach in run.breaches[:20]:
        print(breach)


if __name__ == "__main__":
    main()
