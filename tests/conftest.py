"""What all tests share."""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("house", deadline=None)  # speed is measured in benchmarks/, never here
settings.load_profile("house")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
