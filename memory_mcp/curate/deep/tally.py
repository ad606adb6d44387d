"""What became of the notes of a pass of Deep, counted and said."""

from __future__ import annotations

from dataclasses import dataclass, field

from memory_mcp.curate.deep.inbox_note import InboxNote
from memory_mcp.curate.plans.plan import Change
from memory_mcp.curate.review.findings import Finding


@dataclass(slots=True)
class Tally:
    """What became of the notes of one pass."""

    changed: list[str] = field(default_factory=list)
    made: list[Change] = field(default_factory=list)
    """What models had changed."""
    findings: list[Finding] = field(default_factory=list)
    refused: list[tuple[InboxNote, str]] = field(default_factory=list)
    filed: int = 0
    removed: int = 0
    left: int = 0
    stay: int = 0
    waiting: int = 0
    trouble: list[str] = field(default_factory=list)

    @property
    def references(self) -> tuple[str, ...]:
        """What changed, each once."""
        return tuple(dict.fromkeys(self.changed))

    def refuse(self, note: InboxNote, why: str) -> None:
        """Have a note stay, and say why in a finding."""
        self.refused.append((note, why))
        self.findings.append(
            Finding(
                finding_id=f"f{len(self.findings) + 1}",
                kind="refused",
                action="none",
                reference=note.reference,
                reason=why,
                evidence=(note.reference,),
            )
        )

    def wait(self, why: str) -> None:
        """Leave a note to the next pass."""
        self.waiting += 1
        self.trouble.append(why)


def said(tally: Tally, dream: str | None, *, alone: bool) -> str:
    """The outcome of a pass as a line for people; `alone`: without a reasoner."""
    parts = [f"{_notes(tally.filed)} went into the wiki"]
    if tally.left:
        parts.append(f"{tally.left} left as they are")
    if tally.stay:
        parts.append(f"{tally.stay} kept in the inbox by their own word")
    if dream is not None:
        parts.append(f"{len(tally.findings)} refused (dream_get {dream} says why)")
    text = "; ".join(parts) + "."
    if alone and tally.waiting:
        text += (
            f" {_notes(tally.waiting)} wait: no reasoner is configured, so their filing is for"
            " your own agent: the prompts enrich and review do it."
        )
    elif tally.waiting:
        text += f" {_notes(tally.waiting)} wait for the next pass."
    return " ".join([text, *dict.fromkeys(tally.trouble)])


def _notes(count: int) -> str:
    return "1 note" if count == 1 else f"{count} notes"
