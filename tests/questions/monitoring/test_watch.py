"""Benchmark histories as an answer: its examples, and cases that it cannot decide."""

from __future__ import annotations

from pathlib import Path

import pytest

from hopperkit.questions.question import load
from hopperlib.errors import InputError


@pytest.fixture(scope="module")
def watch():
    return load("watch")


def test_parallel_codes_lose(watch):
    result = watch.run()
    verdicts = {series["name"]: series["verdict"] for series in result.facts["series"]}
    assert verdicts == {
        "NPB FT 64 tasks": "worse",
        "GTC 64 tasks": "worse",
        "NPB MG serial": "no change",
        "MPI bandwidth": "no change",
    }
    (group,) = result.facts["together"]
    assert set(group["series"]) == {"NPB FT 64 tasks", "GTC 64 tasks"}
    assert group["explained_by"][0] == "noise"


def test_a_steady_benchmark(watch):
    result = watch.run(**watch.examples[1].values)
    assert result.summary.startswith("No lasting change in 1 series. A change of ")
    assert result.facts["series"][0]["outliers"]


def test_a_new_compiler(watch):
    result = watch.run(**watch.examples[2].values)
    assert any("it came with a change of compiler" in finding.message for finding in result.findings)


def test_the_runs_are_drawn_before_they_are_judged(watch):
    (known,) = watch.partial()
    whole = watch.run()
    assert known.summary == "Judging 4 series …"
    assert len(known.figures) == len(whole.figures)
    assert [len(figure.data) for figure in known.figures] == [1] * 4  # the runs, without a level
    assert "not judged yet" in known.figures[0].alt


def test_no_change_says_which_change_would_have_been_seen(watch):
    """400 scores with a noise of 8 % and a step of 3 %, too small to be seen: the answer says from what size on it is not."""
    result = watch.run(history=(Path(__file__).parent / "gameboy-score.csv").read_text(encoding="utf-8"))
    (series,) = result.facts["series"]
    assert series["verdict"] == "no change"
    assert 3 < series["visible_percent"] < 8
    assert f"A change of {series['visible_percent']:.1f} % halfway through would have been seen" in result.summary
    late = next(finding for finding in result.findings if finding.code == "unseen")
    assert "of the changes of the last 10 runs" in late.message


def test_dates_stand_on_the_axis_and_far_outliers_at_its_edge(watch):
    history = "date,rate\n" + "".join(
        f"2026-01-{day:02},{100 + day * 7 % 5 if day != 9 else 1}\n" for day in range(1, 31)
    )
    figure = watch.run(history=history).figures[0]
    assert figure.data[0]["x"][:2] == ["2026-01-01", "2026-01-02"]
    (far,) = [trace for trace in figure.data if "at the edge" in trace["name"]]
    # Ordinary runs lie from 100 to 104: one and a half times their range below that is 94.
    assert far["x"] == ["2026-01-09"]
    assert far["y"] == [94]


def test_a_spread_that_changes_is_said(watch):
    history = "run,rate\n" + "".join(
        f"{run},{100 + (1 if run < 40 else 8) * (run * 7 % 5 - 2)}\n" for run in range(1, 81)
    )
    result = watch.run(history=history, least_percent=5)
    (finding,) = [finding for finding in result.findings if finding.code == "spread"]
    assert "from run 40 on" in finding.message


def test_too_few_runs(watch):
    result = watch.run(history="time,value\n1,2\n2,3\n")
    assert result.summary == "Cannot tell: no series has 12 runs."


def test_nothing_given(watch):
    with pytest.raises(InputError, match="paste or drop a history"):
        watch.run(history=" ")


def test_outliers_of_one_node_name_it(watch):
    """Runs on one node after another, one a day; those on n3 are 12 % slower."""
    rows = (
        f"2026-0{1 + run // 28}-{1 + run % 28:02},n{run * 3 % 7},{(100 + run * 7 % 5 / 4) * (0.88 if run * 3 % 7 == 3 else 1)}"
        for run in range(84)
    )
    result = watch.run(history="\n".join(("date,node,stream_gb_s", *rows)))
    (finding,) = [finding for finding in result.findings if finding.code == "outliers-share"]
    assert "12 of the 12 outliers of stream_gb_s have node n3, as 12 of 84 runs do" in finding.message


def test_outliers_of_several_nodes_name_none(watch):
    rows = (
        f"2026-0{1 + run // 28}-{1 + run % 28:02},n{run * 3 % 7},{(100 + run * 7 % 5 / 4) * (0.88 if run % 12 == 3 else 1)}"
        for run in range(84)
    )
    result = watch.run(history="\n".join(("date,node,stream_gb_s", *rows)))
    assert result.facts["series"][0]["outliers"]
    assert not [finding for finding in result.findings if finding.code == "outliers-share"]


def _days(values):
    return "date,ior_gb_s\n" + "".join(f"2026-01-{day:02},{value:.4f}\n" for day, value in enumerate(values, 1))


# Ordinary runs from 100 to 101.
ORDINARY = [100 + day * 7 % 5 / 4 for day in range(1, 25)]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            [*ORDINARY[:-1], 87],
            "But the newest run of ior_gb_s, 2026-01-24, is -13.4 % from its level: a change counts after 4 runs",
        ),
        ([*ORDINARY[:9], 158, *ORDINARY[10:]], "1 run far from the level: the farthest, 2026-01-10, by +57"),
        (
            [value * (0.91 if 8 <= day < 16 else 1) for day, value in enumerate(ORDINARY)],
            "ior_gb_s changed by -9.0 % with run 9, 2026-01-09, and came back with run 17, 2026-01-17.",
        ),
        # 0.99 to the power of 23 is 0.794.
        (
            [value * 0.99**day for day, value in enumerate(ORDINARY)],
            "ior_gb_s drifts: -20.6 % from the first run to the last (worse).",
        ),
    ],
)
def test_the_headline_names_what_is_out_of_line(watch, values, said):
    assert said in watch.run(history=_days(values)).summary


def test_the_headline_of_steady_runs_names_none(watch):
    summary = watch.run(history=_days(ORDINARY)).summary
    assert summary.startswith("No lasting change in 1 series. A change of")
    assert "far" not in summary
    assert "newest" not in summary


@pytest.mark.parametrize(("name", "asks"), [("x_factor", True), ("s_per_step", False), ("gb_s", False)])
def test_an_unknown_direction_is_asked_for(watch, name, asks):
    values = [value * (1.1 if day >= 12 else 1) for day, value in enumerate(ORDINARY)]
    result = watch.run(history=_days(values).replace("ior_gb_s", name))
    assert f"{name} changed by +" in result.summary
    assert any(finding.code == "direction" for finding in result.findings) == asks
    # A time for each step that grows is worse.
    assert (result.facts["series"][0]["verdict"] == "worse") == (name == "s_per_step")
