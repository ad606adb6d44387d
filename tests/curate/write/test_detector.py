"""Secrets noticed in texts that are written. All values are made up, and parted in this file."""

from __future__ import annotations

import threading

import pytest

from memory_mcp.core.errors import RefusedError
from memory_mcp.curate.write.detector import could_hold_token, new_suspicions, suspicions
from memory_mcp.curate.write.policy import check_secrets

GITHUB = "gh" + "p_a1B2c3D4e5a1B2c3D4e5a1B2c3D4e5abcdef"
GITLAB = "gl" + "pat-a1B2c3D4e5F6g7H8i9J0"
HOOK = "https://hooks.slack.com/" + "services/TA1B2C3D4/BA1B2C3D4E/a1B2c3D4e5a1B2c3D4e5a1B2"


@pytest.mark.parametrize("value", [GITHUB, GITLAB, HOOK, "h" + "f_" + "aBcDeFgHiJkLmNoPq" * 2])
def test_a_token_of_an_issuer_is_noticed_without_words_around_it(value: str) -> None:
    found = suspicions(f"# Printer\n\nin the hall: {value}\n")
    assert [item.line for item in found] == [3]
    assert value not in f"{found[0]} {found[0]!r}"


@pytest.mark.parametrize(
    "text",
    [
        "Commit 9fceb02d0ae598e95dc970b74767f19372d61af8 fixes the token refresh.",
        "The job 123e4567-e89b-12d3-a456-426614174000 ended.",
        "IBAN DE89370400440532013000 beim Notar.",
        "![plan](data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUg" * 30 + "=)",
        "https://example.org/2026/03/a-long-title-of-a-page?id=7&ref=abc",
        "No token is baked into the image. Set mapToken from the variable MAP_TOKEN.",
        "密码在保险箱里。Das Passwort liegt im Tresor.",
    ],
)
def test_ordinary_text_is_no_secret(text: str) -> None:
    assert suspicions(text) == ()


def test_prose_does_not_load_the_rules() -> None:
    assert not could_hold_token("The garden needs water.\n\nDer Garten braucht Wasser! 花园。")
    assert could_hold_token(f"x {GITHUB}")


@pytest.mark.parametrize(
    "time", ["2026-03-01T09:24:20+00:00", "2026-03-01T09:24:20.123456Z", "2026-03-01T09:24+0100"]
)
def test_the_times_in_a_header_do_not_load_the_rules(time: str) -> None:
    assert not could_hold_token(f"---\ncreated: {time}\nupdated: '{time}'\n---\n# Tea\n")
    assert could_hold_token(f"updated: {time}\nkey: {GITHUB}\n")


def test_only_what_a_change_brings_in_counts() -> None:
    assert new_suspicions(f"old {GITHUB}", f"# New\n\nnew {GITHUB}") == ()
    fresh = new_suspicions(f"old {GITHUB}", f"old {GITHUB}\nand {GITLAB}")
    assert [item.line for item in fresh] == [2]


def test_warning_and_refusal_name_kind_and_line_only() -> None:
    text = f"one\n{GITHUB}\npassword: Kran7312x"
    (warning,) = check_secrets("", text, "warn")
    with pytest.raises(RefusedError) as refused:
        check_secrets("", text, "refuse")
    for said in (warning, str(refused.value)):
        assert "line 2" in said and "line 3" in said
        assert GITHUB not in said and "Kran7312x" not in said
    assert check_secrets("", text, "allow") == ()


def test_many_secrets_are_counted_not_listed() -> None:
    text = "\n".join(f"password: Kran7312x{number:02}" for number in range(30))
    (warning,) = check_secrets("", text, "warn")
    assert "and 25 more" in warning
    assert len(warning) < 400


def test_a_text_that_cannot_be_looked_through_in_time_is_said_and_refused() -> None:
    text = f"{GITHUB}\n" * 30_000
    (warning,) = check_secrets("", text, "warn", seconds=0.01)
    assert "could not be looked through" in warning
    with pytest.raises(RefusedError, match="could not be looked through"):
        check_secrets("", text, "refuse", seconds=0.01)


def test_threads_may_look_at_the_same_time() -> None:
    found: list[int] = []

    def look() -> None:
        found.extend(len(suspicions(f"a {GITHUB} b")) for _ in range(50))

    threads = [threading.Thread(target=look) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1] * 300
