"""How soon a loss is seen, run by run: python -m benchmarks.detection_delays [series] > data/detection-delays.csv.

Each history has 80 ordinary runs, then the loss; after 4 and more further runs, as listed in `STEPS`, the detector
looks at all so far, until it sees a change within three runs of the place or later. Rows of no loss say how many
unchanged histories were alarmed at any of the looks. Seeds are texts: "delay", the settings, the number of the series.
"""

from __future__ import annotations

import csv
import math
import sys
from random import Random

from benchmarks.many_histories import courses
from hopperlib.monitoring.delays import synthetic_history

SPREADS = (0.01, 0.02, 0.03, 0.05, 0.08, 0.12)
CONTENDED = (0.05, 0.15)
PERSISTENCES = (0.0, 0.5)
LOSSES = (0.0, 0.03, 0.05, 0.1, 0.2, 0.3)
BEFORE = 80
STEPS = (*range(4, 13), 14, 16, 18, 20, 24, 28, 32, 36, 40)


def delays(spread: float, contended: float, persistence: float, loss: float, series: int) -> list[float]:
    """Return after how many runs each history is alarmed, in order; infinity where it is not within the last step."""
    histories = {
        number: synthetic_history(
            Random(f"delay {spread} {contended} {persistence} {loss} {number}"),
            runs=BEFORE + STEPS[-1],
            loss=loss,
            change=BEFORE,
            spread=spread,
            persistence=persistence,
            contended=contended,
        )
        for number in range(series)
    }
    seen = []
    for step in STEPS:
        found = courses([history[: BEFORE + step] for history in histories.values()]) if histories else []
        # Without a loss any change is a false alarm.
        earliest = BEFORE - 3 if loss else 0
        alarmed = [
            number
            for number, course in zip(histories, found, strict=True)
            if any(change.run >= earliest for change in course.changes)
        ]
        seen += [float(step)] * len(alarmed)
        for number in alarmed:
            del histories[number]
    return seen + [math.inf] * len(histories)


def row(spread: float, contended: float, persistence: float, loss: float, series: int) -> list[object]:
    """Return one row of the table: the settings, the share alarmed, and the delays of a half and of nine in ten."""
    waited = delays(spread, contended, persistence, loss, series)
    alarmed = sum(map(math.isfinite, waited)) / series
    quantiles = [waited[math.ceil(share * series) - 1] for share in (0.5, 0.9)] if loss else [math.inf] * 2
    shown = [f"{runs:g}" if math.isfinite(runs) else "" for runs in quantiles]
    return [
        *(f"{100 * share:g}" for share in (spread, contended)),
        persistence,
        f"{100 * loss:g}",
        series,
        alarmed,
        *shown,
    ]


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(
        [
            "spread_percent",
            "contended_percent",
            "persistence",
            "loss_percent",
            "series",
            "alarmed",
            "median_runs",
            "ninety_runs",
        ]
    )
    for persistence in PERSISTENCES:
        for contended in CONTENDED:
            for spread in SPREADS:
                for loss in LOSSES:
                    writer.writerow(row(spread, contended, persistence, loss, count))
                    sys.stdout.flush()
