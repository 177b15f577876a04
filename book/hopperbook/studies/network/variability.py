"""Why MILC on 8,192 cores took 887 to 2,462 seconds.

Documented: three times with three placements, a small table of least, mean and
greatest times, and that no metric of the placement explains them. The sample,
its size and every figure are lost.

Calibrated are two numbers of the run-time model, on the table's least and mean time. All else is predicted: intervals
over the possible size of the sample, neighbors' traffic, noise and reductions, all varied together. The rival has no
network: an exponential above a minimum, through the same two numbers, one draw per job.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import groupby
from math import log
from statistics import fmean, mean, median, quantiles
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from hopperbook.documented import printed
from hopperbook.studies.network.fragmentation import population
from hopperbook.studies.network.milc_lognormal import least_sample, lognormal_chance, printed_times
from hopperbook.studies.study import Prediction, Shares, Study, Value, predictions, ranges
from hopperkit.analysis.regression import Interval
from hopperkit.analysis.variance_shares import designs_of, variance_shares
from hopperlib.errors import InputError, refusal
from hopperlib.network.runtime.milc import (
    RUNS_A_JOB,
    fitted,
    force_times_s,
    milc_jobs,
    model,
    run_times,
    sampled_conditions,
)
from hopperlib.network.runtime.placed_jobs import ASSUMED, METRICS, PlacedJob
from hopperlib.network.runtime.run_time import least_of

#: Runs that the printed table may summarize. Its size is not printed.
SAMPLE_SIZES = (30, 100, 300)
#: Share of the variance from which on a metric would settle it; half is assumed.
CONCLUSIVE = 0.5
# : Jobs of which the table may contain the quickest runs.
_JOBS = (5, 10, 30, 50)
# Of one seed: its jobs, the times of their runs, and least and median force of each.
_History = tuple[tuple[PlacedJob, tuple[float, ...], tuple[float, float]], ...]
_USERS = 40
# Other benchmarks that MILC is compared with, and how often: each time with other shares.
_OTHERS, _COMPARED = 10, 200


def _table(jobs: Sequence[Sequence[float]], runs: int, rng: random.Random) -> dict[str, float]:
    """Return the table's statistics for this many runs: half in triplets, the others as separate jobs. [s]"""

    def drawn() -> Sequence[float]:
        return jobs[int(rng.random() * len(jobs))]

    triplets = [drawn() for _ in range(max(2, runs // (2 * RUNS_A_JOB)))]
    inside, minima = [time for job in triplets for time in job], [min(job) for job in triplets]
    total = [*inside, *(drawn()[0] for _ in range(runs - len(inside)))]
    return {
        "table-triplets-minimum": min(inside),
        "table-triplets-mean": fmean(inside),
        "table-triplets-maximum": max(inside),
        "table-minima-mean": fmean(minima),
        "table-minima-maximum": max(minima),
        "table-total-maximum": max(total),
        "orange": total[int(rng.random() * runs)],
    }


def _users(slowness: Sequence[float], assumed: Mapping[str, float], rng: random.Random) -> dict[str, float]:
    """Return the spread of users' runs: exceeded by one user in five, and by one in twenty. [%]"""
    usual, spreads = fmean(slowness), []
    for _ in range(_USERS):
        # A code with MILC's communication pattern, for up to this share of its time.
        share = assumed["user_share"] * rng.random()
        times = [
            1 + share * (slowness[int(rng.random() * len(slowness))] / usual - 1)
            for _ in range(round(assumed["user_runs"]))
        ]
        spreads.append(100 * (max(times) / min(times) - 1))
    cuts = quantiles(spreads, n=20)
    # Cuts at 80 and at 95 %: one user in five is above the first, one in twenty above the second.
    return {"users-report-low": cuts[15], "users-report-high": cuts[18]}


def _model(assumed: Mapping[str, float], rng: random.Random) -> dict[str, float]:
    """Return the statistics of the table and the users under these assumptions."""
    conditions = sampled_conditions(population(), assumed["traffic"], rng=rng, reductions=assumed["reductions"])
    runs = round(assumed["runs"])
    try:
        line = fitted(conditions, runs, assumed["noise"])
    except InputError:
        # With these assumptions nothing gives the printed least and mean: they are refuted.
        return {}
    table = _table([[line.run_time_s(run) for run in job] for job in conditions], runs, rng)
    return table | _users([run.slowness for job in conditions for run in job], assumed, rng)


def _rivals() -> dict[str, float | tuple[float, float]]:
    """Return the rival's results: for the table an exponential above a minimum, for the users MILC's mean over its
    minimum.
    """
    least_s, mean_s = printed("variability.table-total-minimum"), printed("variability.table-total-mean")
    rng, low, high = random.Random(1), SAMPLE_SIZES[0], SAMPLE_SIZES[-1]
    tables = []
    for _ in range(200):
        runs = round(low + (high - low) * rng.random())
        # The median of the least of that many exponential draws is log(2) / runs of their mean.
        above = (mean_s - least_s) / (1 - log(2) / runs)
        jobs = [[mean_s - above - above * log(1 - rng.random())] * RUNS_A_JOB for _ in range(runs)]
        tables.append(_table(jobs, runs, rng))
    # Of twenty parts, the first and the last cut hold nine samples of ten between them.
    ends = {name: quantiles((table[name] for table in tables), n=20) for name in tables[0]}
    apart = 100 * (mean_s / least_s - 1)
    return {name: (cuts[0], cuts[-1]) for name, cuts in ends.items()} | dict.fromkeys(
        ("users-report-low", "users-report-high"), apart
    )


@cache
def predicted() -> dict[str, Value]:
    """Return the predictions of the study, with their rivals.

    Examples
    --------
    >>> sorted(predicted())[0]
    'orange'
    """
    return predictions(_model, ranges("variability"), _rivals(), random_parts=True)


def _all_times(**setting: Any) -> list[float]:
    """Return the time of each run of all jobs. [s]"""
    return [time for job in run_times(jobs=population(), **setting) for time in job]


def _least_times(**setting: Any) -> list[float]:
    """Return the least time of each job. [s]"""
    return [min(times) for times in run_times(jobs=population(), **setting)]


class MetricLine(NamedTuple):
    """A metric against the least time of each job: their correlation, and the shares of the bulk's variance it explains.

    Parameters
    ----------
    correlation : float
        Of all jobs.
    r2 : Interval
        The share that it explains if no other metric is known. [fraction]
    own : Interval
        The share that no other metric explains. [fraction]
    visible_percent : float or None
        Change of the time, from the metric's 10 % to its 90 % quantile, that 80 of 100 such populations would show in addition
        to the other metrics; None where it follows from them. [%]
    """

    correlation: float
    r2: Interval
    own: Interval
    visible_percent: float | None


@cache
def regressions(cause: str) -> dict[str, MetricLine]:
    """Each metric of a job's placement against its least time, the best explained first.

    All metrics of all jobs of all histories are regressed at once by the functions behind `hopperkit.explain_runs`.

    Parameters
    ----------
    cause : {"neighbors", "noise", "own shape"}
        Components of the time: the job's shape alone; shape and its neighbors' traffic; shape and noise.

    Raises
    ------
    ValueError
        If there is no such cause.

    Examples
    --------
    >>> len(regressions("own shape"))
    7
    """
    settings: dict[str, dict[str, Any]] = {"neighbors": {"noise": False}, "noise": {}}
    settings["own shape"] = {"noise": False, "traffic": "none"}
    if cause not in settings:
        raise refusal("cause", cause, f"must be one of: {', '.join(settings)}")
    times = np.array(_least_times(**settings[cause]))
    placed = pd.DataFrame({name: [getattr(job, name) for job in population()] for name in METRICS}, dtype=float)
    shares = variance_shares(np.log(times), placed, designs_of(placed), np.random.default_rng(1))
    visible = {effect.name: 100 * np.expm1(effect.visible) for effect in shares.robust.effects}
    lines = {
        label: MetricLine(
            float(np.corrcoef(placed[name], times)[0, 1]),
            shares.row_of(name).alone,
            shares.row_of(name).own,
            visible.get(name),
        )
        for name, label in METRICS.items()
    }
    return dict(sorted(lines.items(), key=lambda item: -item[1].r2.estimate))


class Spread(NamedTuple):
    """Standard deviations of run times by cause. [s]"""

    own_shape_s: float
    neighbors_s: float
    noise_s: float
    all_s: float


@cache
def spread_by_cause() -> Spread:
    """Spread of the run times by cause: shape alone, added by the neighbors, added by noise.

    Examples
    --------
    >>> spread_by_cause().all_s > spread_by_cause().noise_s
    True
    """
    # The same runs three times, with one cause more each time: what that adds is the difference, run by run.
    shape = np.array(run_times(traffic="none", noise=False, jobs=population()))
    quiet = np.array(run_times(noise=False, jobs=population()))
    times = np.array(run_times(jobs=population()))
    return Spread(*(float(part.std()) for part in (shape, quiet - shape, times - quiet, times)))


@cache
def force_minima() -> tuple[tuple[float, float], ...]:
    """Least and median time of a force computation in the first run of each job. [s]

    Examples
    --------
    >>> all(least < middle for least, middle in force_minima())
    True
    """
    rng, jobs, force_s = random.Random(1), population(), printed("variability.fftime")
    usual = mean(job.own for job in jobs)
    times = (force_times_s(job, rng, force_s=force_s, usual=usual) for job in jobs)
    return tuple((min(forces), median(forces)) for forces in times)


def implied_rate_gb_s(runs: int = 100) -> float:
    """Mean send rate of a node of MILC, by the calibrated line. [GB/s]

    Examples
    --------
    Well below the maximum rate of a node, 6 GB/s:

    >>> implied_rate_gb_s() < 3
    True
    """
    return model(runs, jobs=population()).exchanged_gb / mean(_all_times(runs=runs))


@cache
def _histories() -> tuple[_History, ...]:
    """Return the jobs of each seed, each with its times, and with the least and the median of its forces."""
    each = list(zip(population(), run_times(jobs=population()), force_minima(), strict=True))
    return tuple(tuple(rows) for _, rows in groupby(each, lambda row: row[0].seed))


def _shares(holds: Callable[[_History], bool]) -> Shares:
    """Return in how many histories a shape holds."""
    return Shares(sum(holds(history) for history in _histories()), len(_histories()))


@cache
def varies_more(least_most: float, most: float) -> int:
    """Return in how many of two hundred draws MILC's run times vary more than those of most of ten other codes.

    A code that talks as MILC does and sends for a share of its time spreads in proportion to it. MILC's share follows
    from its printed least and mean, for a size of the sample; theirs is drawn evenly from none to a greatest share.

    Parameters
    ----------
    least_most, most : float
        Between these the greatest share is drawn. [fraction]

    Examples
    --------
    >>> varies_more(0.0, 0.0), varies_more(1.0, 1.0) < 200
    (200, True)
    """
    rng = random.Random(1)
    shares = [1 - model(runs, jobs=population()).compute_s / mean(_all_times(runs=runs)) for runs in SAMPLE_SIZES]
    held = 0
    for _ in range(_COMPARED):
        milc, greatest = rng.choice(shares), least_most + rng.random() * (most - least_most)
        held += sum(greatest * rng.random() < milc for _ in range(_OTHERS)) > _OTHERS / 2
    return held


class Allocation(NamedTuple):
    """Effect of an allocation on MILC on 8,192 cores."""

    name: str
    mean_s: float
    sd_s: float
    wait_h: float


@cache
def allocations() -> tuple[Allocation, ...]:
    """First free nodes compared with one run of the list, in the same histories: run times, and the wait for it.

    Examples
    --------
    >>> [allocation.name for allocation in allocations()]
    ['first free nodes', 'one run or wait']
    """
    cases = []
    seeds = {job.seed for job in milc_jobs(allocation="contiguous")}
    for name, kind in (("first free nodes", "first"), ("one run or wait", "contiguous")):
        rows = zip(run_times(allocation=kind), milc_jobs(allocation=kind), strict=True)
        both = [(times, job.wait_h) for times, job in rows if job.seed in seeds]
        all_times = np.array([times for times, _ in both])
        cases.append(Allocation(name, float(all_times.mean()), float(all_times.std()), mean(wait for _, wait in both)))
    return tuple(cases)


def _by_metric(history: _History) -> list[float]:
    """Return the correlation of each metric of placement with the least times of the jobs of one history."""
    least = [min(times) for _, times, _ in history]
    return [float(np.corrcoef([getattr(job, name) for job, _, _ in history], least)[0, 1]) for name in METRICS]


def _compact_is_faster(history: _History) -> bool:
    """Whether the quicker half of the jobs is more compact than the slower half."""
    ranked = [hops for _, hops in sorted((min(times), job.hops_nodes) for job, times, _ in history)]
    half = len(ranked) // 2
    return mean(ranked[:half]) < mean(ranked[-half:])


def _middle_half(values: Sequence[float]) -> float:
    """Width of the middle half of values over their median. [fraction]"""
    low, middle, high = quantiles(values, n=4)
    return (high - low) / middle


def _some_noisy(history: _History) -> bool:
    """Whether some runs, but not half of them, have a median force far above the least."""
    noisy = [middle > 1.1 * least for _, _, (least, middle) in history]
    return 0 < sum(noisy) < len(noisy) / 2


def _forces_differ_less(history: _History) -> bool:
    """Whether the least forces of jobs differ at most half as much as their least times."""
    forces, times = [least for _, _, (least, _) in history], [min(times) for _, times, _ in history]
    return _middle_half(forces) < _middle_half(times) / 2


def _values() -> dict[str, Value]:
    full, alone = ([line.correlation for line in regressions(cause).values()] for cause in ("noise", "own shape"))
    times = _all_times()
    slowest = predicted()["table-total-maximum"]
    assert isinstance(slowest, Prediction)
    running = [job.running for job in population() if job.day >= 3]
    return {
        **predicted(),
        "slowest_s": slowest.high,
        "population_s": max(times),
        "jobs": len(population()),
        "beyond": sum(time > slowest.high for time in _least_times()),
        "table-total-minimum": least_of(sorted(times), 100),
        "table-total-mean": mean(times),
        "hundreds-of-jobs": _shares(
            lambda history: median(job.running for job, _, _ in history if job.day >= 3) >= 200
        ),
        "running": mean(running),
        "blue-compact": _shares(
            lambda history: min(job.runs for job, _, _ in history) <= 3 and max(job.runs for job, _, _ in history) > 10
        ),
        "compact-is-faster": _shares(_compact_is_faster),
        "varies_assumed": varies_more(*ranges("variability")["user_share"][2:4]),
        "varies_any": varies_more(1.0, 1.0),
        "triplet-spread-small": _shares(lambda history: mean(max(times) / min(times) for _, times, _ in history) < 1.1),
        "metrics-correlate": _shares(lambda history: min(_by_metric(history)) > 0),
        "least_correlation": min(full),
        "greatest_correlation": max(full),
        "highest_r2": max(correlation**2 for correlation in full),
        "least_own": min(alone),
        "greatest_own": max(alone),
        "metrics-inconclusive": _shares(lambda history: max(map(abs, _by_metric(history))) ** 2 < CONCLUSIVE),
        "noisy-run": _shares(_some_noisy),
        "fftime-inconclusive": _shares(_forces_differ_less),
        "forces_spread": _middle_half([least for least, _ in force_minima()]),
        "times_spread": _middle_half(_least_times()),
    }


def _sums() -> dict[str, Value]:
    return {
        # A test of three printed numbers, no model of MILC.
        "lognormal": any(lognormal_chance(printed_times("minima"), jobs) >= 0.05 for jobs in _JOBS),
        "minima_chance": max(lognormal_chance(printed_times("minima"), jobs) for jobs in _JOBS),
        "total_chance": max(lognormal_chance(printed_times("total"), runs) for runs in (least_sample(), *SAMPLE_SIZES)),
        "fewest_jobs": _JOBS[0],
        "most_jobs": _JOBS[-1],
    }


STUDY = Study("variability", _values, sums=_sums, model=_model, shared_assumptions=ASSUMED)
