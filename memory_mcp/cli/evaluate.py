"""Measuring a search with one's own questions: `eval`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memory_mcp.cli import render
from memory_mcp.cli.context import Setup, as_json, pass_setup
from memory_mcp.cli.running import MEANING, with_memory
from memory_mcp.core.counting import counted
from memory_mcp.core.errors import InputError, MemoryMcpError
from memory_mcp.notes.failure import plain_reason

if TYPE_CHECKING:
    from memory_mcp.app import App
    from memory_mcp.search.questions import Outcome, Question


@click.command("eval")
@click.argument("file", type=click.Path(path_type=Path))
@as_json
@pass_setup
def evaluate(setup: Setup, file: Path, json_: bool) -> None:
    """Ask the questions of a file; show what comes too late.

    One JSON object a line: {"question": "who is karl", "gold": ["wiki/people/karl"], "rank": 1}.
    """
    from memory_mcp.search.questions import measure, parse

    config = setup.existing()
    questions = parse(_read(file))
    outcomes = with_memory(config, lambda app: _asked(app, questions), MEANING)
    found = measure(outcomes)
    if json_:
        rows = [
            {"id": item.question.id, "place": item.place, "found": list(item.found)}
            for item in outcomes
        ]
        render.as_json({"questions": len(outcomes), **found, "results": rows})
        return
    for outcome in outcomes:
        if not outcome.fine:
            _show(outcome)
    render.strong(counted(len(outcomes), "question"))
    for name, share in found.items():
        render.line(f"  {name:8} {100 * share:5.1f} %")


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8: {error.reason} at byte {error.start}.") from error
    except FileNotFoundError as error:
        raise InputError(f"There is no file {file}; name one with a question a line.") from error
    except OSError as error:
        raise InputError(f"{file} cannot be read: {plain_reason(error)}.") from error


def _known(app: App, questions: Sequence[Question]) -> list[Question]:
    """The questions with whole references of their right notes. InputError with all that name no
    note: to count those as not found would blame the search."""
    names, known, problems = app.index.names, [], []
    for question in questions:
        gold = set()
        for name in sorted(question.gold):
            try:
                source, path = names.resolve(name)
                gold.add(names.reference(source.id, path))
            except MemoryMcpError as error:
                problems.append(f"question {question.id}: {error}")
        known.append(replace(question, gold=frozenset(gold)))
    if problems:
        raise InputError("\n".join(problems))
    return known


async def _asked(app: App, questions: Sequence[Question]) -> list[Outcome]:
    from memory_mcp.search.hit import SearchRequest
    from memory_mcp.search.questions import DEPTH, Outcome

    outcomes = []
    for question in _known(app, questions):
        result = await app.searcher.search(SearchRequest(question.asked, limit=DEPTH))
        names = tuple(hit.card.reference for hit in result.hits)
        outcomes.append(Outcome(question, names))
    return outcomes


def _show(outcome: Outcome) -> None:
    question, place = outcome.question, outcome.place
    where = f"place {place}" if place else "not found"
    first = outcome.found[0] if outcome.found else "nothing"
    render.line(f"{question.id}  {where}, allowed {question.rank}: {question.text}")
    render.line(f"    wanted {', '.join(sorted(question.gold))}; first is {first}")
