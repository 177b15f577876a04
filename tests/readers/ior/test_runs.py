"""Options and results as rows."""

import pytest

from hopperkit.readers.ior._runs import Statistics, Test


def made(**options):
    test = Test(file="a")
    for key, value in options.items():
        test.say(key.replace("_", " "), value)
    return test


def test_the_first_place_says_an_option():
    test = made(tasks="4")
    test.say("tasks", "8")
    test.say("nodes", "  ")
    assert test.options == {"tasks": "4"}


@pytest.mark.parametrize(
    ("whole", "segments"),
    [("32 MiB", 2), ("16 MiB", 1), ("24 MiB", None), ("8 MiB", None), ("many", None)],
)
def test_segments_from_the_aggregate(whole, segments):
    # 4 tasks with blocks of 4 MiB: 16 MiB a segment.
    assert made(tasks="4", blocksize="4 MiB", aggregate_filesize=whole).segments == segments


def test_segments_from_a_rounded_aggregate():
    # 16 x 200 MiB = 3.125 GiB, printed as 3.12.
    assert made(tasks="16", blocksize="200 MiB", aggregate_filesize="3.12 GiB").segments == 1


def test_nodes_from_tasks():
    test = made(tasks="10", clients_per_node="4")
    test.measure("write", 1.0, {"total(s)": "1.0"})
    # 4, 4 and 2 tasks.
    assert test.rows()[0].nodes == 3


def test_statistics_of_one_repetition_are_that_repetition():
    test = made(repetitions="1")
    test.summaries["write"] = Statistics(5.0, 5.0, 5.0, 2.0)
    (row,) = test.rows()
    assert (row.repetition, row.rate_mib_s, row.seconds, row.statistic) == (0, 5.0, 2.0, None)


def test_summary_adds_nothing_to_single_repetitions():
    test = made(repetitions="1")
    test.measure("write", 5.0, {"total(s)": "2.0"})
    test.summaries["write"] = Statistics(5.0, 5.0, 5.0, 2.0)
    test.maxima = {"write": 5.0, "read": 7.0}
    assert [(row.access, row.rate_mib_s) for row in test.rows()] == [("write", 5.0), ("read", 7.0)]


def test_no_more_than_so_many_errors_are_kept():
    test = made()
    for number in range(1000):
        test.listen(f"ERROR: message {number}")
    assert len(test.errors) == 50
    assert test.rows()[0].reason == "message 0: message 1"
