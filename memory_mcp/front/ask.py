"""One question to the engine and its answer, for hooks and quick commands."""

from __future__ import annotations

from memory_mcp.front.hello import hello
from memory_mcp.front.home import home_of
from memory_mcp.front.starting import BadSettings, NoEngine, reach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

__all__ = ["BadSettings", "Failure", "NoEngine", "ask"]


class Failure(Exception):
    """The engine took the question and could not do what it asks; why."""


def ask(
    home: str | None,
    environ: Mapping[str, str],
    flags: Mapping[str, object],
    name: str,
    arguments: Mapping[str, Any],
    *,
    start: bool,
    seconds: float,
    progress: Callable[[int, int], None] | None = None,
) -> Any:
    """The engine's result for `name`, such as status, stop, tool, reindex or look.

    `home` None: the one that flags and environment name. `start`: start an engine where none
    runs. `seconds`: to find one, and again until it answers or tells of progress. Raises
    NoEngine, BadSettings or Failure.
    """
    place = home_of(environ, flags.get("home") if home is None else home)
    question = {**hello("ask", environ, flags), "ask": {**arguments, "name": name}}
    connection = reach(
        place,
        question,
        environ,
        start=start,
        patience=seconds,
        answer_seconds=seconds,
        progress=progress,
    )
    connection.socket.close()
    answer = connection.answer
    if "failure" in answer:
        raise Failure(str(answer["failure"]))
    return answer.get("result")
