"""Question: run times of MILC placed again and again, their distribution, and what explains them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from math import exp, log, sqrt
from operator import mul
from statistics import NormalDist
from typing import NamedTuple

from hopperlib.errors import InputError
from hopperlib.finding import Finding
from hopperlib.network.runtime.milc import RUNS_A_JOB, model
from hopperlib.network.runtime.placed_jobs import METRICS, PlacedJob, selected
from hopperlib.network.runtime.run_time import RunTimeModel, draw_noise
from hopperlib.questions.figures import Axis, Reference, Series, chart
from hopperlib.questions.question import declared
from hopperlib.questions.result import Badge, Column, Figure, Result, Table, Value

__all__ = ["QUESTION"]

_PLACINGS = {
    "first": ("xyz_by2", "first", "first free nodes of the xyz-by2 list"),
    "contiguous": ("xyz_by2", "contiguous", "one run of that list, or wait"),
    "nid": ("nid", "first", "first free nodes of the NID list"),
}
_AGES = {
    "any": (0, 99, "any of four weeks"),
    "first": (0, 2, "the first two days"),
    "week": (2, 7, "the rest of the first week"),
    "later": (7, 99, "the second to the fourth week"),
}
_CAUSES = ("own shape", "with neighbors", "with noise")


class _Times(NamedTuple):
    """Least time of each job by cause, and all runs. [s]"""

    shape: list[float]
    neighbors: list[float]
    noise: list[float]
    runs: list[float]


def _run_times(jobs: Sequence[PlacedJob], one: RunTimeModel, traffic: str, noise: float, seed: int) -> _Times:
    """Return the times of jobs for a noise of a run."""
    rng = random.Random(seed)
    shape, neighbors, least, runs = [], [], [], []
    for job in jobs:
        quiet = [one.run_time_s(link) for link in job.worst_links(traffic)]
        times = [time * (1 + noise * draw_noise(rng)) for time in quiet]
        shape.append(one.run_time_s(job.own))
        neighbors.append(min(quiet))
        least.append(min(times))
        runs += times
    return _Times(shape, neighbors, least, runs)


def _centered(values: Sequence[float]) -> tuple[list[float], float]:
    """Return values less their mean, and the root of the sum of their squares."""
    middle = sum(values) / len(values)
    less = [value - middle for value in values]
    return less, sqrt(sum(map(mul, less, less)))


@cache
def _metric(name: str, jobs: tuple[PlacedJob, ...]) -> tuple[list[float], float]:
    """Return a metric, centered; kept, since most settings leave it as it is."""
    return _centered([getattr(job, name) for job in jobs])


def _correlation(a: tuple[list[float], float], b: tuple[list[float], float]) -> float | None:
    """Return Pearson's correlation, or None if one of both does not vary."""
    if a[1] <= 1e-9 or b[1] <= 1e-9:
        return None
    return float(sum(map(mul, a[0], b[0])) / (a[1] * b[1]))


def _histogram(times: list[float]) -> Figure:
    """Return how many runs take how long."""
    step = 50
    low, high = int(times[0] // step), int(times[-1] // step)
    counts = [0] * (high - low + 1)
    for time in times:
        counts[int(time // step) - low] += 1
    middles = [(low + number) * step + step // 2 for number in range(len(counts))]
    top = middles[counts.index(max(counts))]
    return chart(
        title="Run times",
        alt=f"Histogram of {len(times)} run times from {times[0]:.0f} to {times[-1]:.0f} s; most lie around {top} s, with a tail to the right.",
        x=Axis(title="Run time", unit="s"),
        y=Axis(title="Runs", low=0),
        series=[Series(name="runs", x=middles, y=counts, kind="bars")],
        caption="Runs in steps of the run time, by the middle of the step",
    )


def _qq(times: list[float]) -> tuple[Figure, float]:
    """Return observed against expected times of a lognormal with the same mean and spread of logarithms, and how straight."""
    logs = [log(time) for time in times]
    middle = sum(logs) / len(logs)
    spread = sqrt(sum((value - middle) ** 2 for value in logs) / len(logs))
    normal = NormalDist()
    shares = [(number + 0.5) / len(times) for number in range(len(times))]
    expected = [exp(middle + spread * normal.inv_cdf(share)) for share in shares]
    straight = _correlation(_centered(expected), _centered(times)) or 0.0
    # A point for every twelfth run, and the last of each end.
    kept = sorted({*range(0, len(times), max(1, len(times) // 84)), len(times) - 1, len(times) - 2, 1})
    x, y = [round(expected[i], 1) for i in kept], [round(times[i], 1) for i in kept]
    figure = chart(
        title="Against a lognormal",
        alt=f"Quantile plot: observed run times against those of a lognormal. On the line both agree; the slowest run took {times[-1]:.0f} s "
        f"where the lognormal expects {expected[-1]:.0f}, the quickest {times[0]:.0f} s where it expects {expected[0]:.0f}.",
        x=Axis(title="Expected of a lognormal", unit="s", decimals=1),
        y=Axis(title="Observed", unit="s", decimals=1),
        series=[
            Series(name="runs", x=x, y=y, kind="points"),
            Series(name="agreement", x=[x[0], x[-1]], y=[x[0], x[-1]]),
        ],
    )
    return figure, straight**2


def _scatter(jobs: Sequence[PlacedJob], times: Sequence[float], metric: str, r2: float | None) -> Figure:
    """Return the least time of each job against a metric."""
    kept = range(0, len(jobs), max(1, len(jobs) // 112))
    told = "the metric does not vary" if r2 is None else f"r-squared {r2:.2f}"
    return chart(
        title="Least time of a job against a metric",
        alt=f"Points of {len(kept)} jobs: least run time against {METRICS[metric]}, {told}.",
        x=Axis(title=METRICS[metric].capitalize(), decimals=2),
        y=Axis(title="Least time", unit="s", decimals=0),
        series=[
            Series(
                name="jobs",
                x=[getattr(jobs[i], metric) for i in kept],
                y=[round(times[i], 1) for i in kept],
                kind="points",
            )
        ],
        references=(Reference(name="mean", y=round(sum(times) / len(times), 1)),),
    )


def _spread(values: Sequence[float]) -> float:
    """Return the standard deviation. [s]"""
    return _centered(values)[1] / sqrt(len(values))


def _answer(
    *, tasks: str, age: str, placing: str, traffic: str, noise_percent: float, metric: str, sample: str, seed: int
) -> Result:
    """Answer for one setting."""
    order, allocation, _ = _PLACINGS[placing]
    low, high, _ = _AGES[age]
    if placing != "first" and tasks != "8192":
        raise InputError(
            f"tasks={tasks} was simulated on the first free nodes of the xyz-by2 list only; take 8192, or that list",
            name="tasks",
        )
    jobs = selected(order, allocation, int(tasks), low, high)
    one = model(int(sample))
    times = _run_times(jobs, one, traffic, noise_percent / 100, seed)
    runs = sorted(times.runs)
    mean_s = sum(runs) / len(runs)
    causes = [_centered(values) for values in (times.shape, times.neighbors, times.noise)]
    correlations = {name: [_correlation(_metric(name, jobs), cause) for cause in causes] for name in METRICS}
    squares = {name: [None if each is None else each * each for each in row] for name, row in correlations.items()}
    known = [(row[2], name) for name, row in squares.items() if row[2] is not None]
    best, best_name = max(known, default=(0.0, metric))
    qq, straight = _qq(runs)
    shape_s, all_s = _spread(times.shape), _spread(runs)
    within = [
        max(runs_of) / min(runs_of)
        for runs_of in (times.runs[first : first + RUNS_A_JOB] for first in range(0, len(times.runs), RUNS_A_JOB))
    ]
    triplet = 100 * (sum(within) / len(within) - 1)
    wait_h = sum(job.wait_h for job in jobs) / len(jobs)
    default = (tasks, age, placing, traffic) == ("8192", "any", "first", "assumed") and noise_percent == _NOISE_PERCENT
    fitted: Badge = "calibrated" if default else "predicted"
    notices = []
    if tasks != "8192":
        notices.append(
            Finding(
                code="other-size",
                message="The line was fitted to 8,192 cores; here each core is taken to have as much work.",
                level="note",
            )
        )
    if traffic == "none":
        notices.append(
            Finding(
                code="alone",
                message="Without neighbors only the job's own shape is left, and the correlations turn: a compact job crowds its own links.",
                level="note",
            )
        )
    return Result(
        summary=(
            f"{len(jobs)} jobs took {runs[0]:.0f} to {runs[-1]:.0f} s, {mean_s:.0f} s on average. "
            f"The metric that explains most, {METRICS[best_name]}, explains {100 * best:.0f} % of the variance of the least times. "
            f"A job waited {wait_h:.1f} h for its nodes."
        ),
        findings=tuple(notices),
        values=(
            Value("Mean run time", mean_s, unit="s", badge=fitted, decimals=0),
            Value("Quickest run", runs[0], unit="s", badge="predicted", decimals=0),
            Value("Slowest run", runs[-1], unit="s", badge="predicted", decimals=0, note="the page prints 2,462"),
            Value("Spread of all runs", all_s, unit="s", badge="predicted", decimals=0),
            Value("Spread by the jobs' own shape alone", shape_s, unit="s", badge="predicted", decimals=0),
            Value(
                "Slowest over quickest run of one job",
                triplet,
                unit="%",
                badge="predicted",
                decimals=1,
                note="mean, with the same nodes",
            ),
            Value("Best r-squared of a metric", best, "predicted", decimals=3, note=METRICS[best_name]),
            Value("Straightness of the quantile plot", straight, "predicted", decimals=3, note="1 for a lognormal"),
            Value("Mean wait for the nodes", wait_h, unit="h", badge="predicted", decimals=1),
            Value(
                "Time of a run without messages",
                one.compute_s,
                unit="s",
                badge="calibrated",
                decimals=0,
                note="fitted to the printed least and mean",
            ),
            Value(
                "Neighbors' traffic",
                {"none": "none", "assumed": "drawn", "double": "drawn, doubled"}[traffic],
                "assumed",
                note="half as much as MILC's on average",
            ),
        ),
        figures=(_histogram(runs), qq, _scatter(jobs, times.noise, metric, squares[metric][2])),
        tables=(
            Table(
                caption="Share of the variance of the least times that each metric explains, and the sign of its correlation",
                columns=(
                    Column("Metric"),
                    *(Column(f"r-squared, {cause}", decimals=3, badge="predicted") for cause in _CAUSES),
                    Column("Correlation", decimals=2, badge="predicted"),
                ),
                rows=[(METRICS[name], *squares[name], correlations[name][2]) for name in METRICS],
            ),
        ),
        facts={
            "mean_s": mean_s,
            "least_s": runs[0],
            "most_s": runs[-1],
            "sd_s": all_s,
            "triplet_percent": triplet,
            "best_r2": best,
            "least_correlation": min((row[2] for row in correlations.values() if row[2] is not None), default=0.0),
            "wait_h": wait_h,
            "straight": straight,
            "jobs": len(jobs),
        },
    )


_NOISE_PERCENT = 0.5

QUESTION = declared(
    __name__,
    _answer,
    options={
        "age": [(key, label) for key, (*_, label) in _AGES.items()],
        "placing": [(key, label) for key, (*_, label) in _PLACINGS.items()],
        "metric": list(METRICS.items()),
    },
)
