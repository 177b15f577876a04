"""Output of mdtest, by version; inputs without a file are synthetic, written in the layout of the version."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.readers.ior.mdtest import read_mdtest
from hopperkit.readers.ior.reader import read_ior

SAMPLE = (Path(__file__).parents[3] / "data" / "samples" / "ior" / "mdtest-4.0.0.txt").read_text(encoding="utf-8")
OLD = """\
-- started at 11/01/2019 13:22:48 --

mdtest-1.9.3 was launched with 4 total task(s) on 2 node(s)
Command line used: src/mdtest "-C" "-i" "1"
Path: /mnt/x
FS: 4731.7 TiB   Used FS: 57.0%   Inodes: 0.0 Mi   Used Inodes: -nan%

4 tasks, 12 files/directories

SUMMARY: (of 1 iterations)
   Operation                      Max            Min           Mean        Std Dev
   ---------                      ---            ---           ----        -------
   Directory creation:     113501.114     113501.114     113501.114          0.000
   File stat         :    1785168.770    1785168.770    1785168.770          0.000
   File read         :          0.000          0.000          0.000          0.000

-- finished at 11/01/2019 13:22:57 --
"""


def test_sample_holds_what_its_table_says():
    printed = {}
    for line in SAMPLE.partition("---------")[2].splitlines():
        words = line.split()
        if len(words) == 6 and words[0] in ("Directory", "File", "Tree"):
            printed[f"{words[0]} {words[1]}".lower()] = [float(word) for word in words[2:5]]
    assert len(printed) == 10
    rows = read_mdtest(SAMPLE, file="a")
    read = {}
    for row in rows:
        read.setdefault(row.access, []).append(row.operations_s)
        assert (row.tasks, row.nodes, row.tasks_per_node, row.status, row.rate_mib_s) == (2, 1, 2, "ok", None)
    assert read == printed
    assert [row.statistic for row in rows[:3]] == ["max", "min", "mean"]


def test_version_1_9():
    rows = read_ior(OLD, file="a")
    assert [(row.access, row.operations_s, row.status, row.repetition) for row in rows] == [
        ("directory creation", 113501.114, "ok", 0),
        ("file stat", 1785168.77, "ok", 0),
        ("file read", None, "not-run", 0),
    ]
    assert {(row.version, row.tasks_per_node) for row in rows} == {("mdtest-1.9.3", 2)}


def test_table_of_times_is_no_table_of_rates():
    text = (
        OLD.replace("SUMMARY:", "SUMMARY rate:")
        + "SUMMARY time: (of 1 iterations)\n   File creation  :  1.0  1.0  1.0  0.0\n"
    )
    assert "file creation" not in {row.access for row in read_ior(text, file="a")}


def test_uneven_tasks_are_not_shared_out():
    assert read_ior(OLD.replace("4 total task(s) on 2", "5 total task(s) on 2"), file="a")[0].tasks_per_node is None


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (OLD.partition("SUMMARY")[0], "incomplete"),
        (OLD.partition("SUMMARY")[0] + "ior ERROR: cannot create directory (mdtest.c:10)\n", "failed"),
        (OLD.partition("SUMMARY")[0] + "slurmstepd: error: *** CANCELLED ***\n", "failed"),
    ],
)
def test_runs_without_results_say_so(text, status):
    (row,) = read_ior(text, file="a")
    assert (row.status, row.operations_s) == (status, None)
    assert row.reason


def test_runs_of_ior_and_mdtest_in_one_file():
    ior = "IOR-4.0.0: MPI Coordinated Test of Parallel I/O\nMax Write: 10.0 MiB/sec (10.5 MB/sec)\n"
    rows = read_ior(ior + OLD + ior, file="a")
    assert [row.version for row in rows] == ["IOR-4.0.0", *["mdtest-1.9.3"] * 3, "IOR-4.0.0"]


@given(st.data())
def test_torn_output(data):
    start = data.draw(st.integers(0, len(SAMPLE)))
    rows = read_mdtest(SAMPLE[start : data.draw(st.integers(start, len(SAMPLE)))], file="a")
    assert rows
    assert all(row.operations_s is None or row.operations_s > 0 for row in rows)


@pytest.mark.parametrize("words", ["335943.006     335943.006     3359", "335943.006  nan  335943.006  0.000"])
def test_a_torn_row_is_no_phase_that_was_left_out(words):
    text = "mdtest-3.3.0 was launched with 1 total task(s) on 1 node(s)\nSUMMARY rate: (of 1 iterations)\n   File read   :  "
    (row,) = read_ior(text + words, file="a")
    assert (row.access, row.status, row.operations_s) == ("file read", "incomplete", None)
    assert "truncated" in row.reason
