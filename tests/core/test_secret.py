"""Texts that look like a secret. All values here are made up."""

from __future__ import annotations

import pytest

from memory_mcp.core.secret import new_suspicions, suspicions

KEY = "sk-demo-" + "Ab3" * 8


@pytest.mark.parametrize(
    "text",
    [
        f"The api_key is {KEY} here.",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----",
        "AKIA" + "A1B2C3D4E5F6G7H8",
        "ghp_" + "a1B2c3D4e5" * 4,
        "password: hunter2hunter2",
        'PASSWORD="tr0ub4dor&3x"',
        "Das Passwort lautet Kn0blauch77",
        "postgres://admin:s3cret99@db.example.org/x",
        "token = 9f8e7d6c5b4a39281706",
    ],
)
def test_a_key_or_password_is_noticed_and_never_repeated(text: str) -> None:
    found = suspicions(text)
    assert len(found) == 1
    assert found[0].value not in str(found[0]) or "BEGIN" in found[0].value


@pytest.mark.parametrize(
    "text",
    [
        "No token is baked into the image; set appToken from the variable APP_TOKEN.",
        "Commit 3b1f0c2a9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f4a fixes it.",
        "The password is in the safe.",
        "The secret is patience.",
        "password: see the blue folder",
        "password: ${DB_PASSWORD_2}",
        "api_key: <your-key-1>",
        "token: your-token-123",
        "The key is under the mat, flat 12b.",
        "https://example.org/a:b@c",
        "sk-learn-contrib-projects-are-fine",
    ],
)
def test_ordinary_text_is_no_secret(text: str) -> None:
    assert suspicions(text) == ()


def test_the_line_is_told() -> None:
    assert str(suspicions(f"one\ntwo {KEY}")[0]) == "an API key (line 2)"


def test_only_what_a_change_brings_in_counts() -> None:
    assert new_suspicions(f"old {KEY}", f"new {KEY}") == ()
    assert len(new_suspicions("old", f"new {KEY}")) == 1
