"""What an agent may be called."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.agent import check_agent


@pytest.mark.parametrize("name", ["default", "Claude-Code", "a.b_c", "7", "x" * 64, "console"])
def test_plain_names_are_taken_as_they_are(name: str) -> None:
    assert check_agent(name) == name


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", ".a", "-a", "a/b", "a\\b", "a b", "a\n", "a\0", "x" * 65, "a.", "ä", "ａ"],
)
def test_what_is_no_plain_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"agent|dot"):
        check_agent(name)


@pytest.mark.parametrize("name", ["con", "CON", "nul.x", "Com1", "lpt9.a.b", "aux"])
def test_names_of_devices_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="device"):
        check_agent(name)


@given(st.text(max_size=80))
def test_whatever_is_taken_is_one_step_of_a_path_on_every_system(name: str) -> None:
    try:
        check_agent(name)
    except ValueError:
        return
    assert name.isascii()
    assert not set(name) & set('/\\:*?"<>|\n\0 ')
    assert name.strip(".") == name.rstrip(".") == name
