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
from memory_mcp.search.query import Context, focus

SHORT = 2
"""Content words up to which a message is short."""

LANGUAGES = ("de", "en")
"""Whose filler words are always known, beside those of the notes."""

FILLERS = """
ok okay k yes yeah yep yup no nope sure thanks thank thx ty please pls go on ahead continue
proceed carry keep going next again great good nice fine cool perfect awesome excellent done
right correct exactly agreed well hello hi hey stop wait lgtm hm hmm oh ah right yay wow
understood alright kay lets let do it never mind leave stop undo revert redo retry shorter longer
morning evening night bye cheers haha lol funny joke sorry mistake tired
danke bitte ja jo nein klar gut super prima passt genau weiter mach machen los fertig
nochmal stimmt richtig hallo alles einverstanden vergiss lass rückgängig kürzer länger
guten morgen abend nacht tschüss witzig lustig witz entschuldigung müde vielen dank
sehr schön toll dankeschön gefällt nächste nächster nächstes nimm versuch nö
"""
"""Words with which people keep a conversation going."""

FAINT = """
tell know show say said mean think want need make get got give see look try use used using
thing things something anything everything really actually maybe also still please quick
remember like pass passes option variant version first second third one day long today
weißt weiß wissen solltest sollte sag sagen zeig zeigen meinst meine denkst brauche will
möchte kannst könntest mal eben halt doch gerne etwas sache sachen wirklich eigentlich
vielleicht erinnerst variante option erste zweite dritte tag langer lang heute geht grün war
"""
"""Words that say nothing about a subject, beside the stop words."""

ASKING = """
who whom whose what when where why how which is are was were do does did can could should
wer wem wen wessen was wann wo warum wieso weshalb wie welche welcher welches ist sind war
"""
_FILLERS, _FAINT, _ASKING = (
    frozenset(map(fold, words.split())) for words in (FILLERS, FAINT, ASKING)
)
PROGRAMS = """
git docker kubectl cd ls npm npx yarn pnpm pip pip3 uv cargo pytest python3 grep rg ps curl ssh scp
sudo apt mkdir rm cp mv chmod df du htop systemctl journalctl tmux docker-compose ansible-playbook
"""
"""With which a line for the shell begins."""
PLAIN = """
make go python node find cat tail head kill brew echo export source tar top vim nano terraform
"""
"""The same, where they are words of a sentence as well: an option or a path must follow."""

_PROGRAMS, _PLAIN = frozenset(PROGRAMS.split()), frozenset(PLAIN.split())
_SHELL_SIGNS = re.compile(r"(?:^|\s)(?:--?\w[\w-]*|&&|\|\|?|>>?|[~.]{0,2}/\S*|\.\.)(?=\s|$)")
_SHELL_WORDS = 2
_WORD_WITHIN = re.compile(r"[^\s.!?:][\s(\"'„“]+([^\W\d_]\w*)")
_COMMAND = re.compile(r"/[\w:.-]+(?:\s|$)")


@dataclass(frozen=True, slots=True)
class Asking:
    """What is looked for. `context` is None where history has no say."""

    text: str
    built: Built
    context: Context | None = None
    alone: bool = True
    """Whether the message is also looked for without its history."""
    names: frozenset[str] = frozenset()
    """Words written as names, in folded spelling."""
    faint: bool = False
    """A few words that ask nothing: they may be about anything."""

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
    silent = _silence(text, part, words)
    if silent is not None:
        return Asking(text, Built(text=part, words=tuple(words), silent=silent))
    turns = _turns(history, settings)
    weight = _weight(len(words), settings) if turns else 0.0
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
    faint = 0 < len(words) <= SHORT and not _asks(part)
    if not weight:
        return Asking(text, built, names=names, faint=faint)
    said = [turn.text for turn in turns if turn.role == "user"] or [turn.text for turn in turns]
    context = Context(built.history, "\n".join(said), weight, instead=not words)
    return Asking(text, built, context, bool(words), names, faint)


def content_words(text: str, languages: Collection[str] = ()) -> list[str]:
    """The words of a text that say what it is about, in folded spelling, with repeats.

    Stop words are those of the language(s) that most of the text's words belong to.
    """
    words = folded_words(text)
    known = {code: stop_words(code) for code in {*languages, *LANGUAGES}}
    share = {code: sum(word in stops for word in words) for code, stops in known.items()}
    most = max(share.values())
    stops = frozenset[str]().union(*(known[code] for code in known if share[code] == most))
    empty = stops | _FILLERS | _FAINT
    return [
        word for word in words if word not in empty and not (len(word) == 1 and word.isalpha())
    ]


def _silence(text: str, part: str, words: Sequence[str]) -> str | None:
    """Why a message asks nothing of a memory; None where it may."""
    if not text:
        return "the message is empty"
    if _COMMAND.match(text):
        return "the message is a command"
    if text.startswith("!") or _is_shell(text):
        return "the message is a shell command"
    if words:
        return None
    spoken = folded_words(part)
    if all(word in _FILLERS for word in spoken):
        return "the message asks nothing"
    return None if _asks(part) else "the message asks nothing"


def _asks(part: str) -> bool:
    return "?" in part or "？" in part or not _ASKING.isdisjoint(folded_words(part)[:3])


def _names(part: str, words: Collection[str]) -> frozenset[str]:
    """Content words with a capital in mid-sentence. German has them for every noun, which may be
    told in other words: none there."""
    spoken = folded_words(part)
    german, english = (sum(word in stop_words(code) for word in spoken) for code in LANGUAGES)
    if german > english:
        return frozenset()
    found = (fold(match[1]) for match in _WORD_WITHIN.finditer(part) if match[1][0].isupper())
    return frozenset(word for word in found if word in words)


def _is_shell(text: str) -> bool:
    """Whether a message is a line for a shell: a program with options, or nearly alone."""
    words = text.split()
    if "\n" in text or "?" in text or words[0] not in _PROGRAMS | _PLAIN:
        return False
    alone = words[0] in _PROGRAMS and len(words) <= _SHELL_WORDS
    return alone or _SHELL_SIGNS.search(text) is not None


def _weight(count: int, settings: RecallSettings) -> float:
    if count == 0:
        return settings.history_weight_empty
    return settings.history_weight_short if count <= SHORT else settings.history_weight


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
