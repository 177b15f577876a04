"""The second blind test: forecasts by functions that serve several situations, not yet scored.

``data/blind/second/settings.toml`` names for each situation the function of `hopperbook.forecasts.answers`, with values
from the row and ranges of unknown ones; or the missing model; or states that the source was seen, so that the row is
not scored. Intervals are not narrowed.

``python -m hopperbook.forecasts.second`` writes ``data/blind/second/forecasts.csv`` and its digest.
"""

import csv
import hashlib
import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Any

from hopperbook.forecasts import LEVELS, Forecast, forecast, forecast_of
from hopperlib.data_files import data_folder, rows

#: When the forecasts were made.
MADE = "2026-11-28"
_FOLDER = "blind/second"


@cache
def settings() -> dict[str, dict[str, Any]]:
    """Function, givens and ranges of each situation, by id.

    Examples
    --------
    >>> settings()["2-node-01"]["ask"]
    'answers.curve'
    """
    return tomllib.loads((data_folder() / _FOLDER / "settings.toml").read_text(encoding="utf-8"))


def situations() -> list[dict[str, str]]:
    """The rows of the second test, those with an outcome first.

    Examples
    --------
    >>> len(situations())
    93
    """
    practice = [row | {"practice": "true"} for row in rows(f"{_FOLDER}/practice.csv")]
    return practice + list(rows(f"{_FOLDER}/sealed.csv"))


def made(row: Mapping[str, str]) -> Forecast:
    """The forecast of a situation.

    Examples
    --------
    >>> made(situations()[0]).median > 0
    True
    """
    setting = settings()[row["id"]]
    if "seen" in setting:
        return Forecast(row, None, {}, f"not forecast: {setting['seen']}")
    return forecast(row, setting, narrowed=1.0)


@cache
def kept() -> tuple[Forecast, ...]:
    """The forecasts of ``data/blind/second/forecasts.csv``.

    Examples
    --------
    >>> len(kept())
    93
    """
    stored = {row["id"]: row for row in rows(f"{_FOLDER}/forecasts.csv")}
    return tuple(forecast_of(row, stored[row["id"]]) for row in situations())


def digest() -> str:
    """The SHA-256 of the forecasts as committed.

    Examples
    --------
    >>> len(digest())
    64
    """
    return (data_folder() / _FOLDER / "forecasts.sha256").read_text(encoding="utf-8").split()[0]


def cells(each: Forecast) -> list[str]:
    """The cells of a forecast's row.

    Examples
    --------
    >>> cells(kept()[0])[0]
    '2-node-03'
    """
    setting = settings()[each.row["id"]]
    numbers = [each.median, *(end for level in LEVELS for end in each.intervals.get(level, (None, None)))]
    given = "; ".join(
        f"{key}={value}" for key, value in setting.items() if key in ("given", "assumed", "choices", "error")
    )
    shown = ["" if number is None else f"{number:.4g}" for number in numbers]
    return [each.row["id"], *shown, setting.get("ask", ""), given, each.missing, MADE]


if __name__ == "__main__":
    ends = [f"{end}{level}" for level in LEVELS for end in ("low", "high")]
    file = data_folder() / _FOLDER / "forecasts.csv"
    with file.open("w", encoding="utf-8", newline="") as table:
        writer = csv.writer(table, lineterminator="\n")
        writer.writerow(["id", "median", *ends, "function", "settings", "missing", "date"])
        writer.writerows(cells(made(row)) for row in situations())
    hashed = hashlib.sha256(file.read_bytes()).hexdigest()
    file.with_suffix(".sha256").write_text(f"{hashed}  forecasts.csv\n", encoding="utf-8")
