"""Where tokens come from, and what is none."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from memory_mcp.core.config import Config
from memory_mcp.core.errors import ConfigError, InputError
from memory_mcp.server.http.grants import Grant, PortRequest
from memory_mcp.server.http.tokens import grants_of
from memory_mcp.server.session import Options

LONG = "0123456789abcdef"


def settings(home: Path, **values: Any) -> Config:
    """Settings of a home; `http` is what the tests are about."""
    return Config.model_validate({"home": str(home), **values})


def secret_file(path: Path, text: str, mode: int = 0o600) -> Path:
    """A file with a token."""
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


def test_without_a_token_there_is_one_open_grant(tmp_path: Path) -> None:
    grants, warnings = grants_of(settings(tmp_path, agent="ann"), {})
    assert grants == (Grant("open", None, Options("ann")),)
    assert warnings == ()


def test_the_variable_is_the_token_of_the_agent_of_the_settings(tmp_path: Path) -> None:
    config = settings(tmp_path, agent="ann", writing={"read_only": True})
    grants, _ = grants_of(config, {"MEMORY_MCP_TOKEN": f" {LONG}\n"})
    assert grants == (Grant("default", LONG, Options("ann", True)),)


def test_a_file_gives_the_token_without_its_line_end(tmp_path: Path) -> None:
    secret_file(tmp_path / "token", f"{LONG}\r\n")
    config = settings(tmp_path, http={"token_file": "token"})
    (grant,), warnings = grants_of(config, {})
    assert grant.token == LONG
    assert warnings == ()
    (grant,), _ = grants_of(config, {"MEMORY_MCP_TOKEN": "of-the-variable"})
    assert grant.token == "of-the-variable"


@pytest.mark.skipif(sys.platform == "win32", reason="no modes there")
def test_a_file_that_others_may_read_is_a_warning(tmp_path: Path) -> None:
    path = secret_file(tmp_path / "token", LONG, 0o644)
    _, (warning,) = grants_of(settings(tmp_path, http={"token_file": str(path)}), {})
    assert "chmod 600" in warning
    assert str(path) in warning
    assert LONG not in warning


def test_named_tokens_have_their_own_agents_and_rights(tmp_path: Path) -> None:
    secret_file(tmp_path / "ben", "token-of-ben")
    tokens = [
        {"name": "ben", "token_file": "ben", "agent": "ben"},
        {"name": "guest", "token_env": "GUEST", "read_only": True},
    ]
    environ = {"GUEST": "token-of-guest", "MEMORY_MCP_TOKEN": LONG}
    grants, _ = grants_of(settings(tmp_path, http={"tokens": tokens}), environ)
    assert grants == (
        Grant("default", LONG, Options()),
        Grant("ben", "token-of-ben", Options("ben")),
        Grant("guest", "token-of-guest", Options("default", True)),
    )


@pytest.mark.parametrize(
    "text",
    ["", "   ", "short", "1234567", "two words here", "x\nyyyyyyyy", "ключключключ", "a" * 5000],
)
def test_what_is_no_token_is_refused_and_never_quoted(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        grants_of(settings(tmp_path), {"MEMORY_MCP_TOKEN": text})
    assert "MEMORY_MCP_TOKEN" in str(caught.value)
    assert "openssl rand" in str(caught.value)
    assert not text.strip() or text.strip() not in str(caught.value)
    secret_file(tmp_path / "token", text)
    with pytest.raises(ConfigError, match=r"http\.token_file"):
        grants_of(settings(tmp_path, http={"token_file": "token"}), {})


def test_a_token_that_was_asked_for_and_is_missing_is_never_gone_without(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="MY_TOKEN, which is not set"):
        grants_of(settings(tmp_path, http={"token_env": "MY_TOKEN"}), {})
    with pytest.raises(ConfigError, match="cannot be read"):
        grants_of(settings(tmp_path, http={"token_file": "nowhere"}), {})
    (tmp_path / "folder").mkdir()
    with pytest.raises(ConfigError, match="cannot be read"):
        grants_of(settings(tmp_path, http={"token_file": "folder"}), {})
    tokens = [{"name": "a", "token_env": "NOT_SET"}]
    with pytest.raises(ConfigError, match="NOT_SET"):
        grants_of(settings(tmp_path, http={"tokens": tokens}), {"MEMORY_MCP_TOKEN": LONG})


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in the file system there")
def test_a_pipe_as_a_token_file_does_not_keep_the_start_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigError, match="cannot be read"):
        grants_of(settings(tmp_path, http={"token_file": "pipe"}), {})


def test_every_problem_is_told_at_once(tmp_path: Path) -> None:
    tokens = [
        {"name": "a", "token_env": "A"},
        {"name": "b", "token_env": "B"},
        {"name": "b", "token_env": "C"},
        {"name": "d", "token_env": "C"},
    ]
    environ = {"A": "x", "B": LONG, "C": LONG + "2"}
    with pytest.raises(ConfigError) as caught:
        grants_of(settings(tmp_path, http={"tokens": tokens}), environ)
    text = str(caught.value)
    assert len(caught.value.problems) == 3
    assert "A has 1 characters" in text
    assert "two tokens of the name b" in text
    assert "d and b have the same token" in text


def test_a_name_that_is_no_agent_is_refused_by_the_settings(tmp_path: Path) -> None:
    tokens = [{"name": "a", "token_env": "A", "agent": "../../etc"}]
    with pytest.raises(ValueError, match="agent"):
        settings(tmp_path, http={"tokens": tokens})


def test_a_request_for_a_port_survives_the_way_to_the_engine() -> None:
    grants = (
        Grant("a", LONG, Options("ann", True, ("core", "curation"))),
        Grant("b", None, Options()),
    )
    request = PortRequest("sse", "::1", 8077, grants)
    assert PortRequest.of(request.as_json()) == request
    assert LONG not in repr(request)


@pytest.mark.parametrize(
    "broken",
    [{}, {"transport": "stdio"}, {"transport": "sse", "host": "x", "port": "y", "tokens": []},
     {"transport": "sse", "host": "x", "port": 1, "tokens": [5]},
     {"transport": "sse", "host": "x", "port": 1, "tokens": 7},
     {"transport": "sse", "host": "x", "port": 1, "tokens": []}],
)  # fmt: skip
def test_a_request_that_is_none_is_an_error(broken: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        PortRequest.of(broken)
