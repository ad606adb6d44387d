"""One note: `show`, `write`, `delete`, `link`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from memory_mcp.cli import render
from memory_mcp.cli.asking import show_engine, tool
from memory_mcp.cli.context import Setup, as_json, pass_setup
from memory_mcp.cli.running import BRIEFLY, WORDS, with_memory
from memory_mcp.core.config import Config
from memory_mcp.core.errors import InputError, NotFoundError, RefusedError, SlugError
from memory_mcp.core.note import Json, Passage
from memory_mcp.core.reference import GLOBAL, PROJECT, join, split
from memory_mcp.core.slug import RULE, check_slug, shown

if TYPE_CHECKING:
    from memory_mcp.app import App
    from memory_mcp.search.read import Reading

INBOX = "memory"
"""The source that is written to."""

INBOXES = (f"{GLOBAL}/", f"{PROJECT}/")
"""How a name begins that says which inbox is meant."""

content_option = click.option(
    "--content", metavar="TEXT", help="The text; else it is read from standard input."
)
scope_option = click.option(
    "--scope",
    type=click.Choice(["global", "project"]),
    help="Whose inbox; else the project's where there is one.",
)
revision_option = click.option(
    "--if-revision", metavar="REV", help="Only if the note still has this revision."
)


@click.command()
@click.argument("reference")
@click.option("--passages", is_flag=True, help="Show how the note is cut for the index.")
@as_json
@pass_setup
def show(setup: Setup, reference: str, passages: bool, json_: bool) -> None:
    """Print a note as an agent gets it: private parts are left out."""
    config = setup.existing()
    if passages:
        pieces = with_memory(config, lambda app: _passages(app, reference), WORDS)
        _show_passages(pieces, json_)
        return
    found = _pages(setup, reference) or _read(config, reference)
    if json_:
        render.as_json(found)
        return
    render.verbatim(found["content"])
    for warning in found["warnings"]:
        render.remark(f"warning: {warning}")


_WHOLE = {"truncated": False, "next_offset": None}


def _pages(setup: Setup, reference: str) -> dict[str, Any] | None:
    """A whole note from the running engine, page by page; None where none runs."""
    first = tool(setup, "memory_get", WORDS, reference=reference)
    if first is None:
        return None
    parts, after = [first["content"]], first["next_offset"]
    while after is not None:
        page = tool(setup, "memory_get", None, reference=first["reference"], offset=after)
        if page is None or page["revision"] != first["revision"]:
            return None  # the engine went, or the note changed: it is read anew
        parts.append(page["content"])
        after = page["next_offset"]
    return {**first, "content": "".join(parts), **_WHOLE}


def _read(config: Config, reference: str) -> dict[str, Any]:
    """A whole note, read in this process."""
    reading, content = with_memory(config, lambda app: _whole(app, reference), WORDS)
    from memory_mcp.server.convert import get_out

    return {**get_out(reading).model_dump(mode="json"), "content": content, **_WHOLE}


async def _whole(app: App, reference: str) -> tuple[Reading, str]:
    """The first page of a note, and the text of all its pages."""
    first = await app.reader.get(reference)
    parts, after = [first.content], first.next_offset
    while after is not None:
        page = await app.reader.get(first.reference, offset=after)
        parts.append(page.content)
        after = page.next_offset
    return first, "".join(parts)


async def _passages(app: App, reference: str) -> tuple[Passage, ...]:
    source, path = app.reader.resolve(reference)
    entry = app.index.entry(source.id, path)
    if entry is None:
        raise NotFoundError(f"{source.name}/{path} is not in the index yet; try again")
    return entry.passages


def _show_passages(passages: Sequence[Passage], json_: bool) -> None:
    if json_:
        render.as_json(
            [
                {"heading": item.heading, "lines": [item.first, item.last], "text": item.text}
                for item in passages
            ]
        )
        return
    for number, item in enumerate(passages, 1):
        render.strong(f"{number}. {item.heading} (lines {item.first}-{item.last})")
        render.line(item.text)
        render.line()


@click.command()
@click.argument("slug")
@content_option
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="A tag; again for more.")
@revision_option
@scope_option
@as_json
@pass_setup
def write(
    setup: Setup,
    slug: str,
    content: str | None,
    tags: Sequence[str],
    if_revision: str | None,
    scope: str | None,
    json_: bool,
) -> None:
    """Write or replace an inbox note. A text that is replaced stays in the history."""
    config = setup.config()
    slug, text = inbox_slug(config, slug), given_text(content)
    header: dict[str, Json] | None = {"tags": list(tags)} if tags else None
    wait = None if config.writing.read_only else BRIEFLY  # a refusal lists no similar notes
    done = with_memory(
        config,
        lambda app: app.writer.write(slug, text, header, expected=if_revision, scope=scope),
        wait,
    )
    show_engine(setup, [done.reference])
    if json_:
        render.as_json(
            {
                "reference": done.reference,
                "revision": done.revision,
                "created": done.created,
                "replaced_revision": done.replaced_revision,
                "similar": [
                    {"reference": item.reference, "score": item.score} for item in done.similar
                ],
                "warnings": list(done.warnings),
            }
        )
        return
    verb = "Created" if done.created else "Replaced"
    render.line(f"{verb} {done.reference}, revision {done.revision}.")
    if done.replaced_revision:
        render.line(restorable(done.reference, done.replaced_revision))
    for item in done.similar:
        render.line(f"Similar: {item.reference} ({item.score:.2f})")
    for warning in done.warnings:
        render.remark(f"warning: {warning}")


@click.command()
@click.argument("slug")
@revision_option
@as_json
@pass_setup
def delete(setup: Setup, slug: str, if_revision: str | None, json_: bool) -> None:
    """Delete an inbox note. Its text stays in the history."""
    config = setup.existing()
    name = inbox_slug(config, slug)
    _, slash, rest = name.partition("/")
    if not is_slug(rest if slash and name.startswith(INBOXES) else name):
        raise NotFoundError(
            f"there is no inbox note {shown(name)}, since {RULE}; memory-mcp list --source memory"
            " names them all"
        )
    done = with_memory(config, lambda app: app.writer.delete(name, if_revision), None)
    show_engine(setup, [done.reference])
    if json_:
        render.as_json(
            {"reference": done.reference, "deleted": done.deleted, "revision": done.revision}
        )
    elif done.deleted:
        render.line(f"Deleted {done.reference}.")
        render.line(restorable(done.reference, done.revision or ""))
    else:
        render.line(f"There was no note {done.reference}.")


@click.command()
@click.argument("source")
@click.argument("target")
@click.option(
    "--relation", default="related", show_default=True, metavar="WORD", help="What it is to it."
)
@as_json
@pass_setup
def link(setup: Setup, source: str, target: str, relation: str, json_: bool) -> None:
    """Link the inbox note SOURCE to the note TARGET."""
    done = with_memory(
        setup.existing(), lambda app: app.writer.link(source, target, relation), WORDS
    )
    show_engine(setup, [done.reference])
    links = [{"to": item.target, "relation": item.relation} for item in done.links]
    if json_:
        render.as_json({"reference": done.reference, "revision": done.revision, "links": links})
        return
    render.line(f"{done.reference}, revision {done.revision}, links to:")
    for item in links:
        render.line(f"  {item['to']} ({item['relation']})")


def inbox_slug(config: Config, text: str) -> str:
    """The slug that a name or a reference such as memory/garden means.

    Raises RefusedError for a note of another source; whether a slug can be one is not looked at.
    """
    try:
        source, path = split(text, config.sources)
    except InputError:
        return text  # whoever takes it as a slug says what is wrong
    if source is None:
        return text
    if source != INBOX:
        raise RefusedError(
            f"{join(source, path)} is not in the inbox, and only inbox notes are written or"
            " deleted here; change this file yourself"
        )
    return path


def is_slug(text: str) -> bool:
    """Whether an inbox note can have this name."""
    try:
        check_slug(text)
    except SlugError:
        return False
    return True


def restorable(reference: str, revision: str) -> str:
    """How to get an older text back."""
    return f"The older text comes back with: memory-mcp restore {reference} {revision}".rstrip()


def given_text(content: str | None) -> str:
    """The text of `--content`, else all of standard input. Raises InputError if it is no UTF-8."""
    if content is not None:
        return content
    if sys.stdin is None:
        raise InputError("standard input is closed; give the text with --content")
    if sys.stdin.isatty():
        render.remark("Type the text; end it with Ctrl-D on a line of its own.")
    data = sys.stdin.buffer.read()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"standard input is not UTF-8 (byte {error.start}); convert the text first"
        ) from error
