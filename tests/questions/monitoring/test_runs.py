"""Why runs differ: answers for times alone, with columns, joined with the accounting, and for uninformative input."""

from __future__ import annotations

import random
import re
from datetime import UTC, datetime, timedelta

import pytest

from hopperkit.questions.question import load
from hopperlib.errors import InputError

# Eight runs with the same arguments, in two groups; and six with the node of each.
ALONE = "run\tseconds\n1\t1127.239\n2\t1122.376\n3\t369.243\n4\t365.1\n5\t370.8\n6\t1119.4\n7\t372.0\n8\t368.9\n"
WITH_NODES = "run,seconds,nodes\n1,1127.2,a\n2,1122.3,a\n3,369.2,b\n4,365.1,b\n5,370.8,b\n6,1119,a\n"
TEN_DAYS = [815, 809, 822, 801, 1402, 818, 812, 1190, 826, 820]


def run(**values):
    return load("runs").run(**values)


def code(result, name: str):
    return next(finding for finding in result.findings if finding.code == name)


def test_two_groups_come_before_any_power_calculation():
    result = run(runs=ALONE)
    assert result.summary.startswith("Two groups, 3.0 times apart: 3 runs near 1,122 s and 5 near 369.2 s")
    assert "show a gain" not in result.summary
    assert "NodeList" in code(result, "next-run").message
    # 3 of 8 and 5 of 8: as deep a dip as 3 / 16, rarer than 1 in 100 among eight uniform values.
    assert result.facts["chances"]["two groups"] < 0.01


def test_the_front_page_and_the_command_lead_there():
    for text in (ALONE, WITH_NODES):
        answered = load("identify").run(text=text)
        assert answered.facts["question"] == "runs"
        assert answered.facts["kind"] == "two groups"


def test_the_column_that_separates_them_is_named():
    result = run(runs=WITH_NODES)
    assert "Node a separates them without overlap: runs on it take 1,122 s, the others 369.2 s." in result.summary
    assert result.facts["without_overlap"]
    # 2 of the 20 ways to choose three of six runs are as clear: a tenth, which is said and not hidden.
    assert result.facts["chance"] == pytest.approx(0.1, abs=0.03)
    assert "too few to exclude chance" in code(result, "separated").message
    assert "--exclude=a" in code(result, "next-run").message


def test_slow_days_are_named_by_their_dates():
    text = "date,run_time_s\n" + "".join(f"2026-03-{day:02},{time}\n" for day, time in enumerate(TEN_DAYS, 1))
    for result in (run(runs=text), load("identify").run(text=text)):
        assert "2 of 10 runs are slow: 1,402 and 1,190 s (2026-03-05 and 2026-03-08)" in result.summary
        assert result.figures[0].data[0]["x"][0] == "2026-03-01"
    assert "2026-03-05 and 2026-03-08" in code(result, "next-run").message


def test_rows_are_put_in_order_of_time_across_zones():
    text = (
        "start,run_time_s\n2026-03-01T10:00:00+02:00,11\n2026-03-01T09:00:00+00:00,12\n2026-03-01T08:30:00+00:00,13\n"
    )
    # 08:00, 09:00 and 08:30 of the world's time.
    assert run(runs=text).figures[0].data[0]["y"] == [11, 13, 12]


def jobs(count: int = 30) -> tuple[str, str]:
    """Runs in jobs, two in each, and the accounting of the jobs: those on partition low are 20 % slower."""
    rng = random.Random(7)
    runs, accounting = ["job,run_time_s"], ["JobID|Partition|NodeList|Start|State|Elapsed"]
    for job in range(count):
        low = job % 3 == 0
        level = 100 * (1.2 if low else 1.0) * (1 + 0.02 * rng.gauss(0, 1))
        runs += [f"{job},{level * (1 + 0.005 * rng.gauss(0, 1)):.2f}" for _ in range(2)]
        nodes = ",".join(f"n{number}" for number in sorted(rng.sample(range(1, 40), 4)))
        accounting.append(
            f"{job}|{'low' if low else 'regular'}|{nodes}|2026-03-{1 + job % 28:02}T08:00:00|COMPLETED|00:10:00"
        )
    return "\n".join(runs), "\n".join(accounting)


def test_the_accounting_is_joined_by_the_job():
    runs, accounting = jobs()
    result = run(runs=runs, jobs=accounting)
    assert result.facts["separated_by"] == "Partition"
    assert re.search(
        r"Partition separates them without overlap: low is (19|20|21)\.\d % slower than regular", result.summary
    )
    # Between jobs 9 % (a third is 20 % higher) and 2 %, within them 0.5 %: hardly anything lies inside a job.
    assert result.facts["between_jobs"]["share"] > 0.99
    assert "of the variance" in code(result, "jobs").message.lower()


def test_steps_and_failed_jobs_of_sacct_are_no_runs():
    text = (
        "JobID|State|Elapsed|NodeList\n7|COMPLETED|00:10:00|n1\n7.batch|COMPLETED|00:10:00|n1\n8|FAILED|00:00:03|n2\n"
        "9|COMPLETED|00:10:05|n1\n10|COMPLETED|00:10:02|n2\n"
    )
    result = run(runs=text)
    assert result.facts["runs"] == 3
    assert "1 run left out, not completed by their state" in code(result, "left-out").message


def _spans(form):
    """Twenty-four jobs of 600 s, every third on node n2 and of 900 s, as one program or another records them."""
    lines, first = [], datetime(2026, 3, 2, 8, tzinfo=UTC)
    for number in range(24):
        start, slow = first + timedelta(hours=number), number % 3 == 0
        end, node = (
            start + timedelta(seconds=900 + number if slow else 600 + number),
            "n2" if slow else f"n{number % 3 + 3}",
        )
        if form == "sacct":
            lines.append(
                f"{number}|{start:%Y-%m-%dT%H:%M:%S}|{start:%Y-%m-%dT%H:%M:%S}|{end:%Y-%m-%dT%H:%M:%S}|1|COMPLETED|{node}"
            )
        else:
            at = int(start.timestamp())
            lines.append(
                f"{end:%m/%d/%Y %H:%M:%S};E;{number}.pbs;user=u group=g queue=workq ctime={at} qtime={at} etime={at} start={at} "
                f"exec_host={node}/0*16 Resource_List.nodect=1 Resource_List.walltime=01:00:00 end={int(end.timestamp())} Exit_status=0"
            )
    heading = ["JobID|Submit|Start|End|NNodes|State|NodeList"] if form == "sacct" else []
    return "\n".join([*heading, *lines]) + "\n"


@pytest.mark.parametrize("form", ["sacct", "pbs"])
def test_run_times_follow_from_starts_and_ends(form):
    """Without a column of run times, run times are from start to end, not the number of nodes."""
    result = run(runs=_spans(form))
    assert result.facts["runs"] == 24
    assert result.facts["separated_by"] == "node n2"
    # The middles of 900, 903 ... 921 and of 601, 602, 604 ... 623.
    assert "8 runs near 910.5 s and 16 near 612 s" in result.summary


def test_noise_says_what_would_have_been_seen():
    rng = random.Random(5)
    text = "run_time_s,build\n" + "".join(
        f"{100 * (1 + 0.05 * rng.gauss(0, 1)):.2f},{'ab'[row % 2]}\n" for row in range(60)
    )
    result = run(runs=text)
    assert result.facts["kind"] == "one group"
    assert "Column build does not separate them." in result.summary
    # Two halves of 30 with a spread of 5 %: (2.2 + 0.84) * 5 % * sqrt(2 / 30) * 1.03 = 4.0 %; the spread is estimated.
    (size,) = [size for what, size in result.facts["unseen"].items() if what.startswith("effect of build")]
    assert size == pytest.approx(1.040, abs=0.01)
    assert "80 of 100 data sets" in code(result, "unseen").message


def test_rates_are_slow_where_they_are_low():
    text = "date,bandwidth_gb_s\n" + "".join(
        f"2026-03-{day:02},{value}\n" for day, value in enumerate([50, 51, 50.5, 49.5, 20, 50.2], 1)
    )
    result = run(runs=text)
    assert result.facts["kind"] == "few slow"
    assert result.facts["apart"] == [4]
    assert "20" in result.summary


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"runs": " "}, "paste or drop run times"),
        ({"runs": "run_time_s\n10\nten\n"}, "'ten' is not a number"),
        ({"runs": "run_time_s\n10\n11\n", "jobs": "JobID|Partition\n1|a\n"}, "no job column"),
        (
            {"runs": "job,run_time_s\n5,10\n6,11\n", "jobs": "JobID|Partition\n1|a\n"},
            "no job of the runs is in the accounting",
        ),
        ({"runs": "job,run_time_s\n5,10\n6,11\n", "jobs": "Partition\na\n"}, "the accounting data have no job column"),
        ({"runs": "run_time_s\n10\n", "column": "nope"}, "there is no column 'nope'"),
    ],
)
def test_what_cannot_be_read_is_refused(values, message):
    with pytest.raises(InputError, match=re.escape(message)):
        run(**values)


def test_one_run_tells_nothing():
    assert run(runs="run_time_s\n10\n").summary == "One run is not enough: give at least three."
