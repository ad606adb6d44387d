"""Builds the bundle for Claude Desktop: the same bytes from the same sources, wherever it runs.

python integrations/desktop/build.py [memory-mcp.mcpb]
"""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TOP = ("pyproject.toml", "README.md", "LICENSE", "NOTICE")
FOLDERS = ("memory_mcp", "prompts", "examples/memory", "integrations/claude-code-plugin/skills")
"""What is needed to build the package; uv does that when the bundle starts first."""

LEFT_OUT = {"__pycache__", ".index", ".state"}
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip can note."""


def members() -> Iterator[tuple[str, bytes]]:
    """Name and bytes of each file, in the order of the names."""
    files = [ROOT / name for name in TOP]
    for folder in FOLDERS:
        files += [path for path in (ROOT / folder).rglob("*") if path.is_file()]
    found = {path.relative_to(ROOT).as_posix(): path for path in files}
    found["manifest.json"] = HERE / "manifest.json"
    for name, path in sorted(found.items()):
        if not LEFT_OUT & {*Path(name).parts} and path.suffix != ".pyc":
            yield name, path.read_bytes()


def build(target: Path) -> None:
    """Write the bundle."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as bundle:
        for name, data in members():
            info = zipfile.ZipInfo(name, EPOCH)
            info.external_attr = 0o644 << 16
            info.create_system = 3  # Unix, on every system
            info.compress_type = zipfile.ZIP_DEFLATED
            bundle.writestr(info, data)


def main(words: Sequence[str]) -> int:
    """The exit code."""
    target = Path(words[0] if words else "memory-mcp.mcpb")
    build(target)
    sys.stdout.write(f"{target} ({target.stat().st_size:,} bytes)\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
