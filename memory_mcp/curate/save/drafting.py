"""The note that a text becomes without a model: with its day, its category and what it names."""

from __future__ import annotations

from functools import partial

import anyio.to_thread

from memory_mcp.curate.parts import Parts
from memory_mcp.curate.save.category import category_of
from memory_mcp.curate.save.filing import Draft, Text, draft
from memory_mcp.curate.save.mention import mentioned


async def drafted(parts: Parts, text: Text) -> Draft:
    """The draft of an inbox note for a text."""
    category = category_of(text.content)
    day = parts.clock.now().date().isoformat()
    tags = [day] if category == "general" else [day, category]
    names = mentioned(parts.index, text.content)
    make = partial(draft, text, parts.config.agent, tags=tags, mentions=names)
    return await anyio.to_thread.run_sync(make)
