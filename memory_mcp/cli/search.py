"""Finding notes: `search` and `list`."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from memory_mcp.cli import render
from memory_mcp.cli.asking import settled, tool
from memory_mcp.cli.context import Setup, as_json, pass_setup
from memory_mcp.cli.running import MEANING, WORDS, with_memory
from memory_mcp.core.config import Config
from memory_mcp.core.counting import counted

if TYPE_CHECKING:
    from memory_mcp.app import App
    from memory_mcp.search.hit import SearchResult
    from memory_mcp.search.listing import Listing

SHOWN_LINES = 4
"""Lines of a passage that a person sees; --json and `show` have all."""

CUT = ("title", "description")
"""Columns of a list that are cut to the width of the terminal; a reference never is."""

source_option = click.option(
    "--source", "sources", multiple=True, metavar="NAME", help="Only this source; again for more."
)
prefix_option = click.option("--path-prefix", metavar="START", help="Only below this path.")
tag_option = click.option("--tag", metavar="TAG", help="Only with this tag.")


@click.command()
@click.argument("query")
@click.option(
    "--limit", type=click.IntRange(1, 50), default=5, show_default=True, help="Notes at most."
)
@click.option(
    "--min-score",
    type=click.FloatRange(0, 1),
    default=0,
    show_default=True,
    help="Leave out weaker hits.",
)
@source_option
@prefix_option
@tag_option
@click.option(
    "--explain", is_flag=True, help="Show the steps of each hit, which add up to its rank."
)
@as_json
@pass_setup
def search(
    setup: Setup,
    query: str,
    limit: int,
    min_score: float,
    sources: tuple[str, ...],
    path_prefix: str | None,
    tag: str | None,
    explain: bool,
    json_: bool,
) -> None:
    """Find notes by words and by meaning."""

    config = setup.existing()
    request = {
        "query": query,
        "limit": limit,
        "min_score": min_score,
        "sources": sources,
        "path_prefix": path_prefix,
        "tag": tag,
        "explain": explain,
    }
    shown = None if explain else settled(setup, "search", MEANING, {"request": request})
    if shown is None:
        shown = _searched(config, request)
    found = shown["found"]
    if json_:
        render.as_json(found)
        return
    for number, (hit, related) in enumerate(
        zip(found["hits"], shown["relations"], strict=True), 1
    ):
        _show(number, hit, related)
    if not found["hits"]:
        render.remark("No note answers this.")
    if found["degraded"]:
        render.remark(found["degraded"])


def _where(
    sources: tuple[str, ...], path_prefix: str | None, tag: str | None
) -> dict[str, object]:
    """Where to look, as the tools take it."""
    given = {"source": list(sources), "path_prefix": path_prefix, "tag": tag}
    return {name: value for name, value in given.items() if value}


def _searched(config: Config, request: Mapping[str, Any]) -> dict[str, Any]:
    """A search in this process, as the engine answers it; with --explain each hit has its
    trace."""

    async def act(app: App) -> SearchResult:
        from memory_mcp.search.hit import SearchRequest

        return await app.searcher.search(SearchRequest(**request))

    result = with_memory(config, act, MEANING)
    from memory_mcp.server.convert import trace_out
    from memory_mcp.server.read_tools import search_shown

    out = search_shown(result, whole=True)
    for shown, hit in zip(out["found"]["hits"], result.hits, strict=True):
        if hit.trace is not None:
            shown["trace"] = trace_out(hit.trace)
    return out


def _show(number: int, hit: Mapping[str, Any], related: Mapping[str, Sequence[str]]) -> None:
    title = "" if hit["title"] == hit["path"] else f"  {hit['title']}"
    render.strong(f"{number}. {hit['reference']}  {hit['score']:.2f}{title}")
    for what, names in related.items():
        render.line(f"   {what} {', '.join(names)}")
    for passage in hit["passages"]:
        first, last = passage["lines"]
        render.line(f"   {passage['heading']} (lines {first}-{last})")
        lines = passage["text"].strip().splitlines()
        for text in lines[:SHOWN_LINES]:
            render.line(f"   | {textwrap.shorten(text, 110, placeholder=' …')}")
        if len(lines) > SHOWN_LINES:
            render.line("   | …")
    if trace := hit.get("trace"):
        for step in trace["steps"]:
            render.line(
                f"   {step['points']:+8.4f}  {step['rule']}"
                f" ({step['value']:.4f} x {step['weight']:.4f})"
            )
        render.line(f"   {trace['rank']:8.4f}  rank")


@click.command("list")
@source_option
@prefix_option
@tag_option
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=100, show_default=True, help="Notes a page."
)
@click.option("--cursor", metavar="CURSOR", help="Go on after the page that named it.")
@as_json
@pass_setup
def list_notes(
    setup: Setup,
    sources: tuple[str, ...],
    path_prefix: str | None,
    tag: str | None,
    limit: int,
    cursor: str | None,
    json_: bool,
) -> None:
    """List notes: those of all sources, or of some."""

    config = setup.existing()
    given = {"limit": limit, "source": "all", **_where(sources, path_prefix, tag)}
    found = tool(setup, "memory_list", WORDS, **given, cursor=cursor)
    if found is None:
        found = _listed(config, sources, tag, path_prefix, limit, cursor)
    if json_:
        render.as_json(found)
        return
    if not found["notes"]:
        render.remark("There are no such notes.")
        return
    rows = [
        [row["reference"], (row["updated"] or "")[:10], row["title"], row["description"]]
        for row in found["notes"]
    ]
    render.table(
        ["note", "updated", "title", "description"], rows, whole=("note", "updated"), clip=CUT
    )
    if found["next_cursor"]:
        render.remark(
            f"{counted(found['total'], 'note')} in all; go on with --cursor {found['next_cursor']}"
        )


def _listed(
    config: Config,
    sources: tuple[str, ...],
    tag: str | None,
    path_prefix: str | None,
    limit: int,
    cursor: str | None,
) -> dict[str, Any]:
    """A list made in this process, as the tool answers it."""

    async def act(app: App) -> Listing:
        return app.reader.list(sources or "all", tag, path_prefix, limit, cursor)

    listing = with_memory(config, act, WORDS)
    from memory_mcp.server.convert import row_out
    from memory_mcp.server.wire import ListOut

    out = ListOut(
        notes=[row_out(row) for row in listing.rows],
        total=listing.total,
        next_cursor=listing.next_cursor,
    )
    shown: dict[str, Any] = out.model_dump(mode="json")
    return shown
