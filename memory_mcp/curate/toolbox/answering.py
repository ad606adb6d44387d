"""What a model reads of notes while it works on a job: framed text of a size that leaves room."""

from __future__ import annotations

from memory_mcp.core.framed import NOTICE, frame, framed
from memory_mcp.core.framing import one_line
from memory_mcp.core.plain import clip
from memory_mcp.search.hit import Hit, SearchResult
from memory_mcp.search.listing import Listing
from memory_mcp.search.read import Reading

PAGE = 12_000
"""Characters of a note's text in one answer, where the model does not say how many it wants."""

_HITS = 24_000  # characters of all hits together
_PASSAGE = 2_000
_PASSAGES = 2
_LISTED = 40
_ROWS = 20_000


def found(result: SearchResult) -> str:
    """Hits with the passages that answer, best first."""
    shown = [_hit(number, hit) for number, hit in enumerate(result.hits, 1)]
    room = _HITS
    kept: list[str] = []
    for text in shown:
        room -= len(text)
        if room < 0 and kept:
            break
        kept.append(text)
    lines = [NOTICE, f"{len(kept)} notes found." if kept else "No note answers this."]
    if len(kept) < len(shown):
        lines.append(f"{len(shown) - len(kept)} weaker ones were left out; ask more narrowly.")
    if result.degraded:
        lines.append(f"This search was limited: {one_line(result.degraded, 500)}")
    return "\n".join([*lines, *kept])


def _hit(number: int, hit: Hit) -> str:
    body = [f"# {one_line(hit.card.title)}"]
    if hit.card.description:
        body.append(one_line(hit.card.description))
    for passage in hit.passages[:_PASSAGES]:
        body += ["", f"[{one_line(passage.heading)}]", clip(passage.text, _PASSAGE)]
    newer = f" · superseded by {one_line(hit.superseded_by)}" if hit.superseded_by else ""
    if hit.contradicts:
        newer += f" · contradicts {one_line(', '.join(hit.contradicts[:5]), 1000)}"
    head = f"\n{number}. {one_line(hit.card.reference, 1000)} · score {hit.score:.2f}{newer}"
    return f"{head}\n" + frame(hit.card, "\n".join(body))


def read(reading: Reading, start: int) -> str:
    """A note, or a part of it from `start` on, in its frame, with its links."""
    facts = [one_line(reading.reference, 1000), f"revision {reading.revision}"]
    facts += ["tags " + ", ".join(one_line(t, 60) for t in reading.tags[:_LISTED])] * bool(
        reading.tags
    )
    lines = [NOTICE, " · ".join(facts)]
    if reading.truncated or start:
        end = start + len(reading.content)
        rest = (
            "This is the last part."
            if reading.next_offset is None
            else f"The rest: memory_get with offset={reading.next_offset}."
        )
        lines.append(f"Characters {start:,} to {end:,} of {reading.total:,}. {rest}")
    lines.append(
        framed(
            reading.reference,
            reading.revision,
            reading.updated or None,
            reading.provenance,
            reading.content,
        )
    )
    links = [link.reference or f"{link.target} (no such note)" for link in reading.links]
    lines += _linked("Links to", links)
    lines += _linked("Linked from", [link.reference for link in reading.backlinks])
    return "\n".join(lines)


def _linked(label: str, references: list[str]) -> list[str]:
    if not references:
        return []
    shown = ", ".join(one_line(item) for item in dict.fromkeys(references[:_LISTED]))
    return [f"{label}: {shown}"]


def listed(page: Listing) -> str:
    """One line for each note."""
    rows: list[str] = []
    room = _ROWS
    for card in page.rows:
        about = f": {one_line(card.description)}" if card.description else ""
        row = f"- {one_line(card.reference, 1000)} - {one_line(card.title)}{about}"
        room -= len(row)
        if room < 0 and rows:
            rows.append("The page is too long; ask with a smaller limit or a path_prefix.")
            break
        rows.append(row)
    lines = [NOTICE, f"{page.total} notes.", *rows]
    if page.next_cursor:
        lines.append(f'More: the same with cursor="{page.next_cursor}".')
    return "\n".join(lines)
