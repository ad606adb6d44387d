"""Edits of clients' files touch nothing else: not one byte, not one key."""

from __future__ import annotations

import json
import random
import string
import tomllib
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.cli.install.formats import JSON, JSONC, TOML, YAML, Format, at
from memory_mcp.cli.install.json_tree import BrokenError, tree
from memory_mcp.cli.install.parts import Hook, Hooks, Instruction, Server, merged
from memory_mcp.core.errors import RefusedError

ENTRY = {"command": "/opt/bin/memory-mcp", "args": ["--agent", "wörk"], "env": {"K": 'a"\\b'}}
GOOSE = {"name": "memory", "type": "stdio", "cmd": "/opt/memory-mcp", "args": [], "timeout": 300}
HOOKS = Hooks(JSON, (Hook("SessionStart", "/opt/memory-mcp hook session-start", 15, "startup"),))

keys = st.text(string.ascii_letters + 'äß .-_"#', min_size=1, max_size=8).filter(
    lambda key: key != "memory"
)
leaves = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=12)
)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=6,
)


def sections(name: str) -> st.SearchStrategy[dict[str, Any]]:
    """Documents, some with the section in which the servers stand."""
    inner = st.dictionaries(keys, st.dictionaries(keys, values, max_size=2), max_size=2)
    other = st.dictionaries(keys, values, max_size=4)
    return st.builds(
        lambda rest, own: {**rest, **own},
        other,
        st.just({}) | st.fixed_dictionaries({name: inner}),
    )


def spread(value: Any, dice: random.Random) -> str:
    """A value as somebody may have written it: blanks, comments, trailing commas anywhere."""
    blanks = ("", " ", "\n", "\n  ", "\t", "// c, }\n", '/* ] " */', "\r\n")

    def pad() -> str:
        return dice.choice(blanks)

    if isinstance(value, dict):
        rows = [
            f"{pad()}{json.dumps(key)}{pad()}:{pad()}{spread(item, dice)}{pad()}"
            for key, item in value.items()
        ]
    elif isinstance(value, list):
        rows = [f"{pad()}{spread(item, dice)}{pad()}" for item in value]
    else:
        return json.dumps(value, ensure_ascii=dice.random() < 0.5)
    comma = "," if rows and dice.random() < 0.5 else ""
    first, last = "{}" if isinstance(value, dict) else "[]"
    return first + ",".join(rows) + comma + pad() + last


def check(format: Format, path: tuple[str, str], entry: dict[str, Any], text: str) -> None:
    """What holds for every document: entered twice is once, everything else reads the same, and
    what is taken out again leaves no trace but blanks."""
    server = Server(format, path, entry)
    entered = server.enter(text)
    assert server.enter(entered) == entered
    before, after = format.parse(text), format.parse(entered)
    assert at(after, path) == entry
    left = dict(at(after, path[:1]))
    del left[path[1]]
    assert {**after, path[0]: left} == {**before, path[0]: before.get(path[0]) or {}}
    bare = server.remove(entered, text)
    assert format.parse(bare) == before or {**before, path[0]: {}} == {
        **format.parse(bare),
        path[0]: {},
    }
    assert _is_subsequence(text, entered)


def _is_subsequence(small: str, large: str) -> bool:
    """Whether a text has been added to only."""
    rest = iter(large)
    return all(letter in rest for letter in small)


@given(sections("servers"), st.randoms(use_true_random=False))
def test_json_with_comments_keeps_all_but_the_entry(
    document: dict[str, Any], dice: random.Random
) -> None:
    text = spread(document, dice)
    check(JSONC, ("servers", "memory"), ENTRY, text)


@given(sections("mcpServers"), st.sampled_from([None, 0, 2, 4, "\t"]), st.booleans())
def test_plain_json_is_restored_byte_for_byte_from_its_text(
    document: dict[str, Any], indent: int | str | None, windows: bool
) -> None:
    """Also without a record of the bytes of before, where the layout is a usual one."""
    text = json.dumps(document, indent=indent, ensure_ascii=False) + "\n"
    text = text.replace("\n", "\r\n") if windows else text
    check(JSON, ("mcpServers", "memory"), ENTRY, text)
    server = Server(JSON, ("mcpServers", "memory"), ENTRY)
    assert server.remove(server.enter(text), text) == text
    assert HOOKS.remove(HOOKS.enter(text), text) == text


@st.composite
def toml_texts(draw: st.DrawFn) -> str:
    """config.toml in many ways of writing."""
    rows = [
        "a = 1 # c",
        'b = """\n[mcp_servers.memory]\n"""',
        "c = [\n  1, # ]\n  2,\n]",
        "",
        "# c",
    ]
    rows += ["d.e = '[x]'", 'f = {g = "h"}', "t = 1979-05-27T07:32:00Z"]
    heads = ["[x]", "[ y . 'z' ]", "[[w]]", "[mcp_servers.other]", '[mcp_servers."a.b".env]']
    heads += ["[mcp_servers]", "[v]"]
    top = draw(st.lists(st.sampled_from(rows), unique=True))
    text = "\n".join(top)
    for head in draw(st.lists(st.sampled_from(heads), unique=True)):
        body = draw(st.lists(st.sampled_from(rows), unique=True, max_size=3))
        text += "\n".join(["", head, *body])
    text += draw(st.sampled_from(["", "\n", "\n\n", "\n# end"]))
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


@given(toml_texts())
def test_toml_keeps_every_byte_and_takes_out_only_the_entry(text: str) -> None:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    server = Server(TOML, ("mcp_servers", "memory"), ENTRY)
    entered = server.enter(text)
    assert entered.startswith(text)
    assert server.enter(entered) == entered
    rest = tomllib.loads(entered)
    assert rest["mcp_servers"].pop("memory") == ENTRY
    assert rest == {**tomllib.loads(text), "mcp_servers": rest["mcp_servers"]}
    bare = server.remove(entered, text)
    assert bare.rstrip("\r\n") == text.rstrip("\r\n")
    more = entered + "\n[later]\nz = 1\n"
    assert tomllib.loads(server.remove(more, text)) == {**tomllib.loads(text), "later": {"z": 1}}


@st.composite
def yaml_texts(draw: st.DrawFn) -> str:
    """config.yaml of goose in many ways of writing."""
    top = ["GOOSE_MODEL: x # c", "# c", "", "b: |\n  extensions:\n    memory: 1\n", "l:\n- 1\n- 2"]
    inner = [
        "  dev:\n    enabled: true # c",
        "  # c",
        "",
        "  web: {a: 1}",
        "  x:\n    args:\n    - a",
    ]
    before = draw(st.lists(st.sampled_from(top), unique=True))
    body = draw(st.lists(st.sampled_from(inner), unique=True))
    after = draw(st.lists(st.sampled_from(top), unique=True))
    after = [row for row in after if row.startswith("#") or row not in before]
    kind = draw(st.sampled_from(["none", "block", "empty", "flow"]))
    section = {
        "none": [],
        "block": ["extensions:", *body],
        "empty": ["extensions: {}"],
        "flow": ["extensions: {dev: {enabled: true}} # c"],
    }[kind]
    text = "\n".join([*before, *section, *after]) + draw(st.sampled_from(["", "\n"]))
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


@given(yaml_texts())
def test_yaml_keeps_every_byte_and_takes_out_only_the_entry(text: str) -> None:
    server = Server(YAML, ("extensions", "memory"), GOOSE)
    entered = server.enter(text)
    assert _is_subsequence(text, entered)
    assert server.enter(entered) == entered
    said = yaml.safe_load(entered)
    assert said["extensions"].pop("memory") == GOOSE
    known = yaml.safe_load(text) or {}
    assert said == {**known, "extensions": known.get("extensions") or {}}
    again = yaml.safe_load(server.remove(entered, text)) or {}
    assert {**again, "extensions": 0} == {**known, "extensions": 0}


@given(st.text(max_size=80), st.booleans())
def test_the_line_of_instruction_leaves_a_file_as_it_was(text: str, windows: bool) -> None:
    text = text.replace("\n", "\r\n") if windows else text
    entered = Instruction().enter(text)
    assert Instruction().enter(entered) == entered
    assert entered.startswith(text)
    assert Instruction().remove(entered, text).rstrip("\r\n") == text.rstrip("\r\n")
    assert Instruction().remove(entered + "more\n", text).endswith("more\n")


@given(st.text('{}[]",:/*\n a1', max_size=30))
def test_a_tree_is_what_the_parser_of_python_reads(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        return
    node = tree(text)
    assert node is not None
    assert node.value == expected


@pytest.mark.parametrize("text", ["{", '{"a" 1}', "[1 2]", "{'a': 1}", '{"a": 1} x', '{"a": NaN}'])
def test_broken_json_is_refused_with_its_line(text: str) -> None:
    for format in (JSON, JSONC):
        with pytest.raises(BrokenError, match="line 2"):
            format.parse("\n" + text)


@pytest.mark.parametrize("format", [JSON, JSONC])
@pytest.mark.parametrize("text", ['{"a":' * 5000 + "1" + "}" * 5000, "// c\n" + "[" * 5000])
def test_json_that_is_nested_too_deeply_is_refused(format: Format, text: str) -> None:
    with pytest.raises(BrokenError, match="nested"):
        format.parse(text)


def test_a_comment_is_broken_where_the_client_reads_plain_json() -> None:
    text = '{\n  "a": 1 // c\n}'
    assert JSONC.parse(text) == {"a": 1}
    with pytest.raises(BrokenError, match="plain JSON"):
        JSON.parse(text)


@pytest.mark.parametrize("text", ['{"servers": []}', '{"servers": 1}'])
def test_a_section_of_another_kind_is_refused(text: str) -> None:
    with pytest.raises(BrokenError, match="servers is not an object"):
        JSONC.put(text, ("servers", "memory"), {})


@pytest.mark.parametrize(
    ("format", "text"),
    [
        (TOML, "[[servers]]\na = 1\n"),
        (TOML, "servers = 5\n"),
        (YAML, "servers: [1]\n"),
        (YAML, "servers: text\n"),
    ],
)
def test_a_section_of_another_kind_is_refused_in_each_format(format: Format, text: str) -> None:
    with pytest.raises(BrokenError, match="servers is not an object"):
        format.put(text, ("servers", "memory"), {})


@pytest.mark.parametrize(
    "hooks", [5, [], "x", {"SessionStart": 5}, {"SessionStart": {}}, {"SessionStart": "x"}]
)
def test_hooks_of_another_kind_are_refused_and_nothing_is_taken_from_them(hooks: Any) -> None:
    text = json.dumps({"hooks": hooks})
    with pytest.raises(BrokenError, match="hooks"):
        HOOKS.enter(text)
    assert HOOKS.remove(text, None) == text
    assert HOOKS.commands(text) == ()


@pytest.mark.parametrize("env", [["K"], "K=v", 5, None])
def test_an_environment_of_another_kind_is_replaced(env: Any) -> None:
    assert merged({"command": "/old/memory-mcp", "env": env}, ENTRY)["env"] == ENTRY["env"]


def test_no_sign_in_a_comment_of_toml_is_taken_for_the_end_of_a_line() -> None:
    text = "# old:\u2028[servers.memory]\u2028a = 1\n[servers.memory]\na = 1\n"
    assert TOML.take(text, ("servers", "memory")) == text.partition("\n")[0] + "\n"


def test_a_section_in_braces_is_refused_rather_than_rewritten() -> None:
    text = "mcp_servers = {other = {command = 'x'}}\n"
    with pytest.raises(RefusedError, match="by hand"):
        TOML.put(text, ("mcp_servers", "memory"), {"command": "y"})


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ('{"servers": {}}', '{"servers": {\n  "memory": 1\n}}'),
        ('{"servers": {"a": 1}}', '{"servers": {"a": 1, "memory": 1}}'),
        (
            '{\n\t"servers": {\n\t\t"a": 1 // last\n\t}\n}\n',
            '{\n\t"servers": {\n\t\t"a": 1, // last\n\t\t"memory": 1\n\t}\n}\n',
        ),
        (
            '{\n  "servers": {\n    "a": 1, // last\n    // more\n  },\n}\n',
            '{\n  "servers": {\n    "a": 1, // last\n    "memory": 1,\n    // more\n  },\n}\n',
        ),
        ("\ufeff// mine\n{\n}\n", '\ufeff// mine\n{\n  "servers": {\n    "memory": 1\n  }\n}\n'),
        ("// nothing yet", '// nothing yet\n{\n  "servers": {\n    "memory": 1\n  }\n}\n'),
    ],
)
def test_a_member_looks_like_its_neighbours(text: str, after: str) -> None:
    assert JSONC.put(text, ("servers", "memory"), 1) == after


def test_what_the_person_has_set_in_our_entry_stays() -> None:
    there = {"command": "/old/memory-mcp", "args": [], "env": {"MEMORY_MCP_HOME": "/x", "K": "v"}}
    found = merged({**there, "disabled": True, "required": False}, {**ENTRY, "required": True})
    assert found["command"] == ENTRY["command"]
    assert found["env"] == {"K": 'a"\\b'}
    assert found["disabled"] is True
    assert found["required"] is False


def test_hooks_of_others_stay_and_ours_are_brought_up_to_date_where_they_stand() -> None:
    other = {"type": "command", "command": "echo mine", "timeout": 9}
    old = {"type": "command", "command": "/old/memory-mcp hook session-start", "timeout": 1}
    text = json.dumps({"hooks": {"SessionStart": [{"matcher": "x", "hooks": [other, old]}]}})
    entered = json.loads(HOOKS.enter(text))
    (group,) = entered["hooks"]["SessionStart"]
    assert group["hooks"][0] == other
    assert group["hooks"][1]["command"] == "/opt/memory-mcp hook session-start"
    assert group["hooks"][1]["timeout"] == 15
    left = json.loads(HOOKS.remove(json.dumps(entered), None))
    assert left == {"hooks": {"SessionStart": [{"matcher": "x", "hooks": [other]}]}}
