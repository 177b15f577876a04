"""Public sets of run times (addresses in the table): the headline is what a performance engineer would write."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from hopperkit.questions.question import load

_COLUMNS = {
    "vasp-loops": "node",
    "vmc-blocks": "tasks",
    "vmc-start": "tasks",
    "decode": "session",
    "openmc-nodes": "nodes",
}


@pytest.fixture(scope="module")
def sets():
    read: dict[str, list[tuple[str, str]]] = {}
    with (Path(__file__).parent / "public-run-times.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            read.setdefault(row["set"], []).append((row["value"], row["column"]))
    return read


def text_of(name: str, rows, with_column: bool) -> str:
    heading = f"run_time_s,{_COLUMNS[name]}" if with_column else "run_time_s"
    return "\n".join((heading, *(",".join(row) if with_column else row[0] for row in rows)))


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("avocado", "two groups", "Two groups, 3.0 times apart: 2 runs near 1,125 s and 1 near 369.2 s"),
        ("vasp-loops", "step", "2.5 times faster with run 10: from 18.63 s to 7.381 s"),
        (
            "vmc-blocks",
            "few slow",
            "2 of 9 runs are slow: 36.5 and 27.3 s, 13.9 and 10.4 times the 2.63 s of the others",
        ),
        ("vmc-start", "drift", "the last is 2.3 times slower than the first"),
        ("lpath", "too few", "Cannot tell: 4 runs from 1,799 s to 2,214 s"),
        ("edm-fly", "few slow", "1 of 3 runs is slow: 10,078 s"),
        ("edm-normo", "too few", "the longest 1.5 % slower than the shortest"),
        ("three-timings", "few slow", "1 of 3 runs is slow: 17.46 s, 1.05 times the 16.66 s"),
        ("wrf-chunks", "one group", "One group: 6 runs near 12,306 s that differ by 3.7 %"),
        ("apsim", "drift", "they drift, the last 3.0 times slower than the first"),
        ("swap-react", "drift", "if the table is sorted, they are one group that differs by 3.3 %"),
        ("swap-vue", "drift", "if the table is sorted, they are one group that differs by 7.9 %"),
        ("decode", "two groups", "Two groups, 22.4 % apart: 2 runs near 29.18 s and 4 near 23.84 s"),
        ("rtma", "few slow", "1 of 4 runs is slow: 499.3 s, 1.87 times the 266.4 s"),
        ("query-issue", "few slow", "1 of 10 runs is slow: 2,293 s, 1.09 times the 2,111 s"),
        ("query-according", "few fast", "1 of 10 runs is fast: 1,450 s"),
        ("query-members", "two groups", "Two groups, 5.3 % apart: 6 runs near 2,452 s and 4 near 2,328 s"),
        ("query-program", "drift", "if the table is sorted, they are one group that differs by 1.8 %"),
    ],
)
def test_times_alone(sets, name, kind, said):
    result = load("runs").run(runs=text_of(name, sets[name], False))
    assert result.facts["kind"] == kind
    assert said in result.summary


@pytest.mark.parametrize(
    ("name", "separated_by", "said"),
    [
        (
            "vasp-loops",
            "node cu17",
            "Node cu17 separates them without overlap: runs on it take 7.381 s, the others 18.63 s",
        ),
        (
            "decode",
            "session",
            "Column session separates them without overlap: morning is 23.7 % slower than reference.",
        ),
        ("openmc-nodes", "nodes", "6 sizes by column nodes, 1 to 32: 3,626 s on 1, 1,882 s on 2"),
        ("vmc-start", "tasks", "Column tasks is correlated with the time: the larger it is, the longer the runs."),
    ],
)
def test_times_with_what_is_known_of_each_run(sets, name, separated_by, said):
    result = load("runs").run(runs=text_of(name, sets[name], True))
    assert result.facts["separated_by"] == separated_by
    assert said in result.summary


def test_nodes_that_go_with_the_order_are_not_blamed(sets):
    """All runs on one node were made before those on the other: neither can be separated from the time."""
    result = load("runs").run(runs=text_of("vasp-loops", sets["vasp-loops"], True))
    assert result.facts["with_order"] == ["node cu17"]
    assert any(finding.code == "with-order" and finding.level == "unknown" for finding in result.findings)
