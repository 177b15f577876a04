"""Prediction of later weeks' waits by learned rules, compared with three null models without rules."""

import random
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from statistics import fmean, median
from typing import NamedTuple

from hopperkit.traces.cluster import Cluster
from hopperkit.traces.rules.clock import Clock
from hopperkit.traces.rules.correlation import rank_correlation
from hopperkit.traces.rules.learn import learn
from hopperkit.traces.rules.site import Learned
from hopperlib.errors import InputError
from hopperlib.finding import Finding
from hopperlib.scheduling.schedule import Schedule
from hopperlib.scheduling.workload import Workload
from hopperlib.units import plain_number

# The part of the jobs that rules are learned from; the rest are predicted.
_LEARNED_FROM = 0.6
_FEWEST = 200
# Classes of jobs, by limit; a smaller one is not judged. [h]
_CLASSES_H = (1, 4, 12, 24)
_FEWEST_OF_CLASS = 30
# How many past jobs alike make a prediction, and how many make an interval.
_ALIKE, _LIKE_PREDICTIONS = 50, 200
_JITTER_S = 6
# A simulated mean wait farther from the observed one than this part of it is not that of the log.
_NEAR = 0.25
PREDICTORS = {
    "learned": "simulated with the learned rules",
    "learned and alike": "past jobs of like size and like simulated wait",
    "constant": "one constant: the median",
    "alike": "median of the last 50 similar jobs",
    "easy": "plain EASY",
}
NULL_MODELS = ("constant", "alike", "easy")


class Judged(NamedTuple):
    """How one way of predicting waits did on the later jobs.

    Parameters
    ----------
    name : str
    rank_correlation : float
        With the observed waits, job by job.
    mean_error_s : float
        Mean absolute error. [s]
    coverage : float
        Share of the waits inside of intervals that should hold 95 % of them.
    """

    name: str
    rank_correlation: float
    mean_error_s: float
    coverage: float


class JudgedClass(NamedTuple):
    """How the learned rules, and the best null model, did on a class of the later jobs.

    Parameters
    ----------
    name : str
    jobs : int
    rank_correlation, null_rank_correlation : float
    mean_error_s, null_mean_error_s : float
        [s]
    """

    name: str
    jobs: int
    rank_correlation: float
    null_rank_correlation: float
    mean_error_s: float
    null_mean_error_s: float


class Backtest(NamedTuple):
    """Rules learned from earlier jobs and tested on later ones.

    Parameters
    ----------
    rules : Learned
    findings : tuple of Finding
        Evidence for the rules.
    learned_from, judged_on : int
        How many jobs.
    judged : tuple of Judged
        In the order of `PREDICTORS`.
    classes : tuple of JudgedClass
        By limit.
    ceiling : float
        Rank correlation of two simulations of the later jobs whose submissions differ by up to five seconds: no prediction of
        single waits can be expected to do better.
    schedule : Schedule or None
        Of all jobs with known starts, as the rules simulate them.
    whole_log : bool
        Whether the rules are those of all jobs instead, so that no later jobs test them.
    """

    rules: Learned
    findings: tuple[Finding, ...]
    learned_from: int
    judged_on: int
    judged: tuple[Judged, ...]
    classes: tuple[JudgedClass, ...] = ()
    ceiling: float = 1.0
    schedule: Schedule | None = None
    whole_log: bool = False

    @property
    def best_null(self) -> Judged:
        """The null model with the highest rank correlation."""
        return max((each for each in self.judged if each.name in NULL_MODELS), key=lambda each: each.rank_correlation)

    @property
    def best(self) -> Judged:
        """The better of the two that use the learned rules."""
        return max(
            (each for each in self.judged if each.name not in NULL_MODELS), key=lambda each: each.rank_correlation
        )


def backtest(
    workload: Workload, nodes: int | Cluster, clock: Clock, *, base: Learned | None = None, with_ceiling: bool = True
) -> Backtest:
    """Learn rules from the first 60 % of the jobs and predict the waits of the others.

    A wait is predicted only from past jobs that had started when the job was submitted.

    Parameters
    ----------
    workload : Workload
        The jobs.
    nodes : int or Cluster
        Number of exclusive nodes, or the cluster.
    clock : Clock
        Clock of the log.
    base : Learned or None
        Known settings of the scheduler; None for EASY in order of submission.
    with_ceiling : bool
        Whether to simulate the later jobs twice more for the ceiling, which is 1 without.

    Raises
    ------
    InputError
        If fewer than 200 jobs have known starts.

    Examples
    --------
    A job each hour, for which the one node is free:

    >>> from hopperlib.scheduling.workload import Job
    >>> jobs = Workload(Job(n, 3600 * n, 1, 60, 60, observed_start_s=3600 * n) for n in range(200))
    >>> test = backtest(jobs, 1, Clock(0))
    >>> test.learned_from, test.judged_on, test.best.mean_error_s
    (120, 80, 0.0)
    """
    nodes = plain_number(nodes)
    rows = [job for job, start in enumerate(workload.observed_start_s) if start >= 0]
    if len(rows) < _FEWEST:
        raise InputError(
            f"{len(rows)} jobs with known starts are too few to learn from some and judge on others: {_FEWEST} are needed"
        )
    jobs = workload.of(rows)
    first = int(_LEARNED_FROM * len(jobs))
    rules, findings = learn(jobs.of(range(first)), nodes, clock, base=base)
    waits = [max(0, start - at) for start, at in zip(jobs.observed_start_s, jobs.arrival_s, strict=True)]
    schedule = rules.run(jobs, nodes, clock)
    simulated = _waits_of(schedule)
    sizes = [
        (width.bit_length(), limit.bit_length()) for width, limit in zip(jobs.nodes, jobs.requested_time_s, strict=True)
    ]
    predictions = {
        "learned": simulated,
        "learned and alike": alike(
            jobs, waits, [(*size, int(wait).bit_length()) for size, wait in zip(sizes, simulated, strict=True)]
        ),
        "constant": [median(waits[:first])] * len(jobs),
        "alike": alike(jobs, waits, sizes),
        "easy": simulated if rules == Learned() else learned_waits(jobs, nodes, clock, Learned()),
    }
    judged = tuple(_judged(name, predicted, waits, first) for name, predicted in predictions.items())
    test = Backtest(rules, tuple(findings), first, len(jobs) - first, judged, schedule=schedule)
    if with_ceiling:
        test = test._replace(ceiling=_ceiling(jobs, nodes, clock, rules, first))
    return test._replace(
        classes=tuple(_by_class(jobs, first, waits, predictions[test.best.name], predictions[test.best_null.name]))
    )


def with_rules_of_all_jobs(
    test: Backtest, workload: Workload, nodes: int | Cluster, clock: Clock, *, base: Learned | None = None
) -> Backtest:
    """Return a back-test whose rules are those of the whole log, where the earlier jobs show too little: too few of them
    waited, or the simulated mean wait is far from the observed one; otherwise the back-test as it is.

    The rules of the whole log are taken only if they predict its waits with less error.

    Parameters
    ----------
    test : Backtest
    workload : Workload
    nodes : int or Cluster
    clock : Clock
    base : Learned or None
        As for `backtest`.

    Examples
    --------
    >>> from hopperlib.scheduling.workload import Job
    >>> jobs = Workload(Job(n, 3600 * n, 1, 60, 60, observed_start_s=3600 * n) for n in range(200))
    >>> with_rules_of_all_jobs(backtest(jobs, 1, Clock(0)), jobs, 1, Clock(0)).whole_log
    False
    """
    nodes = plain_number(nodes)
    jobs = workload.of([job for job, start in enumerate(workload.observed_start_s) if start >= 0])
    waits = [max(0, start - at) for start, at in zip(jobs.observed_start_s, jobs.arrival_s, strict=True)]
    simulated = learned_waits(jobs, nodes, clock, test.rules) if test.schedule is None else _waits_of(test.schedule)
    seen_s, made_s = fmean(waits), fmean(simulated)
    if not any(finding.code == "too-few-waits" for finding in test.findings) and abs(made_s - seen_s) <= _NEAR * seen_s:
        return test
    rules, findings = learn(jobs, nodes, clock, base=base)
    if rules == test.rules:
        return test
    schedule = rules.run(jobs, nodes, clock)
    if _error(_waits_of(schedule), waits) >= _error(simulated, waits):
        return test
    return test._replace(rules=rules, findings=tuple(findings), schedule=schedule, whole_log=True)


def _ceiling(jobs: Workload, nodes: int | Cluster, clock: Clock, rules: Learned, first: int) -> float:
    """Return the agreement of two simulations of the later jobs with submissions shifted by up to five seconds."""
    waits = []
    for seed in range(2):
        rng = random.Random(seed)
        late = Workload(
            job._replace(job=row, submit_time_s=job.submit_time_s + int(_JITTER_S * rng.random()))
            for row, job in enumerate(jobs)
        )
        late.users = jobs.users
        by_row = dict(zip(late.job, learned_waits(late, nodes, clock, rules), strict=True))
        waits.append([by_row[row] for row in range(first, len(jobs))])
    return rank_correlation(*waits)


def limit_classes(workload: Workload) -> Iterator[tuple[str, list[int]]]:
    """Yield the jobs by their requested limits, with the name of each class.

    Parameters
    ----------
    workload : Workload
        Jobs with time limits.

    Examples
    --------
    >>> from hopperlib.scheduling.workload import Job
    >>> list(limit_classes(Workload([Job(1, 0, 1, 60, 3600), Job(2, 0, 1, 60, 90_000)])))
    [('limit up to 1 h', [0]), ('limit above 24 h', [1])]
    """
    of_class: dict[int, list[int]] = {}
    for job, limit in enumerate(workload.requested_time_s):
        of_class.setdefault(sum(limit > 3600 * hours for hours in _CLASSES_H), []).append(job)
    names = [f"limit up to {hours} h" for hours in _CLASSES_H] + [f"limit above {_CLASSES_H[-1]} h"]
    yield from ((names[at], jobs) for at, jobs in sorted(of_class.items()))


def _by_class(
    jobs: Workload, first: int, waits: Sequence[int], ours: Sequence[float], null: Sequence[float]
) -> Iterator[JudgedClass]:
    """Yield how two predictions did on each class of the later jobs."""
    for name, rows in limit_classes(jobs):
        later = [job for job in rows if job >= first]
        seen = [waits[job] for job in later]
        predictions = [[predicted[job] for job in later] for predicted in (ours, null)]
        if len(later) >= _FEWEST_OF_CLASS:
            yield JudgedClass(
                name,
                len(later),
                *(rank_correlation(one, seen) for one in predictions),
                *(_error(one, seen) for one in predictions),
            )


def _error(predicted: Sequence[float], seen: Sequence[float]) -> float:
    """Return the mean absolute error. [s]"""
    return fmean(abs(a - b) for a, b in zip(predicted, seen, strict=True))


def learned_waits(jobs: Workload, nodes: int | Cluster, clock: Clock, rules: Learned) -> list[float]:
    """Return the wait of each job as rules simulate it. [s]

    Parameters
    ----------
    jobs : Workload
        The jobs.
    nodes : int or Cluster
        Number of exclusive nodes, or the cluster.
    clock : Clock
        Clock of the log.
    rules : Learned
        The rules.

    Examples
    --------
    >>> from hopperlib.scheduling.workload import Job
    >>> learned_waits(Workload([Job(1, 0, 1, 60, 60), Job(2, 0, 1, 60, 60)]), 1, Clock(0), Learned())
    [0.0, 60]
    """
    nodes = plain_number(nodes)
    return _waits_of(rules.run(jobs, nodes, clock))


def _waits_of(schedule: Schedule) -> list[float]:
    """Return the wait of each job of a schedule. [s]"""
    return [max(0.0, start - at) for start, at in zip(schedule.start_s, schedule.workload.arrival_s, strict=True)]


def alike(jobs: Workload, waits: Sequence[int], classes: Sequence[tuple[int, ...]]) -> list[float]:
    """Return for each job the median wait of the last fifty of its class that had started when it was submitted.

    A class without started jobs falls back to the jobs that match in all parts but the last, and so on.

    Parameters
    ----------
    jobs : Workload
        The jobs.
    waits : sequence of int
        Wait of each job. [s]
    classes : Sequence[tuple[int, ...]]
        Class of each job, as parts from the most general to the most specific.

    Examples
    --------
    >>> from hopperlib.scheduling.workload import Job
    >>> jobs = Workload([Job(1, 0, 1, 60, 60, observed_start_s=30), Job(2, 90, 1, 60, 60, observed_start_s=90)])
    >>> alike(jobs, [30, 0], [(1,), (2,)])
    [0.0, 30.0]
    """
    past: dict[tuple[int, ...], deque[int]] = {}
    begun: list[tuple[int, int]] = []
    predicted = []
    for job, arrival in enumerate(jobs.arrival_s):
        while begun and begun[0][0] <= arrival:
            _, other = heappop(begun)
            for parts in range(len(classes[other]) + 1):
                past.setdefault(classes[other][:parts], deque(maxlen=_ALIKE)).append(waits[other])
        mine = next(
            (past[key] for parts in range(len(classes[job]), -1, -1) if (key := classes[job][:parts]) in past), None
        )
        predicted.append(float(median(mine)) if mine else 0.0)
        heappush(begun, (jobs.observed_start_s[job], job))
    return predicted


def interval_of_alike(pairs: Sequence[tuple[float, int]], predicted_wait: float) -> tuple[int, int]:
    """Return the 95 % interval of the waits with the most similar predictions, from pairs of (prediction, wait). [s]

    Parameters
    ----------
    pairs : Sequence[tuple[float, int]]
        Pairs of prediction and wait.
    predicted_wait : float
        The prediction.

    Examples
    --------
    >>> interval_of_alike([(0, 5), (0, 7), (9, 60)] * 100, 0)
    (5, 7)
    """
    # Equal predictions are mixed (by Knuth's multiplicative hash), so that their neighbors are any of them.
    mixed = sorted(range(len(pairs)), key=lambda at: (pairs[at][0], at * 2_654_435_761 % (1 << 32)))
    return _near([pairs[at][0] for at in mixed], [pairs[at][1] for at in mixed], predicted_wait)


def _near(keys: Sequence[float], waits: Sequence[int], predicted_wait: float) -> tuple[int, int]:
    """Return the central 95 % of the waits with the nearest predictions, which are sorted."""
    middle = (bisect_left(keys, predicted_wait) + bisect_right(keys, predicted_wait)) // 2
    low = max(0, min(middle - _LIKE_PREDICTIONS // 2, len(waits) - _LIKE_PREDICTIONS))
    near = sorted(waits[low : low + _LIKE_PREDICTIONS])
    return near[int(0.025 * len(near))], near[-1 - int(0.025 * len(near))]


def _judged(name: str, predicted: Sequence[float], waits: Sequence[int], first: int) -> Judged:
    """Return the accuracy of predictions for the later jobs; intervals come from the earlier ones."""
    # Equal predictions are mixed, as above.
    mixed = sorted(range(first), key=lambda job: (predicted[job], job * 2_654_435_761 % (1 << 32)))
    earlier = [waits[job] for job in mixed]
    keys = [predicted[job] for job in mixed]
    inside = 0
    for value, wait in zip(predicted[first:], waits[first:], strict=True):
        low, high = _near(keys, earlier, value)
        inside += low <= wait <= high
    later, predictions = waits[first:], predicted[first:]
    return Judged(name, rank_correlation(predictions, later), _error(predictions, later), inside / len(later))
