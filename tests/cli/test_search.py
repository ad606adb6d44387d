"""Finding and listing notes on the command line."""

from __future__ import annotations

import math
from pathlib import Path

from tests.cli.conftest import Command, note

HIT = {
    "reference",
    "source",
    "path",
    "title",
    "description",
    "score",
    "vector_score",
    "bm25_score",
    "passages",
    "tags",
    "updated",
    "provenance",
    "superseded_by",
    "scope",
}


def fill(home: Path) -> None:
    note(home, "memory/drill", "---\ntags: [tool]\n---\n# Drill\n\nThe drill takes 13 mm bits.\n")
    note(home, "wiki/people/ole", "# Ole\n\nOle lends the drill on Saturdays.\n")


def test_search_as_json_has_the_fields_of_the_tool(home: Path, command: Command) -> None:
    fill(home)
    answer = command("search", "drill bits", "--json").json
    assert {"hits", "degraded", "pending"} <= set(answer)
    assert answer["pending"] == 0
    assert set(answer["hits"][0]) == HIT
    assert answer["hits"][0]["reference"] == "memory/drill"
    assert set(answer["hits"][0]["passages"][0]) == {"heading", "text", "lines", "score"}


def test_search_filters(home: Path, command: Command) -> None:
    fill(home)

    def found(*options: str) -> list[str]:
        hits = command("search", "drill", "--json", *options).json["hits"]
        return sorted(hit["reference"] for hit in hits)

    assert found() == ["memory/drill", "wiki/people/ole"]
    assert found("--source", "wiki") == ["wiki/people/ole"]
    assert found("--source", "wiki", "--source", "memory") == found()
    assert found("--path-prefix", "wiki/people") == ["wiki/people/ole"]
    assert found("--tag", "tool") == ["memory/drill"]
    assert len(found("--limit", "1")) == 1
    assert found("--min-score", "1") == [
        hit["reference"]
        for hit in command("search", "drill", "--json").json["hits"]
        if hit["score"] >= 1
    ]


def test_the_explanation_adds_up_to_the_rank(home: Path, command: Command) -> None:
    fill(home)
    hits = command("search", "drill bits", "--explain", "--json").json["hits"]
    for hit in hits:
        points = math.fsum(step["points"] for step in hit["trace"]["steps"])
        assert points == hit["trace"]["rank"]
    assert "  rank\n" in command("search", "drill bits", "--explain").out
    assert "trace" not in command("search", "drill bits", "--json").json["hits"][0]


def test_words_only_is_said_beside_the_result(home: Path, command: Command) -> None:
    fill(home)
    done = command("search", "drill")
    assert done.code == 0
    assert done.err.strip()
    assert command("search", "drill", "--json").json["degraded"]


def test_nothing_found_is_no_failure(home: Path, command: Command) -> None:
    fill(home)
    done = command("search", "zeppelin")
    assert (done.code, done.out) == (0, "")
    assert "No note answers this." in done.err


def test_an_unknown_source_is_named_with_those_that_exist(home: Path, command: Command) -> None:
    done = command("search", "drill", "--source", "wikki")
    assert done.code == 1
    assert "wikki" in done.err
    assert "wiki" in done.err


def test_list_has_all_sources_and_goes_on_after_a_page(home: Path, command: Command) -> None:
    fill(home)
    first = command("list", "--limit", "1", "--json").json
    assert (first["total"], len(first["notes"])) == (2, 1)
    second = command("list", "--json", "--cursor", first["next_cursor"]).json
    assert second["next_cursor"] is None
    references = [row["reference"] for row in first["notes"] + second["notes"]]
    assert references == ["memory/drill", "wiki/people/ole"]
    assert command("list", "--source", "wiki").out.startswith("wiki/people/ole\t")


def test_a_note_cannot_steer_the_terminal_through_a_hit(home: Path, command: Command) -> None:
    note(home, "wiki/trap", "# Trap \u202eevil\n\nThe trap says \u009b2J to terminals.\n")
    for words in (("search", "trap"), ("list",)):
        out = command(*words).out
        assert "wiki/trap" in out
        assert not any(letter in out for letter in "\u202e\u009b\x1b")


def test_search_shows_what_contradicts_or_replaces_a_hit(home: Path, command: Command) -> None:
    note(home, "memory/valve", "# Valve\n\nThe boiler valve is V7, says the plumber.\n")
    note(home, "memory/boiler", "---\ncontradicts: valve\n---\n# Boiler\n\nThe valve is V9.\n")
    note(home, "memory/old", "# Old\n\nThe boiler is in the attic.\n")
    note(home, "memory/new", "---\nsupersedes: old\n---\n# New\n\nThe boiler is in the cellar.\n")
    shown = command("search", "boiler valve", "--limit", "50").out
    for line in (
        "contradicts memory/boiler",
        "contradicts memory/valve",
        "replaces memory/old",
        "superseded by memory/new",
    ):
        assert f"   {line}\n" in shown
    hits = command("search", "boiler valve", "--json").json["hits"]
    assert all(set(hit) == HIT for hit in hits)
