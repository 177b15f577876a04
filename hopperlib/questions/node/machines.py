"""Question: machines side by side, from the parts in their files."""

from __future__ import annotations

from typing import Any

from hopperlib.machine import Machine
from hopperlib.machine.derived import FIGURES, Derived, derived
from hopperlib.machine.faults import faults
from hopperlib.questions.figures import Axis, Series, chart
from hopperlib.questions.machine_choice import chosen_machine
from hopperlib.questions.node.drawings import node_drawing
from hopperlib.questions.question import declared
from hopperlib.questions.result import Column, Download, Drawing, Figure, Result, Table, Value, format_number

__all__ = ["QUESTION"]

NONE = "none"

# How many nodes are drawn: a node of many sockets is as long as a page.
_DRAWN = {"two": 2, "all": 3, "none": 0}

# Bars of very different length would hide the short ones.
_MOST_APART = 30


def _figures_of(machines: list[Machine]) -> dict[str, list[Derived]]:
    """Return the figures of some machines, by name of the figure."""
    columns = [derived(machine) for machine in machines]
    return {row[0].name: list(row) for row in zip(*columns, strict=True)}


def _comparison(machines: list[Machine], figures: dict[str, list[Derived]], chosen: str) -> Table:
    """Return the table of all figures."""
    rows: list[tuple[Any, ...]] = []
    for row in figures.values():
        cells: list[Any] = [f"{row[0].label} [{row[0].unit}]" if row[0].unit else row[0].label]
        for one in row:
            shown = (
                None if one.value is None else (round(one.value, one.decimals) if one.decimals else round(one.value))
            )
            cells += [shown, one.badge if one.value is not None else "-"]
        first, second = row[0].value, row[1].value if len(row) > 1 else None
        cells.append(round(first / second, 3) if first and second else None)
        rows.append(tuple(cells))
    columns = [Column("Figure")]
    for machine in machines:
        columns += [Column(machine.title), Column("how sure")]
    if len(machines) > 1:
        columns.append(Column(f"{machines[0].title} / {machines[1].title}", decimals=3))
    else:
        rows = [row[:-1] for row in rows]
    return Table(
        caption="What follows from the machine files",
        columns=tuple(columns),
        rows=rows,
        marked=(list(figures).index(chosen),),
        marked_label="drawn above",
    )


def _faults(machines: list[Machine]) -> Table:
    """Return the table of faults and what each machine makes of them."""
    words = {True: "goes on", False: "stops", None: "not told"}
    return Table(
        caption="What each machine survives",
        columns=tuple(Column(title) for title in ("Fault", "Machine", "It", "What then", "How sure")),
        rows=[
            (fault.name, machine.title, words[fault.goes_on], fault.what_then, fault.badge or "-")
            for machine in machines
            for fault in faults(machine)
        ],
    )


def _chart(machines: list[Machine], row: list[Derived]) -> Figure:
    """Return the chart of one figure for all machines."""
    told = [(machine.title, one.value) for machine, one in zip(machines, row, strict=True) if one.value is not None]
    spelled = ", ".join(f"{title} {format_number(value, row[0].decimals)}" for title, value in told) or "not told"
    apart = bool(told) and max(value for _, value in told) > _MOST_APART * min(value for _, value in told)
    unit = f", in {row[0].unit}" if row[0].unit else ""
    return chart(
        title=row[0].label,
        alt=f"{row[0].label}{unit}, machine by machine: {spelled}." + (" The scale is logarithmic." if apart else ""),
        x=Axis(title="Machine"),
        y=Axis(title=row[0].label, unit=row[0].unit, low=None if apart else 0.0, log=apart, decimals=row[0].decimals),
        series=[
            Series(
                name=row[0].label,
                x=[title for title, _ in told],
                y=[value for _, value in told],
                kind="points" if apart else "bars",
            )
        ],
    )


def _drawings(machines: list[Machine]) -> tuple[Drawing, ...]:
    """Return the bare node of each of some machines."""
    return tuple(
        node_drawing(machine.node(), title=f"A node of {machine.title}: {machine.node().cores} cores")
        for machine in machines
    )


def _answer(*, first: str, second: str, third: str, figure: str, drawn: str, machine_file: str) -> Result:
    """Answer for up to three machines."""
    names = [first, *(name for name in (second, third) if name != NONE)]
    machines = [chosen_machine(first, machine_file), *(Machine.load(name) for name in dict.fromkeys(names[1:]))]
    # A machine beside itself would only repeat its columns.
    machines = [one for number, one in enumerate(machines) if one.name not in {each.name for each in machines[:number]}]
    figures = _figures_of(machines)
    row = figures[figure]
    values = [
        Value(
            machine.title,
            one.value,
            one.badge,
            one.unit,
            one.decimals if isinstance(one.value, float) else None,
            note=one.sum,
        )
        for machine, one in zip(machines, row, strict=True)
        if one.value is not None
    ]
    summary = f"{row[0].label}: " + "; ".join(f"{value.label} {value.text} {value.unit}".rstrip() for value in values)
    compared = [one.value for one in row[:2] if one.value]
    facts: dict[str, Any] = {"figure": figure, "machines": len(machines), "first": machines[0].name}
    facts |= {f"{machine.name}_value": one.value for machine, one in zip(machines, row, strict=True)}
    if len(compared) == 2:
        facts["ratio"] = compared[0] / compared[1]
        summary += f". {machines[0].title} has {compared[0] / compared[1]:.4g} times what {machines[1].title} has"
    return Result(
        summary=(summary if values else f"{row[0].label}: no file tells") + ".",
        values=tuple(values),
        drawings=_drawings(machines[: _DRAWN[drawn]]),
        figures=(_chart(machines, row),) if values else (),
        tables=(_comparison(machines, figures, figure), _faults(machines)),
        downloads=(
            Download(name=f"{machines[0].name}.toml", text=machines[0].to_toml(), media_type="application/toml"),
        ),
        facts=facts,
    )


QUESTION = declared(
    __name__, _answer, options={"figure": [(name, figure["label"]) for name, figure in FIGURES.items()]}
)
