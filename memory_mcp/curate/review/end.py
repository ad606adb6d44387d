"""The end of a review: a line in the monthly log, and the index as the wiki is now."""

from __future__ import annotations

from memory_mcp.core.plain import clip, one_line
from memory_mcp.core.wording import GERMAN, wording
from memory_mcp.curate.parts import Parts
from memory_mcp.curate.plans.runs import Runs
from memory_mcp.curate.review.review import Review
from memory_mcp.curate.wiki.chronicle import plan_index
from memory_mcp.curate.wiki.page_log import log_path, logged

_SUMMARY = 300
_ENGLISH = {word: word for word in ("review", "created", "changed", "deleted", "moved")}
_GERMAN = {
    "review": "Durchsicht",
    "created": "angelegt",
    "changed": "geändert",
    "deleted": "gelöscht",
    "moved": "verschoben",
}


async def conclude(parts: Parts, runs: Runs, review: Review, summary: str | None) -> None:
    """Note what a review has done, as a part of its run, once. One that changed nothing leaves
    nothing. Raises ConflictError, RefusedError, StorageError."""
    if not review.pages:
        return
    planner, now = parts.planner(), parts.clock.now()
    language = parts.config.curation.language
    spot = planner.page(log_path(now))
    if spot.reference in await runs.resume(review.run):
        return
    current = await planner.read(spot)
    old = None if current is None else current.decode("utf-8", "surrogateescape")
    text = logged(old, now, (), language)
    line = f"- {now:%Y-%m-%d %H:%M} {_line(review, summary, language)}\n"
    line = line.replace("\n", "\r\n") if "\r\n" in text else line
    await planner.put(spot, (text + line).encode("utf-8", "surrogateescape"), reason="log")
    await plan_index(parts, planner)
    await runs.apply(review.run, planner.changes)


def _line(review: Review, summary: str | None, language: str) -> str:
    words = _GERMAN if wording(language) is GERMAN else _ENGLISH
    said = clip(one_line(summary or ""), _SUMMARY).rstrip(".")
    done: dict[str, list[str]] = {}
    for path, what in review.pages.items():
        verb, moved, aim = what.partition(" to ")
        shown = f"{path} → [[{aim}]]" if moved else path if verb == "deleted" else f"[[{path}]]"
        done.setdefault(words[verb], []).append(shown)
    pages = "; ".join(f"{what} {', '.join(paths)}" for what, paths in done.items())
    return f"{words['review']}: {said}. ({pages})" if said else f"{words['review']}: {pages}"
