"""Question: the scorecard, to search and to filter, with the residuals of what it finds.

It reads ``data/scorecard.csv``, since the studies themselves cannot run in a
page: some need packages that the browser does not have. A test holds the table
to the studies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from hopperlib.documented import VERDICTS
from hopperlib.documented.data_files import rows
from hopperlib.finding import Finding
from hopperlib.questions.book.search import matcher, rows_shown, searchable, study_options
from hopperlib.questions.figures import Axis, Reference, Series, chart
from hopperlib.questions.question import declared
from hopperlib.questions.result import Column, Facts, Figure, Result, Table

__all__ = ["QUESTION"]

Row = dict[str, str]

_ALL = "all"
_NUMBERS = (
    "deviation", "tolerance", "low", "high", "documented_low", "documented_high", "score",
    "rival_value", "rival_low", "rival_high", "rival_score",
)  # fmt: skip
# Roles whose deviation can be drawn, in the order of their looks.
_DRAWN = ("predicted", "calibrated", "identity", "input")
# What lies farther out stands at the edge of the chart: one wild miss would press all others onto the line.
_EDGE = 4.0


@cache
def _table() -> tuple[Row, ...]:
    """Return the rows of the scorecard."""
    return tuple(rows("scorecard.csv"))


@cache
def _texts() -> dict[str, str]:
    """Return what a search looks at, by id."""
    keys = ("id", "quantity", "unit", "documented", "note", "place")
    return {row["id"]: searchable(*(row[key] for key in keys)) for row in _table()}


def _with_residual(found: Sequence[Row]) -> list[tuple[Row, float]]:
    """Return the rows that have a deviation and a tolerance, with the one over the other."""
    judged = [row for row in found if row["deviation"] and float(row["tolerance"] or 0)]
    return [(row, float(row["deviation"]) / float(row["tolerance"])) for row in judged]


def _residuals(drawn: list[tuple[Row, float]]) -> Figure:
    """Return the chart of deviations over tolerances, row by row."""
    ratios = [ratio for _, ratio in drawn]
    outside = sum(abs(ratio) > 1 + 1e-9 for ratio in ratios)
    beyond = sum(abs(ratio) > _EDGE for ratio in ratios)
    places = {row["id"]: number for number, (row, _) in enumerate(drawn, start=1)}
    series = []
    for role in _DRAWN:
        part = [(row, ratio) for row, ratio in drawn if row["role"] == role]
        if part:
            x, y = [places[row["id"]] for row, _ in part], [max(-_EDGE, min(_EDGE, ratio)) for _, ratio in part]
            series.append(Series(name=role, x=x, y=y, kind="points", style=_DRAWN.index(role)))
    figure = chart(
        title="Residuals",
        alt=(
            f"Deviation over tolerance for {len(drawn)} numbers, in the order of the table; "
            f"{len(drawn) - outside} lie between -1 and 1, {outside} outside"
            + (f", {beyond} of them farther out than {_EDGE:g}, drawn at the edge." if beyond else ".")
        ),
        x=Axis(title="Row, of those that have a tolerance"),
        y=Axis(
            title="Deviation over tolerance" + (f"; beyond {_EDGE:g} at the edge" if beyond else ""),
            low=-1.1 * _EDGE,
            high=1.1 * _EDGE,
            decimals=2,
        ),
        series=series,
        references=[Reference(name="tolerance", y=1.0), Reference(name="tolerance, below", y=-1.0)],
    )
    columns = ("Row", "Id", "What", "Documented", "Model", "Role", "Deviation over tolerance")
    cells = [
        (places[row["id"]], row["id"], row["quantity"], row["documented"], row["reproduced"], row["role"], ratio)
        for row, ratio in drawn
    ]
    titles = tuple(Column(title, decimals=2 if title.startswith("Deviation") else None) for title in columns)
    # Each point says which row it is, and how far out.
    names = {
        number: f"{row['quantity']}: {row['documented']} {row['unit']}<br>{ratio:.2f}"
        for number, (row, ratio) in enumerate(drawn, start=1)
    }
    data = [
        trace
        | (
            {"text": [names[at] for at in trace["x"]], "hovertemplate": "%{text}<extra></extra>"}
            if trace["name"] in _DRAWN
            else {}
        )
        for trace in figure.data
    ]
    return replace(figure, data=data, table=Table(caption="Residuals", columns=titles, rows=cells))


def _plain(row: Row) -> dict[str, Any]:
    """Return a row for programs: numbers as numbers, and of a prediction the intervals, the score and the rival."""
    numbers = {name: float(row[name]) if row[name] else None for name in _NUMBERS}
    ends = {name: [numbers[f"{name}low"], numbers[f"{name}high"]] for name in ("", "documented_", "rival_")}
    predicted = bool(row["rival"])
    null = {
        "rival": row["rival"],
        "value": numbers["rival_value"],
        "interval": ends["rival_"],
        "verdict": row["rival_verdict"],
        "score": numbers["rival_score"],
    }
    kept = {name: text for name, text in row.items() if name not in _NUMBERS and not name.startswith("rival")}
    return kept | {
        "deviation": numbers["deviation"],
        "tolerance": numbers["tolerance"],
        "interval": ends[""] if predicted else None,
        "documented_interval": ends["documented_"] if predicted else None,
        "null": null if predicted else None,
        "score": numbers["score"],
        "seeds": int(row["seeds"]) if row["seeds"] else None,
    }


def _lost_and_won(found: Sequence[Row]) -> dict[str, int]:
    """Return how many of the rows are predictions, how many were won, how many of those by the rival too."""
    predicted = [row for row in found if row["role"] == "predicted"]
    won = [row for row in predicted if row["verdict"] == "reproduced"]
    rival_too = sum(row["rival_verdict"] == "reproduced" for row in won)
    return {"falsifiable_predictions": len(predicted), "won": len(won), "rival_wins_too": rival_too}


def _counts(found: Sequence[Row], unexplained: Sequence[str]) -> dict[str, Any]:
    """Return how many rows have each role and each verdict."""
    roles, verdicts = (Counter(row[name] for row in found) for name in ("role", "verdict"))
    return _lost_and_won(found) | {
        "rows": len(found),
        "roles": dict(roles),
        "verdicts": dict(verdicts),
        "unexplained": list(unexplained),
    }


def _answer(*, search: str, study: str, role: str, verdict: str, shown: int) -> Result:
    """Answer for one search."""
    matches, texts = matcher(search), _texts()
    found = [
        row
        for row in _table()
        if study in (_ALL, row["study"])
        and role in (_ALL, row["role"])
        and (verdict in (_ALL, row["verdict"]) or row["verdict"] == f"{verdict}, explained")
        and matches(texts[row["id"]])
    ]
    cut, caption = rows_shown(found, shown, "row")
    counts = Counter(row["verdict"] for row in found)
    spelled = ", ".join(f"{counts[name]} {name.replace(',', ' and')}" for name in VERDICTS if counts[name])
    drawn = _with_residual(found)
    missed = tuple(number for number, row in enumerate(cut) if row["verdict"].startswith("missed"))
    unexplained = [row["id"] for row in found if row["verdict"] == "missed"]
    message = f"missed, and nobody explains it: {', '.join(unexplained)}"
    predicted, won, rival_too = _lost_and_won(found).values()
    leading = f"{predicted} falsifiable prediction{'s' * (predicted != 1)}: {won} won, {rival_too} of them by the simplest rival too. "
    return Result(
        findings=(Finding(code="unexplained", message=message, level="problem"),) if unexplained else (),
        summary=(leading if predicted else "") + caption + (f": {spelled}." if spelled else "."),
        figures=(_residuals(drawn),) if drawn else (),
        tables=(
            Table(
                caption=f"Scorecard: {caption}",
                columns=tuple(
                    Column(title)
                    for title in ("What", "Documented", "Model", "Role", "Verdict", "Why, and where it stands")
                ),
                rows=[
                    (
                        row["quantity"] if study != _ALL else f"{row['study']}: {row['quantity']}",
                        f"{row['documented']} {row['unit']}".strip(),
                        row["reproduced"] or "-",
                        row["role"],
                        row["verdict"],
                        f"{row['note']} ({row['place']})" if row["note"] else row["place"],
                    )
                    for row in cut
                ],
                marked=missed,
                marked_label="the model misses this value",
            ),
        ),
        facts=Facts(
            {
                "found": len(found),
                "missed": counts["missed"],
                "explained": counts["missed, explained"],
                "drawn": len(drawn),
            },
            rest=lambda: {"rows": [_plain(row) for row in found], "summary": _counts(found, unexplained)},
        ),
    )


QUESTION = declared(__name__, _answer, options={"study": study_options()})
