"""Lines as bodies of HTTP requests to the port that an engine holds open."""

from __future__ import annotations

import json
import random
import re
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import httpx
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from client import command, environment
from fuzz_checks import Breach, Ear
from fuzz_messages import Line
from fuzz_processes import engine
from fuzz_wires import Place, Wire

ANSWER_SECONDS = 30.0
_LISTENING = "subscription"
_LISTEN_SECONDS = 0.3
_ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@asynccontextmanager
async def over_http(home: Path, ear: Ear) -> AsyncIterator[Place]:
    """One port; a session for each connection."""
    words = command("serve", "--transport", "streamable-http", "--port", "0")
    async with engine(home, ear) as pid:
        with subprocess.Popen(  # noqa: ASYNC220 - it lives longer than any call
            words,
            env=environment(home),
            cwd=home,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        ) as server:
            try:
                assert server.stdout is not None
                said = await anyio.to_thread.run_sync(server.stdout.readline)
                address = re.search(rb"http://\S+/mcp", said)
                if address is None:
                    raise Breach(f"the port was not opened: {said!r}")
                url = address[0].decode()

                @asynccontextmanager
                async def connect() -> AsyncIterator[Wire]:
                    async with httpx.AsyncClient(timeout=ANSWER_SECONDS) as client:
                        wire = _Posts(client, url)
                        try:
                            yield wire
                        finally:
                            wire.forget()

                yield Place(home, connect, pid)
            finally:
                server.terminate()


class _Posts:
    """A session: each line is a POST, and what comes back counts as lines of the server."""

    def __init__(self, client: httpx.AsyncClient, url: str) -> None:
        self._client = client
        self._url = url
        self._session: dict[str, str] = {}
        self._send: MemoryObjectSendStream[bytes]
        self._receive: MemoryObjectReceiveStream[bytes]
        self._send, self._receive = anyio.create_memory_object_stream[bytes](1000)

    async def send(self, lines: Sequence[Line], rng: random.Random) -> None:
        """Send lines, one after the other."""
        for line in lines:
            if line.data.strip():
                await self._post(line)

    async def _post(self, line: Line) -> None:
        headers = {**_ACCEPT, **self._session, **_mirrored(line)}
        seconds = _LISTEN_SECONDS if line.kind == _LISTENING else ANSWER_SECONDS
        with anyio.move_on_after(seconds) as waiting:
            response = await self._client.post(self._url, content=line.data, headers=headers)
        if waiting.cancelled_caught:
            if line.kind != _LISTENING:
                raise Breach(f"no response within {seconds:g} s to {line.data[:600]!r}")
            return
        if response.status_code >= 500:
            said = f"{response.status_code} {response.text[:300]}"
            raise Breach(f"status {said} to {line.data[:600]!r}")
        if line.kind == "opening" and "mcp-session-id" in response.headers:
            self._session = {"Mcp-Session-Id": response.headers["mcp-session-id"]}
        messages = _messages(response)
        for message in messages or _refused(response, line):
            await self._send.send(json.dumps(message).encode() + b"\n")

    async def heard(self) -> AsyncIterator[bytes]:
        """What came back."""
        async for data in self._receive:
            yield data

    async def close(self) -> None:
        """End the session."""
        if self._session:
            await self._client.delete(self._url, headers=self._session)
        self._send.close()

    def forget(self) -> None:
        """Close what is still open."""
        self._send.close()
        self._receive.close()


def _mirrored(line: Line) -> dict[str, str]:
    """The headers that repeat what stands in the body, as the newer era wants them."""
    found: dict[str, str] = {}
    with suppress(ValueError, RecursionError, LookupError, TypeError, AttributeError):
        message = json.loads(line.data)
        version = message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"]
        found = {"MCP-Protocol-Version": version, "Mcp-Method": message["method"]}
        name = message["params"].get("name", message["params"].get("uri"))
        if isinstance(name, str):
            found["Mcp-Name"] = name
    fits = re.compile(r"[!-~]{1,500}")
    return {key: str(value) for key, value in found.items() if fits.fullmatch(str(value))}


def _messages(response: httpx.Response) -> list[dict[str, Any]]:
    """The messages in a body that have an id or a method."""
    if response.headers.get("content-type", "").startswith("text/event-stream"):
        lines = [line[5:] for line in response.text.split("\n") if line.startswith("data:")]
    else:
        lines = [response.text]
    found = [json.loads(line) for line in lines if line.strip()]
    return [item for item in found if item.get("id") is not None or "method" in item]


def _refused(response: httpx.Response, line: Line) -> list[dict[str, Any]]:
    """A refusal by status as an error for each id that waits, so that it counts as an answer."""
    if response.status_code < 400:
        return []
    error = {"code": -response.status_code, "message": response.text}
    ids = [json.loads(number) for number, _, _ in line.answers]
    if line.kind == "reused id":  # the first of them says how many answers there are to be
        ids = [json.loads(line.data)["id"]]
    return [{"jsonrpc": "2.0", "id": number, "error": error} for number in ids]
