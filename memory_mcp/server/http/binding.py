"""Where a port listens: which addresses are of this machine alone, and sockets for them."""

from __future__ import annotations

import errno
import ipaddress
import socket
import sys
from collections.abc import Sequence

from memory_mcp.core.errors import InputError, RefusedError, StorageError
from memory_mcp.server.http.grants import Grant

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

BACKLOG = 256
"""Connections that may wait to be taken."""


def addresses_of(host: str) -> tuple[Address, ...]:
    """The addresses that a host stands for, each once. Asks the resolver for a name. Blocking.

    Raises InputError where there is none.
    """
    name = host.strip().strip("[]")
    if not name or name == "*":
        raise InputError(
            f"http.host {host!r} is no address; 127.0.0.1 is this machine alone, 0.0.0.0 is every"
            " network it is in"
        )
    literal = literal_of(name)
    if literal is not None:
        return (literal,)
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise InputError(
            f"http.host {host!r} is not known on this machine; give an address such as 127.0.0.1"
        ) from None
    literals = (literal_of(str(item[4][0])) for item in found)
    return tuple(dict.fromkeys(item for item in literals if item is not None))


def literal_of(text: str) -> Address | None:
    """The address that a text is; an IPv4 address in the clothes of IPv6 is that of IPv4. None
    for a name, and for an address with a zone."""
    if "%" in text:
        return None
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def is_loopback(addresses: Sequence[Address]) -> bool:
    """Whether nobody outside this machine can reach any of them."""
    return bool(addresses) and all(address.is_loopback for address in addresses)


def check_grants(host: str, addresses: Sequence[Address], grants: Sequence[Grant]) -> None:
    """Raises RefusedError where the whole network could read the memory without a token."""
    if not is_loopback(addresses) and any(not grant.token for grant in grants):
        raise RefusedError(
            f"{host} can be reached from other machines and there is no token, so anybody there"
            " could read the memory: set a token in the environment variable MEMORY_MCP_TOKEN or"
            " name its file in http.token_file, or stay on 127.0.0.1"
        )


def listen(host: str, addresses: Sequence[Address], port: int) -> list[socket.socket]:
    """Listening sockets on all addresses, at one port (0: a free one).

    Raises RefusedError where the port is taken or not ours to take, StorageError otherwise.
    """
    sockets: list[socket.socket] = []
    try:
        for address in addresses:
            try:
                one = _listen(address, port)
            except OSError as error:
                if error.errno == errno.EADDRNOTAVAIL and len(addresses) > 1:
                    continue  # a name of two families, one of which this machine does not have
                raise _failed(host, port, error) from None
            sockets.append(one)
            port = one.getsockname()[1]
    except BaseException:
        for one in sockets:
            one.close()
        raise
    if not sockets:
        raise _failed(host, port, OSError(errno.EADDRNOTAVAIL, "it is not of this machine"))
    return sockets


def _listen(address: Address, port: int) -> socket.socket:
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    both = address == ipaddress.IPv6Address("::") and socket.has_dualstack_ipv6()
    one = socket.socket(family, socket.SOCK_STREAM)
    try:
        if sys.platform == "win32":
            one.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0 if both else 1)
        one.bind((str(address), port))
        one.listen(BACKLOG)
        one.setblocking(False)
    except BaseException:
        one.close()
        raise
    return one


def _failed(host: str, port: int, error: OSError) -> RefusedError | StorageError:
    if error.errno == errno.EADDRINUSE:
        return RefusedError(
            f"port {port} on {host} is taken by another program; choose another one with --port,"
            " or 0 for any free one"
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return RefusedError(
            f"port {port} on {host} may not be opened by this user; choose one above 1023"
        )
    reason = error.strerror or type(error).__name__
    return StorageError(f"port {port} on {host} cannot be opened: {reason}")


def url_of(host: str, port: int) -> str:
    """The address of a port for a person on this machine, without a path."""
    name = host.strip().strip("[]")
    if literal_of(name) in (ipaddress.IPv4Address("0.0.0.0"), ipaddress.IPv6Address("::")):
        name = "127.0.0.1"
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"
