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
from itertools import pairwise, takewhile

import regex

from memory_mcp.core.fold import spelled_out
from memory_mcp.curate.compare.concrete import Token, language_of, tokens
from memory_mcp.curate.compare.lexicon import (
    BINDING,
    JOINING,
    LIGHT,
    OF_TIME,
    ORDERED,
    OWNING,
    RETRACTING,
)

_BULLET = regex.compile(r"(?P<indent>[ \t]*)(?:[-*+•])[ \t]+(?:\[(?P<box>.)\][ \t]+)?")
_HEADING = regex.compile(r"[ \t]*(#{1,6})[ \t]+")
_END = regex.compile(
    r";\s+|(?<![.\s]\p{L}|\b\d{1,2}|\b(?:Dr|Fr|Hr|Mr|Mrs|Ms|Nr|No|St|bzw|ca|usw|etc|vs))"
    r"[.!?]+[*_\"“”'’)]*\s+"
)
_FENCE = "```"
_COLON = regex.compile(r":(?=\s)")
_TIMES = ("date", "time")
_VALUES = ("number", *_TIMES)
_BINDING, _ORDERED, _RETRACTING = (
    frozenset(spelled_out(word) for word in words) for words in (BINDING, ORDERED, RETRACTING)
)
_LONGEST = 60  # tokens of a part in which a rearrangement is looked for


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
    heading: bool = False
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
    def listed(self) -> tuple[object, ...] | None:
        """Its parts in order, but things of which each has a number before it as a set; None where
        another part has a value, for then it may say whose they are."""
        first, *others = self.parts or ((),)
        parts = (first[self.head :], *others)
        own = list(takewhile(_is_counted, parts))
        rest = parts[len(own) :]
        if not own or any(item.kind in _VALUES for part in rest for item in part):
            return None
        return first[: self.head], frozenset(Counter(own).items()), rest


def _is_counted(part: Part) -> bool:
    return len(part) > 1 and part[0].kind == "number" and not part[0].binder


def sentences(text: str, language: str | None = None) -> tuple[Sentence, ...]:
    """The sentences of a note's text, items of a flat list in a fixed order."""
    code = language_of(text) if language is None else language
    found = list(_read(text, code))
    return tuple(found if _FENCE in text else _ordered(found))  # the order of code always counts


def agree(new: Sequence[Sentence], old: Sequence[Sentence]) -> bool:
    """Whether the new sentences are those with which the old text begins, or all of it, and
    nothing after them speaks of the same or may take them back."""
    start = 0
    while True:
        if _agree_at(new, old, start):
            return True
        if start == len(old) or not old[start].heading:
            return False
        start += 1  # a heading that says no more than what stands under it: see `_same_lead`


def _agree_at(new: Sequence[Sentence], old: Sequence[Sentence], start: int) -> bool:
    end = start + len(new)
    if not new or end > len(old):
        return False
    pairs = zip(new, old[start:end], strict=True)
    if not all(_same_lead(one, other) and equal(one, other) for one, other in pairs):
        return False
    rest = old[end:]
    if rest and rest[0].bullet >= 0:  # a list with fewer items is another list
        return False
    said = frozenset[str]().union(*(sentence.values for sentence in new))
    return not any(takes_back(sentence) or said & sentence.values for sentence in rest)


def takes_back(sentence: Sentence) -> bool:
    """Whether it may deny, date or weaken what stands beside it or under it."""
    dated = any(item.kind in _TIMES for part in sentence.parts for item in part)
    return dated or bool(sentence.words & _RETRACTING)


def _same_lead(new: Sentence, old: Sentence) -> bool:
    return new.lead == old.lead or (not new.lead and set(old.lead) <= old.values)


def equal(new: Sentence, old: Sentence) -> bool:
    """Whether two sentences say the same; see the module."""
    if len(new.parts) != len(old.parts) or new.values != old.values:
        return False
    pairs = zip(new.parts, old.parts, strict=True)
    if all(_same(one, other) for one, other in pairs):
        return True
    return new.listed is not None and new.listed == old.listed


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
        yield from sorted(group, key=lambda item: repr(item.parts)) if _is_set(group) else group
        at = end


def _is_set(group: Sequence[Sentence]) -> bool:
    """Whether the order of these items says nothing."""
    words = frozenset[str]().union(*(item.words | frozenset(item.lead) for item in group))
    return len({item.bullet for item in group}) == 1 and not words & _ORDERED


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
            made = replace(_sentence(line[heading.end() :], language, above), heading=True)
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
    for place, token in enumerate(part):
        plain = token.value
        if token.kind == "word" and plain in _BINDING:
            binders.append(plain)
        elif not _is_light(part, place):
            if token.kind in ("date", "time"):
                binders = [word for word in binders if word not in OF_TIME]
            kind = "word" if token.kind == "name" else token.kind
            capital = token.kind == "name" or token.is_capital
            yield Bound(" ".join(binders), plain, kind, capital)
            binders = []
    for word in binders:
        yield Bound("", word, "word")


def _is_light(part: Sequence[Token], place: int) -> bool:
    """Whether a sentence says the same without a word: not so the A of plan A, or a variable."""
    token = part[place]
    if token.kind != "word" or token.value not in LIGHT or (place and token.is_capital):
        return False
    following = part[place + 1 : place + 2]
    return token.value != "a" or any(item.kind == "word" for item in following)
