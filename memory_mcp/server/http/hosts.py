"""Which names a port answers to: the defence against pages that rebind a name to this machine.

A page of a stranger can make a browser on this machine send requests to a name of its own that
suddenly stands for 127.0.0.1. The browser then says that name in `Host`, and where the page came
from in `Origin`. An address in figures cannot be rebound: there is no name to point elsewhere.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from memory_mcp.server.http.binding import Address, is_loopback, literal_of

_HOST = re.compile(
    r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?\.?)(?::([0-9]{1,5}))?"
)
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class HostName:
    """The value of a Host header: an address or a name in lower case, and the port if given."""

    name: str | Address
    port: int | None

    @classmethod
    def of(cls, text: str) -> HostName | None:
        """None where the text is no host: user names, spaces, paths, zones, a broken port."""
        match = _HOST.fullmatch(text)
        if match is None:
            return None
        given = match[1].removesuffix(".").lower()
        literal = literal_of(given.strip("[]"))
        if literal is None and given.startswith("["):
            return None
        port = None if match[2] is None else int(match[2])
        if port is not None and not 0 < port < 65_536:
            return None
        return cls(literal or given, port)


@dataclass(frozen=True, slots=True)
class Hosts:
    """The hosts a port answers to."""

    names: frozenset[str]
    """In lower case."""
    public: bool
    """Bound to more than loopback: any address in figures may be ours, behind a router, too."""
    port: int

    def knows(self, host: HostName) -> bool:
        """Whether the name is one of ours. The port is not compared: a tunnel has another."""
        if isinstance(host.name, str):
            return host.name in self.names
        if host.name.is_unspecified or host.name.is_multicast:
            return False
        return self.public or host.name.is_loopback

    def trusts(self, origin: str, host: HostName) -> bool:
        """Whether a page of that origin may talk to us: only one that we could have served."""
        try:
            parts = urlsplit(origin)
            port = parts.port
        except ValueError:
            return False
        if origin != f"{parts.scheme}://{parts.netloc}" or parts.scheme not in _PORTS:
            return False
        source = HostName.of(parts.netloc)
        if source is None or not (source.name == host.name or self._is_own(source)):
            return False
        standard = _PORTS[parts.scheme]
        return (port or standard) in (host.port or standard, self.port)

    def _is_own(self, host: HostName) -> bool:
        """Whether nobody but this machine can be behind the name."""
        if isinstance(host.name, str):
            return host.name in self.names
        return host.name.is_loopback


def hosts_for(host: str, addresses: Sequence[Address], port: int) -> Hosts:
    """The hosts for a port that was asked for by this name and is bound to these addresses."""
    names = {"localhost"}
    bound = host.strip().strip("[]").rstrip(".").lower()
    if literal_of(bound) is None:
        names.add(bound)
    public = not is_loopback(addresses)
    if public:
        names |= _own_names()
    return Hosts(frozenset(names), public, port)


def _own_names() -> set[str]:
    """What this machine calls itself, also as neighbours find it without a name server."""
    own = socket.gethostname().rstrip(".").lower()
    short = own.partition(".")[0]
    return {own, short, f"{short}.local"} - {"", ".local"}
