"""Question: a comparison of machines, from the parts in their files."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from hopperkit.questions import ask
from hopperkit.questions.figures import Axis, Series, chart
from hopperkit.questions.node.drawings import node_drawing
from hopperkit.questions.result import Column, Download, Figure, Result, Table, Value, format_number
from hopperlib.machine import Machine
from hopperlib.machine.derived import FIGURES, Derived, derived
from hopperlib.machine.derived import Figure as MachineFigure
from hopperlib.text import digits

# Bars of very different length would hide the short ones.
MOST_APART = 30


class Comparison(ask.Setting):
    """Up to three machines, and one figure of each."""

    first: Machine = ask.machine()
    second: Machine | None = ask.machine("Second machine", "franklin", none="None")
    third: Machine | None = ask.machine("Third machine", "bassi", none="None")
    figure: str = ask.choice("Quantity to compare", "cores", {name: each.label for name, each in FIGURES.items()})
    machine_file: str = ask.machine_file("the first machine")

    @cached_property
    def machines(self) -> list[Machine]:
        """The machines; a machine compared with itself is shown once."""
        named: dict[str, Machine] = {}
        for machine in (self.first, self.second, self.third):
            if machine:
                named.setdefault(machine.name, machine)
        return list(named.values())

    @cached_property
    def figures(self) -> dict[str, tuple[Derived, ...]]:
        """All figures of each, by name of the figure."""
        return {row[0].figure.name: row for row in zip(*map(derived, self.machines), strict=True)}

    @property
    def compared(self) -> dict[str, Derived]:
        """The figure of each machine, by its title."""
        titles = (machine.title for machine in self.machines)
        return dict(zip(titles, self.figures[self.figure], strict=True))

    @property
    def what(self) -> MachineFigure:
        """The compared quantity."""
        return FIGURES[self.figure]

    @property
    def ratio(self) -> float | None:
        """The figure of the first machine over that of the second; None if one is unknown."""
        return _ratio(self.figures[self.figure])


def _ratio(row: tuple[Derived, ...]) -> float | None:
    values = [figure.value for figure in row[:2] if figure.value]
    return values[0] / values[1] if len(values) == 2 else None


def answer(comparison: Comparison) -> Result:
    """Return the answer.

    Parameters
    ----------
    comparison : Comparison
        Up to three machines, and one figure of each.

    Returns
    -------
    Result
        The answer.

    Examples
    --------
    >>> answer(Comparison()).facts['hopper_value']
    153216
    """
    first, values = comparison.machines[0], tuple(_values(comparison))
    return Result(
        summary=_summary(comparison, values),
        values=values,
        drawings=tuple(
            node_drawing(machine.node(), title=f"A node of {machine.title}: {machine.node().cores} cores")
            for machine in comparison.machines[:2]
        ),
        figures=(_figure(comparison, values),) if values else (),
        tables=(_table(comparison),),
        downloads=(Download(f"{first.name}.toml", first.to_toml(), "application/toml"),),
        facts=_facts(comparison),
    )


def _values(comparison: Comparison) -> Iterator[Value]:
    figure = comparison.what
    for title, each in comparison.compared.items():
        if each.value is not None:
            decimals = figure.decimals if isinstance(each.value, float) else None
            yield Value(title, each.value, each.badge, figure.unit, decimals, note=figure.sum)


def _summary(comparison: Comparison, values: tuple[Value, ...]) -> str:
    label = comparison.what.label
    if not values:
        return f"{label}: in no machine file."
    numbers = "; ".join(f"{value.label} {value.text} {value.unit}".rstrip() for value in values)
    if comparison.ratio is None:
        return f"{label}: {numbers}."
    first, second, *_ = comparison.machines
    return f"{label}: {numbers}. {first.title} has {digits(comparison.ratio, 4)} times what {second.title} has."


def _figure(comparison: Comparison, values: tuple[Value, ...]) -> Figure:
    figure, numbers = comparison.what, [value.value for value in values]
    apart = max(numbers) > MOST_APART * min(numbers)
    in_unit = f", in {figure.unit}" if figure.unit else ""
    spelled = ", ".join(f"{value.label} {format_number(value.value, figure.decimals)}" for value in values)
    scale = " The scale is logarithmic." if apart else ""
    bars = Series(name=figure.label, x=[value.label for value in values], y=numbers, kind="points" if apart else "bars")
    return chart(
        title=figure.label,
        alt=f"{figure.label}{in_unit}, machine by machine: {spelled}.{scale}",
        x=Axis(title="Machine"),
        y=Axis(title=figure.label, unit=figure.unit, low=None if apart else 0.0, log=apart, decimals=figure.decimals),
        series=[bars],
    )


def _table(comparison: Comparison) -> Table:
    """Return the table of all figures, a column for each machine and one for how sure its value is."""
    columns = [Column("Quantity")]
    for machine in comparison.machines:
        columns += [Column(machine.title), Column("how sure")]
    several = len(comparison.machines) > 1
    if several:
        first, second, *_ = comparison.machines
        columns.append(Column(f"{first.title} / {second.title}", decimals=3))
    rows = []
    for row in comparison.figures.values():
        what = row[0].figure
        cells: list[Any] = [f"{what.label} [{what.unit}]" if what.unit else what.label]
        for figure in row:
            cells += [figure.rounded, "-" if figure.value is None else figure.badge]
        rows.append([*cells, _ratio(row)] if several else cells)
    return Table(
        caption="Figures derived from the machine files",
        columns=tuple(columns),
        rows=rows,
        marked=(list(comparison.figures).index(comparison.figure),),
        marked_label="drawn above",
    )


def _facts(comparison: Comparison) -> dict[str, Any]:
    row = comparison.figures[comparison.figure]
    values = {f"{machine.name}_value": figure.value for machine, figure in zip(comparison.machines, row, strict=True)}
    ratio = {} if comparison.ratio is None else {"ratio": comparison.ratio}
    return {
        "figure": comparison.figure,
        "machines": len(comparison.machines),
        "first": comparison.machines[0].name,
        **values,
        **ratio,
    }


QUESTION = ask.declared(
    Comparison,
    answer,
    title="Machines side by side",
    examples={
        "Memory for each core": {"figure": "memory_per_core_gb"},
        "Network for each core": {"figure": "mpi_bandwidth_per_core_mb_s"},
        "Hopper and a current machine": {"first": "hopper", "second": "perlmutter", "third": "none"},
        "Time to write all memory": {"figure": "memory_dump_min", "third": "perlmutter"},
    },
)
