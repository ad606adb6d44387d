"""What tools answer, as the models from which the output schemas are made."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from memory_mcp.server.framing import NOTICE

Scope = Literal["global", "project"]


class Framed(BaseModel):
    """An answer that carries text of notes: its first field is the standing line."""

    notice: str = NOTICE


class ProvenanceOut(BaseModel):
    """Where a note came from, as its header says."""

    url: str | None = None
    kind: str | None = None
    by: str | None = None
    at: str | None = None
    confidence: float | str | None = None


class PassageOut(BaseModel):
    """A piece of a note that answers the query."""

    heading: str
    text: str
    lines: list[int] = Field(
        description="first and last line in the file", min_length=2, max_length=2
    )
    score: float


class HitOut(BaseModel):
    """A note that answers the query."""

    reference: str
    source: str
    path: str
    title: str
    description: str
    score: float = Field(description="0..1: how good the match is, the same for every query")
    vector_score: float | None
    bm25_score: float
    passages: list[PassageOut]
    tags: list[str]
    updated: str | None
    provenance: ProvenanceOut | None
    superseded_by: str | None = Field(description="the note that replaces this one")
    scope: Scope | None = Field(default=None, description="for notes of the inbox")


class SearchOut(Framed):
    """The notes that answer a query, best first."""

    hits: list[HitOut]
    degraded: str | None = Field(description="null, or what this search lacked")
    pending: int = Field(description="files that wait to be indexed")
    total: int = Field(description="hits found; more than listed where the answer was cut")


class BuiltOut(BaseModel):
    """How the query of a turn was built."""

    text: str = Field(description="what was looked for")
    words: list[str] = Field(description="the message's content words")
    history: list[str] = Field(description="earlier turns that nudged, oldest first")
    history_weight: float = Field(description="their share, 0..1")
    word_share: float | None = Field(
        description="least share of the words; null: as the ranking decides"
    )
    silent: str | None = Field(description="why nothing was looked for; null where it was")


class RecallOut(Framed):
    """What would come into a turn unasked."""

    block: str = Field(description="the text, empty where memory has nothing to say")
    hits: list[HitOut] = Field(description="the notes in it that answer, with their passages")
    triggered: list[str] = Field(description="the notes in it that a trigger brought")
    query: BuiltOut
    left_out: int = Field(description="notes that fit as well and are not in the block")
    degraded: str | None = Field(description="null, or what the search lacked")


class HeadingOut(BaseModel):
    """A heading of a note."""

    level: int
    text: str
    line: int


class LinkOut(BaseModel):
    """A link of a note. `reference` is null where no note fits the target."""

    target: str
    reference: str | None
    relation: str


class GetOut(Framed):
    """A note."""

    reference: str
    source: str
    path: str
    title: str
    content: str = Field(description="the file's text, verbatim; private parts are hidden")
    frontmatter: dict[str, Any]
    revision: str = Field(description="give it as if_revision when you edit")
    created: str | None
    updated: str | None
    tags: list[str]
    headings: list[HeadingOut]
    links: list[LinkOut]
    backlinks: list[LinkOut]
    provenance: ProvenanceOut | None
    truncated: bool
    next_offset: int | None = Field(description="give it as offset for the next part")
    total: int = Field(description="characters of the whole text")
    warnings: list[str]


class RowOut(BaseModel):
    """A note in a list."""

    reference: str
    title: str
    description: str
    tags: list[str]
    created: str | None
    updated: str | None
    size: int = Field(description="bytes")
    pinned: bool
    warnings: list[str]
    scope: Scope | None = Field(default=None, description="for notes of the inbox")


class ListOut(Framed):
    """A page of notes."""

    notes: list[RowOut]
    total: int
    next_cursor: str | None = Field(description="give it as cursor for the next page")


class SimilarOut(BaseModel):
    """A note that says something like what was written."""

    reference: str
    score: float


class WriteOut(BaseModel):
    """A note was written."""

    reference: str
    revision: str
    created: bool = Field(description="false: an older text was replaced")
    replaced_revision: str | None = Field(description="the older text, restorable")
    similar: list[SimilarOut]
    warnings: list[str]


class EditOut(BaseModel):
    """A note was changed."""

    reference: str
    revision: str
    replaced_revision: str | None = Field(description="the older text, restorable")
    warnings: list[str]


class DeleteOut(BaseModel):
    """A note was deleted, or there was none."""

    reference: str
    deleted: bool
    revision: str | None = Field(description="the deleted text, restorable")


class RelationOut(BaseModel):
    """A typed link in the header of a note."""

    to: str
    relation: str


class LinkedOut(BaseModel):
    """A note was linked to another."""

    reference: str
    revision: str
    links: list[RelationOut]


class SaveOut(BaseModel):
    """A save was queued; memory_jobs tells what became of it."""

    job_id: str
    status: str


class JobOut(BaseModel):
    """A background job."""

    job_id: str
    kind: str
    status: Literal["queued", "running", "done", "failed"]
    outcome: str | None
    changed: list[str]
    error: str | None
    created: str
    finished: str | None


class JobsOut(BaseModel):
    """Background jobs, newest first."""

    jobs: list[JobOut]
    total: int
