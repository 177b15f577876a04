"""The explorer of run times: defaults, refusals, and laws of its results."""

from __future__ import annotations

import json
import statistics

import pytest

from hopperkit.questions.question import load
from hopperkit.render.answer import answer_json
from hopperlib.errors import InputError
from hopperlib.network.runtime.milc import milc_jobs, run_times

RUN = load("variability").run


def test_default_is_small_and_repeats():
    once, again = answer_json("variability", "{}"), answer_json("variability", "{}")
    assert once == again
    assert json.loads(once)["ok"]
    assert len(once) < 60_000


def test_correlation_is_that_of_the_standard_library():
    """Both ways: the explorer's sums, and statistics.correlation on the same times."""
    quiet = RUN(noise_percent=0.0)
    least = [min(job) for job in run_times(noise=False)]
    expected = statistics.correlation([job.hops_milc for job in milc_jobs()], least)
    row = next(row for row in quiet.tables[0].rows if row[0] == "hops of MILC's messages")
    assert row[4] == pytest.approx(expected, abs=1e-12)
    assert row[3] == pytest.approx(expected**2, abs=1e-12)


def test_alone_a_job_varies_by_its_shape_only():
    alone = RUN(traffic="none", noise_percent=0.0).facts
    assert alone["triplet_percent"] == 0
    assert alone["least_correlation"] < RUN(noise_percent=0.0).facts["least_correlation"]
    assert RUN().facts["least_correlation"] > 0


def test_noise_and_traffic_slow():
    assert RUN(noise_percent=10.0).facts["mean_s"] > RUN(noise_percent=0.0).facts["mean_s"]
    assert RUN(traffic="double").facts["most_s"] > RUN().facts["most_s"] > RUN(traffic="none").facts["most_s"]
    assert RUN(noise_percent=10.0).facts["triplet_percent"] > RUN(noise_percent=1.0).facts["triplet_percent"]


def test_one_piece_is_quicker_and_waits():
    first, whole, nid = RUN().facts, RUN(placing="contiguous").facts, RUN(placing="nid").facts
    assert whole["mean_s"] < first["mean_s"] < nid["mean_s"]
    assert whole["wait_h"] > first["wait_h"] == nid["wait_h"]


def test_histogram_counts_every_run():
    result = RUN(tasks="4096")
    assert sum(result.figures[0].data[0]["y"]) == 3 * result.facts["jobs"]


def test_badges_say_what_was_fitted():
    badge = {value.label: value.badge for value in RUN().values}
    assert badge["Mean run time"] == "calibrated"
    assert badge["Slowest run"] == "predicted"
    assert {value.label: value.badge for value in RUN(traffic="double").values}["Mean run time"] == "predicted"


def test_what_was_not_simulated_is_refused():
    with pytest.raises(InputError, match="tasks=4096 was simulated on the first free nodes of the xyz-by2 list only"):
        RUN(tasks="4096", placing="contiguous")
    with pytest.raises(InputError, match="noise_percent=30"):
        RUN(noise_percent=30)
    assert [notice.code for notice in RUN(tasks="16384").findings] == ["other-size"]
