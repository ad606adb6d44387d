"""The front as a process, with a stand-in engine that has bad days."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memory_mcp.front import endpoint as places
from memory_mcp.front.starting import HANG_UPS
from tests.front.fronts import SECONDS, Home

INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t"}}
LISTEN = {"notifications": {"resourcesListChanged": True, "resourceSubscriptions": ["a://b"]}}


def test_a_front_starts_an_engine_and_passes_lines_both_ways(home: Home) -> None:
    front = home.front()
    found = front.ask("naïve ☕", text="日本 \u2028")
    assert found["params"] == {"text": "日本 \u2028"}
    assert (found["resumed"], found["repeated"], len(found["session"])) == (False, [], 32)
    assert front.end() == 0
    assert "warning: beware" in front.log()


def test_ten_fronts_at_once_share_one_engine(home: Home) -> None:
    fronts = [home.front() for _ in range(10)]
    for front in fronts:
        front.request(1, "echo")
    assert len({front.answer(1)["result"]["engine"] for front in fronts}) == 1
    assert len(home.engines()) == 1


def test_a_killed_engine_is_replaced_before_the_next_call(home: Home) -> None:
    front = home.front()
    first = front.ask(1)
    home.kill()
    second = front.ask(2)
    assert first["engine"] != second["engine"]
    assert first["session"] == second["session"]
    assert second["resumed"] is True


def test_calls_that_were_open_when_the_engine_died_are_sent_again_in_order(home: Home) -> None:
    front = home.front()
    front.ask(0)
    for number in (1, "1", 2):
        front.request(number, "hold")
    front.request(3, "die", times=1)
    again = front.answer(3)["result"]
    assert again["repeated"] == [1, "1", 2, 3]
    front.request(4, "release")
    answers = [front.receive()["id"] for _ in range(4)]
    assert sorted(map(repr, answers)) == ["'1'", "1", "2", "4"]


def test_half_an_answer_never_reaches_the_client(home: Home) -> None:
    front = home.front()
    assert front.ask(1, "half")["repeated"] == [1]
    assert front.end() == 0
    assert front.out.read() == b""


def test_a_call_that_kills_every_engine_is_answered_with_an_error(home: Home) -> None:
    front = home.front()
    front.request(1, "die", times=99)
    error = front.answer(1)["error"]
    assert error["code"] == -32603
    assert "3 times" in error["message"]
    assert front.ask(2)["repeated"] == []
    assert len(home.engines()) == 4


def test_a_cancelled_call_is_not_sent_again(home: Home) -> None:
    front = home.front()
    front.request(1, "hold")
    cancel = {"method": "notifications/cancelled", "params": {"requestId": 1}}
    front.send({"jsonrpc": "2.0", **cancel})
    front.ask(2)
    home.kill()
    assert front.ask(3, "seen")["seen"] == ["seen"]


def shake(front: Any) -> None:
    front.ask(0, "initialize", **INITIALIZE)
    front.send({"jsonrpc": "2.0", "method": "notifications/initialized"})


def test_the_handshake_and_what_was_set_up_are_repeated_for_a_new_engine(home: Home) -> None:
    front = home.front()
    shake(front)
    front.ask(1, "resources/subscribe", uri="memories://note/memory/a")
    front.ask(2, "resources/subscribe", uri="memories://note/memory/b")
    front.ask(3, "resources/unsubscribe", uri="memories://note/memory/a")
    front.ask(4, "logging/setLevel", level="error")
    home.kill()
    seen = front.ask(5, "seen")["seen"]
    standing = ["notifications/initialized", "logging/setLevel", "resources/subscribe"]
    assert seen == ["initialize", *standing, "seen"]
    assert [(note["method"], note.get("params")) for note in front.told] == [
        ("notifications/resources/list_changed", {}),
        ("notifications/resources/updated", {"uri": "memories://note/memory/b"}),
    ]


def test_a_listening_client_is_acknowledged_once_and_told_what_it_may_have_missed(
    home: Home,
) -> None:
    front = home.front()
    front.request("stream", "subscriptions/listen", **LISTEN)
    front.ask(1)
    home.kill()
    seen = front.ask(2, "seen")["seen"]
    assert seen == ["subscriptions/listen", "seen"]
    methods = [note["method"].removeprefix("notifications/") for note in front.told]
    changed = ["resources/list_changed", "resources/updated"]
    while len(methods) < 3:
        methods.append(front.receive()["method"].removeprefix("notifications/"))
    assert methods == ["subscriptions/acknowledged", *changed]


def test_an_engine_that_drains_finishes_its_calls_and_gets_no_new_ones(home: Home) -> None:
    front = home.front()
    first = front.ask(1)["engine"]
    front.request("stream", "subscriptions/listen", **LISTEN)
    assert front.ask(2, "drain")["engine"] == first
    after = front.ask(3)
    assert after["engine"] != first
    assert after["repeated"] == ["stream"]


@pytest.mark.parametrize("way", ["idle", "stop"])
def test_after_an_engine_went_for_good_the_next_message_starts_another(
    home: Home, way: str
) -> None:
    front = home.front()
    shake(front)
    front.ask(1, way)
    assert len(home.engines()) == 1
    assert front.ask(2)["resumed"] is True
    assert len(home.engines()) == 2


@pytest.mark.parametrize("way", ["idle", "stop"])
def test_a_front_that_needs_no_engine_ends_with_its_client(home: Home, way: str) -> None:
    front = home.front()
    front.ask(1, way)
    assert front.end() == 0
    assert len(home.engines()) == 1


def test_questions_of_two_engines_are_told_apart(home: Home) -> None:
    front = home.front()
    front.request("call", "question")
    first, forget, second = front.receive(), front.receive(), front.receive()
    assert first["method"] == second["method"] == "elicitation/create"
    assert forget["params"]["requestId"] == first["id"] == 1
    assert second["id"] != 1
    front.send({"jsonrpc": "2.0", "id": 1, "result": {"action": "late"}})
    front.send({"jsonrpc": "2.0", "id": second["id"], "result": {"action": "accept"}})
    front.answer("call")
    assert front.ask(2, "seen")["seen"] == ["question", {"answer": 1}, "seen"]


def test_lines_that_are_no_messages_are_passed_on_untouched(home: Home) -> None:
    front = home.front()
    lines = [b"not json\r\n", b"\xff\xfe\x00\n", b"[]\n", b"[" * 5000 + b"\n", b'{"id":1.5}\n']
    for line in [*lines, b"\n", b"  \r\n"]:
        front.send(line)
    seen = front.ask(1, "seen")["seen"]
    assert [item["bytes"] for item in seen[:4]] == [len(line) for line in lines[:4]]


def test_a_line_of_many_megabytes_passes_in_pieces(home: Home) -> None:
    front = home.front()
    text = "x" * (24 << 20)
    assert len(front.ask(1, text=text)["params"]["text"]) == len(text)
    home.kill()
    assert 1 not in front.ask(2)["repeated"]


def test_a_call_too_large_to_be_sent_again_is_answered_with_an_error(home: Home) -> None:
    front = home.front()
    front.request(1, "die", times=1, text="x" * (6 << 20))
    assert "too large" in front.answer(1)["error"]["message"]
    assert front.ask(2)["repeated"] == []


def test_a_client_that_reads_late_gets_everything(home: Home) -> None:
    front = home.front()
    count, size = 40, 300_000
    for number in range(count):
        front.request(number, "big", size=size)
    answers = [front.receive() for _ in range(count)]
    assert sorted(answer["id"] for answer in answers) == list(range(count))
    assert all(len(answer["result"]["text"]) == size for answer in answers)


@pytest.mark.timeout(30)
def test_a_client_that_reads_nothing_does_not_keep_the_front_from_ending(home: Home) -> None:
    front = home.front()
    for number in range(20):
        front.request(number, "big", size=300_000)
    assert front.end() == 0


def test_all_answers_arrive_although_the_client_has_closed_its_side(home: Home) -> None:
    front = home.front()
    for number in range(5):
        front.request(number, "big", size=300_000)
    front.to.close()
    assert sorted(front.receive()["id"] for _ in range(5)) == [0, 1, 2, 3, 4]
    assert front.inner.wait(SECONDS) == 0


def test_where_no_socket_file_can_be_an_engine_is_reached_by_loopback(tmp_path: Path) -> None:
    home = Home(tmp_path, "long" * 30)
    try:
        home.environ |= {"XDG_RUNTIME_DIR": "", "TMPDIR": str(home.path)}
        front = home.front()
        first = front.ask(1)["engine"]
        endpoint = places.read(str(home.path))
        assert endpoint is not None
        assert endpoint.address["tcp"][0] == "127.0.0.1"
        home.kill()
        assert front.ask(2)["engine"] != first
        assert front.end() == 0
    finally:
        home.close()


def test_streams_that_do_not_wait_are_made_to_wait(home: Home) -> None:
    front = home.front(nonblocking=True)
    for number in range(20):
        front.request(number, "big", size=300_000)
    answers = [front.receive()["id"] for _ in range(20)]
    assert sorted(answers) == list(range(20))


def test_a_front_without_standard_streams_ends(home: Home) -> None:
    words = [sys.executable, "-P", "-m", "memory_mcp"]
    closed = "exec 0<&- 1>&- 2>&-; exec " + shlex.join(words)
    done = subprocess.run(["sh", "-c", closed], env=home.environ, timeout=SECONDS)
    assert done.returncode == 0


def test_a_front_whose_output_is_closed_ends_quietly(home: Home) -> None:
    front = home.front()
    front.ask(1)
    front.out.close()
    front.request(2, "echo")
    assert front.inner.wait(SECONDS) == 0
    assert "Traceback" not in front.log()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_front_at_once(home: Home, number: int) -> None:
    front = home.front()
    front.ask(1)
    front.request(2, "hold")
    front.inner.send_signal(number)
    assert front.inner.wait(2.0) == 0


def test_settings_that_are_wrong_end_the_front_with_every_message(home: Home) -> None:
    front = home.front(MEMORY_MCP_WRONG="1")
    assert front.inner.wait(SECONDS) == 1
    assert "memory-mcp: MEMORY_MCP_WRONG: is no setting\n" in front.log()
    home.kill()
    home.mood("config")
    front = home.front()
    assert front.inner.wait(SECONDS) == 1
    assert front.log() == "memory-mcp: first\nmemory-mcp: second\n"


def test_settings_that_become_wrong_fail_calls_until_they_are_right_again(home: Home) -> None:
    front = home.front()
    front.ask(1)
    home.mood("config")
    front.request(2, "die", times=1)
    assert "first; second" in front.answer(2)["error"]["message"]
    home.mood("")
    assert front.ask(3)["resumed"] is True


@pytest.mark.parametrize(
    ("mood", "reason"),
    [("fail", "first; second"), ("silent", "ImportError: no such thing"), ("refuse", "not today")],
)
def test_without_an_engine_the_client_gets_a_server_of_its_own(
    home: Home, mood: str, reason: str
) -> None:
    home.mood(mood)
    front = home.front()
    found = front.ask(1)
    assert found["words"] == ["--in-process"]
    log = front.log()
    assert log.count("no shared engine") == 1
    assert reason in log
    os.kill(found["alone"], signal.SIGKILL)
    assert front.ask(2)["alone"] != found["alone"]
    assert front.end() == 0


def test_an_engine_that_is_always_lost_at_once_is_given_up(home: Home) -> None:
    home.mood("fragile")
    front = home.front()
    for number in (1, 2, 3):  # three losses end a request, six the hope for an engine
        front.request(number, "echo")
        found = front.answer(number)
        if "result" in found:
            break
        assert "lost 3 times" in found["error"]["message"]
    assert "alone" in found["result"]
    assert "lost at once, 6 times in a row" in front.log()


def test_an_engine_that_hangs_up_on_every_hello_is_soon_given_up(home: Home) -> None:
    home.mood("rude")
    front = home.front()
    assert "alone" in front.ask(1)
    assert "hung up 6 times" in front.log()
    assert len((home.path / "hellos").read_text(encoding="utf-8").split()) == HANG_UPS + 1


def test_a_state_folder_that_cannot_be_written_leads_to_a_server_of_its_own(home: Home) -> None:
    (home.path / ".state").write_text("in the way", encoding="utf-8")
    front = home.front()
    assert "alone" in front.ask(1)
    assert "no shared engine" in front.log()


def test_a_call_of_a_dead_engine_is_not_repeated_by_a_server_that_cannot_know_it(
    home: Home,
) -> None:
    front = home.front()
    front.request("read", "hold")
    front.request("call", "tools/call", name="hold")
    front.ask(1)
    home.mood("fail")
    home.kill()
    answers = {answer["id"]: answer for answer in (front.receive(), front.receive())}
    assert "cannot tell whether it was done" in answers["call"]["error"]["message"]
    assert "alone" in answers["read"]["result"]


def test_wreckage_of_a_killed_engine_is_no_hindrance(home: Home) -> None:
    front = home.front()
    front.ask(1)
    stale = places.read(str(home.path))
    assert stale is not None
    front.inner.kill()
    home.kill()
    other = home.front()
    assert other.ask(1)["engine"] != stale.engine
    assert len(home.engines()) == 2
