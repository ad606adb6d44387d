"""Whether Codex runs our hooks: it does so only for those whose hash the person has trusted.

Codex 0.171 keeps the hashes in config.toml, `[hooks.state."<file>:<event>:<group>:<place>"]`. A
hash is the SHA-256 of the hook as JSON with sorted keys; this was read off what its app server
tells about hooks.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memory_mcp.cli.install.formats import Path as Keys
from memory_mcp.cli.install.formats import at
from memory_mcp.cli.install.parts import own_hooks

LONGEST_END = 3
"""Seconds that Codex gives the hook of a session's end at most; it counts in the hash so."""


def untrusted(file: Path, hooks: Mapping[str, Any], config: Mapping[str, Any]) -> list[str]:
    """The events whose hook of ours in this hooks.json Codex skips."""
    return [
        event for event, keys in _ours(hooks) if not _is_trusted(file, event, keys, hooks, config)
    ]


def are_off(config: Mapping[str, Any]) -> bool:
    """Whether config.toml switches all hooks off."""
    return at(config, ("features", "hooks")) is False


def hook_hash(event: str, group: Mapping[str, Any], place: int) -> str:
    """The hash by which Codex knows a hook."""
    hook = group["hooks"][place]
    seconds = hook["timeout"]
    known = {
        "type": "command",
        "command": hook["command"],
        "timeout": min(seconds, LONGEST_END) if event == "SessionEnd" else seconds,
        "async": bool(hook.get("async", False)),
    }
    said = {"event_name": snake(event), "hooks": [known]}
    if group.get("matcher") is not None:
        said["matcher"] = group["matcher"]
    text = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def snake(event: str) -> str:
    """SessionStart → session_start."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()


def _ours(hooks: Mapping[str, Any]) -> Iterator[tuple[str, Keys]]:
    for event in at(hooks, ("hooks",)) or ():
        for keys in own_hooks(hooks, event):
            yield event, keys


def _is_trusted(
    file: Path, event: str, keys: Keys, hooks: Mapping[str, Any], config: Mapping[str, Any]
) -> bool:
    group, place = at(hooks, keys[:3]), keys[4]
    name = f"{file}:{snake(event)}:{keys[2]}:{place}"
    state = at(config, ("hooks", "state", name)) or {}
    hash = hook_hash(event, group, int(place))
    return state.get("trusted_hash") == hash and state.get("enabled") is not False
