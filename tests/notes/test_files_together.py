"""Several processes at once, and things that fail in the middle."""

from __future__ import annotations

import shutil
import signal
import subprocess
import threading
from pathlib import Path

import pytest

from memory_mcp.core.errors import NotFoundError, RefusedError, StorageError
from memory_mcp.notes.files import read, update
from memory_mcp.notes.lock import locked
from tests.notes.build import NOW, history_at, leftovers, run, script, source_at, write

# Processes are started and disks are flushed: seconds alone, more beside others.
pytestmark = pytest.mark.timeout(40)

APPEND = """
from pathlib import Path
from memory_mcp.notes.files import update
from tests.notes.build import NOW, history_at, source_at
base = Path(sys.argv[1])
source, history = source_at(base / "vault"), history_at(base)
print("ready", flush=True)
sys.stdin.readline()
for number in range(30):
    line = f"{sys.argv[2]} {number}\\n".encode()
    update(source, "log", lambda before: (before or b"") + line, history, NOW)
"""

ATTEMPT = """
import os, resource
from pathlib import Path
from memory_mcp.core.errors import MemoryMcpError
from memory_mcp.notes.files import read, update
from tests.notes.build import NOW, history_at, source_at
base = Path(sys.argv[1])
source, history = source_at(base / "vault"), history_at(base)
{before}
try:
    update(source, "a", lambda old: {change}, history, NOW)
except MemoryMcpError as error:
    print(type(error).__name__, error)
"""


def test_four_processes_lose_no_line(tmp_path: Path) -> None:
    source = source_at(tmp_path / "vault")
    started = [
        subprocess.Popen(
            script(APPEND, str(tmp_path), name), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for name in "abcd"
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
    for process in started:
        process.communicate(b"go\n", timeout=30)
        assert process.returncode == 0
    lines = read(source, "log").data.decode().splitlines()
    assert sorted(lines) == sorted(f"{name} {number}" for name in "abcd" for number in range(30))
    for name in "abcd":
        assert [line for line in lines if line[0] == name] == [f"{name} {n}" for n in range(30)]
    assert leftovers(tmp_path) == []
    assert len(history_at(tmp_path).versions("vault/log")) == 119


def test_threads_of_one_process_take_turns_too(tmp_path: Path) -> None:
    source, history = source_at(tmp_path / "vault"), history_at(tmp_path)

    def work() -> None:
        for _ in range(10):
            update(source, "n", lambda old: b"%d" % (int(old or b"0") + 1), history, NOW)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert read(source, "n").data == b"40"


def test_readers_see_whole_versions_only(tmp_path: Path) -> None:
    source, history = source_at(tmp_path / "vault"), history_at(tmp_path)
    path = write(source, "hot.md", "a" * 50_000 + " end")
    done = threading.Event()
    wrong: list[bytes] = []

    def look() -> None:
        while not done.is_set():
            seen = (read(source, "hot").data, path.read_bytes())
            wrong.extend(data[:9] for data in seen if data != data[:1] * 50_000 + b" end")

    readers = [threading.Thread(target=look) for _ in range(2)]
    for reader in readers:
        reader.start()
    for number in range(80):
        text = bytes([ord("b") + number % 20]) * 50_000 + b" end"
        update(source, "hot", lambda old, text=text: text, history, NOW)  # type: ignore[misc]
    done.set()
    for reader in readers:
        reader.join(30)
    assert wrong == []


def test_a_link_that_is_swapped_in_is_never_followed(tmp_path: Path) -> None:
    source, history = source_at(tmp_path / "vault"), history_at(tmp_path)
    secret = write(source_at(tmp_path / "outside"), "secret.md", "secret")
    swap = source.root / "swap.md"
    command = (
        "while :; do ln -sf ../outside/secret.md swap.md; rm -f swap.md; echo ok > swap.md; done"
    )
    process = subprocess.Popen(["/bin/sh", "-c", command], cwd=source.root)
    seen = set()
    try:
        for _ in range(200):
            try:
                seen.add(read(source, "swap").data)
                update(source, "swap", lambda old: b"INTRUDER", history, NOW)
            except (NotFoundError, RefusedError) as error:
                seen.add(type(error).__name__.encode())
    finally:
        process.kill()
        process.wait(5)
    assert secret.read_bytes() == b"secret"
    assert b"secret" not in seen
    assert sorted(path.name for path in secret.parent.iterdir()) == ["secret.md"]
    assert swap.parent == source.root


def test_a_folder_that_is_swapped_for_a_link_is_never_followed(tmp_path: Path) -> None:
    source, history = source_at(tmp_path / "vault"), history_at(tmp_path)
    outside = source_at(tmp_path / "outside").root
    command = "while :; do mkdir -p f; rm -rf f; ln -sfn ../outside f; rm -f f; done"
    process = subprocess.Popen(
        ["/bin/sh", "-c", command], cwd=source.root, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(200):
            try:
                update(source, "f/x", lambda old: b"INTRUDER", history, NOW)
            except (RefusedError, StorageError):
                continue
    finally:
        process.kill()
        process.wait(5)
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("moment", range(5))
def test_a_process_that_is_killed_leaves_a_whole_note_and_no_lock(
    tmp_path: Path, moment: int
) -> None:
    source, history = source_at(tmp_path / "vault"), history_at(tmp_path)
    storm = """
from pathlib import Path
from memory_mcp.notes.files import update
from tests.notes.build import NOW, history_at, source_at
base = Path(sys.argv[1])
source, history = source_at(base / "vault"), history_at(base)
for number in range(10**6):
    update(source, "a", lambda old: bytes([97 + number % 20]) * 200_000, history, NOW)
    print(number, flush=True)
"""
    process = subprocess.Popen(script(storm, str(tmp_path)), stdout=subprocess.PIPE)
    assert process.stdout is not None
    for _ in range(2 + 3 * moment):
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=5)
    data = read(source, "a").data
    assert data == data[:1] * 200_000
    assert update(source, "a", lambda old: b"after", history, NOW).after == b"after"
    assert len(history.load("vault/a")) == 200_000


def test_a_lock_that_is_held_too_long_is_said_plainly(tmp_path: Path) -> None:
    path = tmp_path / "locks/x.lock"
    with (
        locked(path, "memory/a"),
        pytest.raises(StorageError, match=r"memory/a is held by another process"),
        locked(path, "memory/a", seconds=0.05),
    ):
        pass
    with locked(path, "memory/a", seconds=0.05):
        assert path.parent.stat().st_mode & 0o077 == 0


def test_a_size_limit_leaves_the_old_note_and_nothing_else(tmp_path: Path) -> None:
    source = source_at(tmp_path / "vault")
    path = write(source, "a.md", "old")
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))"
    out = run(script(ATTEMPT.format(before=limit, change="bytes(9000)"), str(tmp_path)))
    assert out.startswith("StorageError vault/a could not be written: the system allows no file")
    assert "disk is full" not in out
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in source.root.iterdir()] == ["a.md"]


@pytest.mark.skipif(
    not shutil.which("unshare")
    or subprocess.run(
        ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False
    ).returncode
    != 0,
    reason="a small disk can only be mounted by root in a mount namespace of its own",
)
@pytest.mark.parametrize("full", ["vault", "home"])
def test_a_full_disk_leaves_the_old_note_and_nothing_else(tmp_path: Path, full: str) -> None:
    for name in ("vault", "home"):
        (tmp_path / name).mkdir()
    check = """
(base / full / "filler").write_bytes(b"")
with open(base / full / "filler", "wb", buffering=0) as filler:
    try:
        while filler.write(bytes(4096)):
            pass
    except OSError:
        pass
"""
    body = ATTEMPT.format(before=check, change="bytes(100_000)").replace(
        "base = Path(sys.argv[1])", "base = Path(sys.argv[1]); full = sys.argv[2]"
    )
    body = body.replace(
        "source, history", "(base / 'vault/a.md').write_bytes(b'old'); source, history", 1
    )
    body += "\nprint((base / 'vault/a.md').read_bytes(), sorted(os.listdir(base / 'vault')))"
    body += "\nprint([p for p in base.rglob('*.tmp')])"
    mount = f'mount -t tmpfs -o size=64k none {tmp_path / full}; exec "$@"'
    out = run(["unshare", "-m", "sh", "-c", mount, "sh", *script(body, str(tmp_path), full)])
    said, note, temporary = out.splitlines()
    assert said.startswith("StorageError")
    assert "the disk is full; free some space" in said
    assert note.startswith("b'old' ['a.md'")
    assert temporary == "[]"


def test_a_refused_permission_is_said_plainly(anybodys_folder: Path) -> None:
    source = source_at(anybodys_folder / "vault")
    path = write(source, "a.md", "old")
    (anybodys_folder / "home").mkdir(mode=0o777)
    (anybodys_folder / "home").chmod(0o777)
    source.root.chmod(0o555)
    user = "os.geteuid() or os.setuid(12345)"
    out = run(script(ATTEMPT.format(before=user, change="b'new'"), str(anybodys_folder)))
    assert out.startswith("StorageError vault/a could not be written: permission was denied")
    assert "Errno" not in out
    assert path.read_bytes() == b"old"
    path.chmod(0)
    looking = ATTEMPT.format(before=user, change="old").replace("update(", "read(source, 'a'), (")
    out = run(script(looking, str(anybodys_folder)))
    assert out.startswith("StorageError vault/a could not be read: permission was denied")


def test_notes_work_in_a_locale_without_utf8(tmp_path: Path) -> None:
    source = source_at(tmp_path / "Übung")
    write(source, "é/ключ.md", "текст")
    body = """
from pathlib import Path
from memory_mcp.core.config import Config
from memory_mcp.notes.files import read, update
from memory_mcp.notes.history import History
from memory_mcp.notes.scan import scan
from memory_mcp.notes.sources import open_sources
from tests.notes.build import NOW
base = Path(sys.argv[1])
assert sys.getfilesystemencoding() == "ascii", sys.getfilesystemencoding()
source = open_sources(Config(home=str(base), sources={"v": {"path": "\\u00dcbung"}}))[-1]
[path] = scan(source).files
history = History(base / ".history")
update(source, path, lambda old: read(source, path).data + b"!", history, NOW)
update(source, "\\u65b0", lambda old: b"x", history, NOW)
print(ascii(path), scan(source).warnings, ascii(history.references()))
"""
    plain = ["env", "PYTHONUTF8=0", "LC_ALL=C", "PYTHONCOERCECLOCALE=0"]
    out = run([*plain, *script(body, str(tmp_path))])
    assert out == f"{'é/ключ'!a} () {('v/é/ключ',)!a}\n"
    assert (source.root / "é/ключ.md").read_bytes() == "текст!".encode()
    assert sorted(path.name for path in source.root.iterdir()) == ["é", "新.md"]
