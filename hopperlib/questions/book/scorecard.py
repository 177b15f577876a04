"""Question: the scorecard, to search and to filter, with the residuals of what it finds.

It reads ``data/scorecard.csv``, since the studies themselves cannot run in a
page: some need packages that the browser does not have. A test holds the table
to the studies.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from hopperlib.documented import VERDICTS
from hopperlib.documented.data_files import rows
from hopperlib.questions.book.search import ALL, Browsed, rows_shown, study_options
from hopperlib.questions.figures import Series
from hopperlib.questions.question import declared
from hopperlib.questions.result import Facts, Figure, Result
from hopperlib.questions.wording import record_of, wording

Row = dict[str, str]

_WORDING = wording(__name__)
_NUMBERS = record_of(__name__)["numbers"]
# Roles whose deviation can be drawn, in the order of their looks.
_DRAWN = ("predicted", "calibrated", "identity", "input")
# What lies farther out stands at the edge of the chart: one wild miss would press all others onto the line.
_EDGE = 4.0


@cache
def _table() -> tuple[Row, ...]:
    """Return the rows of the scorecard."""
    return tuple(rows("scorecard.csv"))


def _with_residual(rows: Sequence[Row]) -> list[tuple[Row, float]]:
    """Return the rows that have a deviation and a tolerance, with the one over the other."""
    judged = [row for row in rows if row["deviation"] and float(row["tolerance"] or 0)]
    return [(row, float(row["deviation"]) / float(row["tolerance"])) for row in judged]


def _residuals(drawn: list[tuple[Row, float]]) -> Figure:
    """Return the chart of deviations over tolerances, row by row."""
    numbered = [(number, row, ratio) for number, (row, ratio) in enumerate(drawn, start=1)]
    outside = sum(abs(ratio) > 1 + 1e-9 for _, ratio in drawn)
    said = _WORDING.of(
        drawn=len(drawn),
        inside=len(drawn) - outside,
        outside=outside,
        beyond=sum(abs(ratio) > _EDGE for _, ratio in drawn),
        edge=_EDGE,
        low=-1.1 * _EDGE,
        high=1.1 * _EDGE,
    )
    series = []
    for look, role in enumerate(_DRAWN):
        # Every role keeps its look whether the others are there or not.
        part = {number: max(-_EDGE, min(_EDGE, ratio)) for number, row, ratio in numbered if row["role"] == role}
        if part:
            series.append(Series(name=role, x=list(part), y=list(part.values()), kind="points", style=look))
    figure = said.chart("residuals", series)
    # Each point says which row it is, and how far out.
    names = {
        number: f"{row['quantity']}: {row['documented']} {row['unit']}<br>{ratio:.2f}"
        for number, row, ratio in numbered
    }
    data = [
        trace | {"text": [names[at] for at in trace["x"]], "hovertemplate": "%{text}<extra></extra>"}
        if trace["name"] in _DRAWN
        else trace
        for trace in figure.data
    ]
    cells = [
        (number, row["id"], row["quantity"], row["documented"], row["reproduced"], row["role"], ratio)
        for number, row, ratio in numbered
    ]
    return replace(figure, data=data, table=said.table("residuals", cells))


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
    # What is left are texts, which stay as they are; numbers and rivals have places of their own.
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


def _lost_and_won(rows: Sequence[Row]) -> dict[str, int]:
    """Return how many of the rows are predictions, how many were won, how many of those by the rival too."""
    predicted = [row for row in rows if row["role"] == "predicted"]
    won = [row for row in predicted if row["verdict"] == "reproduced"]
    rival_too = sum(row["rival_verdict"] == "reproduced" for row in won)
    return {"falsifiable_predictions": len(predicted), "won": len(won), "rival_wins_too": rival_too}


class _Search(Browsed):
    """One search."""

    def result(self) -> Result:
        """Return the answer."""
        parts = ("id", "quantity", "unit", "documented", "note", "place")
        matching = self.found(_table(), ("study", "role"), parts)
        matching = [
            row for row in matching if self.verdict in (ALL, row["verdict"].removesuffix(", explained"), row["verdict"])
        ]
        cut, caption = rows_shown(matching, self.shown, "row")
        roles, counts = (Counter(row[name] for row in matching) for name in ("role", "verdict"))
        drawn, won = _with_residual(matching), _lost_and_won(matching)
        unexplained = [row["id"] for row in matching if row["verdict"] == "missed"]
        said = self.said(
            won=won,
            predicted=won["falsifiable_predictions"],
            caption=caption,
            spelled=", ".join(f"{counts[name]} {name.replace(',', ' and')}" for name in VERDICTS if counts[name]),
            unexplained=unexplained,
            rows=[
                (
                    row["quantity"] if self.study != ALL else f"{row['study']}: {row['quantity']}",
                    f"{row['documented']} {row['unit']}".strip(),
                    row["reproduced"] or "-",
                    row["role"],
                    row["verdict"],
                    f"{row['note']} ({row['place']})" if row["note"] else row["place"],
                )
                for row in cut
            ],
            missed_rows=[number for number, row in enumerate(cut) if row["verdict"].startswith("missed")],
            found=len(matching),
            missed=counts["missed"],
            explained=counts["missed, explained"],
            drawn=len(drawn),
        )
        summary = {"rows": len(matching), "roles": dict(roles), "verdicts": dict(counts), "unexplained": unexplained}
        return said.result(
            figures=(_residuals(drawn),) if drawn else (),
            tables=(said.table("rows"),),
            facts=Facts(said.facts, rest=lambda: {"rows": [_plain(row) for row in matching], "summary": won | summary}),
        )


QUESTION = declared(__name__, _Search.answer, options={"study": study_options()})
