"""Which project files a person has said to count, by path and by what they hold."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from memory_mcp.core.errors import StorageError

_LOCK_SECONDS = 10


class Trust:
    """The trusted files of a home, in `<home>/.state/trust.json`; nobody else may read it.

    A path stands for one text: a file that changed has to be trusted anew. Blocking.
    """

    def __init__(self, home: Path) -> None:
        self.path = home / ".state" / "trust.json"

    def files(self) -> dict[str, str]:
        """Path to SHA-256 in hex. Raises StorageError where the list cannot be read."""
        try:
            found = json.loads(self.path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            raise StorageError(
                f"{self.path} cannot be read, so no project file counts; delete it, and trust them"
                " again"
            ) from error
        trusted = found.get("trusted") if isinstance(found, dict) else None
        if not isinstance(trusted, dict):
            return {}
        return {str(path): str(digest) for path, digest in trusted.items()}

    def holds(self, path: Path, data: bytes) -> bool:
        """Whether a file counts with exactly these bytes. Raises StorageError."""
        return self.files().get(str(path)) == digest_of(data)

    def add(self, path: Path, data: bytes) -> None:
        """Let a file count as long as it holds these bytes. Raises StorageError."""
        with self._changing() as trusted:
            trusted[str(path)] = digest_of(data)

    def remove(self, path: Path) -> bool:
        """Let a file count no more; False where it did not. Raises StorageError."""
        with self._changing() as trusted:
            return trusted.pop(str(path), None) is not None

    @contextmanager
    def _changing(self) -> Iterator[dict[str, str]]:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with FileLock(self.path.with_suffix(".lock"), timeout=_LOCK_SECONDS, mode=0o600):
                trusted = self.files()
                yield trusted
                self._write(trusted)
        except (OSError, Timeout) as error:
            raise StorageError(f"{self.path} cannot be written: {error}") from error

    def _write(self, trusted: Mapping[str, str]) -> None:
        text = json.dumps({"version": 1, "trusted": trusted}, indent=1, ensure_ascii=True)
        temporary = self.path.with_suffix(".tmp")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self.path)


def digest_of(data: bytes) -> str:
    """The SHA-256 of a file's bytes, in hex."""
    return hashlib.sha256(data).hexdigest()
