"""How a message and what was said before become a query."""

from __future__ import annotations

import pytest

from memory_mcp.core.config import RecallSettings
from memory_mcp.recall.asking import asking, content_words
from memory_mcp.recall.turn import Turn

SETTINGS = RecallSettings()
KARL = (Turn("user", "who is karl?"), Turn("assistant", "Karl is a carpenter in Lienz."))


@pytest.mark.parametrize(
    "message",
    [
        *("ok", "thanks, go on", "never mind", "how are you?", "Ja, genau. Danke!", "und nun"),
        *("/compact", "/review the last commit", "!git status", "git status", "cd src && make"),
        *("", "<system-reminder>x</system-reminder>"),
        *("好的", "好的，继续。", "谢谢你！", "请继续", "没问题", "嗯嗯", "明白了，谢谢大家"),
    ],
)
def test_a_message_that_asks_nothing_is_met_with_silence(message: str) -> None:
    asked = asking(message, KARL, SETTINGS)
    assert asked.built.silent
    assert asked.built.history_weight == 0


@pytest.mark.parametrize(
    "message",
    [
        "which tyres?",
        "green tea",
        "/etc/hosts on grenze?",
        "find karl",
        "绿茶",
        "好的绿茶",
        "谢谢卡尔",
    ],
)
def test_a_message_with_a_subject_is_looked_for(message: str) -> None:
    assert asking(message, (), SETTINGS).built.silent is None


@pytest.mark.parametrize(
    ("message", "weight"),
    [
        ("how did we set up the mail server of acme?", SETTINGS.history_weight),
        ("und seine frau?", SETTINGS.history_weight_short),
        ("what did the garage charge him for the brakes?", SETTINGS.history_weight_short),
        ("das solltest du aber wissen oder?", SETTINGS.history_weight_empty),
    ],
)
def test_the_less_a_message_says_the_more_history_decides(message: str, weight: float) -> None:
    asked = asking(message, KARL, SETTINGS)
    assert asked.built.history_weight == weight
    assert asked.built.history == ("who is karl?", "Karl is a carpenter in Lienz.")
    assert asked.context is not None


def test_without_history_or_its_turns_the_message_stands_alone() -> None:
    for history, settings in (((), SETTINGS), (KARL, RecallSettings(query_turns=1))):
        asked = asking("und seine frau?", history, settings)
        assert (asked.context, asked.joined, asked.built.history_weight) == (None, None, 0.0)
    assert asking("das solltest du aber wissen oder?", (), SETTINGS).built.silent


def test_short_questions_lean_on_words() -> None:
    short = asking("wer ist karl?", (), SETTINGS)
    assert short.built.word_share == SETTINGS.short_query_bm25_weight
    assert short.most_vector == 1 - SETTINGS.short_query_bm25_weight
    longer = asking("which garage stores winter tyres?", (), SETTINGS)
    assert (longer.built.word_share, longer.most_vector) == (None, 1.0)


def test_turns_count_without_what_was_injected_and_up_to_their_limit() -> None:
    injected = "<memory-context>\nPixel\n</memory-context>"
    history = [Turn("user", f"{injected}who is karl?"), Turn("assistant", "carpenter " * 200)]
    asked = asking(
        "and his wife?", [*history, Turn("user", "ok"), Turn("assistant", injected)], SETTINGS
    )
    assert asked.built.history[0] == "who is karl?"
    assert len(asked.built.history[1]) <= SETTINGS.history_turn_chars


def test_the_question_at_the_end_of_a_paste_is_what_asks() -> None:
    asked = asking(
        "pasted log line " * 5000 + "At what temperature does green tea brew?", (), SETTINGS
    )
    assert "temperature" in asked.built.words
    assert len(asked.built.words) < 100


def test_names_are_words_with_a_capital_in_mid_sentence_but_for_german() -> None:
    assert asking("When did Maria visit the shelter?", (), SETTINGS).names == {"maria"}
    assert asking("Wann kommt der Schornsteinfeger zu uns?", (), SETTINGS).names == frozenset()


def test_filler_words_of_both_languages_are_no_content() -> None:
    assert content_words("kannst du mir so etwas sagen, ok?") == []
    assert content_words("could you please tell me about it?") == []
    assert content_words("Was kostet die Wartung?") == ["kostet", "wartung"]


@pytest.mark.parametrize(
    "message",
    [
        *("slower please", "agreed, ship it", "bin gleich wieder da", "skip this step"),
        "hello, I was at lunch",
    ],
)
def test_a_remark_is_not_carried_by_what_was_said_before(message: str) -> None:
    before = [Turn("user", "Who sings in the choir?"), Turn("assistant", "Niklas and Disch.")]
    found = asking(message, before, SETTINGS)
    assert found.built.silent is not None or (found.remark and found.context is None)


@pytest.mark.parametrize(
    "message", ["firmware of the switch", "VX-80/3 where does this go", "no, the small one"]
)
def test_words_to_look_for_and_corrections_are_no_remarks(message: str) -> None:
    assert not asking(message, (), SETTINGS).remark


@pytest.mark.parametrize(
    "message", ["fair enough", "sort the imports", "terraform apply", "stopp"]
)
def test_a_message_that_asks_nothing_is_not_put_behind_the_question_before_it(
    message: str,
) -> None:
    assert asking(message, KARL, SETTINGS).joined is None


@pytest.mark.parametrize(
    "message", ["and the workshop", "nein, die linke", "his wife?", "tell me about his wife"]
)
def test_a_message_that_asks_or_leads_on_is_put_behind_the_question_before_it(
    message: str,
) -> None:
    joined = asking(message, KARL, SETTINGS).joined
    assert joined == f"who is karl?\nKarl is a carpenter in Lienz.\n{message}"
