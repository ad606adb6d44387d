"""What a day and a job may cost in tokens.

The day's sum is in a file of the home, which several processes share. What a request will about
cost is counted before it is sent and corrected afterwards, so that a process that is killed in
between has not asked for free, and two that ask at once cannot both take what is left.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any

import anyio

from memory_mcp.core.chat import Function, Message, Reply, Spent
from memory_mcp.core.errors import (
    BudgetError,
    BusyError,
    DeclinedError,
    SetupError,
    StorageError,
    UnreachableError,
)
from memory_mcp.core.ports import Clock, Reasoner
from memory_mcp.core.tokens import tokens
from memory_mcp.notes.lock import locked
from memory_mcp.notes.state_file import replace_state

log = logging.getLogger(__name__)

_DAYS = 7  # kept, so that processes of several time zones do not erase each other's
JOB_TOKENS = 100_000  # half of a day's, by default, so that one job leaves something for others
_FREE = (BusyError, DeclinedError, SetupError, UnreachableError)  # nothing was answered


class Ledger:
    """The tokens of each day, in `<folder>/tokens.json`. Blocking; safe for several processes."""

    def __init__(self, folder: Path, most: int, clock: Clock) -> None:
        """`most`: tokens a day, `curation.max_tokens_day`."""
        self._path = folder / "tokens.json"
        self._lock = folder / "tokens.lock"
        self._most, self._clock = most, clock

    def spent(self) -> int:
        """Tokens of today."""
        return self._read().get(self._today(), 0)

    def take(self, amount: int) -> str:
        """Count tokens before they are used; the day on which they count. Raises BudgetError
        where today has not so many left."""
        with locked(self._lock, "the count of tokens"):
            day, days = self._today(), self._read()
            used = days.get(day, 0)
            if used + amount > self._most:
                raise self._used_up(used, amount)
            self._write({**days, day: used + amount})
        return day

    def correct(self, day: str, difference: int) -> None:
        """Count more or less on a day than was taken."""
        if difference:
            with locked(self._lock, "the count of tokens"):
                days = self._read()
                self._write({**days, day: max(days.get(day, 0) + difference, 0)})

    def _today(self) -> str:
        return self._clock.now().date().isoformat()

    def _used_up(self, used: int, amount: int) -> BudgetError:
        if amount > self._most:
            return BudgetError(
                f"a request of about {amount:,} tokens is more than a day may cost"
                f" ({self._most:,}); raise curation.max_tokens_day"
            )
        now = self._clock.now()
        goes_on = datetime.combine(now.date() + timedelta(days=1), time(), now.tzinfo)
        return BudgetError(
            f"{used:,} of {self._most:,} tokens for today are used, and the next request takes"
            f" about {amount:,}; it goes on at {goes_on.isoformat(timespec='minutes')}, or raise"
            " curation.max_tokens_day"
        )

    def _read(self) -> dict[str, int]:
        try:
            days = json.loads(self._path.read_bytes())
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise StorageError(f"{self._path} cannot be read ({error.strerror})") from error
        except (ValueError, RecursionError):
            days = None
        if not isinstance(days, dict) or not all(type(value) is int for value in days.values()):
            log.warning("%s was damaged; the tokens of today are counted anew", self._path)
            return {}
        return days

    def _write(self, days: Mapping[str, int]) -> None:
        kept = dict(sorted(days.items())[-_DAYS:])
        try:
            replace_state(self._path, json.dumps(kept).encode("ascii"))
        except OSError as error:
            raise StorageError(f"{self._path} cannot be written ({error.strerror})") from error


class DayBudget:
    """A model whose tokens are counted for the day."""

    def __init__(self, reasoner: Reasoner, ledger: Ledger) -> None:
        self._reasoner, self._ledger = reasoner, ledger

    @property
    def name(self) -> str:
        """That of the model."""
        return self._reasoner.name

    async def reply(
        self,
        messages: Sequence[Message],
        functions: Sequence[Function] = (),
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """The model's answer. Raises ReasonerError; BudgetError where nothing was asked."""
        about = _about(messages, functions)
        try:
            day = await anyio.to_thread.run_sync(self._ledger.take, about)
        except StorageError as error:
            raise BudgetError(f"the tokens of today cannot be counted: {error}") from error
        try:
            reply = await self._reasoner.reply(messages, functions, schema)
        except _FREE:
            await self._correct(day, -about)
            raise
        await self._correct(day, reply.tokens - about)
        return reply

    async def _correct(self, day: str, difference: int) -> None:
        """An answer that is there is not lost because its exact cost cannot be written down."""
        try:
            await anyio.to_thread.run_sync(self._ledger.correct, day, difference)
        except StorageError as error:
            log.warning("%s; the tokens of today are those of an estimate", error)


class JobBudget:
    """A model whose tokens are counted for one job: `spent` says what it cost until now."""

    def __init__(self, reasoner: Reasoner, most: int = JOB_TOKENS) -> None:
        self._reasoner, self._most = reasoner, most
        self.spent = Spent()

    @property
    def name(self) -> str:
        """That of the model."""
        return self._reasoner.name

    async def reply(
        self,
        messages: Sequence[Message],
        functions: Sequence[Function] = (),
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """The model's answer. Raises ReasonerError; BudgetError once the job has used its tokens,
        by at most one answer more than it may."""
        if self.spent.tokens >= self._most:
            raise BudgetError(
                f"this job has used {self.spent.tokens:,} of its {self._most:,} tokens;"
                " what it did not get to waits for the next time"
            )
        reply = await self._reasoner.reply(messages, functions, schema)
        self.spent = self.spent.plus(reply)
        return reply


def _about(messages: Sequence[Message], functions: Sequence[Function]) -> int:
    """What a question costs, by estimate."""
    texts = [message.text for message in messages]
    texts += [call.arguments for message in messages for call in message.calls]
    texts += [json.dumps(dict(one.parameters)) + one.description for one in functions]
    return sum(map(tokens, texts))
