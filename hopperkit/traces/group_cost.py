"""Run time per additional group, and whether one group is worth the wait, from a site's trace.

Only similar jobs (same user, width, limit and queue) are compared: log run time is regressed on the number of groups,
with one intercept per set of similar jobs. Anything else that varies with the number of groups, above all the load of
the machine, is part of the slope: it is an association, not proof that groups were the cause.

The wait for one group is replayed: from the moment a job started in several groups, how long until one group had room
for all of it, with all other jobs as they ran. A longer wait also affects later jobs; that is left out.
"""

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from hopperlib.errors import refusal
from hopperlib.network.runtime.power import power_of_slope
from hopperlib.student import t_quantile

# : The growth in run time per additional group for which the power is stated. [fraction]
STATED_EFFECT = 0.03


class Ran(NamedTuple):
    """One job that ran: its kind, run time, start, groups touched, and its nodes in each group."""

    kind: Hashable
    run_time_s: float
    start_s: float
    nodes: Mapping[int, int]

    @property
    def groups(self) -> int:
        """Groups touched."""
        return len(self.nodes)


class GroupCost(NamedTuple):
    """Run time per additional group.

    Parameters
    ----------
    per_group, low, high : float
        Growth of run time, and the ends of its 95 % interval. [fraction]
    power : float
        Chance that a growth of `STATED_EFFECT` would have been seen. [fraction]
    jobs, kinds : int
        That were compared.
    noise : float
        Standard deviation of run times among similar jobs, with groups accounted for. [fraction]
    """

    per_group: float
    low: float
    high: float
    power: float
    jobs: int
    kinds: int
    noise: float

    @property
    def seen(self) -> bool:
        """Whether the interval leaves out nothing at all."""
        return self.low > 0 or self.high < 0


def cost_of_groups(jobs: Iterable[Ran]) -> GroupCost | None:
    """Estimate run time per additional group; None if no similar jobs ran in different numbers of groups.

    Parameters
    ----------
    jobs : iterable of Ran
        Jobs with their groups and run times.

    Examples
    --------
    Two sets of similar jobs; each additional group added ten percent, with a little noise:

    >>> noise = (0.001, -0.001, 0.002, -0.002)
    >>> jobs = [Ran(kind, 600 * kind * 1.1**g * (1 + e), 0, dict.fromkeys(range(g + 1), 8))
    ...         for kind in (1, 2) for g in (0, 1, 2) for e in noise]
    >>> cost = cost_of_groups(jobs)
    >>> round(cost.per_group, 3), cost.low < 0.1 < cost.high, cost.jobs, cost.kinds
    (0.1, True, 24, 2)
    """
    by_kind: dict[Hashable, list[Ran]] = defaultdict(list)
    for job in jobs:
        if job.run_time_s > 0:
            by_kind[job.kind].append(job)
    compared = [alike for alike in by_kind.values() if len({job.groups for job in alike}) > 1]
    x, y = _within(compared)
    freedom = len(x) - len(compared) - 1
    if freedom < 2:
        return None
    squares = sum(each * each for each in x)
    slope = sum(a * b for a, b in zip(x, y, strict=True)) / squares
    left = sum((b - slope * a) ** 2 for a, b in zip(x, y, strict=True))
    error = math.sqrt(left / freedom / squares)
    margin = t_quantile(0.975, freedom) * error
    power = power_of_slope(math.log1p(STATED_EFFECT), error, freedom) if error else 1.0
    per_group, low, high = (math.expm1(slope + margin * side) for side in (0, -1, 1))
    return GroupCost(per_group, low, high, power, len(x), len(compared), math.sqrt(left / freedom))


def _within(kinds: Sequence[Sequence[Ran]]) -> tuple[list[float], list[float]]:
    """Return groups and logarithms of run times, each less the mean of its kind."""
    x: list[float] = []
    y: list[float] = []
    for alike in kinds:
        groups, times = [float(job.groups) for job in alike], [math.log(job.run_time_s) for job in alike]
        x += [each - fmean(groups) for each in groups]
        y += [each - fmean(times) for each in times]
    return x, y


class WaitForOne(NamedTuple):
    """Effect of waiting for one group, for jobs that fit in one but ran in several.

    Parameters
    ----------
    jobs : int
        Such jobs.
    in_time : float
        Share for which one group had room within the limit. [fraction]
    sooner : float
        Share that would have ended sooner. [fraction]
    mean_gain_s : float
        By which they would have ended sooner on average; below 0: later. [s]
    """

    jobs: int
    in_time: float
    sooner: float
    mean_gain_s: float


def wait_for_one(
    jobs: Sequence[Ran], group_sizes: Mapping[int, int], per_group: float, *, limit_s: float
) -> WaitForOne | None:
    """Estimate the effect of ``--switches=1@limit``; None if no job that fits in one group ran in several.

    Parameters
    ----------
    jobs : sequence of Ran
        All jobs of the machine: nodes that no job of the trace holds count as free.
    group_sizes : mapping
        Nodes of each group.
    per_group : float
        Cost of an additional group. [fraction]
    limit_s : float
        How long a job waits for one group before it takes any. [s]

    Raises
    ------
    InputError
        If the limit is negative.

    Examples
    --------
    Two groups of four nodes. A job of four nodes starts at 100 in both; another frees its half of group 0 at 160.

    >>> jobs = [Ran("a", 160, 0, {0: 2}), Ran("b", 600, 100, {0: 2, 1: 2})]
    >>> wait = wait_for_one(jobs, {0: 4, 1: 2}, 0.2, limit_s=7200)
    >>> wait.in_time, wait.sooner, round(wait.mean_gain_s)
    (1.0, 1.0, 40)
    """
    if limit_s < 0:
        raise refusal("limit_s", limit_s, "must not be negative: it is a wait")
    held = _held(jobs)
    largest = max(group_sizes.values(), default=0)
    gains, waits = [], []
    for job in jobs:
        nodes = sum(job.nodes.values())
        if job.groups < 2 or nodes > largest:
            continue
        wait = min(_room_at(held[g], size, nodes, job, g) for g, size in group_sizes.items()) - job.start_s
        saved = job.run_time_s * (1 - (1 + per_group) ** (1 - job.groups))
        gains.append(saved - wait if wait <= limit_s else -limit_s)
        waits.append(wait)
    if not gains:
        return None
    return WaitForOne(
        jobs=len(gains),
        in_time=fmean(wait <= limit_s for wait in waits),
        sooner=fmean(gain > 0 for gain in gains),
        mean_gain_s=fmean(gains),
    )


def _held(jobs: Sequence[Ran]) -> dict[int, tuple[list[float], list[int]]]:
    """Return for each group when the nodes that jobs hold change, and how many they hold from then on."""
    changes: dict[int, Counter[float]] = defaultdict(Counter)
    for job in jobs:
        for group, nodes in job.nodes.items():
            changes[group][job.start_s] += nodes
            changes[group][job.start_s + job.run_time_s] -= nodes
    held = defaultdict[int, tuple[list[float], list[int]]](lambda: ([], []))
    for group, change in changes.items():
        times, total, levels = sorted(change), 0, []
        for time in times:
            total += change[time]
            levels.append(total)
        held[group] = times, levels
    return held


def _room_at(held: tuple[list[float], list[int]], size: int, nodes: int, job: Ran, group: int) -> float:
    """Return when a group has room for a job that has not started, from its start on; infinity if never."""
    if size < nodes:
        return math.inf
    times, levels = held
    own, until = job.nodes.get(group, 0), job.start_s + job.run_time_s
    at = bisect_right(times, job.start_s) - 1
    time = job.start_s
    while True:
        level = levels[at] if at >= 0 else 0
        if size - level + (own if time < until else 0) >= nodes:
            return time
        at += 1
        if at >= len(times):
            return math.inf
        time = times[at]
