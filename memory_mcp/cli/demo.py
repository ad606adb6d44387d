"""The tour of `memory-mcp demo`: one step after the other, each checked, through an MCP client."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

from memory_mcp.cli import render
from memory_mcp.cli.cause import innermost
from memory_mcp.core.errors import MemoryMcpError

READY_SECONDS = 90.0
"""A slow machine needs a few seconds to embed two dozen notes; this is far more."""

SEEN_SECONDS = 35.0
"""A change from outside is seen within 2 s, or by the sweep after 30 s."""

QUESTION = "Why did fungus kill my vegetables?"
"""Shares no word with the note that answers it; the tour checks that."""


Times = list[tuple[str, float]]
"""What took how many seconds, in order."""


@dataclass(slots=True)
class Stage:
    """Where the tour plays: a client on a server, and the files below it."""

    client: Client
    home: Path
    times: Times
    revisions: dict[str, str] = field(default_factory=dict)

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer of a tool; an error of the tool ends the tour."""
        result = await self.client.call_tool(tool, arguments)
        if result.is_error:
            raise MemoryMcpError(f"{tool} {arguments} failed: {_text(result)}")
        return result.structured_content or {}

    async def refusal(self, tool: str, **arguments: Any) -> str:
        """The text of the error that a tool must answer with."""
        result = await self.client.call_tool(tool, arguments)
        check(result.is_error, f"{tool} {arguments} should have been refused, but was done")
        return _text(result)

    async def first(self, query: str) -> dict[str, Any]:
        """The best hit for a query."""
        hits = (await self.call("memory_search", query=query))["hits"]
        check(bool(hits), f"the search for {query!r} found nothing")
        best: dict[str, Any] = hits[0]
        return best

    async def expect_first(self, query: str, reference: str) -> dict[str, Any]:
        """The best hit for a query, which must be this note."""
        hit = await self.first(query)
        found = hit["reference"]
        check(found == reference, f"the search for {query!r} found {found}, not {reference}")
        render.line(f'   "{query}" finds {found} (score {hit["score"]:.2f})')
        return hit

    def inbox(self, slug: str) -> Path:
        """The file of an inbox note."""
        return self.home / "agents" / "default" / "memory" / f"{slug}.md"


def check(holds: bool, otherwise: str) -> None:
    """End the tour loudly where a step did not do what it says."""
    if not holds:
        raise MemoryMcpError(f"the demo found a fault: {otherwise}")


async def tour(home: Path) -> None:
    """All steps on a home with the example memory. Raises MemoryMcpError at the first fault."""
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "memory_mcp"], env=_environment(home)
    )
    times: Times = []
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        failure = await _through_a_client(server, home, log, times)
        if failure is not None:
            log.seek(0)
            for text in log.read().splitlines()[-20:]:
                render.remark(f"server: {text}")
            raise failure
    render.line()
    render.strong("Every step did what it says. Time taken here:")
    for title, seconds in times:
        render.line(f"   {seconds * 1000:7.0f} ms  {title}")


async def _through_a_client(
    server: StdioServerParameters, home: Path, log: TextIO, times: Times
) -> MemoryMcpError | None:
    """Play all steps; why they ended early, or None."""
    failure: MemoryMcpError | None = None
    begin = time.perf_counter()
    try:
        async with Client(stdio_client(server, errlog=log)) as client:
            times.append(("start of the server", time.perf_counter() - begin))
            try:
                await _play(Stage(client, home, times))
            except MemoryMcpError as error:
                failure = error
    except (MCPError, OSError, BaseExceptionGroup) as error:
        failure = failure or MemoryMcpError(f"the demo lost its server: {innermost(error)}")
    return failure


async def _play(stage: Stage) -> None:
    for number, (title, act) in enumerate(STEPS, 1):
        render.strong(f"{number}. {title}")
        begin = time.perf_counter()
        await act(stage)
        stage.times.append((title, time.perf_counter() - begin))


async def _tools(stage: Stage) -> None:
    names = [tool.name for tool in (await stage.client.list_tools()).tools]
    check({"memory_search", "memory_get", "memory_write"} <= set(names), f"tools: {names}")
    render.line(f"   {', '.join(names)}")


async def _ready(stage: Stage) -> None:
    answer: dict[str, Any] = {}
    with anyio.move_on_after(READY_SECONDS):
        while not answer or answer["degraded"] or answer["pending"]:
            answer = await stage.call("memory_search", query="garden", limit=1)
            await anyio.sleep(0.1)
    check(
        bool(answer) and not answer["degraded"] and not answer["pending"],
        f"the index was not ready within {READY_SECONDS:g} s: {answer.get('degraded')}",
    )
    total = (await stage.call("memory_list", source="all", limit=1))["total"]
    files = len(list(stage.home.rglob("*.md")))
    check(total == files, f"{total} notes are listed, {files} files are there")
    render.line(f"   {total} Markdown files in three folders, indexed by words and by meaning.")


async def _by_words(stage: Stage) -> None:
    await stage.expect_first("E-119", "memory/heizung")
    await stage.expect_first("too many clients already", "memory/staging-database")


async def _by_meaning(stage: Stage) -> None:
    reference = "memory/tomatoes"
    shared = _words(QUESTION) & _words(stage.inbox("tomatoes").read_text(encoding="utf-8"))
    check(not shared, f"the question and its answer share {sorted(shared)}")
    await stage.expect_first(QUESTION, reference)
    render.line("   None of these words stands in that note.")


async def _other_languages(stage: Stage) -> None:
    await stage.expect_first("Wann ist die Kontrolle beim Zahnarzt?", "memory/zahnarzt")
    await stage.expect_first("泡茶的水温", "memory/longjing-tea")


async def _write(stage: Stage) -> None:
    written = await stage.call(
        "memory_write",
        slug="anemometer-order",
        content="# Anemometer\n\nThe spare anemometer was ordered from Feldmann on 12 March.\n",
        frontmatter={"tags": ["nordlicht"]},
    )
    path = stage.inbox("anemometer-order")
    check(written["created"] and path.is_file(), f"{path} was not made")
    stage.revisions["first"] = written["revision"]
    render.line(f"   {written['reference']} is a file: {path.relative_to(stage.home)}")


async def _found(stage: Stage) -> None:
    await stage.expect_first("Who did we order the anemometer from?", "memory/anemometer-order")


async def _read(stage: Stage) -> None:
    note = await stage.call("memory_get", reference="memory/anemometer-order")
    text = stage.inbox("anemometer-order").read_bytes().decode("utf-8")
    check(note["content"] == text, "memory_get does not show what is in the file")
    check(note["revision"] == stage.revisions["first"], "the revision is another one")
    render.line(f"   memory_get shows the file as it is, at revision {note['revision']}.")


async def _edit(stage: Stage) -> None:
    edited = await stage.call(
        "memory_edit",
        slug="anemometer-order",
        old_text="was ordered from Feldmann on 12 March",
        new_text="was ordered from Feldmann on 12 March and arrived on the 19th",
        if_revision=stage.revisions["first"],
    )
    check("arrived on the 19th" in stage.inbox("anemometer-order").read_text("utf-8"), "no edit")
    stage.revisions["second"] = edited["revision"]
    render.line(f"   {stage.revisions['first']} became {edited['revision']}.")


async def _conflict(stage: Stage) -> None:
    path = stage.inbox("anemometer-order")
    path.write_text(path.read_text("utf-8") + "\nOne cup is cracked.\n", encoding="utf-8")
    before = path.read_bytes()
    reason = await stage.refusal(
        "memory_edit",
        slug="anemometer-order",
        append="All is well with it.",
        if_revision=stage.revisions["second"],
    )
    check(path.read_bytes() == before, "a refused edit changed the file")
    check("cracked" in reason, f"the refusal does not show what changed: {reason}")
    render.line("   A person added a line in an editor; the agent is refused, and told:")
    for text in reason.splitlines():
        render.line(f"   | {text}")


async def _link(stage: Stage) -> None:
    target = "wiki/projects/nordlicht"
    await stage.call("memory_get", reference="memory/anemometer-order")
    await stage.call(
        "memory_link", source="memory/anemometer-order", target=target, relation="part_of"
    )
    note = await stage.call("memory_get", reference=target)
    check("memory/anemometer-order" in str(note["backlinks"]), f"back links: {note['backlinks']}")
    render.line(f"   {target} knows that memory/anemometer-order is part of it.")


async def _delete(stage: Stage) -> None:
    gone = await stage.call("memory_delete", slug="anemometer-order")
    check(not stage.inbox("anemometer-order").exists(), "the file is still there")
    hits = (await stage.call("memory_search", query="cracked anemometer cup"))["hits"]
    left = [hit["reference"] for hit in hits]
    check("memory/anemometer-order" not in left, "a deleted note was found")
    stage.revisions["last"] = gone["revision"]
    render.line("   The file is gone, and no search finds it.")


async def _restore(stage: Stage) -> None:
    command = [sys.executable, "-m", "memory_mcp"]
    command += ["restore", "memory/anemometer-order", stage.revisions["last"]]
    done = await anyio.run_process(command, check=False, env=_environment(stage.home))
    check(done.returncode == 0, f"restore failed: {done.stderr.decode('utf-8', 'replace')}")
    check("cracked" in stage.inbox("anemometer-order").read_text("utf-8"), "not the last text")
    found = False
    with anyio.move_on_after(SEEN_SECONDS):
        while not found:
            hits = (await stage.call("memory_search", query="cracked anemometer cup"))["hits"]
            found = any(hit["reference"] == "memory/anemometer-order" for hit in hits)
            await anyio.sleep(0.05)
    check(found, f"the running server did not see the restored note within {SEEN_SECONDS:g} s")
    render.line(f"   memory-mcp {' '.join(command[-3:])}: it is back, and the server finds it.")


def _environment(home: Path) -> dict[str, str]:
    """The surroundings of the server: no settings of the person, and this home."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("MEMORY_MCP_")}
    return {**kept, "MEMORY_MCP_HOME": str(home)}


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]+", text.lower()))


def _text(result: Any) -> str:
    return "\n".join(getattr(block, "text", "") for block in result.content)


STEPS: tuple[tuple[str, Callable[[Stage], Awaitable[None]]], ...] = (
    ("A client starts the server and asks for its tools", _tools),
    ("The server indexes the folder", _ready),
    ("Search by words: an error code, an error message", _by_words),
    ("Search by meaning", _by_meaning),
    ("Search in German and in Chinese", _other_languages),
    ("The agent writes a note", _write),
    ("It is found at once", _found),
    ("The agent reads it", _read),
    ("The agent edits it, naming the revision it read", _edit),
    ("An edit that would overwrite a person's change is refused", _conflict),
    ("The agent reads it again and links it to a wiki page", _link),
    ("The agent deletes it", _delete),
    ("A person restores it from history", _restore),
)
