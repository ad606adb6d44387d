"""What a plan that a model made may not do, whatever the model says: rules on a whole plan. Pure.

A person's own call, or that of an agent in a review, is not judged here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from memory_mcp.core.errors import RefusedError
from memory_mcp.core.frontmatter import Loaded, split, split_and_load
from memory_mcp.core.metadata import metadata
from memory_mcp.core.note import Json
from memory_mcp.core.private import hide, is_open, strip
from memory_mcp.core.words import folded_words
from memory_mcp.curate.compare.loss import seen
from memory_mcp.curate.plans.plan import Change

MOST_NOTES = 12
"""Notes that one plan may change; a text has something to say about so many at most."""

FREE_WORDS = 5
"""Words that may always go from a page: in a short one, the correction of a value is a large
share."""

_OWN_KINDS = ("memory", "wiki")
_LONG_LINE = 40  # characters from which a line is no phrase that stands in many places by itself
_FRAME = "<memory["
_KEPT_BY_TOOLS = frozenset({"updated"})


@dataclass(frozen=True, slots=True)
class Limits:
    """`share`: of its words that a page, and all pages of a run together, may lose."""

    share: float
    notes: int = MOST_NOTES


def check_plan(
    changes: Sequence[Change],
    limits: Limits,
    earlier: Sequence[Change] = (),
    instructions: str = "",
) -> None:
    """Raise RefusedError, in one sentence that names the note, for a plan that a model may not
    have carried out.

    `earlier` are the changes that models have had made in the same run; `instructions` is what
    the model was told to do, which must not turn up in a note.
    """
    if len(changes) > limits.notes:
        raise RefusedError(
            f"The plan changes {len(changes)} notes, and at most {limits.notes} are changed at"
            " once."
        )
    for change in changes:
        _check_place(change)
        _check_text(change)
        _check_header(change)
        _check_private(change)
        _check_said(change, instructions)
    check_loss(changes, limits.share, earlier)


def check_loss(changes: Sequence[Change], share: float, earlier: Sequence[Change] = ()) -> None:
    """Raise RefusedError where a page loses more than `share` of its words, or all pages of the
    run together do. Text that moved to another page of the plan is not lost."""
    for change in changes:
        lost, had = removed(change, changes)
        free = 0 if change.after is None else min(FREE_WORDS, had // 2)
        if lost > max(free, share * had):
            raise RefusedError(
                f"{change.reference} would lose {lost} of its {had} words"
                f" ({lost / had:.0%}), and at most {share:.0%} may go."
            )
    whole = _net([*earlier, *changes])
    counts = [removed(change, whole) for change in whole]
    lost, had = sum(count[0] for count in counts), sum(count[1] for count in counts)
    if lost > max(FREE_WORDS, share * had):
        raise RefusedError(
            f"The run would have taken {lost} of {had} words ({lost / had:.0%}) from the notes it"
            f" changes, and at most {share:.0%} may go."
        )


def removed(change: Change, changes: Iterable[Change]) -> tuple[int, int]:
    """(words of a page that no page of the plan has any more, words that the page had).

    Words count as often as they stand there, without private parts: what is hidden is lost to its
    readers, and so is what stands in a comment now and did not. A word that another page of the
    plan gains may be the one that this page loses.
    """
    others = [other for other in changes if other.spot != change.spot]
    counts = [_removed(change, others, words) for words in (_words, _seen_words)]
    return max(gone for gone, _ in counts), counts[0][1]


def _removed(
    change: Change, others: Iterable[Change], words: Callable[[bytes | None], Counter[str]]
) -> tuple[int, int]:
    had = words(change.before)
    gone = had - words(change.after)
    for other in others:
        gone -= words(other.after) - words(other.before)
    return gone.total(), had.total()


def _net(changes: Iterable[Change]) -> list[Change]:
    """Each note once, from what it was at first to what it is in the end."""
    nets: dict[tuple[str, str], Change] = {}
    for change in changes:
        key = (change.spot.source.id, change.spot.path)
        known = nets.get(key)
        # Somebody else's change in between is not the run's.
        first = change.before if known is None or known.after != change.before else known.before
        nets[key] = Change(change.spot, first, change.after)
    return list(nets.values())


def _check_place(change: Change) -> None:
    if change.spot.source.kind not in _OWN_KINDS:
        raise RefusedError(
            f"{change.reference} is in a read-only vault; nothing there is changed."
        )


def _check_text(change: Change) -> None:
    if change.after is None:
        return
    try:
        text = change.after.decode("utf-8")
    except UnicodeDecodeError:
        raise RefusedError(f"{change.reference} would not be text any more.") from None
    if not strip(split(text).body).strip():
        raise RefusedError(f"{change.reference} would be empty.")


def _check_header(change: Change) -> None:
    old, new = _header(change.before), _header(change.after)
    if new.state == "broken" and old.state != "broken":
        raise RefusedError(f"The header of {change.reference} could not be read any more.")
    before, after = old.values, new.values
    _check_arrival(change, before, after)
    if change.after is None:
        return
    gone = [key for key in before if key not in after and key not in _KEPT_BY_TOOLS]
    if gone:
        raise RefusedError(f"{change.reference} would lose {', '.join(gone)} from its header.")
    if _is_outside(before) and not _is_outside(after):
        raise RefusedError(f"{change.reference} comes from outside, and that mark must stay.")


def _check_arrival(change: Change, before: Mapping[str, Json], after: Mapping[str, Json]) -> None:
    """What brings a note into conversations unasked, and what keeps it in the inbox, is for a
    person to say."""
    old, new = metadata(before), metadata(after)
    if old.pinned != new.pinned:
        raise RefusedError(f"{change.reference} would {_as('be pinned', new.pinned)}.")
    if old.seed != new.seed or set(old.triggers) != set(new.triggers):
        raise RefusedError(
            f"metadata.seed and metadata.triggers of {change.reference} would change, which only"
            " a person may do."
        )
    if before.get("wiki_promote") != after.get("wiki_promote"):
        raise RefusedError(
            f"wiki_promote of {change.reference} would change, which only a person may do."
        )


def _as(text: str, wanted: bool) -> str:
    return f"{text if wanted else 'no longer ' + text}, which only a person may do"


def _check_private(change: Change) -> None:
    before, after = _text(change.before), _text(change.after)
    parts = Counter(hide(before)[1])
    if parts - Counter(hide(after)[1]):
        raise RefusedError(f"{change.reference} would lose private parts.")
    if is_open(after) and not is_open(before):
        raise RefusedError(
            f"{change.reference} would get a private part without an end, which hides the rest."
        )


def _check_said(change: Change, instructions: str) -> None:
    """A model that repeats itself, or what it was told, has nothing to say about a note."""
    before, after = Counter(_lines(_text(change.before))), Counter(_lines(_text(change.after)))
    if any(count > max(1, before[line]) for line, count in after.items()):
        raise RefusedError(f"{change.reference} would say the same line more than once.")
    told = set(_lines(instructions))
    if any(line in told for line in after.keys() - before.keys()):
        raise RefusedError(f"{change.reference} would get a line of the instructions.")
    if _text(change.after).casefold().count(_FRAME) > _text(change.before).casefold().count(
        _FRAME
    ):
        raise RefusedError(f"{change.reference} would get the frame that notes are shown in.")


def _lines(text: str) -> list[str]:
    lines = (line.strip().casefold() for line in text.splitlines())
    return [line for line in lines if len(line) >= _LONG_LINE and line.count(" ") > 4]


def _header(data: bytes | None) -> Loaded:
    return split_and_load(_text(data))[1]


def _is_outside(values: Mapping[str, Json]) -> bool:
    origin = metadata(values).provenance
    return origin is not None and not origin.trusted


def _text(data: bytes | None) -> str:
    return "" if data is None else data.decode("utf-8", "replace")


def _words(data: bytes | None) -> Counter[str]:
    return Counter(folded_words(strip(_text(data))))


def _seen_words(data: bytes | None) -> Counter[str]:
    parts = split(_text(data))
    return Counter(folded_words(strip(parts.raw_header_with_fences + seen(parts.body))))
