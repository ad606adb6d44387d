"""A thread that puts links in the place of notes and folders, and takes them away again."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(slots=True)
class Swaps:
    """How often something was swapped."""

    turns: int = 0


@contextmanager
def swapping(inbox: Path, outside: Path, vault: Path) -> Iterator[Swaps]:
    """Swap, as fast as one thread can, while the block runs; all is as before when it ends."""
    turns = (*_note(inbox, outside), *_folder(vault, outside), *_root(inbox, outside))
    over, done = threading.Event(), Swaps()

    def run() -> None:
        while not over.is_set():
            for turn in turns:
                with suppress(OSError):
                    turn()
                    done.turns += 1

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield done
    finally:
        over.set()
        thread.join()
        _restore(inbox, vault)


def _note(inbox: Path, outside: Path) -> tuple[Callable[[], object], ...]:
    note, link, plain = inbox / "swap.md", inbox.parent / "link", inbox.parent / "plain"

    def to_link() -> None:
        link.symlink_to(outside / "secret.md")
        link.replace(note)

    def to_note() -> None:
        plain.write_bytes(b"plain\n")
        plain.replace(note)

    return to_link, to_note, note.unlink, note.mkdir, note.rmdir


def _folder(vault: Path, outside: Path) -> tuple[Callable[[], object], ...]:
    folder, aside = vault / "sub", vault.parent / "aside"
    folder.mkdir()
    (folder / "secret.md").write_bytes(b"inside\n")

    def to_link() -> None:
        folder.rename(aside)
        folder.symlink_to(outside)

    def back() -> None:
        folder.unlink()
        aside.rename(folder)

    return to_link, back


def _root(inbox: Path, outside: Path) -> tuple[Callable[[], object], ...]:
    """The folder above the root of the inbox: `default`, with a link of the same name."""
    above = inbox.parent
    aside = above.with_name("aside")

    def to_link() -> None:
        above.rename(aside)
        above.symlink_to(outside)

    def back() -> None:
        above.unlink()
        aside.rename(above)

    return to_link, back


def _restore(inbox: Path, vault: Path) -> None:
    above, aside = inbox.parent, inbox.parent.with_name("aside")
    for place, kept in ((above, aside), (vault / "sub", vault.parent / "aside")):
        if place.is_symlink():
            place.unlink()
        if kept.exists():
            if place.exists():  # a write made it anew while it was away
                shutil.rmtree(place)
            kept.rename(place)
    (vault / "sub" / "secret.md").unlink()
    (vault / "sub").rmdir()
