"""Words that carry no meaning of their own, by language, in folded spelling.

Most lists are those of the package stop-words. Armenian, Basque, Esperanto, Estonian, Irish and
Lithuanian come from stopwordsiso, whose lists for other languages are three times as long and hold
things people look for. Where neither has a list (Nepali, Sanskrit, Serbian, Tamil, Yiddish)
nothing is left out, and BM25 gives words that are everywhere next to no weight; nor in Vietnamese,
whose stop words are syllables of other words once their accents are folded.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import cast

from stop_words import LANGUAGE_MAPPING, get_stop_words

from memory_mcp.core.fold import fold, lower, spelled_out

# The package's lists for these two run to 1,333 and 652 words and hold things people look for
# (fire, room, keys, home, mill). Only words of the closed classes are left out here.
_ENGLISH = """
a about above after again against all also am an and any are aren't as at be because been before
being below between both but by can can't cannot could couldn't did didn't do does doesn't doing
don't done during each either else ever every few for from further had hadn't has hasn't have
haven't having he he'd he'll he's her here here's hers herself him himself his how how's i i'd i'll
i'm i've if in into is isn't it it'd it'll it's its itself just let's many may me might more most
much must mustn't my myself neither no nor not of off on once only or other ought our ours
ourselves out over own please same shall shan't she she'd she'll she's should shouldn't so some
such than that that's the their theirs them themselves then there there's these they they'd
they'll they're they've this those though through to too under until up upon us very was wasn't we
we'd we'll we're we've were weren't what what's when when's where where's whether which while who
who'd who'll who's whom whose why why's will with without won't would wouldn't yet you you'd you'll
you're you've your yours yourself yourselves
"""
_SPANISH = """
a al algo alguna algunas alguno algunos algún ante antes aquel aquella aquellas aquello aquellos
aquí así aun aunque aún cada como con contra cual cuales cualquier cuando cuya cuyas cuyo cuyos
cuál cuáles cuándo cuánta cuántas cuánto cuántos cómo de del desde donde dos durante dónde e el
ella ellas ello ellos en entonces entre era eran eres es esa esas ese eso esos esta estaba estaban
estado estamos estar estas este esto estos estoy está están fue fueron fui ha haber habla había
habían han has hasta hay he hemos la las le les lo los me mi mis mientras mucha muchas mucho muchos
muy más mí mía mías mío míos nada ni no nos nosotras nosotros nuestra nuestras nuestro nuestros o
os otra otras otro otros para pero poco por porque pues que quien quienes quién quiénes qué se sea
sean según ser será serán si sido siempre sin sino sobre sois somos son soy su sus suya suyas suyo
suyos sí también tan tanto te tenemos tener tengo ti tiene tienen todo todos toda todas tu tus tuya
tuyas tuyo tuyos tú un una unas uno unos usted ustedes vosotras vosotros vuestra vuestras vuestro
vuestros y ya yo él
"""
_OWN = {"en": _ENGLISH, "es": _SPANISH}
# Words of their own once the apostrophe is gone.
_OWN_WORDS = frozenset(["hell", "id", "ill", "shed", "shell", "wed", "well"])
_SAME = {"no": "nb", "nn": "nb"}
_UNFIT = frozenset(["vi"])
_ISO = frozenset(["et", "eu", "eo", "ga", "hy", "lt"])


@cache
def stop_words(language: str) -> frozenset[str]:
    """Stop words of a language (ISO 639-1) in folded spelling; empty where no list is known.

    Words with an apostrophe are there with and without it; German ones with ä and with ae.
    """
    spellings = written_stop_words(language)
    folded = {fold(word) for word in spellings}
    folded |= {fold(spelled_out(lower(word))) for word in spellings}
    joined = {word.replace("'", "") for word in folded if "'" in word}
    return frozenset(folded | (joined - _OWN_WORDS)) - {""}


@cache
def written_stop_words(language: str) -> frozenset[str]:
    """The same as they are written: small, with accents and apostrophes."""
    return frozenset(word.strip(" .”") for word in _listed(language) if " " not in word)


def _listed(language: str) -> Collection[str]:
    if language in _OWN:
        return _OWN[language].split()
    if language in _ISO:
        from stopwordsiso import stopwords  # reads all its lists: 30 ms, for few people

        return cast(Collection[str], stopwords(language))
    code = _SAME.get(language, language)
    fits = code in LANGUAGE_MAPPING and code not in _UNFIT
    return cast(list[str], get_stop_words(code)) if fits else []
