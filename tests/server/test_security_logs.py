"""No note text in any log, and nobody but the owner in the folders that hold copies of it."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path

import pytest

from tests.server.worlds import Talk, World, talking, text_of, world

pytestmark = pytest.mark.anyio

MARK = "quokkaword"


async def _session(talk: Talk, place: World) -> None:
    """Calls of every kind, right and wrong, whose texts all hold the word."""
    note = f"---\ntitle: {MARK}\ntags: [{MARK}]\npinned: {MARK}\n---\n# {MARK}\n\n{MARK} text\n"
    calls: list[tuple[str, dict[str, object]]] = [
        ("memory_write", {"slug": "a", "content": note}),
        ("memory_write", {"slug": "a", "content": f"{MARK} password: {MARK}123456"}),
        ("memory_write", {"slug": f"{MARK} /", "content": MARK}),
        ("memory_edit", {"slug": "a", "old_text": f"{MARK} none", "new_text": MARK}),
        ("memory_edit", {"slug": "a", "heading": MARK, "content": MARK}),
        ("memory_get", {"reference": "a", "heading": MARK}),
        ("memory_search", {"query": f"{MARK} what", "tag": MARK, "source": MARK}),
        ("memory_search", {"query": MARK}),
        ("memory_list", {"cursor": MARK}),
        ("memory_save", {"content": MARK, "context": MARK, "source_url": f"{MARK} x"}),
        ("memory_save", {"content": f"{MARK} {MARK}", "context": MARK}),
        ("memory_link", {"source": "a", "target": MARK, "relation": f"{MARK} {MARK}!"}),
        ("memory_write", {"slug": "a", "content": MARK, MARK: MARK}),
        ("memory_write", {"slug": "a", "content": [MARK]}),
    ]
    for tool, arguments in calls:
        await talk.client.call_tool(tool, arguments)
    place.inbox("a").write_text(f"{MARK} by an editor", encoding="utf-8")
    text_of(await talk.client.call_tool("memory_edit", {"slug": "a", "append": MARK}))
    for job in place.app.jobs.list():
        await place.app.jobs.finished(job.job_id, 8)


class _Broken:
    """A part that fails with a text that quotes a note."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, name: str) -> object:
        raise self._error


async def test_no_text_of_a_note_or_of_a_question_is_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    files: dict[str, str | bytes] = {
        "memory/bad.md": f"---\ntitle: [{MARK}\ntags: {{a: {MARK}}}\n---\n{MARK}\n",
        "memory/latin.md": f"{MARK} \xe9\xe8 {MARK}\n".encode("latin-1"),
        "memory/odd.md": f"---\npinned: {MARK}\ncreated: {MARK}\n---\n{MARK}\n",
        "vault/big.md": f"{MARK}\n" * 2_000_000,
    }
    with caplog.at_level(logging.INFO), caplog.at_level(logging.DEBUG, logger="memory_mcp"):
        async with world(tmp_path / "home", files) as place, talking(place) as talk:
            await _session(talk, place)
            place.app.searcher = _Broken(ValueError(MARK))  # type: ignore[assignment]
            place.app.reader = _Broken(KeyError(MARK))  # type: ignore[assignment]
            for tool, arguments in (
                ("memory_search", {"query": MARK}),
                ("memory_get", {"reference": "a"}),
            ):
                answer = await talk.client.call_tool(tool, arguments)
                assert answer.is_error
                assert MARK not in text_of(answer)
    assert caplog.records
    ours = [record for record in caplog.records if not record.name.startswith("asyncio")]
    assert [record.getMessage() for record in ours if MARK in record.getMessage()] == []
    assert MARK not in caplog.text


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
@pytest.mark.parametrize("before", [None, 0o777])
async def test_only_the_owner_may_look_into_what_is_derived_and_kept(
    tmp_path: Path, before: int | None
) -> None:
    home = tmp_path / "home"
    if before is not None:
        for name in (".index", ".state", ".history"):
            (home / name).mkdir(parents=True)
            (home / name).chmod(before)
    async with world(home, {"memory/a.md": "one"}) as place, talking(place) as talk:
        await _session(talk, place)
        wide = [
            (str(path.relative_to(home)), oct(stat.S_IMODE(path.stat().st_mode)))
            for top in (".index", ".state", ".history")
            for path in (home / top, *(home / top).rglob("*"))
            if stat.S_IMODE(path.stat().st_mode) & 0o077
        ]
    assert wide == []
