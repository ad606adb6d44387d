"""Terms and their numbers, for documents that are kept as numbers."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable

from memory_mcp.index.sequence import GAP, Numbers


class Vocabulary:
    """The terms of an index. A number that nobody needs any more goes to a later term."""

    def __init__(self) -> None:
        self._terms = [""]
        self._ids = {"": GAP}
        self._free: list[int] = []
        self._joined: str | None = None

    def __len__(self) -> int:
        """One more than the greatest number."""
        return len(self._terms)

    def numbers(self, words: Iterable[str]) -> Numbers:
        """A document as numbers: GAP for "", and a new number for a term that has none."""
        ids = self._ids
        return array("i", [ids[word] if word in ids else self._new(word) for word in words])

    def _new(self, term: str) -> int:
        if self._free:
            number = self._free.pop()
            self._terms[number] = term
        else:
            number = len(self._terms)
            self._terms.append(term)
        self._ids[term] = number
        self._joined = None
        return number

    def forget(self, number: int) -> None:
        """No document has this term any more."""
        del self._ids[self._terms[number]]
        self._free.append(number)
        self._joined = None

    def known(self, forms: Collection[str]) -> list[int]:
        """The numbers of those of the forms that are there, each once. "" is none: a mark that
        stands alone (an Indic nukta) folds to nothing."""
        return [number for form in set(forms) if (number := self._ids.get(form, GAP)) != GAP]

    def term(self, number: int) -> str:
        """The term that has a number; "" for GAP."""
        return self._terms[number]

    def words(self, document: Numbers) -> tuple[str, ...]:
        """The words of a document in order, "" for GAP."""
        terms = self._terms
        return tuple([terms[number] for number in document])

    def holding(self, part: str) -> list[str]:
        """The terms that hold `part` anywhere, each once: looked for in one long text of all."""
        if self._joined is None:  # no term has a line break in it
            self._joined = "\n".join(["", *filter(None, self._ids), ""])
        text, found = self._joined, []
        place = text.find(part)
        while place > 0:
            end = text.index("\n", place)
            found.append(text[text.rindex("\n", 0, place) + 1 : end])
            place = text.find(part, end)
        return found
