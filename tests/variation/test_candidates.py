"""Candidates that runs cannot distinguish, values within jobs, hours of the day, and sizes: all are named as what they are."""

from __future__ import annotations

import random

import pytest

from hopperkit.questions.question import load
from hopperkit.readers.runs_table import read_runs
from hopperkit.variation.explanation import explain


def _run(rows):
    return load("runs").run(runs="\n".join(rows))


def _next(result):
    return next(finding.message for finding in result.findings if finding.code == "next-run")


def _times(seed, slow, runs, by=1.3):
    """Times near 600 s with a spread of 1 %; some are slower by a factor."""
    rng = random.Random(seed)
    return [600 * (by if run in slow else 1) * (1 + 0.01 * rng.gauss(0, 1)) for run in range(runs)]


# Slow runs on c[14-17] twice and c[15-18]: c15, c16 and c17 were in all three. The others are elsewhere.
PLACES = ["c[14-17]", "c[14-17]", "c[15-18]", *(f"c[{1 + run % 9}-{4 + run % 9}]" for run in range(17))]


def test_all_nodes_that_the_slow_runs_share_are_named():
    times = _times(1, {0, 1, 2}, 20)
    result = _run(["NodeList,seconds", *(f'"{place}",{time:.2f}' for place, time in zip(PLACES, times, strict=True))])
    assert "Nodes c15, c16 and c17 are common to the slow runs, and these runs cannot tell" in result.summary
    assert "one run on each of c15, c16 and c17 without the others" in _next(result)


def test_a_node_that_one_more_run_distinguishes_is_named_alone():
    places = ["c[14-17]", "c[11-15]", "c[15-18]", *PLACES[3:]]
    times = _times(1, {0, 1, 2}, 20)
    result = _run(["NodeList,seconds", *(f'"{place}",{time:.2f}' for place, time in zip(places, times, strict=True))])
    assert "Node c15 is common to the slow runs." in result.summary
    assert "--exclude=c15" in _next(result)


@pytest.mark.parametrize(
    ("slow_place", "fast_place", "said"),
    [
        ("c[1-10]", "c[50-59]", "one run on c1 to c5 without the other 5"),
        # The nodes in the order of names are the fast ones.
        ("c[50-59]", "c[1-10]", "one run on half of these nodes and half of the others"),
    ],
)
def test_many_tied_nodes_are_halved(slow_place, fast_place, said):
    places = [slow_place if run % 2 else fast_place for run in range(16)]
    times = _times(2, set(range(1, 16, 2)), 16)
    result = _run(["NodeList,seconds", *(f'"{place}",{time:.2f}' for place, time in zip(places, times, strict=True))])
    assert "any of them may be the cause" in result.summary
    assert said in _next(result)


def test_columns_that_change_together_are_both_named():
    times = _times(3, set(range(0, 24, 2)), 24)
    rows = [f"{'ab'[run % 2]},{'xy'[run % 2]},{run % 3},{time:.2f}" for run, time in enumerate(times)]
    result = _run(["build,partition,threads,seconds", *rows])
    assert "Column build separates them without overlap" in result.summary
    assert "Column partition coincides with it in these runs: any of them may be the cause." in result.summary
    assert "change only one of build and partition" in _next(result)
    # One run that parts them is enough.
    rows[0] = rows[0].replace("a,x", "a,y")
    assert "coincide" not in _run(["build,partition,threads,seconds", *rows]).summary


@pytest.mark.parametrize("repeats", [3, 5])
def test_the_first_repetition_of_each_job_is_found(repeats):
    runs = 6 * repeats
    times = _times(4, set(range(0, runs, repeats)), runs, by=1.42)
    rows = [f"{run // repeats},{run % repeats + 1},{time:.2f}" for run, time in enumerate(times)]
    result = _run(["job,repeat,time_s", *rows])
    assert "Repeat = 1 is common to the slow runs." in result.summary
    assert "leave the runs with repeat = 1 out, or warm up" in _next(result)


def test_repetitions_that_do_not_separate_and_mere_numbers_are_not_blamed():
    times = _times(5, {3, 11, 22}, 30)
    rows = [f"{run // 5},{run % 5 + 1},{time:.2f}" for run, time in enumerate(times)]
    assert "repeat" not in _run(["job,repeat,time_s", *rows]).summary.lower()
    table = read_runs("\n".join(["run,time_s", *(f"{run},{time:.2f}" for run, time in enumerate(times))]))
    assert not table.columns


def _every_hours(step, slow, seed=6):
    """Runs in steps of some hours from midnight, slow ones at some hours of the day."""
    hours = [run * step for run in range(30)]
    times = _times(seed, {run for run, hour in enumerate(hours) if slow(hour % 24)}, 30, by=1.12)
    return [
        f"2026-03-{1 + hour // 24:02}T{hour % 24:02}:00:00,{time:.2f}" for hour, time in zip(hours, times, strict=True)
    ]


def test_the_hour_of_the_day_is_found():
    result = _run(["start,elapsed_s", *_every_hours(9, lambda hour: 9 <= hour <= 15)])
    assert (
        "The hour of the day separates them without overlap: runs that start from 09:00 to 17:00 take" in result.summary
    )
    assert "at a slow hour and at a fast hour" in _next(result)


def test_no_hour_of_the_day_is_found_in_noise():
    """At a level of 3 %, three of twelve would come once in 200 times."""
    found = 0
    for seed in range(12):
        table = read_runs("\n".join(["start,elapsed_s", *_every_hours(9, lambda hour: False, seed)]))
        found += any(name.startswith("hours") for name in explain(table).found)
    assert found <= 2


def _scaled(seed=7, slow=()):
    """Three runs on each of 1 to 16 nodes that scale with a serial part of 2 %, in the order of the sizes."""
    rng, rows = random.Random(seed), []
    for nodes in (1, 2, 4, 8, 16):
        for _ in range(3):
            time = 800 * (0.02 + 0.98 / nodes) * (1.3 if len(rows) in slow else 1) * (1 + 0.01 * rng.gauss(0, 1))
            rows.append(f"{nodes},{64 * nodes},{time:.2f}")
    return ["nodes,tasks,time_s", *rows]


def test_sizes_are_no_drift():
    result = _run(_scaled())
    assert result.summary.startswith("5 sizes by column nodes, 1 to 16:")
    # 1 / (16 * 0.02 + 0.98) = 77 %.
    assert "Efficiency against 1: " in result.summary
    assert any(f"{percent} % on 16" in result.summary for percent in (76, 77, 78))
    assert "drift" not in result.summary
    assert not [finding for finding in result.findings if finding.code == "with-order"]


def test_a_slow_run_of_one_size_is_still_seen():
    assert "1 run is slow for its size." in _run(_scaled(slow={10})).summary


def test_sizes_of_dated_runs_may_drift_too():
    """Sizes in turn, and each run 2 % slower than the one before: the rest of the time is in order of the dates."""
    rng = random.Random(8)
    rows = [
        f"2026-03-{run + 1:02},{2 ** (run % 3)},{600 / 2 ** (run % 3) * 1.02**run * (1 + 0.003 * rng.gauss(0, 1)):.2f}"
        for run in range(24)
    ]
    assert "For their size, the runs changed over time." in _run(["date,nodes,time_s", *rows]).summary


def test_a_date_is_not_a_setting():
    """A drift over the dates: no run can be made at a past date."""
    rng = random.Random(9)
    rows = [f"2026-03-{run + 1:02},{1000 * (1 + 0.002 * run + 0.004 * rng.gauss(0, 1)):.1f}" for run in range(30)]
    assert "repeat the first run exactly as it was" in _next(_run(["date,run_time_s", *rows]))
