"""Sensitivity of a study's model: measured, documented, assumed and calibrated inputs, each changed in turn.

An input is a range of the study, which is moved to its ends, or a documented value that it declares to read or a number
of a machine file that its model looks at, which are moved by a tenth. The model runs in a separate process, since
modules cache results. That takes minutes, so ``python -m hopperbook.sensitivity`` stores the numbers in
``data/sensitivity.csv``; a test recomputes some. Inputs of precomputed tables, such as the placed jobs, are not
traced.
"""

import csv
import multiprocessing
import random
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import partial
from statistics import fmean
from textwrap import wrap
from typing import Any, NamedTuple, get_args

from hopperbook import documented as printed_values
from hopperbook.checks import checks
from hopperbook.studies import built, load
from hopperbook.studies.study import ranges, study_texts
from hopperkit.questions.figures import Axis, Series, chart
from hopperkit.questions.result import Column, Figure, Table, table
from hopperkit.questions.sensitivity import STEP, Status, status_of
from hopperlib.data_files import data_folder, rows
from hopperlib.machine import FileSystem, Machine, Network, NodeKind, machine
from hopperlib.text import digits

_FILE = "sensitivity.csv"
_SEEDS = range(8)
# Smaller changes of a number are left out.
_LEAST = 5e-4


class Input(NamedTuple):
    """One number that a model rests on: a range of the study, a documented value, or a number of a machine file."""

    study: str
    kind: str
    key: str
    status: Status
    low: float
    value: float
    high: float

    @property
    def what(self) -> str:
        """The input in words."""
        if self.kind == "range":
            return ranges(self.study)[self.key].what
        return (
            printed_values.documented(self.key).quantity
            if self.kind == "documented"
            else self.key.replace(".", ", ", 1)
        )


class Moved(NamedTuple):
    """A number of a model with an input at its lower end, as it usually is, and at its upper end."""

    study: str
    number: str
    input: str
    status: str
    low: float
    value: float
    high: float
    at_low: float
    at: float
    at_high: float

    @property
    def share(self) -> float:
        """Difference of the two ends over the usual number."""
        return abs(self.at_high - self.at_low) / abs(self.at)

    @property
    def weight(self) -> float:
        """Percent by which the number changes for each percent of the input."""
        return self.share * (self.low + self.high) / 2 / (self.high - self.low)


def run(study: str, changed: Input | None = None, to: float = 0.0) -> dict[str, float]:
    """Return the results of a model with an input set to a value, averaged over seeds.

    A changed input affects all later reads of this process, which must therefore be a separate one.

    Examples
    --------
    >>> run("memory")
    {'hopper-usable': 30.85}
    """
    usual = {name: each.value for name, each in ranges(study).items()}
    if changed is None:
        pass
    elif changed.kind == "range":
        usual[changed.key] = to
    elif changed.kind == "documented":
        # The module's table: every reader of the value gets the changed one.
        table = printed_values._values()
        table[changed.key] = replace(table[changed.key], value=f"{to:.10g}", errata="")
    else:
        name, _, key = changed.key.partition(".")
        whole = isinstance(Machine.load(name).provenance[key].value, int)
        other = Machine.load(name).with_value(key, round(to) if whole else to, assumed="moved")
        machine._bundled = partial(_instead, name, other, machine._bundled)  # type: ignore[assignment]
    model = load(study).model
    assert model is not None
    given = [model(usual, random.Random(seed)) for seed in _SEEDS[:2]]
    if given[0] != given[1]:
        given += [model(usual, random.Random(seed)) for seed in _SEEDS[2:]]
    return {name: fmean(each[name] for each in given) for name in given[0]}


def _looked(study: str) -> tuple[dict[str, float], set[str]]:
    """Return the results of a model, and the machine-file numbers that it reads."""
    seen: set[str] = set()
    for part, folder in ((NodeKind, "node"), (Network, "network"), (FileSystem, "file_system")):

        def read(self: Any, name: str, folder: str = folder) -> Any:
            if not name.startswith("_"):
                suffix = "" if folder == "network" else f".{object.__getattribute__(self, 'name')}"
                seen.add(f"{folder}{suffix}.{name}")
            return object.__getattribute__(self, name)

        part.__getattribute__ = read  # type: ignore[method-assign]
    return run(study), seen


def _instead(name: str, changed: Machine, usual: Any, requested: str) -> Machine:
    """Return the changed machine for its name, and any other unchanged."""
    return changed if requested == name else usual(requested)


def _inputs(study: str, seen: Collection[str]) -> Iterator[Input]:
    """Yield the inputs that may affect a model, given the machine-file numbers that it reads."""
    for name, each in ranges(study).items():
        yield Input(study, "range", name, each.status, each.low, each.value, each.high)  # type: ignore[arg-type]
    for id in study_texts()[study].get("reads", ()):
        number = printed_values.documented(id).adopted_number
        if number:
            status: Status = "calibrated" if id in checks() and checks()[id].role == "calibrated" else "documented"
            yield Input(study, "documented", id, status, (1 - STEP) * number, number, (1 + STEP) * number)
    for name in ("hopper", "franklin"):
        for key, fact in Machine.load(name).provenance.items():
            if key in seen and type(fact.value) in (int, float) and fact.value:
                value = float(fact.value)  # type: ignore[arg-type]
                step = max(1.0, round(STEP * value)) if isinstance(fact.value, int) else STEP * value
                yield Input(study, "machine", f"{name}.{key}", status_of(fact), value - step, value, value + step)


def moved(study: str) -> Iterator[Moved]:
    """Yield what moves the numbers of a study's model; a change that breaks a rule of the machine file is left out.

    Examples
    --------
    >>> {one.number for one in moved("memory")}
    {'hopper-usable'}
    """
    # Processes without imported studies, whatever this one has imported.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["hopperbook.sensitivity"])
    with context.Pool(1, maxtasksperchild=1) as pool:
        usual, seen = pool.apply(_looked, (study,))
        for each in _inputs(study, seen):
            try:
                low, high = (pool.apply(run, (study, each, to)) for to in (each.low, each.high))
            except (ValueError, LookupError, ArithmeticError):
                continue
            for name, at in usual.items():
                if at and name in low and name in high and abs(high[name] - low[name]) >= _LEAST * abs(at):
                    yield Moved(study, name, each.what, *each[3:], low[name], at, high[name])


def kept(study: str) -> list[Moved]:
    """Return the effects of inputs on a study's model, largest first.

    Examples
    --------
    >>> first = kept("memory")[0]
    >>> first.input, first.status
    ('share of what the system keeps that grows with the memory of a node', 'assumed')
    """
    study_rows = (row for row in rows(_FILE) if row["study"] == study)
    found = (Moved(**row | {name: float(row[name]) for name in Moved._fields[4:]}) for row in study_rows)  # type: ignore[arg-type]
    return sorted(found, key=lambda one: -one.share)


def what_moves(*studies: str) -> Table:
    """Return the effects of inputs on studies' models, largest first, with ranges and reasons.

    Examples
    --------
    >>> what_moves("memory").rows[0][2:6]
    ('share of what the system keeps that grows with the memory of a node', 'assumed', '0 to 1', '31.54 to 30.16')
    """
    found = sorted((one for study in studies for one in kept(study)), key=lambda one: -one.share)
    return table(
        "What moves the numbers",
        found,
        {
            "Study": lambda one: study_texts()[one.study]["title"],
            "Number": lambda one: printed_values.documented(f"{one.study}.{one.number}").quantity,
            "Input": lambda one: one.input,
            "Status": lambda one: one.status,
            "From, to": lambda one: f"{digits(one.low, 6)} to {digits(one.high, 6)}",
            "Moves the number": lambda one: f"{digits(one.at_low, 4)} to {digits(one.at_high, 4)}",
            Column("By", "%", 1): lambda one: 100 * one.share,
            "Why so far": lambda one: next(
                (each.why for each in ranges(one.study).values() if each.what == one.input),
                "a tenth to either side, or one",
            ),
        },
    )


def sensitivity_figure(study: str) -> Figure:
    """Return the share of each number's sensitivity by status of the inputs; the table lists the inputs.

    Raises
    ------
    ValueError
        If the study has no model.

    Examples
    --------
    >>> [series["name"] for series in sensitivity_figure("memory").data]
    ['documented', 'measured', 'assumed', 'calibrated']
    """
    found = kept(study)
    if not found:
        raise ValueError(f"study {study!r} has no model with numbers, so there is nothing to draw")
    names = list(dict.fromkeys(one.number for one in found))
    sums = {name: sum(one.weight for one in found if one.number == name) for name in names}
    parts = {
        status: [
            100 * sum(one.weight for one in found if (one.number, one.status) == (name, status)) / sums[name]
            for name in names
        ]
        for status in get_args(Status)
    }
    most = found[0]
    labels = ["<br>".join(wrap(printed_values.documented(f"{study}.{name}").quantity, 22)) for name in names]
    figure = chart(
        title="Where the numbers come from",
        alt="Share of each number of the model that rests on inputs of each kind, by the percents that it changes for one of "
        f"each. Most is moved by this: {most.input} ({most.status}), from {digits(most.at_low, 4)} to {digits(most.at_high, 4)}.",
        x=Axis(title="Number of the model"),
        y=Axis(title="Share of what moves it", unit="%", low=0, decimals=0),
        series=[
            Series(name=status, x=labels, y=[round(part, 1) for part in shares], kind="bars")
            for status, shares in parts.items()
        ],
    )
    return replace(figure, layout=figure.layout | {"barmode": "stack"}, table=what_moves(study))


def _main() -> None:
    """Compute the table and keep it."""
    # Imports of this process are not repeated there: a study with ranges has a model.
    found = [one for name in built() if ranges(name) for one in moved(name)]
    with (data_folder() / _FILE).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Moved._fields)
        writer.writerows([*one[:4], *(f"{number:.8g}" for number in one[4:])] for one in found)


if __name__ == "__main__":
    _main()
