"""Values in the wrong form, and what is done to the arguments of a request with them."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

NUMBERS = (
    0, -1, -0.0, 1.5, 51, 2**31, 2**63, 2**64, 10**30, -(10**30), 10**400, 1e308, 5e-324,
    float("nan"), float("inf"), float("-inf"),
)  # fmt: skip
NUMBERS_AS_TEXT = (
    "0", "3", " 7 ", "3.0", "-1", "1e3", "1e999", "NaN", "Infinity", "0x10", "1_0", "٣",
    "9" * 5000, "+2", "½", "1,5", ".5", "5.", "--1",
)  # fmt: skip
FLAGS = (True, False, "true", "True", "yes", "1", "off", 1, 0)
LISTS: tuple[Any, ...] = (
    '["wiki"]',
    "wiki, memory",
    "[",
    '[["a"]]',
    [None, ""],
    [[]],
    [1, 2.5, True],
    ["\ud83d"],
)
HALVES = ("\ud800", "\udfff", "a\ud83db", "\udc00\ud800", "\ud83d\ude00\ud83d")
CONTROLS = (
    "\x00",
    "\x01\x1f",
    "\x7f\x80\x9f",
    "\u2028\u2029",
    "\ufeff",
    "\ufffe\uffff",
    "\x1b[2J",
    "\r",
)
ODD_IDS: tuple[Any, ...] = (None, True, False, 1.5, -0.5, [], {}, [1], {"id": 1}, float("nan"))
STRANGE_IDS = (
    2**31, 2**53, 2**64, 10**40, -1, -(2**63), "", "é", "\ud800", "\x00", "null", " ",
    "a" * 5000, "\u2028",
)  # fmt: skip
DEEPEST = 660
"""Levels of the deepest value."""


class Twice(dict[str, Any]):
    """An object whose keys may stand twice when it is written as JSON."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self._pairs = pairs

    def items(self) -> Any:
        """All pairs in order."""
        return self._pairs


class Bender:
    """Bends the arguments of requests."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self._ways: tuple[tuple[str, Callable[[dict[str, Any]], None]], ...] = (
            (
                "nothing as a value",
                lambda given: self._put(given, self._one(None, "null", "", "None")),
            ),
            ("number as text", lambda given: self._put(given, self.rng.choice(NUMBERS_AS_TEXT))),
            (
                "flag or list as text",
                lambda given: self._put(given, self.rng.choice((*FLAGS, *LISTS))),
            ),
            ("extreme number", lambda given: self._put(given, self.rng.choice(NUMBERS))),
            ("wrong type", lambda given: self._put(given, self.odd())),
            ("nested deeply", lambda given: self._put(given, self._deep())),
            ("key twice", self._twice),
            ("unknown argument", self._unknown),
            ("misspelt argument", self._misspell),
            ("camelCase", self._camel),
            ("half a letter", lambda given: self._put(given, self._within(HALVES))),
            ("control character", lambda given: self._put(given, self._within(CONTROLS))),
            ("left out", lambda given: given.pop(self._name(given), None)),
            ("progress token", self._token),
            ("wrong inside the header", self._header),
        )

    def bend(self, given: dict[str, Any]) -> str:
        """Change the arguments in one way, in place; the name of that way."""
        name, change = self.rng.choice(self._ways)
        change(given)
        return name

    def odd(self) -> Any:
        """A value of any type."""
        return self.rng.choice(
            (
                None, True, 0, -7, 1.5, "", "text", "null", [], {}, [None], {"a": []}, [[1]],
                {"": ""}, "\ud800", "5", [{}] * 50, {"to": 5}, "x" * 3000, float("nan"), 10**25,
            )
        )  # fmt: skip

    def _one(self, *values: Any) -> Any:
        return self.rng.choice(values)

    def _name(self, given: dict[str, Any]) -> str:
        names = [name for name in given if name != "_meta"]
        return self.rng.choice(names) if names else "limit"

    def _put(self, given: dict[str, Any], value: Any) -> None:
        optional = (
            "limit",
            "offset",
            "min_score",
            "source",
            "frontmatter",
            "if_revision",
            "scope",
            "tag",
        )
        name = self.rng.choice(optional) if self.rng.random() < 0.3 else self._name(given)
        given[name] = value

    def _within(self, parts: tuple[str, ...]) -> str:
        return f"note{self.rng.choice(parts)}{self._one('', ' and more', '/x')}"

    def _deep(self) -> Any:
        value: Any = self._one(1, "x", None)
        as_list = self.rng.random() < 0.5
        for _ in range(self._one(5, 25, 190, 260, 600, DEEPEST)):
            value = [value] if as_list else {"a": value}
        return value

    def _twice(self, given: dict[str, Any]) -> None:
        name = self._name(given)
        pairs = [*given.items(), (name, self.odd()), (name, given.get(name))]
        self.rng.shuffle(pairs)
        given["frontmatter"] = Twice(pairs)

    def _unknown(self, given: dict[str, Any]) -> None:
        names = (
            "zzz",
            "",
            "max_results",
            "path",
            "x" * 500,
            "\x00",
            "__class__",
            "ctx",
            "self",
            "é",
            "a\nb",
        )
        given[self.rng.choice(names)] = self.odd()

    def _misspell(self, given: dict[str, Any]) -> None:
        name = self._name(given)
        place = self.rng.randrange(len(name)) if name else 0
        wrong = name[:place] + name[place + 1 :]
        given[wrong] = given.pop(name, 1)

    def _camel(self, given: dict[str, Any]) -> None:
        name = self._name(given)
        first, *rest = name.split("_")
        other = (
            first + "".join(part.title() for part in rest)
            if rest
            else self._one(name.upper(), f"_{name}")
        )
        given[other] = given.get(name, 1) if self.rng.random() < 0.3 else given.pop(name, 1)

    def _token(self, given: dict[str, Any]) -> None:
        meta = given.get("_meta")
        given["_meta"] = {**(meta if isinstance(meta, dict) else {}), "progressToken": self.odd()}

    def _header(self, given: dict[str, Any]) -> None:
        keys = (
            "title",
            "tags",
            "aliases",
            "links",
            "pinned",
            "created",
            "updated",
            "source",
            "",
            "a\nb",
            "k" * 300,
        )
        given["frontmatter"] = {
            self.rng.choice(keys): self.odd(),
            self.rng.choice(keys): self._deep(),
        }
