"""Answers of the tools of curation as Markdown for a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_mcp.core.framing import CLOSING, harmless, one_line, opening
from memory_mcp.server.framing import NOTICE
from memory_mcp.server.text import name
from memory_mcp.server.wire_curation import (
    DreamGetOut,
    DreamOut,
    DreamsOut,
    FindingOut,
    MovedOut,
    ReviewOut,
    RunOut,
)

if TYPE_CHECKING:
    from memory_mcp.curate.review.approve import Decided

_REASON = 1500
_LISTED = 40


def run_text(out: RunOut, phase: str) -> str:
    """The job to ask for."""
    return (
        f"The phase {phase} is job {out.job_id} ({out.status}). memory_jobs tells what became of"
        " it, dream_list what it found."
    )


def enrich_text(out: RunOut) -> str:
    """The job to ask for."""
    return (
        f"Enriching is job {out.job_id} ({out.status}). memory_jobs tells what became of it,"
        " dream_list what was found in conversations."
    )


def dreams_text(out: DreamsOut, status: str) -> str:
    """One line for each pass."""
    if not out.dreams:
        return (
            f"There are no findings with status {status}." if status != "all" else "No findings."
        )
    lines = [_dream(dream) for dream in out.dreams]
    if out.total > len(out.dreams):
        lines.append(f"{out.total - len(out.dreams)} older passes were left out.")
    return "\n".join(lines)


def _dream(dream: DreamOut) -> str:
    return (
        f"- {dream.dream_id} {dream.phase}, {dream.created}: {dream.pending} of {dream.total}"
        f" findings wait; from {one_line(dream.source)}"
    )


def dream_text(out: DreamGetOut) -> str:
    """Every finding: what is proposed, why, and what memory holds already."""
    lines = [NOTICE, f"{out.dream_id}, phase {out.phase}, {out.created}."]
    for finding in out.findings:
        lines += ["", *_finding(finding)]
    if out.total > len(out.findings):
        lines.append(
            f"\n{out.total - len(out.findings)} of {out.total} findings were left out since the"
            " answer would be too long: decide on these, then ask again."
        )
    return "\n".join(lines)


def _finding(finding: FindingOut) -> list[str]:
    lines = [
        f"{finding.finding_id}. {finding.kind} · {finding.action} · {name(finding.reference)}"
        f" · {finding.status}",
        f"Why: {one_line(finding.reason, _REASON)}",
    ]
    if finding.duplicate_of:
        sure = "Likely a duplicate of" if finding.likely_duplicate else "Near"
        new = ", ".join(one_line(item, 80) for item in finding.novel_details)
        lines.append(
            f"{sure} {name(finding.duplicate_of)}; new in it: {new or 'nothing concrete'}."
        )
    if finding.evidence:
        lines.append(f"Seen in: {', '.join(map(name, finding.evidence[:_LISTED]))}.")
    if finding.matched_excerpt:
        held = finding.duplicate_of or finding.reference
        lines += [opening(held), harmless(finding.matched_excerpt).rstrip(), CLOSING]
    if finding.proposed_content:
        head = opening(finding.reference, proposed="true")
        lines += [head, harmless(finding.proposed_content).rstrip(), CLOSING]
    return lines


def decided_text(done: Decided) -> str:
    """What was decided, how to take it back, and what is left."""
    subject = (
        f"{done.dream_id} {done.finding_id}" if done.finding_id else f"All of {done.dream_id}"
    )
    lines = [f"{subject}: {done.status}."]
    if done.changed:
        lines.append(f"Changed {', '.join(map(name, done.changed[:_LISTED]))}.")
    if done.run:
        lines.append(f"It can be taken back: memory-mcp restore --run {done.run}")
    lines.append(f"{done.left} {'finding waits' if done.left == 1 else 'findings wait'} still.")
    return " ".join(lines)


def review_text(out: ReviewOut) -> str:
    """Whether a review is open, what it may do, and how it ends or is taken back."""
    about = f" of {name(out.dream_id)}" if out.dream_id else ""
    waiting = f"{out.open} {'finding waits' if out.open == 1 else 'findings wait'} for a decision."
    back = f" All its changes can be taken back: memory-mcp restore --run {out.run}"
    if not out.active:
        return f"No review is open now. {waiting}{back if out.run else ''}"
    return (
        f"The review{about} is open until {out.expires}, for {out.left} changes with wiki_create,"
        f" wiki_edit, wiki_move and wiki_delete; start it again to go on. {waiting} Close it with"
        f" action=end and a summary.{back}"
    )


def moved_text(out: MovedOut) -> str:
    """What was moved, and whose links follow."""
    lines = [f"Moved {name(out.old_reference)} to {name(out.reference)}."]
    if out.relinked:
        more = len(out.relinked) - _LISTED
        shown = ", ".join(map(name, out.relinked[:_LISTED]))
        lines.append(f"Links rewritten in {shown}{f' and {more} more' if more > 0 else ''}.")
    return "\n".join([*lines, *(f"Warning: {one_line(item, 500)}" for item in out.warnings)])
