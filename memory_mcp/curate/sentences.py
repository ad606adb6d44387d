"""Whether two texts state the same, sentence for sentence: strict, since a "yes" drops a text.

Two sentences agree where their parts hold the same words, values and signs in the same order,
each with what binds it (`before 8:00` is not `after 8:00`). Three rearrangements change nothing:
a part that begins with a preposition comes first, a date stands elsewhere, and items that each
have a value of their own are listed in another order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import regex

from memory_mcp.core.fold import spelled_out
from memory_mcp.curate.concrete import Token, language_of, tokens
from memory_mcp.curate.lexicon import BINDING, JOINING, LEANING, LIGHT, OF_TIME, OWNING, RETRACTING

_BULLET = regex.compile(r"(?P<indent>[ \t]*)(?:[-*+•])[ \t]+(?:\[(?P<box>.)\][ \t]+)?")
_HEADING = regex.compile(r"[ \t]*(#{1,6})[ \t]+")
_END = regex.compile(
    r";\s+|(?<![.\s]\p{L}|\b\d{1,2}|\b(?:Dr|Fr|Hr|Mr|Mrs|Ms|Nr|No|St|bzw|ca|usw|etc|vs))"
    r"[.!?]+[*_\"“”'’)]*\s+"
)
_COLON = regex.compile(r":(?=\s)")
_TIMES = ("date", "time")
_VALUES = ("number", *_TIMES)
_BINDING, _LEANING, _RETRACTING = (
    frozenset(spelled_out(word) for word in words) for words in (BINDING, LEANING, RETRACTING)
)
_LONGEST = 60  # tokens of a part in which a rearrangement is looked for
_LEAST = 3  # tokens of a sentence that says something without the one before it


@dataclass(frozen=True, slots=True)
class Bound:
    """A token and the words before it that change what it does."""

    binder: str
    value: str
    kind: str
    capital: bool = field(default=False, compare=False)

    @property
    def moves(self) -> bool:
        """Whether a part that begins here may come first."""
        return bool(self.binder) and self.binder.split()[-1] not in OWNING


Part = tuple[Bound, ...]


@dataclass(frozen=True)
class Sentence:
    """A sentence, list item or heading. `lead` is what it stands under."""

    parts: tuple[Part, ...]
    lead: tuple[str, ...]
    text: str
    head: int = 0
    """How many tokens of the first part stand before a colon."""
    bullet: int = -1
    """Indentation of a list item; -1 for others."""

    @cached_property
    def values(self) -> frozenset[str]:
        """All that is in it."""
        return frozenset(item.value for part in self.parts for item in part)

    @cached_property
    def words(self) -> frozenset[str]:
        """The same with the words that bind."""
        binders = (word for part in self.parts for item in part for word in item.binder.split())
        return self.values | frozenset(binders)

    @cached_property
    def listed(self) -> tuple[object, ...]:
        """Its parts in order, but those with words and a value of their own as a set."""
        own, rest = Counter[Part](), list[Part]()
        first, *others = self.parts or ((),)
        for part in (first[: self.head], first[self.head :], *others):
            kinds = {item.kind in _VALUES for item in part}
            if kinds == {True, False}:
                own[part] += 1
            else:
                rest.append(part)
        return frozenset(own.items()), tuple(rest)


def sentences(text: str, language: str | None = None) -> tuple[Sentence, ...]:
    """The sentences of a note's text, items of a flat list in a fixed order."""
    code = language_of(text) if language is None else language
    return tuple(_ordered(list(_read(text, code))))


def agree(new: Sequence[Sentence], old: Sequence[Sentence]) -> bool:
    """Whether the new sentences are some of the old ones, one after the other, and nothing around
    them can take them back or be what they mean."""
    if not new:
        return False
    starts = range(len(old) - len(new) + 1)
    return any(_agree_at(new, old, start) for start in starts)


def _agree_at(new: Sequence[Sentence], old: Sequence[Sentence], start: int) -> bool:
    end = start + len(new)
    pairs = zip(new, old[start:end], strict=True)
    if not all(_same_lead(one, other) and equal(one, other) for one, other in pairs):
        return False
    around = [*old[:start], *old[end:]]
    if not around:
        return True
    if _cuts_list(old, start) or _cuts_list(old, end):
        return False
    if any(sentence.words & _RETRACTING for sentence in around):
        return False
    return start == 0 or _stands_alone(old[start])


def _stands_alone(sentence: Sentence) -> bool:
    size = sum(map(len, sentence.parts))
    return size >= _LEAST and not sentence.words & _LEANING


def _cuts_list(old: Sequence[Sentence], place: int) -> bool:
    return 0 < place < len(old) and old[place].bullet >= 0


def _same_lead(new: Sentence, old: Sentence) -> bool:
    return new.lead == old.lead or (not new.lead and set(old.lead) <= old.values)


def equal(new: Sentence, old: Sentence) -> bool:
    """Whether two sentences say the same; see the module."""
    if len(new.parts) != len(old.parts) or new.values != old.values:
        return False
    pairs = zip(new.parts, old.parts, strict=True)
    return all(_same(one, other) for one, other in pairs) or new.listed == old.listed


def _same(new: Part, old: Part) -> bool:
    if new == old:
        return True
    if len(new) > _LONGEST or Counter(new) != Counter(old):
        return False
    first, second = _without_time(new), _without_time(old)
    return first == second or _fronted(new, old) or _fronted(old, new)


def _without_time(part: Part) -> Part:
    """A part without its one date and its one time, which may stand anywhere."""
    kinds = Counter(item.kind for item in part if not item.binder)
    free = {kind for kind in _TIMES if kinds[kind] == 1}
    return tuple(item for item in part if item.binder or item.kind not in free)


def _fronted(moved: Part, plain: Part) -> bool:
    """Whether `moved` is `plain` with a part of it put first; in German the verb then stands
    second."""
    if not moved[0].moves and moved[0].kind not in _TIMES:
        return False
    for end in range(1, len(moved)):
        front, rest = moved[:end], moved[end:]
        if _inserted(front, rest, plain):
            return True
        verb = rest[:1]
        if verb[0].kind == "word" and not verb[0].binder:
            for place in range(len(plain)):
                if plain[place : place + 1] == verb:
                    left = plain[:place] + plain[place + 1 :]
                    if _inserted(front, rest[1:], left):
                        return True
    return False


def _inserted(front: Part, rest: Part, plain: Part) -> bool:
    return any(rest[:at] + front + rest[at:] == plain for at in range(1, len(rest) + 1))


def _ordered(found: list[Sentence]) -> Iterator[Sentence]:
    """Items of each flat list sorted; those of a nested one say by their order whose they are."""
    at = 0
    while at < len(found):
        end = at + 1
        if found[at].bullet >= 0:
            while (
                end < len(found) and found[end].bullet >= 0 and found[end].lead == found[at].lead
            ):
                end += 1
        group = found[at:end]
        flat = len({item.bullet for item in group}) == 1
        yield from sorted(group, key=lambda item: repr(item.parts)) if flat else group
        at = end


def _read(text: str, language: str) -> Iterator[Sentence]:
    headings: dict[int, tuple[str, ...]] = {}
    lead: tuple[str, ...] = ()
    listed = False
    for line in text.splitlines():
        if not line.strip():
            lead, listed = ((), False) if listed else (lead, listed)
            continue
        above = tuple(value for level in sorted(headings) for value in headings[level])
        if heading := _HEADING.match(line):
            level = len(heading[1])
            headings = {key: value for key, value in headings.items() if key < level}
            above = tuple(value for key in sorted(headings) for value in headings[key])
            made = _sentence(line[heading.end() :], language, above)
            headings[level] = _all_values(made)
            lead, listed = (), False
            yield made
        elif bullet := _BULLET.match(line):
            listed = True
            made = _sentence(line[bullet.end() :], language, above + lead)
            box = (Bound("", f"[{bullet['box']}]", "sign"),) if bullet["box"] else ()
            parts = (box, *made.parts) if box else made.parts
            yield replace(made, parts=parts, bullet=len(bullet["indent"].expandtabs(4)))
        else:
            found = [_sentence(part, language, above) for part in _split(line)]
            found = [item for item in found if item.parts]
            lead = _all_values(found[-1]) if found and line.rstrip().endswith(":") else ()
            listed = False
            yield from found


def _split(line: str) -> list[str]:
    """A line in sentences, each with its end."""
    cuts = [0, *(match.end() for match in _END.finditer(line)), len(line)]
    return [line[a:b] for a, b in pairwise(cuts) if line[a:b].strip()]


def _all_values(sentence: Sentence) -> tuple[str, ...]:
    return tuple(item.value for part in sentence.parts for item in part)


def _sentence(text: str, language: str, lead: tuple[str, ...]) -> Sentence:
    parts: list[list[Token]] = [[]]
    for token in tokens(text, language):
        if token.kind == "break" or token.value in JOINING:
            parts.append([])
        else:
            parts[-1].append(token)
    bound = [made for part in parts if (made := tuple(_bound(part)))]
    colon = _COLON.search(text)
    head = tuple(_bound([t for t in parts[0] if colon and t.start < colon.start()]))
    return Sentence(tuple(bound), lead, text.strip(), len(head))


def _bound(part: Sequence[Token]) -> Iterator[Bound]:
    """The tokens that count, each with the binding words before it."""
    binders: list[str] = []
    for token in part:
        plain = token.value
        if token.kind == "word" and plain in _BINDING:
            binders.append(plain)
        elif token.kind != "word" or plain not in LIGHT:
            if token.kind in ("date", "time"):
                binders = [word for word in binders if word not in OF_TIME]
            kind = "word" if token.kind == "name" else token.kind
            capital = token.kind == "name" or token.is_capital
            yield Bound(" ".join(binders), plain, kind, capital)
            binders = []
    for word in binders:
        yield Bound("", word, "word")
