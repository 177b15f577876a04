"""Every command that takes a file, on files meant for others and on damaged copies: one message or an answer, never more."""

from __future__ import annotations

import json
import random
from pathlib import Path

from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.cli import hopper

ROOT = Path(__file__).resolve().parents[2]
SUFFIXES = {".txt", ".sh", ".csv", ".toml", ".out", ".err", ".stdout", ".stderr", ".sacct", ".topo", ".swf", ".xml"}
FILES = sorted(
    file
    for folder in ("tests", "data", "hopperlib")
    for file in (ROOT / folder).rglob("*")
    if file.suffix in SUFFIXES and 0 < file.stat().st_size < 60_000
)
COMMANDS = (
    *(
        "diagnose",
        "identify",
        "io-log",
        "io report",
        "io table",
        "locality",
        "place",
        "preflight",
        "rank-order",
        "runs",
    ),
    *(
        "runs-needed",
        "simulate --trace",
        "watch",
        "build",
        "chunks",
        "fit",
        "trace learn",
        "trace why",
        "trace what-if",
    ),
    *(
        "report jobs",
        "report performance",
        "machine check",
        "machine show",
        "stripe",
        "load-time",
        "small-files",
        "memory",
    ),
)


def shuffled(data: bytes, chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    chance.shuffle(lines)
    return b"\n".join(lines)


def cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def noise(data: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(data) + 1)
    return data[:place] + chance.randbytes(20) + data[place:]


def holes(data: bytes, chance: random.Random) -> bytes:
    return b"\n".join(line for line in data.split(b"\n") if chance.random() < 0.7)


DAMAGES = {
    "none": lambda data, _: data,
    "cut": cut,
    "noise": noise,
    "shuffled": shuffled,
    "holes": holes,
    "Windows": lambda data, _: b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"),
    "huge numbers": lambda data, _: data.replace(b"1", b"999999999999"),
    "negative": lambda data, _: data.replace(b" 1", b" -1").replace(b",1", b",-1"),
    "other separator": lambda data, _: data.replace(b",", b";"),
}


@given(
    command=st.sampled_from(COMMANDS),
    file=st.sampled_from(FILES),
    damage=st.sampled_from(sorted(DAMAGES)),
    chance=st.randoms(use_true_random=False),
    as_json=st.booleans(),
)
def test_a_damaged_file_is_answered_or_refused(tmp_path_factory, command, file, damage, chance, as_json):
    path = tmp_path_factory.mktemp("damaged") / f"file{file.suffix}"
    path.write_bytes(DAMAGES[damage](file.read_bytes(), chance))
    done = CliRunner().invoke(hopper, [*command.split(), str(path), *(["--json"] if as_json else [])])
    assert done.exception is None or isinstance(done.exception, SystemExit)
    assert done.exit_code in (0, 1, 2)
    if as_json and done.stdout:
        json.loads(done.stdout)
    if done.exit_code == 2:
        assert (done.stdout if as_json else done.stderr).strip()
