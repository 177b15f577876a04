"""Assessment of benchmark histories: lasting changes, drifts, outliers, and effects of other columns.

A benchmark is judged on the logarithm of its values, so that a loss of 20 % counts the same at every level. The level
of a history is that of its ordinary runs: runs in contention do not lower it.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from statistics import median
from typing import Literal, NamedTuple

from hopperlib.errors import refusal
from hopperlib.monitoring.changes import FEWEST, LEVEL, NEAR, Change, Course, find_changes, gain_needed, least_spread
from hopperlib.monitoring.levels import Noise
from hopperlib.monitoring.noise import SpreadChange, is_unusual_step, spread_change
from hopperlib.monitoring.recurring import TwoStates, chance_of_season, outweighs, season, switches

Better = Literal["higher", "lower"]
# Unchanged histories are tested for a season that explains at least this share of the variance.
_MUCH_SEASON = 0.25
SWITCHING, SEASONAL = "switches between two states", "moves with the season"
# For noise with this autocorrelation, short memory and wandering at all time scales (1/f) cannot be separated.
WANDERS, WANDERING = "wanders", 0.5
# A trend is considered from this many spreads between the first run and the last; the median difference of neighbors in
# spreads, for normal noise.
_LEAST_RISE, _MEDIAN_DIFFERENCE = 2.0, 0.954
# Distance from its level beyond which a run is an outlier. [spreads]
_MAX_SPREADS = 4.0
# A column with more distinct values than this share of the runs identifies runs, not groups.
_MOST_GROUPS = 0.25
_MOST_COVARIATES = 8
# Words of columns and units; the first match decides. A time for each of something (s_per_step) is a time, unless for
# each day (ns/day, simulated); something for each unit of time is a rate. Words within words (generate, loops, lib_size)
# do not count.
_TIME_UNIT = r"(?:s|ms|us|ns|min|h|secs?|seconds?|msec|usec|microseconds?|milliseconds?|minutes?|hours?|days?)"
_TIME_FOR_EACH = re.compile(
    rf"(?<![a-z])(?:{_TIME_UNIT}|time)\s?(?:_per_|per | per |/)\s?(?!(?:{_TIME_UNIT}|d)(?![a-z]))[a-z]|(?<![a-z])(?:days?|d|h|hours?)(?:_per_|/)ns(?![a-z])"
)
_HIGHER = re.compile(
    rf"(?:_per_|per | per |/)\s?(?:{_TIME_UNIT}|d)(?![a-z])|(?<![a-z])(?:bit|frame|data|byte|mem)?rate|bandwidth|bw|flop|iops"
    r"|(?<![a-z])[kmgt]?ops(?![a-z])|throughput|speed|score|agg_perf|ssp|(?<![a-z])sypd|operations_s|b_s(?![a-z])|bps(?![a-z])"
)
# Counts of what goes wrong, as a rate too.
_FAILURES = re.compile(
    r"(?<![a-z])(?:errors?|faults?|loss|lost|dropped|drops|retries|retransmits?|retransmissions|miss|misses|stalls?)(?![a-z])"
)
_LOWER = re.compile("time|latency|elapsed|duration|seconds|wait|wall|delay|cost")
_TIMES = ("s", "ms", "us", "ns", "min", "h", "sec", "seconds", "msec", "usec", "microseconds", "hours", "minutes")
_SURE_TIMES = ("sec", "msec", "usec")

# A page analyzes the same history again with another threshold.
_course = lru_cache(maxsize=64)(find_changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """One benchmark over time.

    Parameters
    ----------
    name : str
    values : tuple of float
        Value of each run, all above 0, in order of time.
    times : tuple of str
        When each ran, as written.
    unit : str
        Of the values; empty if unknown.
    better : {"higher", "lower", None}
        None if unknown: higher is then assumed to be better.
    kind : str
        Kind of benchmark, one of `hopperlib.monitoring.simultaneous_changes.KINDS`; empty if it is not known.
    covariates : mapping
        More columns, with one value per run.

    Examples
    --------
    >>> History(name="triad", values=(7200.0, 7190.0), times=("1", "2")).values
    (7200.0, 7190.0)
    """

    name: str
    values: tuple[float, ...]
    times: tuple[str, ...]
    unit: str = ""
    better: Better | None = None
    kind: str = ""
    covariates: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for value in self.values:
            if not (math.isfinite(value) and value > 0):
                raise refusal("value", value, "must be above 0: the history is judged by its logarithms")


class Shift(NamedTuple):
    """A lasting change in the unit of the benchmark.

    Without the effect of a column in `explained_by`, which also varied before or after it, the change disappears;
    columns in `came_with` changed only at that time and may be the cause.
    """

    run: int
    time: str
    since: str
    until: str
    before: float
    after: float
    percent: float
    p_value: float
    explained_by: tuple[str, ...] = ()
    came_with: tuple[str, ...] = ()


class Outlier(NamedTuple):
    """A run far from its level."""

    run: int
    time: str
    value: float
    percent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Assessment of one history.

    `drift_percent` is the slow change over the whole history, None if there is none; `level` that of each run;
    `spread_percent` and `persistence` describe ordinary runs; `verdict` is one of "no change", "worse", "better",
    "drifts, worse", "drifts, better", "switches between two states" (`states`, with `switches` of them), "moves with
    the season" (of `season_runs` runs, by `season_percent` from its lowest to its highest), "explained", "wanders" (its
    changes, `doubtful`, are no larger than its usual movement) and "too few runs". `spread_change` is the place where
    the spread of runs changes; `noise` describes the scatter of runs around their level, including outliers.
    """

    history: History
    shifts: tuple[Shift, ...] = ()
    outliers: tuple[Outlier, ...] = ()
    drift_percent: float | None = None
    level: tuple[float, ...] = ()
    spread_percent: float = 0.0
    persistence: float = 0.0
    switches: int = 0
    states: tuple[float, float] | None = None
    season_runs: int = 0
    season_percent: float = 0.0
    verdict: str = "no change"
    doubtful: tuple[Shift, ...] = ()
    spread_change: SpreadChange | None = None
    noise: Noise | None = None

    def worse(self, percent: float) -> bool:
        """Whether a change of the measured value is for the worse.

        Parameters
        ----------
        percent : float
            Change of the measured value. [%]
        """
        return (percent > 0) == (self.history.better == "lower")

    @property
    def got_worse(self) -> bool:
        """Whether the final verdict on the history is an unexplained loss."""
        return self.verdict in ("worse", "drifts, worse")


def better_of(column: str, unit: str = "") -> Better | None:
    """Return the better direction of a column, by its name and unit; None if neither shows it.

    Parameters
    ----------
    column : str
        Name of the column.
    unit : str, default ''
        Unit of the values; empty if unknown.

    Examples
    --------
    >>> better_of("write_rate_mb_s"), better_of("run_time_s"), better_of("copy_bw", "MB/s"), better_of("value")
    ('higher', 'lower', 'higher', None)
    """
    words = f"{column} {unit}".lower()
    if _TIME_FOR_EACH.search(words) or _FAILURES.search(words):
        return "lower"
    if _HIGHER.search(words):
        return "higher"
    last = column.lower().replace("]", "").replace("[", "_").split("_")[-1].strip()
    # A column named only s may be anything; one named sec is a time.
    lower = (
        _LOWER.search(words)
        or unit.lower() in _TIMES
        or (last in _TIMES and (last != column.lower() or last in _SURE_TIMES))
    )
    return "lower" if lower else None


def judge(history: History, *, level: float = LEVEL, least_percent: float = 1.0) -> Report:
    """Return the lasting changes, the drift and the outliers of a history.

    Parameters
    ----------
    history : History
    level : float
        Share of unchanged histories in which a change may be seen.
    least_percent : float
        Changes smaller than this are not reported, however certain. [%]

    Examples
    --------
    >>> from random import Random
    >>> rng = Random(1)
    >>> rates = [100 * math.exp(rng.gauss(0, 0.03)) * (0.8 if run >= 40 else 1) for run in range(60)]
    >>> report = judge(History(name="rate", values=tuple(rates), times=tuple(map(str, range(60)))))
    >>> report.verdict, [(shift.run, round(shift.percent)) for shift in report.shifts]
    ('worse', [(40, -20)])
    """
    if len(history.values) < FEWEST:
        return Report(history=history, verdict="too few runs")
    logs = tuple(math.log(value) for value in history.values)
    course, slope, trend, season_runs, states = _described(logs, level)
    residuals = course.fit.residuals([value - rise for value, rise in zip(logs, trend, strict=True)])
    # A run minus its residual is its level, including the drift.
    levels = tuple(math.exp(value - off) for value, off in zip(logs, residuals, strict=True))
    shifts = _shifts(history, logs, course, level)
    doubtful = _doubtful(logs, course, shifts)
    shifts = [shift for shift in shifts if shift not in doubtful]
    report = Report(
        history=history,
        shifts=tuple(shift for shift in shifts if abs(shift.percent) >= least_percent),
        outliers=_outliers(history, residuals, course.fit.noise.spread),
        drift_percent=100 * math.expm1(slope * (len(logs) - 1)) or None,
        level=levels,
        spread_percent=100 * course.fit.noise.spread,
        persistence=course.fit.noise.persistence,
        doubtful=tuple(doubtful),
        spread_change=spread_change(residuals),
        noise=course.fit.noise,
    )
    if states is not None and not any(shift.explained_by for shift in shifts):
        return _switching(report, states)
    return (
        _seasonal(report, season_runs, trend)
        if season_runs and not report.shifts
        else _with_verdict(report, least_percent)
    )


def _doubtful(logs: Sequence[float], course: Course, shifts: Sequence[Shift]) -> list[Shift]:
    """Return the changes of a wandering history that do not exceed its usual movement."""
    if course.fit.noise.persistence < WANDERING:
        return []
    return [shift for shift in shifts if not is_unusual_step(logs, shift.run)]


def _described(logs: Sequence[float], level: float) -> tuple[Course, float, Sequence[float], int, TwoStates | None]:
    """Return the course of a history, with the slope, the trend, the season's length and the two states that it
    follows.
    """
    course = first = _course(logs, level=level)
    slope, straight = _drift(logs, course, level)
    course = straight or course
    length, moved = _season(logs, course, level)
    comes_back = course.changes or moved is not None
    states = switches(logs, least_spread(logs), first.fit.levels, first.fit.loglik) if comes_back else None
    # Regular visits of two states look like a season, which then explains less.
    if moved is None or (states and outweighs(states, moved[1].fit.levels, moved[1].fit.loglik, more=3)):
        return course, slope, [slope * run for run in range(len(logs))], 0, states
    return moved[1], 0.0, moved[0], length, None


def _shifts(history: History, logs: tuple[float, ...], course: Course, level: float) -> list[Shift]:
    """Return the lasting changes of a history, with the other columns that explain them."""
    shifts = [_shift(history, change) for change in course.changes]
    if not history.covariates:
        return shifts
    return [_explained(shift, history, logs, course.changes, level) for shift in shifts]


def _seasonal(report: Report, length: int, trend: Sequence[float]) -> Report:
    """Return the report of a history that moves with the season and is otherwise stable."""
    rise = 100 * math.expm1(max(trend) - min(trend))
    return replace(report, season_runs=length, season_percent=rise, verdict=SEASONAL)


def _switching(report: Report, states: TwoStates) -> Report:
    """Return the report of a history that switches between two levels, so that no change lasts."""
    levels = [math.exp(level) for level in (states.low, states.high)]
    return replace(
        report,
        shifts=(),
        drift_percent=None,
        level=tuple(levels[state] for state in states.states),
        outliers=tuple(
            outlier
            for outlier in report.outliers
            if abs(math.log(outlier.value / levels[states.states[outlier.run]])) > _MAX_SPREADS * states.spread
        ),
        spread_percent=100 * states.spread,
        switches=states.switches,
        states=(levels[0], levels[1]),
        verdict=SWITCHING,
    )


def _season(logs: Sequence[float], course: Course, level: float) -> tuple[int, tuple[list[float], Course] | None]:
    """Return the length of a season and its effect, if the course with it explains more with fewer parameters."""
    found = season(logs) if len(logs) >= 2 * FEWEST else None
    # Without changes, a second search pays off only if the season explains much of the variance.
    if found is None or not (course.changes or found[2] >= _MUCH_SEASON):
        return 0, None
    length, wave, explained = found
    around = _course(tuple(value - part for value, part in zip(logs, wave, strict=True)), level=level)
    if chance_of_season(explained, len(logs), around.fit.noise.persistence) > level:
        return 0, None
    jumps, left = len(course.changes), len(around.changes)
    # A jump has two parameters, its run and its level; a season has a length, an amplitude and a phase.
    price = 0.5 * math.log(len(logs)) * (3 * jumps - 3 * left - 3)
    gain = around.fit.loglik - course.fit.loglik
    return (length, (wave, around)) if left <= jumps and gain + price > 0 else (0, None)


def _outliers(history: History, residuals: Sequence[float], spread: float) -> tuple[Outlier, ...]:
    """Return the runs far from their level."""
    return tuple(
        Outlier(run, history.times[run], history.values[run], 100 * math.expm1(off))
        for run, off in enumerate(residuals)
        if abs(off) > _MAX_SPREADS * spread
    )


def _with_verdict(report: Report, least_percent: float) -> Report:
    """Return the report with its final verdict: that of its unexplained changes since the best lasting level."""
    unexplained = [shift.percent for shift in report.shifts if not shift.explained_by]
    drift = report.drift_percent
    if unexplained:
        # Loss relative to the beginning of the history, or to the level before its last change if that undid all
        # others.
        total = 100 * (math.prod(1 + percent / 100 for percent in unexplained) - 1)
        decisive = total if abs(total) >= max(least_percent, 0.25 * max(map(abs, unexplained))) else 0.0
        last = "worse, and back" if report.worse(unexplained[0]) else "better, and back"
        verdict = ("worse" if report.worse(decisive) else "better") if decisive else last
    elif report.doubtful and not report.shifts:
        verdict = WANDERS
    elif drift is not None and abs(drift) >= least_percent:
        verdict = f"drifts, {'worse' if report.worse(drift) else 'better'}"
    else:
        verdict = "explained" if report.shifts else "no change"
    return replace(report, verdict=verdict)


def _shift(history: History, change: Change) -> Shift:
    time, since, until = (history.times[run] for run in (change.run, change.earliest, change.latest))
    before, after = math.exp(change.before), math.exp(change.after)
    percent = 100 * math.expm1(change.after - change.before)
    return Shift(change.run, time, since, until, before, after, percent, change.p_value)


def _slope(values: Sequence[float], against: Sequence[float]) -> float:
    """Return the median slope of pairs of distant runs, which is robust to outliers (Theil and Sen)."""
    runs = len(values)
    apart = max(1, runs // 3)
    steps = [
        (values[late] - values[early]) / (against[late] - against[early])
        for early in range(runs - apart)
        for late in range(early + apart, runs, max(1, runs // 100))
        if against[late] != against[early]
    ]
    return median(steps) if steps else 0.0


def _drift(logs: Sequence[float], course: Course, level: float) -> tuple[float, Course | None]:
    """Return slope and course around a straight line, if it explains more than levels alone with fewer parameters;
    otherwise 0, None.
    """
    if not course.changes:
        return _drift_of_one_level(logs, course, level)
    if len(course.changes) < 2 and not (course.changes and len(logs) >= 2 * FEWEST):
        return 0.0, None
    slope = _slope(logs, range(len(logs)))
    straight = _course(tuple(value - slope * run for run, value in enumerate(logs)), level=level)
    jumps, left = len(course.changes), len(straight.changes)
    gain = straight.fit.loglik - course.fit.loglik
    # Each jump has a place and a level, the line has one slope; the Schwarz criterion charges for the difference.
    price = 0.5 * math.log(len(logs)) * (2 * jumps - 2 * left - 1)
    return (slope, straight) if left < jumps and gain + price > 0 else (0.0, None)


def _drift_of_one_level(logs: Sequence[float], course: Course, level: float) -> tuple[float, Course | None]:
    """Return slope and course around a straight line, for a history that has one level.

    Around one level a steady trend looks like persistent noise, which hides it. The line is therefore fitted with a noise
    of its residuals, and must raise the likelihood as much as a change must.
    """
    slope = _slope(logs, range(len(logs)))
    # Neighbors hardly notice a trend: the difference of two has the square root of two times the spread of one.
    nearby = median(abs(after - before) for before, after in pairwise(logs)) / _MEDIAN_DIFFERENCE
    if abs(slope) * (len(logs) - 1) < _LEAST_RISE * nearby:
        return 0.0, None
    straight = _course(tuple(value - slope * run for run, value in enumerate(logs)), level=level)
    needed = gain_needed(len(logs), straight.fit.noise.persistence, level)
    # A history that wanders around the line too would wander away from it.
    steady = not straight.changes and straight.fit.noise.persistence < WANDERING
    drifts = steady and straight.fit.loglik - course.fit.loglik > needed
    return (slope, straight) if drifts else (0.0, None)


def _explained(shift: Shift, history: History, logs: Sequence[float], changes: Sequence[Change], level: float) -> Shift:
    """Return a change with the columns whose effect explains it."""
    bounds = [0, *(change.run for change in changes), len(logs)]
    place = bounds.index(shift.run)
    explaining: list[str] = []
    coming: list[str] = []
    for name, cells in list(history.covariates.items())[:_MOST_COVARIATES]:
        effect = _effect(logs, cells)
        if effect is None:
            continue
        left = _course(tuple(value - part for value, part in zip(logs, effect, strict=True)), level=level).changes
        if not any(abs(other.run - shift.run) <= 2 * NEAR for other in left):
            # The place is known only to within some runs.
            sides = (cells[bounds[place - 1] : shift.run - NEAR], cells[shift.run + NEAR : bounds[place + 1]])
            (explaining if _overlap(*map(set, sides)) else coming).append(name)
    return shift._replace(explained_by=tuple(explaining), came_with=tuple(coming))


def _overlap(before: set[str], after: set[str]) -> bool:
    """Whether a column had a value, or for numbers a range, before a change as well as after it."""
    try:
        old, new = {float(cell) for cell in before}, {float(cell) for cell in after}
        if not (old and new):
            return False
    except ValueError:
        return bool(before & after)
    return max(old) >= min(new) and max(new) >= min(old)


def _effect(logs: Sequence[float], cells: Sequence[str]) -> list[float] | None:
    """Return a column's effect on each run: a line for a number, otherwise the median of each group; None if it cannot
    be estimated.
    """
    kinds = sorted(set(cells))
    if len(kinds) < 2:
        return None
    if len(kinds) <= max(2, _MOST_GROUPS * len(cells)):
        middle = {kind: median(log for log, cell in zip(logs, cells, strict=True) if cell == kind) for kind in kinds}
        return [middle[cell] for cell in cells]
    try:
        numbers = [float(cell) for cell in cells]
    except ValueError:
        return None
    slope = _slope_against(logs, numbers)
    return [slope * number for number in numbers]


def _slope_against(logs: Sequence[float], numbers: Sequence[float]) -> float:
    """Return the slope of the runs against a column, sorted by that column."""
    ordered = sorted(zip(numbers, logs, strict=True))
    return _slope([log for _, log in ordered], [number for number, _ in ordered])
