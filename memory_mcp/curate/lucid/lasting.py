"""Findings about the wiki that was changed since: what still holds, and what does not."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial

from memory_mcp.curate.lucid.pages import Page
from memory_mcp.curate.review.findings import Dreams, Finding

GONE = "no longer there"
"""Why a finding was put aside that nobody decided on: the wiki was mended in another way."""

RENEWED = ("action", "arguments", "reason", "proposed_content", "evidence")
"""What of a waiting finding is kept up with the wiki."""


def follow(
    dreams: Dreams, pages: Sequence[Page], found: Sequence[Finding], there: Collection[str]
) -> int:
    """Let what waits be as the wiki is now: put aside what is no longer there (how many), have it
    wait again where it is back, and renew the edit that would carry it out. Blocking.

    `found`: what a pass tells of; `there`: the ids of all that it has seen. Raises StorageError.
    """
    known = {page.reference: page for page in pages}
    now = {item.finding_id: item for item in found}
    gone = 0
    for dream in dreams.all("all"):
        for item in dream.findings if dream.phase == "lucid" else ():
            decide = partial(dreams.decide, dream.dream_id, item.finding_id, item.status)
            fresh = now.get(item.finding_id)
            if item.status == "pending" and is_gone(item, there, known):
                decide(status="dismissed", decided=GONE)
                gone += 1
            elif item.decided == GONE and item.finding_id in there:
                decide(status="pending", decided=None)
            elif item.status == "pending" and fresh is not None and looks_other(item, fresh):
                decide(**{name: getattr(fresh, name) for name in RENEWED})
    return gone


def is_gone(finding: Finding, there: Collection[str], pages: Mapping[str, Page]) -> bool:
    """Whether what a finding rests on is gone. `there`: the ids of what was seen now; `pages`: the
    wiki by references. Which pairs of passages are looked at is limited, so that a finding with
    quotes is also there while its pages say them."""
    if finding.finding_id in there:
        return False
    sides = tuple(zip(finding.evidence, finding.quotes, strict=False))
    return not sides or not all(_says(pages.get(name), quote) for name, quote in sides)


def looks_other(known: Finding, fresh: Finding) -> bool:
    """Whether the same finding would be carried out, or told, in another way now. How a model puts
    it differs each time and is no news."""
    return not known.quotes and any(
        getattr(known, name) != getattr(fresh, name) for name in RENEWED
    )


def _says(page: Page | None, quote: str) -> bool:
    if page is None or page.superseded_by is not None:
        return False
    said = " ".join(" ".join(page.texts).split())
    return quote.removesuffix("…").rstrip() in said
