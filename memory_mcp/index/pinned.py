"""Files of a model that must be the very ones that were measured: pinned by size and SHA-256."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from memory_mcp.core.errors import ModelError


@dataclass(frozen=True, slots=True)
class Pinned:
    """One file. `owner` names the model for people, `way_out` says how to get it back."""

    owner: str
    path: Path
    size: int
    sha256: str
    way_out: str

    def check_size(self) -> None:
        """Raises ModelError where the file is missing or of another size: quick."""
        try:
            found = self.path.stat().st_size
        except OSError as error:
            raise self.broken("is missing") from error
        if found != self.size:
            raise self.broken(f"has {found:,} bytes instead of {self.size:,}")

    def check(self) -> None:
        """Raises ModelError where the file is not the pinned one, to the last byte."""
        self.check_size()
        try:
            with self.path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise self.broken(f"cannot be read ({error.strerror})") from error
        if digest != self.sha256:
            raise self.broken("was changed (another SHA-256 than expected)")

    def broken(self, what: str) -> ModelError:
        """The error that says what is wrong with this file, and the way out."""
        return ModelError(f"{self.owner} cannot be used: {self.path} {what}; {self.way_out}")
