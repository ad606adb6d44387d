"""Rules of the house that no linter knows: `python -m tests.house` prints breaches and fails."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
LONGEST = 300
EXCUSED: dict[str, str] = {}
"""Files over the length, each with its reason."""

MOCKS = re.compile(r"\b(unittest\.mock|MagicMock|mocker|monkeypatch\.setattr)\b")
POSSESSIVE = re.compile(r"(?<!\\)\)[*+?]\+")
"""Possessive groups, which `re` of Python before 3.11.5 matches wrongly; `regex` does not."""

LEFTOVERS = re.compile(r"\b(TODO|FIXME|XXX)\b|NotImplementedError")


def breaches() -> list[str]:
    """One line for each breach: files that are too long, mocks in tests, things left undone."""
    found = []
    for path in sorted([*ROOT.glob("memory_mcp/**/*.py"), *ROOT.glob("tests/**/*.py")]):
        name = path.relative_to(ROOT).as_posix()
        text = path.read_text(encoding="utf-8")
        lines = text.count("\n")
        if name.startswith("memory_mcp/") and lines > LONGEST and name not in EXCUSED:
            found.append(f"{name}: {lines} lines, more than {LONGEST}")
        if name == "tests/house.py":
            continue
        if name.startswith("tests/") and MOCKS.search(text):
            found.append(f"{name}: uses a mock")
        if POSSESSIVE.search(text) and "import regex" not in text:
            found.append(f"{name}: a possessive group, which only the regex package matches well")
        if LEFTOVERS.search(text):
            found.append(f"{name}: something is left undone")
    return found


def main() -> int:
    """Print the breaches; 1 if there are any."""
    found = breaches()
    sys.stdout.writelines(f"{line}\n" for line in found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
