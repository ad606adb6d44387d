"""What would come into a conversation: `recall`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from memory_mcp.cli import render
from memory_mcp.cli.asking import tool
from memory_mcp.cli.context import Setup, as_json, pass_setup
from memory_mcp.cli.running import MEANING, with_memory
from memory_mcp.core.config import Config

if TYPE_CHECKING:
    from memory_mcp.app import App
    from memory_mcp.recall.turn import Recalled

ROLES = ("user", "assistant")


@click.command()
@click.argument("message")
@click.option(
    "--history",
    multiple=True,
    metavar="TEXT",
    help="What was said before, oldest first; again for more. `assistant: …` says who said it.",
)
@click.option("--max-tokens", type=click.IntRange(1), metavar="N", help="A smaller budget.")
@as_json
@pass_setup
def recall(
    setup: Setup, message: str, history: tuple[str, ...], max_tokens: int | None, json_: bool
) -> None:
    """Show what would come into a conversation with this message."""

    config = setup.existing()
    turns = [_turn(text) for text in history]
    given: dict[str, Any] = {"message": message, "history": turns, "max_tokens": max_tokens}
    found = tool(setup, "memory_recall", MEANING, **given)
    if found is None:
        found = _recalled(config, message, turns, max_tokens)
    if json_:
        render.as_json(found)
        return
    if found["block"]:
        render.line(found["block"])
    else:
        render.remark(found["query"]["silent"] or "No note stands out for this message.")
    if found["degraded"]:
        render.remark(found["degraded"])


def _turn(text: str) -> dict[str, str]:
    role, colon, said = text.partition(":")
    if colon and role.strip().lower() in ROLES:
        return {"role": role.strip().lower(), "text": said.strip()}
    return {"role": "user", "text": text}


def _recalled(
    config: Config, message: str, history: Sequence[dict[str, str]], max_tokens: int | None
) -> dict[str, Any]:
    """The answer of the tool, made in this process."""
    from memory_mcp.recall.turn import Turn

    async def act(app: App) -> Recalled:
        turns = [Turn(**said) for said in history]
        return await app.recall.turn(message, turns, max_tokens=max_tokens)

    recalled = with_memory(config, act, MEANING)
    from memory_mcp.server.recall_tools import recall_out

    out: dict[str, Any] = recall_out(recalled).model_dump(mode="json")
    return out
