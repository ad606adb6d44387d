"""What the tools of curation answer, as the models from which the output schemas are made."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from memory_mcp.server.wire import Framed

Phase = Literal["rem", "deep", "lucid"]
Status = Literal["pending", "applied", "dismissed"]


class RunOut(BaseModel):
    """A pass was queued; memory_jobs tells what became of it."""

    job_id: str
    status: Literal["queued", "running", "done", "failed"]


class DreamOut(BaseModel):
    """What one pass found, in numbers."""

    dream_id: str
    phase: Phase
    created: str
    source: str = Field(description="what was looked at")
    pending: int = Field(description="findings that wait for a decision")
    total: int


class DreamsOut(BaseModel):
    """Passes with findings, the newest first."""

    dreams: list[DreamOut]
    total: int = Field(description="more than listed where the answer was cut")


class FindingOut(BaseModel):
    """A proposed change, or something that was noticed."""

    finding_id: str
    kind: str
    action: str = Field(description="the tool that dream_apply carries out; none: look yourself")
    reference: str
    proposed_content: str | None
    reason: str
    status: Status
    likely_duplicate: bool
    duplicate_of: str | None
    matched_excerpt: str | None = Field(description="the passage that says it already")
    novel_details: list[str] = Field(description="what that passage lacks")
    evidence: list[str] = Field(description="notes that show it")


class DreamGetOut(Framed):
    """The findings of one pass."""

    dream_id: str
    phase: Phase
    created: str
    findings: list[FindingOut]
    total: int = Field(description="more than listed where the answer was cut")


class DecidedOut(BaseModel):
    """A finding was decided on."""

    dream_id: str
    finding_id: str | None
    status: Status
    changed: list[str]
    left: int = Field(description="findings of this pass that still wait")


class ReviewOut(BaseModel):
    """The review of this session."""

    active: bool
    dream_id: str | None
    open: int = Field(description="findings that wait: of this dream, else of all")
    expires: str | None
    run: str | None = Field(description="by which all changes of the review can be taken back")
    left: int = Field(description="changes that may be made before the next start")


class MovedOut(BaseModel):
    """A page was moved."""

    reference: str
    old_reference: str
    relinked: list[str] = Field(description="notes whose links were rewritten")
    warnings: list[str]
