"""What is wrong with a wiki that can be seen without a model. Pure: pages in, findings out.

Every rule says what it saw and where; none changes anything.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol, TypeVar

from memory_mcp.core.plain import clip, plain
from memory_mcp.curate.lucid.pages import Page
from memory_mcp.curate.review.findings import Finding
from memory_mcp.index.labels import fold
from memory_mcp.index.near import near

MOST_WORDS = 1_500
"""A page that is longer is hard to read, and to keep right, as a whole."""
MOST_SECTIONS = 25
MOST_OF_A_KIND = 40
"""Findings of one kind in a pass; the next one brings the others."""
WANTED_FROM = 2
"""Pages that link to a page that is not there before it is asked for."""

SUPERSEDES = ("supersedes", "superseded_by", "replaces", "replaced_by", "contradicts")
CONTRADICTS = "contradicts"
_QUOTE = 200


@dataclass(frozen=True, slots=True)
class Repair:
    """A link of a page that a finding would let lead elsewhere: the target as written, and the
    reference that it is to name."""

    path: str
    target: str
    to: str


@dataclass(frozen=True, slots=True)
class Found:
    """A finding, and the repair that could carry it out."""

    finding: Finding
    repair: Repair | None = None


class HasFinding(Protocol):
    """What a rule has seen."""

    @property
    def finding(self) -> Finding:
        """What it says."""
        ...


Seen = TypeVar("Seen", bound=HasFinding)


def found(
    kind: str, reference: str, reason: str, key: Sequence[str], evidence: Sequence[str]
) -> Finding:
    """A finding whose id says what it rests on: the same while its `key` is the same."""
    text = "\0".join((kind, *key))
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return Finding(
        finding_id=f"{kind}-{mark}",
        kind=kind,
        action="none",
        reference=reference,
        reason=reason,
        evidence=tuple(dict.fromkeys(evidence)),
    )


def all_found(pages: Sequence[Page]) -> list[Found]:
    """What all rules see."""
    written = [page for page in pages if not page.own]
    rules = (
        _wanted(written),
        _dead(written, [page.reference for page in pages]),
        _outdated(written),
        _declared(written),
        _same_name(written),
        _oversized(written),
        _orphans(written),
    )
    return [one for rule in rules for one in rule]


def first_of_each_kind(some: Iterable[Seen]) -> Iterator[Seen]:
    """Those that one pass tells of."""
    counts: Counter[str] = Counter()
    for one in some:
        counts[one.finding.kind] += 1
        if counts[one.finding.kind] <= MOST_OF_A_KIND:
            yield one


def _missing(pages: Iterable[Page]) -> Mapping[str, list[tuple[Page, str]]]:
    """For each target that is no note, the pages that link to it, and how. Notes of an inbox are
    each agent's own: whether they are there cannot be told for all."""
    missing: dict[str, dict[str, tuple[Page, str]]] = defaultdict(dict)
    for page in pages:
        for led in page.led:
            outside = led.link.target.casefold().startswith(("memory/", "global/", "project/"))
            if led.to is None and not led.ambiguous and not outside:
                name = fold(led.link.target.strip().rpartition("/")[2])
                missing[name].setdefault(page.reference, (page, led.link.target))
    return {name: list(linking.values()) for name, linking in missing.items()}


def _wanted(pages: Sequence[Page]) -> Iterator[Found]:
    for name, linking in _missing(pages).items():
        if len(linking) >= WANTED_FROM:
            target = linking[0][1]
            who = [page.reference for page, _ in linking]
            reason = (
                f"{len(who)} pages link to “{clip(target, _QUOTE)}”, and there is no such page:"
                f" {', '.join(who[:10])}. Write it, or take the links away."
            )
            yield Found(found("wanted_page", f"wiki/{target}", reason, [name], who))


def _dead(pages: Sequence[Page], references: Sequence[str]) -> Iterator[Found]:
    for name, linking in _missing(pages).items():
        if len(linking) >= WANTED_FROM:
            continue
        page, target = linking[0]
        close = near(target, references)
        aim = f" Nearest is {close[0]}." if close else " No page has a name like it."
        reason = f"{page.reference} links to “{clip(target, _QUOTE)}”, which is not there.{aim}"
        finding = found("dead_link", page.reference, reason, [page.reference, name], close[:1])
        yield Found(finding, Repair(page.card.path, target, close[0]) if close else None)
    for page in pages:
        for led in page.led:
            if led.ambiguous:
                target = led.link.target
                reason = (
                    f"{page.reference} links to “{clip(target, _QUOTE)}”, and more than one note"
                    " has that name, so it leads nowhere. Write the path of the one that is meant."
                )
                key = [page.reference, target, "ambiguous"]
                yield Found(found("dead_link", page.reference, reason, key, [page.reference]))


def _outdated(pages: Sequence[Page]) -> Iterator[Found]:
    """Pages that speak of a replaced page as if it were current."""
    newer = {page.reference: page.superseded_by for page in pages if page.superseded_by}
    for page in pages:
        goals = {led.to for led in page.led}
        for led in page.led:
            successor = newer.get(led.to or "")
            relation = led.link.relation.casefold().replace("-", "_")
            if successor is None or relation in SUPERSEDES or page.reference == successor:
                continue
            if successor in goals or led.to == page.reference or page.superseded_by:
                continue
            reason = (
                f"{page.reference} links to {led.to}, which {successor} replaces, and not to that."
            )
            key = [page.reference, str(led.to), successor]
            finding = found("outdated_link", page.reference, reason, key, [str(led.to), successor])
            yield Found(finding, Repair(page.card.path, led.link.target, successor))


def _declared(pages: Sequence[Page]) -> Iterator[Found]:
    """Contradictions that a page names itself, and nobody has settled."""
    known = {page.reference: page for page in pages}
    seen: set[frozenset[str]] = set()
    for page in pages:
        for led in page.led:
            other = known.get(led.to or "")
            pair = frozenset((page.reference, led.to or ""))
            if led.link.relation.casefold() != CONTRADICTS or other is None or pair in seen:
                continue
            seen.add(pair)
            if page.superseded_by or other.superseded_by or other is page:
                continue
            reason = (
                f"{page.reference} says that it contradicts {other.reference}, and neither is"
                f" replaced. {page.reference}: “{_said(page)}” {other.reference}: “{_said(other)}”"
            )
            key = [*sorted(pair), page.card.revision, other.card.revision]
            both = [page.reference, other.reference]
            yield Found(found("contradiction", page.reference, reason, key, both))


def _said(page: Page) -> str:
    return clip(page.card.description or plain(page.texts[0] if page.texts else ""), _QUOTE)


def _same_name(pages: Sequence[Page]) -> Iterator[Found]:
    called: dict[str, dict[str, Page]] = defaultdict(dict)
    for page in pages:
        if page.superseded_by is None:
            for name in page.names:
                called[fold(name)][page.reference] = page
    seen: set[tuple[str, str]] = set()
    for name, some in called.items():
        for one, other in combinations(sorted(some), 2):
            if (one, other) in seen:
                continue
            seen.add((one, other))
            shown = next(item for item in some[one].names if fold(item) == name)
            reason = (
                f"{one} and {other} are both called “{clip(shown, _QUOTE)}”. If they mean the"
                f" same, make them one page. {one}: “{_said(some[one])}” {other}:"
                f" “{_said(some[other])}”"
            )
            yield Found(found("duplicate", one, reason, [one, other, name], [one, other]))


def _oversized(pages: Sequence[Page]) -> Iterator[Found]:
    for page in sorted(pages, key=lambda page: -page.words):
        sections = [heading for heading in page.card.headings if heading.level <= 2]
        if page.words <= MOST_WORDS and len(sections) <= MOST_SECTIONS:
            continue
        names = "; ".join(clip(heading.text, 60) for heading in sections[:12])
        split = f" Its sections, each of which could be a page: {names}." if sections else ""
        reason = (
            f"{page.reference} has {page.words:,} words in {len(sections)} sections; above"
            f" {MOST_WORDS:,} words or {MOST_SECTIONS} sections a page is better split.{split}"
        )
        key = [page.reference, str(page.words // MOST_WORDS), str(len(sections) // MOST_SECTIONS)]
        yield Found(found("oversized", page.reference, reason, key, [page.reference]))


def _orphans(pages: Sequence[Page]) -> Iterator[Found]:
    """Pages to which no other page leads; of a wiki without links none is said."""
    linked = {led.to for page in pages for led in page.led if led.to != page.reference}
    if not linked - {None}:
        return
    for page in pages:
        if page.reference not in linked and page.superseded_by is None:
            reason = f"No page links to {page.reference} (“{clip(page.card.title, _QUOTE)}”)."
            yield Found(
                found("orphan", page.reference, reason, [page.reference], [page.reference])
            )
