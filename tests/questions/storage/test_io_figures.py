"""Figures of measured I/O."""

import pytest

from hopperkit.iologs.darshan_log import DarshanLog, FileRecord, StripeLayout
from hopperkit.iologs.ost_rates import judge_osts
from hopperkit.questions.storage.io_figures import (
    ost_figure,
    rate_figure,
    rows_table,
)
from hopperkit.readers.ior.results import IoResult, measured_rows
from hopperlib.machine import Machine

HOPPER = Machine.load("hopper")


def row(rate, **more):
    return IoResult(
        **(
            {
                "file": "a",
                "access": "write",
                "tasks": 24,
                "nodes": 1,
                "transfer_bytes": 2**20,
                "repetition": 0,
                "rate_mib_s": rate,
            }
            | more
        )
    )


def test_only_good_aggregate_rates_are_drawn():
    rows = [row(1.0), row(None, status="incomplete"), row(2.0, status="failed"), row(3.0, rank=0)]
    assert [one.rate_mib_s for one in measured_rows(rows)] == [1.0]


def test_access_and_kind_of_file_are_told_apart():
    rows = [row(1.0, type="shared"), row(2.0, type="file per process"), row(3.0, access="read", type="shared")]
    assert [trace["name"] for trace in rate_figure(rows).data] == [
        "write, shared",
        "write, file per process",
        "read, shared",
    ]


@pytest.mark.parametrize(
    ("rows", "places"),
    [
        ([row(1.0), row(2.0, tasks=48)], [24, 48]),
        ([row(1.0), row(2.0, transfer_bytes=2**18)], [2**18, 2**20]),
        ([row(1.0), row(2.0, repetition=1)], [0, 1]),
    ],
)
def test_what_differs_is_what_they_are_drawn_against(rows, places):
    assert rate_figure(rows).data[0]["x"] == places


@pytest.mark.parametrize("rows", [[], [row(1.0, repetition=None)]])
def test_nothing_to_draw_is_refused(rows):
    with pytest.raises(ValueError, match="no row has a rate"):
        rate_figure(rows)


def test_files_of_one_name_keep_their_folders():
    assert [cells[0] for cells in rows_table([row(1.0, file="x/a"), row(1.0, file="y/b")]).rows] == ["a", "b"]
    assert [cells[0] for cells in rows_table([row(1.0, file="x/a"), row(1.0, file="y/a")]).rows] == ["x/a", "y/a"]


def test_slow_osts_are_bars_of_their_own():
    files = tuple(
        FileRecord(path="/f", bytes_written=10**9, write_s=400.0 if ost == 4 else 10.0,
                   layout=StripeLayout(stripe_count=1, stripe_size_bytes=1 << 20, osts=(ost,)))
        for ost in range(6) for _ in range(4)
    )  # fmt: skip
    log = DarshanLog(executable=None, job_id=None, tasks=6, run_time_s=None, modules=(), files=files)
    figure = ost_figure(judge_osts(log, "write"))
    assert [(trace["name"], trace["x"]) for trace in figure.data] == [("others", [0, 1, 2, 3, 5]), ("slow", [4])]
    assert figure.alt == "Rates of 6 OSTs from 2.5 to 100 MB/s; slow: 4."
