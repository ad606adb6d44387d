"""The layout of days and entities: a text goes to the page of its day and category, and the things
that it is about have pages of their own and stand in a registry."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio.to_thread

from memory_mcp.core.edit import EditRequest
from memory_mcp.core.errors import ConflictError, InputError, ReasonerError, RefusedError
from memory_mcp.core.framing import one_line
from memory_mcp.core.markdown import normalised, outline
from memory_mcp.core.note import Json
from memory_mcp.core.ports import Reasoner
from memory_mcp.core.slug import slug_from
from memory_mcp.curate.compare.held import held
from memory_mcp.curate.jobs.task import Outcome, Task
from memory_mcp.curate.parts import Parts
from memory_mcp.curate.plans.names import names_from
from memory_mcp.curate.plans.plan import Spot
from memory_mcp.curate.plans.planner import Planner
from memory_mcp.curate.plans.runs import Runs
from memory_mcp.curate.save.category import PAGES, Category, category_of
from memory_mcp.curate.save.filing import Left, Text, title_of, title_without_secrets
from memory_mcp.curate.save.mention import mentioned, named, stands_in
from memory_mcp.settings.prompts import prompt

MOST_ENTITIES = 3
REGISTRY = "entities"
WEB = "web"
"""The page of a day for what web pages say."""
_TRIES = 3
_ORIGIN = 300
_FENCE = re.compile(r"^ {0,3}(?:`{3,}|~{3,})", re.M)
_RULE = re.compile(r"^ {0,3}(?:-{3,}|={3,})[ \t]*$", re.M)


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing that a text is about, and what the text says of it in one line."""

    name: str
    line: str


@dataclass(frozen=True, slots=True)
class Sorted:
    """Where a text belongs, and who said so."""

    category: Category
    entities: tuple[Entity, ...]
    model: str | None = None
    why: str = ""
    """Why no model said it, where one should have."""
    tokens: int = field(default=0)


class DaysFiling:
    """Files texts by day. The text itself is kept word for word."""

    def __init__(self, parts: Parts, runs: Runs) -> None:
        self._parts = parts
        self._runs = runs

    async def file(self, task: Task, text: Text) -> Outcome | Left:
        """File a text, unless its pages cannot take it. Raises StorageError."""
        known = await held(self._parts.index, text.content)
        if known.same is not None:
            return Outcome(known.told)
        title = await anyio.to_thread.run_sync(title_without_secrets, text.content)
        found = await self._sort(text, title)
        if found.model is not None:
            await task.note(model=found.model, tokens=found.tokens)
        for _ in range(_TRIES):
            planner = self._parts.planner()
            try:
                if (there := await self._there(planner, text, found)) is not None:
                    return Outcome(f"Nothing new: {there} says it already.")
                where = await self._plan(planner, text, title, found)
                changed = await self._runs.apply(task.job_id, planner.changes)
            except ConflictError:
                continue
            except (InputError, RefusedError) as error:
                return Left(f"It could not be filed by day: {one_line(str(error), 300)}")
            said = [f"Filed as {found.category} in {where}.", known.told, found.why]
            if found.model is not None:
                said.append(f"Sorted by {found.model}.")
            return Outcome(" ".join(filter(None, said)), changed)
        return Left("The page of the day was changed by somebody else each time.")

    async def _there(self, planner: Planner, text: Text, found: Sorted) -> str | None:
        """The page of today that has this very text. What was said on another day is said again:
        a day's heading dates what stands below it."""
        spot = self._page(planner, text, found)
        data = await planner.read(spot)
        lines = "" if data is None else "\n".join(data.decode("utf-8", "replace").splitlines())
        part = "\n".join(embedded(text.content).splitlines())
        # All that stands below a heading: what another text goes on to say may take it back.
        alone = rf"^## [^\n]*\n\n{re.escape(part)}\s*(?=^## |\Z)"
        return spot.reference if re.search(alone, lines, re.M) else None

    def _page(self, planner: Planner, text: Text, found: Sorted) -> Spot:
        # A page of a day is the person's own; what a web page says has one that says so.
        name = WEB if text.source_url else PAGES[found.category]
        return planner.page(f"log/{self._parts.clock.now().date().isoformat()}/{name}")

    async def _plan(self, planner: Planner, text: Text, title: str, found: Sorted) -> str:
        now = self._parts.clock.now()
        day, outside = now.date().isoformat(), text.source_url is not None
        spot = self._page(planner, text, found)
        name = spot.path.rpartition("/")[2]
        section = f"## {now:%H:%M} {title}{_origin(text)}\n\n{embedded(text.content)}\n"
        header: dict[str, Json] = {"title": f"{day}: {name}", "tags": [day, name]}
        if outside:
            header["source"] = {"kind": "web", "by": self._parts.config.agent}
        await _added(planner, spot, section, f"# {day}: {name}", header)
        for entity in found.entities:
            line = f"- {day}: {'mentioned' if outside else entity.line} ([[{spot.reference}]])\n"
            await self._enter(planner, entity.name, line)
        return spot.reference

    async def _enter(self, planner: Planner, name: str, line: str) -> None:
        """A line on the page of a thing, which is made and registered where there is none."""
        page = await _page_of(planner, name)
        await _added(planner, page, line, f"# {name}", {"title": name})
        registry = planner.page(REGISTRY)
        there = await planner.read(registry)
        if there is None or f"[[{page.reference}|" not in there.decode("utf-8", "replace"):
            entry = f"- [[{page.reference}|{name}]]\n"
            await _added(planner, registry, entry, "# Entities", {"title": "Entities"})

    async def _sort(self, text: Text, title: str) -> Sorted:
        """Category and things, by the model where there is one, else by rule."""
        told = await anyio.to_thread.run_sync(prompt, "days", self._parts.config.home)
        reasoner = self._parts.model(told.model)
        if reasoner is None:
            return await self._by_rule(text, title)
        try:
            return await self._asked(reasoner, told.text, text, title)
        except ReasonerError as error:
            why = f"Sorted by rule, since {reasoner.name} could not: {one_line(str(error), 300)}"
            return await self._by_rule(text, title, why)

    async def _asked(self, reasoner: Reasoner, told: str, text: Text, title: str) -> Sorted:
        from memory_mcp.curate.save.sorting import sort  # an HTTP client: only where it is needed

        answer, spent = await sort(reasoner, told, text)
        # What is not in the text was not said: a page for it would be an invention.
        entities = tuple(
            Entity(item.name.strip(), one_line(item.line, 300) or title)
            for item in answer.entities
            if _is_name(item.name) and item.name.strip().casefold() in text.content.casefold()
        )
        model = ", ".join(spent.models)
        return Sorted(answer.category, entities[:MOST_ENTITIES], model, tokens=spent.tokens)

    async def _by_rule(self, text: Text, title: str, why: str = "") -> Sorted:
        names = await anyio.to_thread.run_sync(self._names, text.content)
        entities = tuple(Entity(name, title) for name in names)
        return Sorted(category_of(text.content), entities, why=why)

    def _names(self, content: str) -> Sequence[str]:
        """The things that have a page already, then new ones."""
        index = self._parts.index
        known = []
        for reference in mentioned(index, content):
            source, path = index.names.resolve(reference)
            entry = index.entry(source.id, path)
            if entry is not None and path.startswith(f"{REGISTRY}/"):
                known.append(entry.card.title)
        new = [name for name in named(content, MOST_ENTITIES) if _is_name(name)]
        every = [*known, *(name for name in new if not any(stands_in(name, k) for k in known))]
        return every[:MOST_ENTITIES]


def _origin(text: Text) -> str:
    """Context and address, behind the title: the text below stands by itself."""
    known = [one_line(item, _ORIGIN) for item in (text.context, text.source_url) if item]
    return f" ({'; '.join(known)})" if known else ""


async def _page_of(planner: Planner, name: str) -> Spot:
    """The page of a thing, there or not: the first whose name is free, or whose title it is."""
    for slug in names_from(slug_from(name)):
        spot = planner.page(f"entities/{slug}")
        data = await planner.read(spot)
        title = "" if data is None else title_of(data.decode("utf-8", "replace"))
        if data is None or title.casefold() == name.casefold():
            return spot
    raise InputError(f"no free name was found for the page of {one_line(name)}")


async def _added(
    planner: Planner, spot: Spot, part: str, heading: str, header: dict[str, Json]
) -> None:
    """Put a part at the end of a page, which is made where there is none."""
    if await planner.read(spot) is None:
        await planner.write(spot, f"{heading}\n\n{part}", header, new=True)
    else:
        joint = "\n" if part.startswith("#") else ""
        await planner.edit(spot, EditRequest(append=joint + part))


def embedded(content: str) -> str:
    """A text as a part of a page: one that has headings, rules or fences of its own is quoted, so
    that it cannot change what stands around it."""
    even = normalised(content)
    if not (outline(content).headings or _FENCE.search(even) or _RULE.search(even)):
        return content.strip("\r\n")
    lines = content.strip("\r\n").splitlines()
    return "\n".join(f"> {line}".rstrip() for line in lines)


def _is_name(name: str) -> bool:
    return 1 < len(name.strip()) <= 80 and name.isprintable() and any(map(str.isalnum, name))
