"""Slugs, references and URIs that try to leave a source: does any of them?

    python benchmarks/fuzz_paths.py [--count 200000] [--seed 1] [--swaps 30]

A home with notes, links that lead out, a pipe, a folder named as a note; and beside it trees that
nobody may read or touch. Each text of the grammar (fuzz_names.py) is given to the functions behind
the tools, and a share of them to the tools and resources themselves, over MCP. The only outcomes
that are allowed are success inside a source and the errors of this program, each within
`SLOW_SECONDS`. The kernel tells whether anything outside was so much as opened; afterwards all
files outside, the wiki, the vault and the settings must be what they were. Then, for `--swaps`
seconds, a thread exchanges notes, folders and their roots with links as fast as it can while the
same functions run. Prints tables; ends with code 1 on a breach. Linux.
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path

import anyio
from fuzz_names import make
from fuzz_swaps import swapping
from fuzz_watch import Events, State, state_of
from mcp import Client
from mcp.shared.exceptions import MCPError

from memory_mcp.app import App, open_app
from memory_mcp.core.config import Config
from memory_mcp.core.edit import EditRequest
from memory_mcp.core.errors import MemoryMcpError
from memory_mcp.server.build import build

MARK = "granite-outside-9f3a"
SLOW_SECONDS = 5.0
OVER_MCP = 0.1
"""Share of the texts that go the whole way, through the protocol."""

Act = Callable[[str], Awaitable[object]]


class ToolError(MemoryMcpError):
    """A tool answered with an error."""


def main() -> None:
    """Try all, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--swaps", type=float, default=30.0, help="seconds")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)  # thousands of lines on links that come and go
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        _build(root)
        run = Run(root, random.Random(options.seed))
        anyio.run(run.all, options.count, options.swaps)
        _print(run)
    if run.breaches:
        sys.exit(1)


def _build(root: Path) -> None:
    inbox, home = root / "home" / "agents" / "default" / "memory", root / "home"
    for folder in (root / "outside" / "deep", root / "vault2", root / "vault" / "people"):
        folder.mkdir(parents=True)
    for folder in (inbox, home / "wiki" / "people"):
        folder.mkdir(parents=True)
    for place in ("outside/secret.md", "outside/deep/a.md", "vault2/note.md", "vault2/secret.md"):
        (root / place).write_text(f"# Secret\n\n{MARK}\n", encoding="utf-8")
    (home / "config.yml").write_text("# Settings\n", encoding="utf-8")
    for folder in (inbox, home / "wiki", home / "wiki" / "people", root / "vault"):
        for name in ("note", "a", "é", "日本", "people"):
            (folder / f"{name}.md").write_text("# Note\n\nInside.\n", encoding="utf-8")
    for folder in (inbox, home / "wiki", root / "vault"):
        (folder / "link-file.md").symlink_to(root / "outside" / "secret.md")
        (folder / "link-folder").symlink_to(root / "outside")
        (folder / "dir.md").mkdir()
        os.mkfifo(folder / "pipe.md")


class Run:
    """All attempts and what came of them."""

    def __init__(self, root: Path, draw: random.Random) -> None:
        self.by_kind: Counter[tuple[str, str]] = Counter()
        self.by_way: Counter[tuple[str, str]] = Counter()
        self.swapped: Counter[tuple[str, str]] = Counter()
        self.breaches: list[str] = []
        self.slowest = 0.0
        self.seconds = 0.0
        self.turns = 0
        self._root = root
        self._draw = draw

    async def all(self, count: int, swaps: float) -> None:
        """So many attempts on a memory, and so many seconds of swaps."""
        config = Config.model_validate(
            {
                "home": str(self._root / "home"),
                "embedding": {"provider": "none"},
                "index": {"watch": False, "sweep_seconds": 0},
                "sources": {"vault": {"path": str(self._root / "vault")}},
            }
        )
        forbidden = (self._root / "outside", self._root / "vault2")
        async with open_app(config) as app:
            app.start()
            await app.settled()
            before = self._kept()
            with Events(*forbidden) as events:
                async with Client(build(app)) as client:
                    await self._fuzz(app, client, count, events)
                self._look(events, "at the end")
                if self._kept() != before:
                    self.breaches.append("a file that no tool may write was changed")
                events.seen()  # our own look at the files
                if swaps:
                    await self._swap(app, swaps, events)
            if self._kept() != before:
                self.breaches.append("a file outside was changed by a swap")

    def _kept(self) -> State:
        home = self._root / "home"
        places = ("outside", "vault", "vault2")
        return state_of(
            *(self._root / name for name in places), home / "wiki", home / "config.yml"
        )

    async def _fuzz(self, app: App, client: Client, count: int, events: Events) -> None:
        begin = time.perf_counter()
        direct, far = tuple(_direct(app)), tuple(_over_mcp(client))
        for number in range(count):
            kind, text = make(self._draw, str(self._root))
            way, act = self._draw.choice(far if self._draw.random() < OVER_MCP else direct)
            outcome = await self._try(f"{way} {text[:200]!r}", act, text)
            self.by_kind[kind, outcome] += 1
            self.by_way[way, outcome] += 1
            if number % 1000 == 999:
                self._look(events, f"before text {number}")
                await app.writer.write("note", "# Note\n\nInside.\n")
        self.seconds = time.perf_counter() - begin

    async def _swap(self, app: App, seconds: float, events: Events) -> None:
        inbox = self._root / "home" / "agents" / "default" / "memory"
        ways = tuple(_direct(app))
        with swapping(inbox, self._root / "outside", self._root / "vault") as swaps:
            end = time.perf_counter() + seconds
            while time.perf_counter() < end:
                way, act = self._draw.choice(ways)
                text = self._draw.choice(("swap", "memory/swap", "vault/sub/secret", "secret"))
                outcome = await self._try(f"{way} {text!r} while swapped", act, text)
                self.swapped[way, outcome] += 1
                if self._draw.random() < 0.1:
                    await app.index.sweep()
        self.turns = swaps.turns
        await app.index.sweep()
        self._look(events, "during swaps")

    async def _try(self, what: str, act: Act, text: str) -> str:
        begin = time.perf_counter()
        try:
            with anyio.fail_after(SLOW_SECONDS):
                answer = str(await act(text))
            outcome = "done inside"
        except (MemoryMcpError, MCPError) as error:
            answer, outcome = str(error), type(error).__name__
        except Exception as error:  # noqa: BLE001 - that there are no others is what is tested
            answer, outcome = "", f"CRASH {type(error).__name__}"
            self.breaches.append(f"{what}: {outcome} {error}")
        self.slowest = max(self.slowest, time.perf_counter() - begin)
        if MARK in answer:
            self.breaches.append(f"{what}: text from outside in the answer")
        return outcome

    def _look(self, events: Events, when: str) -> None:
        self.breaches += [f"outside, {when}: {event}" for event in events.seen()]


def _direct(app: App) -> Iterator[tuple[str, Act]]:
    reader, writer = app.reader, app.writer

    async def listed(text: str) -> object:
        return [row.title for row in reader.list("all", path_prefix=text).rows]

    yield "read", reader.get
    yield "read a heading", lambda text: reader.get("wiki/note", heading=text)
    yield "write", lambda text: writer.write(text, "# New\n\nInside.\n")
    yield "append", lambda text: writer.edit(text, EditRequest(append="more"))
    yield "delete", writer.delete
    yield "link from", lambda text: writer.link(text, "wiki/note")
    yield "link to", lambda text: writer.link("memory/note", text)
    yield "restore", writer.restore
    yield "list", listed


def _over_mcp(client: Client) -> Iterator[tuple[str, Act]]:
    def tool(name: str, argument: str, **more: object) -> tuple[str, Act]:
        async def act(text: str) -> object:
            with suppress(UnicodeEncodeError):  # what no client can send
                text.encode()
                result = await client.call_tool(name, {**more, argument: text})
                if "a reason inside the server" in str(result.content):
                    raise RuntimeError("the server failed inside")
                if result.is_error:
                    raise ToolError(str(result.content))
                return result

        return f"{name} over MCP", act

    async def resource(text: str) -> object:
        with suppress(UnicodeEncodeError):
            text.encode()
            return await client.read_resource(f"memories://note/{text}")

    yield tool("memory_get", "reference")
    yield tool("memory_write", "slug", content="# New\n\nInside.\n")
    yield tool("memory_edit", "slug", append="more")
    yield tool("memory_delete", "slug")
    yield tool("memory_link", "target", source="note")
    yield tool("memory_search", "path_prefix", query="inside")
    yield "a resource", resource


def _print(run: Run) -> None:
    tried = run.by_kind.total()
    print(f"{tried:,} texts in {run.seconds:.0f} s, the slowest {1000 * run.slowest:.0f} ms\n")
    _table("kind of text", run.by_kind)
    _table("operation", run.by_way)
    if run.swapped:
        print(f"{run.swapped.total():,} operations during {run.turns:,} swaps\n")
        _table("while swapped", run.swapped)
    print(f"Breaches: {len(run.breaches)}")
    for breach in run.breaches[:20]:
        print(breach)


def _table(title: str, counts: Counter[tuple[str, str]]) -> None:
    outcomes = sorted({outcome for _, outcome in counts})
    print(f"| {title} | {' | '.join(outcomes)} |\n|---|{'---|' * len(outcomes)}")
    for kind in dict.fromkeys(kind for kind, _ in sorted(counts)):
        cells = (f"{counts[kind, outcome]:,}" for outcome in outcomes)
        print(f"| {kind} | {' | '.join(cells)} |")
    print()


if __name__ == "__main__":
    main()
