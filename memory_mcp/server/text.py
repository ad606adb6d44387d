"""Answers as Markdown for a model: note text in frames, everything else in short lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memory_mcp.core.note import Provenance
from memory_mcp.search.hit import Hit
from memory_mcp.server.framing import NOTICE, frame, framed, one_line
from memory_mcp.server.wire import (
    DeleteOut,
    EditOut,
    GetOut,
    JobOut,
    JobsOut,
    LinkedOut,
    LinkOut,
    ListOut,
    RowOut,
    SaveOut,
    SearchOut,
    WriteOut,
)

_REFERENCE = 1000
_LISTED = 40


def search_text(out: SearchOut, hits: Sequence[Hit]) -> str:
    """Hits as frames, best first, under one standing line. `hits` are those listed in `out`."""
    lines = [NOTICE, _found(out)]
    for number, (shown, hit) in enumerate(zip(out.hits, hits, strict=True), 1):
        scope = " · project" if shown.scope == "project" else ""
        lines.append(
            f"\n{number}. {name(shown.reference)}{scope} · score {shown.score:.2f}{_related(hit)}"
        )
        body = [f"# {one_line(shown.title)}"]
        if shown.description:
            body.append(one_line(shown.description))
        for passage in shown.passages:
            first, last = passage.lines
            body += ["", f"[{one_line(passage.heading)}, lines {first}-{last}]", passage.text]
        lines.append(frame(hit.card, "\n".join(body)))
    return "\n".join(lines)


def _found(out: SearchOut) -> str:
    listed = len(out.hits)
    parts = ["No note answers this." if not listed else f"{listed} {_notes(listed)} found."]
    if out.total > listed:
        parts.append(
            f"{out.total - listed} of {out.total} hits were left out since the answer would be too"
            " long: ask with a narrower query, source or path_prefix, or a smaller limit."
        )
    if out.degraded:
        parts.append(f"This search was limited: {one_line(out.degraded, 500).rstrip('.')}.")
    if out.pending:
        wait = "waits" if out.pending == 1 else "wait"
        parts.append(f"{out.pending} {_files(out.pending)} {wait} to be indexed.")
    return " ".join(parts)


def relations(hit: Hit) -> dict[str, tuple[str, ...]]:
    """How a hit stands to other notes, and to which, at most five each."""
    newer = (hit.superseded_by,) if hit.superseded_by else ()
    found = {
        "superseded by": newer,
        "replaces": hit.replaces[:5],
        "contradicts": hit.contradicts[:5],
        "same text in": hit.copies[:5],
    }
    return {what: names for what, names in found.items() if names}


def _related(hit: Hit) -> str:
    return "".join(
        f" · {what} {', '.join(map(name, names))}" for what, names in relations(hit).items()
    )


def get_text(out: GetOut, provenance: Provenance | None, start: int) -> str:
    """One note: what is known about it, its text in a frame, its links. `start`: the offset."""
    facts = [name(out.reference), f"revision {out.revision}"]
    if out.tags:
        facts.append("tags " + ", ".join(one_line(tag, 60) for tag in out.tags[:_LISTED]))
    lines = [NOTICE, " · ".join(facts)]
    if out.truncated or start:
        lines.append(_part(out, start))
    lines.append(framed(out.reference, out.revision, out.updated, provenance, out.content))
    if out.truncated and out.headings:
        trail = "; ".join(f"{one_line(item.text, 80)} (line {item.line})" for item in out.headings)
        lines.append(f"Headings, each readable by heading: {one_line(trail, 4000)}")
    lines += _links("Links to", out.links, out=True)
    lines += _links("Linked from", out.backlinks, out=False)
    lines += _warnings(out.warnings)
    return "\n".join(lines)


def _part(out: GetOut, start: int) -> str:
    end = out.next_offset if out.next_offset is not None else out.total
    said = f"Characters {start:,} to {end:,} of {out.total:,}."
    if out.next_offset is None:
        return f"{said} This is the last part."
    return f"{said} The rest: memory_get with offset={out.next_offset}, or one heading."


def _links(label: str, links: Sequence[LinkOut], *, out: bool) -> list[str]:
    if not links:
        return []
    shown = ", ".join(_link(link, out=out) for link in links[:_LISTED])
    more = f" and {len(links) - _LISTED} more" if len(links) > _LISTED else ""
    return [f"{label}: {shown}{more}"]


def _link(link: LinkOut, *, out: bool) -> str:
    if link.reference is None:
        return f"{one_line(link.target)} (no such note)"
    relation = "" if link.relation == "links" else f" ({one_line(link.relation, 60)})"
    return name(link.reference) + relation


def list_text(out: ListOut) -> str:
    """One line for each note."""
    listed = len(out.notes)
    lines = [NOTICE, f"{listed} of {out.total} {_notes(out.total)}."]
    lines += [_row(row) for row in out.notes]
    if out.next_cursor:
        lines.append(f'More: memory_list with the same filters and cursor="{out.next_cursor}".')
    return "\n".join(lines)


def _row(row: RowOut) -> str:
    line = f"- {name(row.reference)} - {one_line(row.title)}"
    if row.description:
        line += f": {one_line(row.description)}"
    marks = ["project"] if row.scope == "project" else []
    marks += [f"updated {one_line(row.updated, 40)}"] if row.updated else []
    marks += ["tags " + ", ".join(one_line(tag, 60) for tag in row.tags[:10])] if row.tags else []
    marks += ["pinned"] if row.pinned else []
    marks += [f"warning: {one_line(row.warnings[0])}"] if row.warnings else []
    return f"{line} ({'; '.join(marks)})" if marks else line


def write_text(out: WriteOut) -> str:
    """What was written, and what stands near it already."""
    lines = [
        f"{'Created' if out.created else 'Replaced'} {out.reference}, revision {out.revision}."
    ]
    lines += _replaced(out.reference, out.replaced_revision)
    if out.similar:
        near = ", ".join(f"{name(item.reference)} ({item.score:.2f})" for item in out.similar)
        lines.append(f"Similar notes: {near}. Extend or link one of them if it is the same thing.")
    return "\n".join(lines + _warnings(out.warnings))


def edit_text(out: EditOut) -> str:
    """What was changed."""
    lines = [f"Changed {out.reference}, now revision {out.revision}."]
    return "\n".join(
        lines + _replaced(out.reference, out.replaced_revision) + _warnings(out.warnings)
    )


def _replaced(reference: str, revision: str | None) -> list[str]:
    if revision is None:
        return []
    return [f"The older text can be restored: memory-mcp restore {reference} {revision}"]


def delete_text(out: DeleteOut) -> str:
    """What was deleted, and how to get it back."""
    if not out.deleted:
        return f"There was no note {out.reference}; nothing was deleted."
    back = f" Get it back with: memory-mcp restore {out.reference} {out.revision or ''}".rstrip()
    return f"Deleted {out.reference}.{back}"


def link_text(out: LinkedOut, total: int) -> str:
    """The links in the header now; of very many the latest."""
    links = ", ".join(f"{one_line(link.relation, 60)} → {name(link.to)}" for link in out.links)
    said = f"{out.reference}, revision {out.revision}, now has the links: {links}."
    if total > len(out.links):
        said += f" These are the latest {len(out.links)} of {total}; memory_get shows the header."
    return said


def save_text(out: SaveOut) -> str:
    """The job to ask for."""
    return f"Saved as job {out.job_id} ({out.status}). memory_jobs tells where it was filed."


def jobs_text(out: JobsOut) -> str:
    """One line for each job."""
    if not out.jobs:
        return "There are no jobs."
    lines = [_job(job) for job in out.jobs]
    if out.total > len(out.jobs):
        lines.append(f"{out.total - len(out.jobs)} older jobs were left out.")
    return "\n".join(lines)


def _job(job: JobOut) -> str:
    line = f"- {job.job_id} {job.kind}: {job.status}, created {job.created}"
    if job.outcome:
        line += f"; {one_line(job.outcome, 500)}"
    if job.changed:
        line += f"; changed {', '.join(map(name, job.changed[:_LISTED]))}"
    return f"{line}; error: {one_line(job.error, 500)}" if job.error else line


def name(reference: str) -> str:
    """A reference in a text, as code."""
    return f"`{one_line(reference, _REFERENCE)}`"


def _warnings(warnings: Iterable[str]) -> list[str]:
    return [f"Warning: {one_line(warning, 500)}" for warning in warnings]


def _notes(count: int) -> str:
    return "note" if count == 1 else "notes"


def _files(count: int) -> str:
    return "file" if count == 1 else "files"
