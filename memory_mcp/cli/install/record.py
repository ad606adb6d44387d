"""What was entered where, and the files as they were before: the way back.

`<home>/.state/clients/` holds for each file a record and the bytes of before.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from memory_mcp.core.errors import StorageError
from memory_mcp.notes.failure import explained

FOLDER = Path(".state", "clients")


@dataclass(frozen=True, slots=True)
class Record:
    """One file that we have changed."""

    client: str
    file: str
    kind: str
    """server, hooks or instructions."""
    what: str
    """What was entered, for people."""
    name: str
    """The name of the server."""
    after: str
    """SHA-256 of what was written."""
    created: bool
    """The file was not there before."""
    folders: tuple[str, ...]
    """Folders that were made for it, the innermost first."""
    project: str | None = None


class Records:
    """The records of a home."""

    def __init__(self, home: Path) -> None:
        self.folder = home / FOLDER

    def find(self, file: Path) -> Record | None:
        """The record of a file."""
        return _read(self._path(file, "json"))

    def all(self) -> Iterator[Record]:
        """Every record that can be read, by the names of the clients."""
        found = [_read(path) for path in sorted(self.folder.glob("*.json"))]
        yield from sorted((one for one in found if one), key=lambda one: (one.client, one.file))

    def base(self, file: Path) -> bytes | None:
        """The bytes of a file before anything of ours was in it."""
        path = self._path(file, "base")
        return path.read_bytes() if path.is_file() else None

    def backup(self, file: Path) -> Path:
        """Where the bytes of a file are kept as they were before the last change."""
        return self._path(file, "backup")

    def keep(self, file: Path, data: bytes) -> str:
        """Keep the bytes of a file, as they are right before they are displaced."""
        path = self.backup(file)
        self._write(path, data)
        return path.name

    def enter(self, record: Record, base: bytes | None) -> None:
        """Note what was written. Raises StorageError."""
        file = Path(record.file)
        if base is None:
            self._path(file, "base").unlink(missing_ok=True)
        else:
            self._write(self._path(file, "base"), base)
        text = json.dumps(asdict(record), indent=2, ensure_ascii=False)
        self._write(self._path(file, "json"), text.encode("utf-8", "surrogatepass"))

    def forget(self, file: Path) -> None:
        """Take the record of a file away; the last backup stays."""
        for kind in ("json", "base"):
            self._path(file, kind).unlink(missing_ok=True)

    def _path(self, file: Path, kind: str) -> Path:
        return self.folder / f"{file.name.lstrip('.')}-{digest(str(file).encode())[:12]}.{kind}"

    def _write(self, path: Path, data: bytes) -> None:
        with explained(str(path), "written"):
            for folder in (self.folder.parents[1], self.folder.parent, self.folder):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            fresh = path.with_name(path.name + ".tmp")
            fresh.write_bytes(data)
            fresh.chmod(0o600)
            fresh.replace(path)


def digest(data: bytes) -> str:
    """SHA-256 in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def _read(path: Path) -> Record | None:
    try:
        values = json.loads(path.read_bytes())
        return Record(**{**values, "folders": tuple(values["folders"])})
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, TypeError, KeyError):
        return None
