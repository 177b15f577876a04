"""Reading a job's output, beside grep and ripgrep (which only find lines) and Drain3 (which groups them)."""

from __future__ import annotations

import csv
import importlib.util
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.side_by_side import Comparison, time_call, time_command
from hopperlib.failure.diagnosis.diagnosis import diagnose
from hopperlib.failure.messages.rules import load_rules

# Tasks of the large hero run of the sources: each prints the same few lines.
RANKS = 24_576
SIZE = 200_000_000
FRESH_SIZE = 60_000_000
DRAIN_LINES = 20_000
CAUSE = b"[NID 01323] 2011-03-07 03:46:11 Apid 1925046: OOM killer terminated this process.\n"


def repeated(size: int) -> bytes:
    """Text of many tasks that print the same lines with other numbers; the cause stands near the end. [bytes]"""
    lines = [
        b"[%d] ERROR - MPID_nem_gni_check_localCQ(): Replaying failed network transaction\n"
        b"rank %d step %d residual %d.%05dE-05\n" % (rank, rank, rank * 7 % 1000, rank % 9, rank * 13 % 100_000)
        for rank in range(RANKS)
    ]
    once = b"".join(lines)
    return once * (size // len(once) + 1) + CAUSE + once


def fresh(size: int) -> bytes:
    """Text of which no line comes twice, digits or none; one line in a hundred speaks of trouble. [bytes]"""
    rng = random.Random(1)
    letters = [chr(code) for code in range(97, 123)]
    words = ["".join(rng.choice(letters) for _ in range(3 + place % 9)) for place in range(4000)]
    parts: list[str] = []
    length = 0
    while length < size:
        trouble = " failed " if rng.random() < 0.01 else " "
        line = " ".join(rng.choice(words) for _ in range(7)) + trouble + f"{rng.random():.6e}\n"
        parts.append(line)
        length += len(line)
    return "".join(parts).encode() + CAUSE


@contextmanager
def _file(content: bytes) -> Iterator[Path]:
    """Write a text to a file for the time of a comparison."""
    with tempfile.NamedTemporaryFile(suffix=".out") as file:
        file.write(content)
        file.flush()
        yield Path(file.name)


def _read(path: Path) -> None:
    with path.open("rb") as stream:
        found = diagnose([("job.out", stream)])
    if not found.cause or found.cause.code != "ALPS-OOM":
        raise RuntimeError(f"the cause in {path} was not found: {found.verdict}")


def _version(tool: str) -> str:
    done = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True)
    return " ".join(done.stdout.split("\n", maxsplit=1)[0].split()[:4])


def _beside_searches(what: str, content: bytes, repeats: int) -> list[Comparison]:
    """Compare with tools that search the text for the same pieces of text."""
    rows = []
    size = len(content) / 1e6
    with _file(content) as path, _file("\n".join(sorted(_anchors())).encode()) as pieces:
        ours_s = time_call(lambda: _read(path), repeats=repeats)
        said = f"{what}, {size:.0f} MB: {size / ours_s:.0f} MB/s"
        for tool, command in (("grep", ["grep", "-c", "-i", "-F", "-f"]), ("rg", ["rg", "-c", "-i", "-F", "-f"])):
            installed = shutil.which(tool)
            peer = f"{_version(tool)} -F -f" if installed else f"{tool}: not installed (Debian: apt install ripgrep)"
            peer_s = time_command([*command, str(pieces), str(path)], repeats=repeats) if installed else None
            note = "it counts lines with one of the same pieces of text, and names no cause"
            rows.append(Comparison(what=said, ours_s=ours_s, peer=peer, peer_s=peer_s, note=note))
    return rows


def _anchors() -> set[str]:
    return {anchor for rule in load_rules() for anchor in rule.anchors}


def _beside_drain(content: bytes) -> Comparison:
    """Compare with Drain3, which groups every line by its template; a thousand lines that never repeat take it one
    second.
    """
    lines = content.split(b"\n")[:DRAIN_LINES]
    text = b"\n".join(lines) + b"\n" + CAUSE
    with _file(text) as path:
        ours_s = time_call(lambda: _read(path), repeats=3)
    what = f"{len(lines):,} lines of a stderr that repeats itself"
    if importlib.util.find_spec("drain3") is None:
        return Comparison(what=what, ours_s=ours_s, peer="Drain3: not installed (pip install drain3)")
    from importlib.metadata import version

    from drain3 import TemplateMiner  # type: ignore[import-not-found, unused-ignore]

    def mine() -> None:
        miner = TemplateMiner()
        for line in lines:
            miner.add_log_message(line.decode())

    return Comparison(
        what=what,
        ours_s=ours_s,
        peer=f"drain3 {version('drain3')}",
        peer_s=time_call(mine, repeats=3),
        note="it learns a template for every line; here only suspicious lines are grouped, and a cause is named",
    )


def _first_answer() -> Comparison:
    """Compare the time from nothing to the first verdict with Python's own start."""
    small = (CAUSE + b"Application 1925046 exit signals: Killed\n").decode()
    program = f"from hopperlib.failure.diagnosis.diagnosis import diagnose; assert diagnose([('job', {small!r})]).cause"
    return Comparison(
        what="start, read the rules, read two lines",
        ours_s=time_command([sys.executable, "-c", program]),
        peer="python3 -c pass",
        peer_s=time_command([sys.executable, "-c", "pass"]),
        note="what Python itself takes",
    )


def _labelled() -> Table | None:
    """Return first cause, no cause, and wrong and sure for labelled outputs, by their class; None where they are not at hand."""
    root = Path(__file__).resolve().parents[1]
    folder = Path(os.environ.get("HOPPER_SAMPLES", root.parent / "shared" / "samples")) / "diagnosis"
    if not (folder / "labels.csv").is_file():
        return None
    counts: dict[str, Counter[Any]] = defaultdict(Counter)
    for row in csv.DictReader((folder / "labels.csv").open(encoding="utf-8")):
        found = diagnose([(name, (folder / name).read_bytes()) for name in row["files"].split("+")])
        first = found.to_dict()["causes"][:1]
        quoted = _squeezed(" ".join(line["text"] for cause in first for line in cause["lines"]))
        if row["expect"] == "cause":
            right = any(_squeezed(part) in quoted for part in row["true_cause"].split(" || ") if part.strip())
        else:
            right = found.verdict != "cause"
        sure = not right and found.cause is not None and found.cause.confidence != "guess"
        for kind in (row["class"].split("-")[0], "all"):
            has_cause = row["expect"] == "cause"
            counts[kind].update({has_cause: 1, ("right", has_cause): int(right), "sure": int(sure)})
    table = Table(
        "class", "first cause", "no cause or success", "wrong and sure", title="labelled outputs", title_justify="left"
    )
    for kind, count in sorted(counts.items(), key=lambda item: (item[0] == "all", item[0])):
        cells = (f"{count['right', cause]} of {count[cause]}" if count[cause] else "-" for cause in (True, False))
        table.add_row(kind, *cells, str(count["sure"]))
    return table


def _squeezed(text: str) -> str:
    return " ".join(text.split()).lower()


def measure() -> list[Comparison]:
    """Time the first verdict, a large stderr that repeats itself, and a text without repetition."""
    if table := _labelled():
        Console(width=100).print(table)
    repeats, without = repeated(SIZE), fresh(FRESH_SIZE)
    return [
        _first_answer(),
        *_beside_searches(f"stderr of {RANKS:,} tasks", repeats, repeats=3),
        *_beside_searches("text without repetition", without, repeats=3),
        _beside_drain(repeats),
    ]
