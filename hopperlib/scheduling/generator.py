"""Workloads like the two documented ones of Hopper. Two mixes of job sizes are documented for two periods; they are not
the same:

- ``early``: early users, February to April 2011: about half of the hours in
  jobs of 16,384 cores or more, over 20 % in 65,536 or more [1]_.
- ``production``: charged production, 2012: about 40 % of the nodes in jobs of
  more than 8 k cores [2]_.

A mix is a table of size classes, each with its share of the node-hours. The shares that a source prints are calibrated
(the tables reproduce them); the distribution within a class, the run times and the requested times are assumed. Results
derived from a workload are predicted: waits, holes, spread.

Random numbers come from ``rng.random()`` through tables only, so that every
Python draws the same jobs.

References
----------
.. [1] K. Antypas and Y. He, CUG 2011, sec. 1, on Figure 3.
.. [2] Y. He and K. Antypas, CUG 2012, slide Hopper Job Sizes Breakdown.
"""

import random
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple

from hopperlib.errors import InputError, refusal
from hopperlib.scheduling.workload import Workload


class SizeClass(NamedTuple):
    """A class of job sizes: smallest and largest number of nodes, share of the node-hours, longest limit. [h]"""

    low: int
    high: int
    share: float
    max_hours: float


MIXES: dict[str, tuple[SizeClass, ...]] = {
    # From 683 nodes (16,384 cores): 0.28 + 0.22 = 0.50. From 2,731 nodes (65,536 cores): 0.22.
    "early": (
        SizeClass(1, 1, 0.03, 48),
        SizeClass(2, 16, 0.10, 48),
        SizeClass(17, 128, 0.15, 48),
        SizeClass(129, 682, 0.22, 24),
        SizeClass(683, 2730, 0.28, 24),
        SizeClass(2731, 6100, 0.22, 12),
    ),
    # From 342 nodes (more than 8 k cores): 0.14 + 0.16 + 0.08 + 0.02 = 0.40.
    "production": (
        SizeClass(1, 1, 0.04, 48),
        SizeClass(2, 16, 0.14, 48),
        SizeClass(17, 128, 0.22, 48),
        SizeClass(129, 341, 0.20, 36),
        SizeClass(342, 682, 0.14, 36),
        SizeClass(683, 2048, 0.16, 36),
        SizeClass(2049, 4096, 0.08, 24),
        SizeClass(4097, 6100, 0.02, 12),
    ),
}

# : Properties of generated workloads that no source gives.
ASSUMED = (
    "Within a class, sizes are spread evenly on a logarithmic scale and four in ten are rounded to a power of two.",
    "Jobs request half an hour to two days, by a table of limits.",
    "One job in twelve runs to its limit; the others end earlier, half of them within a third of it.",
    "Nights bring half as many jobs as working hours, weekends six in ten.",
)

# Limits that jobs request [h], with weights.
_LIMITS_H = (0.5, 1.0, 2.0, 4.0, 6.0, 12.0, 24.0, 36.0, 48.0)
_LIMIT_WEIGHTS = (30, 14, 10, 8, 14, 10, 8, 4, 2)
# Run time as a share of the limit at equal steps of probability, for jobs that end early.
_RUN_SHARES = (0.002, 0.02, 0.05, 0.10, 0.18, 0.28, 0.40, 0.54, 0.70, 0.86, 0.99)
_RUN_STEPS = tuple(after - before for before, after in pairwise(_RUN_SHARES))
_LIMITS_S = tuple(int(3600 * hours) for hours in _LIMITS_H)
_TO_THE_LIMIT = 1 / 12
_ROUNDED = 0.4
# Bisection steps of a class, and the largest first size of a class whose widths are tabulated, because it has many
# jobs.
_BITS, _NARROW = 16, 17
# Weight of each hour of a day, and of each day from Monday.
_HOURS = (6, 5, 5, 5, 5, 5, 6, 7, 9, 11, 12, 12, 11, 12, 12, 12, 12, 11, 10, 9, 8, 8, 7, 6)
_DAYS = (10, 10, 10, 10, 10, 6, 6)
_CYCLE = tuple(accumulate((day * hour for day in _DAYS for hour in _HOURS), initial=0))


def interpolate(table: Sequence[float], u: float) -> float:
    """Return the value at u, from 0 to 1, of a table with equal steps.

    Parameters
    ----------
    table : sequence of float
        Values at equal steps of probability.
    u : float
        The probability, from 0 to 1.

    Examples
    --------
    >>> interpolate((0.0, 1.0, 5.0), 0.75)
    3.0
    """
    place = u * (len(table) - 1)
    step = min(int(place), len(table) - 2)
    return table[step] + (place - step) * (table[step + 1] - table[step])


@lru_cache(maxsize=4096)
def _middle(low: float, high: float) -> float:
    """Return the geometric mean by Heron's rule."""
    middle = (low + high) / 2
    for _ in range(6):
        before, middle = middle, (middle + low * high / middle) / 2
        if middle == before:
            break
    return middle


def _width(size: SizeClass, u: float) -> int:
    """Return a number of nodes, uniform on a logarithmic scale, by bisection: without logarithms it is the same
    everywhere.
    """
    low, high = float(size.low), float(size.high + 1)
    # One bit of u per step: below or above the geometric mean, the middle of the logarithmic scale.
    for _ in range(_BITS):
        if int(low) + 1 >= high:
            break  # One width is left.
        middle = _middle(low, high)
        u *= 2
        if u >= 1:
            u -= 1
            low = middle
        else:
            high = middle
    return min(max(int(low), size.low), size.high)


@lru_cache
def _width_steps(size: SizeClass) -> list[float]:
    """Return the u at which each next width of a narrow class begins: most jobs are narrow, and bisection would be
    repeated for each.
    """
    parts = range(1 << _BITS)
    widths = range(size.low + 1, size.high + 1)
    return [
        bisect_left(parts, width, key=lambda part: _width(size, part / len(parts))) / len(parts) for width in widths
    ]


def _rounded(size: SizeClass, width: int) -> int:
    """Return the power of two closest to a width, if its class contains it."""
    power = 1 << (width.bit_length() - 1)
    # The midpoint between two powers of two is one and a half times the lower.
    nearest = power if 2 * width < 3 * power else 2 * power
    return nearest if size.low <= nearest <= size.high else width


@lru_cache
def _limit_steps(max_hours: float) -> tuple[int, ...]:
    """Return the cumulative weights of the limits that a class may request."""
    return tuple(
        accumulate(weight for hours, weight in zip(_LIMITS_H, _LIMIT_WEIGHTS, strict=True) if hours <= max_hours)
    )


def _mix_named(name: str) -> Sequence[SizeClass]:
    """Return one of the known mixes."""
    if name not in MIXES:
        raise refusal("mix", name, f"must be one of: {', '.join(MIXES)}")
    return MIXES[name]


def _check_amounts(days: int, load: float, debug_fraction: float) -> None:
    """Reject amounts from which no workload can be drawn."""
    if days < 1 or load <= 0 or not 0 <= debug_fraction < 1:
        raise InputError(
            f"days={days} must be at least 1, load={load} above 0, debug_fraction={debug_fraction} from 0 to below 1"
        )


def _workload_of(drawn: list[tuple[int, int, int, int, str]]) -> Workload:
    """Return jobs by submission, each with random time, nodes, run time, requested time and queue."""
    drawn.sort()
    names = ("submit_time_s", "nodes", "run_time_s", "requested_time_s", "queue")
    columns = dict(zip(names, zip(*drawn, strict=True), strict=True)) if drawn else dict.fromkeys(names, ())
    return Workload.of_columns(job=range(1, len(drawn) + 1), **columns)


def draw_workload(
    mix: str | Sequence[SizeClass],
    *,
    nodes: int,
    days: int,
    load: float,
    rng: random.Random,
    debug_fraction: float = 0.0,
) -> Workload:
    """Return jobs submitted over some days.

    Each class is drawn until its share of the node-hours is used, so that the shares match the table.

    Parameters
    ----------
    mix : str or sequence of SizeClass
        A name of `MIXES`, or a custom table.
    nodes : int
        Nodes of the machine; wider jobs are cut to it.
    days : int
        Days over which jobs are submitted, the first a Monday. [d]
    load : float
        Requested node-hours over those available. [fraction]
    rng : random.Random
    debug_fraction : float
        Share of the load that comes as debug jobs (queue ``debug``, up to 512
        nodes and half an hour) instead of the mix. [fraction]

    Raises
    ------
    InputError
        If the mix is unknown or a number is out of range.

    Examples
    --------
    >>> jobs = draw_workload("early", nodes=6384, days=28, load=0.9, rng=random.Random(1))
    >>> round(jobs.node_seconds / (6384 * 28 * 86400), 2)
    0.9
    >>> round(share_at_least(jobs, 683), 2), round(share_at_least(jobs, 2731), 2)
    (0.5, 0.22)
    """
    if isinstance(mix, str):
        mix = _mix_named(mix)
    _check_amounts(days, load, debug_fraction)
    total = load * nodes * days * 86400
    classes = [(size, "regular", size.share * (1 - debug_fraction)) for size in mix]
    classes.append((SizeClass(1, 512, 0.0, 0.5), "debug", debug_fraction))
    drawn: list[tuple[int, int, int, int, str]] = []
    # One loop without calls: a year of the machine is a million jobs, and a page generates two weeks at every change of
    # a control.
    draw, weeks, end, cycle = rng.random, (days + 6) // 7, days * 86400, _CYCLE[-1]
    for size, queue, share in classes:
        left = share * total
        if size.low > nodes:
            continue
        steps = _limit_steps(size.max_hours)
        widths = _width_steps(size) if size.low <= _NARROW else None
        while left > 0:
            u = draw()
            width = _width(size, u) if widths is None else size.low + bisect_right(widths, u)
            width = min(_rounded(size, width) if draw() < _ROUNDED else width, nodes)
            limit = _LIMITS_S[bisect_right(steps, draw() * steps[-1])]
            run = limit if draw() < _TO_THE_LIMIT else 0
            place = draw() * (len(_RUN_SHARES) - 1)
            if not run:
                step = int(place)
                run = max(1, int(limit * (_RUN_SHARES[step] + (place - step) * _RUN_STEPS[step])))
            # The last job is included if that is closer to the share.
            if width * run > 2 * left:
                break
            left -= width * run
            # A random time: a week and an hour in it by the weekly cycle, then a second.
            submit = end
            while submit >= end:
                week = int(draw() * weeks)
                hour = bisect_right(_CYCLE, draw() * cycle) - 1
                submit = (week * 168 + hour) * 3600 + int(draw() * 3600)
            drawn.append((submit, width, run, limit, queue))
    return _workload_of(drawn)


def share_at_least(workload: Workload, nodes: int) -> float:
    """Share of the node-hours in jobs of at least this size. [fraction]

    Parameters
    ----------
    workload : Workload
        The jobs.
    nodes : int
        Smallest size that counts.

    Examples
    --------
    >>> from hopperlib.scheduling.workload import Job
    >>> share_at_least(Workload([Job(1, 0, 10, 60, 60), Job(2, 0, 30, 60, 60)]), 30)
    0.75
    """
    wide = sum(width * run for width, run in zip(workload.nodes, workload.run_time_s, strict=True) if width >= nodes)
    return wide / workload.node_seconds
