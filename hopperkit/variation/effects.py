"""Several factors at once: how much each changes the run time, with the others held, by Huber's M-estimator.

The logarithm of the run time is regressed on all numbers and kinds together, so that an effect is a factor on the run
time. Slow runs far off the others get little weight. p-values are corrected by Holm's method for the factors tried.
"""

import math
from collections import Counter
from collections.abc import Sequence
from statistics import fmean, pvariance
from typing import NamedTuple

from hopperkit.variation.factors import Factor, label_of
from hopperkit.variation.robust import Regression, inverted, regression
from hopperkit.variation.tails import f_quantile, f_tail

# Several factors need at least this many runs, and this many for each column.
FEWEST, RUNS_PER_COLUMN = 12, 4
# A run farther than this from the fit is not an ordinary run. [scales]
FAR = 4.0
_MOST_COLUMNS, _MOST_RUNS = 40, 5_000
_LOW, _HIGH = 0.1, 0.9
# Numbers whose range spans at least this factor are used as logarithms.
_WIDE = 8.0


class Effect(NamedTuple):
    """Effect of a factor with the others held constant.

    Parameters
    ----------
    factor : Factor
    low, change, high : float
        Difference of logarithms with its interval of 95 %: of a number from its 10 % to its 90 % quantile, of kinds from
        the fastest to the slowest.
    p_value, p_corrected : float
        How often chance gives as much, alone and corrected by Holm. [fraction]
    between : tuple of str
        The two values or kinds that are compared.
    error : float
        Standard error of the change.
    """

    factor: Factor
    low: float
    change: float
    high: float
    p_value: float
    p_corrected: float
    between: tuple[str, str]
    error: float

    @property
    def percents(self) -> tuple[float, float, float]:
        """The change between the ends of its interval. [%]"""
        low, change, high = (100 * math.expm1(part) for part in (self.low, self.change, self.high))
        return low, change, high


class Effects(NamedTuple):
    """All effects, the surest first.

    Parameters
    ----------
    rows : list of Effect
    left_out : dict of str to str
        Factors that follow from others, and those.
    fit : Regression
    explained : float
        Share of the bulk's variance that all factors explain together. [fraction]
    """

    rows: list[Effect]
    left_out: dict[str, str]
    fit: Regression
    explained: float

    def row_of(self, name: str) -> Effect | None:
        """The effect of a factor; None if it is not among them."""
        return next((row for row in self.rows if row.factor.name == name), None)


def effects_of(logs: Sequence[float], factors: Sequence[Factor]) -> Effects | None:
    """Effects of all numbers and kinds at once; None where there are too few runs for them.

    Parameters
    ----------
    logs : sequence of n float
        Logarithms of run times.
    factors : sequence of Factor
        Of n values each; sets (nodes) are left to `hopperkit.variation.separation`.

    Examples
    --------
    Every other run on a slower partition, and one run five times as long:

    >>> logs = [0.02 * (run * 7 % 5) + 0.3 * (run % 2) for run in range(24)]
    >>> logs[5] += 1.6
    >>> partition = Factor("partition", "kinds", tuple("ab"[run % 2] for run in range(24)))
    >>> effect = effects_of(logs, [partition]).rows[0]
    >>> round(effect.change, 2), effect.between, effect.p_corrected < 0.001
    (0.31, ('a', 'b'), True)
    """
    chosen, columns, left_out = _independent([factor for factor in factors if factor.kind != "set"], len(logs))
    n = len(logs)
    if not chosen or n > _MOST_RUNS or n < FEWEST or n < RUNS_PER_COLUMN * (1 + sum(map(len, columns))):
        return None
    design = [[1.0, *cells] for cells in zip(*(column for part in columns for column in part), strict=True)]
    fit = regression(design, logs)
    if fit.scale <= 0:
        return None
    rows, place = [], 1
    for factor, part in zip(chosen, columns, strict=True):
        rows.append(_effect(factor, part, fit, list(range(place, place + len(part)))))
        place += len(part)
    corrected = holm([row.p_value for row in rows])
    rows = [row._replace(p_corrected=p) for row, p in zip(rows, corrected, strict=True)]
    return Effects(sorted(rows, key=lambda row: (row.p_value, row.factor.name)), left_out, fit, _explained(logs, fit))


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values corrected for their number, by Holm's step-down method, in the order given.

    Parameters
    ----------
    p_values : sequence of float
        One p-value per test. [fraction]

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    result, most = [1.0] * len(p_values), 0.0
    for number, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        most = max(most, min(1.0, (len(p_values) - number) * p_values[place]))
        result[place] = most
    return result


def _independent(factors: Sequence[Factor], n: int) -> tuple[list[Factor], list[list[list[float]]], dict[str, str]]:
    """Factors whose columns are linearly independent of earlier ones, their columns, and the factors left out."""
    chosen: list[Factor] = []
    columns: list[list[list[float]]] = []
    left_out: dict[str, str] = {}
    for factor in factors:
        part = design_of(factor)
        if not part:
            continue
        several = [*(column for other in columns for column in other), *part]
        if len(several) > min(_MOST_COLUMNS, n // RUNS_PER_COLUMN - 1):
            left_out[factor.name] = "too few runs for this many distinct values"
            continue
        try:
            inverted([[math.fsum(map(float.__mul__, a, b)) for b in several] for a in several])
        except ValueError:
            left_out[factor.name] = _same_as(factor, chosen)
            continue
        chosen.append(factor)
        columns.append(part)
    return chosen, columns, left_out


def _same_as(factor: Factor, chosen: Sequence[Factor]) -> str:
    """Names of the factors that a factor follows from: one if it alone does, else all."""
    for other in chosen:
        try:
            both = [*design_of(other), *design_of(factor)]
            inverted([[math.fsum(map(float.__mul__, a, b)) for b in both] for a in both])
        except ValueError:
            return other.name
    return ", ".join(other.name for other in chosen)


def design_of(factor: Factor) -> list[list[float]]:
    """Columns of a factor, each around zero: a number, or its logarithm, in its standard deviations; kinds against the commonest.

    Parameters
    ----------
    factor : Factor
        Factor with one value per run.

    Examples
    --------
    >>> design_of(Factor("threads", "number", (1.0, 3.0)))
    [[-1.0, 1.0]]
    """
    if factor.kind == "number":
        values = _on_scale(factor.values)
        scale = math.sqrt(pvariance(values))
        return [_centered([value / scale for value in values])] if scale else []
    _, kinds = _kinds(factor)
    return [_centered([float(value == kind) for value in factor.values]) for kind in kinds]


def _kinds(factor: Factor) -> tuple[str, list[str]]:
    """The commonest kind, and the others in order; a kind of one run would fit that run exactly, and counts as the commonest."""
    often = Counter(factor.values)
    commonest = min(often, key=lambda kind: (-often[kind], kind))
    return commonest, sorted(kind for kind, times in often.items() if kind != commonest and times > 1)


def _on_scale(values: Sequence[float]) -> Sequence[float]:
    """Numbers that span a wide range, such as nodes from 1 to 64, on a logarithmic scale: a power law is then a line."""
    return [math.log(value) for value in values] if min(values) > 0 and max(values) >= _WIDE * min(values) else values


def _centered(column: Sequence[float]) -> list[float]:
    middle = fmean(column)
    return [cell - middle for cell in column]


def _effect(factor: Factor, part: Sequence[Sequence[float]], fit: Regression, places: Sequence[int]) -> Effect:
    """The effect of a factor whose columns are at some places of the regression."""
    covariance = [[fit.covariance[i][j] for j in places] for i in places]
    estimates = [fit.estimates[place] for place in places]
    inverse = inverted(covariance)
    wald = sum(
        a * b * cell
        for a, line in zip(estimates, inverse, strict=True)
        for b, cell in zip(estimates, line, strict=True)
    )
    p_value = f_tail(wald / len(places), len(places), fit.degrees)
    contrast, between = _contrast(factor, part, estimates)
    change = sum(a * b for a, b in zip(contrast, estimates, strict=True))
    error = math.sqrt(
        sum(
            a * b * cell
            for a, line in zip(contrast, covariance, strict=True)
            for b, cell in zip(contrast, line, strict=True)
        )
    )
    off = math.sqrt(f_quantile(0.05, 1, fit.degrees)) * error
    return Effect(factor, change - off, change, change + off, p_value, p_value, between, error)


def _contrast(
    factor: Factor, part: Sequence[Sequence[float]], estimates: Sequence[float]
) -> tuple[list[float], tuple[str, str]]:
    """The comparison, as weights of the estimates and as text."""
    if factor.kind == "number":
        ordered = sorted(range(len(part[0])), key=part[0].__getitem__)
        low, high = (ordered[round(share * (len(ordered) - 1))] for share in (_LOW, _HIGH))
        if part[0][low] == part[0][high]:
            low, high = ordered[0], ordered[-1]
        return [part[0][high] - part[0][low]], (
            label_of(factor, factor.values[low]),
            label_of(factor, factor.values[high]),
        )
    commonest, kinds = _kinds(factor)
    levels = {commonest: 0.0} | dict(zip(kinds, estimates, strict=True))
    fast, slow = min(levels, key=lambda kind: (levels[kind], kind)), max(levels, key=lambda kind: (levels[kind], kind))
    return [float(kind == slow) - float(kind == fast) for kind in kinds], (fast, slow)


def _explained(logs: Sequence[float], fit: Regression) -> float:
    """Share of the variance of the bulk that the fit explains, less what its columns take by chance."""
    bulk = [place for place, residual in enumerate(fit.residuals) if abs(residual) <= FAR * fit.scale]
    columns = len(fit.estimates)
    if len(bulk) <= columns + 1:
        return 0.0
    middle = fmean(logs[place] for place in bulk)
    total = sum((logs[place] - middle) ** 2 for place in bulk) / (len(bulk) - 1)
    rest = sum(fit.residuals[place] ** 2 for place in bulk) / (len(bulk) - columns)
    return max(0.0, 1 - rest / total) if total else 0.0
