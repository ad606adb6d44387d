"""All tools, in the order in which a client sees them."""

from __future__ import annotations

from mcp.server import MCPServer

from memory_mcp.server import (
    curation_tools,
    dream_tools,
    job_tools,
    read_tools,
    recall_tools,
    review_tools,
    write_tools,
)
from memory_mcp.server.calls import Calls
from memory_mcp.server.session import Connection

OFFERS = (
    *read_tools.OFFERS,
    *recall_tools.OFFERS,
    *write_tools.OFFERS,
    *job_tools.OFFERS,
    *curation_tools.OFFERS,
    *dream_tools.OFFERS,
    *review_tools.OFFERS,
)


def register(server: MCPServer[Connection]) -> None:
    """Answer the requests about tools."""
    Calls(server, OFFERS)
