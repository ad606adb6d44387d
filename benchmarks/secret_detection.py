"""How many secrets are noticed, how often ordinary text is taken for one, and what it costs.

    python benchmarks/secret_detection.py [--each 40] [--notes DIR] [--compare]

Samples are made up from a seed, of formats that issuers document (secret_samples.py). `--compare`
measures detect-secrets and bc-detect-secrets beside it, where they are installed in this Python.
(This file is not called `secrets.py`: a script's folder comes first where Python looks for
modules, and the standard library has one of that name.)
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import pkgutil
import resource
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from secret_samples import SENTENCES, Sample, ordinary, secrets

from memory_mcp.core import secret
from memory_mcp.curate.write import detector

Look = Callable[[str], bool]

EXAMPLES = Path(__file__).parents[1] / "examples" / "memory"


def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--each", type=int, default=40, help="samples of each kind")
    options.add_argument("--seed", type=int, default=7)
    options.add_argument("--notes", type=Path, action="append", help="further ordinary notes")
    options.add_argument("--compare", action="store_true")
    given = options.parse_args()
    bad = list(secrets(given.seed, given.each))
    good = [*ordinary(given.seed, given.each), *_notes([EXAMPLES, *(given.notes or ())])]
    load = _cost()
    print("| detector | noticed | kinds wholly noticed | false alarms |")
    print("|---|---|---|---|")
    for name, look in _detectors(given.compare):
        print(_row(name, look, bad, good))
    print(
        f"\nOf each kind {given.each}; ordinary: {len(good)} texts ({len(SENTENCES)} sentences)."
    )
    _print_missed(lambda text: bool(detector.suspicions(text)), bad, good)
    print(load)
    _print_times()


def _notes(folders: list[Path]) -> list[Sample]:
    files = [path for folder in folders for path in sorted(folder.rglob("*.md"))]
    return [Sample("note", path.read_text(encoding="utf-8", errors="replace")) for path in files]


def _detectors(compare: bool) -> list[tuple[str, Look]]:
    found: list[tuple[str, Look]] = [
        ("memory-mcp (both)", lambda text: bool(detector.suspicions(text))),
        ("its own rules alone", lambda text: bool(secret.suspicions(text))),
        ("Kingfisher alone", _kingfisher()),
    ]
    return found + ([_by_plugins()] if compare else [])


def _kingfisher() -> Look:
    from kingfisher_sdk import Rules, Scanner

    scanner = Scanner(Rules(confidence="low"))
    return lambda text: any(item.visible for item in scanner.scan(text))


def _by_plugins() -> tuple[str, Look]:
    """detect-secrets or its fork: every plugin but those that go by entropy alone."""
    plugins = importlib.import_module("detect_secrets.plugins")
    base = importlib.import_module("detect_secrets.plugins.base")
    used = []
    for module in pkgutil.iter_modules(plugins.__path__):
        loaded = importlib.import_module(f"detect_secrets.plugins.{module.name}")
        for name, kind in inspect.getmembers(loaded, inspect.isclass):
            own = kind.__module__ == loaded.__name__ and issubclass(kind, base.BasePlugin)
            if own and not inspect.isabstract(kind) and "Entropy" not in name and "IP" not in name:
                used.append(kind())
    return "detect-secrets (installed)", lambda text: any(
        hit for line in text.split("\n") for plugin in used for hit in plugin.analyze_string(line)
    )


def _row(name: str, look: Look, bad: list[Sample], good: list[Sample]) -> str:
    missed = Counter(item.kind for item in bad if not look(item.text))
    kinds = {item.kind for item in bad}
    alarms = sum(look(item.text) for item in good)
    noticed = len(bad) - missed.total()
    whole = len(kinds) - len(missed)
    return (
        f"| {name} | {noticed} of {len(bad)} ({noticed / len(bad):.1%}) |"
        f" {whole} of {len(kinds)} | {alarms} of {len(good)} |"
    )


def _print_missed(look: Look, bad: list[Sample], good: list[Sample]) -> None:
    for item in bad:
        if not look(item.text):
            print(f"missed: {item.kind}")
    for item in good:
        if look(item.text):
            print(f"false alarm: {item.kind}: {item.text[:70]!r}")


def _cost() -> str:
    before = resource.getrusage(resource.RUSAGE_SELF)
    start = time.perf_counter()
    detector.suspicions("0123456789abcdef")
    seconds = time.perf_counter() - start
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before.ru_maxrss
    return f"Loading the rules: {seconds:.2f} s, {more / 1024:.0f} MB."


def _print_times() -> None:
    note = (EXAMPLES / "wiki" / "MEMORY.md").read_text(encoding="utf-8")
    texts = {
        "a note of 4 KB": (note * 20)[:4096],
        "16 MiB of prose": (note * 20_000)[: 16 << 20],
        "16 MiB of tokens": ("gh" + "p_a1B2c3D4e5a1B2c3D4e5a1B2c3D4e5abcdef\n") * 400_000,
        "16 MiB of opened keys": "-----BEGIN PRIVATE KEY-----\n" * 580_000,
    }
    for name, text in texts.items():
        start = time.perf_counter()
        try:
            detector.suspicions(text)
            said = ""
        except detector.Unchecked:
            said = " (given up)"
        print(f"{name}: {(time.perf_counter() - start) * 1000:,.1f} ms{said}")


if __name__ == "__main__":
    main()
