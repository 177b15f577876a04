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
from collections import Counter
from functools import cache
from itertools import combinations
from statistics import mean, median, quantiles
from typing import NamedTuple

import numpy as np

from hopperlib.analysis.distributions import Fit, Interval, fit_all
from hopperlib.analysis.regression import Regression, regress_all, variance_split
from hopperlib.documented import documented
from hopperlib.machine import Machine
from hopperlib.network.runtime.milc import (
    RUNS_A_JOB,
    milc_jobs,
    model,
    noise_draws,
    printed,
    run_times,
)
from hopperlib.network.runtime.placed_jobs import ASSUMED, METRICS
from hopperlib.network.runtime.run_time import LinkMap, least_of
from hopperlib.network.runtime.traffic import Graph, all_reduce_tree, grid_dimensions, nearest_neighbors
from hopperlib.network.scheduling.aging import aged_machine, probe
from hopperlib.network.torus.distances import Link, link_bandwidth_gb_s
from hopperlib.network.torus.orders import compute_nodes, order_nodes
from hopperlib.studies.study import Check, Study

__all__ = [
    "CONCLUSIVE",
    "SAMPLE_SIZES",
    "STUDY",
    "Allocation",
    "Band",
    "PatternCase",
    "ShiftedLognormal",
    "Spread",
    "TrafficCase",
    "allocations",
    "bands",
    "families",
    "implied_rate_gb_s",
    "least_sample",
    "lognormal_chance",
    "patterns",
    "regressions",
    "shifted_lognormal",
    "spread_by_cause",
    "step_minima",
    "traffic_cases",
]

#: Runs that the printed table may summarize. Its size is not printed.
SAMPLE_SIZES = (30, 100, 300)
#: From this share of the variance on a metric would settle it. Assumed: half.
CONCLUSIVE = 0.5
_DRAWS = 1000
_WIDEST = 3.0


class Band(NamedTuple):
    """What a sample's statistic is in the middle, and in nine samples of ten. [s]"""

    low: float
    middle: float
    high: float


@cache
def bands(runs: int, traffic: str = "assumed") -> dict[str, Band]:
    """What the table would print for so many runs, by the model, in nine samples of ten. [s]

    Half of the runs are triplets, the others jobs of their own: the table's
    total holds runs that are in no triplet. The model is calibrated anew with
    the neighbors' traffic that is asked for.

    Examples
    --------
    >>> sorted(bands(30))
    ['minima maximum', 'minima mean', 'minima minimum', 'total maximum', 'total mean', 'total minimum', 'triplets maximum', 'triplets mean', 'triplets minimum']
    """
    times = np.array(run_times(runs, traffic=traffic, calibrated_with=traffic))
    rng = np.random.default_rng(8192)
    triplets = max(2, runs // (2 * RUNS_A_JOB))
    inside = times[rng.integers(len(times), size=(_DRAWS, triplets))]
    alone = times[rng.integers(len(times), size=(_DRAWS, runs - RUNS_A_JOB * triplets)), 0]
    samples = {
        "triplets": inside.reshape(_DRAWS, -1),
        "minima": inside.min(axis=2),
    }
    samples["total"] = np.concatenate([samples["triplets"], alone], axis=1)
    found = {}
    for name, sample in samples.items():
        for what, values in (
            ("minimum", sample.min(axis=1)),
            ("mean", sample.mean(axis=1)),
            ("maximum", sample.max(axis=1)),
        ):
            found[f"{name} {what}"] = Band(*(float(one) for one in np.quantile(values, (0.05, 0.5, 0.95))))
    return found


def _over_sizes(name: str) -> tuple[float, float]:
    """Return the band of a statistic over all sizes of the sample. [s]"""
    found = [bands(runs)[name] for runs in SAMPLE_SIZES]
    return min(one.low for one in found), max(one.high for one in found)


def least_sample() -> int:
    """Fewest runs that can have the printed least, mean and greatest: all but one as quick as the least.

    Examples
    --------
    >>> least_sample()
    7
    """
    least, middle, most = (printed(f"table-total-{name}") for name in ("minimum", "mean", "maximum"))
    return math.ceil((most - least) / (middle - least))


@cache
def lognormal_chance(runs: int) -> float:
    """Chance that a two-parameter lognormal puts least, mean and greatest as far apart as printed. [fraction]

    Scale drops out of the ratios mean/least and greatest/least, so one
    parameter is left; it is taken where the chance is highest. Counted are
    samples whose mean lies as close to the least as printed, or closer, and
    whose greatest lies as far from it, or farther.

    Examples
    --------
    >>> lognormal_chance(100) < 0.01
    True
    """
    rng = np.random.default_rng(runs)
    normal = rng.standard_normal((2000, runs))
    near = printed("table-total-mean") / printed("table-total-minimum")
    far = printed("table-total-maximum") / printed("table-total-minimum")
    chances = []
    for sd in np.linspace(0.05, 1.0, 39):
        values = np.exp(sd * normal)
        least = values.min(axis=1)
        chances.append(float(np.mean((values.mean(axis=1) <= near * least) & (values.max(axis=1) >= far * least))))
    return max(chances)


class ShiftedLognormal(NamedTuple):
    """A shifted lognormal through the printed least, mean and greatest: shift [s], median above it [s], log spread."""

    shift_s: float
    median_s: float
    log_sd: float


@cache
def shifted_lognormal(runs: int) -> ShiftedLognormal:
    """The shifted lognormal whose samples of so many runs have the printed least, mean and greatest in the middle.

    Raises
    ------
    ValueError
        If the runs are too few for any spread to put the greatest so far out.

    Examples
    --------
    >>> 0 < shifted_lognormal(100).shift_s < 887.1
    True
    """
    normal = np.random.default_rng(runs).standard_normal((2000, runs))
    least, middle, most = (printed(f"table-total-{name}") for name in ("minimum", "mean", "maximum"))
    low, high = 0.05, _WIDEST
    for _ in range(30):
        sd = (low + high) / 2
        values = np.exp(sd * normal)
        smallest = values.min(axis=1)
        ratio = float(np.median((values.max(axis=1) - smallest) / (values.mean(axis=1) - smallest)))
        low, high = (sd, high) if ratio < (most - least) / (middle - least) else (low, sd)
    if sd > 0.99 * _WIDEST:
        raise ValueError(f"runs={runs} are too few: no shifted lognormal puts their greatest so far above their mean")
    scale = (middle - least) / float(np.median(values.mean(axis=1) - smallest))
    return ShiftedLognormal(least - scale * float(np.median(smallest)), scale, sd)


def _least_times(**setting: bool | str) -> list[float]:
    """Return the least time of each job. [s]"""
    return [min(times) for times in run_times(**setting)]


@cache
def families() -> tuple[Fit, ...]:
    """Families fitted to the model's least times of each job, the best first.

    Examples
    --------
    >>> len(families())
    6
    """
    return fit_all(_least_times())


def _metrics() -> dict[str, list[float]]:
    """Return each metric of all jobs, by what it is."""
    return {label: [getattr(job, name) for job in milc_jobs()] for name, label in METRICS.items()}


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
    settings: dict[str, dict[str, bool | str]] = {
        "own shape": {"traffic": "none", "noise": False},
        "neighbors": {"noise": False},
        "noise": {},
    }
    if cause not in settings:
        raise ValueError(f"cause={cause!r} must be one of: {', '.join(settings)}")
    return regress_all(_metrics(), _least_times(**settings[cause]), np.random.default_rng(1))


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
    >>> one = spread_by_cause()
    >>> one.all_s > one.noise_s
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
    one, rng = model(), random.Random(1)
    found = []
    for job, draws in zip(milc_jobs(), noise_draws(len(milc_jobs())), strict=True):
        steps = one.step_times_s(job.own, job.shared_1, rng, draws[0])
        found.append((min(steps), median(steps)))
    return tuple(found)


class TrafficCase(NamedTuple):
    """What an assumption on the neighbors' traffic gives, once it is calibrated.

    Parameters
    ----------
    traffic : str
    compute_s : float
        Time of a run without messages. [s]
    noise : float
        Noise of a run. [fraction]
    slowest : Band
        Greatest of 100 runs. [s]
    best_r2 : float
        Of the metric that explains most.
    least_correlation, greatest_correlation : float
        Over the metrics.
    """

    traffic: str
    compute_s: float
    noise: float
    slowest: Band
    best_r2: float
    least_correlation: float
    greatest_correlation: float


@cache
def traffic_cases() -> tuple[TrafficCase, ...]:
    """The same calibration with no traffic of neighbors, with what is assumed, and with twice that.

    Examples
    --------
    >>> [one.traffic for one in traffic_cases()]
    ['none', 'assumed', 'double']
    """
    found, metrics = [], _metrics()
    for traffic in ("none", "assumed", "double"):
        one = model(100, traffic)
        least = _least_times(traffic=traffic, calibrated_with=traffic)
        correlations = [float(np.corrcoef(values, least)[0, 1]) for values in metrics.values()]
        found.append(
            TrafficCase(
                traffic,
                one.compute_s,
                one.run_noise,
                bands(100, traffic)["total maximum"],
                max(each * each for each in correlations),
                min(correlations),
                max(correlations),
            )
        )
    return tuple(found)


class Allocation(NamedTuple):
    """What an allocation gives MILC on 8,192 cores."""

    name: str
    mean_s: float
    slowest_s: float
    sd_s: float
    wait_h: float
    hops: float


@cache
def allocations() -> tuple[Allocation, ...]:
    """First free nodes beside one run of the list: run times, and the wait for it.

    Examples
    --------
    >>> [one.name for one in allocations()]
    ['first free nodes', 'one run or wait']
    """
    found = []
    for name, kind in (("first free nodes", "first"), ("one run or wait", "contiguous")):
        times = [time for job in run_times(allocation=kind) for time in job]
        jobs = milc_jobs(allocation=kind)
        found.append(
            Allocation(
                name,
                mean(times),
                max(times),
                float(np.std(times)),
                mean(job.wait_h for job in jobs),
                mean(job.hops_nodes for job in jobs),
            )
        )
    return tuple(found)


class PatternCase(NamedTuple):
    """How much busier the worst link of a job gets in an order than in xyz-by2 order, for one pattern of messages.

    Parameters
    ----------
    pattern : str
    xyz, nid : float
        [fraction]
    """

    pattern: str
    xyz: float
    nid: float


@cache
def patterns() -> tuple[PatternCase, ...]:
    """What losing the xyz-by2 order does to the worst link of a job of 342 nodes, by whom its tasks talk to.

    The mean of twenty placements on an aged machine, without neighbors. What a
    code loses is that, times the share of its time that it waits for messages.

    Examples
    --------
    >>> [case.pattern for case in patterns()][:2]
    ['neighbors in four dimensions', 'neighbors in three dimensions']
    """
    hopper = Machine.load("hopper")
    links, nodes = LinkMap(hopper), compute_nodes(hopper)
    tasks, width = 8192, 342
    graphs: dict[str, Graph] = {
        "neighbors in four dimensions": nearest_neighbors(grid_dimensions(tasks), 24),
        "neighbors in three dimensions": nearest_neighbors(grid_dimensions(tasks, 3), 24),
        "all-reduce": all_reduce_tree(width),
    }
    schedule = aged_machine("production", nodes=len(nodes), days=14, load=0.95)
    landed = [probe(schedule, half_day * 43_200, width).runs for half_day in range(6, 26)]
    positions = [[position for low, high in runs for position in range(low, high)] for runs in landed]
    worst: dict[str, dict[str, float]] = {}
    for order in ("xyz_by2", "xyz", "nid"):
        places = [node.coordinates for node in order_nodes(nodes, order)]
        found: dict[str, list[float]] = {}
        for job in positions:
            for name, graph in graphs.items():
                messages = ((places[job[a]], places[job[b]], float(count)) for (a, b), count in graph.items())
                found.setdefault(name, []).append(links.worst(links.loads(messages)))
            # Nodes of one Gemini talk to the same others, so pairs of Geminis are enough.
            sharing = Counter(places[position] for position in job)
            everybody = ((a, b, float(sharing[a] * sharing[b])) for a, b in combinations(sharing, 2))
            found.setdefault("everybody with everybody", []).append(links.worst(links.loads(everybody)))
        for name, values in found.items():
            worst.setdefault(name, {})[order] = mean(values)
    return tuple(
        PatternCase(name, one["xyz"] / one["xyz_by2"] - 1, one["nid"] / one["xyz_by2"] - 1)
        for name, one in worst.items()
    )


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
    messages = 2 * sum(graph.values()) / 342
    size_gb = model(runs).exchange_s * link_bandwidth_gb_s(hopper, Link((0, 0, 0), 0))
    return messages * size_gb / mean(time for job in run_times(runs) for time in job)


@cache
def _running() -> int:
    """Jobs that run at once three days after a reboot, narrow ones not bundled."""
    schedule = aged_machine("production", nodes=6384, days=4, load=0.95, smallest=1)
    instant = 3 * 86_400
    return sum(start <= instant < end for start, end in zip(schedule.start_s, schedule.end_s, strict=True))


def _tenths() -> tuple[float, float]:
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


def _checks() -> tuple[Check, ...]:
    jobs = milc_jobs()
    table = {
        row: [printed(f"table-{row}-{what}") for what in ("minimum", "mean", "maximum")]
        for row in ("total", "triplets", "minima")
    }
    singles = [np.quantile(np.array(run_times(runs)).ravel(), (0.05, 0.95)) for runs in SAMPLE_SIZES]
    spread = spread_by_cause()
    found = regressions("noise")
    quick, slow = _tenths()
    steps, times = _middle_half([least for least, _ in step_minima()]), _middle_half(_least_times())
    sizes = (
        f"in nine samples of ten, for samples of {SAMPLE_SIZES[0]} to {SAMPLE_SIZES[-1]} runs; the true size is lost"
    )
    line = "the time without exchange and the time for each message on the worst link, fitted to the table's least and mean"
    noise = "the noise of a run, fitted so that triplets take so much longer than their quickest runs"
    own = {name: one.correlation for name, one in regressions("own shape").items()}
    correlations = (
        f"correlations {min(one.correlation for one in found.values()):.2f} to {max(one.correlation for one in found.values()):.2f} "
        f"with neighbors and noise; for the shape of the job alone they are {min(own.values()):.2f} to {max(own.values()):.2f}"
    )
    reach = max(one.high for one in (bands(runs)["total maximum"] for runs in SAMPLE_SIZES))
    highest = max(one.r2.high for cause in ("own shape", "neighbors", "noise") for one in regressions(cause).values())

    def row(name: str, key: str, explanation: str = "") -> Check:
        band = _over_sizes(key)
        missed = not documented(f"variability.{name}").agrees(min(max(printed(name), band[0]), band[1]))
        return Check(
            id=f"variability.{name}",
            role="predicted",
            reproduced=band,
            reason=sizes,
            explanation=explanation if missed else "",
        )

    def calibrated(name: str, value: float, reason: str) -> Check:
        return Check(id=f"variability.{name}", role="calibrated", reproduced=value, reason=reason)

    def same(name: str, value: float, tolerance: float | None = None, why: str = "") -> Check:
        return Check(
            id=f"variability.{name}", role="identity", reproduced=value, tolerance=tolerance, tolerance_reason=why
        )

    def given(name: str, reason: str, value: float | None = None) -> Check:
        return Check(id=f"variability.{name}", role="input", reproduced=value, reason=reason)

    def shape(name: str, holds: bool, reason: str = "", explanation: str = "") -> Check:
        return Check(
            id=f"variability.{name}",
            role="shape",
            reproduced=holds,
            reason=reason,
            explanation="" if holds else explanation,
        )

    def beyond(name: str, reason: str) -> Check:
        return Check(id=f"variability.{name}", role="not modelled", reason=reason)

    everything = [time for job in run_times() for time in job]
    return (
        given("hopper-model", "the machine that is modeled"),
        same("hopper-nodes", 6384.0, 100.0, "printed with roughly, in hundreds"),
        beyond("users-report-low", "which codes the users ran is not printed"),
        beyond("users-report-high", "which codes the users ran is not printed"),
        shape("hundreds-of-jobs", _running() >= 200, f"{_running()} jobs run at once three days after a reboot"),
        shape("not-only-io", spread.all_s > 0.05 * mean(everything), "the model does no I/O, and its times vary"),
        given("milc-cores", "the job that is placed", 8192.0),
        given("example-runs", "three placements out of many"),
        shape(
            "blue-compact",
            min(job.runs for job in jobs) == 1 and max(job.runs for job in jobs) > 10,
            "a job lies in one run of the list, or in dozens; which of the placements the picture showed is lost",
        ),
        shape(
            "compact-is-faster",
            quick < slow,
            f"the quickest tenth of the jobs lies {quick:.2f} hops apart, the slowest {slow:.2f}",
            f"in the model the quickest tenth of the jobs lies {quick:.2f} hops apart, the slowest {slow:.2f}: a compact job "
            "crowds its own links",
        ),
        same("red-over-blue", 2462.33 / 887.12),
        same("blue", table["total"][0], 0.05, "the table prints one decimal of the same run"),
        Check(
            id="variability.orange",
            role="predicted",
            reproduced=(min(float(low) for low, _ in singles), max(float(high) for _, high in singles)),
            reason="nine runs of ten",
        ),
        same("red", table["total"][2], 0.05, "the table prints one decimal of the same run"),
        beyond("milc-varies-more", "how much the other benchmarks communicate is not printed"),
        given("runs-per-job", "three runs with one placement", 3.0),
        given("coordinates-logical", "distances are those of the torus"),
        shape(
            "minimum-removes-noise",
            all(
                abs(min(job) - quiet[0]) <= abs(mean(job) - quiet[0])
                for job, quiet in zip(run_times(), run_times(traffic="none", noise=False), strict=True)
            ),
            "noise and neighbors only add time, so the least is nearest to the time without them",
        ),
        calibrated("triplet-spread-small", mean(max(job) / min(job) for job in run_times()) < 1.1, noise),
        shape(
            "lognormal",
            any(lognormal_chance(runs) >= 0.05 for runs in SAMPLE_SIZES),
            explanation="the page says so of a sample that is lost. Least, mean and greatest as printed do not sit together in a "
            f"lognormal of two parameters: of 2,000 samples of {least_sample()} to {SAMPLE_SIZES[-1]} runs, at whatever spread, "
            f"{max(lognormal_chance(runs) for runs in (least_sample(), *SAMPLE_SIZES)):.1%} have the greatest so far out with the mean "
            "so near the least. With a floor they do",
        ),
        given("metrics", "each is regressed on"),
        given("milc-calls", "sends and receives make the load of the links; the all-reduce is left out", 3.0),
        given("milc-call-names", "sends and receives make the load of the links; the all-reduce is left out"),
        given("hull-by-delaunay", "volume and surface are computed so"),
        shape(
            "metrics-correlate",
            all(one.correlation > 0 for one in found.values()),
            correlations,
            correlations,
        ),
        shape(
            "metrics-inconclusive",
            all(one.r2.high < CONCLUSIVE for one in found.values()),
            f"no r-squared above {highest:.2f}, ends of the intervals included, with or without neighbors and noise",
            f"an r-squared may be as high as {highest:.2f}",
        ),
        calibrated("table-total-minimum", least_of(sorted(everything), 100), line),
        row("table-triplets-minimum", "triplets minimum"),
        row("table-minima-minimum", "minima minimum"),
        same("table-difference-minimum", table["total"][0] - table["minima"][0]),
        calibrated("table-total-mean", mean(everything), line),
        row("table-triplets-mean", "triplets mean"),
        calibrated("table-minima-mean", table["triplets"][1] / mean(everything) * mean(_least_times()), noise),
        same("table-difference-mean", table["total"][1] - table["minima"][1]),
        row(
            "table-total-maximum",
            "total maximum",
            f"no placement of the model takes more than {max(*everything, reach):.0f} s; the slowest run is in no triplet, and what befell it is not told",
        ),
        row(
            "table-triplets-maximum",
            "triplets maximum",
            "the slowest triplet run lies above what samples of the model reach",
        ),
        row("table-minima-maximum", "minima maximum"),
        same("table-difference-maximum", table["total"][2] - table["minima"][2]),
        same(
            "noise",
            100 * (table["total"][1] - table["minima"][1]) / table["minima"][1],
            0.05,
            "printed with about, to a tenth; it compares two samples",
        ),
        same("run-length", 3 * table["triplets"][1] / 60, 5.0, "printed with ~, in tens"),
        given("fftime-steps-alike", "steps differ by noise and by their neighbors' traffic"),
        given("fftime", "a run has as many steps as make its time"),
        shape("noisy-run", _noisy(), "a few runs have most of their steps a tenth above the quickest"),
        shape(
            "fftime-inconclusive",
            steps < times / 2,
            explanation=f"the middle half of the least steps spreads over {steps:.0%} of the median, that of the run times over "
            f"{times:.0%}: in the model the least step shows the job's own shape, which parts the jobs as well",
        ),
    )


STUDY = Study(
    name="variability",
    title="Why MILC took 887 to 2,462 seconds",
    part="network",
    question="How much of a code's spread comes from where its job lies, how much from its neighbors, and how much from noise?",
    checks=_checks,
    assumptions=(
        *ASSUMED,
        "The worst link of a job sets its pace; the time is a line in the messages on that link.",
        f"The printed table summarizes {SAMPLE_SIZES[0]} to {SAMPLE_SIZES[-1]} runs, half of them in triplets; the number is not printed.",
        "Noise only adds time: exponential, the same through one run; and a little on each step.",
        "Run times do not feed back on the schedule.",
        f"A metric settles the matter if it explains {CONCLUSIVE:.0%} of the variance or more.",
    ),
)
