"""The index of all notes: what search and server ask. Everything in it can be rebuilt from files.

Its tables live on the event loop and are asked synchronously; the vector store has one lane;
reading, parsing and embedding happen on worker threads.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path

import anyio

from memory_mcp.core.config import Config
from memory_mcp.core.ports import Embedder, Vectors
from memory_mcp.index.background import Background
from memory_mcp.index.cache import EmbeddingCache
from memory_mcp.index.catalog import FOLDER
from memory_mcp.index.fill import Filler
from memory_mcp.index.frames import frames
from memory_mcp.index.identity import derivation
from memory_mcp.index.intake import Intake
from memory_mcp.index.known import Known, is_guarded
from memory_mcp.index.lane import Lane
from memory_mcp.index.model import Model
from memory_mcp.index.names import Names
from memory_mcp.index.nearness import Nearness
from memory_mcp.index.queue import Pulse
from memory_mcp.index.records import Records
from memory_mcp.index.report import report
from memory_mcp.index.state import IndexEvent, IndexState
from memory_mcp.index.status import disk_state
from memory_mcp.index.store_watch import StoreWatch
from memory_mcp.index.stores import open_words
from memory_mcp.index.sync import Sync
from memory_mcp.index.table import Entry
from memory_mcp.index.wordview import WordView
from memory_mcp.notes.sources import Source

__all__ = ["Entry", "Index", "disk_state"]

log = logging.getLogger(__name__)

_VECTOR_SECONDS = 2.0  # how long `refresh` waits for vectors
_PROGRESS_SECONDS = 0.1


class Index:
    """Words and vectors of the notes of some sources, kept what the files are by `run`."""

    def __init__(
        self,
        config: Config,
        sources: Sequence[Source],
        embedder: Callable[[], Embedder] | None,
    ) -> None:
        """`embedder` loads the model when `run` calls it on a worker thread; None: words only.
        Nothing is opened or read here."""
        folder = Path(config.home) / FOLDER
        self._sources: list[Source] = []
        self._config = config
        self._pulse = Pulse()
        self._known: dict[str, Known] = {}
        self._table, self._words = open_words(config, self._known, self._pulse)
        self.by_words = self._words.best
        """(point, BM25) of the best live passages of a view by `words`; see `WordSearch.best`."""
        self.located, self.live = self._table.located, self._table.live
        """Where the points are that are live, and notes that are; see `Table`."""
        self._model = Model(embedder, self._pulse)
        self._lane = Lane()
        self._cache = EmbeddingCache(folder)
        self._records = Records(folder, derivation(config))
        self._filler = Filler(
            self._table, self._model, self._lane, self._cache, self._records, self._pulse
        )
        self._store = StoreWatch(config, self._sources, self._lane, self._filler, self._pulse)
        self.look_at_store = self._store.look
        """Has a server of vectors asked now how it is; see `StoreWatch.look`."""
        self._nearness = Nearness(self._table, self._lane, self._store, self._model, self._cache)
        self.around = self._nearness.around
        """The nearest live passages, and the cosine of some points; see `Nearness.around`."""
        self.likeness = self._nearness.likeness
        """How near passages come to a question word by word; see `Nearness.likeness`."""
        self._intake = Intake(
            config, self._known, self._table, self._records, self._filler.queue, self._pulse
        )
        self._sync = Sync(self._known, self._table, self._records, self._intake, self._pulse)
        self._listeners: dict[int, Callable[[IndexEvent], None]] = {}
        self._background = Background(
            config,
            self._sources,
            self._known,
            self._sync,
            self._intake,
            self._filler,
            self._model,
            self._lane,
            self._store,
            self._records,
            self._words,
            self._pulse,
            self._tell,
        )
        for source in sources:
            self.add(source)

    @property
    def sources(self) -> tuple[Source, ...]:
        """All sources, in the order in which they came."""
        return tuple(self._sources)

    def add(self, source: Source) -> None:
        """Take one more source in, also while `run` is at work: it is swept, watched and embedded
        as the others are. One that is there already stays as it is."""
        if source.id in self._known:
            return
        self._known[source.id] = Known(source, is_guarded(source, self._config))
        self._table.add(source)
        self._sources.append(source)
        self._background.joined(source)

    @property
    def vector_store(self) -> str | None:
        """Where the vectors are: memory | edge | server; None while there are none."""
        return self._lane.kind

    @property
    def turn(self) -> int:
        """Counts the changes of notes: what was found out of them holds while it is the same."""
        return self._table.turn

    @property
    def names(self) -> Names:
        """Resolves references and links; knows back links."""
        return self._table.names

    def entries(self, source_ids: Collection[str] | None = None) -> Iterator[Entry]:
        """Live notes, of these sources or of all."""
        return self._table.entries(source_ids)

    def languages(self, source_ids: Collection[str]) -> set[str]:
        """The languages of the live notes of some sources."""
        return self._table.languages(source_ids)

    def entry(self, source_id: str, path: str) -> Entry | None:
        """One live note."""
        return self._table.entry(source_id, path)

    def at(self, point: int) -> tuple[Entry, int] | None:
        """The note and the place in its passages that a point stands for, while it is live."""
        return self._table.at(point)

    def words(self, source_ids: Collection[str]) -> WordView:
        """The words of some sources as one collection."""
        return self._table.words(source_ids)

    async def query_vector(self, text: str, seconds: float | None = None) -> Vectors | None:
        """The unit vector of a question, shape (dimension,); None while there is no model, or none
        in time (`seconds`; None: what is usual). Repeats are remembered."""
        return await self._model.query(text, seconds)

    async def nearest(
        self,
        source_ids: Collection[str],
        vector: Vectors,
        limit: int,
        allowed: Mapping[str, Collection[int]] | None = None,
    ) -> list[tuple[int, float]]:
        """(point, cosine) of the nearest live passages; see `Nearness.around`."""
        return (await self._nearness.around(source_ids, vector, limit, (), allowed))[0]

    async def cosine(
        self, vector: Vectors, points: Collection[int], source_ids: Collection[str] | None = None
    ) -> dict[int, float]:
        """Exact cosine of the points that are live (in these sources) and have a vector."""
        wanted = self._known if source_ids is None else source_ids
        return await self._nearness.cosine(vector, points, wanted)

    async def refresh(self, source: Source, path: str) -> None:
        """Take one note over now, so that the next search finds it as it is on disk: its words
        when this returns, its vectors where the model is ready and needs at most two seconds."""
        if self._known[source.id].aside is not None:
            await self._sync.sweep(source)
        if not await self._intake.refresh(source, path):
            await self._sync.sweep(source, f"{path}.md")
        self._flush_events()
        self._filler.queue.put((source.id, path), urgent=True)
        if self._model.embedder is None or not self._background.running:
            return
        with anyio.move_on_after(_VECTOR_SECONDS):
            while (entry := self.entry(source.id, path)) is not None and not entry.embedded:
                await self._pulse.wait()

    async def sweep(self, source: Source | None = None) -> None:
        """Compare a source (or all) with the disk by stamps now; `run` reads what changed."""
        for one in self.sources if source is None else (source,):
            await self._sync.sweep(one)
            self._filler.retry()
        self._flush_events()

    async def settled(self, seconds: float | None = None) -> bool:
        """Wait until everything that is known to have changed can be found, by words and (where
        there is a model) by meaning. False if `seconds` ran out first. Needs `run` beside it."""
        with anyio.move_on_after(float("inf") if seconds is None else seconds):
            while not self._is_settled():
                await self._pulse.wait()
            return True
        return False

    def _is_settled(self) -> bool:
        if self._sync.is_scanning or self._background.is_placing:
            return False
        parts = (self._sync, self._intake.files, self._filler, self._words)
        return all(part.idle for part in parts)

    async def run(self) -> None:
        """The background: load what is stored, sweep, read, embed, watch. Cancel it to stop, at
        any point: what was not finished is done by the next run."""
        try:
            await self._background.run()
        finally:
            with anyio.CancelScope(shield=True):
                await self._lane.close()
                await self._words.close()
                await self._records.close()
                await anyio.to_thread.run_sync(self._cache.close)

    def state(self, source_ids: Collection[str] | None = None) -> IndexState:
        """The index as it is now; of these sources, in this order, or of all."""
        return report(
            self._table,
            [self._known[sid] for sid in (self._known if source_ids is None else source_ids)],
            self._model,
            self._store,
            self._intake,
            self._filler,
            self._filler.reasons,
            self._records.trouble,
            self._words.trouble,
        )

    def subscribe(self, callback: Callable[[IndexEvent], None]) -> Callable[[], None]:
        """Have `callback` called on the event loop after each change; the result ends that."""
        number = max(self._listeners, default=0) + 1
        self._listeners[number] = callback

        def end() -> None:
            self._listeners.pop(number, None)

        return end

    def _flush_events(self) -> None:
        for event in self._intake.take_events():
            self._tell(event)

    def _tell(self, event: IndexEvent) -> None:
        for callback in tuple(self._listeners.values()):
            try:
                callback(event)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is in the log
                log.error("a listener of the index failed: %s", frames(error))

    async def rebuild(
        self, progress: Callable[[int, int], None] | None = None, embeddings: bool = False
    ) -> None:
        """Read, cut and count all files anew, as if nothing were known; `embeddings`: embed them
        anew too. What is known is served meanwhile. `progress` gets (notes done, notes in all).
        Works with or without a running `run`."""
        async with self._running():
            await self.settled()
            embedder = self._model.embedder
            if embeddings and embedder is not None:
                await self._filler.embed_again(embedder.identity)
            for source in self.sources:
                await self._sync.sweep(source, anew=True)
            await self._watch_progress(progress or (lambda done, total: None))

    async def _watch_progress(self, progress: Callable[[int, int], None]) -> None:
        total, told = 1, 0.0
        while not self._is_settled():
            if anyio.current_time() - told > _PROGRESS_SECONDS:
                told = anyio.current_time()
                pending = self.state().pending
                total = max(total, pending)
                progress(total - pending, total)
            await self._pulse.wait()
        progress(total, total)

    @contextlib.asynccontextmanager
    async def _running(self) -> AsyncIterator[None]:
        if self._background.running:
            yield
            return
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.run)
            yield
            tasks.cancel_scope.cancel()
