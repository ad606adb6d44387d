"""Which pages of the wiki are no pages of content."""

from __future__ import annotations

import pytest

from memory_mcp.curate.wiki.page_names import is_own


@pytest.mark.parametrize("path", ["people/README", "README", "index", "logs/2026-11"])
def test_guides_index_and_logs_are_no_pages_of_content(path: str) -> None:
    assert is_own(path)


@pytest.mark.parametrize("path", ["people/readme-lopez", "people/index", "readme/alice"])
def test_pages_with_names_like_theirs_are(path: str) -> None:
    assert not is_own(path)
