"""What some models want in front of a text: they were trained to tell questions from passages."""

from __future__ import annotations

_PREFIXES = {
    "e5-": ("query: ", "passage: "),
    "nomic-embed-text": ("search_query: ", "search_document: "),
}
_INSTRUCTED = "instruct"  # these take a task instead; without one they are best left bare


def prefixes(model: str) -> tuple[str, str]:
    """What is put before a question and before a passage, by the name of a model."""
    name = model.casefold().rpartition("/")[2]
    if _INSTRUCTED in name:
        return "", ""
    return next((pair for part, pair in _PREFIXES.items() if part in name), ("", ""))
