"""Hints where to look again, from the events of the file system. Never more than hints.

Folders are watched one by one, the same that a scan looks into: a link to elsewhere, a hidden or
an excluded folder costs nothing. The kind of an event is not believed: an editor's save may arrive
as added, moved or changed. What was lost all the same is found by the next sweep.
"""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import AsyncIterator, Iterable, Sequence

import anyio
from anyio import from_thread, to_thread
from watchfiles._rust_notify import RustNotify

from memory_mcp.notes.names import ENDING, is_skipped_folder, is_temporary, to_system
from memory_mcp.notes.place import counts
from memory_mcp.notes.scan import folders
from memory_mcp.notes.sources import Source

Hints = frozenset[tuple[str, str]]

MANY = 200
"""Beyond so many places in one batch, looking at the whole source is cheaper and surer."""

_STEP_MS = 50  # a batch ends when nothing came for so long
_BATCH_MS = 400  # … and at the latest after this, so that a storm of saves does not hold it back
_ROOTS_MS = 1_000  # how often to see whether a root came or went
_ATTEMPTS = 5  # to set up the watch while folders go
_FIRST_DELAY, _LONGEST_DELAY = 1.0, 60.0  # seconds, after the watcher failed

_log = logging.getLogger(__name__)


async def watch(sources: Sequence[Source], stop: anyio.Event) -> AsyncIterator[Hints]:
    """Yield {(source id, disk path of a file or folder; '' for all)}: look again there.

    The first batch names every source that is there, once its events arrive. Roots that are
    missing or vanish are taken up when they come back, and so are those of sources that are added
    to the sequence meanwhile, a second later at most. Where watching fails, all sources are named
    and it is tried again, ever more slowly. Ends when `stop` is set.
    """
    watcher = _Watcher(sources, stop)
    delay = _FIRST_DELAY
    try:
        while not stop.is_set():
            try:
                hints = await to_thread.run_sync(watcher.wait)
                pause, delay = (0.0 if watcher.attached else _ROOTS_MS / 1000), _FIRST_DELAY
            except (OSError, RuntimeError) as error:
                _log.warning("Watching for changes failed; sweeps still find them: %s", error)
                watcher.close()
                hints = frozenset((source.id, "") for source in sources)
                pause, delay = delay, min(2 * delay, _LONGEST_DELAY)
            if hints:
                yield hints
            if pause:
                with anyio.move_on_after(pause):
                    await stop.wait()
    finally:
        watcher.close()


class _Stop:
    """Tells the waiting thread to come back: when it is over, or its task was cancelled."""

    def __init__(self, stop: anyio.Event) -> None:
        self._stop = stop
        self._cancelled = anyio.get_cancelled_exc_class()

    def is_set(self) -> bool:
        """Asked by the watcher every few milliseconds, on its worker thread."""
        if self._stop.is_set():
            return True
        try:
            from_thread.check_cancelled()
        except self._cancelled:
            return True
        return False


class _Watcher:
    """The folders that are watched now. Blocking; one thread at a time."""

    def __init__(self, sources: Sequence[Source], stop: anyio.Event) -> None:
        self._all = sources
        self._sources: list[Source] = []
        self._stop = _Stop(stop)
        self._notify: RustNotify | None = None
        self._roots: dict[str, tuple[int, int]] = {}
        self._folders: dict[str, frozenset[str]] = {}
        self._moved = False

    @property
    def attached(self) -> bool:
        """Whether any folder is watched."""
        return self._notify is not None

    def close(self) -> None:
        """Watch nothing any more."""
        if self._notify is not None:
            self._notify.close()
        self._notify = None
        self._roots = {}
        self._folders = {}

    def wait(self) -> Hints:
        """Wait for changes, a second at most. Raises OSError and RuntimeError of the watcher."""
        # The innermost root first: it is the one whose a path is.
        self._sources = sorted(self._all, key=lambda source: -len(str(source.root)))
        roots = _identities(self._sources)
        if roots != self._roots or self._moved:
            return self._attach(roots)
        if self._notify is None:
            return frozenset()
        return self._read(self._notify, _BATCH_MS, _STEP_MS, _ROOTS_MS)

    def _attach(self, roots: dict[str, tuple[int, int]]) -> Hints:
        """Watch the folders that are there now; names what came, went, or changed meanwhile."""
        found, fresh = self._open()
        old, known = self._notify, self._folders
        self._notify, self._folders, self._moved = fresh, found, False
        hints = set[tuple[str, str]]()
        if old is not None:
            hints |= self._read(old, 1, 1, 1)
            old.close()
        # A folder that came while the watch was set up is not watched yet.
        if any(frozenset(folders(source)) != found[source.id] for source in self._sources):
            self._moved = True
        for source in self._sources:
            if roots.get(source.id) != self._roots.get(source.id):
                hints.add((source.id, ""))
            else:
                changed = found[source.id] ^ known.get(source.id, frozenset())
                hints |= {(source.id, folder) for folder in changed}
        self._roots = roots
        return _bounded(hints)

    def _open(self) -> tuple[dict[str, frozenset[str]], RustNotify | None]:
        """A watcher of all folders that are there, by source; None where there is no folder."""
        for left in reversed(range(_ATTEMPTS)):
            found = {source.id: frozenset(folders(source)) for source in self._sources}
            paths = [
                str(source.root / folder)
                for source in self._sources
                for folder in sorted(found[source.id])
            ]
            try:
                return found, RustNotify(paths, False, False, 0, False, True) if paths else None
            except FileNotFoundError:  # a folder went since it was seen
                if not left:
                    raise
        raise AssertionError("the last attempt returns or raises")

    def _read(self, notify: RustNotify, batch: int, step: int, timeout: int) -> Hints:
        changes = notify.watch(batch, step, timeout, self._stop)
        if isinstance(changes, str):
            return frozenset()
        found = (self._hint(path) for _, path in changes)
        return _bounded(hint for hint in found if hint is not None)

    def _hint(self, path: str) -> tuple[str, str] | None:
        """Whose path it is and where; None for what no scan would look at."""
        for source in self._sources:
            root = str(source.root)
            if path == root:
                self._moved = True
                return (source.id, "")
            if path.startswith(root.rstrip("/") + "/"):
                disk = path[len(root.rstrip("/")) + 1 :]
                return (source.id, disk) if self._matters(source, disk, path) else None
        return None

    def _matters(self, source: Source, disk: str, path: str) -> bool:
        name = disk.rpartition("/")[2]
        if is_temporary(name) or is_skipped_folder(name):
            return False
        if disk in self._folders.get(source.id, ()) or _is_folder(path):
            self._moved = True
            return counts(source, f"{disk}/x{ENDING}")
        return name.endswith(ENDING) and counts(source, disk)


def _identities(sources: Iterable[Source]) -> dict[str, tuple[int, int]]:
    """Which folder each root is just now; those that are missing are left out."""
    found = {}
    for source in sources:
        try:
            state = os.lstat(to_system(str(source.root)))
        except OSError:
            continue
        found[source.id] = (state.st_dev, state.st_ino)
    return found


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(to_system(path)).st_mode)
    except OSError:
        return False


def _bounded(hints: Iterable[tuple[str, str]]) -> Hints:
    """The hints, or the whole source where they are many."""
    by_source: dict[str, set[str]] = {}
    for source, disk in hints:
        by_source.setdefault(source, set()).add(disk)
    return frozenset(
        (source, disk)
        for source, places in by_source.items()
        for disk in ({""} if len(places) > MANY or "" in places else places)
    )
