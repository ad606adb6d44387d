"""What the documents say is so: commands exist, snippets parse, settings and links are right."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from memory_mcp.cli.config import flatten
from memory_mcp.cli.ending import INTERRUPTED
from memory_mcp.cli.main import cli
from memory_mcp.cli.starter import TEMPLATE
from memory_mcp.core.config import Config, SourceSettings

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md")])
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"(?<!!)\[[^\]\n]+\]\(([^)\s]+)\)")
ROW = re.compile(r"^\| `([\w.]+)` \| (?:`([^`]*)`|[^|]*) \|", re.MULTILINE)
# Words of a line that are a placeholder, not something to type.
PLACEHOLDER = re.compile(r"[A-Z_]+|\[[A-Z_]+\]")


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def snippets(language: str) -> Iterator[tuple[str, str]]:
    """(page, text) of the fenced blocks in a language."""
    for page in PAGES:
        for found in FENCE.finditer(read(page)):
            if found[1] == language:
                yield page.name, found[2]


def commands() -> Iterator[str]:
    """Every command line that begins with memory-mcp, from shell blocks and inline code."""
    for page in PAGES:
        text = read(page)
        for found in FENCE.finditer(text):
            if found[1] == "sh":
                yield from (line for line in found[2].splitlines() if "memory-mcp " in line)
        yield from (
            found[1]
            for found in INLINE.finditer(FENCE.sub("", text))
            if found[1].startswith("memory-mcp ")
        )


def words_of(line: str) -> list[str]:
    """The words after memory-mcp, without comments and placeholders."""
    words = shlex.split(line, comments=True)
    names = [place for place, word in enumerate(words) if Path(word).name == "memory-mcp"]
    return words[names[-1] + 1 :] if names else []


def check_command(words: list[str]) -> None:
    """Follow the words through groups and commands; every option must be known."""
    command: click.Command = cli
    for word in words:
        if word.startswith("-"):
            name = word.partition("=")[0]
            known = {option for item in (command, cli) for p in item.params for option in p.opts}
            assert name in known | {"--help", "-h"}, f"{command.name} has no option {name}"
        elif isinstance(command, click.Group):
            if command is cli and cli.get_command(click.Context(cli), word) is None:
                assert PLACEHOLDER.fullmatch(word) or known_value(word), f"no command {word}"
                continue
            found = command.get_command(click.Context(command), word)
            assert found is not None, f"{command.name} has no command {word}"
            command = found


def known_value(word: str) -> bool:
    """Whether a word is the value of a flag in front of the command."""
    return word in ("work", "/path/to/home")


@pytest.mark.parametrize("line", sorted(set(commands())))
def test_every_command_in_the_documents_exists(line: str) -> None:
    check_command(words_of(line))


def test_every_command_is_in_the_list_of_commands() -> None:
    page = read(ROOT / "docs" / "cli.md")
    for name in cli.commands:
        assert f"`memory-mcp {name}" in page


@pytest.mark.parametrize(("page", "text"), list(snippets("json")))
def test_json_snippets_parse(page: str, text: str) -> None:
    assert isinstance(json.loads(text), dict)


@pytest.mark.parametrize(("page", "text"), list(snippets("yaml")))
def test_yaml_snippets_are_settings(page: str, text: str) -> None:
    Config.model_validate({"home": "/home", **yaml.safe_load(text)})


def test_the_example_for_claude_desktop_is_json_and_names_an_absolute_path() -> None:
    example = json.loads(read(ROOT / "claude_desktop_config.example.json"))
    assert example["mcpServers"]["memory"]["command"].startswith("/")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_relative_links_lead_somewhere(page: Path) -> None:
    text = FENCE.sub("", read(page))
    for target in LINK.findall(text):
        place, _, anchor = target.partition("#")
        assert "://" not in target, f"{target} leaves the repository"
        other = page.parent / place if place else page
        assert other.exists(), f"{page.name} links to {target}"
        if anchor:
            assert anchor in anchors(other), f"{target} has no such heading"


def anchors(page: Path) -> set[str]:
    """The anchors that the headings of a page have."""
    titles = re.findall(r"^#+ (.+)$", FENCE.sub("", read(page)), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def documented() -> dict[str, Any]:
    """Setting → default, as docs/config.md has them."""
    rows = ROW.findall(read(ROOT / "docs" / "config.md"))
    return {key: json.loads(default) if default else None for key, default in rows}


def test_the_page_on_settings_has_every_setting_with_its_default() -> None:
    settings = dict(flatten(Config.model_validate({"home": "/home"})))
    wanted = {
        key: value
        for key, value in settings.items()
        if key != "home" and not key.startswith("sources.")
    }
    per_source = SourceSettings(path="x").model_dump(mode="json")
    wanted |= {key: None if key == "path" else value for key, value in per_source.items()}
    assert documented() == wanted


def test_the_settings_that_init_writes_are_valid_when_switched_on() -> None:
    lines = [line.removeprefix("# ") for line in TEMPLATE.split("\n\n", 1)[1].splitlines()]
    settings = yaml.safe_load("\n".join(lines))
    config = Config.model_validate({"home": "/home", **settings})
    assert config.sources["wiki"].boost == 1.4


def test_the_settings_that_init_writes_are_all_commented_out() -> None:
    assert yaml.safe_load(TEMPLATE) is None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_name_no_made_up_address(page: Path) -> None:
    assert not re.findall(r"https?://(?!127\.0\.0\.1|localhost)\S+", read(page))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_extras_are_installed_from_the_clone(page: Path) -> None:
    assert "memory-mcp[" not in read(page), "the package is in no index"


def rows_of_commands() -> dict[str, str]:
    """Command → its row in the list of commands."""
    rows = re.findall(r"^\| `memory-mcp ([^`]+)`(.*)\|$", read(ROOT / "docs" / "cli.md"), re.M)
    return {
        " ".join(w for w in line.split() if not PLACEHOLDER.fullmatch(w)): t for line, t in rows
    }


@pytest.mark.parametrize("name", sorted(cli.commands))
def test_the_list_of_commands_has_every_option(name: str) -> None:
    command = cli.commands[name]
    if isinstance(command, click.Group) or name == "serve":
        return
    row = rows_of_commands()[name]
    options = {option for item in command.params for option in item.opts if option[:2] == "--"}
    for option in options - {"--json", "--content"}:
        assert f"`{option}`" in row, f"{name} has {option}"


def test_the_flags_of_all_commands_are_documented() -> None:
    page = read(ROOT / "docs" / "cli.md")
    for option in (option for item in cli.params for option in item.opts):
        assert option == "--version" or f"`{option}" in page


def test_the_exit_codes_are_documented() -> None:
    codes = next(
        line for line in read(ROOT / "docs" / "cli.md").splitlines() if "Exit codes" in line
    )
    for code in (0, 1, 2, INTERRUPTED):
        assert f" {code} " in codes


def test_the_layout_in_the_architecture_is_the_layout() -> None:
    tree = next(text for _, text in blocks(ROOT / "docs" / "architecture.md") if "app.py" in text)
    for line in tree.splitlines():
        name = line.split()[0]
        place = ROOT / ("memory_mcp" if line.startswith(" ") else "") / name
        assert place.is_dir() if name.endswith("/") else place.is_file(), name
    floors = {path.name for path in (ROOT / "memory_mcp").iterdir() if path.is_dir()}
    for floor in floors - {"__pycache__", "prompts", "examples"}:
        assert f"  {floor}/ " in tree, f"the layout lacks {floor}"
    for folder in re.findall(r"\b([a-z]+)/ ", tree.partition("tests/")[2].partition("\n")[0]):
        assert list((ROOT / "tests" / folder).glob("test_*.py")), f"tests/{folder} is empty"


def blocks(page: Path) -> list[tuple[str, str]]:
    """(language, text) of the fenced blocks of a page."""
    return [(found[1], found[2]) for found in FENCE.finditer(read(page))]
