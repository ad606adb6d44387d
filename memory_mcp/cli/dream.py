"""Passes of curation, and the findings that wait for a decision: `dream`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memory_mcp.cli import render
from memory_mcp.cli.asking import show_engine
from memory_mcp.cli.context import Setup, as_json, pass_setup, project_here
from memory_mcp.cli.running import WORDS, unchanging, with_memory
from memory_mcp.cli.saving import job_json
from memory_mcp.cli.wording import for_person, when
from memory_mcp.core.config import Config
from memory_mcp.core.counting import counted
from memory_mcp.core.errors import MemoryMcpError
from memory_mcp.curate.plans.plan import Change, unified_diff
from memory_mcp.curate.review.findings import PHASES, STATUSES, Dream, Dreams, Finding, owner_of

if TYPE_CHECKING:
    from memory_mcp.app import App
    from memory_mcp.curate.jobs.journal import Job
    from memory_mcp.curate.review.approve import Decided

WAIT_SECONDS = 3600.0
"""How long `--wait` stays; a longer pass goes on with the next server."""

_NO_NOTE = (
    "This phase changes no note by itself: it proposes findings. memory-mcp dream apply --dry-run"
    " shows what one would change."
)

dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Print what would change, and change nothing."
)


@click.group()
def dream() -> None:
    """Let curation look for what to keep, and decide on what it found."""


@dream.command("run")
@click.argument("phase", type=click.Choice(PHASES))
@click.option("--force", is_flag=True, help="Also what was looked at and has not changed.")
@dry_run_option
@click.option("--wait", is_flag=True, help="Stay until it is done.")
@as_json
@pass_setup
def run(setup: Setup, phase: str, force: bool, dry_run: bool, wait: bool, json_: bool) -> None:
    """Start a PHASE of curation.

    rem reads conversations, deep files the inbox into the wiki, lucid checks the wiki.
    """
    from memory_mcp.curate.jobs.dream import add_dream

    config = setup.existing()
    if dry_run:

        async def preview(app: App) -> tuple[Change, ...] | None:
            return await app.curation.deep.preview(force=force) if phase == "deep" else None

        _show_changes(with_memory(unchanging(config), preview), json_)
        return

    async def act(app: App) -> Job:
        job = await add_dream(app.jobs, phase, force=force)
        return await app.jobs.finished(job.job_id, WAIT_SECONDS) if wait else job

    # Without waiting nothing is begun here that would be cut off at once.
    job = with_memory(config if wait else unchanging(config), act, WORDS if wait else None)
    show_engine(setup, job.changed)
    if json_:
        render.as_json(job_json(job))
    elif job.status == "done":
        render.line(for_person(job.outcome or f"{job.job_id} is done."))
    elif job.status != "failed":
        render.line(f"{job.job_id} is {job.status}; memory-mcp jobs {job.job_id} tells how it is.")
        render.remark("A server of this home does it; --wait does it here.")
    if job.status == "failed":
        raise MemoryMcpError(f"{job.job_id} failed: {job.error}")


@dream.command("list")
@click.option("--status", type=click.Choice((*STATUSES, "all")), default="pending")
@as_json
@pass_setup
def list_dreams(setup: Setup, status: str, json_: bool) -> None:
    """The passes that found something, the newest first."""
    found = _dreams(setup.existing()).all(status)
    if json_:
        render.as_json({"dreams": [_dream_json(item) for item in found]})
        return
    if not found:
        render.remark(f"There are no findings{'' if status == 'all' else f' that are {status}'}.")
        return
    rows = [
        [
            item.dream_id,
            item.phase,
            when(item.created),
            f"{len(item.pending)} of {len(item.findings)}",
            item.source,
        ]
        for item in found
    ]
    columns = ["dream", "phase", "created", "waiting", "source"]
    render.table(columns, rows, whole=columns[:4])


@dream.command("show")
@click.argument("dream_id")
@as_json
@pass_setup
def show_dream(setup: Setup, dream_id: str, json_: bool) -> None:
    """The findings of one pass."""
    found = _dreams(setup.existing()).get(dream_id)
    if json_:
        head = {"dream_id": found.dream_id, "phase": found.phase, "created": found.created}
        render.as_json({**head, "findings": [_finding_json(item) for item in found.findings]})
        return
    render.strong(f"{found.dream_id}: {found.phase}, {when(found.created)}, {found.source}")
    for item in found.findings:
        _show_finding(item)


@dream.command()
@click.argument("dream_id")
@click.argument("finding_id")
@click.option("--reason", metavar="TEXT", help="Why, for the record.")
@click.option("--resolved-manually", is_flag=True, help="Only mark it: it was done otherwise.")
@dry_run_option
@as_json
@pass_setup
def apply(
    setup: Setup,
    dream_id: str,
    finding_id: str,
    reason: str | None,
    resolved_manually: bool,
    dry_run: bool,
    json_: bool,
) -> None:
    """Carry a finding out as it was proposed. Twice is once."""
    config = setup.existing()
    if dry_run:

        async def preview(app: App) -> tuple[Change, ...] | None:
            return await app.curation.approvals.preview(dream_id, finding_id)

        _show_changes(with_memory(unchanging(config), preview), json_)
        return
    _decide(
        setup,
        config,
        lambda app: app.curation.approvals.apply(
            dream_id, finding_id, reason, resolved_manually=resolved_manually
        ),
        json_,
    )


@dream.command()
@click.argument("dream_id")
@click.argument("finding_id", required=False)
@click.option("--reason", metavar="TEXT", help="Why, for the record.")
@as_json
@pass_setup
def dismiss(
    setup: Setup, dream_id: str, finding_id: str | None, reason: str | None, json_: bool
) -> None:
    """Put a finding aside, or all of a pass that wait."""
    _decide(
        setup,
        setup.existing(),
        lambda app: app.curation.approvals.dismiss(dream_id, finding_id, reason),
        json_,
    )


def _decide(
    setup: Setup, config: Config, act: Callable[[App], Awaitable[Decided]], json_: bool
) -> None:
    done = with_memory(config, act)
    show_engine(setup, done.changed)
    if json_:
        render.as_json(
            {
                "dream_id": done.dream_id,
                "finding_id": done.finding_id,
                "status": done.status,
                "changed": list(done.changed),
                "left": done.left,
            }
        )
        return
    render.line(f"{' '.join(filter(None, (done.dream_id, done.finding_id)))}: {done.status}.")
    if done.changed:
        render.line(f"Changed {', '.join(done.changed)}.")
    if done.run:
        render.line(f"memory-mcp restore --run {done.run} takes it back.")
    if done.left:
        render.line(f"{counted(done.left, 'finding')} of this pass left to decide.")


def _show_changes(changes: tuple[Change, ...] | None, json_: bool) -> None:
    if json_:
        rows = [
            {"reference": item.reference, "reason": item.reason, "diff": unified_diff([item])}
            for item in changes or ()
        ]
        render.as_json({"changes": rows})
        return
    if changes:
        render.verbatim(unified_diff(changes))
    else:
        render.remark(_NO_NOTE if changes is None else "Nothing would change.")


def _dreams(config: Config) -> Dreams:
    project = project_here(config)
    owner = owner_of(config.agent, None if project is None else project.id)
    return Dreams(Path(config.home) / ".state" / "dreams", owner)


def _dream_json(item: Dream) -> dict[str, object]:
    return {
        "dream_id": item.dream_id,
        "phase": item.phase,
        "created": item.created,
        "source": item.source,
        "pending": len(item.pending),
        "total": len(item.findings),
    }


def _finding_json(item: Finding) -> dict[str, object]:
    return {
        "finding_id": item.finding_id,
        "kind": item.kind,
        "action": item.action,
        "reference": item.reference,
        "proposed_content": item.proposed_content,
        "reason": item.reason,
        "status": item.status,
        "likely_duplicate": item.likely_duplicate,
        "duplicate_of": item.duplicate_of,
        "matched_excerpt": item.matched_excerpt,
        "novel_details": list(item.novel_details),
        "evidence": list(item.evidence),
    }


def _show_finding(item: Finding) -> None:
    render.line()
    decided = f" ({item.decided})" if item.decided else ""
    render.strong(
        f"{item.finding_id}  {item.kind}  {item.action}  {item.reference}  {item.status}{decided}"
    )
    render.line(for_person(item.reason))
    if item.duplicate_of:
        known = "Likely a duplicate of" if item.likely_duplicate else "Near to"
        new = ", ".join(item.novel_details) or "nothing concrete"
        render.line(f"{known} {item.duplicate_of}; new in it: {new}.")
    if item.evidence:
        render.line(f"Seen in {', '.join(item.evidence)}.")
    if item.proposed_content:
        for text in item.proposed_content.splitlines():
            render.line(f"    {text}")
