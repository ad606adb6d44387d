"""Taking over another memory: `import`."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memory_mcp.cli import render
from memory_mcp.cli.asking import show_engine
from memory_mcp.cli.context import Setup, as_json, pass_setup
from memory_mcp.cli.running import WORDS, with_memory
from memory_mcp.core.counting import counted
from memory_mcp.curate.importing.item import KINDS, Kind
from memory_mcp.curate.jobs.kinds import IMPORT
from memory_mcp.curate.jobs.task import Outcome
from memory_mcp.curate.plans.plan import unified_diff

if TYPE_CHECKING:
    from memory_mcp.app import App
    from memory_mcp.curate.importing.placing import Into
    from memory_mcp.curate.importing.planning import Import, Taken


@click.command("import")
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--into", type=click.Choice(["wiki", "memory"]), help="Pages, or inbox notes.")
@click.option("--folder", metavar="NAME", help="The folder in the wiki; '' for its top.")
@click.option("--dry-run", is_flag=True, help="Show what would come, and change nothing.")
@as_json
@pass_setup
def import_(
    setup: Setup,
    kind: Kind,
    path: Path,
    into: Into | None,
    folder: str | None,
    dry_run: bool,
    json_: bool,
) -> None:
    """Take over the notes of another memory.

    KIND is markdown (a folder of Markdown files), mcp-memory (the JSONL graph of the reference
    memory server) or claude-code (the auto-memory of Claude Code). What is there is never changed.
    """
    config, place = setup.existing(), path.expanduser()
    run = f"import-{secrets.token_hex(6)}"

    async def act(app: App) -> Import:
        from memory_mcp.curate.importing.planning import plan_import

        if not dry_run:
            app.curation.runs.check_writable()
        plan = await plan_import(app.curation.parts, kind, place, into, folder)
        if not dry_run:
            changed = await app.curation.runs.apply(run, plan.changes)
            if changed:
                told = Outcome(f"{counted(len(plan.taken), 'note')} from {place}.", changed)
                await app.jobs.add(IMPORT, {}, job_id=run, done=told)
        return plan

    plan = with_memory(config, act, WORDS)
    done = bool(plan.changes) and not dry_run
    if done:
        show_engine(setup, [change.reference for change in plan.changes])
    if json_:
        render.as_json(_json(plan, run if done else None, dry_run))
        return
    if dry_run and plan.changes:
        render.verbatim(unified_diff(plan.changes))
    _report(plan, path, run, dry_run)


def _report(plan: Import, path: Path, run: str, dry_run: bool) -> None:
    for one in plan.taken:
        render.line(f"  taken  {one.origin} -> {one.reference}")
        for remark in one.remarks:
            render.line(f"         {remark}")
    for one in plan.there:
        render.line(f"  there  {one.origin} = {one.reference}")
    for item in plan.left:
        render.line(f"  left   {item.origin}: {item.reason}")
    would = "would be imported" if dry_run else "imported"
    render.strong(
        f"{counted(len(plan.taken), 'note')} {would} from {path},"
        f" {len(plan.there)} there already, {len(plan.left)} left."
    )
    if plan.changes and not dry_run:
        render.line(f"The run is {run}; to take all of it back: memory-mcp restore --run {run}")


def _json(plan: Import, run: str | None, dry_run: bool) -> dict[str, Any]:
    return {
        "run": run,
        "dry_run": dry_run,
        "by": plan.by,
        "taken": [_row(one) for one in plan.taken],
        "there": [_row(one) for one in plan.there],
        "left": [{"from": item.origin, "reason": item.reason} for item in plan.left],
        "diff": unified_diff(plan.changes) if dry_run else None,
    }


def _row(one: Taken) -> dict[str, Any]:
    return {"from": one.origin, "reference": one.reference, "remarks": list(one.remarks)}
