"""The prompts a person can pick in the client: their texts are Markdown files."""

from __future__ import annotations

from typing import Annotated, Any

import mcp_types as t
from mcp.server import MCPServer
from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import UserMessage
from mcp.shared.exceptions import MCPError
from pydantic import Field

from memory_mcp.server.session import Connection
from memory_mcp.settings.prompts import fill, load

_TAKES: dict[str, tuple[str, ...]] = {
    "remember": ("what",),
    "recall": ("topic",),
    "enrich": ("focus",),
    "review": ("dream_id",),
    "orient": (),
}
"""The prompts, each with its arguments."""


def register(server: MCPServer[Connection], home: str) -> None:
    """Offer the prompts that work with the tools there are."""

    @server.prompt(title="Remember something")
    def remember(
        what: Annotated[
            str, Field(description="what to remember; the conversation so far without it")
        ] = "",
    ) -> list[UserMessage]:
        """File what is worth keeping: search, extend what is there, else write a new note."""
        what = what.strip() or "what is worth keeping of the conversation so far"
        return [UserMessage(fill(load("remember", home), what=what))]

    @server.prompt(title="Recall something")
    def recall(
        topic: Annotated[str, Field(description="what to look for")],
    ) -> list[UserMessage]:
        """Tell what memory holds about a topic, with the notes it comes from."""
        return [UserMessage(fill(load("recall", home), topic=topic.strip()))]

    @server.prompt(title="File what waits")
    def enrich(
        focus: Annotated[
            str, Field(description="only what is about this; all that waits without it")
        ] = "",
    ) -> list[UserMessage]:
        """Take the inbox over into pages: read, extend or create, read back, then delete."""
        said = f", as far as it is about this: {focus.strip()}" if focus.strip() else ""
        return [UserMessage(fill(load("enrich", home), focus=said))]

    @server.prompt(title="Review findings")
    def review(
        dream_id: Annotated[
            str, Field(description="one pass, as dream_list shows it; all without it")
        ] = "",
    ) -> list[UserMessage]:
        """Decide on what curation found: apply, do otherwise, dismiss, or ask."""
        said = f", those of {dream_id.strip()}" if dream_id.strip() else ""
        return [UserMessage(fill(load("review", home), which=said))]

    @server.prompt(title="Get an overview")
    def orient() -> list[UserMessage]:
        """Look at what memory holds, before work begins."""
        return [UserMessage(load("orient", home))]

    async def get(
        ctx: ServerRequestContext[Connection, Any], params: t.GetPromptRequestParams
    ) -> t.GetPromptResult:
        _check(params)
        result = await server.get_prompt(params.name, params.arguments)
        if not isinstance(result, t.GetPromptResult):
            raise MCPError(code=t.INTERNAL_ERROR, message="The prompt asked for input.")
        return result

    server._lowlevel_server.add_request_handler("prompts/get", t.GetPromptRequestParams, get)


def _check(params: t.GetPromptRequestParams) -> None:
    """Raises MCPError for what the SDK would answer with an internal error."""
    takes, given = _TAKES.get(params.name), params.arguments or {}
    if takes is None:
        known = ", ".join(_TAKES)
        raise _wrong(f"There is no prompt {params.name[:80]!r}; there are {known}.")
    for name in given:
        if name not in takes:
            listed = ", ".join(takes) or "none"
            raise _wrong(
                f"The prompt {params.name} has no argument {name[:80]!r}. It takes: {listed}."
            )
    if params.name == "recall" and not given.get("topic", "").strip():
        raise _wrong("The prompt recall needs the argument topic: what to look for.")


def _wrong(message: str) -> MCPError:
    return MCPError(code=t.INVALID_PARAMS, message=message)
