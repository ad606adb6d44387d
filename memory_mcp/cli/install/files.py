"""Reading and replacing a client's file: whole or not at all, and never over a change."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from memory_mcp.core.errors import ConflictError, RefusedError, StorageError
from memory_mcp.notes import putting
from memory_mcp.notes.failure import explained
from memory_mcp.notes.folder import open_folder
from memory_mcp.notes.place import Place
from memory_mcp.notes.reading import current

PRIVATE = 0o600


def read(file: Path) -> bytes | None:
    """The bytes of a file, which may be behind a link; None where there is none.

    Raises StorageError, RefusedError."""
    target = real(file)
    if not os.path.isdir(target.parent):  # noqa: PTH112 - Path.is_dir raises where it may not look
        return None
    with explained(str(file), "read"), _place(target) as place:
        found = current(place)
    return found[0] if found else None


def text_of(file: Path, data: bytes | None) -> str:
    """The bytes as text, line ends and byte order mark as they are. Raises RefusedError."""
    try:
        return (data or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise RefusedError(
            f"{file} is not UTF-8 (byte {error.start}); save it as UTF-8, then install again"
        ) from error


def write(
    file: Path, before: bytes | None, after: bytes, keep: Callable[[bytes], str]
) -> list[Path]:
    """Put new bytes in the place of those that were seen; the folders that were made for it.

    `keep` gets the old ones before they are displaced. A link stays one. Raises ConflictError
    where somebody else has changed the file meanwhile, StorageError."""
    target = real(file)
    with explained(str(file), "written"):
        made = _made(target.parent)
        with _place(target) as place:
            found = current(place)
            if before is None:
                done = found is None and putting.create(place, after)
            elif found is None:
                done = False
            else:
                done = putting.replace(place, before, after, found[1], keep) is not None
        if not done:
            raise _changed(file)
    return made


def close(file: Path) -> None:
    """Let nobody else read a new file."""
    with suppress(OSError):
        real(file).chmod(PRIVATE)


def delete(file: Path, before: bytes, keep: Callable[[bytes], str]) -> None:
    """Delete a file that holds what was seen. Raises ConflictError, StorageError."""
    with explained(str(file), "deleted"), _place(real(file)) as place:
        if putting.delete(place, before, keep) is None:
            raise _changed(file)


def real(file: Path) -> Path:
    """Where a path leads. Raises StorageError for links in a circle."""
    target = Path(os.path.realpath(file))
    if target.is_symlink():
        raise StorageError(f"{file} is a link that leads nowhere; mend it, then install again")
    return target


def _made(folder: Path) -> list[Path]:
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        each.mkdir(exist_ok=True)
    return missing


@contextmanager
def _place(target: Path) -> Iterator[Place]:
    with open_folder(target.parent) as folder:
        yield Place(str(target), folder, target.name, target.name)


def _changed(file: Path) -> ConflictError:
    return ConflictError(
        f"{file} was changed by another program just now, so nothing was written; try again"
    )
