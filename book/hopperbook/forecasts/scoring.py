"""How forecasts did: overlap and holding, sharpness, interval score, pinball loss, and the same of the rivals.

Two words are kept apart. An interval *overlaps* the outcome if it has a value in common with the printed band; it
*contains* the outcome if the printed value is within it. A band without an upper end ("at least") is overlapped by
every interval that extends to its lower end, and is never contained, as the value is only a bound. Distances are
counted from the end of the band that is nearer.
"""

import math
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from statistics import fmean, median
from typing import Any, NamedTuple

from hopperbook.forecasts import LEVELS, Forecast, in_percent, kept, rival_interval
from hopperlib.data_files import data_folder

# An 80 % interval pays for each unit by which it misses as for that many units of width.
_PENALTY = 10.0
# An interval is sharp if it is at most this share of the value wide.
_SHARP = 0.5


class Group(NamedTuple):
    """Rows of the blind test that are scored together, and never added up with others."""

    name: str
    forecasts: tuple[Forecast, ...]


def groups() -> tuple[Group, Group]:
    """Return the sealed rows and the practice rows, whose outcomes were in view when they were forecast.

    Examples
    --------
    >>> [(group.name, len(group.forecasts)) for group in groups()]
    [('sealed', 54), ('practice', 25)]
    """
    made = kept()
    practice = tuple(each for each in made if "practice" in each.row)
    return Group("sealed", tuple(each for each in made if "practice" not in each.row)), Group("practice", practice)


@cache
def lessons() -> dict[str, Any]:
    """Return ``data/blind/lessons.toml``: mechanisms of misses, outcomes in doubt, dates and digest.

    Examples
    --------
    >>> lessons()["outcomes_published"]
    '2026-11-28'
    """
    return tomllib.loads((data_folder() / "blind" / "lessons.toml").read_text(encoding="utf-8"))


def overlaps(made: Forecast, level: int) -> bool:
    """Whether the interval of a level has a value in common with the band of the outcome.

    Examples
    --------
    >>> row = {"asked": "a rate", "value": "2", "low": "1.9", "high": "2.1"}
    >>> overlaps(Forecast(row, 1.5, {80: (1.0, 1.95)}), 80)
    True
    """
    _, band_low, band_high = _outcome(made)
    low, high = made.intervals[level]
    return low <= band_high and band_low <= high


def holds(made: Forecast, level: int) -> bool:
    """Whether the interval of a level holds the printed value. A bound is never held.

    Examples
    --------
    >>> row = {"asked": "a rate", "value": "2", "low": "1.9", "high": "2.1"}
    >>> holds(Forecast(row, 1.5, {80: (1.0, 1.95)}), 80)
    False
    """
    value, _, band_high = _outcome(made)
    low, high = made.intervals[level]
    return math.isfinite(band_high) and low <= value <= high


def is_sharp(made: Forecast) -> bool:
    """Whether the 80 % interval is at most half the value wide.

    Examples
    --------
    >>> is_sharp(Forecast({"asked": "a rate", "value": "2", "low": "2", "high": "2"}, 1.5, {80: (1.0, 2.0)}))
    True
    """
    low, high = made.intervals[80]
    return high - low <= _SHARP * abs(_outcome(made)[0])


def _outcome(made: Forecast) -> tuple[float, float, float]:
    """Return value, low and high of a row that has them."""
    if made.outcome is None:
        raise ValueError(f"row {made.row.get('id')!r} has no outcome to score")
    return made.outcome


def beyond(made: Forecast, value: float) -> float:
    """Return the distance of a value from the band of the outcome, positive above and negative below it; 0 inside.

    Examples
    --------
    >>> row = {"asked": "gain [%]", "value": "20", "low": "19", "high": "21"}
    >>> beyond(Forecast(row, None, {}), 41.0), beyond(Forecast(row, None, {}), 20.5), beyond(Forecast(row, None, {}), 9.0)
    (2.0, 0.0, -1.0)
    """
    _, low, high = _outcome(made)
    if value > high:
        return made.distance(value, high)
    return made.distance(value, low) if value < low else 0.0


def interval_score(made: Forecast, interval: tuple[float, float]) -> float:
    """Return width of an 80 % interval, and ten times its distance from the band of the outcome.

    Examples
    --------
    >>> row = {"asked": "a rate", "value": "2", "low": "2", "high": "2"}
    >>> round(interval_score(Forecast(row, 1.0, {}), (1.0, 2.0)), 3), round(interval_score(Forecast(row, 1.0, {}), (0.5, 1.0)), 3)
    (0.693, 7.625)
    """
    low, high = interval
    outside = max(beyond(made, low), -beyond(made, high), 0.0)
    return made.distance(high, low) + _PENALTY * outside


def pinball_loss(made: Forecast, quantiles: Iterable[tuple[float, float]]) -> float:
    """Return the mean pinball loss of quantiles (probability, value), with distances from the band of the outcome.

    A quantile below the outcome pays its probability for each unit of distance, one above the rest.

    Examples
    --------
    >>> row = {"asked": "gain [%]", "value": "20", "low": "20", "high": "20"}
    >>> round(pinball_loss(Forecast(row, None, {}), [(0.1, 10.0), (0.9, 40.0)]), 3)
    0.15
    """
    away = ((chance, beyond(made, value)) for chance, value in quantiles)
    return fmean((1 - chance) * far if far > 0 else -chance * far for chance, far in away)


class Score(NamedTuple):
    """How forecasts did, and their rivals.

    Parameters
    ----------
    rows, answered : int
        Situations with an outcome, and how many of them have a forecast.
    overlapping, holding : tuple of int
        For each of `LEVELS`, how many intervals overlap the band of the outcome, and how many hold its value.
    sharp : int
        80 % intervals that are at most half the value wide.
    rivals : int
        Answered rows whose rival gives a number; the four scores and `nearer` are of these rows.
    interval_score, rival_interval_score, pinball, rival_pinball : float
        Means; less is better.
    nearer : int
        Rows in which the median is nearer to the value than the rival's.
    factor, rival_factor : float or None
        Median factor by which a median is away from the value, of rows that are not in percent.
    """

    rows: int
    answered: int
    overlapping: tuple[int, ...]
    holding: tuple[int, ...]
    sharp: int
    rivals: int
    interval_score: float
    rival_interval_score: float
    pinball: float
    rival_pinball: float
    nearer: int
    factor: float | None
    rival_factor: float | None

    @property
    def skill(self) -> float:
        """Part of the rival's interval score that the forecasts avoid."""
        return 1 - self.interval_score / self.rival_interval_score


def _quantiles(middle: float, interval: tuple[float, float]) -> list[tuple[float, float]]:
    """Return an 80 % interval and its median as quantiles."""
    return [(0.1, interval[0]), (0.5, middle), (0.9, interval[1])]


def score(made: Sequence[Forecast]) -> Score | None:
    """Return the score of the rows with an outcome; None if none of them has a forecast.

    Examples
    --------
    >>> score(groups()[0].forecasts).overlapping, score([])
    ((23, 32, 37), None)
    """
    known = [each for each in made if each.outcome]
    answered = [each for each in known if each.intervals]
    if not answered:
        return None
    pairs = [(each, float(each.row["rival_value"])) for each in answered if each.row["rival_value"]]
    scores, rivals, losses, rival_losses, near = [], [], [], [], 0
    for each, rival in pairs:
        interval = rival_interval(each)
        assert interval is not None
        assert each.median is not None
        scores.append(interval_score(each, each.intervals[80]))
        rivals.append(interval_score(each, interval))
        losses.append(pinball_loss(each, _quantiles(each.median, each.intervals[80])))
        rival_losses.append(pinball_loss(each, _quantiles(rival, interval)))
        value = _outcome(each)[0]
        near += abs(each.distance(each.median, value)) < abs(each.distance(rival, value))
    ratios = [(each, rival) for each, rival in pairs if not in_percent(each.row)]
    return Score(
        rows=len(known),
        answered=len(answered),
        overlapping=tuple(sum(overlaps(each, level) for each in answered) for level in LEVELS),
        holding=tuple(sum(holds(each, level) for each in answered) for level in LEVELS),
        sharp=sum(map(is_sharp, answered)),
        rivals=len(pairs),
        interval_score=_mean(scores),
        rival_interval_score=_mean(rivals),
        pinball=_mean(losses),
        rival_pinball=_mean(rival_losses),
        nearer=near,
        factor=_factor((each, each.median or 0.0) for each, _ in ratios),
        rival_factor=_factor(ratios),
    )


def _mean(values: Sequence[float]) -> float:
    """Return a mean, or no number of no values."""
    return fmean(values) if values else math.nan


def _factor(guesses: Iterable[tuple[Forecast, float]]) -> float | None:
    """Return the median factor between guesses and outcomes; None if there are no rows."""
    away = [abs(each.distance(guess, _outcome(each)[0])) for each, guess in guesses]
    return math.exp(median(away)) if away else None


def source_coverage(made: Sequence[Forecast]) -> tuple[float, int]:
    """Return the mean over sources of the share of answered rows that overlap at 80 %, and how many sources there are.

    Two fifths of the sealed rows come from one repository of benchmarks; here each source has one vote.

    Examples
    --------
    >>> share, sources = source_coverage(groups()[0].forecasts)
    >>> 0 < share < 1, sources > 10
    (True, True)
    """
    shares: dict[str, list[bool]] = {}
    for each in made:
        if each.outcome and each.intervals:
            shares.setdefault(each.row["source"], []).append(overlaps(each, 80))
    return fmean(map(fmean, shares.values())), len(shares)


def share_range(successes: int, trials: int) -> tuple[float, float]:
    """Return the exact 95 % interval of a share.

    Examples
    --------
    >>> [round(end, 2) for end in share_range(32, 53)]
    [0.46, 0.74]

    References
    ----------
    .. [1] C. J. Clopper and E. S. Pearson, The use of confidence or fiducial limits illustrated in the case of the
       binomial, Biometrika 26 (1934) 404.
    """

    def at_most(count: int, share: float) -> float:
        return sum(
            math.comb(trials, k) * math.pow(share, k) * math.pow(1 - share, trials - k) for k in range(count + 1)
        )

    def solve(falls_below: float, count: int) -> float:
        low, high = 0.0, 1.0
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if at_most(count, middle) > falls_below else (low, middle)
        return low

    low = solve(0.975, successes - 1) if successes else 0.0
    return low, solve(0.025, successes) if successes < trials else 1.0


def widened(made: Forecast) -> Forecast:
    """Return a forecast without the narrowing to 0.8 of its width, which all of the first set had.

    Examples
    --------
    >>> round(widened(Forecast({"asked": "gain [%]"}, 10.0, {80: (2.0, 18.0)})).intervals[80][1], 9)
    20.0
    """
    if made.median is None or "best setting" in made.row["asked"]:
        return made
    middle, share = made.median, lessons()["narrowed_to"]

    def out(end: float) -> float:
        return float(
            middle + (end - middle) / share if in_percent(made.row) else middle * (end / middle) ** (1 / share)
        )

    return made._replace(intervals={level: (out(low), out(high)) for level, (low, high) in made.intervals.items()})
