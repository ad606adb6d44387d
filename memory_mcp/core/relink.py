"""Letting links lead to another note: only the characters that name it change, in the writer's
own style. Pure text; what a link means is asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from urllib.parse import quote, unquote

from memory_mcp.core.link_places import LinkPlace, link_places
from memory_mcp.core.links import local_link, named_note, wikilink
from memory_mcp.core.note import Link, LinkKind
from memory_mcp.core.reference import join
from memory_mcp.core.yaml_writer import scalar

_ENDING = re.compile(r"\.(?:md|markdown)\Z", re.I)
_BAR = re.compile(r"\\?\|")
_UNSAFE = re.compile(r"[\s()<>#?%\\]")
_UNSAFE_BRACKETED = re.compile(r"[<>#?%\\\r\n]")

Wanted = Callable[[Link], Iterable[str] | None]
"""What a link is to name instead, the best first; None: it is right as it is."""


@dataclass(frozen=True, slots=True)
class Relinked:
    """The text with other names in its links; `failed` are the links that stayed though they
    should not have."""

    text: str
    changed: tuple[Link, ...]
    failed: tuple[Link, ...]


def relink(text: str, wanted: Wanted) -> Relinked:
    """Name other notes in the links of a note. Every byte that names none stays."""
    changed: list[Link] = []
    failed: list[Link] = []
    parts: list[str] = []
    targets: list[str] = []
    at = 0
    for place in link_places(text):
        named, new = _chosen(place, text[place.start : place.end], wanted(place.link))
        targets.append(named)
        if new is None and named:
            continue
        if new is None:
            failed.append(place.link)
            continue
        changed.append(place.link)
        parts += (text[at : place.start], new)
        at = place.end
    done = Relinked("".join([*parts, text[at:]]), tuple(changed), tuple(failed))
    if changed and not _names(done.text, targets):  # a bracket beside a link reads another way
        return Relinked(text, (), tuple(changed + failed))
    return done


def _chosen(place: LinkPlace, written: str, names: Iterable[str] | None) -> tuple[str, str | None]:
    """(the note's name, what is written for it); without the second the link stays, and without
    both it should not have."""
    if names is None:
        return place.link.target, None
    for name in names:
        new = _spelled(place, written, name)
        if new is not None:
            return name, new
    return "", None


def _names(text: str, targets: Iterable[str]) -> bool:
    """Whether these are the targets of the links of a text; an empty one may be any."""
    places = link_places(text)
    wanted = list(targets)
    return len(places) == len(wanted) and all(
        not target or _plain(place.link.target) == _plain(target)
        for place, target in zip(places, wanted, strict=True)
    )


def other_names(
    link: Link, here: tuple[str, str], old: tuple[str, str], new: tuple[str, str]
) -> Iterator[str]:
    """How a link may name a note at another place, its own style first: a bare name, a path, a
    relative path or a full reference. All three are (name of the source, path): of the linking
    note, of the place that was named, and of the one that is to be."""
    reference, relative = join(*new), _relative(here[1], new[1])
    styles: dict[str, None] = {}
    own = _own_style(link.target.strip(), link.kind, here, old, new)
    usual = (relative, new[1]) if link.kind == "markdown" else (new[1], relative)
    paths = usual if here[0] == new[0] else ()
    styles.update(dict.fromkeys((own, *paths, reference)))
    yield from (name for name in styles if name)


def _own_style(
    written: str,
    kind: LinkKind,
    here: tuple[str, str],
    old: tuple[str, str],
    new: tuple[str, str],
) -> str:
    written = unquote(written) if "%" in written else written
    folded = written.strip("/").casefold()
    if written.startswith(("./", "../")):
        relative = _relative(here[1], new[1])
        bare = written.startswith("./") and not relative.startswith("../")
        return f"./{relative}" if bare else relative
    if folded == join(*old).casefold():
        return join(*new)
    if "/" not in written.strip("/") and kind != "markdown":
        return new[1].rpartition("/")[2]
    if folded == old[1].casefold():
        return ("/" if written.startswith("/") else "") + new[1]
    if kind == "markdown":
        return _relative(here[1], new[1])
    depth = written.strip("/").count("/") + 1
    return "/".join(new[1].split("/")[-depth:])


def _relative(path: str, aim: str) -> str:
    """The way from the folder of a note to another one."""
    folders, goal = path.split("/")[:-1], aim.split("/")
    same = 0
    while same < min(len(folders), len(goal) - 1) and folders[same] == goal[same]:
        same += 1
    return "/".join([".."] * (len(folders) - same) + goal[same:])


def _spelled(place: LinkPlace, written: str, name: str) -> str | None:
    """What stands in the place of `written` to name a note; None where it cannot be said there."""
    match place.form:
        case "wikilink":
            return _in_wikilink(place.link, written, name)
        case "address":
            return _in_address(place.link, written, name)
        case "scalar" | "flow":
            return _in_scalar(place.link, written, name, flow=place.form == "flow")


def _in_wikilink(link: Link, written: str, name: str) -> str | None:
    bar = _BAR.search(written)
    end = bar.start() if bar else len(written)
    new = _renamed(written[:end], name) + written[end:]
    read = wikilink(new)
    return new if read is not None and _same_but(link, read, name) else None


def _in_address(link: Link, written: str, name: str) -> str | None:
    bracketed = written.startswith("<")
    inner = written[1:-1] if bracketed else written
    unsafe = _UNSAFE_BRACKETED if bracketed else _UNSAFE
    encoded = quote(name, safe="/") if re.search(r"%[C-F]", inner, re.I) else name
    if encoded is name:
        encoded = unsafe.sub(lambda match: quote(match[0], safe=""), name)
    if encoded and re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", encoded):
        encoded = f"./{encoded}"
    new = _renamed(inner, encoded)
    read = local_link(new)
    if read is None or not _same_but(link, read, name):
        return None
    return f"<{new}>" if bracketed else new


def _in_scalar(link: Link, written: str, name: str, *, flow: bool) -> str | None:
    mark = written[:1] if written[:1] in ("'", '"') else ""
    inner = written[1:-1] if mark else written
    new = _renamed(inner, name)
    read = named_note(new)
    if read is None or not _same_but(link, read, name):
        return None
    if mark and mark not in new and "\\" not in new:
        return f"{mark}{new}{mark}"
    return scalar(new, flow=flow)


def _renamed(written: str, name: str) -> str:
    """A target with its blanks, ending and heading, and another name."""
    path, mark, rest = written.partition("#")
    if "?" in path and not mark:
        path, mark, rest = path.partition("?")
    stripped = path.strip()
    if not stripped:
        return f"{name}{mark}{rest}"
    lead = path[: len(path) - len(path.lstrip())]
    trail = path[len(path.rstrip()) :]
    ending = _ENDING.search(stripped)
    return f"{lead}{name}{ending[0] if ending else ''}{trail}{mark}{rest}"


def _same_but(link: Link, read: Link, name: str) -> bool:
    """Whether a link names this note now, and the same part of it."""
    wanted = replace(link, target=name)
    return (_plain(read.target), read.heading, read.block) == (
        _plain(wanted.target),
        wanted.heading,
        wanted.block,
    )


def _plain(target: str) -> str:
    return target.removeprefix("./")
