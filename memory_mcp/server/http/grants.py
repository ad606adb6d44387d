"""Who may use a port, as whom, and what it takes to open one: values that also travel as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from memory_mcp.core.errors import InputError
from memory_mcp.server.session import Options

Transport = Literal["streamable-http", "sse"]


@dataclass(frozen=True, slots=True)
class Grant:
    """One way in: a token, and what its bearer is. Without a token it is open to everybody who
    can reach the port."""

    name: str
    token: str | None
    options: Options

    def __repr__(self) -> str:
        """Without the token: a grant may end up in a log."""
        return f"Grant({self.name!r}, {self.options!r})"


@dataclass(frozen=True, slots=True)
class PortRequest:
    """A port to open: how it speaks, where it listens (0: any free port), who may use it."""

    transport: Transport
    host: str
    port: int
    grants: tuple[Grant, ...]

    def as_json(self) -> dict[str, Any]:
        """What `of` reads."""
        return {
            "transport": self.transport,
            "host": self.host,
            "port": self.port,
            "tokens": [_grant_json(grant) for grant in self.grants],
        }

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> PortRequest:
        """Read what `as_json` made. Raises InputError where it is something else."""
        try:
            transport, tokens = data["transport"], data["tokens"]
            if transport not in get_args(Transport) or not isinstance(tokens, Sequence):
                raise InputError(f"a port of the kind {transport!r} cannot be opened")
            grants = tuple(_grant(item) for item in tokens)
            if not grants:
                raise InputError("a port that nobody may use cannot be opened")
            return cls(transport, str(data["host"]), int(data["port"]), grants)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"the request to open a port is not one of this version ({type(error).__name__})"
            ) from None


def _grant_json(grant: Grant) -> dict[str, Any]:
    options = grant.options
    return {
        "name": grant.name,
        "token": grant.token,
        "agent": options.agent,
        "read_only": options.read_only,
        "tools": list(options.tools),
    }


def _grant(data: Mapping[str, Any]) -> Grant:
    options = Options(str(data["agent"]), bool(data["read_only"]), tuple(data["tools"]))
    token = data["token"]
    return Grant(str(data["name"]), None if token is None else str(token), options)
