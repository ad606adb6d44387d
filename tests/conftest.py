"""What all tests share."""

from __future__ import annotations

import pytest
from hypothesis import settings

from memory_mcp.curate.write.detector import suspicions

settings.register_profile("house", deadline=None)  # speed is measured in benchmarks/, never here
settings.load_profile("house")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def pytest_configure(config: pytest.Config) -> None:
    """Have the rules for secrets compiled and kept before tests count seconds: it is done once
    for a user account, and takes longer than a test may."""
    if not hasattr(config, "workerinput"):
        suspicions("0123456789abcdef")
