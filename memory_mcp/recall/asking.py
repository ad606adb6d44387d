"""From a message and what was said before to a query: the message decides, history nudges."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from memory_mcp.core.config import RecallSettings
from memory_mcp.core.fold import fold
from memory_mcp.core.stopwords import stop_words
from memory_mcp.core.words import folded_words
from memory_mcp.recall.heard import heard
from memory_mcp.recall.turn import Built, Turn
from memory_mcp.recall.vocabulary import (
    ASKING,
    CONFIRMATIONS,
    FAINT,
    FILLERS,
    INTERROGATIVE,
    LEADING,
    MEANT,
    PLAIN,
    PROGRAMS,
    REFERRING,
    SMALL_TALK,
    SPEAKING,
    TELLING,
)
from memory_mcp.search.context import Context
from memory_mcp.search.query import focus

SHORT = 2
"""Content words up to which a message is short."""

ANSWER_CHARS = 120
"""Of an answer that are looked for together with a message that goes on from it."""

LANGUAGES = ("de", "en")
"""Whose filler words are always known, beside those of the notes."""


_SHELL_SIGNS = re.compile(r"(?:^|\s)(?:--?\w[\w-]*|&&|\|\|?|>>?|[~.]{0,2}/\S*|\.\.)(?=\s|$)")
_SHELL_WORDS = 2
_WORD_WITHIN = re.compile(r"(?<=[^\s.!?:])[\s(\"'„“]+([^\W\d_]\w*)")
_ABOUT = re.compile(r"(what|how) about|was ist mit|wie (ist|sieht) es", re.IGNORECASE)
_COMMAND = re.compile(r"/[\w:.-]+(?:\s|$)")


@dataclass(frozen=True, slots=True)
class Asking:
    """What is looked for. `context` is None where history has no say."""

    text: str
    built: Built
    context: Context | None = None
    alone: bool = True
    """Whether the message is also looked for without its history."""
    joined: str | None = None
    """The message behind the question it follows, where it goes on from that one."""
    names: frozenset[str] = frozenset()
    """Words written as names, in folded spelling."""
    remark: bool = False
    """Whether it asks nothing, and does not read like words to look for either."""

    @property
    def most_vector(self) -> float:
        """The share that vectors have at most."""
        share = self.built.word_share
        return 1.0 if share is None else 1 - share


def asking(
    message: str,
    history: Sequence[Turn],
    settings: RecallSettings,
    languages: Collection[str] = (),
) -> Asking:
    """Read a message after a history (oldest first). `built.silent` says where it asks nothing."""
    text = heard(message)
    part = focus(text).text if text else ""
    words = content_words(part, languages)
    remark = bool(part) and _remarks(part)
    silent = _silence(text, part, words, remark)
    if silent is not None:
        return Asking(text, Built(text=part, words=tuple(words), silent=silent))
    turns = _turns(history, settings)
    follows = len(words) <= SHORT or _refers(part)
    weight = _weight(len(words), follows, settings) if turns and not remark else 0.0
    if not words and not weight:
        reason = "the message has no content words, and nothing was said before"
        return Asking(text, Built(text=part, silent=reason))
    built = Built(
        text=part,
        words=tuple(words),
        history=tuple(turn.text for turn in turns) if weight else (),
        history_weight=weight,
        word_share=settings.short_query_bm25_weight if 0 < len(words) <= SHORT else None,
    )
    names = _names(part, words)
    if not weight:
        return Asking(text, built, names=names, remark=remark)
    context = Context(built.history, "\n".join(built.history), weight, instead=not words)
    behind = _goes_on(part, words) and _wants(part)
    joined = _joined(turns, part if words else "") if behind else None
    return Asking(text, built, context, bool(words), joined, names)


def content_words(text: str, languages: Collection[str] = ()) -> list[str]:
    """The words of a text that say what it is about, in folded spelling, with repeats.

    Stop words are those of the language(s) that most of the text's words belong to.
    """
    words = folded_words(text)
    known = {code: stop_words(code) for code in {*languages, *LANGUAGES}}
    share = {code: sum(word in stops for word in words) for code, stops in known.items()}
    most = max(share.values())
    stops = frozenset[str]().union(*(known[code] for code in known if share[code] == most))
    empty = stops | FILLERS | FAINT
    return [
        word for word in words if word not in empty and not (len(word) == 1 and word.isalpha())
    ]


def _silence(text: str, part: str, words: Sequence[str], remark: bool) -> str | None:
    """Why a message asks nothing of a memory; None where it may."""
    if not text:
        return "the message is empty"
    if _COMMAND.match(text):
        return "the message is a command"
    if text.startswith("!") or _is_shell(text):
        return "the message is a shell command"
    if (remark and len(words) <= SHORT) or CONFIRMATIONS.fullmatch(part):
        return "the message asks nothing"
    if words:
        return None
    spoken = folded_words(part)
    if all(word in FILLERS for word in spoken) or SMALL_TALK.search(part):
        return "the message asks nothing"
    return None if _asks(part) else "the message asks nothing"


def _wants(part: str) -> bool:
    """Whether a message asks, or corrects or carries on what was asked. Behind a question any
    other one ("fair enough") would bring what answers that question."""
    spoken = folded_words(part)
    opens = bool(spoken) and spoken[0] in LEADING | TELLING
    asking = INTERROGATIVE if _is_german(spoken) else INTERROGATIVE - {"was"}
    return opens or _asks(part) or not (MEANT | asking).isdisjoint(spoken)


def _asks(part: str) -> bool:
    spoken = folded_words(part)
    first = spoken[1:2] if spoken[:1] and spoken[0] in LEADING else spoken[:1]
    return "?" in part or "？" in part or not ASKING.isdisjoint(first)


def _remarks(part: str) -> bool:
    """Whether a text keeps a conversation going: it asks nothing, corrects nothing that was asked,
    and speaks of those who talk, or begins or ends as talk does. Words to look for do neither."""
    spoken = folded_words(part)
    if not spoken or _wants(part):
        return False
    if any(map(str.isdigit, part)):
        return False
    return not FILLERS.isdisjoint((spoken[0], spoken[-1])) or not SPEAKING.isdisjoint(spoken)


def _names(part: str, words: Collection[str]) -> frozenset[str]:
    """Content words with a capital in mid-sentence. German has them for every noun, which may be
    told in other words: none there."""
    if _is_german(folded_words(part)):
        return frozenset()
    found = (fold(match[1]) for match in _WORD_WITHIN.finditer(part) if match[1][0].isupper())
    return frozenset(word for word in found if word in words)


def _is_german(spoken: Sequence[str]) -> bool:
    german, english = (sum(word in stop_words(code) for word in spoken) for code in LANGUAGES)
    return german > english


def _is_shell(text: str) -> bool:
    """Whether a message is a line for a shell: a program with options, or nearly alone."""
    words = text.split()
    if "\n" in text or "?" in text or words[0] not in PROGRAMS | PLAIN:
        return False
    alone = words[0] in PROGRAMS and len(words) <= _SHELL_WORDS
    return alone or _SHELL_SIGNS.search(text) is not None


def _joined(turns: Sequence[Turn], message: str) -> str | None:
    """The last question of the user, how its answer begins, and the message, as one text."""
    asked = next((place for place, turn in enumerate(turns) if turn.role == "user"), None)
    if asked is None:
        return None
    texts = [
        turn.text[:ANSWER_CHARS] if turn.role == "assistant" else turn.text
        for turn in turns[asked:]
    ]
    return "\n".join([*texts, message]).strip()


def _weight(count: int, follows: bool, settings: RecallSettings) -> float:
    """The share of history: that of a short message also where a longer one refers to it."""
    if count == 0:
        return settings.history_weight_empty
    return settings.history_weight_short if follows else settings.history_weight


def _goes_on(part: str, words: Sequence[str]) -> bool:
    """Whether a message needs the question before it. One that asks for a subject of its own (`who
    is otto?`) does not, however short it is."""
    if not words or _refers(part) or _ABOUT.match(part):
        return True
    return len(words) <= SHORT and ASKING.isdisjoint(folded_words(part)[:1])


def _refers(part: str) -> bool:
    """Whether a message goes on from what was said: by a word that stands for it, or that leads
    on."""
    spoken = folded_words(part)
    return bool(spoken) and (spoken[0] in LEADING or not REFERRING.isdisjoint(spoken))


def _turns(history: Sequence[Turn], settings: RecallSettings) -> list[Turn]:
    """The last turns in which something was said, oldest first, each as far as it counts."""
    kept: list[Turn] = []
    for turn in _backwards(history):
        if len(kept) >= settings.query_turns - 1:
            break
        text = heard(turn.text)[: settings.history_turn_chars].strip()
        if content_words(text):
            kept.append(Turn(turn.role, text))
    return kept[::-1]


def _backwards(history: Sequence[Turn]) -> Iterable[Turn]:
    """From the latest on; a transcript may be long, and only its end is looked at."""
    return reversed(history[-40:])
