"""Error rates of the detector of lasting changes beside those of other tools: python -m benchmarks.change_rates [detector [kind ...]].

Histories of 120 runs without a change: how many are alarmed. Of 100 runs with a loss from run 80 on: how many losses are
found within three runs of their place. And the same watched run by run: after how many runs half of the losses of 20 %
are seen, and how many unchanged histories are alarmed on the way from run 80 to run 120. Rows go to standard output, as
they stand in ``data/change-rates.csv``.

Seeds are texts: "rates", the kind, "none" or "loss", and the number of the series from 0, so that all detectors meet the
same histories. They are not those on which the threshold was chosen. The peers need benchmarks/requirements-peers.txt.
"""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from random import Random
from statistics import median

from benchmarks.many_histories import courses
from hopperlib.monitoring.delays import synthetic_history

Histories = Sequence[Sequence[float]]
Detector = Callable[[Histories], list[list[int]]]

LOSSES = (0.05, 0.1, 0.2, 0.3)
BEFORE, AFTER, NEAR = 80, 20, 3
WATCHED = 40

# Spread, autocorrelation and share in contention of each kind; skewed and rounded ones are changed further below.
KINDS = {
    "independent": (0.08, 0.0, 0.15),
    "autocorrelation 0.5": (0.08, 0.5, 0.15),
    "autocorrelation 0.7": (0.08, 0.7, 0.15),
    "quiet": (0.03, 0.0, 0.05),
    "skewed": (0.0, 0.0, 0.05),
    "rounded": (0.08, 0.0, 0.15),
}


def history(kind: str, number: int, loss: float, runs: int) -> list[float]:
    """Return one made-up history of a kind, with a loss from run 80 on if there is any."""
    spread, persistence, contended = KINDS[kind]
    rng = Random(f"rates {kind} {'loss' if loss else 'none'} {number}")
    values = synthetic_history(
        rng, runs=runs, loss=loss, change=BEFORE, spread=spread, persistence=persistence, contended=contended
    )
    if kind == "skewed":
        # A tail to one side only: an exponential delay of 8 % on average.
        values = [value / (1 + rng.expovariate(1 / 0.08)) for value in values]
    return [5.0 * round(value / 5) for value in values] if kind == "rounded" else values


def here(histories: Histories) -> list[list[int]]:
    """Return the places of the changes found in each history."""
    return [[change.run for change in course.changes] for course in courses(histories)]


def otava(histories: Histories) -> list[list[int]]:
    """Return the same by Apache Otava, p = 1e-4 and at least 5 %."""
    from otava.analysis import compute_change_points  # type: ignore[import-not-found, unused-ignore]

    found = (compute_change_points(list(values), 50, 1e-4, min_magnitude=0.05)[0] for values in histories)
    return [[int(point.index) for point in points] for points in found]


def asv(histories: Histories) -> list[list[int]]:
    """Return the same by the steps of airspeed velocity."""
    from asv.step_detect import detect_steps  # type: ignore[import-not-found, unused-ignore]

    return [[step[0] for step in detect_steps(list(values), [1] * len(values))[1:]] for values in histories]


def ruptures(penalty: float) -> Detector:
    """Return the same by ruptures: the kernel "rbf" with a penalty, searched exactly."""

    def detector(histories: Histories) -> list[list[int]]:
        import numpy as np
        from ruptures import KernelCPD  # type: ignore[import-untyped, unused-ignore]

        # The same optimum as that of `Pelt` with the cost "rbf" and no step, in a hundredth of the time.
        searches = (KernelCPD(kernel="rbf", min_size=4).fit(np.array(values)) for values in histories)
        return [[int(place) for place in search.predict(pen=penalty)[:-1]] for search in searches]

    return detector


def fixed_rule(histories: Histories) -> list[list[int]]:
    """Return the runs that are a tenth below the median of the first 80."""
    levels = (median(values[:BEFORE]) for values in histories)
    return [
        [run for run, value in enumerate(values) if run >= BEFORE and value < 0.9 * level]
        for level, values in zip(levels, histories, strict=True)
    ]


# Detector: its package, how it is asked, series of each kind, and series watched run by run.
DETECTORS: dict[str, tuple[str, Detector, int, int]] = {
    "hopper watch": ("hopper-book", here, 400, 30),
    "Apache Otava": ("apache-otava", otava, 300, 30),
    "asv": ("asv", asv, 300, 30),
    "ruptures rbf, penalty 10": ("ruptures", ruptures(10), 300, 30),
    "ruptures rbf, penalty 3": ("ruptures", ruptures(3), 300, 30),
    "fixed rule, -10 %": ("", fixed_rule, 1000, 200),
}


def watched(detector: Detector, kind: str, loss: float, series: int) -> list[float]:
    """Return after how many runs each history is alarmed, run by run from run 80 on; infinity where it is not in 40."""
    histories = {number: history(kind, number, loss, BEFORE + WATCHED) for number in range(series)}
    seen: list[float] = []
    for step in range(1, WATCHED + 1):
        places = detector([values[: BEFORE + step] for values in histories.values()]) if histories else []
        earliest = BEFORE - NEAR if loss else 0
        alarmed = [
            number for number, found in zip(histories, places, strict=True) if any(place >= earliest for place in found)
        ]
        seen += [float(step)] * len(alarmed)
        for number in alarmed:
            del histories[number]
    return sorted(seen) + [math.inf] * len(histories)


def row(name: str, kind: str) -> list[object]:
    """Return one row of the table."""
    package, detector, series, few = DETECTORS[name]
    try:
        known = version(package) if package else ""
    except PackageNotFoundError:
        known = ""
    unchanged = detector([history(kind, number, 0, BEFORE + WATCHED) for number in range(series)])
    shares = [sum(map(bool, unchanged)) / series]
    for loss in LOSSES:
        found = detector([history(kind, number, loss, BEFORE + AFTER) for number in range(series)])
        shares.append(sum(any(abs(place - BEFORE) <= NEAR for place in places) for places in found) / series)
    delay = alarms = ""
    if few:
        half = watched(detector, kind, 0.2, few)[few // 2]
        delay = f"{half:g}" if math.isfinite(half) else ""
        alarms = f"{sum(map(math.isfinite, watched(detector, kind, 0, few))) / few:.4f}"
    return [name, known, kind, series, *(f"{share:.4f}" for share in shares), few, delay, alarms]


if __name__ == "__main__":
    writer = csv.writer(sys.stdout, lineterminator="\n")
    losses = (f"found_{100 * loss:g}_percent" for loss in LOSSES)
    writer.writerow(
        [
            "detector",
            "version",
            "kind",
            "series",
            "alarmed",
            *losses,
            "series_watched",
            "delay_runs",
            "alarmed_watching",
        ]
    )
    for name in sys.argv[1:2] or DETECTORS:
        for kind in sys.argv[2:] or KINDS:
            writer.writerow(row(name, kind))
            sys.stdout.flush()
