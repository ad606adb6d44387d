"""A folder of generated notes, the same for the same number."""

from __future__ import annotations

from pathlib import Path

SUBJECTS = ("garden", "boiler", "ferry", "invoice", "bicycle", "choir", "router", "sourdough")
VERBS = ("was moved to", "belongs to", "was repaired by", "costs more than", "waits for")
WORD = "quartzite"
QUESTION = "Which stone did we choose for the kitchen worktop?"


def fill(home: Path, size: int) -> None:
    """Write so many notes into the default inbox, and one more that answers QUESTION and WORD."""
    folder = home / "agents" / "default" / "memory"
    folder.mkdir(parents=True)
    for number in range(size):
        subject, verb = SUBJECTS[number % len(SUBJECTS)], VERBS[number % len(VERBS)]
        other = SUBJECTS[(number * 5 + 3) % len(SUBJECTS)]
        text = (
            f"# The {subject} in case {number}\n\nIn week {number % 53} the {subject} {verb} the"
            f" {other}. Number {number} has {number * 7 % 1000} parts.\n\n## Later\n\nThe {other}"
            f" was checked {number % 9} times and the {subject} is kept in room {number % 217}.\n"
        )
        (folder / f"case-{number}.md").write_text(text, encoding="utf-8")
    if size:
        worktop = f"# Kitchen\n\nThe counter is made of {WORD}, from the quarry in Alta.\n"
        (folder / "kitchen.md").write_text(worktop, encoding="utf-8")
