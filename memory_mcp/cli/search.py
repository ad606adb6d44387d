"""Finding notes: `search` and `list`."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import click

from memory_mcp.cli import render
from memory_mcp.cli.context import Setup, as_json, pass_setup
from memory_mcp.cli.running import MEANING, WORDS, with_memory
from memory_mcp.cli.wording import counted

if TYPE_CHECKING:
    from memory_mcp.app import App
    from memory_mcp.search.hit import Hit, SearchResult
    from memory_mcp.search.listing import Listing
    from memory_mcp.search.trace import Trace

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

    async def act(app: App) -> SearchResult:
        from memory_mcp.search.hit import SearchRequest

        request = SearchRequest(query, limit, min_score, sources, path_prefix, tag, explain)
        return await app.searcher.search(request)

    result = with_memory(setup.existing(), act, MEANING)
    if json_:
        render.as_json(search_json(result))
        return
    for number, hit in enumerate(result.hits, 1):
        _show(number, hit)
    if not result.hits:
        render.remark("No note answers this.")
    if result.degraded:
        render.remark(result.degraded)


def search_json(result: SearchResult) -> dict[str, object]:
    """What the tool answers; with --explain each hit has its trace, too."""
    from memory_mcp.server.read_tools import search_out

    out: dict[str, object] = search_out(result).model_dump(mode="json")
    hits = out["hits"]
    assert isinstance(hits, list)
    for shown, hit in zip(hits, result.hits, strict=True):
        if hit.trace is not None:
            shown["trace"] = _trace_json(hit.trace)
    return out


def _trace_json(trace: Trace) -> dict[str, object]:
    steps = [
        {"rule": step.rule, "value": step.value, "weight": step.weight, "points": step.points}
        for step in trace.steps
    ]
    return {"rank": trace.score, "steps": steps}


def _show(number: int, hit: Hit) -> None:
    card = hit.card
    title = "" if card.title == card.path else f"  {card.title}"
    render.strong(f"{number}. {card.reference}  {hit.score:.2f}{title}")
    if hit.superseded_by:
        render.line(f"   superseded by {hit.superseded_by}")
    for passage in hit.passages:
        render.line(f"   {passage.heading} (lines {passage.first}-{passage.last})")
        lines = passage.text.strip().splitlines()
        for text in lines[:SHOWN_LINES]:
            render.line(f"   | {textwrap.shorten(text, 110, placeholder=' …')}")
        if len(lines) > SHOWN_LINES:
            render.line("   | …")
    if hit.trace is not None:
        for step in hit.trace.steps:
            render.line(
                f"   {step.points:+8.4f}  {step.rule} ({step.value:.4f} x {step.weight:.4f})"
            )
        render.line(f"   {hit.trace.score:8.4f}  rank")


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

    async def act(app: App) -> Listing:
        return app.reader.list(sources or "all", tag, path_prefix, limit, cursor)

    listing = with_memory(setup.existing(), act, WORDS)
    if json_:
        render.as_json(_list_json(listing))
        return
    if not listing.rows:
        render.remark("There are no such notes.")
        return
    rows = [
        [card.reference, (card.updated or card.modified)[:10], card.title, card.description]
        for card in listing.rows
    ]
    render.table(
        ["note", "updated", "title", "description"], rows, whole=("note", "updated"), clip=CUT
    )
    if listing.next_cursor:
        render.remark(
            f"{counted(listing.total, 'note')} in all; go on with --cursor {listing.next_cursor}"
        )


def _list_json(listing: Listing) -> dict[str, object]:
    from memory_mcp.server.convert import row_out
    from memory_mcp.server.wire import ListOut

    out = ListOut(
        notes=[row_out(row) for row in listing.rows],
        total=listing.total,
        next_cursor=listing.next_cursor,
    )
    shown: dict[str, object] = out.model_dump(mode="json")
    return shown
