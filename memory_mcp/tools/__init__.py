"""The memory without MCP: the same tools for Codex, OpenAI, Anthropic, and loops of your own.

    from memory_mcp.tools import Session

    with Session() as memory:
        tools = memory.specs("openai-chat")
        reply = memory.answer("openai-chat", tool_call)     # a message for the model
        found = memory.call("memory_search", {"query": "sourdough"})

The tools are those that an MCP client gets, asked of the same engine, with the same guarantees.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memory_mcp.core.errors import ConfigError, EngineError, MemoryMcpError, ToolError
from memory_mcp.tools.forms import Form, Result, ToolSpec
from memory_mcp.tools.session import Session

__all__ = [
    "ConfigError",
    "EngineError",
    "Form",
    "MemoryMcpError",
    "Result",
    "Session",
    "ToolError",
    "ToolSpec",
    "acall",
    "call",
    "specs",
]


def specs(form: Form, **options: Any) -> list[dict[str, Any]]:
    """The tools in the form of an API; `options` are those of `Session`."""
    with Session(**options) as memory:
        return memory.specs(form)


def call(name: str, arguments: Mapping[str, Any] | str | None = None, **options: Any) -> Result:
    """Call one tool, in a session of its own unless `session` names one; see `Session`."""
    with Session(**options) as memory:
        return memory.call(name, arguments)


async def acall(
    name: str, arguments: Mapping[str, Any] | str | None = None, **options: Any
) -> Result:
    """As `call`, without holding up the event loop."""
    async with Session(**options) as memory:
        return await memory.acall(name, arguments)
