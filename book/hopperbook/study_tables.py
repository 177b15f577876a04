"""What the notebook of a study shows of its documented values: tables and assumptions.

Every study page shows the same things in the same way, so they are made
in one place, from the data and the scorecard.
"""

import json
import os
import random
import textwrap
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from hopperbook.score import rows
from hopperbook.studies import load
from hopperbook.studies.study import Range, ranges
from hopperlib.documented import by_study, documented
from hopperlib.questions.figures import Axis, Series, chart
from hopperlib.questions.result import Column, Figure, Table, table
from hopperlib.text import capital, digits

_SEEDS = 20
# Documented values that a page shows at once; more of them are folded away.
_OPEN_ROWS = 6


def documented_table(study: str, *ids: str) -> Table:
    """Return documented values of a study as printed, with their places.

    Parameters
    ----------
    study : str
    *ids : str
        Rows to show, without the study's name and dot; none shows all.

    Raises
    ------
    ValueError
        If the study has no such row.

    Examples
    --------
    >>> documented_table("placement", "vasp-tasks").rows
    [('tasks of the VASP run', '384', 'MPI tasks', 'antypas2011, sec. 2 User Environment; launch line')]
    """
    values = {value.id.partition(".")[2]: value for value in by_study(study)}
    shown = len(ids or values)
    for name in ids:
        if name not in values:
            raise ValueError(f"study {study!r} has no documented value {name!r}; it has: {', '.join(values)}")
    return table(
        "Documented values, as printed",
        [values[name] for name in ids or values],
        {
            "What": lambda value: value.quantity,
            "Value": lambda value: value.value,
            "Unit": lambda value: value.unit,
            "Source and place": lambda value: f"{value.source}, {value.locator}",
        },
        folded=f"{shown} documented values, as printed" if shown > _OPEN_ROWS else "",
    )


def scorecard_table(study: str) -> Table:
    """Return the scorecard of a study: documented beside reproduced, with role and verdict.

    Examples
    --------
    >>> table = scorecard_table("placement")
    >>> [column.title for column in table.columns]
    ['What', 'Documented', 'Model', 'Role', 'Verdict', 'Why']
    """
    scored = rows(study)
    missed = tuple(at for at, row in enumerate(scored) if row.verdict.startswith("missed"))
    return table(
        "Scorecard of this study",
        scored,
        {
            "What": lambda row: row.quantity,
            "Documented": lambda row: f"{row.documented} {row.unit}".rstrip(),
            "Model": lambda row: row.reproduced,
            "Role": lambda row: row.role,
            "Verdict": lambda row: row.verdict,
            "Why": lambda row: row.note,
        },
        marked=missed,
        marked_label="the model misses this value",
        folded=f"Scorecard of this study, {len(scored)} values: {len(missed) or 'none'} missed",
    )


def _wrapped(text: str) -> str:
    """Return a label in lines that a narrow chart can hold."""
    return "<br>".join(textwrap.wrap(text, 32))


class Moved(NamedTuple):
    """How far one assumption moves one predicted number, all others at their usual values."""

    study: str
    number: str
    assumption: str
    at_low: float
    at_usual: float
    at_high: float

    @property
    def share(self) -> float:
        """Difference of the two ends over the usual number."""
        return abs(self.at_high - self.at_low) / abs(self.at_usual)


@cache
def moved(study: str) -> tuple[Moved, ...]:
    """Return how far each assumption of a study moves each predicted number, the largest first; means over seeds.

    A build works it out once for all pages: the folder ``HOPPER_KEPT`` keeps it.

    Examples
    --------
    >>> largest = moved("slow-ost")[0]
    >>> largest.number, largest.assumption
    ('probe-minutes-high', 'noise')
    """
    if "HOPPER_KEPT" not in os.environ:
        return _moved(study)
    kept = Path(os.environ["HOPPER_KEPT"], f"moved-{study}.json")
    if not kept.exists():
        # Another notebook may be at it too; who reads finds a whole file.
        part = kept.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps(_moved(study)), encoding="utf-8")
        part.replace(kept)
    return tuple(Moved(*line) for line in json.loads(kept.read_text(encoding="utf-8")))


def _moved(study: str) -> tuple[Moved, ...]:
    """Return what `moved` does, worked out now."""
    read = load(study)
    if read.model is None:
        return ()
    model, usual = read.model, {name: each.value for name, each in read.ranges.items()}

    def mean_numbers(assumed: Mapping[str, float]) -> dict[str, float]:
        # Most models draw nothing: two runs that agree tell that, and save the other eighteen.
        given = [model(assumed, random.Random(seed)) for seed in range(2)]
        if given[0] != given[1]:
            given += [model(assumed, random.Random(seed)) for seed in range(2, _SEEDS)]
        return {name: fmean(run[name] for run in given) for name in given[0]}

    middle = mean_numbers(usual)
    table = []
    for name, each in read.ranges.items():
        low, high = (mean_numbers(usual | {name: end}) for end in (each.low, each.high))
        table += [Moved(study, number, name, low[number], middle[number], high[number]) for number in middle]
    return tuple(sorted(table, key=lambda line: -line.share))


def tornado_figure(study: str, *, most: int = 12) -> Figure:
    """Return how far each assumption of a study moves each number that it predicts, the largest on top.

    Parameters
    ----------
    study : str
    most : int
        Pairs of a number and an assumption that are drawn; the table holds all.

    Raises
    ------
    ValueError
        If the study predicts nothing from ranges.

    Examples
    --------
    >>> tornado_figure("io-node").data[0]["x"]
    [-4.5, 8.1]
    """
    drawn = moved(study)[:most][::-1]
    if not drawn:
        raise ValueError(f"study {study!r} has no prediction from ranges of assumptions, so there is nothing to draw")
    several = len({line.number for line in drawn}) > 1
    labels = [
        _wrapped(
            (f"{documented(f'{study}.{line.number}').quantity}: " if several else "")
            + ranges(study)[line.assumption].what
        )
        for line in drawn
    ]
    series = [
        Series(
            name=f"at the {end} end of the range",
            x=[round(100 * (getattr(line, f"at_{end}") / line.at_usual - 1), 1) for line in drawn],
            y=labels,
            kind="points",
        )
        for end in ("low", "high")
    ]
    largest = drawn[-1]
    figure = chart(
        title="What moves the predictions",
        alt="Change of a predicted number as one assumption goes through its range and all others stay. Most is moved "
        f"by {ranges(study)[largest.assumption].what}: from {digits(largest.at_low, 4)} to {digits(largest.at_high, 4)}.",
        x=Axis(title="Change of the number", unit="%", decimals=1),
        y=Axis(title=""),
        series=series,
    )
    return replace(figure, layout=figure.layout | {"height": 140 + 44 * len(drawn)}, table=tornado(study))


def tornado(*studies: str, least: float = 0.001) -> Table:
    """Return what moves the predicted numbers of studies, the largest first, with ranges and why those.

    Parameters
    ----------
    *studies : str
    least : float
        Share of a number below which an assumption is left out.

    Examples
    --------
    >>> tornado("io-node").rows[0][2:5]
    ('share of its injection bandwidth that a full Franklin node writes', '0.617 to 0.717', '7.577 to 6.52')
    """
    lines = sorted((line for study in studies for line in moved(study)), key=lambda line: -line.share)
    return table(
        "What moves the predictions",
        [(line, ranges(line.study)[line.assumption]) for line in lines if line.share >= least],
        {
            "Study": lambda pair: load(pair[0].study).title,
            "Predicted number": lambda pair: documented(f"{pair[0].study}.{pair[0].number}").quantity,
            "Assumption": lambda pair: pair[1].what,
            "Range": lambda pair: _range(pair[1]),
            "Moves the number": lambda pair: f"{digits(pair[0].at_low, 4)} to {digits(pair[0].at_high, 4)}",
            Column("By", "%", 1): lambda pair: 100 * pair[0].share,
            "Why this range": lambda pair: pair[1].why,
        },
    )


def _range(each: Range) -> str:
    """Return a range with its unit."""
    return f"{digits(each.low, 6)} to {digits(each.high, 6)} {each.unit}".rstrip()


def assumptions(study: str) -> str:
    """Return a study's assumptions as a Markdown list, those that are numbers with their ranges.

    Examples
    --------
    >>> assumptions("placement").startswith("- ")
    True
    """
    numbers = (
        f"{capital(each.what)}: {_range(each)} ({each.why}).{f' Changed {each.changed}.' if each.changed else ''}"
        for each in ranges(study).values()
    )
    return "\n".join(f"- {text}" for text in (*load(study).assumptions, *numbers))
