"""`tools/list` and `tools/call`: which tools a client sees, and the way of a call through one."""

from __future__ import annotations

import difflib
import inspect
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mcp_types as t
from mcp.server import MCPServer
from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from memory_mcp.core.arguments import prepare
from memory_mcp.core.config import ToolSet
from memory_mcp.core.errors import (
    ConflictError,
    InputError,
    MemoryMcpError,
    NotFoundError,
    RefusedError,
)
from memory_mcp.index.frames import frames
from memory_mcp.server.answers import refusal
from memory_mcp.server.framing import told
from memory_mcp.server.ledger import digest_of, key_of
from memory_mcp.server.session import Connection, Options, connection_of

log = logging.getLogger(__name__)

Request = ServerRequestContext[Connection, Any]
ToolContext = Context[Connection, Any]


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool: its function (name, arguments and description), and what it does to the world."""

    function: Callable[..., Awaitable[t.CallToolResult]]
    title: str
    writes: bool = False
    destructive: bool = False
    idempotent: bool = True
    tools: ToolSet = "core"

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.function.__name__

    def tool(self) -> Tool:
        """The tool as the SDK knows it, with its schemas."""
        return Tool.from_function(
            self.function,
            title=self.title,
            description=inspect.getdoc(self.function),
            annotations=t.ToolAnnotations(
                title=self.title,
                read_only_hint=not self.writes,
                destructive_hint=self.destructive,
                idempotent_hint=self.idempotent,
                open_world_hint=False,
            ),
        )


class Calls:
    """The tools of a server. They are built at the first request that needs them."""

    def __init__(self, server: MCPServer[Connection], offers: Sequence[Offer]) -> None:
        self._server = server
        self._offers = {offer.name: offer for offer in offers}
        self._tools: dict[str, Tool] = {}
        low = server._lowlevel_server
        low.add_request_handler("tools/list", t.PaginatedRequestParams, self._list)
        low.add_request_handler("tools/call", t.CallToolRequestParams, self._call)

    async def _list(self, ctx: Request, params: t.PaginatedRequestParams) -> t.ListToolsResult:
        options = connection_of(ctx).options
        return t.ListToolsResult(
            tools=[
                _described(self._tool(name))
                for name, offer in self._offers.items()
                if _in_set(offer, options) and not (offer.writes and options.read_only)
            ]
        )

    async def _call(self, ctx: Request, params: t.CallToolRequestParams) -> t.CallToolResult:
        connection = connection_of(ctx)
        repeated = connection.repeats(ctx.request_id)
        try:
            offer = self._offer(params.name, connection.options)
            if offer.writes:
                return await self._write(self._tool(offer.name), ctx, params, repeated=repeated)
            return await self._run(self._tool(offer.name), ctx, params)
        except MemoryMcpError as error:
            return refusal(told(error))
        except MCPError:
            raise
        except Exception as error:  # noqa: BLE001 - the client must get an answer, without details
            log.error("tool %r failed: %s", _short(params.name), frames(error))
            return refusal(
                f"{_short(params.name)} failed for a reason inside the server; the log on its"
                " stderr says more. The notes are safe; try once more, or go on without."
            )

    async def _write(
        self, tool: Tool, ctx: Request, params: t.CallToolRequestParams, *, repeated: bool
    ) -> t.CallToolResult:
        """Run a tool that changes notes, once: a repeat of a call that was done is answered."""
        connection = connection_of(ctx)
        ledger = connection.ledger
        if ledger is None or ctx.request_id is None:
            return await self._run(tool, ctx, params)
        key, digest = key_of(ctx.request_id), digest_of(tool.name, params.arguments or {})
        call = ledger.again(key, digest) if repeated else None
        if call is None:
            ledger.begin(key, digest)
        else:
            from memory_mcp.server.repeats import settled

            known = await settled(call, connection)
            if known is not None:
                return known
        try:
            result = await self._run(tool, ctx, params)
        except (ConflictError, InputError, NotFoundError, RefusedError):
            ledger.begin(key, digest)  # nothing was done, whatever it was about to do
            raise
        ledger.answered(key, result.model_dump(mode="json", by_alias=True, exclude_none=True))
        return result

    async def _run(
        self, tool: Tool, ctx: Request, params: t.CallToolRequestParams
    ) -> t.CallToolResult:
        given = prepare(tool.name, tool.parameters, params.arguments or {})
        try:
            arguments = tool.fn_metadata.arg_model.model_validate(given)
        except ValidationError as error:
            raise InputError(_problems(tool.name, error)) from None
        context = ToolContext(request_context=ctx, mcp_server=self._server, input_params=params)
        result: t.CallToolResult = await tool.fn(ctx=context, **arguments.model_dump_one_level())
        return result

    def _offer(self, name: str, options: Options) -> Offer:
        offer = self._offers.get(name)
        if offer is None or not _in_set(offer, options):
            raise InputError(self._unknown(name, options))
        if offer.writes and options.read_only:
            raise RefusedError(
                f"{name} is refused: this client may only read. Reading tools work; writing needs"
                " a start without --read-only and without writing.read_only, and over HTTP a"
                " token that is not read_only."
            )
        return offer

    def _unknown(self, name: str, options: Options) -> str:
        known = [
            offer.name
            for offer in self._offers.values()
            if _in_set(offer, options) and not (offer.writes and options.read_only)
        ]
        near = difflib.get_close_matches(name[:100], known, n=1, cutoff=0.5)
        meant = f" Did you mean {near[0]}?" if near else ""
        return f"There is no tool {_short(name)!r}.{meant} The tools are: {', '.join(known)}."

    def _tool(self, name: str) -> Tool:
        if name not in self._tools:
            self._tools[name] = self._offers[name].tool()
        return self._tools[name]


def _in_set(offer: Offer, options: Options) -> bool:
    return offer.tools in options.tools


def _described(tool: Tool) -> t.Tool:
    return t.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.parameters,
        output_schema=tool.output_schema,
        annotations=tool.annotations,
    )


def _problems(name: str, error: ValidationError) -> str:
    problems = (
        f"{'.'.join(str(part) for part in item['loc'])}: {item['msg']}"
        for item in error.errors(include_input=False, include_url=False)
    )
    return f"{name} cannot use its arguments: {'; '.join(problems)}. Nothing was done."


def _short(name: str) -> str:
    return name if len(name) <= 80 else name[:79] + "…"
