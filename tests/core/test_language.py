from __future__ import annotations

import timeit

import pytest

from memory_mcp.core.language import detect

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
