"""Searching a home, from the question to the hits."""

from __future__ import annotations

import math
from pathlib import Path

import anyio
import pytest
from anyio.lowlevel import checkpoint

from memory_mcp.core.config import SearchSettings
from memory_mcp.core.errors import InputError
from tests.search.world import searching

pytestmark = pytest.mark.anyio

TICKETS = {
    "memory/a": "REQ-4410: the gate opens inwards.\n",
    "memory/b": "REQ-4411: the gate opens outwards.\n",
    "memory/c": "REQ-44: gates are optional.\n",
    "memory/d": "The snake_case_name lives in tools/paint/mixer.py, version 2.7.13.\n",
}


WORDS = [
    "old",
    "new",
    "red",
    "blue",
    "tall",
    "small",
    "round",
    "green",
    "brass",
    "steel",
    "third",
    "spare",
]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("REQ-4410", "memory/a"),
        ("req 4411", "memory/b"),
        ('what does "REQ-44" say?', "memory/c"),
        ("snake_case_name", "memory/d"),
        ("mixer.py", "memory/d"),
        ("2.7.13", "memory/d"),
    ],
)
@pytest.mark.parametrize("words_only", [True, False])
async def test_an_identifier_finds_its_note_with_and_without_a_model(
    tmp_path: Path, query: str, first: str, words_only: bool
) -> None:
    async with searching(tmp_path, TICKETS, words_only=words_only) as home:
        hits = await home.hits(query)
        assert hits[0].card.reference == first
        assert hits[0].score >= 0.5
        assert all(0 < hit.score <= 1 and 0 <= hit.bm25_score <= 1 for hit in hits)


@pytest.mark.parametrize(
    "query", ["kuehlschraenke", "KÜHLSCHRANK", "ku\u0308hlschrank", "Schrank"]
)
async def test_german_spellings_inflections_and_compounds_meet(tmp_path: Path, query: str) -> None:
    notes = {
        "memory/one": "Der Kühlschrank in der Küche ist von Bäcker Groß.\n",
        "memory/two": "Die Leiter steht hinter dem Haus und ist aus Holz.\n",
    }
    async with searching(tmp_path, notes, words_only=True) as home:
        assert (await home.references(query))[0] == "memory/one"


@pytest.mark.parametrize("query", ["who is it", "the", "?!", "*", "und oder", "NOT (a OR b"])
async def test_questions_without_content_are_answered_with_little_or_nothing(
    tmp_path: Path, query: str
) -> None:
    async with searching(tmp_path, TICKETS, words_only=True) as home:
        hits = await home.hits(query)
        assert len(hits) < len(TICKETS)


@pytest.mark.parametrize("query", ["", "   ", "\n\t"])
async def test_a_blank_question_is_an_error(tmp_path: Path, query: str) -> None:
    async with searching(tmp_path, {}) as home:
        with pytest.raises(InputError, match="empty"):
            await home.hits(query)


async def test_an_empty_home_answers_with_nothing(tmp_path: Path) -> None:
    async with searching(tmp_path, {}) as home:
        assert await home.hits("anything") == ()


async def test_one_note_alone_is_found_with_a_positive_score(tmp_path: Path) -> None:
    async with searching(tmp_path, {"memory/one": "cinnamon\n"}, words_only=True) as home:
        (hit,) = await home.hits("cinnamon")
        assert hit.score > 0.5
        assert hit.bm25_score > 0


async def test_more_mentions_never_mean_a_lower_score(tmp_path: Path) -> None:
    notes = {
        "memory/one": "cinnamon\n",
        "memory/two": "cinnamon cinnamon cinnamon, the cinnamon note\n",
        "memory/three": "a ladder\n",
    }
    async with searching(tmp_path, notes, words_only=True) as home:
        hits = {hit.card.path: hit.score for hit in await home.hits("cinnamon")}
        assert set(hits) == {"one", "two"}
        assert hits["two"] >= hits["one"] > 0


async def test_a_long_note_takes_one_place_and_shows_three_passages(tmp_path: Path) -> None:
    parts = "".join(
        f"## Week {n}\n\nThe hive inspection of week {n} found {n} frames of brood. "
        + "Fine. " * 60
        + "\n\n"
        for n in range(12)
    )
    notes = {"vault/long": f"# Hives\n\n{parts}"}
    notes |= {f"vault/short{n}": f"Hive inspection needs smoke, tool {n}.\n" for n in range(4)}
    async with searching(tmp_path, notes) as home:
        hits = await home.hits("hive inspection", limit=5)
        assert len({hit.card.reference for hit in hits}) == 5
        long = next(hit for hit in hits if hit.card.path == "long")
        assert len(long.passages) == 3
        assert len({passage.text for passage in long.passages}) == 3


MANY = {f"vault/box{n}": f"Box box box, box number {n}.\n" for n in range(30)} | {
    "memory/box": "The box is green.\n",
    "wiki/things/box": "---\ntags: [Store/Shelf]\n---\nThe box in the wiki is blue.\n",
}


async def test_filters_count_before_the_list_is_cut(tmp_path: Path) -> None:
    async with searching(tmp_path, MANY) as home:
        assert await home.references("box", sources=("memory",)) == ["memory/box"]
        assert await home.references("box", sources=("wiki",)) == ["wiki/things/box"]
        assert len(await home.references("box", sources=("vault",))) == 5
        assert await home.references("box", path_prefix="things/") == ["wiki/things/box"]
        assert await home.references("box", path_prefix="wiki/things") == ["wiki/things/box"]
        assert await home.references("box", tag="store") == ["wiki/things/box"]
        assert await home.references("box", tag="none") == []


async def test_an_unknown_source_is_an_error_that_lists_the_known_ones(tmp_path: Path) -> None:
    async with searching(tmp_path, {}) as home:
        with pytest.raises(InputError, match="memory, wiki, vault"):
            await home.hits("box", sources=("shelf",))


@pytest.mark.parametrize(
    "more", [{"limit": 0}, {"limit": 51}, {"min_score": -0.1}, {"min_score": 2}]
)
async def test_values_out_of_range_are_errors_that_say_the_range(
    tmp_path: Path, more: dict[str, float]
) -> None:
    async with searching(tmp_path, {}) as home:
        with pytest.raises(InputError, match="between"):
            await home.hits("box", **more)


async def test_scores_are_shares_that_fall_along_the_list_and_respect_the_floor(
    tmp_path: Path,
) -> None:
    async with searching(tmp_path, MANY | TICKETS) as home:
        hits = await home.hits("the green box opens inwards", limit=50)
        scores = [hit.score for hit in hits]
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)
        floor = scores[len(scores) // 3]
        high = await home.hits("the green box opens inwards", limit=50, min_score=floor)
        assert 0 < len(high) < len(hits)
        assert all(hit.score >= floor for hit in high)


async def test_a_copy_in_another_source_is_folded_and_named(tmp_path: Path) -> None:
    text = "The spare key of the shed hangs behind the third flower pot.\n"
    notes = {"memory/key": text, "vault/House/key": text, "vault/pot": "A pot of soup.\n"}
    async with searching(tmp_path, notes) as home:
        hits = await home.hits("spare key of the shed", limit=3)
        assert hits[0].card.reference == "memory/key"
        assert hits[0].copies == ("vault/House/key",)
        shown = [passage.text for hit in hits for passage in hit.passages]
        assert sum("flower pot" in text for text in shown) == 1


async def test_the_page_with_the_name_comes_before_pages_that_mention_it_often(
    tmp_path: Path,
) -> None:
    notes = {
        "wiki/people/mara-lind": "A carpenter who is afraid of geese.\n",
        "wiki/party": "Mara Lind, Mara Lind and Mara Lind: Mara came, Mara sang.\n",
        "vault/diary": "Mara phoned. Mara Lind arrived.\n",
    }
    async with searching(tmp_path, notes) as home:
        assert (await home.references("who is Mara Lind?"))[0] == "wiki/people/mara-lind"
        assert (await home.references("mara-lind"))[0] == "wiki/people/mara-lind"


LOG = {
    "wiki/logs/2025-11": "# Log 2025-11\n\n- created pages/pond: pump, filter, fish, cover\n",
    "wiki/pages/pond": "# Pond\n\nThe pump of the pond.\n\n## Winter\n\nCover it, pump out.\n",
    "vault/other": "Nothing about water.\n",
}


async def test_a_page_comes_before_the_log_unless_the_question_is_about_changes(
    tmp_path: Path,
) -> None:
    async with searching(tmp_path, LOG) as home:
        assert (await home.references("winter cover of the pond pump"))[0] == "wiki/pages/pond"
        assert (await home.references("what changed in November 2025?"))[0] == "wiki/logs/2025-11"


async def test_a_neutral_log_demotion_changes_nothing(tmp_path: Path) -> None:
    settings = SearchSettings(log_demotion=1)
    async with searching(tmp_path, LOG, settings=settings) as home:
        hits = await home.hits("pond pump filter fish", explain=True)
        assert all(
            "log" not in {step.rule for step in hit.trace.steps} for hit in hits if hit.trace
        )


@pytest.mark.parametrize(
    ("old", "new"),
    [("", "---\nsupersedes: old-job\n---\n"), ("---\nsuperseded_by: new-job\n---\n", "")],
)
async def test_a_note_that_replaces_another_comes_before_it(
    tmp_path: Path, old: str, new: str
) -> None:
    notes = {
        "memory/old-job": f"{old}Rosa works at the bakery. Rosa bakes each day. Job: bakery.\n",
        "memory/new-job": f"{new}Rosa now sails ferries.\n",
        "memory/else": "The bakery closes at six.\n",
    }
    async with searching(tmp_path, notes) as home:
        hits = await home.hits("where does Rosa work, at the bakery?")
        order = [hit.card.path for hit in hits]
        assert order.index("new-job") < order.index("old-job")
        assert hits[order.index("old-job")].superseded_by == "memory/new-job"
        assert hits[order.index("new-job")].superseded_by is None
        assert hits[order.index("new-job")].replaces == ("memory/old-job",)


@pytest.mark.parametrize("weight", ["auto", 0.0, 0.5, 1.0])
async def test_the_trace_adds_up_to_the_order(tmp_path: Path, weight: float) -> None:
    settings = SearchSettings(vector_weight=weight, page_support=0.1)
    async with searching(tmp_path, MANY | TICKETS | LOG, settings=settings) as home:
        hits = await home.hits(
            "when was the green box opened at the gate?", limit=50, explain=True
        )
        totals = []
        for hit in hits:
            assert hit.trace is not None
            assert math.fsum(step.points for step in hit.trace.steps) == hit.trace.score
            totals.append(hit.trace.score)
        assert totals == sorted(totals, reverse=True)
        assert all(hit.trace is None for hit in await home.hits("box"))


async def test_without_a_model_hits_have_no_vector_score_and_the_answer_says_why(
    tmp_path: Path,
) -> None:
    from memory_mcp.search.hit import SearchRequest

    async with searching(tmp_path, TICKETS, words_only=True) as home:
        result = await home.searcher.search(SearchRequest("gate"))
        assert result.hits and all(hit.vector_score is None for hit in result.hits)
        assert result.degraded
        assert result.pending == 0


async def test_a_question_around_a_very_long_paste_is_answered(tmp_path: Path) -> None:
    notes = {
        "memory/answer": "The spare oar of the boat lies under the pier.\n",
        "memory/paste": "Words of a contract about delivery and penalty.\n",
    }
    paste = "contract delivery penalty clause. " * 4000
    async with searching(tmp_path, notes) as home:
        after = await home.references(f"{paste}\n\nWhere is the spare oar of the boat?")
        before = await home.references(f"Where is the spare oar of the boat?\n\n{paste}")
        assert after[0] == before[0] == "memory/answer"


async def test_the_same_question_gives_the_same_answer(tmp_path: Path) -> None:
    async with searching(tmp_path, MANY) as home:
        first = await home.references("box number", limit=50)
        assert await home.references("box number", limit=50) == first
        assert (await home.references("box number", limit=3)) == first[:3]


@pytest.mark.parametrize("query", ["harbour lights", "Where are the harbours' light switches?"])
async def test_words_that_follow_each_other_in_question_and_note_lead(
    tmp_path: Path, query: str
) -> None:
    notes = {
        "memory/a": "The lights of the old harbour were out.\n",
        "memory/b": "The harbour lights of the old were out.\n",
    }
    async with searching(tmp_path, notes, words_only=True) as home:
        hits = await home.hits(query, explain=True)
        steps = [hit.trace.steps for hit in hits if hit.trace]
        points = [sum(step.points for step in one if step.rule == "pairs") for one in steps]
        assert [hit.card.reference for hit in hits] == ["memory/b", "memory/a"]
        assert points[0] > 0 == points[1]


async def test_others_get_their_turn_while_a_search_reads_what_many_new_notes_are_called(
    tmp_path: Path,
) -> None:
    notes = {
        f"memory/kettle-{n}": "---\naliases:\n"
        + "".join(f"  - the {word} kettle of shelf {n}\n" for word in WORDS)
        + f"---\nKettle {n} is made of copper.\n"
        for n in range(120)
    }
    async with searching(tmp_path, notes, words_only=True) as home, anyio.create_task_group() as g:
        turns = 0

        async def count() -> None:
            nonlocal turns
            while True:
                turns += 1
                await checkpoint()

        g.start_soon(count)
        taken = []
        for _ in range(2):
            before = turns
            assert await home.hits("copper kettle")
            taken.append(turns - before)
        assert taken[0] > taken[1] + 5
        g.cancel_scope.cancel()
