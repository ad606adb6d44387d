"""One inbox note on its way to the wiki: what the model wants, and what becomes of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memory_mcp.core import frontmatter
from memory_mcp.core.errors import MemoryMcpError, RefusedError
from memory_mcp.core.framing import one_line
from memory_mcp.core.metadata import metadata
from memory_mcp.core.note import Card, Json
from memory_mcp.core.plain import clip, plain
from memory_mcp.core.ports import Reasoner
from memory_mcp.core.private import strip
from memory_mcp.core.slug import shown
from memory_mcp.curate.compare.loss import absent, seen
from memory_mcp.curate.deep.inbox_note import InboxNote
from memory_mcp.curate.deep.origins import SOURCES, entry_of, page_stated, with_source
from memory_mcp.curate.deep.page_toolbox import PageToolbox
from memory_mcp.curate.parts import Parts
from memory_mcp.curate.plans.guards import Limits, check_plan
from memory_mcp.curate.plans.plan import Change
from memory_mcp.curate.plans.planner import WIKI, Planner
from memory_mcp.curate.wiki.page_names import is_own, same_name
from memory_mcp.curate.wiki.timeline import keep_older, mark_outside, replaced_lines
from memory_mcp.search.hit import SearchRequest
from memory_mcp.settings.prompts import fill, load

if TYPE_CHECKING:
    from memory_mcp.curate.reason.loop import Worked

CANDIDATES = 4
"""Pages that the model is shown in full before it decides."""

# Of the work on one note.
_ROUNDS = 12
_CALLS = 30
_TOKENS = 60_000
_SECONDS = 600.0

_ASKED = 600  # characters of a note that are searched for
_SHOWN = 40_000  # characters of one page; of a longer one the model must read on
_SKIP = re.compile(r"\W*skip\b\W*", re.I)
_NAMED = 8  # missing words in a message


@dataclass(frozen=True, slots=True)
class Left:
    """The note stays where it is, as the model wants it."""

    why: str


@dataclass(frozen=True, slots=True)
class Placed:
    """The text of the note is on pages, in the plan: what the model made, and the pages."""

    made: tuple[Change, ...]
    pages: tuple[Change, ...]
    model: str


class Promotion:
    """Thinks out what becomes of notes; touches nothing."""

    def __init__(self, parts: Parts, reasoner: Reasoner, prompt: str) -> None:
        """`prompt`: what the model is told to do."""
        self._parts, self._reasoner = parts, reasoner
        self._language = parts.config.curation.language
        self._prompt = fill(prompt, language=self._language)
        self._limits = Limits(parts.config.curation.max_removed_share)

    async def plan(
        self, note: InboxNote, planner: Planner, earlier: Sequence[Change] = ()
    ) -> Left | Placed:
        """Ask the model, check what it wants, and plan it with what belongs to it.

        `earlier`: what models had changed in this run. Raises RefusedError where the plan breaks
        a rule, ReasonerError, and what the model's own calls cannot raise.
        """
        base = planner.changes
        toolbox = PageToolbox(self._parts, planner)
        worked = await self._work(await self._task(note, toolbox), toolbox)
        made = since(base, planner.changes)
        if not made:
            return _left(worked.text, toolbox.refusal)
        self._check(made, earlier)
        lacking = lacks(note, made)
        if lacking:
            task = fill(load("deep_again"), missing=one_line(", ".join(lacking), 2000))
            worked = await self._work(f"{await self._task(note, toolbox)}\n\n{task}", toolbox)
            made = since(base, planner.changes)
            self._check(made, earlier)
        model = ", ".join(worked.models)
        await self._complete(note, planner, made, model)
        pages = since(base, planner.changes)
        if lacking := lacks(note, pages):
            more = f" and {len(lacking) - _NAMED} more" if len(lacking) > _NAMED else ""
            named = ", ".join(one_line(word, 40) for word in lacking[:_NAMED])
            raise RefusedError(f"Of {note.reference} this would be on no page: {named}{more}.")
        return Placed(made, pages, model)

    async def _work(self, task: str, toolbox: PageToolbox) -> Worked:
        from memory_mcp.curate.reason.loop import Limits, work  # only where a model is asked

        limits = Limits(rounds=_ROUNDS, calls=_CALLS, tokens=_TOKENS, seconds=_SECONDS)
        worked = await work(self._reasoner, self._prompt, task, toolbox, limits)
        if worked.ended not in ("answered", "empty"):
            raise RefusedError(f"The model did not come to an end ({worked.ended}).")
        return worked

    def _check(self, made: Sequence[Change], earlier: Sequence[Change]) -> None:
        check_plan(made, self._limits, earlier, self._prompt)
        for change in made:
            if change.spot.source.kind != WIKI or is_own(change.spot.path):
                raise RefusedError(f"{change.reference} is not a page that Deep changes.")

    async def _task(self, note: InboxNote, toolbox: PageToolbox) -> str:
        get: Mapping[str, Any] = {"reference": note.reference, "max_chars": _SHOWN}
        shown = ["The note:", await toolbox.call("memory_get", get)]
        if note.day:
            shown.append(f"It stands for {note.day}.")
        candidates = await self._candidates(note)
        shown.append(
            "Pages that may be about the same, in full:"
            if candidates
            else "No page was found that is about the same."
        )
        for card in candidates:
            try:
                get = {"reference": card.reference, "max_chars": _SHOWN}
                shown.append(await toolbox.call("memory_get", get))
            except MemoryMcpError:  # gone meanwhile
                continue
        return "\n\n".join(shown)

    async def _candidates(self, note: InboxNote) -> list[Card]:
        """Pages of that name first, then those that a search finds."""
        wiki = [source for source in self._parts.index.sources if source.kind == WIKI]
        cards = [entry.card for entry in self._parts.index.entries([one.id for one in wiki])]
        pages = [card for card in cards if not is_own(card.path)]
        named = [
            same_name(name, pages) for name in (note.spot.path.replace("-", " "), note.card.title)
        ]
        found = {card.path: card for card in named if card is not None}
        asked = clip(f"{note.card.title} {plain(strip(note.body))}", _ASKED)
        names = tuple(source.name for source in wiki)
        request = SearchRequest(asked, limit=2 * CANDIDATES, sources=names)
        for hit in (await self._parts.searcher.search(request)).hits if names else ():
            if not is_own(hit.card.path):
                found.setdefault(hit.card.path, hit.card)
        return list(found.values())[:CANDIDATES]

    async def _complete(
        self, note: InboxNote, planner: Planner, made: Sequence[Change], model: str
    ) -> None:
        """Plan what belongs to the model's changes: older statements in the section of the past,
        marks of what came from outside, and the source in the header of each page."""
        afters = {change.reference: _text(change.after) for change in made}
        for change in made:
            if change.after is None:
                continue
            before, text = _text(change.before), _text(change.after)
            others = [body for name, body in afters.items() if name != change.reference]
            lost = replaced_lines(before, text, *others)
            day = page_stated(_values(before))
            if lost and note.day and day > note.day:
                raise RefusedError(
                    f"{change.reference} stands for {day}, and {note.reference} for {note.day}:"
                    " what is older does not replace what is newer."
                )
            if note.outside and change.before is not None:
                text = mark_outside(before, text, note.outside, self._language)
            text = keep_older(text, lost, day, self._language)
            text = frontmatter.change(text, self._header(note, change, text, model))
            await planner.put(change.spot, text.encode("utf-8"), reason=note.reference)

    def _header(
        self, note: InboxNote, change: Change, text: str, model: str
    ) -> dict[str, Json | None]:
        before, now = _values(_text(change.before)), _values(text)
        kept: dict[str, Json] = {key: value for key, value in now.items() if key != SOURCES}
        if SOURCES in before:
            kept[SOURCES] = before[SOURCES]
        entry = entry_of(note.reference, note.revision, note.values, note.card.modified)
        values: dict[str, Json | None] = {**with_source(kept, entry, note.values)}
        if self._parts.index.names.backlinks(note.spot.source.id, note.spot.path):
            values |= _alias(note, {**kept, **values}, change)
        if change.before is None:
            origin = metadata(note.values).provenance
            made = {"by": self._parts.config.agent, "model": model}
            if note.outside and origin is not None:
                made |= {"url": origin.url or "", "kind": origin.kind or ""}
            values["source"] = {key: value for key, value in made.items() if value}
        elif now.get("source") != before.get("source"):
            values["source"] = before.get("source")
        return values


def _left(text: str, refusal: str) -> Left:
    """That a model wants the note to stay. Raises RefusedError where it does not say so."""
    found = _SKIP.match(text)
    if found is not None:
        return Left(one_line(text[found.end() :], 200) or "the model gave no reason")
    said = f"it said {shown(text.strip(), 80)}" if text.strip() else "it said nothing"
    why = f" Its last call was refused: {one_line(refusal, 400)}" if refusal else ""
    raise RefusedError(f"The model changed no page and did not say SKIP; {said}.{why}")


def _alias(
    note: InboxNote, values: Mapping[str, Json | None], change: Change
) -> dict[str, Json | None]:
    """Links to the note lead to the first page that takes its place."""
    name = note.spot.path
    aliases = values.get("aliases")
    known = list(aliases) if isinstance(aliases, list) else []
    if name in known or change.spot.path.rpartition("/")[2] == name:
        return {}
    return {"aliases": [*known, name]}


def since(base: Sequence[Change], changes: Sequence[Change]) -> tuple[Change, ...]:
    """What was planned on top of an earlier plan."""
    known = {(item.spot.source.id, item.spot.path): item for item in base}
    found: list[Change] = []
    for change in changes:
        was = known.get((change.spot.source.id, change.spot.path))
        before = change.before if was is None else was.after
        if before != change.after:
            found.append(Change(change.spot, before, change.after, change.reason))
    return tuple(found)


def lacks(note: InboxNote, pages: Sequence[Change]) -> tuple[str, ...]:
    """What of a note would be on none of these pages."""
    return unsaid(note.body, *(change.after for change in pages))


def unsaid(body: str, *pages: bytes | None) -> tuple[str, ...]:
    """What of a note's text none of these pages tells its readers; what the note says in a comment
    may stand in one."""
    texts = [_said(page) for page in pages if page is not None]
    open_ = absent(seen(body), *map(seen, texts))
    return tuple(dict.fromkeys((*open_, *absent(body, *texts))))


def _said(data: bytes) -> str:
    """Title, description and text of a page. Tags and aliases come from the note without the
    model, and say nothing in a sentence."""
    parts, loaded = frontmatter.split_and_load(_text(data))
    known = metadata(loaded.values)
    head = [line for line in (known.title, known.description) if line]
    return "\n\n".join([*head, strip(parts.body)])


def _values(text: str) -> dict[str, Json]:
    return frontmatter.split_and_load(text)[1].values


def _text(data: bytes | None) -> str:
    return "" if data is None else data.decode("utf-8", "replace")
