"""What the run tells: facts, and checks that hold or not."""

from __future__ import annotations

import sys


class Transcript:
    """What is printed: facts, and checks that hold or not."""

    def __init__(self) -> None:
        self.failed = 0
        self.checks = 0

    def say(self, text: str = "") -> None:
        """One line."""
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()

    def check(self, claim: str, holds: bool, otherwise: str = "") -> None:
        """A claim, and what was seen where it does not hold."""
        self.checks += 1
        self.failed += not holds
        self.say(f"  {'ok  ' if holds else 'FAIL'} {claim}")
        if not holds and otherwise:
            self.say(f"       {otherwise[:2000]}")
