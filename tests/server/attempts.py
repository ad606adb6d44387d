"""Calls whose server dies at a chosen point, and the same calls again, as a front repeats them."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memory_mcp.app import App, open_app
from memory_mcp.core.config import Config
from memory_mcp.server.build import build
from memory_mcp.server.ledger import Call, Intention, Ledger, Seen, key_of
from memory_mcp.server.session import Connection, Options, Session
from tests.fakes import FixedClock, HashEmbedder
from tests.server.wires import connected
from tests.server.worlds import SECONDS, World, write_files

POINTS = ("begin-", "begin+", "intend-", "intend+", "saw-", "saw+", "answered-", "answered+")
"""Before (-) and after (+) each line in the ledger. The file changes between `intend+` and
`saw-`."""


class Cut(Exception):
    """The engine dies here."""


class BrittleLedger(Ledger):
    """A real ledger whose engine dies at a point: nothing of the call happens after it."""

    cut = ""
    editor: Callable[[], object] | None = None
    """Somebody who saves right after the first intention was noted."""

    def begin(self, key: str, digest: str) -> Call:
        self._reach("begin-")
        call = Ledger.begin(self, key, digest)
        self._reach("begin+")
        return call

    def intend(self, key: str, intention: Intention) -> None:
        self._reach("intend-")
        Ledger.intend(self, key, intention)
        if self.editor is not None:
            self.editor()
            self.editor = None
        self._reach("intend+")

    def saw(self, reference: str, seen: Seen) -> None:
        self._reach("saw-")
        Ledger.saw(self, reference, seen)
        self._reach("saw+")

    def forgot(self, reference: str) -> None:
        self._reach("saw-")
        Ledger.forgot(self, reference)
        self._reach("saw+")

    def answered(self, key: str, result: Mapping[str, Any]) -> None:
        self._reach("answered-")
        Ledger.answered(self, key, result)
        self._reach("answered+")

    def _reach(self, point: str) -> None:
        if self.cut == point:
            raise Cut(point)


@dataclass(slots=True)
class Caller:
    """One client. Each of its engines may die; it does not notice."""

    place: World
    name: str = field(default_factory=lambda: secrets.token_hex(16))
    session: Session = field(default_factory=Session)
    """What the last engine knew of its reading."""
    options: Options = field(default_factory=Options)
    _number: int = 0

    @property
    def ledger(self) -> Path:
        """Its file."""
        return self.place.home / ".state" / "sessions" / f"{self.name}.jsonl"

    async def call(
        self, tool: str, /, *, cuts: Sequence[str] = (), **arguments: Any
    ) -> dict[str, Any]:
        """A call and its answer. At each attempt the engine dies at the next of `cuts`."""
        self._number += 1
        number = self._number
        repeated: list[str | int] = []
        for cut in cuts:
            answer = await self.attempt(number, tool, arguments, repeated, cut)
            if answer is not None:
                return answer
            repeated = [number]
        answer = await self.attempt(number, tool, arguments, repeated)
        assert answer is not None
        return answer

    async def attempt(
        self,
        number: int | str,
        tool: str,
        arguments: Mapping[str, Any],
        repeated: Collection[str | int] = (),
        cut: str = "",
        editor: Callable[[], object] | None = None,
    ) -> dict[str, Any] | None:
        """The result of one attempt with a fresh engine; None where that died."""
        ledger = BrittleLedger.open(self.place.home / ".state", self.name)
        assert isinstance(ledger, BrittleLedger)
        ledger.cut, ledger.editor = cut, editor
        state = Connection(
            self.place.app, self.options, ledger=ledger, repeated=map(key_of, repeated)
        )
        async with connected(self.place.server, state) as client:
            await client.hello()
            answer = await client.call(number, "tools/call", name=tool, arguments=dict(arguments))
        self.session = state.session
        result: dict[str, Any] = answer["result"]
        died = result.get("isError") and "for a reason inside" in result["content"][0]["text"]
        return None if died else result


@asynccontextmanager
async def place(home: Path, *, started: bool = True) -> AsyncIterator[World]:
    """An open memory. The clock stands still: the same calls give the same everywhere."""
    write_files(home, {"config.yml": ""})
    config = Config.model_validate({"home": str(home), "index": {"watch": False}})
    async with open_app(config, embedder=HashEmbedder, clock=FixedClock()) as app:
        if started:
            app.start()
            assert await app.settled(SECONDS)
        yield World(home, app, build(app))


def notes(app: App) -> dict[str, bytes]:
    """All notes of the inbox as they are on disk."""
    root = Path(app.writer.inbox.root)
    return {path.stem: path.read_bytes() for path in root.rglob("*.md")}


def structured(result: dict[str, Any]) -> dict[str, Any]:
    """The structured answer of a call that must have succeeded."""
    assert not result.get("isError"), json.dumps(result)
    data: dict[str, Any] = result["structuredContent"]
    return data


def refusal(result: dict[str, Any]) -> str:
    """The text of a call that must have failed."""
    assert result.get("isError"), json.dumps(result)
    return str(result["content"][0]["text"])


async def emptied(world: World) -> None:
    """Nothing was ever written here."""
    for slug in notes(world.app):
        world.inbox(slug).unlink()
    shutil.rmtree(world.home / ".history", ignore_errors=True)
    await world.app.index.sweep()
    assert await world.app.settled(SECONDS)
