"""Distribution of many files over OSTs, and the time when the last OST finishes. A file-per-process dump is as slow as
its fullest OST. The load of that OST depends on how the file system selects OSTs for new files:

- ``round-robin``: each file starts where the last one ended.
- ``random``: every object is on a random OST, with no OST used twice in a file.
- ``weighted``: the same with a probability for each OST (Lustre weights by free space).

The limiting layer is the OST, or the RAID controller that several OSTs share.
"""

import math
import random
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from statistics import quantiles
from typing import NamedTuple

from hopperlib.errors import InputError, above, at_least, refusal

_ALLOCATORS = ("round-robin", "random", "weighted")
# Objects placed one by one (files of several stripes) cost time; beyond this number, fewer repetitions are made.
_MOST_OBJECTS = 1_200_000


class FileDump(NamedTuple):
    """A dump of one file for each process.

    Parameters
    ----------
    rate_gb_s : float
        All bytes divided by the time until the last OST finishes. [GB/s]
    time_s : float
        Time until the last OST finishes. [s]
    spread_s : float
        Time between the first and the last OST to finish. [s]
    """

    rate_gb_s: float
    time_s: float
    spread_s: float


def _binomial(trials: int, chance: float, draw: Callable[[], float]) -> int:
    """Draw a binomial number of successes by inversion, outward from the likeliest number."""
    if trials == 0 or chance >= 1:
        return trials
    low = high = int((trials + 1) * chance)
    # The probability changes from one number to the next by a ratio of small numbers: factorials are needed only once,
    # in the middle.
    ratio = chance / (1 - chance)
    ways = math.lgamma(trials + 1) - math.lgamma(low + 1) - math.lgamma(trials - low + 1)
    down = up = math.exp(ways + low * math.log(chance) + (trials - low) * math.log1p(-chance))
    left = draw() - up
    while left >= 0 and (low > 0 or high < trials):
        if high < trials:
            up *= (trials - high) / (high + 1) * ratio
            high += 1
            left -= up
            if left < 0:
                return high
        if low > 0:
            down *= low / ((trials - low + 1) * ratio)
            low -= 1
            left -= down
            if left < 0:
                return low
    # Rounding left a small remainder of the draw.
    return int((trials + 1) * chance)


def _deal_singles(files: int, weights: Sequence[float], draw: Callable[[], float]) -> list[int]:
    """Place files of one stripe: each OST in turn gets its share of the remaining files, with one draw each."""
    counts = []
    # Total weight of this OST and those after it.
    rests = list(accumulate(reversed(weights)))[::-1]
    for weight, rest in zip(weights, rests, strict=True):
        counts.append(_binomial(files, weight / rest, draw) if weight else 0)
        files -= counts[-1]
    return counts


def place_objects(
    files: int,
    stripe_count: int,
    osts: int,
    *,
    allocator: str,
    rng: random.Random | None = None,
    weights: Sequence[float] | None = None,
) -> list[int]:
    """Return the number of objects on each OST.

    Parameters
    ----------
    files, stripe_count, osts : int
    allocator : {"round-robin", "random", "weighted"}
    rng : random.Random or None
        Required unless round-robin; only its ``random()`` is used.
    weights : sequence of float or None
        Weight of each OST, for ``weighted``; the sum need not be 1.

    Raises
    ------
    InputError
        If a number is out of range, or a value that the allocator needs is missing.

    Examples
    --------
    >>> place_objects(7, 2, 4, allocator="round-robin")
    [4, 4, 3, 3]
    >>> import random
    >>> sum(place_objects(100, 3, 10, allocator="random", rng=random.Random(1)))
    300
    """
    at_least(0, files=files)
    if not 1 <= stripe_count <= osts:
        raise refusal("stripe_count", stripe_count, f"must be from 1 to {osts}, the OSTs")
    if allocator not in _ALLOCATORS:
        raise refusal("allocator", allocator, f"must be one of: {', '.join(_ALLOCATORS)}")
    if allocator == "round-robin" or stripe_count == osts:
        each, over = divmod(files * stripe_count, osts)
        return [each + (number < over) for number in range(osts)]
    if rng is None:
        raise refusal("allocator", allocator, "needs a random generator: rng=random.Random(seed)")
    if allocator == "weighted":
        return _deal_weighted(files, stripe_count, osts, weights or (), rng.random)
    return _deal_at_random(files, stripe_count, osts, rng.random)


def _deal_at_random(files: int, stripe_count: int, osts: int, draw: Callable[[], float]) -> list[int]:
    """Return the objects of each OST if all sets of OSTs are equally likely."""
    if stripe_count == 1:
        return _deal_singles(files, [1] * osts, draw)
    counts = [0] * osts
    # A partial shuffle that is never undone: each file's OSTs differ, and all sets are equally likely.
    order = list(range(osts))
    for _ in range(files):
        for place in range(stripe_count):
            other = place + int(draw() * (osts - place))
            ost = order[other]
            order[other] = order[place]
            order[place] = ost
            counts[ost] += 1
    return counts


def _deal_weighted(
    files: int, stripe_count: int, osts: int, weights: Sequence[float], draw: Callable[[], float]
) -> list[int]:
    """Return the objects of each OST if some OSTs are preferred."""
    positive = sum(weight > 0 for weight in weights)
    if len(weights) != osts or min(weights) < 0 or positive < stripe_count:
        rule = f"needs {osts} weights, none negative, at least {stripe_count} of them positive"
        raise refusal("allocator", "weighted", rule)
    if stripe_count == 1:
        return _deal_singles(files, weights, draw)
    counts = [0] * osts
    sums = list(accumulate(weights))
    for _ in range(files):
        # An OST that is drawn twice is redrawn, which keeps the proportions of the other probabilities.
        chosen: set[int] = set()
        while len(chosen) < stripe_count:
            chosen.add(min(bisect_right(sums, draw() * sums[-1]), osts - 1))
        for ost in chosen:
            counts[ost] += 1
    return counts


def uneven_weights(osts: int, unevenness: float = 0.15) -> list[float]:
    """Return weights of OSTs that decrease linearly from 1 + unevenness to 1 - unevenness. Lustre prefers OSTs with
    more free space; the unevenness of Hopper's OSTs is not documented, so the default is an assumption.

    Parameters
    ----------
    osts : int
        Number of OSTs.
    unevenness : float, default 0.15
        Coefficient of variation of the weights.

    Raises
    ------
    InputError
        If there is no OST.

    Examples
    --------
    >>> uneven_weights(3, 0.5)
    [1.5, 1.0, 0.5]
    """
    at_least(1, osts=osts)
    return [1 + unevenness * (1 - 2 * number / max(osts - 1, 1)) for number in range(osts)]


def file_dump(total_gb: float, objects: Sequence[int], *, peak_gb_s: float, osts_per_unit: int = 1) -> FileDump:
    """Return rate, time and spread of a dump with a given distribution of objects.

    Every OST writes at its share of the peak. With `osts_per_unit` above 1 the controller shared by this many OSTs is
    the limit, and its OSTs finish together.

    Parameters
    ----------
    total_gb : float
        Size of the dump; objects are equally large. [GB]
    objects : sequence of int
        Objects on each OST.
    peak_gb_s : float
        Peak rate of the file system. [GB/s]
    osts_per_unit : int
        OSTs of a limiting unit: 1 for the OST itself, 6 for Hopper's controllers.

    Raises
    ------
    InputError
        If nothing is written, or the OSTs do not divide into units.

    Examples
    --------
    Two OSTs of 1 GB/s, one with twice the load of the other:

    >>> file_dump(30.0, [2, 1], peak_gb_s=2.0)
    FileDump(rate_gb_s=1.5, time_s=20.0, spread_s=10.0)
    """
    times = finish_times_s(total_gb, objects, peak_gb_s=peak_gb_s, osts_per_unit=osts_per_unit)
    last = max(times)
    return FileDump(total_gb / last, last, last - min(times))


def _by_unit(values: Sequence[float], osts_per_unit: int) -> list[float]:
    """Return the sums of OSTs' values over units."""
    return [sum(values[first : first + osts_per_unit]) for first in range(0, len(values), osts_per_unit)]


def finish_times_s(total_gb: float, objects: Sequence[int], *, peak_gb_s: float, osts_per_unit: int = 1) -> list[float]:
    """Time at which each limiting unit finishes its objects. [s]

    Parameters
    ----------
    total_gb : float
        Size of the dump. [GB]
    objects : sequence of int
        Number of objects on each OST.
    peak_gb_s : float
        Peak rate of the file system. [GB/s]
    osts_per_unit : int, default 1
        OSTs per controller.

    Raises
    ------
    InputError
        If nothing is written, or the OSTs do not divide into units.

    Examples
    --------
    >>> finish_times_s(30.0, [2, 1], peak_gb_s=2.0)
    [20.0, 10.0]
    """
    above(0, total_gb=total_gb, peak_gb_s=peak_gb_s, objects=sum(objects))
    if len(objects) % osts_per_unit:
        raise refusal("osts_per_unit", osts_per_unit, f"must divide the {len(objects)} OSTs")
    unit_gb_s, object_gb = peak_gb_s / len(objects) * osts_per_unit, total_gb / sum(objects)
    return [object_gb * load / unit_gb_s for load in _by_unit(objects, osts_per_unit)]


def rate_steps(times_s: Sequence[float], peak_gb_s: float) -> list[tuple[float, float]]:
    """Rate of a dump over time, which falls as units finish one after another.

    Parameters
    ----------
    times_s : sequence of float
        Time at which each unit finishes. [s]
    peak_gb_s : float
        Rate of all units. [GB/s]

    Returns
    -------
    list of (float, float)
        Times, and the rate after each; the last rate is 0. [s], [GB/s]

    Raises
    ------
    InputError
        If there are no units.

    Examples
    --------
    >>> rate_steps([20.0, 10.0], 2.0)
    [(0.0, 2.0), (10.0, 1.0), (20.0, 0.0)]
    """
    if not times_s:
        raise InputError("times_s=() must hold at least one unit's time")
    each = peak_gb_s / len(times_s)
    ordered = sorted(times_s)
    return [(0.0, peak_gb_s)] + [(time, each * (len(ordered) - done)) for done, time in enumerate(ordered, start=1)]


def repeat_file_dump(
    total_gb: float,
    files: int,
    stripe_count: int,
    osts: int,
    *,
    allocator: str,
    peak_gb_s: float,
    repetitions: int,
    rng: random.Random,
    osts_per_unit: int = 1,
    weights: Sequence[float] | None = None,
) -> list[FileDump]:
    """Return repeated dumps, each with a new random placement of the files.

    Parameters
    ----------
    total_gb : float
        Size of the dump. [GB]
    files : int
        Number of files.
    stripe_count : int
        Stripe count.
    osts : int
        Number of OSTs.
    allocator : str
        Lustre's method of choosing OSTs.
    peak_gb_s : float
        Peak rate of the file system. [GB/s]
    repetitions : int
        Number of random placements.
    rng : random.Random
        Source of random numbers.
    osts_per_unit : int, default 1
        OSTs per controller.
    weights : sequence of float or None
        Weights; None for equal ones.

    Raises
    ------
    InputError
        As for `place_objects` and `file_dump`; or if there are no repetitions.

    Examples
    --------
    The documented dump of 20,000 files, one stripe each at random, achieves about 28 of 35 GB/s:

    >>> import random
    >>> from statistics import mean
    >>> dumps = repeat_file_dump(29700, 20000, 1, 156, allocator="random", peak_gb_s=35, repetitions=20, rng=random.Random(1))
    >>> 27.5 < mean(dump.rate_gb_s for dump in dumps) < 29
    True
    """
    at_least(1, repetitions=repetitions)
    deal = partial(place_objects, files, stripe_count, osts, allocator=allocator, rng=rng, weights=weights)
    deals = (deal() for _ in range(repetitions))
    return [file_dump(total_gb, objects, peak_gb_s=peak_gb_s, osts_per_unit=osts_per_unit) for objects in deals]


def affordable_repetitions(repetitions: int, files: int, stripe_count: int, allocator: str) -> int:
    """Number of placements to compute: one without randomness, and fewer than requested if a placement takes long.

    Parameters
    ----------
    repetitions : int
        Number of random placements.
    files : int
        Number of files.
    stripe_count : int
        Stripe count.
    allocator : str
        Lustre's method of choosing OSTs.

    Examples
    --------
    >>> [affordable_repetitions(50, 20_000, count, "random") for count in (1, 2, 4)], affordable_repetitions(50, 20_000, 4, "round-robin")
    ([50, 30, 15], 1)
    """
    if allocator == "round-robin":
        return 1
    if stripe_count == 1:
        return repetitions
    work = files * stripe_count * (2 if allocator == "weighted" else 1)
    return max(1, min(repetitions, _MOST_OBJECTS // work))


def central_range(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of the range of nine in ten values; both are the same for a single value.

    Parameters
    ----------
    values : sequence of float
        At least one value.

    Examples
    --------
    >>> central_range([float(number) for number in range(101)]), central_range([3.0])
    ((5.0, 95.0), (3.0, 3.0))
    """
    if len(values) < 2:
        return values[0], values[0]
    parts = quantiles(values, n=20, method="inclusive")
    return parts[0], parts[-1]
