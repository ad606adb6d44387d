"""YAML as settings are written in it: `off`, `no` and dates stay the words they are.

YAML 1.1 reads the language `no` as false and `projects: off` too. Here only `true` and `false` are
flags to the reader; where a flag is wanted, `on`, `off`, `yes` and `no` are taken as well.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from memory_mcp.settings.schema import allows_text, is_list, is_text


class Reader(yaml.CSafeLoader):
    """The fast safe loader, with fewer surprises."""


Reader.yaml_implicit_resolvers = {
    first: [
        (tag, pattern)
        for tag, pattern in resolvers
        if not tag.endswith((":bool", ":timestamp", ":int", ":float"))
    ]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}
_PLAIN = (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?(?:0|[1-9][0-9_]*)", "-+0123456789"),
    ("float", r"[-+]?(?:[0-9][0-9_]*\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("float", r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)", "-+."),
)
for _name, _pattern, _first in _PLAIN:
    Reader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_name}", re.compile(f"(?:{_pattern})$"), list(_first)
    )


def value_of(kind: Any, text: str) -> Any:
    """What a text from the environment or the command line means for a setting of this type."""
    stripped = text.strip()
    if stripped in ("", "null"):
        return None
    if is_text(kind):
        return text
    try:
        value = yaml.load(stripped, Reader)  # a safe loader
    except (yaml.YAMLError, ValueError):
        value = text
    if isinstance(value, list) or not is_list(kind):
        return value
    if allows_text(kind):
        return text
    return [part.strip() for part in text.split(",") if part.strip()]
