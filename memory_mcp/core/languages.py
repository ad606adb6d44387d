"""The languages whose words are known, and how people name them."""

from __future__ import annotations

LANGUAGES = {
    "ar": "arabic", "bg": "bulgarian", "ca": "catalan", "cs": "czech", "da": "danish",
    "de": "german", "el": "greek", "en": "english", "eo": "esperanto", "es": "spanish",
    "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french",
    "ga": "irish", "gu": "gujarati", "he": "hebrew", "hi": "hindi", "hu": "hungarian",
    "hy": "armenian", "id": "indonesian", "it": "italian", "ja": "japanese", "ko": "korean",
    "lt": "lithuanian", "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sa": "sanskrit", "sk": "slovak",
    "sr": "serbian", "sv": "swedish", "ta": "tamil", "th": "thai", "tr": "turkish",
    "uk": "ukrainian", "vi": "vietnamese", "yi": "yiddish", "zh": "chinese",
}  # fmt: skip
"""ISO 639-1 code -> English name."""
_OTHER_NAMES = {
    "nb": "no", "nn": "no", "hr": "sr", "bs": "sr", "sh": "sr", "ms": "id", "iw": "he",
    "in": "id", "ji": "yi", "indian": "hi", "farsi": "fa", "croatian": "sr", "bosnian": "sr",
    "malay": "id", "deutsch": "de", "español": "es", "français": "fr", "italiano": "it",
}  # fmt: skip
_BY_NAME = {name: code for code, name in LANGUAGES.items()} | _OTHER_NAMES


def language_code(name: str) -> str | None:
    """The code for a code or name in any spelling (de, de-AT, en_US, German); None if unknown."""
    plain = name.strip().casefold()
    code = plain.replace("_", "-").partition("-")[0]
    return code if code in LANGUAGES else _BY_NAME.get(plain) or _OTHER_NAMES.get(code)


def language_setting(value: str) -> str:
    """The setting `search.language` as "auto" or a code. Raises ValueError for an unknown one."""
    code = "auto" if value.strip().lower() == "auto" else language_code(value)
    if code is None:
        raise ValueError(
            f"{value!r} is no language whose words are known; use auto or one of"
            f" {', '.join(LANGUAGES)}"
        )
    return code


def fixed_language(setting: str) -> str | None:
    """The code for notes whose header names none; None where each text tells its own."""
    return None if setting == "auto" else setting
