"""Question: machines side by side, from the parts in their files."""

from functools import cached_property
from typing import Any

from hopperlib.machine import Machine
from hopperlib.machine.derived import FIGURES, Derived, derived
from hopperlib.machine.faults import faults
from hopperlib.questions.machine_choice import chosen_machine
from hopperlib.questions.node.drawings import node_drawing
from hopperlib.questions.question import Asked, declared
from hopperlib.questions.result import Column, Download, Result, Table, Value, format_number
from hopperlib.questions.wording import Said

# How many nodes are drawn: a node of many sockets is as long as a page.
_DRAWN = {"two": 2, "all": 3, "none": 0}

# Bars of very different length would hide the short ones.
_MOST_APART = 30

_GOES_ON = {True: "goes on", False: "stops", None: "not told"}


class _Machines(Asked):
    """Up to three machines, and one figure of each."""

    @cached_property
    def machines(self) -> list[Machine]:
        """The machines; one beside itself would only repeat its columns."""
        # By name, so that a machine beside itself is shown once.
        machines: dict[str, Machine] = {}
        others = (Machine.load(name) for name in (self.second, self.third) if name != "none")
        for machine in (chosen_machine(self.first, self.machine_file), *others):
            machines.setdefault(machine.name, machine)
        return list(machines.values())

    @cached_property
    def figures(self) -> dict[str, tuple[Derived, ...]]:
        """All figures of each, by name of the figure."""
        return {row[0].name: row for row in zip(*map(derived, self.machines), strict=True)}

    def result(self) -> Result:
        """Return the answer."""
        row = self.figures[self.figure]
        stated = [
            Value(
                machine.title,
                figure.value,
                figure.badge,
                figure.unit,
                figure.decimals if isinstance(figure.value, float) else None,
                note=figure.sum,
            )
            for machine, figure in zip(self.machines, row, strict=True)
            if figure.value is not None
        ]
        compared = [figure.value for figure in row[:2] if figure.value]
        ratio = compared[0] / compared[1] if len(compared) == 2 else None
        numbers = [value.value for value in stated]
        apart = bool(numbers) and max(numbers) > _MOST_APART * min(numbers)
        said = self.said(
            drawn_figure=row[0],
            ratio=ratio,
            stated=stated,
            spelled=", ".join(f"{value.label} {format_number(value.value, row[0].decimals)}" for value in stated),
            apart=apart,
            low=None if apart else 0.0,
            count=len(self.machines),
            drawn_as="points" if apart else "bars",
        )
        first, named = self.machines[0], zip(self.machines, row, strict=True)
        values = {f"{machine.name}_value": figure.value for machine, figure in named}
        return said.result(
            values=tuple(stated),
            drawings=tuple(
                node_drawing(machine.node(), title=said.text("node", machine=machine, cores=machine.node().cores))
                for machine in self.machines[: _DRAWN[self.drawn]]
            ),
            tables=(self._comparison(said), said.table("faults", self._faults())),
            downloads=(Download(name=f"{first.name}.toml", text=first.to_toml(), media_type="application/toml"),),
            facts=said.facts | values | ({} if ratio is None else {"ratio": ratio}),
        )

    def _comparison(self, said: Said) -> Table:
        """Return the table of all figures."""
        several = len(self.machines) > 1
        rows = []
        for row in self.figures.values():
            cells: list[Any] = [f"{row[0].label} [{row[0].unit}]" if row[0].unit else row[0].label]
            for figure in row:
                # No decimals give a whole number.
                rounded = None if figure.value is None else round(figure.value, figure.decimals or None)
                cells += [rounded, "-" if rounded is None else figure.badge]
            if several:
                first, second = row[0].value, row[1].value
                cells.append(round(first / second, 3) if first and second else None)
            rows.append(cells)
        columns = [Column("Figure")]
        for machine in self.machines:
            columns += [Column(machine.title), Column("how sure")]
        if several:
            columns.append(Column(f"{self.machines[0].title} / {self.machines[1].title}", decimals=3))
        marked = (list(self.figures).index(self.figure),)
        return Table(
            caption=said.text("comparison"),
            columns=tuple(columns),
            rows=rows,
            marked=marked,
            marked_label="drawn above",
        )

    def _faults(self) -> list[tuple[Any, ...]]:
        """Return the faults, and what each machine makes of them."""
        return [
            (fault.name, machine.title, _GOES_ON[fault.goes_on], fault.what_then, fault.badge or "-")
            for machine in self.machines
            for fault in faults(machine)
        ]


QUESTION = declared(
    __name__, _Machines.answer, options={"figure": [(name, figure["label"]) for name, figure in FIGURES.items()]}
)
