"""Names of agents: each is the name of a folder, so it must be one on every file system."""

from __future__ import annotations

import re

from memory_mcp.core.slug import is_device

PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"
_VALID = re.compile(PATTERN.rstrip("$") + r"\Z")


def check_agent(name: str) -> str:
    """Return `name` where an agent can have it. Raises ValueError with what is wrong.

    Some systems drop a dot at the end and open a device for names like `con` or `nul.x`: such a
    name would lead to the folder of another agent, or to none.
    """
    if _VALID.match(name) is None:
        raise ValueError(
            f"{name[:60]!r} cannot be the name of an agent; use at most 64 letters a-z, digits,"
            " -, _ and dots, a letter or digit first"
        )
    if name.endswith("."):
        raise ValueError(f"{name!r} ends in a dot, which some systems leave out; remove it")
    if is_device(name):
        raise ValueError(f"{name!r} is a device on Windows; use another name, such as {name}-1")
    return name
