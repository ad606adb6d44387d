"""One pass of Deep in a process of its own, which may be killed: `python -m benchmarks.deep_pass
HOME URL`. Ends when the pass is done; what an earlier one left is gone on with first."""

from __future__ import annotations

import sys

import anyio

from memory_mcp.app import open_app
from memory_mcp.core.config import Config

SECONDS = 600.0


def config_of(home: str, url: str) -> Config:
    """The settings of a home without an embedder and with a model at this address."""
    reasoner = {"provider": "openai-compatible", "base_url": url, "model": "scripted"}
    return Config.model_validate(
        {
            "home": home,
            "embedding": {"provider": "none"},
            "index": {"watch": False, "sweep_seconds": 0, "rescan_minutes": 0},
            "reasoner": reasoner,
            "curation": {"max_tokens_day": 1_000_000_000, "deep_hours": 0, "lucid_days": 0},
        }
    )


async def work(home: str, url: str) -> str:
    """Do all jobs of the home, then a pass of its own; its outcome."""
    async with open_app(config_of(home, url)) as app:
        app.start()
        await app.settled(SECONDS)
        for job in app.jobs.list():
            await app.jobs.finished(job.job_id, SECONDS)
        job = await app.jobs.add("dream-deep", {"force": True})
        done = await app.jobs.finished(job.job_id, SECONDS)
        return f"{done.status}: {done.outcome or done.error}"


if __name__ == "__main__":
    print(anyio.run(work, sys.argv[1], sys.argv[2]))
