"""A year of benchmarks: incidents with dates and factors, as histories made up from them, and whether they are found.

Documented: what happened when, how much was lost, and which benchmarks moved. The points of the charts are lost, so
that the histories are synthetic: a run every third day over the documented span, with assumed noise. One number is
retrodicted: the effect of a compiler option on TRIAD.
"""

import random
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from random import Random
from typing import NamedTuple

from hopperbook.checks import evaluate_formula
from hopperbook.documented import printed
from hopperbook.studies.study import Shares, Study, Value, predictions, ranges, study_texts
from hopperlib.data_files import data_folder, rows
from hopperlib.monitoring.delays import synthetic_history
from hopperlib.monitoring.history import History, Report, judge
from hopperlib.placement.models.bandwidth import write_allocate_gain

FIRST_DAY, DAYS_BETWEEN, RUNS = date(2005, 10, 25), 3, 84
# Assumed: the spread of runs on a machine that is watched, and the share of them in contention.
SPREAD, CONTENDED = 0.03, 0.08
_SEEDS = range(200)


class Incident(NamedTuple):
    """One incident, the span of the last made up: from when to when, what share of the rate was lost, which kinds moved and which did not."""

    name: str
    begin: date
    end: date
    loss: float
    moved: Sequence[str]
    steady: Sequence[str]


INCIDENTS = tuple(
    Incident(**row | {"loss": float(evaluate_formula(row["loss"], printed))})
    for row in study_texts()["benchmark-history"]["incidents"]
)


def reports(incident: Incident, seed: int) -> Report:
    """Return the reports on a synthetic history with one incident.

    Examples
    --------
    >>> [round(shift.percent, -1) for shift in reports(INCIDENTS[2], 1).shifts]
    [-30.0, 40.0]
    """
    values = synthetic_history(Random(f"{incident.name} {seed}"), runs=RUNS, spread=SPREAD, contended=CONTENDED)
    days = [FIRST_DAY + timedelta(days=DAYS_BETWEEN * run) for run in range(RUNS)]
    values = [
        value * (1 - incident.loss) if incident.begin <= day < incident.end else value
        for day, value in zip(days, values, strict=True)
    ]
    return judge(History(name=incident.name, values=tuple(values), times=tuple(map(str, days)), better="higher"))


def found(incident: Incident, seed: int) -> bool:
    """Return whether both ends of an incident are found within three runs in a made-up history.

    Examples
    --------
    >>> found(INCIDENTS[2], 1)
    True
    """
    ends = [-(-(day - FIRST_DAY).days // DAYS_BETWEEN) for day in (incident.begin, incident.end)]
    places = [shift.run for shift in reports(incident, seed).shifts]
    return all(any(abs(place - end) <= 3 for place in places) for end in ends)


def model(assumed: Mapping[str, float], rng: random.Random) -> dict[str, float]:
    """Return TRIAD's gain if its store no longer reads first. [%]

    Examples
    --------
    >>> model({"waiting": 1}, random.Random(1))
    {'compiler-gain': 33.33333333333333}
    """
    return {"compiler-gain": 100 * write_allocate_gain(2, 1, assumed["waiting"])}


def _values() -> dict[str, Value]:
    histories = rows("found-incidents.csv")
    return {
        **predictions(model, ranges("benchmark-history"), {"compiler-gain": 0.0}),
        # The first incident is over after two runs, too soon for a lasting change at a run every third day;
        # the third has no documented span.
        # Two hundred histories take half a minute: the table contains their results.
        "finds-problems": Shares(sum(row["found"] == "true" for row in histories), len(histories)),
    }


STUDY = Study("benchmark-history", _values, model=model)

if __name__ == "__main__":
    lines = [f"{seed},{str(found(INCIDENTS[1], seed)).lower()}" for seed in _SEEDS]
    (data_folder() / "found-incidents.csv").write_text("\n".join(["seed,found", *lines, ""]), encoding="utf-8")
