"""Is the machine as fast as promised?: the printed sums, pass and fail, refusals."""

from __future__ import annotations

import pytest

from hopperkit.questions.question import load
from hopperlib.errors import InputError


@pytest.fixture(scope="module")
def ssp():
    return load("ssp")


def test_bassi(ssp):
    facts = ssp.run().facts
    assert (round(facts["committed"], 1), round(facts["ssp"], 1), facts["passes"]) == (844.5, 1039.9, True)


def test_one_code_short(ssp):
    result = ssp.run(**ssp.examples[2].values)
    assert (result.facts["passes"], result.facts["short"]) == (False, ["CAM"])
    assert [finding.level for finding in result.findings] == ["problem"]


def test_counts_and_times(ssp):
    # The four printed rates a node, 0.00563, 0.0170, 0.00441, 0.00712, have the geometric mean 0.00740; 6,384 nodes: 47.3.
    result = ssp.run(**ssp.examples[1].values)
    assert result.facts["ssp"] == pytest.approx(47.3, abs=0.1)
    assert result.facts["passes"] is None


def test_a_log_of_reframe(ssp):
    log = (
        "result|job_completion_time|name|triad_bw_value|triad_bw_unit|triad_bw_ref\n"
        "pass|2026-01-01|stream|90|MB/s|100\npass|2026-01-02|stream|120|MB/s|100\n"
    )
    assert ssp.run(suite=log).facts["margins"] == {"stream": pytest.approx(0.2)}


@pytest.mark.parametrize(
    ("suite", "message"),
    [
        ("", "the file is empty; the first line must name the columns"),
        (
            "a,b\n1,2\n",
            "a suite needs a column benchmark, and rate, or operations, time_s and processors; the columns are: a, b",
        ),
        ("benchmark,rate\nFT\n", "line 2 has 1 cells for 2 columns"),
        ("benchmark,rate\nFT,fast\n", "line 2: 'fast' is not a number"),
        ("benchmark,rate\nFT,-1\n", r"rate=-1.0 must be above 0 (FT)"),
        ("benchmark,rate\n", "a suite needs at least one benchmark"),
        ("benchmark,tflop,time_s,nodes\nGTC,2,,4\n", "GTC has no value above 0 for time_s"),
    ],
)
def test_refuses(ssp, suite, message):
    with pytest.raises(InputError) as refused:
        ssp.run(suite=suite)
    assert refused.value.message == message


def test_several_rows_of_one_benchmark_are_spoken_of(ssp):
    result = ssp.run(suite="benchmark,rate,commitment\na,1,2\na,3,2\n")
    assert result.facts["ssp"] == pytest.approx(3)
    assert "More than one row of a: the last is taken, as of a log." in [finding.message for finding in result.findings]
    assert "the geometric mean of 1 rate of one processor" in result.summary


def test_the_benchmark_that_lacks_a_number_is_named(ssp):
    with pytest.raises(InputError, match=r"^b has no value above 0 for time_s$"):
        ssp.run(suite="benchmark,operations,time_s,processors\na,1065,92.4,2048\nb,100,0,12\n")
