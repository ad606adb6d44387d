"""Which folders lie on a share of another machine, where no events arrive and looking is slow."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

_MOUNTS = Path("/proc/self/mounts")
_SHARES = frozenset(
    ("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "ncpfs", "davfs")
)


@lru_cache(maxsize=64)
def is_share(root: Path) -> bool:
    """Whether a folder lies on a network share. Where the system does not say: no."""
    try:
        lines = _MOUNTS.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return False
    here = os.path.realpath(root)
    best, kind = "", ""
    for line in lines:
        _, point, fs, *_ = line.split(" ")
        point = point.replace("\\040", " ")
        inside = here == point or here.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, fs
    return kind in _SHARES or kind.startswith(("fuse.sshfs", "fuse.rclone"))
