"""Who gets through a port: hosts, origins, tokens and sizes, on every path."""

from __future__ import annotations

import ipaddress
import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.server.http.binding import Address, addresses_of
from memory_mcp.server.http.guard import BODY_LIMIT, HEADER_COUNT
from memory_mcp.server.http.hosts import HostName, Hosts, hosts_for
from tests.server.ports import OPEN, PING, TOKEN, TRANSPORTS, Place, grant, place, raw

pytestmark = pytest.mark.anyio

PATHS = (
    "/health",
    "/mcp",
    "/mcp/",
    "/sse",
    "/messages/",
    "/api/search?q=leeks",
    "/api/notes",
    "/api/recall-preview",
    "/nowhere",
    "//nowhere",
    "/health/",
    "/HEALTH",
    "/%68ealth/../mcp",
)
"""Ours of both transports, and such as lead nowhere."""

METHODS = ("GET", "POST", "DELETE", "OPTIONS", "PUT", "HEAD", "PROPFIND")
LOCAL: tuple[Address, ...] = (ipaddress.ip_address("127.0.0.1"),)
ANY: tuple[Address, ...] = (ipaddress.ip_address("0.0.0.0"),)


def request(
    method: str, path: str, *lines: str, body: bytes = b"", version: str = "HTTP/1.1"
) -> bytes:
    """A request as it goes over the wire, with these header lines and nothing else."""
    head = [f"{method} {path} {version}", "Connection: close", *lines]
    if body:
        head.append(f"Content-Length: {len(body)}")
    return "\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + body


async def statuses(there: Place, *lines: str) -> dict[tuple[str, str], int]:
    """The status of every method on every path with these header lines."""
    found = {}
    for method, path in itertools.product(METHODS, PATHS):
        found[method, path] = (await raw(there, request(method, path, *lines)))[0]
    return found


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_foreign_host_is_refused_on_every_path(tmp_path: Path, transport: str) -> None:
    async with place(tmp_path, transport=transport, grants=[grant()]) as there:  # type: ignore[arg-type]
        found = await statuses(there, "Host: evil.example", f"Authorization: Bearer {TOKEN}")
    assert set(found.values()) == {421}


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_foreign_page_is_refused_on_every_path(tmp_path: Path, transport: str) -> None:
    async with place(tmp_path, transport=transport, grants=[grant()]) as there:  # type: ignore[arg-type]
        found = await statuses(
            there,
            f"Host: localhost:{there.port}",
            "Origin: http://evil.example",
            f"Authorization: Bearer {TOKEN}",
        )
    assert set(found.values()) == {403}


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_without_the_token_nothing_but_the_health_is_told(
    tmp_path: Path, transport: str
) -> None:
    async with place(tmp_path, transport=transport, grants=[grant()]) as there:  # type: ignore[arg-type]
        found = await statuses(there, f"Host: localhost:{there.port}")
        health = (await raw(there, request("GET", "/health", "Host: localhost")))[1]
    open_ = {key: value for key, value in found.items() if value != 401}
    assert open_ == {(method, "/health"): open_[method, "/health"] for method in METHODS}
    assert open_["GET", "/health"] == 200
    assert str(tmp_path).encode() not in health


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("Host: localhost", 200),
        ("Host: LOCALHOST:PORT", 200),
        ("Host: localhost.:PORT", 200),
        ("Host: 127.0.0.1:PORT", 200),
        ("Host: 127.0.0.1", 200),
        ("Host: 127.9.8.7:PORT", 200),
        ("Host: [::1]:PORT", 200),
        ("Host: [::ffff:127.0.0.1]:PORT", 200),
        ("Host: 127.0.0.1:1", 200),  # a tunnel
        ("Host: evil.example:PORT", 421),
        ("Host: localhost.evil.example", 421),
        ("Host: evil-localhost", 421),
        ("Host: localhost..", 400),
        ("Host: 127.0.0.1.nip.io:PORT", 421),
        ("Host: 0.0.0.0:PORT", 421),
        ("Host: [::]:PORT", 421),
        ("Host: 192.168.1.10:PORT", 421),
        ("Host: 127.1", 421),
        ("Host: 0x7f.0.0.1", 421),
        ("Host: 2130706433", 421),
        ("Host: [::1%25lo]", 400),
        ("Host: ::1", 400),
        ("Host: [localhost]", 400),
        ("Host: user@localhost", 400),
        ("Host: localhost@evil.example", 400),
        ("Host: localhost/evil", 400),
        ("Host: localhost:", 400),
        ("Host: localhost:0", 400),
        ("Host: localhost:99999", 400),
        ("Host: localhost:80a", 400),
        ("Host: localhost, evil.example", 400),
        ("Host: localhost evil.example", 400),
        ("Host: ", 400),
        ("Host: löcalhost", 400),
        ("X-Forwarded-Host: localhost", 400),
        ("Host: localhost\r\nHost: evil.example", 400),
        ("Host: localhost\r\nHost: localhost", 400),
    ],
)
async def test_the_host_has_to_be_one_of_ours_and_only_one(
    tmp_path: Path, host: str, status: int
) -> None:
    async with place(tmp_path) as there:
        for path in ("/health", "/api/notes"):
            sent = request("GET", path, host.replace("PORT", str(there.port)))
            assert (await raw(there, sent))[0] == status, path


async def test_an_older_request_without_a_host_is_refused(tmp_path: Path) -> None:
    async with place(tmp_path) as there:
        assert (await raw(there, request("GET", "/health", version="HTTP/1.0")))[0] == 400


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        ("Origin: http://localhost:PORT", 200),
        ("Origin: http://127.0.0.1:PORT", 200),
        ("Origin: http://[::1]:PORT", 200),
        ("Origin: HTTP://LOCALHOST:PORT", 403),
        ("Origin: http://localhost:PORT/", 403),
        ("Origin: http://localhost:3000", 403),
        ("Origin: http://localhost", 403),
        ("Origin: https://localhost", 403),
        ("Origin: null", 403),
        ("Origin: ", 403),
        ("Origin: file://", 403),
        ("Origin: chrome-extension://abcdef", 403),
        ("Origin: http://user@localhost:PORT", 403),
        ("Origin: http://localhost:PORT@evil.example", 403),
        ("Origin: http://localhost.evil.example:PORT", 403),
        ("Origin: http://192.168.1.10:PORT", 403),
        ("Origin: http://localhost:PORT http://evil.example", 403),
        ("Origin: http://localhost:PORT\r\nOrigin: http://evil.example", 403),
        ("Origin: http://localhost:notaport", 403),
        ("Origin: http://[::1", 403),
        ("Sec-Fetch-Site: same-origin", 200),
        ("Sec-Fetch-Site: none", 200),
        ("Sec-Fetch-Site: same-site", 403),
        ("Sec-Fetch-Site: cross-site", 403),
    ],
)
async def test_a_page_has_to_be_of_the_same_origin(
    tmp_path: Path, lines: str, status: int
) -> None:
    async with place(tmp_path) as there:
        sent = request(
            "GET", "/health", "Host: localhost:PORT".replace("PORT", str(there.port)),
            lines.replace("PORT", str(there.port)),
        )  # fmt: skip
        assert (await raw(there, sent))[0] == status


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (f"Authorization: Bearer {TOKEN}", 200),
        (f"Authorization: bearer {TOKEN}", 200),
        (f"Authorization: Bearer  {TOKEN} ", 200),
        ("X-Nothing: 1", 401),
        ("Authorization: Bearer", 401),
        ("Authorization: Bearer wrong", 401),
        ("Authorization: ", 401),
        (f"Authorization: {TOKEN}", 401),
        (f"Authorization: Basic {TOKEN}", 401),
        (f"Authorization: Bearer {TOKEN}x", 401),
        (f"Authorization: Bearer {TOKEN[:-1]}", 401),
        (f"Authorization: Bearer {TOKEN.upper()}", 401),
        (f"Authorization: Bearer {TOKEN} {TOKEN}", 401),
        (f"Authorization: Bearer wrong\r\nAuthorization: Bearer {TOKEN}", 401),
        (f"Authorization: Bearer {TOKEN}\r\nAuthorization: Bearer {TOKEN}", 401),
        (f"Cookie: token={TOKEN}", 401),
        (f"X-Api-Key: {TOKEN}", 401),
        ("Authorization: Bearer \xe9\xff", 401),
    ],
)
async def test_the_token_has_to_be_the_right_one_in_the_right_place(
    tmp_path: Path, line: str, status: int
) -> None:
    async with place(tmp_path, grants=[grant()]) as there:
        found, answer = await raw(there, request("GET", "/api/notes", "Host: localhost", line))
    assert found == status
    if status == 401:
        assert b"www-authenticate: Bearer" in answer
    assert TOKEN.encode() not in answer


@pytest.mark.parametrize("name", ["token", "access_token", "bearer", "key", "authorization"])
async def test_a_token_in_an_address_counts_for_nothing(tmp_path: Path, name: str) -> None:
    async with place(tmp_path, grants=[grant()]) as there:
        path = f"/api/notes?{name}={TOKEN}"
        assert (await raw(there, request("GET", path, "Host: localhost")))[0] == 401


async def test_where_no_token_is_needed_one_that_is_sent_anyway_does_no_harm(
    tmp_path: Path,
) -> None:
    async with place(tmp_path) as there, there.asking("anything-at-all") as http:
        assert (await http.get("/api/notes")).status_code == 200


async def test_a_body_that_is_too_long_is_refused_before_it_is_read(tmp_path: Path) -> None:
    async with place(tmp_path) as there:
        sent = request("POST", "/mcp", "Host: localhost", f"Content-Length: {BODY_LIMIT + 1}")
        assert (await raw(there, sent))[0] == 413
        async with there.asking() as http:
            for path in ("/mcp", "/nowhere", "/health"):
                assert (await http.post(path, content=b"x" * (BODY_LIMIT + 1))).status_code == 413
            assert (await http.post("/nowhere", content=b"x" * BODY_LIMIT)).status_code == 404


async def test_a_method_of_any_length_is_not_repeated_in_the_answer(tmp_path: Path) -> None:
    async with place(tmp_path) as there, there.asking() as http:
        for name in ("x" * 1_000_000, "\\" * 500_000, "é" * 201):
            message = {"jsonrpc": "2.0", "id": 1, "method": name, "params": {}}
            answer = await http.post("/mcp", json=message)
            assert answer.status_code == 400
            assert len(answer.content) < 1_000
        inside = {"jsonrpc": "2.0", "id": 1, "method": "nothing", "params": {"method": "x" * 999}}
        assert "200 letters" not in (await http.post("/mcp", json=inside)).text


async def test_a_body_of_unknown_length_is_refused_when_it_gets_too_long(tmp_path: Path) -> None:
    async with place(tmp_path) as there:
        chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
        head = request("POST", "/mcp", "Host: localhost", "Transfer-Encoding: chunked")
        count = BODY_LIMIT // 0x10000
        assert (await raw(there, head + chunk * (count + 1) + b"0\r\n\r\n"))[0] == 413
        status, _ = await raw(there, head + chunk * (count - 1) + b"0\r\n\r\n")
        assert status == 400  # short enough, and then no message of MCP


async def test_a_body_is_not_waited_for_without_a_token(tmp_path: Path) -> None:
    async with place(tmp_path, grants=[grant()]) as there:
        sent = request("POST", "/mcp", "Host: localhost", "Content-Length: 1000")
        assert (await raw(there, sent))[0] == 401


async def test_too_many_and_too_long_headers_are_refused(tmp_path: Path) -> None:
    async with place(tmp_path) as there:
        many = [f"X-{number}: 1" for number in range(HEADER_COUNT)]
        assert (await raw(there, request("GET", "/health", "Host: localhost", *many)))[0] == 431
        long = f"X-Long: {'a' * 40_000}"
        assert (await raw(there, request("GET", "/health", "Host: localhost", long)))[0] == 431
        longer = f"X-Long: {'a' * 200_000}"
        assert (await raw(there, request("GET", "/health", "Host: localhost", longer)))[0] in (
            0,
            400,
        )


async def test_what_is_no_http_ends_the_connection_and_nothing_else(tmp_path: Path) -> None:
    async with place(tmp_path) as there:
        for noise in (
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
            b"\r\n\r\n\0",
            b"GET\r\n\r\n",
        ):
            assert (await raw(there, noise + b"\r\n\r\n"))[0] in (0, 400)
        upgrade = ("Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: eA==")
        sent = request("GET", "/mcp", "Host: localhost", *upgrade)
        assert (await raw(there, sent))[0] == 406  # taken for what it is without the upgrade
        async with there.asking() as http:
            assert (await http.get("/health")).status_code == 200


async def test_no_browser_keeps_an_answer_or_guesses_what_it_is(tmp_path: Path) -> None:
    async with place(tmp_path) as there, there.asking() as http:
        for path in ("/health", "/api/notes", "/nowhere"):
            headers = (await http.get(path)).headers
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["cache-control"] == "no-store"
            assert "access-control-allow-origin" not in headers


@given(st.text(max_size=40))
async def test_no_text_but_ours_is_a_host_on_loopback(text: str) -> None:
    host = HostName.of(text)
    if host is not None and hosts_for("127.0.0.1", LOCAL, 8077).knows(host):
        name = host.name
        assert name == "localhost" if isinstance(name, str) else name.is_loopback


@given(st.text(max_size=60))
async def test_no_text_but_our_own_pages_is_an_origin(text: str) -> None:
    hosts = hosts_for("127.0.0.1", LOCAL, 8077)
    host = HostName.of("localhost:8077")
    assert host is not None
    assert not hosts.trusts(text, host) or text.startswith("http")


async def test_a_public_port_answers_to_addresses_and_names_of_this_machine() -> None:
    hosts = Hosts(frozenset({"localhost", "box", "box.local"}), True, 8077)
    for text in ("box:8077", "BOX.local", "192.168.1.10:8077", "[fe80::1]:8077", "localhost"):
        host = HostName.of(text)
        assert host is not None
        assert hosts.knows(host), text
    for text in ("evil.example", "box.evil.example", "0.0.0.0", "224.0.0.1"):
        host = HostName.of(text)
        assert host is not None
        assert not hosts.knows(host), text


async def test_a_page_on_another_address_is_foreign_to_a_public_port() -> None:
    hosts = Hosts(frozenset({"localhost", "box"}), True, 8077)
    host = HostName.of("192.168.1.10:8077")
    assert host is not None
    assert hosts.trusts("http://192.168.1.10:8077", host)
    assert hosts.trusts("http://box:8077", host)
    assert not hosts.trusts("http://192.168.1.66:8077", host)
    assert not hosts.trusts("http://evil.example:8077", host)


async def test_a_name_that_was_bound_is_answered_to() -> None:
    hosts = hosts_for("Memory.Example.org.", ANY, 8077)
    host = HostName.of("memory.example.org:8077")
    assert host is not None
    assert hosts.knows(host)
    assert hosts_for("localhost", addresses_of("localhost"), 8077).public is False


async def test_a_guarded_port_still_serves_its_own(tmp_path: Path) -> None:
    async with place(tmp_path, grants=[OPEN]) as there:
        sent = request(
            "POST", "/mcp", "Host: localhost", "Content-Type: application/json",
            "Accept: application/json, text/event-stream", body=PING,
        )  # fmt: skip
        assert (await raw(there, sent))[0] == 400  # a ping outside a session
