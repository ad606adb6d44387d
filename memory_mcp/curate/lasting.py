"""Whether what a finding says of the wiki still holds. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from memory_mcp.curate.findings import Finding
from memory_mcp.curate.pages import Page

GONE = "no longer there"
"""Why a finding was put aside that nobody decided on: the wiki was mended in another way."""

RENEWED = ("action", "arguments", "reason", "proposed_content", "evidence")
"""What of a waiting finding is kept up with the wiki."""


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
