"""Sensitivity of an answer's numbers: the inputs that affect each, and its value for changed inputs.

Derivatives are numerical: each number of the machine file, and each control with an assumed value, is changed by a
tenth down and up, and the question is answered again. The effect of an input is the change of the number, in percent,
per percent of the input. The reader's settings are not included, nor are inputs without effect.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import isclose, log
from time import process_time
from typing import Any, Literal, NamedTuple, get_args

from hopperkit.questions.controls import MachineChoice
from hopperkit.questions.machine_choice import chosen_machine
from hopperkit.questions.question import Question
from hopperkit.questions.result import Column, Facts, Result, Table, table
from hopperlib.errors import InputError
from hopperlib.machine import Machine
from hopperlib.schema import Quantity

Status = Literal["documented", "measured", "assumed", "calibrated"]
# Relative change of an input to either side.
STEP = 0.1
# Changes below this many percent per percent are left out.
_LEAST = 0.005
# Rows of the table, strongest first.
_MOST = 12
# A slower answer is not recomputed a hundred times. [s]
_SLOW_S = 0.2


class Moved(NamedTuple):
    """A number of an answer with an input lower, unchanged, and higher; `low` and `high` are the input values.

    The input is a key of the machine that its `control` holds, or the control itself, by its label.
    """

    number: str
    control: str
    input: str
    status: Status
    source: str
    value: float
    low: float
    high: float
    at_low: float
    at: float
    at_high: float

    @property
    def weight(self) -> float:
        """Change of the number for a change of the input, percent for percent. [%/%]"""
        if min(self.at_low, self.at_high) <= 0:
            return (self.at_high - self.at_low) / abs(self.at) * self.value / (self.high - self.low)
        return log(self.at_high / self.at_low) / log(self.high / self.low)


def numbers_of(result: Result) -> dict[str, float]:
    """Return the model's numbers in an answer, by label, with both ends of a range; without any, those of its facts.

    Parameters
    ----------
    result : Result
        Answer of a question.

    Examples
    --------
    >>> from hopperkit.questions.question import load
    >>> list(numbers_of(load("place").run(line="aprun -n 384 -N 12 vasp")))[:2]
    ['Run time relative to an even spread, least', 'Run time relative to an even spread, most']
    """
    found: dict[str, Any] = {}
    for value in result.values:
        if value.badge in ("predicted", "calibrated"):
            unit = f" [{value.unit}]" if value.unit else ""
            ends = {", least": value.low, ", most": value.high} if value.low is not None else {"": value.value}
            found |= {f"{value.label}{end}{unit}": number for end, number in ends.items()}
    facts = result.facts.named if isinstance(result.facts, Facts) else result.facts
    found = found or {name: number for name, number in facts.items() if isinstance(number, float)}
    return {label: float(number) for label, number in found.items() if type(number) in (int, float) and number}


def status_of(fact: Quantity) -> Status:
    """Return the status of a number in a machine file; an `at` that begins with "measured" counts as measured.

    Parameters
    ----------
    fact : Quantity
        The number with its source.

    Examples
    --------
    >>> facts = Machine.load("hopper").provenance
    >>> [status_of(facts[f"node.standard.{key}"]) for key in ("memory_gb", "numa_bandwidth_gb_s", "core_bandwidth_cap_gb_s")]
    ['documented', 'measured', 'assumed']
    """
    return "assumed" if fact.source is None else "measured" if (fact.at or "").startswith("measured") else "documented"


class _Input(NamedTuple):
    """A number that may affect an answer: its control, its machine (if any), and its key there."""

    control: str
    machine: Machine | None
    key: str
    status: Status
    source: str
    value: float

    def given(self, share: float) -> tuple[float, dict[str, Any]]:
        """Return the number changed by a share, and the settings for it; a count changes by at least one."""
        step = share * self.value
        whole = self.machine is not None and isinstance(self.machine.provenance[self.key].value, int)
        moved = self.value + (round(step) or (1 if share > 0 else -1)) if whole else self.value + step
        if self.machine is None:
            return moved, {self.control: moved}
        changed = self.machine.with_value(self.key, int(moved) if whole else moved, assumed="moved")
        return moved, {self.control: changed}


def _inputs(question: Question, values: Mapping[str, Any]) -> Iterator[_Input]:
    """Yield the numbers that may affect an answer: of its machines, and of controls with assumed values."""
    suffix = values.get("machine_file", "")
    for control in question.controls:
        name, value = control.name, values[control.name]
        if isinstance(control, MachineChoice) and (suffix or value != "none"):
            machine = chosen_machine(value, suffix)
            suffix = ""
            for key, fact in machine.provenance.items():
                if type(fact.value) in (int, float) and fact.value:
                    source = fact.assumed or f"{fact.source}, {fact.at}"
                    yield _Input(name, machine, key, status_of(fact), source, float(fact.value))  # type: ignore[arg-type]
        elif control.assumed and type(value) in (int, float) and value:
            status: Status = "calibrated" if control.assumed.startswith("Calibrated") else "assumed"
            yield _Input(name, None, control.label, status, control.assumed, value)


def sensitivity(question: Question, values: Mapping[str, Any]) -> tuple[Moved, ...]:
    """Return the inputs that affect the numbers of an answer, largest effect first.

    Inputs are omitted if a rule of the machine file or the control forbids either change, or if the answer then lacks
    the number. Nothing is recomputed if an answer takes long: large logs.

    Parameters
    ----------
    question : Question
    values : mapping
        The settings, as for `Question.run`.

    Raises
    ------
    InputError
        If the question rejects the values.

    Examples
    --------
    >>> from hopperkit.questions.question import load
    >>> first = sensitivity(load("hybrid"), {})[0]
    >>> first.input, first.status
    ('node.standard.cores_per_numa_node', 'documented')
    """
    read = question.read(values)
    begun = process_time()
    usual = numbers_of(question.answer(**read))
    found: list[Moved] = []
    if process_time() - begun > _SLOW_S or not usual:
        return ()
    for each in _inputs(question, read):
        inputs = read | ({"machine_file": ""} if each.machine and "machine_file" in read else {})
        try:
            ends = [each.given(share) for share in (-STEP, STEP)]
            low, high = (numbers_of(question.answer(**question.read(inputs | given))) for _, given in ends)
        except (InputError, ValueError):
            continue
        for label, number in usual.items():
            if label in low and label in high and not isclose(low[label], high[label]):
                at = (each.value, ends[0][0], ends[1][0], low[label], number, high[label])
                found.append(Moved(label, each.control, each.key, each.status, each.source, *at))
    return tuple(sorted((one for one in found if abs(one.weight) >= _LEAST), key=lambda one: -abs(one.weight)))


def shares(moved: Sequence[Moved]) -> dict[str, dict[str, float]]:
    """Return, for each number, the share of its sensitivity by status of the inputs; the shares add up to 1.

    Parameters
    ----------
    moved : sequence of Moved
        Effect of each input.

    Examples
    --------
    >>> both = [Moved("rate", "machine", key, status, "", 2, 1.8, 2.2, 1.8, 2, 2.2)
    ...         for key, status in (("a", "documented"), ("b", "assumed"))]
    >>> shares(both)["rate"]
    {'documented': 0.5, 'measured': 0.0, 'assumed': 0.5, 'calibrated': 0.0}
    """
    parts: dict[str, dict[str, float]] = {}
    for one in moved:
        of = parts.setdefault(one.number, dict.fromkeys(get_args(Status), 0.0))
        of[one.status] += abs(one.weight)
    return {number: {status: part / sum(of.values()) for status, part in of.items()} for number, of in parts.items()}


def tables(moved: Sequence[Moved]) -> tuple[Table, ...]:
    """Return tables of the sensitivity shares, and of the changed numbers; empty if no input affects them.

    Parameters
    ----------
    moved : sequence of Moved
        Effect of each input.

    Examples
    --------
    >>> from hopperkit.questions.question import load
    >>> [table.caption for table in tables(sensitivity(load("hybrid"), {}))]
    ['What the numbers depend on', 'Their values with each input 10 % lower and higher']
    """
    if not moved:
        return ()
    heads = (Column("Number"), *(Column(status.capitalize(), "%", 0) for status in get_args(Status)))
    resting = [(number, *(100 * part for part in of.values())) for number, of in shares(moved).items()]
    first = Table(caption="What the numbers depend on", columns=heads, rows=resting)
    several = len({one.control for one in moved if "." in one.input}) or 1
    rest = f": the {_MOST} strongest of {len(moved)}" if len(moved) > _MOST else ""
    second = table(
        f"Their values with each input {100 * STEP:.0f} % lower and higher{rest}",
        moved[:_MOST],
        {
            "Input": lambda one: one.input if several == 1 else f"{one.input} ({one.control})",
            "Status": lambda one: one.status,
            "Value": lambda one: one.value,
            "Number": lambda one: one.number,
            "Is": lambda one: one.at,
            "If lower": lambda one: one.at_low,
            "If higher": lambda one: one.at_high,
            Column("For 1 % more", "%", 2): lambda one: one.weight,
        },
    )
    return first, second
