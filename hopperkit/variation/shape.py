"""One group, two, a drift, a step, a few slow runs, or noise: the shape of run times before any column is used."""

import math
import random
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Literal, NamedTuple

from hopperkit.variation.dip import FEWEST as FEWEST_TO_DIP
from hopperkit.variation.dip import chance_of_dip, dip
from hopperkit.variation.order import Order, order_of, slope_of
from hopperkit.variation.robust import location, spread_of
from hopperkit.variation.slow import FEWEST as FEWEST_WITH_TAIL
from hopperkit.variation.slow import slow_runs

Kind = Literal["two groups", "step", "drift", "wanders", "few slow", "few fast", "one group", "too few"]
# Share of data sets without a shape in which one is reported, of each kind.
LEVEL = 0.02
# A group has this share of the runs at least, and two of them.
_LEAST_GROUP = 0.15
# Without a test, two groups are separate if the gap is this many times the range of the others, and at least this
# large.
_TIMES_THE_REST, _LEAST_GAP = 4.0, 0.02
# Tests need at least this many runs.
_FEW = 12
_MOST_DECIMALS = 6


class Shape(NamedTuple):
    """Shape of the distribution of run times.

    Parameters
    ----------
    kind : str
        One of `Kind`.
    slow : tuple of int
        Places of the slow group, of the slow runs, or of the runs after a step that made them slower; of fast runs with
        "few fast".
    ratio : float
        Slow over fast, as medians.
    chances : dict of str to float
        Probability of the same result for homogeneous or shuffled runs, by test. [fraction]
    order : Order
    spread : float
        Standard deviation of ordinary runs around their level. [difference of logarithms]
    tested : bool
        Whether the kind was found by a test; False where there were too few runs for one.
    """

    kind: Kind
    slow: tuple[int, ...]
    ratio: float
    chances: dict[str, float]
    order: Order
    spread: float
    tested: bool = True


def shape_of(times: Sequence[float], rng: random.Random, *, ordered: bool = True) -> Shape:
    """Shape of run times.

    Parameters
    ----------
    times : sequence of float
        All above 0, in order of time where that is known.
    rng : random.Random
        Of the shuffles.
    ordered : bool
        Whether the order means anything.

    Examples
    --------
    >>> found = shape_of([1127.2, 1122.4, 369.2, 365.1, 370.8, 1119.4, 372.0, 368.9], random.Random(1))
    >>> found.kind, found.slow, round(found.ratio, 2)
    ('two groups', (0, 1, 5), 3.04)
    """
    logs = [math.log(time) for time in untied(times)]
    # Ties stay ties in the order: spread over a step, they would rise within each.
    order = order_of([math.log(time) for time in times], rng) if ordered else Order("", 0.0, 0, 1.0, False)
    if len(times) > 1 and len(set(times)) == 1:
        return Shape("one group", (), 1.0, {}, order, 0.0)
    slowest, fastest = slow_runs(logs), slow_runs([-log for log in logs])
    two = chance_of_dip(dip(logs), len(logs)) if len(logs) >= FEWEST_TO_DIP else 1.0
    chances = {"two groups": two, "order": order.chance, "few slow": slowest.chance, "few fast": fastest.chance}
    if len(logs) < FEWEST_WITH_TAIL and two > LEVEL:
        return _too_few(logs, chances, order)
    kind = _kind(chances, order)
    if kind == "one group" and len(logs) < _FEW and (apart := _apart(logs)):
        return _untested(logs, *apart, chances, order)
    slow = _slow_of_kind(kind, logs, order, slowest.number if kind == "few slow" else fastest.number)
    return Shape(kind, slow, _ratio(logs, slow, kind, order), chances, order, _spread(logs, slow, kind))


def _slow_of_kind(kind: str, logs: Sequence[float], order: Order, number: int) -> tuple[int, ...]:
    """Return the runs that a shape sets apart: the slow ones, or the fast ones if only those are few."""
    if kind == "two groups":
        return _slow_group(logs)
    if kind in ("few slow", "few fast"):
        sign = -1 if kind == "few slow" else 1
        return tuple(sorted(sorted(range(len(logs)), key=lambda place: sign * logs[place])[:number]))
    if kind == "step":
        sides = range(order.at), range(order.at, len(logs))
        return tuple(sides[order.change > 0])
    return ()


def untied(times: Sequence[float]) -> list[float]:
    """Times with ties spread evenly over the step to which they were rounded.

    Runs printed in whole seconds form clusters that are not groups.

    Parameters
    ----------
    times : sequence of float
        Run times. [s]

    Examples
    --------
    >>> untied([10, 10, 11, 12])
    [9.75, 10.25, 11.0, 12.0]
    """
    step = step_of(times)
    result, places = [float(time) for time in times], {}  # type: list[float], dict[float, list[int]]
    for place, time in enumerate(times):
        places.setdefault(time, []).append(place)
    for time, several in places.items():
        for number, place in enumerate(several):
            result[place] = max(time + step * ((number + 0.5) / len(several) - 0.5), time / 2)
    return result


def step_of(times: Sequence[float]) -> float:
    """Largest step of which all times are multiples, to at most six decimals; 0 for one time.

    Parameters
    ----------
    times : sequence of float
        Run times. [s]

    Examples
    --------
    >>> step_of([10.5, 11, 13.5]), step_of([10, 20, 40])
    (0.5, 10.0)
    """
    whole = [round(time * 10**_MOST_DECIMALS) for time in set(times)]
    return math.gcd(*whole) / 10**_MOST_DECIMALS if len(whole) > 1 else 0.0


def _kind(chances: dict[str, float], order: Order) -> Kind:
    """The kind that explains most: groups before a step, a step before slow runs, those before a drift."""
    found = {name for name, chance in chances.items() if chance <= LEVEL}
    if "order" in found and order.kind == "step" and not order.wanders:
        return "step"
    if "two groups" in found:
        return "two groups"
    if "few slow" in found and chances["few slow"] <= chances["few fast"]:
        return "few slow"
    if "few fast" in found:
        return "few fast"
    if "order" in found:
        return "wanders" if order.wanders else "drift"
    return "one group"


def _slow_group(logs: Sequence[float]) -> tuple[int, ...]:
    """Places of the slower of two groups: cut where squares within both are least."""
    by_time = sorted(range(len(logs)), key=logs.__getitem__)
    values = [logs[place] for place in by_time]
    least = max(1 if len(values) < 6 else 2, math.floor(_LEAST_GROUP * len(values)))
    sums = [0.0]
    for value in values:
        sums.append(sums[-1] + value)
    n = len(values)

    def between(cut: int) -> float:
        low, high = sums[cut] / cut, (sums[n] - sums[cut]) / (n - cut)
        return cut * (n - cut) * (high - low) ** 2

    cut = max(range(least, n - least + 1), key=between)
    return tuple(sorted(by_time[cut:]))


def _ratio(logs: Sequence[float], slow: Sequence[int], kind: Kind, order: Order) -> float:
    """Slow over fast, as medians; of a drift the last run over the first."""
    if kind in ("drift", "wanders"):
        return math.exp(order.change)
    if not slow:
        return 1.0
    chosen = set(slow)
    rest = [log for place, log in enumerate(logs) if place not in chosen]
    return math.exp(median(logs[place] for place in slow) - median(rest))


def _spread(logs: Sequence[float], slow: Sequence[int], kind: Kind) -> float:
    """Spread of ordinary runs: within groups, around a drift, without slow runs."""
    chosen = set(slow)
    rest = [log for place, log in enumerate(logs) if place not in chosen]
    if kind in ("two groups", "step"):
        sides = [rest, [logs[place] for place in slow]]
        residuals = [log - median(side) for side in sides for log in side]
    elif kind in ("drift", "wanders"):
        slope = slope_of(logs)
        residuals = [log - slope * place for place, log in enumerate(logs)]
    else:
        residuals = rest
    if len(residuals) < 2:
        return 0.0
    return location(residuals).spread or spread_of(residuals)


def _apart(logs: Sequence[float]) -> tuple[Kind, tuple[int, ...]] | None:
    """Runs beyond a gap much wider than the rest, for too few runs to test; None if there is none."""
    by_time = sorted(range(len(logs)), key=logs.__getitem__)
    values = [logs[place] for place in by_time]
    if len(values) < 3:
        return None
    gaps = [b - a for a, b in pairwise(values)]
    cut = max(range(len(gaps)), key=gaps.__getitem__)
    rest = max(values[cut] - values[0], values[-1] - values[cut + 1])
    if gaps[cut] <= max(_LEAST_GAP, _TIMES_THE_REST * rest):
        return None
    slow = tuple(sorted(by_time[cut + 1 :]))
    if len(slow) == 1:
        return "few slow", slow
    # Of three runs none is the usual one.
    return ("few fast", (by_time[0],)) if cut == 0 and len(values) > 3 else ("two groups", slow)


def _untested(
    logs: Sequence[float], kind: Kind, slow: tuple[int, ...], chances: dict[str, float], order: Order
) -> Shape:
    return Shape(kind, slow, _ratio(logs, slow, kind, order), chances, order, _spread(logs, slow, kind), False)


def _too_few(logs: Sequence[float], chances: dict[str, float], order: Order) -> Shape:
    """Result for too few runs to test: a gap that is much wider than the rest, or nothing."""
    if apart := _apart(logs):
        return _untested(logs, *apart, chances, order)
    return Shape("too few", (), 1.0, chances, order, spread_of(logs) if len(logs) > 1 else 0.0, False)
