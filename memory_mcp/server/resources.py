"""Notes as resources: listed page by page, read by URI, completed by reference."""

from __future__ import annotations

import base64
import binascii
import bisect
from typing import Any

import mcp_types as t
from mcp.server import MCPServer
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from memory_mcp.core.errors import MemoryMcpError
from memory_mcp.core.note import Card
from memory_mcp.server.addresses import INDEX, TEMPLATE, address, reference_in
from memory_mcp.server.framing import one_line, told
from memory_mcp.server.read_tools import read_note, remember
from memory_mcp.server.session import Connection, connection_of

Request = ServerRequestContext[Connection, Any]

PAGE = 200
"""Resources on a page."""

_COMPLETIONS = 100
_SHOWN_URI = 10_000  # in an error; that of a note is shorter
_LONGEST = 40_000
_MARKDOWN = "text/markdown"
_LEGACY_NOT_FOUND = -32002


def register(server: MCPServer[Connection]) -> None:
    """Answer the requests about resources."""
    low = server._lowlevel_server
    low.add_request_handler("resources/list", t.PaginatedRequestParams, _list)
    low.add_request_handler("resources/templates/list", t.PaginatedRequestParams, _templates)
    low.add_request_handler("resources/read", t.ReadResourceRequestParams, _read)
    low.add_request_handler("completion/complete", t.CompleteRequestParams, _complete)


async def _list(ctx: Request, params: t.PaginatedRequestParams) -> t.ListResourcesResult:
    cards = _listed_cards(connection_of(ctx))
    after = _after(params.cursor)
    start = 0 if after is None else bisect.bisect_right(cards, after, key=_reference)
    page = cards[start : start + PAGE]
    more = start + PAGE < len(cards)
    first = [_index()] if after is None else []
    return t.ListResourcesResult(
        resources=[*first, *(_resource(card) for card in page)],
        next_cursor=_cursor(page[-1].reference) if more else None,
    )


async def _templates(
    ctx: Request, params: t.PaginatedRequestParams
) -> t.ListResourceTemplatesResult:
    return t.ListResourceTemplatesResult(
        resource_templates=[
            t.ResourceTemplate(
                uri_template=TEMPLATE,
                name="note",
                title="A note",
                description="A note of any source by its reference, such as wiki/people/alice.",
                mime_type=_MARKDOWN,
            )
        ]
    )


async def _read(ctx: Request, params: t.ReadResourceRequestParams) -> t.ReadResourceResult:
    uri = str(params.uri)
    if uri == INDEX:
        return _contents(uri, await connection_of(ctx).app.recall.fresh_section())
    reference = reference_in(uri)
    if reference is None:
        raise _not_found(ctx, uri, f"There is no resource {one_line(uri)}; see resources/list.")
    try:
        answer, reading = await read_note(connection_of(ctx), reference, None, 0, _LONGEST)
    except MemoryMcpError as error:
        raise _not_found(ctx, uri, told(error)) from error
    remember(connection_of(ctx), reading, None, 0)
    return _contents(uri, answer.text)


async def _complete(ctx: Request, params: t.CompleteRequestParams) -> t.CompleteResult:
    is_note = isinstance(params.ref, t.ResourceTemplateReference) and params.ref.uri == TEMPLATE
    if not is_note or params.argument.name != "reference":
        return t.CompleteResult(completion=t.Completion(values=[], total=0, has_more=False))
    typed = params.argument.value.casefold()
    every = [entry.card.reference for entry in connection_of(ctx).app.index.entries()]
    fitting = [reference for reference in every if typed in reference.casefold()]
    fitting.sort(key=lambda reference: (not reference.casefold().startswith(typed), reference))
    return t.CompleteResult(
        completion=t.Completion(
            values=fitting[:_COMPLETIONS],
            total=len(fitting),
            has_more=len(fitting) > _COMPLETIONS,
        )
    )


def _listed_cards(connection: Connection) -> list[Card]:
    """The notes that are listed as resources: those of the inbox and the wiki, by reference."""
    sources = [source for source in connection.app.sources if source.kind in ("memory", "wiki")]
    entries = connection.app.index.entries([source.id for source in sources])
    return sorted((entry.card for entry in entries), key=lambda card: card.reference)


def _index() -> t.Resource:
    return t.Resource(
        uri=INDEX,
        name="index",
        title="What is in memory",
        description="How many notes there are, and one line for each of the inbox and the wiki.",
        mime_type=_MARKDOWN,
    )


def _resource(card: Card) -> t.Resource:
    return t.Resource(
        uri=address(card.reference),
        name=card.reference,
        title=one_line(card.title) or None,
        description=one_line(card.description) or None,
        mime_type=_MARKDOWN,
    )


def _contents(uri: str, text: str) -> t.ReadResourceResult:
    return t.ReadResourceResult(
        contents=[t.TextResourceContents(uri=uri, text=text, mime_type=_MARKDOWN)]
    )


def _not_found(ctx: Request, uri: str, message: str) -> MCPError:
    """The code for a missing resource changed from one era of the protocol to the other."""
    modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
    code = t.INVALID_PARAMS if modern else _LEGACY_NOT_FOUND
    return MCPError(code=code, message=message, data={"uri": uri[:_SHOWN_URI]})


def _reference(card: Card) -> str:
    return card.reference


def _cursor(reference: str) -> str:
    return base64.urlsafe_b64encode(reference.encode()).decode()


def _after(cursor: str | None) -> str | None:
    if cursor is None:
        return None
    try:
        return base64.b64decode(cursor, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        message = f"The cursor {one_line(cursor, 60)} is not one of this server; start without it."
        raise MCPError(code=t.INVALID_PARAMS, message=message) from None
