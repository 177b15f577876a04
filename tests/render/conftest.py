"""An explorer with every kind of control and every part of an answer."""

from __future__ import annotations

import pytest

from hopperkit.questions.controls import Choice, FileText, Number, Slider, Switch, Text
from hopperkit.questions.figures import Axis, Series, chart
from hopperkit.questions.question import Example, Question
from hopperkit.questions.result import (
    Column,
    Download,
    Drawing,
    Figure,
    Listing,
    ListingLine,
    Result,
    Snippet,
    Table,
    Value,
)
from hopperlib.errors import InputError
from hopperlib.finding import Finding


def rates(tasks: int, kind: str = "line", title: str = "Rates") -> Figure:
    """Return a chart with as many points as tasks."""
    x = list(range(1, tasks + 1))
    return chart(
        title=title,
        alt=f"Rate of each task from 1 to {tasks} tasks: it falls.",
        x=Axis(title="Tasks"),
        y=Axis(title="Rate", unit="GB/s"),
        series=[Series(name="rate", x=x, y=[10 / each for each in x], kind=kind)],  # type: ignore[arg-type]
    )


def answer(*, tasks: int, nodes: int, clock_ghz: float, order: str, strict: bool, line: str, log: str) -> Result:
    """Return an answer with every part, in which the values can be found again."""
    if tasks > nodes * 24:
        raise InputError(f"tasks={tasks} must be at most 24 on each of {nodes} nodes", name="tasks")
    if line == "defect":
        raise KeyError("lost <key>")
    figures = (rates(tasks), rates(tasks, kind="bars", title="Rates as bars")) if strict else (rates(tasks),)
    return Result(
        summary=f"{tasks} tasks on {nodes} nodes at {clock_ghz:g} GHz, order {order}, line <{line}>.",
        findings=(Finding(code="idle", message="Use `-S 3`, as <b> is idle.", level="problem"),),
        values=(Value(label="Slowdown", value=1.2, low=1.0, high=1.41, decimals=2, badge="predicted", note="a & b"),),
        drawings=(Drawing(title="A node", alt="One box.", svg="<svg role='img'><title>A node</title></svg>"),),
        figures=figures,
        copyables=(Snippet(title="Better line", text="aprun -n 12 <exe>", note="The same cores."),),
        listings=(Listing(title="Log", lines=(ListingLine(number=7, text="OOM <kill>", mark="cause"),)),),
        tables=(
            Table(
                caption="Tasks", columns=(Column(title="Task"),), rows=((0,), (1,)), marked=(1,), marked_label="best"
            ),
        ),
        downloads=(Download(name="rank <order>.txt", text="0-1\n"),),
        facts={"tasks": tasks, "log_lines": len(log.splitlines())},
    )


@pytest.fixture
def explorer() -> Question:
    """The explorer ``everything``."""
    return Question(
        name="everything",
        title="Every <control>",
        question="What does `-N` do?",
        controls=(
            Slider(name="tasks", label="Tasks", low=1, high=24, step=1, default=12, help="How many <tasks>."),
            Number(name="nodes", label="Nodes", low=1, high=6384, step=1, default=1),
            Slider(
                name="clock_ghz",
                label="Clock",
                unit="GHz",
                low=1.0,
                high=3.0,
                step=0.1,
                default=2.1,
                advanced=True,
                assumed="No source prints it.",
            ),
            Choice(name="order", label="Order", options=(("nid", "by NID"), ("xyz", "by place")), default="nid"),
            Switch(name="strict", label="Strict", default=False),
            Text(name="line", label="Line", default="aprun -n 12 vasp", placeholder="aprun -n 1 a.out", max_length=40),
            FileText(name="log", label="Log", default="", accept=".log", max_length=100, rows=3),
        ),
        answer=answer,
        examples=(
            Example(label="Half", values={"tasks": 6, "line": "aprun -n 6 vasp"}),
            Example(label="Strict", values={"strict": True}),
        ),
    )


@pytest.fixture
def figure() -> Figure:
    """A chart of twelve points."""
    return rates(12)


@pytest.fixture
def other_figure() -> Figure:
    """A chart of the same kind with three points."""
    return rates(3)


@pytest.fixture
def bar_figure() -> Figure:
    """A chart of another kind."""
    return rates(4, kind="bars")
