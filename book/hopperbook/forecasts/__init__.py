"""Forecasts of measurements whose outcome nobody here had seen; `hopperbook.forecasts.scoring` scores them.

A situation of the blind test (``data/blind``) names a quantity, the known facts, and an estimate without physics.
``data/forecast-settings.toml`` names the function of `node`, `network` or `storage` for it, the arguments from the row,
and the ranges of unknown ones. The function is run with values drawn from the ranges; median and intervals come from
the runs. Situations without a model are reported as missing.

``make forecasts`` rewrites ``data/forecasts.csv``.
"""

import math
import random
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from hopperlib.data_files import data_folder, rows

#: Chances that an interval claims to hold the outcome. [%]
LEVELS = (50, 80, 90)
#: When the forecasts were made: before any outcome of a sealed row was known here.
MADE = "2026-11-27"
_RUNS, _SEED = 400, 20_261_123
# Error of a model's omissions, unless a situation sets it: as a logarithm, and in percentage points.
_ERROR, _POINTS = 0.05, 2.0
# Intervals of 80 % overlapped 24 of 25 practice rows. All were drawn in to the share that scored best on these, a mistake.
_DRAWN_IN = 0.8


def settings() -> dict[str, dict[str, Any]]:
    """Return function, givens and ranges of each situation, by id.

    Examples
    --------
    >>> settings()["node-03"]["ask"]
    'node.core_rate'
    """
    return tomllib.loads((data_folder() / "forecast-settings.toml").read_text(encoding="utf-8"))


def situations() -> list[dict[str, str]]:
    """Return the rows of the blind test, those with an outcome first.

    Outcomes of sealed rows are in ``data/blind/outcomes.csv``, with the columns of the practice rows.

    Examples
    --------
    >>> len(situations())
    79
    """
    outcomes = data_folder() / "blind" / "outcomes.csv"
    outcomes_by_id = {row["id"]: row for row in rows("blind/outcomes.csv")} if outcomes.exists() else {}
    practice = [row | {"practice": "true"} for row in rows("blind/practice.csv")]
    return practice + [row | outcomes_by_id.get(row["id"], {}) for row in rows("blind/sealed.csv")]


def in_percent(row: Mapping[str, str]) -> bool:
    """Whether a situation is in percent, which is scored linearly.

    Examples
    --------
    >>> in_percent({"asked": "gain [%]; point"})
    True
    """
    return "[%]" in row["asked"]


def runs(row: Mapping[str, str], setting: Mapping[str, Any], count: int = _RUNS) -> list[float]:
    """Return the results of a situation's function, with assumptions drawn each time.

    Examples
    --------
    >>> row = situations()[0]
    >>> len(runs(row, settings()[row["id"]], 10))
    10
    """
    module, _, name = setting["ask"].partition(".")
    function: Callable[..., float] = getattr(import_module(f"hopperbook.forecasts.{module}"), name)
    rng = random.Random(f"{_SEED} {row['id']}")
    low, high = setting.get("ends", (-math.inf, math.inf))
    found = []
    whole = "best setting" in row["asked"]
    for _ in range(count):
        drawn = {name: _drawn(rng, *ends) for name, ends in setting.get("assumed", {}).items()}
        chosen = {name: values[int(rng.random() * len(values))] for name, values in setting.get("choices", {}).items()}
        value = setting.get("scale", 1) * function(rng, **{**setting["given"], **drawn, **chosen})
        noise = rng.gauss(0, setting.get("error", _POINTS if in_percent(row) else _ERROR))
        if whole:
            found.append(value)
        else:
            found.append(min(max(value, low), high) + noise if in_percent(row) else value * math.exp(noise))
    return found


def _drawn(rng: random.Random, low: float, high: float) -> float:
    """Return a value of a range, drawn on a logarithmic scale if its ends are far apart."""
    if 0 < 4 * low <= high:
        return math.exp(math.log(low) + (math.log(high) - math.log(low)) * rng.random())
    return low + (high - low) * rng.random()


class Forecast(NamedTuple):
    """A forecast: the row, the median, an interval for each of `LEVELS`, or why there is none."""

    row: Mapping[str, str]
    median: float | None
    intervals: Mapping[int, tuple[float, float]]
    missing: str = ""

    @property
    def outcome(self) -> tuple[float, float, float] | None:
        """Measured value with bounds; None while it is sealed. A bound ("at least") has no finite high."""
        if not self.row.get("value"):
            return None
        return float(self.row["value"]), float(self.row["low"]), float(self.row["high"] or math.inf)

    def distance(self, first: float, second: float) -> float:
        """Return the distance between two values on the scale of the scores: of logarithms, or ten percentage points."""
        return (first - second) / 10 if in_percent(self.row) else math.log(first / second)


def forecast(row: Mapping[str, str], setting: Mapping[str, Any] | None = None, narrowed: float = _DRAWN_IN) -> Forecast:
    """Return the forecast of a situation, by its setting in the first set if none is given.

    Examples
    --------
    >>> made = forecast(situations()[0])
    >>> made.intervals[80][0] < made.median < made.intervals[80][1]
    True
    """
    setting = setting or settings()[row["id"]]
    if "missing" in setting:
        return Forecast(row, None, {}, setting["missing"])
    found = sorted(runs(row, setting))

    def cut(share: float) -> float:
        end, middle = (found[min(len(found) - 1, round(each * (len(found) - 1)))] for each in (share, 0.5))
        if "best setting" in row["asked"]:
            return end
        return middle + narrowed * (end - middle) if in_percent(row) else middle * (end / middle) ** narrowed

    return Forecast(row, cut(0.5), {level: (cut(0.5 - level / 200), cut(0.5 + level / 200)) for level in LEVELS})


@cache
def rival_reach() -> float:
    """Return the half-width of a rival's interval: the one that contains four of five practice rows.

    Examples
    --------
    >>> rival_reach() > 0.5
    True
    """
    forecasts = (Forecast(row, None, {}) for row in rows("blind/practice.csv"))
    apart = sorted(abs(each.distance(float(each.row["value"]), float(each.row["rival_value"]))) for each in forecasts)
    return apart[math.ceil(0.8 * len(apart)) - 1]


def rival_interval(made: Forecast) -> tuple[float, float] | None:
    """Return the rival's 80 % interval of a row; None where it gives no number.

    Examples
    --------
    >>> low, high = rival_interval(Forecast({"asked": "a rate", "rival_value": "2"}, None, {}))
    >>> round(low * high, 9)
    4.0
    """
    if not made.row["rival_value"]:
        return None
    value, half_width = float(made.row["rival_value"]), rival_reach()
    if in_percent(made.row):
        return value - 10 * half_width, value + 10 * half_width
    return value * math.exp(-half_width), value * math.exp(half_width)


@cache
def kept() -> tuple[Forecast, ...]:
    """Return the forecasts of ``data/forecasts.csv``.

    Examples
    --------
    >>> len(kept())
    79
    """
    stored = {row["id"]: row for row in rows("forecasts.csv")}
    return tuple(forecast_of(row, stored[row["id"]]) for row in situations())


def forecast_of(row: Mapping[str, str], numbers: Mapping[str, str]) -> Forecast:
    """Return the forecast of a situation from its stored numbers.

    Parameters
    ----------
    row : mapping of str to str
        The situation.
    numbers : mapping of str to str
        Its row in a table of forecasts.

    Examples
    --------
    >>> forecast_of({"id": "toy"}, {"median": "", "missing": "no model"}).median is None
    True
    """
    if not numbers["median"]:
        return Forecast(row, None, {}, numbers["missing"])
    intervals = {level: (float(numbers[f"low{level}"]), float(numbers[f"high{level}"])) for level in LEVELS}
    return Forecast(row, float(numbers["median"]), intervals)


def cells(made: Forecast) -> list[str]:
    """Return the cells of a forecast's row in ``data/forecasts.csv``.

    Examples
    --------
    >>> cells(kept()[0])[:2]
    ['node-03', '2.818']
    """
    setting = settings()[made.row["id"]]
    numbers = [made.median, *(end for level in LEVELS for end in made.intervals.get(level, (None, None)))]
    numbers += rival_interval(made) or (None, None)
    given = "; ".join(f"{key}={value}" for key, value in setting.items() if key not in ("ask", "why", "missing"))
    shown = ["" if number is None else f"{number:.4g}" for number in numbers]
    return [made.row["id"], *shown, setting.get("ask", ""), given, made.missing, MADE]
