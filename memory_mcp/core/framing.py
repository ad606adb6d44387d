"""Note text in a frame that cannot be closed from inside, and titles as harmless lines."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from memory_mcp.core.normal_form import normal_form
from memory_mcp.core.plain import clip

LINE = 200
"""Characters of a title or description in a text."""

CLOSING = "</MEMORY>"
"""The line that closes a frame."""

_REFERENCE = 1000

_TAG_STARTS = "<＜﹤‹《«〈〈⟨❮❰˂ᐸ≺≪⧼⋖≮‹𐏑"
_SLASHES = "/／⁄∕⧸╱〳⟋⫽\\＼∖⧵﹨"
_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_BLANKS = "\t\n\r\x0b\x0c"
_UNSEEN = ("Mn", "Me", "Cf", "Cc")
_LONGEST_NAME = 60  # letters that are looked at

# Letters of other scripts that look like those in the names below, after case folding.
_LOOKALIKES = str.maketrans(
    "аеһіјкмнорѕтуүԁɡʀгєεινορτυκμᴍᴇᴏʏѵı",
    "aehijkmnopstyydgrreeivoptykmmeoyvi",
)

_PATTERN = r"""\s*(?:[/]\s*)*(?:
        memory(?:[-_]context)?
      | system(?:[-_\s]?(?:reminder|prompt|message|instruction|note|warning|notification)s?)?
      | (?:human|assistant|developer)
      | user[-_](?:prompt|message|query|input)(?:[-_][\w-]*)?
      | (?:tool|function)[-_]?(?:use|call|result|response)s?
      | antml:[\w-]+
      | invoke
      | sys\s*>>
    )"""
_NAMES = re.compile(_PATTERN + r"(?![\w-])", re.VERBOSE)
_BEGINNINGS = re.compile(_PATTERN, re.VERBOSE)
_TOKEN = re.compile(r"<(?=\|[\w-]{1,40}\|>)")
_STARTS = re.compile(f"[{re.escape(_TAG_STARTS)}]")
_HARMLESS = str.maketrans(
    {**dict.fromkeys(_TAG_STARTS, "("), **dict.fromkeys(">＞›》»〉⟩❯❱", ")"), "|": "¦", "`": "'"}
)

_ROUND = str.maketrans("[]", "()")


def harmless(text: str) -> str:
    """The text with every tag that could pass for a frame or a system tag opened up.

    Only the sign that starts such a tag changes, to `&lt;`; all other markup stays as written.
    """

    def replace(found: re.Match[str]) -> str:
        return "&lt;" if _names(_behind(text, found.end())) else found.group()

    text = _TOKEN.sub("&lt;", text)
    return _STARTS.sub(replace, text)


def _behind(text: str, start: int) -> str:
    """What follows a sign, up to the next one, or as far as a name can reach. Blanks, slashes and
    invisible letters do not count: a thousand of them hide a name from nobody."""
    seen = 0
    for end in range(start, len(text)):
        letter = text[end]
        if letter in _TAG_STARTS:
            return text[start:end]
        seen += not (letter.isspace() or _shown(letter) in ("", "/"))
        if seen > _LONGEST_NAME:
            return text[start:end]
    return text[start:]


def _names(window: str) -> bool:
    """Whether a text begins with a name that means something to a reader. Something invisible in
    it or behind it may end the name for one reader and be nothing to another: both count."""
    folded, hidden = _folded(window)
    found = _BEGINNINGS.match(folded)
    if found is None:
        return False
    return hidden <= found.end() or _NAMES.match(folded) is not None


def _folded(text: str) -> tuple[str, int]:
    """Plain lower-case letters as a reader sees them (no marks, nothing invisible, one slash), and
    how many of them stand before the first that was left out."""
    shown = [_shown(letter) for letter in normal_form("NFKD", text)]
    hidden = shown.index("") if "" in shown else len(shown)
    plain = "".join(shown)
    return plain, len("".join(shown[:hidden])) if hidden < len(shown) else len(plain) + 1


@lru_cache(maxsize=4096)
def _shown(letter: str) -> str:
    if letter in _BLANKS:
        return letter
    if letter in _FILLERS or unicodedata.category(letter) in _UNSEEN:
        return ""
    return "/" if letter in _SLASHES else letter.casefold().translate(_LOOKALIKES)


def opening(reference: str, **attributes: str) -> str:
    """The line that opens the frame of a note; brackets of a name could play its end."""
    name = one_line(reference, _REFERENCE).translate(_ROUND)
    told = [f"{key}={_attribute(value)}" for key, value in attributes.items()]
    return f"<MEMORY[{name}]{''.join(f' {item}' for item in told)}>"


def in_frame(opened: str, body: str) -> str:
    """A text in the frame that was opened: closed once, whatever the text holds."""
    return f"{opened}\n{harmless(body).rstrip()}\n{CLOSING}"


def _attribute(value: str) -> str:
    shown = one_line(value).replace('"', "'")
    return f'"{shown}"' if " " in shown or not shown else shown


def one_line(text: str, limit: int = LINE) -> str:
    """A title or description as one short line whose marks mean nothing."""
    shown = " ".join(
        "".join(
            letter if unicodedata.category(letter) not in ("Cf", "Cc", "Zl", "Zp") else " "
            for letter in text[: limit * 8]
        ).split()
    ).translate(_HARMLESS)
    return clip(shown.replace("](", "] ("), limit)  # no link, and no picture that is fetched
