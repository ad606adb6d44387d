"""Findings wait for an approval, survive everything, and are another agent's business or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_mcp.core.errors import InputError, NotFoundError
from memory_mcp.curate.review.findings import Dreams, Finding

AT = "2026-05-04T10:00:00+02:00"


def finding(number: int) -> Finding:
    return Finding(
        f"f{number}",
        "fact",
        "memory_write",
        f"memory/fact-{number}",
        "She said: “it is so”.",
        {"slug": f"fact-{number}", "content": "It is so.", "frontmatter": {"tags": ["a", "b"]}},
        novel_details=("4,455", "Lienz"),
    )


def test_findings_come_back_as_they_were(tmp_path: Path) -> None:
    made = Dreams(tmp_path, "default").add("rem", AT, "a talk", [finding(1), finding(2)])
    assert Dreams(tmp_path, "default").get(made.dream_id) == made
    assert Dreams(tmp_path, "default").all() == (made,)


def test_a_dream_that_is_decided_moves_to_the_processed_ones(tmp_path: Path) -> None:
    dreams = Dreams(tmp_path, "default")
    made = dreams.add("rem", AT, "a talk", [finding(1), finding(2)])
    dreams.decide(made.dream_id, "f1", status="applied", changed=("memory/fact-1",))
    assert [item.finding_id for item in dreams.get(made.dream_id).pending] == ["f2"]
    dreams.decide(made.dream_id, "f2", status="dismissed", decided="not so")
    assert dreams.all() == ()
    assert (tmp_path / "processed" / f"{made.dream_id}.json").is_file()
    assert not (tmp_path / f"{made.dream_id}.json").exists()
    assert dreams.finding(made.dream_id, "f2").decided == "not so"
    assert [dream.dream_id for dream in dreams.all("dismissed")] == [made.dream_id]


def test_a_pass_that_is_repeated_adds_nothing(tmp_path: Path) -> None:
    dreams = Dreams(tmp_path, "default")
    first = dreams.add("rem", AT, "a talk", [finding(1)], "abc")
    dreams.decide(first.dream_id, "f1", status="dismissed")
    again = dreams.add("rem", AT, "a talk", [finding(1)], "abc")
    assert again.pending == ()
    assert len(dreams.all("all")) == 1


def test_another_agents_findings_are_not_seen_but_the_wikis_are(tmp_path: Path) -> None:
    jay = Dreams(tmp_path, "jay")
    mine = jay.add("deep", AT, "the inbox", [finding(1)])
    shared = jay.add("lucid", AT, "the wiki", [finding(1)])
    other = Dreams(tmp_path, "rook")
    assert [dream.dream_id for dream in other.all()] == [shared.dream_id]
    with pytest.raises(NotFoundError, match=mine.dream_id):
        other.get(mine.dream_id)


@pytest.mark.parametrize("text", ["", "..", "../x", "nothing-like-it", "a" * 300])
def test_an_unknown_dream_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(NotFoundError):
        Dreams(tmp_path, "default").get(text)


def test_an_unknown_finding_and_status_are_named(tmp_path: Path) -> None:
    dreams = Dreams(tmp_path, "default")
    made = dreams.add("rem", AT, "a talk", [finding(1)])
    with pytest.raises(NotFoundError, match="f9"):
        dreams.decide(made.dream_id, "f9", status="applied")
    with pytest.raises(InputError, match="open"):
        dreams.all("open")


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"findings": [{"x": 1}]}', b"\xff", b"null"])
def test_a_broken_file_costs_only_itself(tmp_path: Path, text: bytes) -> None:
    dreams = Dreams(tmp_path, "default")
    made = dreams.add("rem", AT, "a talk", [finding(1)])
    (tmp_path / "rem-broken.json").write_bytes(text)
    assert dreams.all() == (made,)
