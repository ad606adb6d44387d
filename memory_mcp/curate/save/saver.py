"""Saving: noted durably at once, filed behind, and never twice."""

from __future__ import annotations

import anyio.to_thread

from memory_mcp.core.errors import InputError
from memory_mcp.core.given import given_text
from memory_mcp.core.reference import GLOBAL
from memory_mcp.curate.jobs.journal import Job
from memory_mcp.curate.jobs.kinds import SAVE
from memory_mcp.curate.jobs.worker import Jobs
from memory_mcp.curate.save.filing import request_of
from memory_mcp.curate.save.given import line_of, url_of
from memory_mcp.curate.write.edit import Writer
from memory_mcp.curate.write.policy import check_scope


class Saver:
    """Texts that are to be remembered: noted as jobs, and filed by the worker."""

    def __init__(self, jobs: Jobs, writer: Writer, wider: Saver | None = None) -> None:
        """`wider` saves to the agent's global inbox, where the jobs are those of a project."""
        self._jobs = jobs
        self._wider = wider
        self._writer = writer

    async def save(
        self,
        content: str,
        context: str | None = None,
        source_url: str | None = None,
        scope: str | None = None,
        *,
        job_id: str | None = None,
    ) -> Job:
        """Note a text to be filed, durably, and return at once.

        Private parts and injected frames are left out before anything is on disk. `job_id`: see
        `Jobs.add`. Raises InputError, RefusedError (read-only; a secret where the settings
        refuse), ConflictError, StorageError.
        """
        self._writer.check_writable()
        check_scope(scope, project=self._jobs.project is not None)
        if scope == GLOBAL and self._wider is not None:
            return await self._wider.save(content, context, source_url, scope, job_id=job_id)
        given = given_text(content, "content").text
        if not given.strip():
            raise InputError("content is empty; give the text to remember.")
        request = request_of(given, line_of(context, "context"), url_of(source_url))
        await anyio.to_thread.run_sync(self._writer.check_text, request["content"] or "")
        return await self._jobs.add(SAVE, request, job_id=job_id)
