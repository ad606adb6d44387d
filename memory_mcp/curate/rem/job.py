"""REM: conversations are read, and what is worth keeping of them is proposed.

Nothing is written to notes: proposals are findings that wait for an approval. A piece of a
transcript is judged once: its place is noted before it is judged, its findings are stored under a
name that the piece gives, and only then the marker goes on.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

import anyio.to_thread

from memory_mcp.core.counting import counted
from memory_mcp.core.errors import (
    AnswerError,
    DeclinedError,
    NotFoundError,
    ReasonerError,
)
from memory_mcp.core.ports import Reasoner
from memory_mcp.curate.jobs.task import Outcome, Task
from memory_mcp.curate.parts import Parts
from memory_mcp.curate.reason.budget import JobBudget
from memory_mcp.curate.rem.conversation import conversation, proposed_so_far, related
from memory_mcp.curate.rem.facts import MOST, Fact, Facts, checked
from memory_mcp.curate.rem.proposals import Origin, Proposals
from memory_mcp.curate.rem.tally import Tally
from memory_mcp.curate.review.findings import Dreams, Finding
from memory_mcp.curate.transcripts.forward import Piece, Reading
from memory_mcp.curate.transcripts.marker import Marker, Markers
from memory_mcp.curate.transcripts.turns import Turn
from memory_mcp.curate.transcripts.waiting import COMPACTION, Queue, Waiting, in_folders
from memory_mcp.curate.write.edit import iso
from memory_mcp.settings.project import project_of
from memory_mcp.settings.prompts import fill, load

log = logging.getLogger(__name__)

_PIECES = 60
"""Pieces that are judged in one job; what is left is the next one's."""
_EARLIER = 2  # turns of the piece before that are shown with a piece


class Rem:
    """Reads the transcripts of one memory on from where they were left."""

    def __init__(self, parts: Parts, dreams: Dreams) -> None:
        self._parts = parts
        self._dreams = dreams
        config = parts.config
        self._queue = Queue(Path(config.home), config.agent)
        self._markers = Markers(parts.state / "transcripts" / "read", dreams.owner)

    def waiting(self) -> tuple[Waiting, ...]:
        """The transcripts that hooks have queued for this memory. Blocking."""
        harvest = self._parts.config.curation.harvest
        found = [item for item in self._queue.all() if self._is_ours(item)]
        return tuple(item for item in found if harvest or item.event != COMPACTION)

    def is_settled(self, path: str) -> bool:
        """Whether a transcript was read to its end, and all that was found in it is decided.
        Blocking; raises StorageError."""
        try:
            reading = Reading(path, self._markers.load(path))
            piece = reading.next()
        except OSError:
            return False
        if piece.turns or piece.rest or reading.marker.upto:
            return False
        source = _source(path)
        return not any(dream.source == source for dream in self._dreams.all("pending"))

    async def run(self, task: Task) -> Outcome:
        """A pass: what a job of the kind `dream-rem` does. Raises StorageError."""
        tally = await self.read_all(
            task.job_id,
            force=bool(task.record.request.get("force")),
            note=partial(_noted, task),
        )
        return Outcome(tally.said())

    async def read_all(
        self, job_id: str, *, force: bool, note: Callable[[str], Awaitable[None]]
    ) -> Tally:
        """Read what waits in the queue and in the configured folders; `force`: all of it from the
        beginning. `note` is told how far it is. Raises ReasonerError where the model did nothing
        at all, StorageError."""
        tally = Tally()
        found = await anyio.to_thread.run_sync(self._all)
        reasoner, config = self._parts.reasoner, self._parts.config.curation
        if not config.rem or reasoner is None:
            why = _OFF if not config.rem else _NOBODY
            tally.stopped, tally.waits = why, await anyio.to_thread.run_sync(self._unread, found)
            return tally
        reasoner = JobBudget(reasoner)
        for number, item in enumerate(found):
            await note(f"{number} of {counted(len(found), 'conversation')}; {tally.said()}")
            try:
                whole = await self._read(item, reasoner, tally, job_id if force else "")
            except OSError as error:
                await self._unreadable(item, error, tally)
                continue
            except ReasonerError as error:
                if not tally.pieces:
                    raise
                tally.stopped = str(error)
                tally.waits = len(found) - number
                break
            if whole:
                await anyio.to_thread.run_sync(self._queue.done, item)
            else:
                tally.waits += 1
        return tally

    def _all(self) -> tuple[Waiting, ...]:
        """What is to be looked at: what hooks named, then the configured folders."""
        queued = self.waiting()
        if self._parts.project is not None:
            return queued
        config = self._parts.config
        known = {item.path for item in queued}
        others = in_folders(config.curation.transcripts, Path(config.home))
        return (*queued, *(item for item in others if item.path not in known))

    def _is_ours(self, item: Waiting) -> bool:
        """In a project, only what was said in its folder; outside, all that is the agent's."""
        project = self._parts.project
        if project is None:
            return True
        found = project_of(self._parts.config, item.cwd or "", {})
        return found is not None and found.id == project

    def _unread(self, found: Sequence[Waiting]) -> int:
        """How many have something to read."""
        count = 0
        for item in found:
            try:
                count += bool(Reading(item.path, self._markers.load(item.path)).next().turns)
            except OSError:
                continue
        return count

    async def _unreadable(self, item: Waiting, error: OSError, tally: Tally) -> None:
        """A transcript that is gone is waited for no more; another is tried again."""
        name = Path(item.path).name
        tally.gone.append(f"{name} ({error.strerror or error})")
        if isinstance(error, FileNotFoundError):
            await anyio.to_thread.run_sync(self._queue.done, item)

    async def _read(self, item: Waiting, reasoner: Reasoner, tally: Tally, anew: str) -> bool:
        """Judge what is new in one transcript; False where some of it is left for another pass."""
        reading = await anyio.to_thread.run_sync(self._opened, item, anew)
        earlier: tuple[Turn, ...] = ()
        judged = 0
        while tally.pieces < _PIECES:
            piece = await anyio.to_thread.run_sync(reading.next)
            if piece.turns:
                await self._keep(item, reading.taken_up(piece))
                await self._judge(item, piece, earlier, reasoner, tally, anew)
                tally.read += judged == 0
                tally.pieces, tally.turns = tally.pieces + 1, tally.turns + len(piece.turns)
                judged, earlier = judged + 1, piece.turns[-_EARLIER:]
            if piece.end > piece.start:
                await self._keep(item, reading.passed(piece))
            if not piece.rest:
                return True
        return False

    def _opened(self, item: Waiting, anew: str) -> Reading:
        marker = self._markers.load(item.path)
        if anew and marker.anew != anew:
            marker = Marker(anew=anew, session=item.session)
            self._markers.keep(item.path, marker)
        return Reading(item.path, marker)

    async def _keep(self, item: Waiting, marker: Marker) -> None:
        await anyio.to_thread.run_sync(self._markers.keep, item.path, marker)

    async def _judge(
        self,
        item: Waiting,
        piece: Piece,
        earlier: Sequence[Turn],
        reasoner: Reasoner,
        tally: Tally,
        anew: str,
    ) -> None:
        """Store what is to be proposed of a piece, durably, unless it was done before a kill."""
        name = await self._name(item, piece, anew)
        if name is None:
            return
        try:
            findings = await self._findings(item, piece, earlier, reasoner, tally)
        except (AnswerError, DeclinedError) as error:
            tally.refused += 1
            findings = (_refused(piece, error),)
        if findings:
            created = iso(self._parts.clock.now())
            add = partial(self._dreams.add, "rem", created, _source(item.path), findings, name)
            await anyio.to_thread.run_sync(add)
            tally.found += len(findings)

    async def _name(self, item: Waiting, piece: Piece, anew: str) -> str | None:
        """Under which name the findings of a piece are kept; None where they are there already.
        One that could not be judged is judged again `anew`."""
        name = _name(self._dreams.owner, item, piece)
        again = f"{name}-{hashlib.sha256(anew.encode()).hexdigest()[:8]}" if anew else name
        for one in dict.fromkeys((name, again)):
            try:
                known = await anyio.to_thread.run_sync(self._dreams.get, f"rem-{one}")
            except NotFoundError:
                return one
            if any(finding.kind != _REFUSED for finding in known.findings):
                return None
        return None

    async def _findings(
        self,
        item: Waiting,
        piece: Piece,
        earlier: Sequence[Turn],
        reasoner: Reasoner,
        tally: Tally,
    ) -> tuple[Finding, ...]:
        home = self._parts.config.home
        system = fill(load("rem", home), most=str(MOST))
        notes = await related(self._parts, piece.turns)
        talk = conversation(piece.turns, earlier, notes)
        facts = list((await self._ask(reasoner, system, talk, tally)).facts)
        if self._parts.config.curation.rem == "thorough":
            facts += await self._missing(reasoner, system, talk, facts, tally)
        proposed = await anyio.to_thread.run_sync(checked, facts, piece.turns, tally.left)
        model = tally.spent.models[-1] if tally.spent.models else reasoner.name
        agent = self._parts.config.agent
        origin = Origin(agent, model, item.event == COMPACTION, iso(self._parts.clock.now()))
        return await Proposals(self._parts, self._dreams, tally.left).findings(proposed, origin)

    async def _missing(
        self, reasoner: Reasoner, system: str, talk: str, facts: Sequence[Fact], tally: Tally
    ) -> list[Fact]:
        """What a second look finds that the first one left out."""
        check = f"{system}\n\n{load('rem_missing', self._parts.config.home)}"
        again = f"{talk}\n\n{proposed_so_far(facts)}"
        return (await self._ask(reasoner, check, again, tally)).facts

    async def _ask(self, reasoner: Reasoner, system: str, task: str, tally: Tally) -> Facts:
        from memory_mcp.curate.reason.structured import structured  # only where one is asked

        answer, spent = await structured(reasoner, system, task, Facts)
        tally.spend(spent)
        return answer


_REFUSED = "refused"
_OFF = "curation.rem is off, so no conversation was read."
_NOBODY = (
    "no reasoner is configured (reasoner in config.yml), so nobody here can judge what was said."
    " Your agent can, while the conversation lasts: by the prompt remember."
)


async def _noted(task: Task, text: str) -> None:
    await task.note(outcome=text)


def _refused(piece: Piece, error: ReasonerError) -> Finding:
    times = [turn.at for turn in piece.turns if turn.at]
    when = f" of {times[0]} to {times[-1]}" if times else ""
    return Finding(
        finding_id="f1",
        kind=_REFUSED,
        action="none",
        reference="",
        reason=f"{counted(len(piece.turns), 'turn')}{when} could not be judged: {error} Look at"
        " the transcript yourself, or run the phase again with force.",
    )


def _name(owner: str, item: Waiting, piece: Piece) -> str:
    """The same for the same piece of the same transcript, and for no other one."""
    hashed = hashlib.sha256(f"{owner}\0{item.path}\0{piece.start}\0{piece.end}".encode())
    for turn in piece.turns:
        hashed.update(f"\0{turn.role}\0{turn.text}".encode("utf-8", "replace"))
    return hashed.hexdigest()[:24]


def _source(path: str) -> str:
    return f"conversation {path}"
