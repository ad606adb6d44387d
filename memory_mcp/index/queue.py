"""Work that waits: one entry for each note, urgent ones first; and a pulse for who waits."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from itertools import islice

import anyio

from memory_mcp.index.labels import NoteKey


class Pulse:
    """Wakes all who wait, each time something happened."""

    def __init__(self) -> None:
        self._event: anyio.Event | None = None

    def beat(self) -> None:
        """Something happened."""
        if self._event is not None:
            self._event.set()
            self._event = None

    async def wait(self) -> None:
        """Until the next beat. Look at the state first, without an await in between."""
        self._event = self._event or anyio.Event()
        await self._event.wait()


class WorkQueue:
    """Notes to be worked on. A note that is put again while it is in hand waits once more."""

    def __init__(self, pulse: Pulse) -> None:
        self._urgent: dict[NoteKey, bool] = {}
        self._waiting: OrderedDict[NoteKey, bool] = OrderedDict()
        self._in_hand: dict[NoteKey, bool] = {}
        self._pulse = pulse

    def put(self, key: NoteKey, *, urgent: bool = False, anew: bool = False) -> None:
        """Add a note. `anew`: do the work even where nothing seems to have changed."""
        if urgent or key in self._urgent:
            anew = self._waiting.pop(key, False) or anew
            self._urgent[key] = self._urgent.get(key, False) or anew
        else:
            self._waiting[key] = self._waiting.get(key, False) or anew
        self._pulse.beat()

    def take(self, limit: int) -> dict[NoteKey, bool]:
        """Take up to `limit` notes in hand: key -> anew."""
        taken: dict[NoteKey, bool] = {}
        for line in (self._urgent, self._waiting):
            for key in list(islice(line, limit - len(taken))):
                taken[key] = line.pop(key)
        self._in_hand = taken
        return taken

    def done(self, back: Iterable[NoteKey] = ()) -> None:
        """Lay down what is in hand; those of `back` are put in front again."""
        again = {key: self._in_hand.get(key, False) for key in back}
        self._in_hand = {}
        for key in reversed(again):
            put = self._urgent.pop(key, False) or self._waiting.get(key, False)
            self._waiting[key] = again[key] or put
            self._waiting.move_to_end(key, last=False)
        self._pulse.beat()

    def drop(self, key: NoteKey) -> None:
        """Forget a note that waits."""
        self._urgent.pop(key, None)
        self._waiting.pop(key, None)

    @property
    def keys(self) -> set[NoteKey]:
        """All notes that wait or are in hand."""
        return {*self._urgent, *self._waiting, *self._in_hand}

    def __iter__(self) -> Iterator[NoteKey]:
        """All notes that wait or are in hand; one may come twice."""
        yield from self._urgent
        yield from self._waiting
        yield from self._in_hand

    @property
    def idle(self) -> bool:
        """Whether nothing waits and nothing is in hand."""
        return not (self._urgent or self._waiting or self._in_hand)

    @property
    def waits(self) -> bool:
        """Whether something waits to be taken."""
        return bool(self._urgent or self._waiting)
