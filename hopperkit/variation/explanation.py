"""Why runs differ: their distribution, the columns that separate them, variance within and between jobs, and
undetectable effects.
"""

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from statistics import fmean, median
from typing import Any, NamedTuple

from hopperkit.variation.components import Components, variance_components
from hopperkit.variation.effects import FEWEST, Effect, Effects, effects_of, holm
from hopperkit.variation.factors import DATE, Factor, date_factor, factors_of, hour_factors, value_factors
from hopperkit.variation.order import ranks
from hopperkit.variation.scaling import Scaling, scaling_of
from hopperkit.variation.separation import LEVEL, Separated, Separation, separations
from hopperkit.variation.shape import LEVEL as SHAPE_LEVEL
from hopperkit.variation.shape import Shape, shape_of
from hopperkit.variation.sizes import POWER, difference_seen, drift_seen, groups_seen
from hopperkit.variation.slow import slowdown_seen
from hopperkit.variation.table import RunsTable
from hopperkit.variation.tails import normal_quantile

# At or above this rank correlation with the order of the runs, a factor and the order cannot be separated.
_WITH_ORDER = 0.8
# Fewer runs have no spread to speak of.
_FEWEST_FOR_SIZES = 4


class Unseen(NamedTuple):
    """An effect that was not found, and the size that 80 of 100 data sets would have shown.

    Parameters
    ----------
    what : str
    ratio : float or None
        Slow over fast; None where no size would have been seen.
    """

    what: str
    ratio: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why runs differ.

    Parameters
    ----------
    table : RunsTable
    shape : Shape
    points : int
        Units of the comparison: jobs, or runs if each is its own job.
    factors : tuple of Factor
        Columns, nodes and racks that were compared.
    separated : Separated
        Each factor alone, by ranks.
    effects : Effects or None
        Numbers and kinds together; None where there are too few runs for it.
    nodes : Separated
        Nodes and racks alone, on what numbers and kinds leave.
    found : tuple of str
        Names of the factors that make a difference beyond chance.
    shared : Separation or None
        Values that the slow runs have and others do not.
    with_order : tuple of str
        Factors that are confounded with the order of the runs.
    components : Components or None
        Variance of ordinary runs within and between jobs.
    unseen : tuple of Unseen
    scaling : Scaling or None
        Sizes of the runs that explain most differences; `shape` is then that of the runs relative to their size.
    """

    table: RunsTable
    shape: Shape
    points: int
    factors: tuple[Factor, ...]
    separated: Separated
    effects: Effects | None
    nodes: Separated
    found: tuple[str, ...]
    shared: Separation | None
    with_order: tuple[str, ...]
    components: Components | None
    unseen: tuple[Unseen, ...]
    scaling: Scaling | None = None

    @property
    def best(self) -> Separation | None:
        """The factor that separates the runs best, if it is found; an exact one counts where groups are."""
        rows = [row for row in self.separated.rows if row.factor.name in self.found]
        # Of the many spans of the day one is exact by chance among few runs.
        exact = [
            row
            for row in self.separated.rows
            if row.exact and row.factor.column != DATE and self.shape.kind in ("two groups", "step")
        ]
        return next(iter([row for row in rows if row.exact] or exact or rows), None)

    def tied(self, row: Separation) -> list[str]:
        """Names of the other columns and nodes that separate the runs exactly as one does, so that these runs cannot
        distinguish them.

        Parameters
        ----------
        row : Separation
            The one that is named.
        """
        names = list(row.factor.alike)
        factors = [other.factor for other in self.separated.rows]
        for factor in (*self.shared_factors, *factors):
            if factor.name != row.factor.name and factor.name not in names and _same_runs(factor, row.factor):
                names += [factor.name, *factor.alike]
        return names

    @property
    def shared_factors(self) -> tuple[Factor, ...]:
        """Values that the slow runs may share, run by run; empty where the runs have no such values."""
        return tuple(_factors_of_runs(self.table)) if self.shared is not None else ()

    def effect(self, name: str) -> Effect | None:
        """The effect of a factor with the others held constant; None if it was not among them."""
        return self.effects.row_of(name) if self.effects else None


def explain(table: RunsTable, *, seed: int = 0) -> Explanation:
    """Why runs differ, from a table of them.

    Parameters
    ----------
    table : RunsTable
    seed : int
        Of the shuffles.

    Examples
    --------
    >>> times = (1127.2, 1122.3, 369.2, 365.1, 370.8, 1119.0)
    >>> found = explain(RunsTable(name="seconds", values=times, columns={"nodes": tuple("aabbba")}))
    >>> found.shape.kind, found.best.factor.name, found.best.exact
    ('two groups', 'node a', True)
    """
    rng = random.Random(seed)
    scaling = scaling_of(table.columns, table.times)
    shape = _shape(table, rng, scaling)
    logs = [math.log(time) for time in table.times]
    points, columns = _by_job(table, logs)
    factors = (*factors_of(columns), *_dates(table, len(points)))
    separated = separations(points, factors, rng)
    effects = effects_of(points, factors)
    sets = [factor for factor in factors if factor.kind == "set"]
    nodes = separations(effects.fit.residuals, sets, rng) if effects and sets else _only(separated, sets)
    found = _found(separated, effects, nodes)
    return Explanation(
        table=table,
        shape=shape,
        points=len(points),
        factors=factors,
        separated=separated,
        effects=effects,
        nodes=nodes,
        found=found,
        shared=_shared(table, shape, rng),
        with_order=_with_order(factors, found, shape) if table.when or scaling is None else (),
        components=_components(table, shape, logs),
        unseen=tuple(_unseen(shape, logs, points, factors, separated, effects, found)),
        scaling=scaling,
    )


def _same_runs(one: Factor, other: Factor) -> bool:
    """Whether two factors part the runs in the same way: the same kinds, or numbers that rise or fall together."""
    if len(one.values) != len(other.values):
        return False
    if "number" in (one.kind, other.kind) and len(set(one.values)) > 2:
        if one.kind != other.kind:
            return False
        first, second = ranks(one.values), ranks(other.values)
        return first == second or [len(first) + 1 - rank for rank in first] == second
    pairs = set(zip(one.values, other.values, strict=True))
    both = one.kind == other.kind == "set"
    # Runs without a node are not one more node: a set is the same only with the same members.
    return one.values == other.values if both else len(pairs) == len(set(one.values)) == len(set(other.values))


def _shape(table: RunsTable, rng: random.Random, scaling: Scaling | None) -> Shape:
    """Shape of the runs, relative to their size where it explains most; the order of rows sorted by value counts only if
    nothing else shows.
    """
    if scaling is not None:
        middle = median(table.times)
        return shape_of([middle * math.exp(part) for part in scaling.residuals], rng, ordered=bool(table.when))
    if table.when or not table.one_way:
        return shape_of(table.times, rng)
    shape = shape_of(table.times, rng, ordered=False)
    return shape if shape.kind not in ("one group", "too few") else shape_of(table.times, rng)


def _by_job(table: RunsTable, logs: Sequence[float]) -> tuple[list[float], Mapping[str, Sequence[Any]]]:
    """One point per job, the median of its runs, with its columns: runs of one job are not independent."""
    if len(set(table.jobs)) in (0, len(logs)):
        return list(logs), table.columns
    members: dict[str, list[int]] = {}
    for place, job in enumerate(table.jobs):
        members.setdefault(job, []).append(place)
    columns = {
        name: tuple(_one_of([cells[place] for place in places]) for places in members.values())
        for name, cells in table.columns.items()
    }
    return [median(logs[place] for place in places) for places in members.values()], columns


def _dates(table: RunsTable, points: int) -> list[Factor]:
    """The date as a factor, where each run has one and runs are enough for several factors."""
    if len(table.when) != points or points < FEWEST or DATE in table.columns:
        return []
    dated = date_factor(table.moments)
    # The hour as written: that of the machine's clock.
    moments = [datetime.fromisoformat(text.strip()) for text in table.when]
    hours = list(hour_factors([moment.hour + moment.minute / 60 for moment in moments]))
    return [*([dated] if dated else []), *hours]


def _one_of(cells: Sequence[Any]) -> Any:
    """Value of a job: the mean of numbers, otherwise that of its first run."""
    if all(isinstance(cell, int | float) for cell in cells):
        return fmean(cells)
    return cells[0]


def _only(separated: Separated, sets: Sequence[Factor]) -> Separated:
    """The rows of some factors."""
    return separated._replace(rows=[row for row in separated.rows if row.factor in sets])


def _found(separated: Separated, effects: Effects | None, nodes: Separated) -> tuple[str, ...]:
    """Names of the factors that make a difference: all columns together, and the nodes as one more, at one level."""
    if effects is None:
        return tuple(row.factor.name for row in separated.rows if row.chance <= LEVEL)
    family = [row.p_value for row in effects.rows] + ([nodes.rows[0].chance] if nodes.rows else [])
    corrected = holm(family)
    names = [row.factor.name for row, p in zip(effects.rows, corrected, strict=False) if p <= LEVEL]
    if nodes.rows and corrected[-1] <= LEVEL:
        share = nodes.rows[0].chance / corrected[-1] if corrected[-1] else 1.0
        names += [row.factor.name for row in nodes.rows if row.chance <= LEVEL * share]
    return tuple(names)


def _shared(table: RunsTable, shape: Shape, rng: random.Random) -> Separation | None:
    """Values shared by a few slow runs and by hardly any other run, beyond chance; of one of two groups within jobs, a
    value that all its runs and no others have.
    """
    groups = shape.kind == "two groups" and bool(_within_jobs(table))
    if not groups and (shape.kind not in ("few slow", "few fast") or len(shape.slow) < 2):
        return None
    slow = set(shape.slow)
    marks = [float(place in slow) for place in range(len(table.values))]
    rows = separations(marks, _factors_of_runs(table), rng).rows
    if groups:
        inside = _within_jobs(table)
        rows = [row for row in rows if row.exact and row.factor.column in inside and row.factor.kind == "set"]
        # Of two groups, one value marks the slow one.
        rows.sort(key=lambda row: row.z < 0)
    return rows[0] if rows and rows[0].chance <= LEVEL else None


def _within_jobs(table: RunsTable) -> list[str]:
    """Columns that vary within jobs, which medians of the jobs do not show."""
    if len(set(table.jobs)) in (0, len(table.values)):
        return []
    return [
        name
        for name, cells in table.columns.items()
        if len(set(zip(table.jobs, cells, strict=True))) > len(set(table.jobs))
    ]


def _factors_of_runs(table: RunsTable) -> list[Factor]:
    """Factors of single runs: the columns, each value of those that vary within jobs, and each job."""
    inside = _within_jobs(table)
    values = [factor for name in inside for factor in value_factors(name, table.columns[name])]
    jobs = list(value_factors("job", table.jobs)) if len(set(table.jobs)) > 1 else []
    return [*factors_of(table.columns), *values, *jobs]


def _with_order(factors: Sequence[Factor], found: Sequence[str], shape: Shape) -> tuple[str, ...]:
    """Found factors that change with the order of the runs: at one moment, or steadily."""
    if shape.chances.get("order", 1.0) > SHAPE_LEVEL:
        return ()
    return tuple(
        factor.name for factor in factors if factor.name in found and factor.column != DATE and _goes_with_order(factor)
    )


def _goes_with_order(factor: Factor) -> bool:
    """Whether a factor's kinds follow one another, each in one stretch, or its numbers rise or fall."""
    if factor.kind == "number":
        n = len(factor.values)
        placed = ranks(factor.values)
        middle = (n + 1) / 2
        crossed = sum((place + 1 - middle) * (rank - middle) for place, rank in enumerate(placed))
        return bool(abs(12 * crossed / (n * (n * n - 1))) > _WITH_ORDER)
    stretches = 1 + sum(a != b for a, b in pairwise(factor.values))
    return bool(stretches == len(set(factor.values)))


def _components(table: RunsTable, shape: Shape, logs: Sequence[float]) -> Components | None:
    """Variance of ordinary runs within and between jobs; slow runs apart, so that one does not make a job different."""
    if not table.jobs:
        return None
    apart = set(shape.slow) if shape.kind in ("few slow", "few fast") else set()
    kept = [place for place in range(len(logs)) if place not in apart]
    return variance_components([logs[place] for place in kept], [table.jobs[place] for place in kept])


def _unseen(
    shape: Shape,
    logs: Sequence[float],
    points: Sequence[float],
    factors: Sequence[Factor],
    separated: Separated,
    effects: Effects | None,
    found: Sequence[str],
) -> list[Unseen]:
    """Effects that were not found, with the size that 80 of 100 data sets would have shown."""
    if len(logs) < _FEWEST_FOR_SIZES or shape.spread <= 0:
        return []
    off = _known_residuals(shape, points, effects)
    z_needed = separated.z_needed if math.isfinite(separated.z_needed) else normal_quantile(LEVEL / 2)
    rows = list(_unseen_shapes(shape, logs))
    for factor in factors:
        if factor.name in found or factor.kind == "set" or factor.column == DATE:
            continue
        among = _unseen_effect(factor, effects) if effects is not None else None
        rows.append(among or _unseen_factor(factor, shape.spread, len(points), z_needed, off))
    if sets := _nodes_not_found(factors, found):
        few = max(min(map(len, factor.members())) for factor in sets)
        sides = few, len(points) - few
        what = f"one of {len(sets):,} nodes and racks" if len(sets) > 1 else sets[0].name
        rows.append(Unseen(what, _ratio(difference_seen(shape.spread, *sides, z_needed, off))))
    return rows


def _nodes_not_found(factors: Sequence[Factor], found: Sequence[str]) -> list[Factor]:
    """Nodes and racks that were compared and make no difference; spans of the day are none."""
    return [factor for factor in factors if factor.kind == "set" and factor.column != DATE and factor.name not in found]


def _known_residuals(shape: Shape, points: Sequence[float], effects: Effects | None) -> Sequence[float]:
    """Return the residuals of the known effects; groups without an explanation do not count as a tail."""
    if effects:
        return effects.fit.residuals
    if shape.kind != "one group":
        return ()
    middle = median(points)
    return [point - middle for point in points]


def _unseen_effect(factor: Factor, effects: Effects) -> Unseen | None:
    """Return the size that would have been seen of a factor among others; None if it is not among them."""
    if (row := effects.row_of(factor.name)) is None:
        return None
    needed = normal_quantile(LEVEL / 2 / len(effects.rows)) + normal_quantile(1 - POWER)
    return Unseen(f"effect of {factor.name}, {row.between[0]} against {row.between[1]}", math.exp(needed * row.error))


def _unseen_shapes(shape: Shape, logs: Sequence[float]) -> Iterator[Unseen]:
    """Yield the drift, groups and slow runs that were not found."""
    n, spread = len(logs), shape.spread
    if shape.kind in ("one group", "few slow", "few fast") and shape.chances.get("order", 1.0) > SHAPE_LEVEL:
        yield Unseen("drift from the first run to the last", math.exp(drift_seen(spread, n)))
    if shape.kind == "one group":
        yield Unseen("two equal groups", _ratio(groups_seen(spread, n)))
        if n >= 5:
            yield Unseen("one slow run", math.exp(max(logs) + slowdown_seen(logs) - median(logs)))


def _unseen_factor(factor: Factor, spread: float, points: int, z_needed: float, off: Sequence[float]) -> Unseen:
    """The effect of a factor that was not found: of its two most frequent kinds, or of two halves of a number."""
    sides = (points // 2, points - points // 2)
    if factor.kind == "kinds":
        sizes = sorted(map(len, factor.members()))
        sides = sizes[-2], sizes[-1]
    what = f"effect of {factor.name}" + (", fast half against slow half" if factor.kind == "number" else "")
    return Unseen(what, _ratio(difference_seen(spread, *sides, z_needed, off)))


def _ratio(difference: float | None) -> float | None:
    """A difference of logarithms as a ratio; None for none."""
    return None if difference is None else math.exp(difference)
