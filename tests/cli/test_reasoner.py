"""What `status` and `doctor` say of the reasoner."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Command

KEY = "sk-hedge-hog-0123456789"


def configure(home: Path, reasoner: str) -> None:
    text = f"embedding: {{provider: none}}\nreasoner: {reasoner}\n"
    (home / "config.yml").write_text(text, encoding="utf-8")


def test_without_a_reasoner_both_say_who_does_its_work(home: Path, command: Command) -> None:
    assert "reasoner: none; your own agent" in command("status").out
    assert "reasoner" not in command("status", "--json").json
    done = command("doctor")
    assert (done.code, "ok     reasoner: none; your own agent" in done.out) == (0, True)


def test_a_reasoner_is_named_with_its_variable_and_never_with_its_key(
    home: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(home, "{provider: anthropic, model: large-1}")
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    said = "reasoner: anthropic large-1, its key from ANTHROPIC_API_KEY (set here)"
    for words in (["status"], ["doctor"]):
        done = command(*words)
        assert (done.code, said in done.out) == (0, True)
        assert KEY not in done.out + done.err + command(*words, "--json").out
    assert command("status", "--json").json["reasoner"] == {
        "provider": "anthropic",
        "model": "large-1",
        "api_key_env": "ANTHROPIC_API_KEY",
        "api_key_set": True,
        "error": None,
        "fallback": [],
    }


def test_doctor_names_a_variable_that_is_not_set(
    home: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(home, "{provider: anthropic, model: large-1}")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    done = command("doctor")
    assert done.code == 1
    assert "WRONG  reasoner: anthropic large-1, its key from ANTHROPIC_API_KEY (not" in done.out
    assert "ANTHROPIC_API_KEY (not set here)" in command("status").out
    assert command("status").code == 0


def test_each_fallback_is_looked_at_and_a_program_that_is_missing_is_named(
    home: Path, command: Command
) -> None:
    first = f"provider: command, command: [{sys.executable}]"
    second = "{provider: command, command: no-such-program}"
    configure(home, f"{{{first}, fallback: [{second}]}}")
    done = command("doctor")
    assert done.code == 1
    assert "ok     reasoner: command" in done.out
    assert "WRONG  reasoner.fallback.0: command: the program 'no-such-program'" in done.out
    state = command("status", "--json").json["reasoner"]
    assert state["error"] is None and "no-such-program" in state["fallback"][0]["error"]


def test_doctor_remarks_on_a_day_without_tokens(home: Path, command: Command) -> None:
    configure(home, "{provider: openai-compatible, base_url: 'http://localhost:1', model: small}")
    with (home / "config.yml").open("a", encoding="utf-8") as file:
        file.write("curation: {max_tokens_day: 0}\n")
    done = command("doctor")
    assert (done.code, "note   reasoner: curation.max_tokens_day is 0" in done.out) == (0, True)
    assert "ok     reasoner: openai-compatible small\n" in done.out


@pytest.mark.parametrize(
    "reasoner",
    [
        f"{{provider: anthropic, model: large-1, api_key_env: {KEY}}}",
        f"{{provider: openai-compatible, model: m, base_url: 'http://me:{KEY}@localhost:1/v1'}}",
        f"{{provider: openai-compatible, model: m, base_url: 'http://me:p@{KEY}@localhost:1'}}",
        f"{{provider: openai-compatible, model: m, base_url: 'http://localhost:1/v1?key={KEY}'}}",
        f"{{provider: openai-compatible, model: m, base_url: 'me:{KEY}@localhost'}}",
        f"{{provider: command, command: 'API_KEY={KEY} ask'}}",
        f"{{provider: command, command: 'ask --key \"{KEY}'}}",
    ],
)
def test_a_key_that_stands_in_the_settings_is_never_shown(
    home: Path, command: Command, reasoner: str
) -> None:
    configure(home, reasoner)
    for words in (["status"], ["doctor"], ["status", "--json"], ["doctor", "--json"]):
        done = command(*words)
        assert KEY not in done.out + done.err
    if "command" not in reasoner:
        done = command("config", "show")
        assert KEY not in done.out + done.err
