"""Comparing two texts: what is new, what contradicts, and what may be called the same."""

from __future__ import annotations

import random
from itertools import permutations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmarks.duplicates.pairs import load
from memory_mcp.core.saying import saying
from memory_mcp.curate.compare.novelty import compare, missing

TEXTS = sorted({text for pair in load() for text in (pair.old, pair.new)})


def is_same(new: str, old: str) -> bool:
    """Whether a text would be dropped, a model having no objection."""
    return compare(new, old, 0.0).kind == "same"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Seit März arbeitet Lena bei Siemens.", "Lena arbeitet seit März bei Siemens."),
        ("The shed is locked on 5 May 2026.", "On 2026-05-05 the shed is locked."),
        ("Buy:\n- rope\n- tar", "Buy:\n- tar\n- rope"),
        ("Ruth is in Graz.", "Ruth is in Graz. The flat has two rooms."),
        ("For soup: 3 eggs, 2 onions.", "For soup: 2 onions, 3 eggs."),
        ("# Port\n\nIt is 5433.", "# Port\n\nIt is 5433."),
    ],
)
def test_what_is_only_written_in_another_way_is_the_same(new: str, old: str) -> None:
    assert is_same(new, old)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Der Hund beißt den Mann.", "Den Hund beißt der Mann."),
        ("Die blaue Tür hat eine rote Klinke.", "Die rote Tür hat eine blaue Klinke."),
        ("Not Kim pays, Ben pays.", "Kim pays, not Ben pays."),
        ("Only Kim may enter.", "Kim may only enter."),
        ("Kim, Ben and Lea live in Graz, Linz and Wien.",
         "Ben, Kim and Lea live in Graz, Linz and Wien."),
        ("Kim, Ben and Lea get 5, 3 and 2 euros.", "Kim, Ben and Lea get 3, 5 and 2 euros."),
        ("Guest 104 has room 12.", "Guest 12 has room 104."),
        ("- Heron\n  - 32 GB\n- Egret\n  - 16 GB", "- Heron\n  - 16 GB\n- Egret\n  - 32 GB"),
        ("1. boil\n2. peel", "1. peel\n2. boil"),
        ("May collect: Ida, Uwe", "May collect: Ida, Uwe, Ruth"),
        ("May collect:\n- Ida\n- Uwe", "May collect:\n- Ida\n- Uwe\n- Ruth"),
        ("Kim is vegan.", "Kim is vegan. That was wrong."),
        ("Kim is vegan.", "~~Kim is vegan.~~"),
        ("Kim is vegan.", "Is Kim vegan?"),
        ("Kim is vegan.", "Ben says: Kim is vegan."),
        ("Kim is vegan.", "# Rumours about Ben's guests\n\nKim is vegan."),
        ("He works in Linz.", "Kim lives in Graz. He works in Linz."),
        ("Kim lives in Graz. He works in Linz.",
         "Kim lives in Graz. Ben lives in Wels. He works in Linz."),
        ("The key is under the mat.", "The key was under the mat."),
        ("Wir heizen bis Mai.", "Wir heizen ab Mai."),
        ("Am 5. Mai 4 Gäste.", "Am 5. Mai 3 Gäste."),
        ("Steps:\n- boil\n- peel", "Steps:\n- peel\n- boil"),
        ("```\n- boil\n- peel\n```", "```\n- peel\n- boil\n```"),
        ("Kim lives in Graz.", "Kim lives in Graz. Since May she lives in Linz."),
        ("Kim lives in Graz.", "Kim lives in Graz. 2026-05-03: Linz."),
        ("Kim lives in Graz.", "Kim lives in Graz. Kim lives in Linz."),
        ("Kim pays the rent.", "Draft of an email:\n\nKim pays the rent."),
        ("Kim pays the rent.", "Kim pays the rent. Ben pays it."),
        ("Tom likes Ann more than Jim.", "Tom likes Jim more than Ann."),
        ("Merge dev into main.", "Merge main into dev."),
        ("`cp b.txt a.txt`", "`cp a.txt b.txt`"),
        ("b - a", "a - b"),
        ("5 < x", "x < 5"),
        ("We chose plan A.", "We chose plan."),
        ("Breakfast 12:00, lunch 7:00", "Breakfast 7:00, lunch 12:00"),
        ("Kim arrives 6 May and Ben 5 May.", "Kim arrives 5 May and Ben 6 May."),
        ("Ben schuldet Anna seit Mai 50 Euro.", "Seit Mai schuldet Anna Ben 50 Euro."),
        ("Am 5. Mai hat Ben Anna besucht.", "Anna hat Ben am 5. Mai besucht."),
        ("Den Vater sucht der Sohn.", "Der Vater sucht den Sohn."),
        ("Kim: no\nBen: yes", "Kim: yes\nBen: no"),
        ("| Kim | 6 |\n| Ben | 5 |", "| Kim | 5 |\n| Ben | 6 |"),
        ("## Ben\n5 mg\n## Kim\n6 mg", "## Kim\n5 mg\n## Ben\n6 mg"),
        ("Pro:\n- slow\nContra:\n- cheap", "Pro:\n- cheap\nContra:\n- slow"),
        ("Kim has 3 cats, 4 mice, Ben has 1 cat, 2 dogs",
         "Kim has 3 cats, 2 dogs, Ben has 1 cat, 4 mice"),
    ],
)  # fmt: skip
def test_what_means_something_else_is_not_the_same(new: str, old: str) -> None:
    assert not is_same(new, old)


def test_what_is_new_is_named_and_the_nearest_sentence_shown() -> None:
    old = "The cat is old. The boiler was serviced on 12 March. The roof is tight."
    found = compare("The boiler was serviced on 12 March by Hallam, 184.50 euros.", old, 0.9)
    assert found.kind == "new"
    assert found.missing == ("Hallam", "184.50")
    assert found.excerpt == "The boiler was serviced on 12 March."


def test_another_value_is_a_contradiction_and_another_subject_unrelated() -> None:
    assert compare("Port 5434 is open.", "Port 5433 is open.", 0.9).kind == "contradiction"
    assert compare("Nina eats no fish.", "Nina eats fish.", 0.9).kind == "contradiction"
    assert compare("The roof is tight.", "Nina eats fish.", 0.1).kind == "unrelated"


def test_a_model_that_sees_no_likeness_forbids_to_call_it_the_same() -> None:
    new, old = "In Graz Ruth lives.", "Ruth lives in Graz."
    assert compare(new, old, 0.0).kind == compare(new, old, 0.9).kind == "same"
    assert compare(new, old, 0.3).kind != "same"


def test_words_are_held_in_any_form_and_values_only_as_they_are() -> None:
    assert missing("The pumps are running at 1,5 bar", "Die Pumpe: running, pump, 1.5 bar") == ()
    assert missing("Port 5433", "port 5434", "ports") == ("5433",)
    assert missing("Kim isst kein Fleisch", "Kim isst Fleisch") == ("kein",)
    assert missing("Kim isst kein Fleisch", "Kim isst Fleisch", "not") == ()
    assert missing("am 5. Mai 2026", "2026-05-05") == ()


@given(st.sampled_from(TEXTS))
def test_a_text_is_the_same_as_itself_and_lacks_nothing_of_it(text: str) -> None:
    assert is_same(text, text)
    assert missing(text, text) == ()


@given(st.text(max_size=200))
def test_any_text_with_words_is_the_same_as_itself(text: str) -> None:
    assume(saying(text))
    assert is_same(text, text)
    assert missing(text, text) == ()


@given(st.sampled_from(TEXTS), st.integers(0, 10**6), st.randoms(use_true_random=False))
def test_a_number_more_is_never_the_same(text: str, number: int, chance: random.Random) -> None:
    words = text.split(" ")
    words.insert(chance.randint(0, len(words)), str(number))
    assert not is_same(" ".join(words), text)


@given(st.sampled_from(TEXTS), st.randoms(use_true_random=False))
def test_a_word_more_or_another_is_never_the_same(text: str, chance: random.Random) -> None:
    words = text.split(" ")
    place = chance.randrange(len(words))
    assert not is_same(" ".join([*words[:place], "zebra", *words[place:]]), text)
    assert not is_same(" ".join([*words[:place], "zebra", *words[place + 1 :]]), text)


@given(st.sampled_from(TEXTS), st.sampled_from(TEXTS))
def test_what_is_the_same_lacks_nothing(new: str, old: str) -> None:
    if is_same(new, old):
        assert missing(new, old) == ()


@given(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3), st.sampled_from(TEXTS))
def test_the_order_of_the_held_texts_does_not_matter(held: list[str], text: str) -> None:
    assert len({missing(text, *order) for order in permutations(held)}) == 1
