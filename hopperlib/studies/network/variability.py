"""Why MILC on 8,192 cores took 887 to 2,462 seconds.

Documented: three times with three placements, a small table of least, mean and
greatest times, and that no metric of the placement explains them. The sample,
its size and every figure are lost.

Calibrated are two numbers of the run-time model, on the table's least and mean
time, and the noise, on how far the mean of the triplets lies above that of
their minima. All else is predicted, as a band over what the size of the sample
may have been.
"""

from __future__ import annotations

import math
import random
from functools import cache
from statistics import mean, median, quantiles
from typing import Any, NamedTuple

import numpy as np

from hopperlib.analysis.distributions import Interval
from hopperlib.analysis.regression import Regression, regress_all, variance_split
from hopperlib.documented import printed
from hopperlib.errors import refusal
from hopperlib.machine import Machine
from hopperlib.network.runtime.milc import RUNS_A_JOB, milc_jobs, model, noise_draws, run_times
from hopperlib.network.runtime.placed_jobs import ASSUMED, METRICS
from hopperlib.network.runtime.run_time import least_of
from hopperlib.network.runtime.traffic import grid_dimensions, nearest_neighbors
from hopperlib.network.scheduling.aging import aged_machine
from hopperlib.network.torus.distances import Link, link_bandwidth_gb_s
from hopperlib.studies.network.milc_lognormal import least_sample, lognormal_chance
from hopperlib.studies.network.torus import JOB_NODES
from hopperlib.studies.study import Prediction, Study, Value

__all__ = [
    "CONCLUSIVE",
    "SAMPLE_SIZES",
    "STUDY",
    "Spread",
    "bands",
    "implied_rate_gb_s",
    "regressions",
    "spread_by_cause",
    "step_minima",
]

#: Runs that the printed table may summarize. Its size is not printed.
SAMPLE_SIZES = (30, 100, 300)
#: Share of the variance from which on a metric would settle it; half is assumed.
CONCLUSIVE = 0.5
_DRAWS = 1000


@cache
def bands(runs: int, traffic: str = "assumed") -> dict[str, Interval]:
    """What the table would print for so many runs, by the model, in nine samples of ten. [s]

    Half of the runs are triplets, the others jobs of their own: the table's
    total holds runs that are in no triplet. The model is calibrated anew with
    the neighbors' traffic that is asked for.

    Examples
    --------
    >>> sorted(bands(30))
    ['minima maximum', 'minima mean', 'minima minimum', 'total maximum', 'total mean', 'total minimum', 'triplets maximum', 'triplets mean', 'triplets minimum']
    """
    return _table_bands(np.array(run_times(runs, traffic=traffic, calibrated_with=traffic)), runs)


def _table_bands(times: np.ndarray, runs: int) -> dict[str, Interval]:
    """Return in what nine of ten samples of so many runs print, drawn from jobs with three runs each. [s]"""
    rng = np.random.default_rng(8192)
    triplets = max(2, runs // (2 * RUNS_A_JOB))
    inside = times[rng.integers(len(times), size=(_DRAWS, triplets))]
    alone = times[rng.integers(len(times), size=(_DRAWS, runs - RUNS_A_JOB * triplets)), 0]
    samples = {"triplets": inside.reshape(_DRAWS, -1), "minima": inside.min(axis=2)}
    samples["total"] = np.concatenate([samples["triplets"], alone], axis=1)
    return {
        f"{name} {what}": Interval(*np.quantile(statistic, (0.05, 0.5, 0.95)).tolist())
        for name, sample in samples.items()
        for what, statistic in (
            ("minimum", sample.min(axis=1)),
            ("mean", sample.mean(axis=1)),
            ("maximum", sample.max(axis=1)),
        )
    }


@cache
def _rival_bands(runs: int) -> dict[str, Interval]:
    """What the table would print by the rival: a floor and an exponential above it, of the printed least and mean. [s]"""
    least, middle = printed("variability.table-total-minimum"), printed("variability.table-total-mean")
    jobs = least + np.random.default_rng(1).exponential(middle - least, 4000)
    return _table_bands(np.repeat(jobs[:, None], RUNS_A_JOB, axis=1), runs)


def _rival_times() -> tuple[float, float]:
    """Return between which times nine of ten runs lie by the rival. [s]"""
    least, middle = printed("variability.table-total-minimum"), printed("variability.table-total-mean")
    return least - (middle - least) * math.log(0.95), least - (middle - least) * math.log(0.05)


def _over_sizes(name: str) -> Prediction:
    """Return the band of a statistic over all sizes of the sample, and that of the rival. [s]"""
    over_sizes = [bands(runs)[name] for runs in SAMPLE_SIZES]
    rivals = [_rival_bands(runs)[name] for runs in SAMPLE_SIZES]
    return Prediction(
        min(band.low for band in over_sizes),
        max(band.high for band in over_sizes),
        (min(band.low for band in rivals), max(band.high for band in rivals)),
        seeds=_DRAWS,
    )


def _all_times(**setting: Any) -> list[float]:
    """Return the time of each run of all jobs. [s]"""
    return [time for job in run_times(**setting) for time in job]


def _least_times(**setting: Any) -> list[float]:
    """Return the least time of each job. [s]"""
    return [min(times) for times in run_times(**setting)]


@cache
def regressions(cause: str) -> dict[str, Regression]:
    """Least time of each job regressed on each metric of its placement, the best explained first.

    Parameters
    ----------
    cause : {"own shape", "neighbors", "noise"}
        What the time holds: the job's own shape alone; that and its
        neighbors' traffic; that and noise.

    Raises
    ------
    ValueError
        If there is no such cause.

    Examples
    --------
    >>> len(regressions("own shape"))
    7
    """
    settings: dict[str, dict[str, Any]] = {
        "own shape": {"traffic": "none", "noise": False},
        "neighbors": {"noise": False},
        "noise": {},
    }
    if cause not in settings:
        raise refusal("cause", cause, f"must be one of: {', '.join(settings)}")
    metrics = {label: [getattr(job, name) for job in milc_jobs()] for name, label in METRICS.items()}
    return regress_all(metrics, _least_times(**settings[cause]), np.random.default_rng(1))


class Spread(NamedTuple):
    """What parts run times: standard deviations by cause [s], and the share that lies between jobs."""

    own_shape_s: float
    neighbors_s: float
    noise_s: float
    all_s: float
    between_jobs: Interval


@cache
def spread_by_cause() -> Spread:
    """Spread of the run times by cause: shape alone, what the neighbors add, what noise adds.

    Examples
    --------
    >>> spread_by_cause().all_s > spread_by_cause().noise_s
    True
    """
    shape = np.array(run_times(traffic="none", noise=False))
    quiet = np.array(run_times(noise=False))
    times = np.array(run_times())
    split = variance_split(times.ravel(), [job for job in range(len(times)) for _ in range(RUNS_A_JOB)])
    return Spread(
        float(shape.std()),
        float((quiet - shape).std()),
        float((times - quiet).std()),
        float(times.std()),
        split.between_fraction,
    )


@cache
def step_minima() -> tuple[tuple[float, float], ...]:
    """Least and median step of the first run of each job. [s]

    Examples
    --------
    >>> all(least < middle for least, middle in step_minima())
    True
    """
    rng, jobs = random.Random(1), milc_jobs()
    steps = (
        model().step_times_s(job.own, job.shared_1, rng, draws[0])
        for job, draws in zip(jobs, noise_draws(len(jobs)), strict=True)
    )
    return tuple((min(times), median(times)) for times in steps)


def implied_rate_gb_s(runs: int = 100) -> float:
    """What a node of MILC sends on average, if the calibrated wait is for a link that is full all the time. [GB/s]

    A message takes so long on a link along X as was fitted, and such a link
    moves what the machine file says; a node sends so many messages.

    Examples
    --------
    Well below what a node can send, 6 GB/s:

    >>> round(implied_rate_gb_s(), 1)
    1.1
    """
    hopper = Machine.load("hopper")
    graph = nearest_neighbors(grid_dimensions(8192), 24)
    messages = 2 * sum(graph.values()) / JOB_NODES
    size_gb = model(runs).exchange_s * link_bandwidth_gb_s(hopper, Link((0, 0, 0), 0))
    return messages * size_gb / mean(_all_times(runs=runs))


@cache
def _running() -> int:
    """Jobs that run at once three days after a reboot, narrow ones not bundled."""
    schedule = aged_machine("production", nodes=6384, days=4, load=0.95, smallest=1)
    instant = 3 * 86_400
    return sum(start <= instant < end for start, end in zip(schedule.start_s, schedule.end_s, strict=True))


def _hops_of_tenths() -> tuple[float, float]:
    """Mean distance between the nodes of the quickest and of the slowest tenth of the jobs. [hops]"""
    ranked = sorted(zip(_least_times(), (job.hops_nodes for job in milc_jobs()), strict=True))
    tenth = len(ranked) // 10
    return mean(hops for _, hops in ranked[:tenth]), mean(hops for _, hops in ranked[-tenth:])


def _middle_half(values: list[float]) -> float:
    """Width of the middle half of values over their median. [fraction]"""
    low, middle, high = quantiles(values, n=4)
    return (high - low) / middle


def _noisy() -> bool:
    """Whether some run had most of its steps more than a tenth above the quickest of them, and most had not."""
    noisy = [middle > 1.1 * least for least, middle in step_minima()]
    return 0 < sum(noisy) < len(noisy) / 2


def _least_is_nearest_to_quiet() -> bool:
    """Whether the least of three runs is nearer than their mean to the time without neighbors and noise, for each job."""
    quiet = run_times(traffic="none", noise=False)
    pairs = zip(run_times(), quiet, strict=True)
    return all(abs(min(job) - alone[0]) <= abs(mean(job) - alone[0]) for job, alone in pairs)


def _table() -> dict[str, Value]:
    """Return the printed table: what is fitted, what follows as a band over sizes of the sample, and its differences."""
    times = _all_times()
    triplets_mean = printed("variability.table-triplets-mean")
    return {
        "table-total-minimum": least_of(sorted(times), 100),
        "table-triplets-minimum": _over_sizes("triplets minimum"),
        "table-total-mean": mean(times),
        "table-triplets-mean": triplets_mean,
        "table-minima-mean": triplets_mean / mean(times) * mean(_least_times()),
        "table-total-maximum": _over_sizes("total maximum"),
        "slowest_s": max(*times, _over_sizes("total maximum").high),
        "table-triplets-maximum": _over_sizes("triplets maximum"),
        "table-minima-maximum": _over_sizes("minima maximum"),
        "fewest": SAMPLE_SIZES[0],
        "most": SAMPLE_SIZES[-1],
    }


def _sums() -> dict[str, Value]:
    """Return what follows from the printed table alone: its differences, and whether its sample may be lognormal."""
    total, minima = (
        {what: printed(f"variability.table-{row}-{what}") for what in ("minimum", "mean", "maximum")}
        for row in ("total", "minima")
    )
    chances = {runs: lognormal_chance(runs) for runs in (least_sample(), *SAMPLE_SIZES)}
    return {
        # The quickest run of all triplets is the least of their minima.
        "table-minima-minimum": printed("variability.table-triplets-minimum"),
        "table-difference-minimum": total["minimum"] - minima["minimum"],
        "table-difference-mean": total["mean"] - minima["mean"],
        "table-difference-maximum": total["maximum"] - minima["maximum"],
        "blue": total["minimum"],
        "red": total["maximum"],
        "red-over-blue": printed("variability.red") / printed("variability.blue"),
        "noise": 100 * (total["mean"] - minima["mean"]) / minima["mean"],
        "run-length": 3 * printed("variability.table-triplets-mean") / 60,
        "lognormal": any(chances[runs] >= 0.05 for runs in SAMPLE_SIZES),
        "least_sample": least_sample(),
        "lognormal_chance": max(chances.values()),
    }


def _regressed() -> dict[str, Value]:
    """Return what the metrics of the placements explain."""
    by_cause = {cause: regressions(cause).values() for cause in ("own shape", "neighbors", "noise")}
    full, own = ([line.correlation for line in by_cause[cause]] for cause in ("noise", "own shape"))
    return {
        "metrics-correlate": min(full) > 0,
        "least_correlation": min(full),
        "greatest_correlation": max(full),
        "least_own": min(own),
        "greatest_own": max(own),
        "metrics-inconclusive": all(line.r2.high < CONCLUSIVE for line in by_cause["noise"]),
        "highest_r2": max(line.r2.high for lines in by_cause.values() for line in lines),
    }


def _values() -> dict[str, Value]:
    jobs = milc_jobs()
    quick_hops, slow_hops = _hops_of_tenths()
    steps_spread = _middle_half([least for least, _ in step_minima()])
    times_spread = _middle_half(_least_times())
    ends = [np.quantile(_all_times(runs=runs), (0.05, 0.95)) for runs in SAMPLE_SIZES]
    return {
        **_table(),
        **_regressed(),
        "hopper-nodes": 6384,
        "hundreds-of-jobs": _running() >= 200,
        "running": _running(),
        "not-only-io": spread_by_cause().all_s > 0.05 * mean(_all_times()),
        "milc-cores": 8192,
        "blue-compact": min(job.runs for job in jobs) == 1 and max(job.runs for job in jobs) > 10,
        "compact-is-faster": quick_hops < slow_hops,
        "quick_hops": quick_hops,
        "slow_hops": slow_hops,
        "orange": Prediction(
            min(float(low) for low, _ in ends), max(float(high) for _, high in ends), _rival_times(), seeds=_DRAWS
        ),
        "runs-per-job": RUNS_A_JOB,
        "minimum-removes-noise": _least_is_nearest_to_quiet(),
        "triplet-spread-small": mean(max(job) / min(job) for job in run_times()) < 1.1,
        "milc-calls": 3,
        "noisy-run": _noisy(),
        "fftime-inconclusive": steps_spread < times_spread / 2,
        "steps_spread": steps_spread,
        "times_spread": times_spread,
    }


STUDY = Study.read(
    "variability",
    _values,
    sums=_sums,
    shared_assumptions=ASSUMED,
    fewest=SAMPLE_SIZES[0],
    most=SAMPLE_SIZES[-1],
    conclusive=CONCLUSIVE,
)
