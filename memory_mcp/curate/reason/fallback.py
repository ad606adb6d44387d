"""Several models, of which the first that is there answers.

The next one is asked only where a host or program is not there. A bad answer, a refusal or a wrong
key is told instead: another model behind it would hide a fault, and send notes where nobody
expects them.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from memory_mcp.core.chat import Function, Message, Reply
from memory_mcp.core.errors import UnreachableError
from memory_mcp.core.ports import Clock, Reasoner

log = logging.getLogger(__name__)

AWAY = timedelta(minutes=5)
"""So long a model that was not reached is passed over, where there is another one."""


class Fallback:
    """Asks in order; safe for several jobs of one event loop."""

    def __init__(self, reasoners: Sequence[Reasoner], clock: Clock) -> None:
        self._reasoners, self._clock = tuple(reasoners), clock
        self._away: dict[int, datetime] = {}
        self.name = ", else ".join(one.name for one in self._reasoners)

    async def reply(
        self,
        messages: Sequence[Message],
        functions: Sequence[Function] = (),
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """The answer of the first that is there. Raises ReasonerError; UnreachableError with all
        reasons where none is."""
        reasons = []
        for place in self._order():
            try:
                reply = await self._reasoners[place].reply(messages, functions, schema)
            except UnreachableError as error:
                reasons.append(str(error))
                if place not in self._away:
                    log.warning("%s is not there; the next model is asked", error)
                self._away[place] = self._clock.now()
            else:
                self._away.pop(place, None)
                return reply
        raise UnreachableError("; ".join(reasons))

    def _order(self) -> list[int]:
        """Those that were there lately come first."""
        now = self._clock.now()
        places = range(len(self._reasoners))
        return sorted(places, key=lambda place: self._is_away(place, now))

    def _is_away(self, place: int, now: datetime) -> bool:
        since = self._away.get(place)
        return since is not None and since <= now < since + AWAY
