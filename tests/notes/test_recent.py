"""What clients saw lately is at hand when something changed."""

from __future__ import annotations

import hashlib

from memory_mcp.notes.recent import Recent


def revision(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]


def test_a_text_is_found_by_its_note_and_revision() -> None:
    recent = Recent()
    recent.keep("memory/a", b"one")
    recent.keep("memory/a", b"two")
    assert recent.get("memory/a", revision(b"one").upper() + " ") == b"one"
    assert recent.get("memory/b", revision(b"one")) is None


def test_the_oldest_texts_make_room() -> None:
    recent = Recent(most=10)
    for data in (b"1111", b"2222", b"3333"):
        recent.keep("memory/a", data)
    kept = [data for data in (b"1111", b"2222", b"3333") if recent.get("memory/a", revision(data))]
    assert kept == [b"2222", b"3333"]


def test_a_text_that_is_read_again_is_young_again_and_counts_once() -> None:
    recent = Recent(most=8)
    for data in (b"1111", b"2222", b"1111", b"3333"):
        recent.keep("memory/a", data)
    assert recent.get("memory/a", revision(b"1111")) == b"1111"
    assert recent.get("memory/a", revision(b"2222")) is None


def test_a_text_larger_than_the_room_is_not_kept() -> None:
    recent = Recent(most=3)
    recent.keep("memory/a", b"1111")
    assert recent.get("memory/a", revision(b"1111")) is None
