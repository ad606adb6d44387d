"""What the file system said, in words a person can act on."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from memory_mcp.core.errors import StorageError

_REASONS = {
    "ENOSPC": "the disk is full; free some space and try again",
    "EDQUOT": "your share of the disk (quota) is used up; free some space and try again",
    "EFBIG": "the system allows no file of this size here; raise the limit (ulimit -f)",
    "EACCES": "permission was denied; check who owns the file and its folder, and their modes",
    "EPERM": "it is not permitted; check who owns the file and its folder, and their flags",
    "EROFS": "the file system is mounted read-only; make it writable or use another folder",
    "ENAMETOOLONG": "the name is too long for this file system; use a shorter one",
    "EMFILE": "too many files are open in this process; raise the limit (ulimit -n)",
    "ENFILE": "too many files are open on this machine; close some programs",
    "EIO": "the disk reports an error; check the disk, and that it is still connected",
    "ESTALE": "the network share was replaced; mount it again",
    "ENOTCONN": "the network share does not answer; mount it again",
    "EHOSTDOWN": "the network share does not answer; mount it again",
    "ETIMEDOUT": "the network share does not answer; mount it again",
    "ENOENT": "the folder is not there any more; check that its disk is connected",
    "ENOTDIR": "a file is where a folder should be; rename one of them",
    "EISDIR": "a folder is where the file should be; rename one of them",
    "EEXIST": "something else of this name is in the way; rename one of them",
    "ELOOP": "the path runs through a link, and links are not followed",
    "EBUSY": "another program holds the file; close it there and try again",
    "EINVAL": "the file system does not accept this name; use plain letters and digits",
    "EILSEQ": "the file system does not accept this name; use plain letters and digits",
}


def plain_reason(error: OSError) -> str:
    """Why the file system refused, and what to do about it."""
    code = errno.errorcode.get(error.errno or 0, "unknown")
    return _REASONS.get(code, f"the file system refused with {code}; look at the folder yourself")


@contextmanager
def explained(subject: str, deed: str) -> Iterator[None]:
    """Turn an OSError into a StorageError: `<subject> could not be <deed>: <reason>`."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"{subject} could not be {deed}: {plain_reason(error)}") from error
