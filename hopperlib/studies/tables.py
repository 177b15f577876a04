"""What the notebook of a study shows of its documented values: tables, residuals, assumptions.

Every study page shows the same three things in the same way, so they are made
in one place, from the data and the scorecard.
"""

from __future__ import annotations

import textwrap
from dataclasses import replace

from hopperlib.documented import by_study
from hopperlib.questions.figures import Axis, Series, chart
from hopperlib.questions.result import Column, Figure, Table
from hopperlib.scoring import rows
from hopperlib.studies import load

__all__ = ["assumptions", "documented_table", "residual_figure", "scorecard_table"]

# An input deviates from what is printed by nothing, or it is a defect: it is not drawn.
_DRAWN = ("predicted", "identity", "calibrated")


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
    (('tasks of the VASP run', '384', 'MPI tasks', 'antypas2011, sec. 2 User Environment; launch line'),)
    """
    values = {value.id.partition(".")[2]: value for value in by_study(study)}
    for name in ids:
        if name not in values:
            raise ValueError(f"study {study!r} has no documented value {name!r}; it has: {', '.join(values)}")
    return Table(
        caption="Documented values, as printed",
        columns=_columns("What", "Value", "Unit", "Source and place"),
        rows=tuple(
            (value.quantity, value.value, value.unit, f"{value.source}, {value.locator}")
            for value in (values[name] for name in ids or values)
        ),
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
    return Table(
        caption="Scorecard of this study",
        columns=_columns("What", "Documented", "Model", "Role", "Verdict", "Why"),
        rows=tuple(
            (row.quantity, f"{row.documented} {row.unit}".strip(), row.reproduced, row.role, row.verdict, row.note)
            for row in scored
        ),
        marked=tuple(number for number, row in enumerate(scored) if row.verdict.startswith("missed")),
        marked_label="the model misses this value",
    )


def residual_figure(study: str) -> Figure:
    """Return the deviations of a study's numbers from the documented ones, in units of their tolerance.

    A point between -1 and 1 is within tolerance. Rows without a tolerance of
    their own (bounds, bands, shapes) cannot be drawn and are left to the table.

    Raises
    ------
    ValueError
        If no row of the study has a deviation and a tolerance.

    Examples
    --------
    >>> figure = residual_figure("placement")
    >>> set(figure.data[0]["x"])
    {0.0}
    """
    drawn = [(row, row.residual) for row in rows(study) if row.role in _DRAWN and row.residual is not None]
    if not drawn:
        raise ValueError(f"study {study!r} has no row with a deviation and a tolerance, so there is nothing to draw")
    by_role = {role: [(ratio, row.quantity) for row, ratio in drawn if row.role == role] for role in _DRAWN}
    series = [
        Series(name=role, x=[ratio for ratio, _ in part], y=[_wrapped(what) for _, what in part], kind="points")
        for role, part in by_role.items()
        if part
    ]
    outside = sum(abs(ratio) > 1 + 1e-9 for _, ratio in drawn)
    reach = 1.2 * max(1.0, *(abs(ratio) for _, ratio in drawn))
    band = {"type": "rect", "xref": "x", "yref": "paper", "x0": -1, "x1": 1, "y0": 0, "y1": 1, "layer": "below"}
    figure = chart(
        title="Residuals of this study",
        alt=(
            f"Deviation of the model from the documented value for {len(drawn)} numbers, in units of each one's "
            f"tolerance; {len(drawn) - outside} lie between -1 and 1, {outside} outside."
        ),
        x=Axis(title="Deviation over tolerance; the band from -1 to 1 agrees", low=-reach, high=reach, decimals=2),
        y=Axis(title=""),
        series=series,
        height=140 + 34 * len(drawn),
        shapes=[band | {"fillcolor": "rgba(122,122,122,0.15)", "line": {"width": 0}}],
    )
    table = Table(
        caption="Residuals of this study",
        columns=_columns("What", "Role", "Documented", "Model", "Deviation", "Tolerance"),
        rows=[
            (row.quantity, row.role, row.documented, row.reproduced, row.deviation, row.tolerance) for row, _ in drawn
        ],
    )
    return replace(figure, table=table)


def _columns(*titles: str) -> tuple[Column, ...]:
    """Return columns of texts."""
    return tuple(Column(title=title) for title in titles)


def _wrapped(text: str) -> str:
    """Return a label in lines that a narrow chart can hold."""
    return "<br>".join(textwrap.wrap(text, 32))


def assumptions(study: str) -> str:
    """Return a study's assumptions as a Markdown list.

    Examples
    --------
    >>> assumptions("placement").startswith("- ")
    True
    """
    return "\n".join(f"- {text}" for text in load(study).assumptions)
