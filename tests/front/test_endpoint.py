"""Where an engine is found, and who may say so."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.front import endpoint as places
from memory_mcp.front.endpoint import Endpoint, dial, listen
from memory_mcp.front.home import FILE
from memory_mcp.settings import load

POSIX = pytest.mark.skipif(os.name != "posix", reason="Unix sockets and owners")


@pytest.fixture
def short() -> Iterator[dict[str, str]]:
    """An environment whose temporary folder has a short path, and is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        yield {"TMPDIR": folder}


def endpoint(address: dict[str, object], engine: str = "abc") -> Endpoint:
    return Endpoint(engine, os.getpid(), "0.1.0", 1.5, address, "secret")


@given(
    st.sampled_from([None, "~", "~/x", "a/../b", "./a//b", "/x/y/", "~nobody-known/x"]),
    st.sampled_from([None, "", "~", "~/other", "rel", "/abs/./z"]),
    st.sampled_from([None, "/home/me"]),
)
def test_the_home_is_the_one_of_the_settings(
    flag: str | None, variable: str | None, user: str | None
) -> None:
    environ = {"HOME": user} if user else {}
    if variable is not None:
        environ["MEMORY_MCP_HOME"] = variable
    try:
        expected = load(environ, {"home": flag}).config.home
    except RuntimeError:
        return  # a user that does not exist
    assert places.home_of(environ, flag) == os.path.realpath(expected)


@POSIX
def test_a_copy_of_a_home_does_not_lead_to_the_engine_of_the_original(
    tmp_path: Path, short: dict[str, str]
) -> None:
    original, copy, moved = (str(tmp_path / name) for name in ("original", "copy", "moved"))
    listening, address = listen(original, short)
    with listening:
        places.write(original, endpoint(address))
        shutil.copytree(
            original, copy, ignore=shutil.ignore_patterns("*.sock"), copy_function=shutil.copy2
        )
        assert places.read(original) is not None
        assert places.read(copy) is None
        Path(original).rename(moved)
        assert places.read(moved) is not None


@POSIX
def test_an_engine_listens_where_the_endpoint_file_says(
    tmp_path: Path, short: dict[str, str]
) -> None:
    home = str(tmp_path)
    listening, address = listen(home, short)
    with listening:
        places.write(home, endpoint(address))
        found = places.read(home)
        assert found is not None
        assert (found.engine, found.token, found.started) == ("abc", "secret", 1.5)
        assert "secret" not in repr(found)
        with dial(found, 1.0), listening.accept()[0]:
            pass
        assert Path(address["unix"]).stat().st_mode & 0o777 == 0o600
        assert (tmp_path / ".state" / "engine.json").stat().st_mode & 0o777 == 0o600
        assert places.pid_of(home) == os.getpid()
        places.remove(home, endpoint(address, "another"))
        assert places.read(home) is not None
        places.remove(home, endpoint(address))
    assert places.read(home) is None
    assert not Path(address["unix"]).exists()
    assert places.pid_of(home) is None


@POSIX
def test_a_state_folder_open_to_others_is_closed(tmp_path: Path) -> None:
    state = tmp_path / ".state"
    state.mkdir(mode=0o755)
    places.make_state(str(tmp_path))
    assert state.stat().st_mode & 0o777 == 0o700


@POSIX
def test_a_stale_socket_is_replaced_and_a_live_one_left_alone(
    tmp_path: Path, short: dict[str, str]
) -> None:
    home = str(tmp_path)
    first, address = listen(home, short)
    first.close()  # as a killed engine leaves it
    with pytest.raises(ConnectionRefusedError):
        dial(endpoint(address), 1.0)
    second, again = listen(home, short)
    with second:
        assert again == address
        third, other = listen(home, short)
        with third:
            assert other != address


@POSIX
@pytest.mark.parametrize("mode", [0o755, 0o770, 0o707])
def test_a_socket_in_a_folder_open_to_others_is_never_used(
    tmp_path: Path, short: dict[str, str], mode: int
) -> None:
    runtime = tmp_path / "run"
    (runtime / "memory-mcp").mkdir(parents=True)
    (runtime / "memory-mcp").chmod(mode)
    listening, address = listen(str(tmp_path), {**short, "XDG_RUNTIME_DIR": str(runtime)})
    with listening:
        assert not address["unix"].startswith(str(runtime))
    planted = runtime / "memory-mcp" / "planted.sock"
    with socket.socket(socket.AF_UNIX) as trap:
        trap.bind(str(planted))
        trap.listen()
        with pytest.raises(PermissionError, match="chmod 700"):
            dial(endpoint({"unix": str(planted)}), 1.0)


@POSIX
def test_a_socket_folder_that_is_a_link_is_never_used(
    tmp_path: Path, short: dict[str, str]
) -> None:
    runtime, real = tmp_path / "run", tmp_path / "real"
    runtime.mkdir()
    real.mkdir(mode=0o700)
    (runtime / "memory-mcp").symlink_to(real)
    listening, address = listen(str(tmp_path), {**short, "XDG_RUNTIME_DIR": str(runtime)})
    with listening:
        assert not address["unix"].startswith(str(runtime))
    assert list(real.iterdir()) == []


@POSIX
def test_a_home_whose_path_is_too_long_for_a_socket_still_has_one(
    tmp_path: Path, short: dict[str, str]
) -> None:
    home = tmp_path / ("long" * 40)
    listening, address = listen(str(home), short)
    with listening:
        found = endpoint(address)
        assert Path(address["unix"]).parent.parent == Path(short["TMPDIR"])
        with dial(found, 1.0):
            pass
        places.remove(str(home), found)
    listening, address = listen(str(home), {"TMPDIR": str(home)})
    with listening, dial(endpoint(address), 1.0):
        assert address["tcp"][0] == "127.0.0.1"


def test_loopback_addresses_can_be_dialled_and_others_are_no_addresses(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        places.write(str(tmp_path), endpoint({"tcp": ["127.0.0.1", port]}))
        found = places.read(str(tmp_path))
        assert found is not None
        with dial(found, 1.0):
            pass
    for address in ({"tcp": ["10.0.0.1", 1]}, {"tcp": ["127.0.0.1", 0]}, {"pipe": "x"}, {}):
        places.write(str(tmp_path), endpoint(dict(address)))
        assert places.read(str(tmp_path)) is None


@given(st.binary(max_size=200))
def test_a_damaged_endpoint_file_is_no_endpoint(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as home:
        places.make_state(home)
        Path(places.state_file(home, FILE)).write_bytes(data)
        assert places.read(home) is None
