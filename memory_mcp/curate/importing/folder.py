"""Reading a folder of Markdown files. Nothing is followed, nothing outside is opened."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from memory_mcp.core.decoding import decode
from memory_mcp.core.errors import InputError, MemoryMcpError, NotFoundError
from memory_mcp.core.given import MAX_BYTES
from memory_mcp.core.slug import shown
from memory_mcp.curate.importing.item import Item, Left, Reading
from memory_mcp.notes import files
from memory_mcp.notes.names import ENDING, is_temporary, printable
from memory_mcp.notes.own import real
from memory_mcp.notes.scan import scan
from memory_mcp.notes.sources import Source

_DEEPEST = 40
_MOST = 100_000
_ENDINGS_NAMED = 5


def read_folder(path: Path) -> Reading:
    """The notes below a folder, or the one in a Markdown file. Blocking.

    Left with a reason: links, pipes, names that are no UTF-8, texts that are not, what is empty
    or larger than 2 MB, files that are no Markdown. Hidden folders and `node_modules` are passed
    over. Raises NotFoundError, InputError.
    """
    root, below = real(path), ""
    if root.is_file() and root.name.endswith(ENDING):
        root, below = root.parent, root.name
    if not root.is_dir():
        raise (_missing(path) if not root.exists() else _no_folder(path))
    source = _source(root)
    found = scan(source, below)
    if found.state == "missing":
        raise NotFoundError("; ".join(item.message for item in found.warnings) or str(root))
    left = [Left(_bare(item.reference), item.message) for item in found.warnings]
    items: list[Item] = []
    for name in found.files:
        taken = _read(source, name)
        (items if isinstance(taken, Item) else left).append(taken)  # type: ignore[arg-type]
    if not below:
        left += _others(root, found.folders)
    return Reading("markdown", root.name or "folder", tuple(items), tuple(left))


def _read(source: Source, name: str) -> Item | Left:
    origin = f"{name}{ENDING}"
    try:
        content = files.read(source, name)
    except MemoryMcpError as error:
        return Left(origin, str(error))
    if len(content.data) > MAX_BYTES:
        size = len(content.data)
        return Left(origin, f"it has {size:,} bytes, and a note may have {MAX_BYTES:,}: split it")
    known = decode(content.data)
    if known.text is None or not known.exact:
        what = (known.warning or "it is no text").partition(";")[0].removeprefix("skipped: ")
        return Left(origin, f"{what}; only UTF-8 text is taken: save it as that first")
    if "\0" in known.text:
        return Left(origin, "it holds NUL characters, so it is no plain text")
    if not known.text.removeprefix("\ufeff").strip():
        return Left(origin, "it is empty")
    return Item(origin, name, known.text, content.modified, content.data)


def _others(root: Path, folders: tuple[str, ...]) -> Iterator[Left]:
    """One line for all files that are no Markdown: links to them will lead nowhere."""
    counts = Counter(ending for folder in folders for ending in _endings(root / folder))
    if counts:
        named = ", ".join(ending for ending, _ in counts.most_common(_ENDINGS_NAMED))
        more = ", …" if len(counts) > _ENDINGS_NAMED else ""
        total = counts.total()
        what = "file" if total == 1 else "files"
        yield Left(f"{total} other {what}", f"only .md is read ({named}{more})")


def _endings(folder: Path) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_symlink() or not entry.is_file() or is_temporary(entry.name):
                    continue
                if not entry.name.lower().endswith(ENDING):
                    ending = os.path.splitext(printable(entry.name))[1]  # noqa: PTH122 - a name
                    yield ending.lower() or "without ending"
    except OSError:
        return  # the walk has said so


def _bare(reference: str) -> str:
    return reference.partition("/")[2] or reference


def _source(root: Path) -> Source:
    return Source("import", "import", "vault", root, 1.0, (), _DEEPEST, _MOST)


def _missing(path: Path) -> NotFoundError:
    return NotFoundError(f"There is no folder {shown(str(path), 200)}; look at the path.")


def _no_folder(path: Path) -> InputError:
    return InputError(f"{shown(str(path), 200)} is no folder of Markdown files, and no .md file.")
