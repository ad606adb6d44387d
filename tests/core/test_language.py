from __future__ import annotations

import timeit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.language import detect, told
from memory_mcp.core.languages import LANGUAGES, language_code

SENTENCES = {
    "en": "The key is under the stone near the door of the house.",
    "de": "Der Schlüssel liegt unter dem Stein neben der Haustür.",
    "fr": "La clé est sous la pierre près de la porte de la maison.",
    "es": "La llave está debajo de la piedra junto a la puerta.",
    "it": "La chiave è sotto la pietra vicino alla porta della casa.",
    "pt": "A chave está debaixo da pedra perto da porta da casa.",
    "nl": "De sleutel ligt onder de steen bij de deur van het huis.",
    "sv": "Nyckeln ligger under stenen bredvid dörren till huset och jag har inte den.",
    "no": "Nøkkelen ligger under steinen ved siden av døren, og jeg har ikke noen annen.",
    "fi": "Avain on kiven alla oven vieressä ja minulla ei ole sitä.",
    "hu": "A kulcs a kő alatt van az ajtó mellett, de nem az enyém.",
    "ro": "Cheia este sub piatra de lângă ușa casei și nu este a mea.",
    "cs": "Klíč je pod kamenem vedle dveří a není můj, ale byl tam.",
    "pl": "Klucz jest pod kamieniem obok drzwi i nie jest mój, ale był tam.",
    "tr": "Anahtar kapının yanındaki taşın altında ve benim için çok önemli.",
    "ru": "Ключ лежит под камнем возле двери, и он не мой.",
    "uk": "Ключ лежить під каменем біля дверей, і він не мій.",
    "bg": "Ключът е под камъка до вратата и не е мой.",
    "ar": "المفتاح تحت الحجر قرب الباب.",
    "fa": "کلید زیر سنگ کنار در است.",
    "he": "המפתח מתחת לאבן ליד הדלת",
    "hi": "चाबी दरवाजे के पास पत्थर के नीचे है",
    "zh": "钥匙在门边的石头下面。",
    "ja": "鍵はドアの横の石の下にあります。",
    "ko": "열쇠는 문 옆 돌 아래에 있다.",
    "el": "Το κλειδί είναι κάτω από την πέτρα",
    "th": "กุญแจอยู่ใต้ก้อนหิน",
    "da": "Nøglen ligger under stenen ved siden af døren til huset.",
    "ca": "La clau és sota la pedra al costat de la porta de casa.",
    "ga": "Tá an eochair faoin gcloch in aice leis an doras.",
    "lt": "Raktas yra po akmeniu šalia durų.",
    "id": "Kuncinya ada di bawah batu di dekat pintu rumah.",
    "sr": "Ključ je ispod kamena pored vrata i nije moj.",
    "hy": "Բանալին քարի տակ է դռան մոտ։",
    "ne": "साँचो ढोकाको छेउमा ढुङ्गामुनि छ।",
    "sa": "सर्वे मानवाः स्वतन्त्राः समुत्पन्नाः वर्तन्ते।",
    "ta": "சாவி கதவின் அருகே கல்லின் கீழ் உள்ளது.",
    "et": "Võti on kivi all ukse kõrval.",
    "eu": "Giltza harriaren azpian dago, atearen ondoan.",
    "vi": "Chìa khóa ở dưới hòn đá gần cửa nhà.",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_a_sentence_shows_its_language(language: str) -> None:
    assert detect(SENTENCES[language]) == language


@pytest.mark.parametrize(
    "text",
    ["", "ok", "WLAN", "12 34 56", "Kubernetes Helm Terraform", "def f(x): return x + 1", "\n\n"],
)
def test_an_undecided_text_counts_as_english(text: str) -> None:
    assert detect(text) == "en"


@pytest.mark.parametrize(
    "text",
    [
        "Milch und Brot kaufen",
        "Glühwürmchenführung",
        "Der Ersatzschlüssel liegt bei Frau Schlüter.",
    ],
)
def test_two_words_can_be_enough(text: str) -> None:
    assert detect(text) == "de"


@pytest.mark.parametrize("text", ["saffron", "Jonas Huber", "git rebase -i HEAD~3", "KON-0261"])
def test_names_and_commands_do_not_decide(text: str) -> None:
    assert detect(text) == "en"


@given(st.text(max_size=300))
def test_any_text_has_a_known_language(text: str) -> None:
    assert detect(text) in LANGUAGES


def test_a_name_or_a_code_in_any_spelling_is_a_language() -> None:
    assert [language_code(name) for name in ("de", "de-AT", "en_US", "German", "nb")] == [
        "de", "de", "en", "de", "no",
    ]  # fmt: skip
    assert language_code("python") is None


def test_code_and_addresses_do_not_decide() -> None:
    code = "```python\nfor the_key in the_list: is_in = not the_key or and if with as\n```\n" * 5
    assert detect(f"Der Schlüssel liegt unter dem Stein.\n{code}") == "de"


def test_a_few_foreign_words_do_not_decide() -> None:
    assert detect("We met at the Café für Kunst und Musik, and the cake was good.") == "en"
    assert detect("The sign says 鍵 and nobody knows what it is about.") == "en"


def test_a_page_takes_about_a_millisecond() -> None:
    page = f"{SENTENCES['de']} " * 150
    detect(page)
    assert min(timeit.repeat(lambda: detect(page), number=5, repeat=5)) / 5 < 0.005


@given(st.text(st.characters(), max_size=60))
def test_any_text_has_a_language_or_none_also_with_halves_of_letters(text: str) -> None:
    assert told(text) in {None, *LANGUAGES}
    assert detect(f"{text} \udc00\ud800 and more words of it") in LANGUAGES
