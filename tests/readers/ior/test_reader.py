"""Whole files: the samples, and anything else."""

import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hopperkit.readers.ior.reader import read_ior
from hopperkit.readers.ior.results import STATUSES

SAMPLES = Path(__file__).parents[3] / "data" / "samples" / "ior"
NAMES = sorted(path.name for path in SAMPLES.iterdir())


def sample(name):
    return (SAMPLES / name).read_text(encoding="utf-8")


def test_every_sample_is_there():
    assert len(NAMES) == 11


@pytest.mark.parametrize("name", ["ior-3.2.1.posix-fpp.txt", "ior-4.0.0.posix-fpp.txt"])
def test_rates_are_those_of_the_table(name):
    """Read again with a plain search for the rows, and compared."""
    text = sample(name)
    printed = [
        line.split()
        for line in text.partition("Summary of all tests")[0].splitlines()
        if re.match(r"(write|read) ", line)
    ]
    rows = read_ior(text, file=name)
    assert [(row.access, row.rate_mib_s, row.seconds, row.repetition) for row in rows] == [
        (words[0], float(words[1]), float(words[-2]), int(words[-1])) for words in printed
    ]
    assert len(rows) == 6
    assert {row.status for row in rows} == {"ok"}
    assert {(row.tasks, row.nodes, row.tasks_per_node, row.segments) for row in rows} == {(4, 1, 4, 2)}
    assert {(row.block_bytes, row.transfer_bytes, row.type) for row in rows} == {(2**22, 2**20, "file per process")}


def test_version_2_10_prints_statistics_only():
    rows = read_ior(sample("ior-2.10.3.posix-fpp.txt"), file="a")
    values = {(row.access, row.statistic): (row.rate_mib_s, row.seconds) for row in rows}
    assert values == {
        ("write", "max"): (2130.96, None),
        ("write", "min"): (1600.08, None),
        ("write", "mean"): (1896.74, 0.01712),
        ("read", "max"): (6971.64, None),
        ("read", "min"): (4229.54, None),
        ("read", "mean"): (5562.04, 0.00600),
    }
    assert {(row.version, row.tasks, row.segments, row.repetition) for row in rows} == {("IOR-2.10.3", 4, 2, None)}


def test_failed_run_says_so():
    (row,) = read_ior(sample("ior-2.10.3.fail-nodir.txt"), file="a")
    assert (row.status, row.reason) == ("failed", "cannot open file: No such file or directory")
    assert (row.rate_mib_s, row.seconds, row.tasks, row.transfer_bytes) == (None, None, 2, 262144)


def test_valid_json_agrees_with_a_parser():
    text = sample("ior-4.0.0.posix-fpp.json")
    (test,) = json.loads(text)["tests"]
    rows = read_ior(text, file="a")
    assert [(row.access, row.rate_mib_s, row.seconds) for row in rows] == [
        (one["access"], one["bwMiB"], one["totalTime"]) for one in test["Results"]
    ]
    assert [row.repetition for row in rows] == [0, 0, 1, 1]
    assert {(row.version, row.api, row.nodes, row.segments) for row in rows} == {("IOR-4.0.0", "POSIX", 1, 1)}


@pytest.mark.parametrize(
    ("name", "rates"),
    [
        ("ior-3.2.1.posix-fpp.json", [8097.7151, 1695.5935, 1816.2337, 1972.2310]),
        ("ior-4.0.0.verbose-invalid.json", [5584.9587, 412.8862, 10525.2296, 21732.1451]),
        ("ior-4.0.0.posix-fpp.csv", [3103.8742, 1303.8949, 3304.3904, 3663.7476]),
    ],
)
def test_json_and_csv_that_parsers_refuse(name, rates):
    rows = read_ior(sample(name), file="a")
    assert [row.rate_mib_s for row in rows] == rates
    assert [row.repetition for row in rows] == [0, 0, 1, 1]
    assert {row.status for row in rows} == {"ok"}


def test_glued_csv_says_that_it_holds_no_rates():
    (row,) = read_ior(sample("ior-3.2.1.posix-fpp.csv"), file="a")
    assert (row.status, row.rate_mib_s, row.type) == ("no-rates", None, "file per process")
    assert (row.block_bytes, row.transfer_bytes) == (2**22, 2**20)


def test_rank_details_are_in_bytes_a_second():
    rows = read_ior(sample("ior-4.0.0.rankdetails.csv"), file="a")
    assert [row.rank for row in rows] == [0, 1, 2, 3]
    assert rows[0].rate_mb_s == pytest.approx(5786.9033041)
    assert rows[0].seconds == 7.2479248047e-04


def test_mdtest_is_found():
    rows = read_ior(sample("mdtest-4.0.0.txt"), file="a")
    assert (rows[0].version, rows[0].operations_s) == ("mdtest-4.0.0", 49356.366)


@pytest.mark.parametrize("text", ["", "   \n", "#!/bin/sh\nior -w\n", '{"a": 1}', "a,b\n1,2\n", "\0" * 100])
def test_other_files_are_refused(text):
    with pytest.raises(ValueError, match=r"notes.txt: (is empty|it contains no output of IOR or mdtest)"):
        read_ior(text, file="notes.txt")


def test_windows_line_ends_and_byte_order_marks():
    text = sample("ior-4.0.0.posix-fpp.txt").replace("\n", "\r\n")
    assert len(read_ior(text, file="a")) == 6
    assert len(read_ior(text.encode("utf-16"), file="a")) == 6
    assert len(read_ior("\ufeff" + sample("ior-4.0.0.posix-fpp.csv"), file="a")) == 4


def check(text):
    """Meaningful rows or one message, and nothing else."""
    try:
        rows = read_ior(text, file="f")
    except ValueError as error:
        assert str(error).startswith("f: ")  # noqa: PT017
        return
    assert rows
    for row in rows:
        assert row.status in STATUSES
        assert row.status == "ok" or row.reason
        assert row.rate_mib_s is None or row.rate_mib_s > 0
        assert row.rate_mib_s or row.operations_s or row.status != "ok" or row.statistic


@given(name=st.sampled_from(NAMES), data=st.data())
def test_truncated_anywhere(name, data):
    text = sample(name)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    check(text[start:end])


@given(name=st.sampled_from(NAMES), data=st.data())
def test_bytes_exchanged(name, data):
    raw = bytearray(sample(name).encode())
    for _ in range(data.draw(st.integers(1, 30))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    check(bytes(raw))


@given(name=st.sampled_from(NAMES), data=st.data())
def test_lines_shuffled(name, data):
    check("\n".join(data.draw(st.permutations(sample(name).splitlines()))))


WORDS = st.sampled_from(
    ["access", "bw(MiB/s)", "write", "read", "IOR-4.0.0: MPI Coordinated Test of Parallel I/O", "mdtest-1 was launched with",
     "Operation", "Max(MiB)", "iter", "total(s)", ":", "=", "api", "tasks", "1", "0", "-1", "nan", "1e308", "9" * 400, "\n", '"', '"bwMiB": ',
     '"access": "write", ', '"TestID": ', "{", "}", ",", "access,bw(MiB/s),iter\n", "access,rank,x\n", "write,", "SUMMARY rate: (of 1 iterations)",
     "File creation", "Test#", "Max Write: ", "MiB/sec", "Command line : ior -i", "summaryFormat=CSV"]
)  # fmt: skip


@given(st.lists(WORDS, max_size=60).map(" ".join))
@example('"TestID": 1e999, "operation": "write", "TestID": 1e308')
@example("access bw(MiB/s) a b iter\nwrite 1 1 1 1e300\n")
@example("access,bw(MiB/s),iter\nwrite,1,nan")
def test_any_words(text):
    check(text)


@given(st.binary(max_size=400))
def test_any_bytes(data):
    check(data)


@pytest.mark.parametrize(
    "line", ["a" + " " * 100_000, "write " * 20_000, '"' * 100_000, "ERROR: " + " " * 100_000 + "x", "-wr" * 50_000]
)
def test_long_lines_take_no_time(line):
    check("IOR-4.0.0: MPI Coordinated Test of Parallel I/O\n" + line)
    check('"TestID": 0\n' + line)


def test_shared_samples_are_the_same():
    """Where the folder of shared samples is present, the copies in the project are those."""
    shared = Path(os.environ.get("HOPPER_SAMPLES", SAMPLES.parents[2] / ".." / "shared" / "samples")) / "ior"
    for path in shared.glob("*") if shared.is_dir() else ():
        assert (SAMPLES / path.name).read_bytes() == path.read_bytes()
