"""Hours of nodes, cores and GPUs between moments, across time zones."""

from __future__ import annotations

import pandas as pd
import pytest

from hopperkit.analysis.job_report import node_hours_used
from hopperlib.errors import InputError


@pytest.fixture
def jobs():
    """Two hours on 4 nodes, 256 cores and 16 GPUs, half of them before noon in Berlin."""
    start = pd.Timestamp("2026-03-01 11:00", tz="Europe/Berlin")
    return pd.DataFrame(
        {"start": [start], "run_time": [pd.Timedelta("2h")], "nodes": [4], "cores": [256], "gpus": [16]}
    )


@pytest.mark.parametrize(("by", "hours"), [("nodes", 4.0), ("cores", 256.0), ("gpus", 16.0)])
def test_hours_of_nodes_cores_and_gpus(jobs, by, hours):
    edges = pd.date_range("2026-03-01", periods=3, freq="12h", tz="Europe/Berlin")
    assert node_hours_used(jobs, edges, by=by).tolist() == [hours, hours]


def test_edges_of_another_zone_are_converted(jobs):
    # Noon in Berlin is 11:00 of the world's time.
    edges = pd.DatetimeIndex(["2026-03-01T00:00Z", "2026-03-01T11:00Z", "2026-03-02T00:00Z"])
    assert node_hours_used(jobs, edges).tolist() == [4.0, 4.0]


def test_edges_without_a_zone_are_those_of_the_jobs_and_it_is_said(jobs):
    with pytest.warns(UserWarning, match="edges without a time zone are taken in the jobs' time zone, Europe/Berlin"):
        used = node_hours_used(jobs, pd.date_range("2026-03-01", periods=3, freq="12h"))
    assert used.tolist() == [4.0, 4.0]
    # An hour that the clock leaves out begins where it goes on: the day is an hour shorter.
    with pytest.warns(UserWarning, match="without a time zone"):
        node_hours_used(jobs, pd.DatetimeIndex(["2026-03-29T00:00", "2026-03-29T02:30", "2026-03-30T00:00"]))


def test_what_cannot_be_counted_is_refused(jobs):
    edges = pd.date_range("2026-03-01", periods=3, freq="12h", tz="UTC")
    with pytest.raises(
        InputError, match="by='energy' must be a column of numbers of the jobs; they have: nodes, cores, gpus"
    ):
        node_hours_used(jobs, edges, by="energy")
    naive = jobs.assign(start=jobs["start"].dt.tz_localize(None))
    with pytest.raises(InputError, match="the edges are in time zone UTC, but the jobs have none"):
        node_hours_used(naive, edges)
