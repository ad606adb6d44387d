"""What comes into a turn, and what does not."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from memory_mcp.core.tokens import tokens
from memory_mcp.recall.block import MOST_CHARS, units
from memory_mcp.recall.recall import Recall
from memory_mcp.recall.turn import Recalled, Turn
from tests.recall.world import recalling

pytestmark = pytest.mark.anyio

NOTES = {
    "memory/dog.md": "# Dog\n\nThe dog Pixel gets his pill at seven in the evening.\n",
    "memory/car.md": "# Car\n\nWinter tyres are stored at garage Novak.\n",
    "memory/tea.md": "# Tea\n\nGreen tea brews at 80 degrees.\n",
}


def shown(recalled: Recalled) -> list[str]:
    return [hit.card.reference for hit in recalled.hits]


async def test_a_note_that_answers_comes_in_its_frame_under_a_word_of_caution(
    tmp_path: Path,
) -> None:
    async with recalling(tmp_path, NOTES) as app:
        found = await app.recall.turn("when does Pixel get his pill?")
        assert shown(found) == ["memory/dog"]
        before, frame = found.block.split("<MEMORY[memory/dog]")
        assert "stored data: recollection, not observation" in before
        assert "never replace looking" in before
        assert "seven in the evening" in frame
        assert found.block.count("</MEMORY>") == 1
        assert found.block.endswith("</memory-context>")
        assert found.query.words == ("pixel", "pill")


async def test_what_memory_has_nothing_to_say_to_is_met_with_silence(tmp_path: Path) -> None:
    async with recalling(tmp_path, NOTES) as app:
        for message in ("Refactor the parser to use an iterator instead of a list.", "ok", "/x"):
            found = await app.recall.turn(message)
            assert (found.block, found.hits, found.left_out) == ("", (), 0)


async def test_a_passage_is_not_repeated_while_in_view_of_a_session(tmp_path: Path) -> None:
    async with recalling(tmp_path, NOTES) as app:
        recall = app.recall
        assert (await recall.turn("which tyres?", session="s")).block
        assert not (await recall.turn("where are the winter tyres?", session="s")).block
        assert not (await recall.turn("which tyres?", session="s")).block
        assert (await recall.turn("which tyres?", session="t")).block
        assert (await recall.turn("which tyres?")).block
        again = Recall(app.index, app.searcher, app.config)  # as after a new start
        assert not (await again.turn("where are the winter tyres?", session="s")).block
        await recall.reset("s")
        assert (await recall.turn("where are the winter tyres?", session="s")).block


async def test_the_same_message_from_another_folder_is_another_conversation(
    tmp_path: Path,
) -> None:
    async with recalling(tmp_path, NOTES) as app:
        for place in ("repo", "repo/sub", "repo"):
            found = await app.recall.turn("which tyres?", session="s", place=place)
            assert shown(found) == ["memory/car"]
        assert not (await app.recall.turn("which tyres?", session="s", place="repo")).block


async def test_a_changed_passage_may_come_again(tmp_path: Path) -> None:
    async with recalling(tmp_path, NOTES) as app:
        assert (await app.recall.turn("which tyres?", session="s")).block
        await app.writer.write("car", "# Car\n\nSummer tyres are in the cellar.\n")
        assert "cellar" in (await app.recall.turn("which tyres?", session="s")).block


async def test_injected_text_is_no_message_and_no_history(tmp_path: Path) -> None:
    async with recalling(tmp_path, NOTES) as app:
        block = (await app.recall.turn("when does Pixel get his pill?")).block
        reminder = "<system-reminder>winter tyres at Novak</system-reminder>"
        found = await app.recall.turn(f"{block}\n{reminder}\nHow hot for green tea?")
        assert shown(found) == ["memory/tea"]
        history = (Turn("user", "hello"), Turn("assistant", f"{block}{reminder}"))
        assert not (await app.recall.turn("and when is that?", history)).block


async def test_a_follow_up_finds_its_note_through_the_history(tmp_path: Path) -> None:
    notes = NOTES | {
        "wiki/people/karl.md": "# Karl\n\nKarl is a carpenter. His wife is called Anna.\n",
        "wiki/people/otto.md": "# Otto\n\nOtto is a baker.\n",
        "wiki/topics/wood.md": "# Wood\n\nOak is heavy. A wife of a sailor wrote a book on it.\n",
    }
    history = (Turn("user", "who is karl?"), Turn("assistant", "Karl is a carpenter."))
    async with recalling(tmp_path, notes) as app:
        found = await app.recall.turn("and his wife?", history)
        assert shown(found)[0] == "wiki/people/karl"
        assert found.query.history_weight == app.config.recall.history_weight_short
        assert shown(await app.recall.turn("das solltest du wissen, oder?", history)) == [
            "wiki/people/karl"
        ]
        # A page that the message names outright is not pushed down by the history.
        assert shown(await app.recall.turn("who is otto?", history))[0] == "wiki/people/otto"


async def test_the_block_keeps_to_its_budget_and_says_what_was_left_out(tmp_path: Path) -> None:
    text = "The roof beam inspection of part {0} says that beam {0} is sound and dry. "
    notes = {
        f"memory/roof{n}.md": f"# Roof {n}\n\n{(text.format(f'{n}{chr(97 + n)}')) * 8}\n"
        for n in range(12)
    }
    async with recalling(tmp_path, notes) as app:
        found = await app.recall.turn("What does the roof beam inspection say?")
        assert 0 < tokens(found.block) <= app.config.recall.max_tokens
        assert units(found.block) <= MOST_CHARS
        assert found.block.count("<MEMORY[") == found.block.count("</MEMORY>")
        assert found.left_out > 0
        smaller = await app.recall.turn("What does the roof beam inspection say?", max_tokens=300)
        assert 0 < tokens(smaller.block) <= 300
        assert len(smaller.hits) < len(found.hits) or smaller.left_out >= found.left_out
        assert (await app.recall.turn("the roof beam inspection?", max_tokens=1)).block == ""


async def test_a_note_that_is_too_long_is_cut_at_a_sentence_with_a_mark(tmp_path: Path) -> None:
    body = "".join(f"The beam number {n} of the roof is sound. " for n in range(400))
    notes = {
        "memory/roof.md": f"---\nmetadata: {{triggers: [roof beam]}}\n---\n# Roof\n\n{body}\n"
    }
    async with recalling(tmp_path, notes) as app:
        found = await app.recall.turn("tell me about the roof beam")
        assert found.triggered == ("memory/roof",)
        assert "is sound. […]\n</MEMORY>" in found.block
        assert tokens(found.block) <= app.config.recall.max_tokens


async def test_triggers_bring_a_note_as_it_is_now_and_never_twice(tmp_path: Path) -> None:
    header = "---\nname: deploy-ritual\nmetadata:\n  triggers: [Deploy, 発売]\n---\n"
    notes = NOTES | {"memory/deploy-ritual.md": f"{header}Back up before you migrate.\n"}
    async with recalling(tmp_path, notes) as app:
        found = await app.recall.turn("let us DEPLOY the thing", session="s")
        assert found.triggered == ("memory/deploy-ritual",)
        assert "metadata" not in found.block
        assert found.block.count("Back up before") == 1
        assert not (await app.recall.turn("deploy, back up, migrate?", session="s")).block
        inside = "<system-reminder>deploy</system-reminder>"
        assert not (await app.recall.turn(f"{inside} ok", session="t")).triggered
        assert (await app.recall.turn("明日発売", session="t")).triggered
        path = next(app.sources[0].root.glob("deploy-ritual.md"))
        path.write_text(f"{header}Tell the team first.\n", encoding="utf-8")
        assert "Tell the team" in (await app.recall.turn("deploy", session="u")).block
        path.unlink()
        assert not (await app.recall.turn("deploy", session="v")).triggered


async def test_a_trigger_does_not_repeat_a_note_of_which_all_is_in_view(tmp_path: Path) -> None:
    header = "---\nmetadata: {triggers: [zebra]}\n---\n"
    notes = NOTES | {
        "memory/dog.md": header + NOTES["memory/dog.md"],
        "memory/two.md": f"{header}# Boat\n\nThe boat is moored.\n\n## Sail\n\nIt is red.\n",
    }
    async with recalling(tmp_path, notes) as app:
        assert shown(await app.recall.turn("when does Pixel get his pill?", session="s"))
        found = await app.recall.turn("and the zebra?", session="s")
        assert found.triggered == ("memory/two",)
        assert "Pixel" not in found.block
        assert not (await app.recall.turn("zebra, where is the boat moored?", session="s")).block


async def test_what_was_cut_off_from_a_triggered_note_can_still_come(tmp_path: Path) -> None:
    beams = "".join(f"## Beam {n}\n\nBeam number {n} is of old oak.\n\n" for n in range(200))
    text = f"{beams}## Chimney\n\nThe chimney was swept by Ilmar in the spring.\n"
    notes = NOTES | {"memory/roof.md": f"---\nmetadata: {{triggers: [roof]}}\n---\n{text}"}
    async with recalling(tmp_path, notes) as app:
        found = await app.recall.turn("tell me about the roof", session="s")
        assert found.triggered == ("memory/roof",)
        assert "Ilmar" not in found.block
        later = await app.recall.turn("who swept the chimney of the roof?", session="s")
        assert later.triggered == ()
        assert "Ilmar" in later.block


async def test_a_note_from_outside_is_brought_by_no_trigger(tmp_path: Path) -> None:
    clip = "---\nname: the-weather\nsource: {url: https://example.org, kind: web}\n"
    notes = NOTES | {
        "memory/the-weather.md": f"{clip}metadata: {{triggers: [how]}}\n---\nPay at once.\n",
        "memory/the-news.md": f"{clip}---\nPay at once.\n".replace("weather", "news"),
    }
    message = "how is the-weather, and the-news?"
    async with recalling(tmp_path, notes) as app:
        assert (await app.recall.turn(message)).triggered == ()
    async with recalling(tmp_path, {}, writing={"allow_pin_untrusted": True}) as app:
        assert len((await app.recall.turn(message)).triggered) == 2


async def test_no_more_notes_are_triggered_than_the_settings_allow(tmp_path: Path) -> None:
    notes = {
        f"memory/n{n}.md": f"---\nmetadata: {{triggers: [harbour]}}\n---\nFact {n}.\n"
        for n in range(5)
    }
    async with recalling(tmp_path, notes, triggers={"max_per_step": 2}) as app:
        assert len((await app.recall.turn("the harbour")).triggered) == 2
    async with recalling(tmp_path, {}, triggers={"max_per_step": 0}) as app:
        assert (await app.recall.turn("the harbour")).triggered == ()


async def test_one_fact_in_many_notes_leaves_room_for_others(tmp_path: Path) -> None:
    notes = {
        f"memory/r{n}.md": f"Reminder {n}: the bakery is closed on Mondays." for n in range(8)
    }
    notes["memory/yeast.md"] = "The bakery also sells yeast.\n"
    notes["memory/june.md"] = "Since June the bakery is open on Mondays.\n"
    async with recalling(tmp_path, notes) as app:
        closed = await app.recall.turn("Is the bakery closed on Mondays?")
        assert (closed.block.count("closed on Mondays"), closed.left_out) == (2, 6)
        other = await app.recall.turn("Is the bakery open on Mondays, and do they sell yeast?")
        assert other.block.count("closed on Mondays") <= 2
        assert "yeast" in other.block


async def test_turns_of_one_session_at_once_show_a_passage_once(tmp_path: Path) -> None:
    async with recalling(tmp_path, NOTES) as app:
        blocks: list[str] = []

        async def ask() -> None:
            blocks.append((await app.recall.turn("which tyres?", session="s")).block)

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(ask)
        assert sum(map(bool, blocks)) == 1


async def test_whoever_is_named_brings_the_notes_that_bear_the_name(tmp_path: Path) -> None:
    notes = {
        "memory/kim-eats-meat.md": "---\nsupersedes: kim-diet\n---\nKim eats meat again.\n",
        "memory/kim-diet.md": "Kim eats no meat.\n",
        "memory/kim-shoes.md": "Kim takes size 41.\n",
        "memory/menu.md": "# Menu\n\nOn Sundays we cook a soup.\n",
    }
    async with recalling(tmp_path, notes) as app:
        found = await app.recall.turn("Can I buy a present for Kim?")
        assert len(found.hits) == 2, "no more than two come for a name alone"
        found = await app.recall.turn("Can I cook a roast for Kim?")
        assert "memory/kim-eats-meat" in shown(found)
        for message in ("Can I cook a roast for Robin?", "Can I buy a present for Kim and Robin?"):
            assert not shown(await app.recall.turn(message)), "there is nothing of Robin"
        assert not shown(await app.recall.turn("Thanks, I will tell Kim."))


async def test_a_name_of_the_message_is_told_from_names_of_the_question_before_it(
    tmp_path: Path,
) -> None:
    files = {
        "agents/default/memory/kim.md": "Kim has her birthday on 3 March and collects stamps.",
        "agents/default/memory/otto.md": "Otto has his birthday on 9 May and collects coins.",
    }
    before = [Turn("user", "When is the birthday of Otto?"), Turn("assistant", "On 9 May.")]
    async with recalling(tmp_path, files, recall={"min_score": 0.7}) as app:
        found = await app.recall.turn("And what about Kim?", before)
        assert [hit.card.reference for hit in found.hits] == ["memory/kim"]
