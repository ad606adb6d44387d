"""What goes on behind: loading, sweeping, reading, embedding, watching. All survive failures."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence

import anyio

from memory_mcp.core.config import Config
from memory_mcp.core.errors import EmbeddingError, ModelError, StorageError
from memory_mcp.core.ports import WordSearch
from memory_mcp.index import blas, heap, switching
from memory_mcp.index.fill import Filler
from memory_mcp.index.frames import frames
from memory_mcp.index.identity import settings_mark
from memory_mcp.index.intake import Intake
from memory_mcp.index.known import Known
from memory_mcp.index.lane import Lane
from memory_mcp.index.model import Model
from memory_mcp.index.mounts import is_share
from memory_mcp.index.queue import Pulse
from memory_mcp.index.records import Records
from memory_mcp.index.state import IndexEvent
from memory_mcp.index.store_watch import StoreWatch
from memory_mcp.index.stores import open_edge, wants_edge
from memory_mcp.index.sync import Sync
from memory_mcp.notes.own import may_exist
from memory_mcp.notes.sources import Source
from memory_mcp.notes.watch import watch

log = logging.getLogger(__name__)

_FIRST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS = 1.0, 60.0
_WORDS_FIRST_SECONDS = 5.0  # at most: a slow disk must not keep the model away
_MANY_HINTS = 50  # in one source at once: look at all of it


class Background:
    """The tasks of one index. `run` is cancelled to stop them. `sources` and `known` may grow
    meanwhile; `joined` is told."""

    def __init__(
        self,
        config: Config,
        sources: Sequence[Source],
        known: Mapping[str, Known],
        sync: Sync,
        intake: Intake,
        filler: Filler,
        model: Model,
        lane: Lane,
        store: StoreWatch,
        records: Records,
        words: WordSearch,
        pulse: Pulse,
        tell: Callable[[IndexEvent], None],
    ) -> None:
        self.running = False
        self._strays: set[str] = set()
        self._seen = anyio.Event()
        self._said = 0
        self._settled_down = False
        self._config = config
        self._sources = sources
        self._known = known
        self._sync = sync
        self._intake = intake
        self._filler = filler
        self._model = model
        self._lane = lane
        self._store = store
        self._records = records
        self._words = words
        self._pulse = pulse
        self._tell = tell

    def joined(self, source: Source) -> None:
        """There is one more source: look at it, now or when `run` begins."""
        self._strays.add(source.id)
        if self.running:
            self._sync.hint(source.id)

    async def run(self) -> None:
        """Run all tasks until cancelled."""
        self.running = True
        self._strays.update(self._known)
        try:
            with switching.quick(), blas.single():
                await self._run_all()
        finally:
            self.running = False

    async def _run_all(self) -> None:
        async with anyio.create_task_group() as tasks:
            for name, task in (
                ("words", self._keep_words),
                ("words on a server", self._words.run),
                ("model", self._open_model),
                ("vectors", self._keep_vectors),
                ("watcher", self._watch),
                ("sweeps", self._sweep_local),
                ("rescans", self._rescan),
            ):
                tasks.start_soon(self._keep, name, task)

    async def _keep(self, name: str, task: Callable[[], Awaitable[None]]) -> None:
        """Run a task; after a failure again, a little later."""
        wait = 1.0
        while True:
            try:
                await task()
                return
            except Exception as error:  # noqa: BLE001 - whatever it is, it is in the log
                told = frames(error)
                log.error("the index's %s failed; trying again in %.0f s: %s", name, wait, told)
            await anyio.sleep(wait)
            wait = min(2 * wait, _LONGEST_WAIT_SECONDS)

    async def _keep_words(self) -> None:
        await self._records.prune(self._is_kept)
        for source in sorted(self._sources, key=lambda source: source.kind != "memory"):
            self._sync.hint(source.id)
        try:
            await self._load()
        finally:
            self._seen.set()
        while True:
            if self._sync.is_scanning:
                await self._load()
            if not await self._step():
                await self._pulse.wait()

    def _is_kept(self, source_id: str) -> bool:
        return source_id in self._known or may_exist(self._config, source_id)

    async def _load(self) -> None:
        """The first sweep of a source makes many objects that stay: collecting garbage meanwhile
        would cost several times the load itself."""
        with heap.filling():
            while self._sync.is_scanning and await self._sync.step():
                self._flush()
        self._find_strays()

    @property
    def is_placing(self) -> bool:
        """Whether the store still has vectors of notes that are gone, or may have."""
        waits = self._unplaced() or self._strays or self._filler.is_removing
        return self._lane.is_open and bool(waits)

    def _find_strays(self) -> None:
        """Once the notes of a source and its vectors are both there."""
        for source_id in tuple(self._strays):
            if self._known[source_id].state != "scanning" and self._lane.knows(source_id):
                self._strays.discard(source_id)
                self._filler.find_strays(source_id)
                self._pulse.beat()

    async def _step(self) -> bool:
        # In turn: while many files come, there is always something to look at again.
        looked = await self._sync.step()
        worked = await self._intake.step() or looked
        if worked:
            heap.settle()
        for source_id in tuple(self._intake.doubtful):
            self._intake.doubtful.discard(source_id)
            self._sync.hint(source_id)
        self._flush()
        return worked

    def _flush(self) -> None:
        for event in self._intake.take_events():
            self._tell(event)

    async def _keep_vectors(self) -> None:
        wait = _FIRST_WAIT_SECONDS
        while True:
            if self._has_facts():
                await self._leave_facts()
            unplaced = self._unplaced()
            if self._store.is_away or not (self._filler.waits or unplaced):
                await self._pulse.wait()
                continue
            try:
                for source_id in unplaced:
                    await self._lane.join(source_id)
                    self._find_strays()
                await self._filler.step()
                heap.settle()
                self._filler.trouble = None
                await self._outgrow()
                wait = _FIRST_WAIT_SECONDS
            except ModelError:
                await self._leave_facts()  # the model has said so itself, and is given up
            except (EmbeddingError, StorageError) as error:
                self._filler.trouble = str(error)
                log.warning("no vectors for now, trying again in %.0f s: %s", wait, error)
                await self._wait_after(error, wait)
                wait = min(2 * wait, _LONGEST_WAIT_SECONDS)

    async def _wait_after(self, error: EmbeddingError | StorageError, seconds: float) -> None:
        """Until another attempt may help: a model that is back shows it by an answer, a server
        when the watch of the store looks at it."""
        if isinstance(error, EmbeddingError):
            with anyio.move_on_after(seconds):
                await self._model.answer()
            return
        if self._lane.kind == "server":
            self._store.fails(error)
        await anyio.sleep(seconds)

    async def _open_model(self) -> None:
        """Load the model and open the store for its vectors; again after a while where that may
        help. Meanwhile words are recorded without vectors. The first sweep has the processor for
        itself: what is stored can be found by words a second earlier. A server is kept an eye
        on."""
        with anyio.move_on_after(_WORDS_FIRST_SECONDS):
            await self._seen.wait()
        wait = _FIRST_WAIT_SECONDS
        while not await self._try_to_open():
            await self._store.pause(wait)
            wait = min(2 * wait, _LONGEST_WAIT_SECONDS)
        if self._lane.is_open and (embedder := self._model.embedder) is not None:
            await self._store.keep(embedder)

    async def _try_to_open(self) -> bool:
        """False where another attempt may help."""
        final = await self._model.load()
        embedder = self._model.embedder
        if embedder is not None:
            final = await self._store.open(embedder)
        self._filler.decided = True
        if self._lane.is_open:
            self._filler.put_all()
            self._find_strays()
        await self._leave_facts()
        self._pulse.beat()
        return final

    async def _outgrow(self) -> None:
        """Move the vectors where they are found faster, once there are many."""
        embedder = self._model.embedder
        if embedder is None or self._settled_down or self._lane.kind != "memory":
            return
        if not wants_edge(self._config, self._filler.passages):
            return
        self._settled_down = True  # tried once: what fails now fails again
        config, size = self._config, embedder.dimension
        try:
            await self._lane.move(lambda: open_edge(config, size))
        except StorageError as error:
            log.warning("%s", error)

    def _unplaced(self) -> list[str]:
        """Sources that came after the store was opened."""
        if not self._lane.is_open:
            return []
        return [source.id for source in self._sources if not self._lane.knows(source.id)]

    def _has_facts(self) -> bool:
        """Whether there is more to say than was said last, or it was lost with the file."""
        news = self._records.is_lost or self._said != len(self._filler.reasons)
        return self._filler.decided and news

    async def _leave_facts(self) -> None:
        """What `status` in another process cannot know: of the model without loading it, and of
        what happened to the stored index."""
        self._said = len(self._filler.reasons)
        embedder = self._model.embedder
        await self._records.state("settings", settings_mark(self._config.embedding))
        await self._records.state("identity", embedder.identity if embedder else "")
        await self._records.state("failure", self._model.error or "")
        await self._records.state("renewed", "\n".join(self._filler.reasons))

    async def _watch(self) -> None:
        if not self._config.index.watch:
            return
        async for hints in watch(self._sources, anyio.Event()):
            for source in self._sources:
                disks = sorted(disk for source_id, disk in hints if source_id == source.id)
                for disk in disks if len(disks) <= _MANY_HINTS else [""]:
                    self._sync.hint(source.id, disk)

    async def _sweep_local(self) -> None:
        while seconds := self._config.index.sweep_seconds:
            await anyio.sleep(seconds)
            self._filler.put(await self._records.check())
            self._filler.retry()
            self._hint_all(shares=False)

    async def _rescan(self) -> None:
        while minutes := self._config.index.rescan_minutes:
            await anyio.sleep(60 * minutes)
            self._hint_all(shares=True)

    def _hint_all(self, *, shares: bool) -> None:
        for source in self._sources:
            if shares or not is_share(source.root):
                self._sync.hint(source.id)
