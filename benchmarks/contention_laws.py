"""Hold laws of contention against public curves, each source left out in turn: ``python -m benchmarks.contention_laws``.

A law predicts a curve (``data/contention-curves.csv``) from its first value, that of one user alone, and its ceiling, the
best value of the curve. What else a law needs, and how far off it may be, it learns from the curves of other sources. Every
curve weighs the same. Where a kind has a single source a system is left out instead, which the table says.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from hopperlib.contention.saturation import throughput

FILE = Path(__file__).parents[1] / "data" / "contention-curves.csv"
# Users of a network curve are pairs of nodes.
_SHARPNESSES = (0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 12.0)
_KNEES = (1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0)
_MACHINES = ("CSD3", "ARCHER2", "ARCHER", "Cirrus", "Fulhame", "Isambard")


@dataclass(frozen=True)
class Curve:
    """A public curve: users and throughput."""

    name: str
    kind: str
    source: str
    system: str
    users: tuple[float, ...]
    values: tuple[float, ...]

    @property
    def one(self) -> float:
        """Throughput of one user alone."""
        return self.values[0]

    @property
    def ceiling(self) -> float:
        """The best of the curve."""
        return max(self.values)


def read_curves(path: Path = FILE) -> list[Curve]:
    """Return all curves; times are turned into rates."""
    curves = []
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            values = [float(value) for value in row["values"].split()]
            rates = [1 / value for value in values] if row["unit"] == "s" else values
            source = row["source"] if row["source"].startswith("gist") else row["source"].split()[0]
            system = next((name for name in _MACHINES if row["system"].startswith(name)), row["system"].split(",")[0])
            users = tuple(float(user) for user in row["users"].split())
            source = "JuliaPerf" if source.startswith("JuliaPerf") else source
            curves.append(Curve(row["curve"], row["kind"], source, system, users, tuple(rates)))
    return curves


def _mva(users: int, one: float, ceiling: float) -> float:
    """Exact mean value analysis of one server with thinking users."""
    service, queue, rate = 1 / ceiling, 0.0, one
    thinking = max(0.0, 1 / one - service)
    for population in range(1, users + 1):
        response = service * (1 + queue)
        rate = population / (thinking + response)
        queue = rate * response
    return rate


def _knee(users: float, one: float, ceiling: float, knee: float) -> float:
    """A straight line in logarithms up to the ceiling, which is reached `knee` times later than by `min`."""
    last = max(1.0, knee * ceiling / one)
    if users >= last or one >= ceiling:
        return ceiling
    return one * math.pow(users, min(1.0, math.log(ceiling / one) / math.log(last)))


Law = Callable[[float, float, float, float], float]
#: Laws by name, each with the values that its parameter may have.
LAWS: dict[str, tuple[Law, tuple[float, ...]]] = {
    "linear": (lambda n, one, ceiling, _: n * one, (0.0,)),
    "flat": (lambda n, one, ceiling, _: ceiling, (0.0,)),
    "min": (lambda n, one, ceiling, _: min(n * one, ceiling), (0.0,)),
    "closed queue": (lambda n, one, ceiling, _: throughput(n, one, ceiling, sharpness=1.0), (0.0,)),
    "mean value analysis": (lambda n, one, ceiling, _: _mva(round(n), one, ceiling), (0.0,)),
    "knee": (_knee, _KNEES),
    "soft minimum": (lambda n, one, ceiling, p: throughput(n, one, ceiling, sharpness=p), _SHARPNESSES),
}


class Point(NamedTuple):
    """A predicted point: logarithm of measured over predicted, the interval of other curves, whether it is the ceiling."""

    curve: Curve
    miss: float
    low: float
    high: float
    is_ceiling: bool


def misses(curve: Curve, law: Law, parameter: float) -> list[float]:
    """Return the logarithms of measured over predicted values, beyond the first."""
    pairs = zip(curve.users[1:], curve.values[1:], strict=True)
    return [math.log(value / law(n, curve.one, curve.ceiling, parameter)) for n, value in pairs]


def quantile(values: Sequence[float], weights: Sequence[float], share: float) -> float:
    """Return the weighted quantile."""
    ordered = sorted(zip(values, weights, strict=True))
    wanted, partial_results = share * sum(weights), 0.0
    for value, weight in ordered:
        partial_results += weight
        if partial_results >= wanted:
            return value
    return ordered[-1][0]


def left_out(curves: Sequence[Curve], name: str, key: Callable[[Curve], str]) -> list[Point]:
    """Return all points of curves, each predicted with what the curves with another key tell."""
    law, parameters = LAWS[name]
    table = {(curve.name, value): misses(curve, law, value) for curve in curves for value in parameters}

    def error(training: Sequence[Curve], value: float) -> float:
        parts = (table[each.name, value] for each in training)
        return sum(sum(map(abs, part)) / len(part) for part in parts)

    points = []
    for curve in curves:
        training = [each for each in curves if key(each) != key(curve)]
        best = min(parameters, key=lambda value, known=training: error(known, value))  # type: ignore[misc]
        seen = [(miss, 1 / len(table[each.name, best])) for each in training for miss in table[each.name, best]]
        known_misses, weights = zip(*seen, strict=True)
        low, high = (quantile(known_misses, weights, share) for share in (0.1, 0.9))
        for miss, value in zip(table[curve.name, best], curve.values[1:], strict=True):
            points.append(Point(curve, miss, low, high, value == curve.ceiling))
    return points


class Score(NamedTuple):
    """Typical factor of all points and of those that are not the ceiling, 90th percentile, share within the interval."""

    typical: float
    below_ceiling: float
    worst_tenth: float
    held: float


def score(points: Sequence[Point]) -> Score:
    """Return the accuracy of predicted points."""
    counts = Counter(point.curve.name for point in points)

    def factor(chosen: Sequence[Point], share: float) -> float:
        weights = [1 / counts[point.curve.name] for point in chosen]
        return math.exp(quantile([abs(point.miss) for point in chosen], weights, share))

    weights = [1 / counts[point.curve.name] for point in points]
    held = sum(weight for point, weight in zip(points, weights, strict=True) if point.low <= point.miss <= point.high)
    below = [point for point in points if not point.is_ceiling]
    return Score(factor(points, 0.5), factor(below, 0.5), factor(points, 0.9), held / sum(weights))


def main() -> None:
    """Print the tables."""
    curves = read_curves()
    kinds = list(dict.fromkeys(curve.kind for curve in curves))
    print(f"{len(curves)} curves, {sum(len(curve.users) for curve in curves)} points, ", end="")
    print(f"{len({curve.source for curve in curves})} sources, {len({curve.system for curve in curves})} systems\n")
    print("Typical factor, without the points that are the ceiling, 90th percentile, share within the 80 % interval.\n")
    print(f"| kind | curves | left out | {' | '.join(LAWS)} |\n|---|---|---|{'---|' * len(LAWS)}")
    for kind in ("all", *kinds):
        chosen = [curve for curve in curves if kind in ("all", curve.kind)]
        one_source = len({curve.source for curve in chosen}) == 1
        for what in ("system",) if one_source else ("source", "system"):
            cells = []
            for law in LAWS:
                found = score(left_out(chosen, law, lambda curve, what=what: getattr(curve, what)))  # type: ignore[misc]
                cells.append(f"{found.typical:.2f} {found.below_ceiling:.2f} {found.worst_tenth:.2f} {found.held:.0%}")
            print(f"| {kind} | {len(chosen)} | {what} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
