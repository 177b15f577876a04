"""Mistakes of benchmarks: each is named, from real outputs where one node can make it, and sound runs draw nothing."""

import dataclasses
import io
import lzma
import tarfile
from functools import cache
from pathlib import Path

import pytest

from hopperkit.readers.ior.reader import read_ior
from hopperkit.readers.ior.results import IoResult, variations
from hopperkit.readers.ior.trust import trust_findings
from hopperlib.errors import InputError
from hopperlib.machine import Machine

FOLDER = Path(__file__).parents[2] / "storage" / "logs" / "planted"


@cache
def outputs():
    data = lzma.decompress((FOLDER / "ior.tar.xz").read_bytes())
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return {member.name[:-4]: tar.extractfile(member).read().decode() for member in tar.getmembers()}


def rows(*names):
    return [row for name in names for row in read_ior(outputs()[name], file=name)]


def codes(found):
    return {each.code for each in found}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nofsync", "no-fsync"),
        ("both", "no-fsync"),
        ("both", "cached-read"),
        ("cachedread", "cached-read"),
        ("stonewall", "stonewall"),
        ("nofsync", "short-run"),
        ("nofsync", "one-node"),
        ("mdtest", "cached-metadata"),
    ],
)
def test_mistakes_of_real_runs_are_named(name, expected):
    assert expected in codes(trust_findings(rows(name)))


@pytest.mark.parametrize(
    ("name", "absent"),
    [
        ("cachedread", "no-fsync"),
        ("wearout", "stonewall"),
        ("direct", "cached-read"),
        ("sound", "no-fsync"),
        ("sound", "cached-read"),
        ("sound", "stonewall"),
    ],
)
def test_what_was_asked_for_rightly_is_no_mistake(name, absent):
    assert absent not in codes(trust_findings(rows(name)))


def test_a_run_that_failed_is_judged_by_its_error_alone():
    assert list(trust_findings(rows("wrongsize"))) == []
    assert rows("wrongsize")[0].status == "failed"


def test_different_runs_are_no_repetitions():
    two = rows("differ1", "differ2")
    (finding,) = [each for each in trust_findings(two) if each.code == "different-runs"]
    assert finding.evidence["settings"] == ["transfer size"]
    # One write each: nothing is said of their spread.
    assert variations(two) == {}
    assert variations(rows("reps"))["write"][1] == 3
    # A write and a read are one run.
    assert "different-runs" not in codes(trust_findings(rows("both")))


SOUND = IoResult(
    file="a", access="write", api="POSIX", rate_mib_s=100_000.0, tasks=512, nodes=16, block_bytes=64 << 30, segments=1,
    transfer_bytes=1 << 20, seconds=330.0, flags=("C", "F", "b", "e", "t", "w"), unit="MiB/s",
)  # fmt: skip


def with_(**changes):
    return dataclasses.replace(SOUND, **changes)


def test_a_sound_run_draws_nothing():
    assert list(trust_findings([SOUND, with_(access="read")])) == []


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        # 8 GiB per node fit into memory.
        ([with_(block_bytes=1 << 28, flags=("C", "F", "b", "t", "w"))], {"no-fsync"}),
        ([with_(block_bytes=1 << 28, flags=("F", "e")), with_(access="read", block_bytes=1 << 28, flags=("F", "e"))], {"cached-read"}),
        # On one node -C brings the data of the same node.
        ([with_(access="read", rate_mib_s=9_000.0, nodes=1, tasks=1, block_bytes=1 << 30, flags=("C", "e"))], {"cached-read"}),
        ([with_(rate_mib_s=2_000_000.0)], {"above-wire"}),
        ([with_(), with_(file="b", unit="GB/s")], {"mixed-units"}),
        ([with_(seconds=3.0)], {"short-run"}),
        ([with_(nodes=1, tasks=64, rate_mib_s=9_000.0)], {"one-node"}),
        ([with_(flags=(*SOUND.flags, "D"), planned_bytes=100, moved_bytes=50)], {"stonewall"}),
        ([with_(planned_bytes=100, moved_bytes=50)], {"other-size"}),
        ([with_(), with_(file="b", tasks=256, nodes=8)], {"different-runs"}),
        ([with_(access="file stat", rate_mib_s=None, operations_s=9e4, flags=("n", "d"))], {"cached-metadata"}),
    ],
)  # fmt: skip
def test_one_mistake_is_one_finding(found, expected):
    assert codes(trust_findings(found)) == expected


def test_the_machine_bounds_what_can_be_true():
    # A node of Hopper takes in 6 GB/s and has 32 GB.
    hopper = Machine.load("hopper")
    assert "above-wire" in codes(trust_findings([with_(nodes=16, rate_mib_s=100_000.0)], hopper))
    large = with_(block_bytes=2 << 30, flags=("F", "t", "w"))
    assert codes(trust_findings([large])) == {"no-fsync"}
    assert "no-fsync" not in codes(trust_findings([large], hopper))


def test_outputs_without_a_command_line_raise_no_alarm_about_options():
    assert codes(trust_findings([with_(flags=None, block_bytes=1 << 28)])) == set()


def test_the_read_of_a_user_that_was_too_good():
    found = list(trust_findings(read_ior((FOLDER / "one-node-ior.txt").read_text(), file="a")))
    assert [each.code for each in found] == ["no-fsync", "cached-read", "short-run", "one-node"]
    assert "no -C" not in found[1].message
    assert "17.2 GB per node" in found[1].message


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("fio-3.35\nStarting 4 processes\n", "fio"),
        ("OPERATION RESULT TYPE        FIRST DONE  LAST DONE\n", "elbencho"),
        ("=================== Performance Results ==================\nTotal number of ranks: 4\n", "h5bench"),
        ("[OUTPUT] 2024-01-01T00:00:00 Running DLIO [Training] with 4 process(es)\n", "DLIO"),
        ("MD-Workbench total objects: 4800\n", "MD-Workbench"),
    ],
)
def test_other_benchmarks_are_refused_by_name(text, name):
    with pytest.raises(InputError, match=f"this is output of {name}, which is not supported: "):
        read_ior(text, file="a.txt")
