"""What a text is about and what it names, told by its words alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.frontmatter import split_and_load
from memory_mcp.curate.save.category import PAGES, category_of
from memory_mcp.curate.save.mention import named, stands_in
from tests.curate.world import world


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("We decided to paint the shed green.", "decision"),
        ("Wir haben beschlossen, den Zaun zu streichen.", "decision"),
        ("We have not decided on the colour yet.", "general"),
        ("Have we decided on the colour?", "general"),
        ("Es ist noch nicht entschieden, wer fährt.", "general"),
        ("Alice prefers tea.", "preference"),
        ("Oma mag keine Rosinen.", "preference"),
        ("The project ends in May.", "project"),
        ("Der nächste Meilenstein ist im Mai.", "project"),
        ("Rosa's birthday is on 5 May.", "person"),
        ("Die Tochter von Max heißt Ida.", "person"),
        ("The pump is loud at night.", "general"),
        ("", "general"),
    ],
)
def test_a_category_is_named_where_the_words_say_so(text: str, category: str) -> None:
    assert category_of(text) == category


@given(st.text())
def test_any_text_has_a_category_and_names_within_it(text: str) -> None:
    assert category_of(text) in PAGES
    for name in named(text, 3):
        assert name


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("See [[wiki/people/alice|her]] and [[Garden]].", ["alice", "Garden"]),
        ("It was for Project Orion, and nobody knew what they would do.", ["Orion"]),
        ("We met with Alice Berg at the mill, and she told us about it.", ["Alice Berg"]),
        ("Das war für die Firma Siemens und der Mann hat es gesagt.", ["Siemens"]),
        ("Am Montag Abend haben wir uns mit der ganzen Familie getroffen.", []),
    ],
)
def test_things_are_named_by_their_form(text: str, names: list[str]) -> None:
    assert list(named(text, 3)) == names


def test_a_name_counts_as_whole_words_in_its_own_spelling() -> None:
    assert stands_in("Alice Berg", "Ask Alice Berg, please.")
    assert not stands_in("Alice Berg", "Ask Alice Bergmann.")
    assert not stands_in("C", "C++ and C# only")
    assert stands_in("C++", "C++ and C")
    assert not stands_in("Tea", "Green tea.")


@pytest.mark.anyio
async def test_a_filed_text_has_day_category_and_links_to_what_it_names(tmp_path: Path) -> None:
    notes = {
        "wiki/people/alice-berg": "---\naliases: [Ali B]\n---\n# Alice Berg\n\nGardener.\n",
        "memory/alice-bergmann": "# Alice Bergmann\n\nDentist.\n",
        "wiki/log/2026-03-01/general": "# Alice Berg\n\nA day.\n",
        "vault/mill": "# Mill\n\nOld.\n",
    }
    async with world(tmp_path, notes) as there:
        there.tasks.start_soon(there.jobs.run)
        job = await there.saver.save("Ali B decided to leave the Mill in May.")
        done = await there.jobs.finished(job.job_id, 8)
        (reference,) = done.changed
        values = split_and_load(there.text(reference))[1].values
        assert values["tags"] == ["2026-03-14", "decision"]
        assert values["links"] == [{"to": "wiki/people/alice-berg", "relation": "mentions"}]
