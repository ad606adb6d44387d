"""Words of notes and questions: made so that they meet."""

from __future__ import annotations

import time
import timeit
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core import words
from memory_mcp.core.fold import fold
from memory_mcp.core.languages import LANGUAGES
from memory_mcp.core.words import QueryTerm, content_words, query_terms, terms


def matches(question: str, note: str, language: str = "en") -> list[str]:
    """The words of a question that a note has."""
    there = set(terms(note, language))
    return [term.text for term in query_terms(question, [language]) if there & set(term.forms)]


def share(question: str, note: str, language: str = "en") -> float:
    return len(matches(question, note, language)) / max(1, len(query_terms(question, [language])))


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("OPS-1187", "Ticket OPS-1187: the pump is loud."),
        ('"OPS-1187"', "See ops‑1187 for the pump."),
        ("ops 1187", "OPS-1187: the pump is loud."),
        ("ops1187", "OPS-1187 and OPS1187 are one ticket."),
        ("3.12.1", "Stay on 3.12.1, please."),
        ("v3.12.1", "Stay on Python 3.12.1."),
        ("3.12", "Stay on Python 3.12.1."),
        ("10.0.7.31", "The scanner is at 10.0.7.31."),
        ("2025-11-04", "Inspection on 2025-11-04."),
        ("/srv/www/main.conf", "It is in /srv/www/main.conf."),
        ("main.conf", "It is in /srv/www/main.conf."),
        (r"D:\Data\list.csv", r"Copy D:\Data\list.csv first."),
        ("list.csv", r"Copy D:\Data\list.csv first."),
        ("core::fmt", "Use core::fmt there."),
        ("sales@example.net", "Write to sales@example.net."),
        ("https://example.net/x/y?z=1#q", "Docs: https://example.net/x/y?z=1#q."),
        ("example.net", "Docs: https://example.net/x/y?z=1#q."),
        ("get_user_name", "Call get_user_name() or getUserName()."),
        ("user name", "Call getUserName()."),
        ("getUserName", "Call get_user_name() or getUserName()."),
        ("http server", "class HTTPServer"),
        ("state-of-the-art", "A state–of–the–art oven."),
        ("C++", "The C++ and C# lessons, and F#."),
        ("C#", "The C++ and C# lessons, and F#."),
        ("R", "Plots in R are fine, Go is fast, 5G is here."),
        ("5G", "Plots in R are fine, Go is fast, 5G is here."),
        ("Go", "Plots in R are fine, Go is fast, 5G is here."),
        ("O'Brien", "Ask O’Brien."),
        ("brien", "Ask O'Brien."),
        ("naive cafe", "A naïve café."),
        ("naïve café", "A naive cafe."),
        ("ﬁnal oﬃce", "The final office."),
        ("dishwasher", "The dish\u00adwa\u00adsher."),
        ("İzmir", "a trip to izmir"),
        ("izmir", "İZMİR"),
        ("ılgaz", "Ilgaz"),
        ("ＴＯＫＹＯ", "tokyo"),
        ("lodz", "Łódź"),
        ("1500", "1,500 litres"),
        ("東京", "昨日東京に行った"),
        ("猫", "黒い猫がいる"),
        ("สวัสดี", "สวัสดีครับ"),
        ("مدرسة", "مَدْرَسَة"),
        ("שלום", "שָׁלוֹם"),
        (".NET", "The .NET course."),
        ("net", "The .NET course."),
        ("notepad", "Open it in Notepad++."),
        ("1.25.3", "We run nginx-1.25.3.tar.gz there."),
        ("1.3", "TLS-1.3 only."),
        ("email", "Send an E-Mail."),
        ("e-mail", "Send an E-Mail."),
        ("112", "اتصل على ۱۱۲"),
        ("مدرسه", "مدرسة"),
        ("کتاب", "كتاب"),
        ("कलम", "क़लम"),
    ],
)
def test_a_question_meets_a_note_that_spells_it_otherwise(question: str, note: str) -> None:
    assert share(question, note) == 1


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("OPS-1187", "Ticket OPS-1188: the valve."),
        ("3.12.1", "Python 3.12.14 is out."),
        ("10.0.7.31", "The printer is at 10.0.7.310."),
        ("C++", "The C course and the C# course."),
    ],
)
def test_an_identifier_does_not_match_another_as_a_whole(question: str, note: str) -> None:
    whole = next(term for term in query_terms(question) if term.whole)
    assert not set(whole.forms) & set(terms(note, "en"))
    assert share(question, note) < 1


@pytest.mark.parametrize("question", ["schluesselbund", "Schlüsselbund", "SCHLÜSSELBUND"])
@pytest.mark.parametrize("note", ["Der Schlüsselbund hängt.", "Der Schluesselbund haengt."])
@pytest.mark.parametrize("language", ["de", "en"])
def test_umlauts_meet_their_spelling_with_e(question: str, note: str, language: str) -> None:
    assert share(question, note, language) == 1


@pytest.mark.parametrize("question", ["Hauptstrasse", "Hauptstraße", "HAUPTSTRASSE"])
def test_sharp_s_meets_double_s(question: str) -> None:
    assert share(question, "In der Hauptstraße 4.", "de") == 1


def test_words_are_stemmed_by_the_language_of_the_note() -> None:
    assert terms("running labels", "en") == ["run", "label"]
    assert share("Wohnungen", "eine Wohnung", "de") == 1
    assert share("новых книг", "новая книга", "ru") == 1
    assert share("canciones", "canción", "es") == 1


@pytest.mark.parametrize(
    ("language", "question", "note"),
    [
        ("uk", "ключі", "ключ"),
        ("uk", "місту", "місто"),
        ("bg", "книгата", "книги"),
        ("bg", "ключът", "ключ"),
        ("sr", "knjige", "knjiga"),
        ("hy", "քաղաքի", "քաղաք"),
        ("ga", "bhfuinneog", "fuinneog"),
        ("lt", "raktai", "raktas"),
        ("el", "κλειδι", "κλειδί"),
        ("ru", "елки", "ёлка"),
        ("fa", "كتابها", "کتاب‌ها"),
        ("hi", "लड़कों", "लड़का"),
        ("ta", "வீடுகள்", "வீடு"),
    ],
)
def test_inflected_words_meet_in_their_language(language: str, question: str, note: str) -> None:
    assert share(question, note, language) == 1


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_language_gives_terms(language: str) -> None:
    assert terms("KON-0261 saffron", language)
    assert query_terms("saffron", [language])[0].text == "saffron"


def test_one_word_of_a_question_is_one_term_with_forms_in_all_languages() -> None:
    found = query_terms("estimate", ["en", "de"])
    assert found == [QueryTerm("estimate", ("estimat", "estim"))]


def test_stop_words_are_left_out_of_notes_and_questions() -> None:
    assert terms("the pump is in the cellar", "en") == ["pump", "cellar"]
    assert [term.text for term in query_terms("where is the pump?")] == ["pump"]
    assert terms("für die Pumpe", "de") == terms("fuer die Pumpe", "de") == ["pump"]


def test_everyday_nouns_are_no_stop_words() -> None:
    nouns = ["fire", "room", "keys", "home", "mill", "system", "computer", "test", "help"]
    assert content_words(" ".join(nouns)) == nouns


def test_a_text_of_stop_words_only_keeps_them() -> None:
    assert terms("to be or not to be", "en") == ["to", "be", "or", "not", "to", "be"]
    assert [term.text for term in query_terms("is it there")] == ["is", "it", "there"]
    assert content_words("is it there") == ["is", "it", "there"]


def test_capitals_in_mid_sentence_make_a_stop_word_a_name() -> None:
    assert matches("The Who", "We heard The Who in town.") == ["who"]
    assert "it" in terms("Call IT support", "en")
    assert "the" not in terms("It broke. The pump.", "en")
    assert "ihr" not in terms("Danke, dass Ihr kommt", "de")


def test_a_shouted_question_is_read_like_a_quiet_one() -> None:
    assert query_terms("WHERE IS THE PUMP") == query_terms("where is the pump")


@pytest.mark.parametrize(
    "question",
    [
        "pump AND NOT valve",
        'pump" OR 1=1 --valve',
        "title:(pump valve",
        "pump* -valve",
        '{"pump": "valve"}',
        "^pump$ [valve]",
    ],
)
def test_query_syntax_is_plain_text(question: str) -> None:
    texts = [term.text for term in query_terms(question)]
    assert "pump" in texts
    assert "valve" in texts
    assert not {"and", "or", "not"} & set(texts)


@pytest.mark.parametrize("question", ["", "*", "?!", "%\\", "🔥", "\ud83d"])
def test_a_question_without_words_has_no_terms(question: str) -> None:
    assert query_terms(question) == []


def test_stop_words_of_another_language_do_not_empty_a_question() -> None:
    assert "die" in [
        term.text for term in query_terms("what is the size of the die", ["en", "de"])
    ]
    assert [term.text for term in query_terms("wo ist die Pumpe", ["en", "de"])] == ["pumpe"]


def test_a_repeated_word_of_a_question_counts_once() -> None:
    assert len(query_terms("pump pump Pump PUMPS " * 1000)) == 1


def test_encoded_data_does_not_flood_the_index() -> None:
    assert terms("A" * 100_000, "en") == []
    assert len(terms("data:image/png;base64," + "iVBORw0KGgo" * 5000, "en")) < 10


@given(st.text(max_size=200), st.sampled_from(["en", "de", "fr", "ru", "ja", "ar", "xx"]))
def test_any_text_gives_clean_terms(text: str, language: str) -> None:
    for term in terms(text, language):
        assert term
        assert not any(char.isspace() for char in term)
        term.encode("utf-8")


@given(st.text(max_size=200), st.sampled_from(["en", "de", "fr", "ru", "ja", "ar"]))
def test_a_text_meets_itself_as_a_question(text: str, language: str) -> None:
    there = set(terms(text, language))
    asked = query_terms(text, [language])
    assert bool(there) == bool(asked)
    assert not asked or any(there & set(term.forms) for term in asked)


@given(st.text(max_size=200))
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize("unit", ["a-", "1.", ".a", "É", "कँ", "字", "+#", "x' ", "۱."])
def test_time_grows_with_the_text_alone(unit: str) -> None:
    def seconds(length: int) -> float:
        text = unit * (length // len(unit))
        return min(
            timeit.repeat(lambda: terms(text, "de"), timer=time.process_time, number=1, repeat=3)
        )

    assert seconds(80_000) < 40 * seconds(8_000) + 0.05


@given(st.text(alphabet=st.characters(max_codepoint=0x2FF), max_size=100))
def test_composed_and_decomposed_spelling_give_the_same_terms(text: str) -> None:
    plain, apart = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert words.folded_words(plain) == words.folded_words(apart)
