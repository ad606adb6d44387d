"""Texts that look like a secret. All values here are made up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.secret import Suspicion, merged, suspicions

KEY = "sk-demo-" + "Ab3" * 8


@pytest.mark.parametrize(
    "text",
    [
        f"The api_key is {KEY} here.",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQ\n-----END PGP PRIVATE KEY BLOCK-----",
        "AKIA" + "A1B2C3D4E5F6G7H8",
        "password: hunter2hunter2",
        'PASSWORD="tr0ub4dor&3x"',
        "DB_PASSWORD = 'Falke+blau77'",
        "Das Passwort lautet Kn0blauch77",
        "WLAN-Kennwort ist Quarz-Kran7312.",
        "路由器的密码是Kran7312x，别忘了。",
        "パスワード：Kran7312x",
        "Le mot de passe est Kran7312x",
        "contraseña: Kran7312x",
        "postgres://admin:s3cret99@db.example.org/x",
        "redis://:s3cret99@cache:6379/0",
        "token = 9f8e7d6c5b4a39281706",
        "export WEATHER_API_KEY=9f8e7d6c5b4a39281706",
        "Authorization: Bearer 9f8e7d6c5b4a39281706",
        "curl -s -u admin:s3cret99 https://api.example.org",
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
        "postgres://app:${PGPASSWORD}@db/main",
        "postgres://user:password@localhost/db",
        "The monkey: banana5banana5",
        "tokenizer: cl100k_base",
        "密码：见蓝色文件夹。",
        "grep -u root:file1234 names",
        "sk-learn-contrib-projects-are-fine",
    ],
)
def test_ordinary_text_is_no_secret(text: str) -> None:
    assert suspicions(text) == ()


def test_the_line_is_told() -> None:
    assert str(suspicions(f"one\ntwo {KEY}")[0]) == "an API key (line 2)"


def test_of_two_rules_that_see_one_value_the_first_counts() -> None:
    first = (Suspicion("a token", 2, "abcdef123456"),)
    then = (Suspicion("other", 2, "xx-abcdef123456"), Suspicion("third", 1, "zzz"))
    assert [item.kind for item in merged(first, then)] == ["third", "a token"]


def test_a_suspicion_is_never_printed_with_its_value() -> None:
    found = suspicions(f"one\ntwo {KEY}")[0]
    assert KEY not in f"{found} {found!r}"


@pytest.mark.parametrize(
    "piece", ["password=", "密码：", "sk-", "sk-a", "a://b:", "curl -u ", "Bearer ", "token is "]
)
def test_a_text_made_to_be_slow_is_not(piece: str) -> None:
    assert suspicions(piece * (500_000 // len(piece))) == ()


@given(st.text(max_size=300))
def test_any_text_is_taken(text: str) -> None:
    for found in suspicions(text):
        assert found.value in text
        assert 1 <= found.line <= text.count("\n") + 1
