"""Facts that are filed behind: `save` and `jobs`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memory_mcp.cli import render
from memory_mcp.cli.asking import show_engine
from memory_mcp.cli.context import Setup, as_json, pass_setup, project_here
from memory_mcp.cli.notes import content_option, given_text, scope_option
from memory_mcp.cli.running import unchanging, with_memory
from memory_mcp.cli.wording import for_person, when
from memory_mcp.core.errors import MemoryMcpError, NotFoundError

if TYPE_CHECKING:
    from memory_mcp.app import App
    from memory_mcp.curate.jobs.journal import Job

FILING_SECONDS = 15.0
"""How long `save` stays for the filing; after that another process does it."""


@click.command()
@content_option
@click.option("--context", metavar="TEXT", help="Where it comes from, what it belongs to.")
@click.option("--source-url", metavar="URL", help="The web page it was taken from.")
@scope_option
@as_json
@pass_setup
def save(
    setup: Setup,
    content: str | None,
    context: str | None,
    source_url: str | None,
    scope: str | None,
    json_: bool,
) -> None:
    """Keep a fact without choosing a name for it."""
    config, text = setup.config(), given_text(content)

    async def act(app: App) -> Job:
        job = await app.saver.save(text, context, source_url, scope)
        return await app.jobs.finished(job.job_id, FILING_SECONDS)

    job = with_memory(config, act, None)
    if job.changed:
        show_engine(setup, job.changed)
    if json_:
        render.as_json(job_json(job))
    elif job.status != "failed":
        render.line(job.outcome or f"Noted as job {job.job_id}; it is filed by the next server.")
    if job.status == "failed":
        raise MemoryMcpError(f"{job.job_id} failed: {job.error}")


@click.command()
@click.argument("job_id", required=False)
@click.option("--cancel", metavar="ID", help="End a job that waits or runs.")
@as_json
@pass_setup
def jobs(setup: Setup, job_id: str | None, cancel: str | None, json_: bool) -> None:
    """What became of saved facts and of passes, newest first."""
    config = setup.existing()
    if cancel is not None:
        if job_id is not None:
            raise click.UsageError("Give either a JOB_ID to look at, or --cancel ID.")
        with_memory(unchanging(config), lambda app: app.jobs.cancel(cancel), None)
        job_id = cancel.strip()
    project = project_here(config)
    found = journal_jobs(
        Path(config.home), config.agent, job_id, None if project is None else project.id
    )
    if json_:
        render.as_json({"jobs": [job_json(job) for job in found]})
        return
    if not found:
        render.remark("There are no jobs.")
        return
    rows = [
        [
            job.job_id,
            job.kind,
            job.status,
            when(job.created),
            for_person(job.error or job.outcome or ""),
        ]
        for job in found
    ]
    columns = ["job", "kind", "status", "created", "outcome"]
    render.table(columns, rows, whole=columns[:4])


def journal_jobs(
    home: Path, agent: str, job_id: str | None, project: str | None = None
) -> Sequence[Job]:
    """The jobs of an agent (and of a project), read from the journal of its home. Raises
    NotFoundError for one that it does not have."""
    from memory_mcp.curate.jobs.journal import Journal

    records = Journal(home / ".state" / "jobs").records()
    owners = ((agent, None), (agent, project))
    known = [record.job for record in records if record.owner in owners]
    if job_id is None:
        return known[::-1]
    found = [job for job in known if job.job_id == job_id]
    if not found:
        raise NotFoundError(f"there is no job {job_id}; memory-mcp jobs lists all")
    return found


def job_json(job: Job) -> dict[str, object]:
    """A job as the tool memory_jobs shows it."""
    return {
        "job_id": job.job_id,
        "kind": job.kind,
        "status": job.status,
        "outcome": job.outcome,
        "changed": list(job.changed),
        "error": job.error,
        "created": job.created,
        "finished": job.finished,
    }
