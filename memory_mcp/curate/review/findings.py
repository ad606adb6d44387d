"""Findings: changes that were proposed and wait for an approval.

A dream is what one pass over something found. `<folder>/<id>.json` holds those with open findings,
`<folder>/processed/<id>.json` those that were decided, as a trail for people.
"""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from memory_mcp.core.errors import InputError, NotFoundError
from memory_mcp.core.slug import shown
from memory_mcp.curate.plans.names import is_job_id, job_id_of
from memory_mcp.notes.failure import explained
from memory_mcp.notes.lock import locked
from memory_mcp.notes.state_file import replace_state

log = logging.getLogger(__name__)

Phase = Literal["rem", "deep", "lucid"]
PHASES: tuple[Phase, ...] = ("rem", "deep", "lucid")
Status = Literal["pending", "applied", "dismissed"]
STATUSES: tuple[Status, ...] = ("pending", "applied", "dismissed")

_PROCESSED = "processed"
_DAMAGED = (ValueError, TypeError, KeyError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True)
class Finding:
    """One proposal. `action` is the tool of the contract that carries it out, with its
    `arguments`; `none` where only a person or an agent in a review can."""

    finding_id: str
    kind: str
    """What was found: fact, contradiction, duplicate, dead_link, wanted_page, oversized, …"""
    action: str
    reference: str
    reason: str
    """Why, in full sentences, with the words it rests on."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    proposed_content: str | None = None
    evidence: tuple[str, ...] = ()
    """References of the notes that show it."""
    status: Status = "pending"
    decided: str | None = None
    """Why it was dismissed, or how it was resolved."""
    changed: tuple[str, ...] = ()
    run: str | None = None
    """The run that has carried it out, or the review in which it was resolved: taken back, it
    waits again."""
    quotes: tuple[str, ...] = ()
    """What the notes of `evidence` say, in their order, where it rests on these words."""
    likely_duplicate: bool = False
    duplicate_of: str | None = None
    matched_excerpt: str | None = None
    novel_details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Dream:
    """What one pass found. `source` says what was looked at, `owner` whose notes it is about (an
    agent, or agent and project); the wiki's, of phase lucid, are everybody's."""

    dream_id: str
    phase: Phase
    created: str
    source: str
    owner: str
    findings: tuple[Finding, ...] = ()

    @property
    def pending(self) -> tuple[Finding, ...]:
        """The findings that nobody has decided on."""
        return tuple(item for item in self.findings if item.status == "pending")


class Dreams:
    """The findings of a home, as one owner sees them. Blocking; processes may share them."""

    def __init__(self, folder: Path, owner: str) -> None:
        """`folder` is `<home>/.state/dreams`."""
        self._folder = folder
        self.owner = owner

    def add(
        self, phase: Phase, created: str, source: str, findings: Sequence[Finding], name: str = ""
    ) -> Dream:
        """Keep the findings of a pass durably. `name` makes the id the same where the pass is
        repeated: what is there then is returned as it is. Raises StorageError."""
        made = f"{phase}-{name}" if name else f"{phase}-{secrets.token_hex(6)}"
        dream = Dream(job_id_of(made), phase, created, source, self.owner, tuple(findings))
        with self._locked():
            known = self._find(dream.dream_id)
            if known is not None:
                return known
            self._write(dream)
        return dream

    def all(self, status: str = "pending") -> tuple[Dream, ...]:
        """The dreams with findings of this status (`all`: any), the newest first. Raises
        InputError, StorageError."""
        if status not in (*STATUSES, "all"):
            raise InputError(
                f"status {shown(status)} is unknown; use pending, applied, dismissed or all."
            )
        found = [dream for path in self._files() if (dream := self._read(path)) is not None]
        wanted = [
            dream
            for dream in found
            if status == "all" or any(item.status == status for item in dream.findings)
        ]
        return tuple(
            sorted(wanted, key=lambda dream: (dream.created, dream.dream_id), reverse=True)
        )

    def get(self, dream_id: str) -> Dream:
        """One dream. Raises NotFoundError, StorageError."""
        dream = self._find(dream_id.strip())
        if dream is None:
            raise NotFoundError(f"There is no dream {shown(dream_id)}; dream_list shows them.")
        return dream

    def finding(self, dream_id: str, finding_id: str) -> Finding:
        """One finding. Raises NotFoundError, StorageError."""
        for item in self.get(dream_id).findings:
            if item.finding_id == finding_id.strip():
                return item
        raise NotFoundError(
            f"The dream {shown(dream_id)} has no finding {shown(finding_id)}; dream_get shows all."
        )

    def decide(
        self, dream_id: str, finding_id: str, was: Status | None = None, **values: Any
    ) -> Dream:
        """Set values of a finding (`status`, `decided`, `changed`) durably; a dream of which all
        is decided is moved to the processed ones. Nothing is set where the status is not what it
        `was`. Raises NotFoundError, StorageError."""
        self.finding(dream_id, finding_id)
        with self._locked():
            dream = self.get(dream_id)
            if was is not None and self.finding(dream_id, finding_id).status != was:
                return dream
            changed = replace(
                dream,
                findings=tuple(
                    replace(item, **values) if item.finding_id == finding_id.strip() else item
                    for item in dream.findings
                ),
            )
            self._write(changed)
        return changed

    def _find(self, dream_id: str) -> Dream | None:
        try:
            name = f"{job_id_of(dream_id)}.json"
        except InputError:
            return None
        for path in (self._folder / name, self._folder / _PROCESSED / name):
            if (dream := self._read(path)) is not None:
                return dream
        return None

    def _files(self) -> list[Path]:
        folders = (self._folder, self._folder / _PROCESSED)
        with explained("The findings", "read"):
            paths = [path for folder in folders for path in sorted(folder.glob("*.json"))]
        return [path for path in paths if is_job_id(path.stem)]  # no copies of a sync tool

    def _read(self, path: Path) -> Dream | None:
        """A dream that is this owner's business; None for another's, or what is no dream."""
        try:
            value = json.loads(path.read_bytes())
            findings = tuple(_finding(item) for item in value.pop("findings"))
            dream = Dream(**value, findings=findings)
        except FileNotFoundError:
            return None
        except (OSError, *_DAMAGED) as error:
            log.warning("Findings in %s cannot be read: %s", path.name, type(error).__name__)
            return None
        return dream if dream.owner == self.owner or dream.phase == "lucid" else None

    def _write(self, dream: Dream) -> None:
        """In one step, durably: to the open ones, or to the processed ones."""
        name = f"{dream.dream_id}.json"
        aim, other = self._folder / name, self._folder / _PROCESSED / name
        if not dream.pending:
            aim, other = other, aim
        with explained(f"The findings {dream.dream_id}", "written"):
            replace_state(aim, json.dumps(asdict(dream), indent=1).encode("ascii"))
            other.unlink(missing_ok=True)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with explained("The findings", "written"):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with locked(self._folder / "dreams.lock", "the findings"):
            yield


def owner_of(agent: str, project: str | None) -> str:
    """Whose findings those of an agent are, in a project where there is one (its id)."""
    return agent if project is None else f"{agent} in {project}"


def _finding(item: Mapping[str, Any]) -> Finding:
    """A finding as it was written; lists come back as tuples."""
    values: dict[str, Any] = {
        key: tuple(v) if isinstance(v, list) else v for key, v in item.items()
    }
    return Finding(**values)
