"""Rewrite ``data/forecasts.csv``: ``make forecasts``."""

import csv

from hopperbook.forecasts import LEVELS, cells, forecast, situations
from hopperlib.data_files import data_folder

if __name__ == "__main__":
    ends = [f"{end}{level}" for level in LEVELS for end in ("low", "high")]
    with (data_folder() / "forecasts.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", "median", *ends, "rival_low", "rival_high", "function", "settings", "missing", "date"])
        writer.writerows(cells(forecast(row)) for row in situations())
