"""An explorer with every kind of control and every part of an answer."""

from __future__ import annotations

from hopperkit.questions.controls import Choice, FileText, Number, Slider, Switch, Text
from hopperkit.questions.figures import Axis, Reference, Series, chart
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

CAUSES = ("error", "killed")


def _drawing(tasks: int) -> Drawing:
    boxes = "".join(
        f'<rect x="{4 + 28 * i}" y="4" width="24" height="24" fill="{"#8fc7ee" if i < tasks else "none"}" '
        f'stroke="var(--hopper-muted)"/>'
        for i in range(12)
    )
    title = f"{tasks} of 12 cores in use"
    return Drawing(
        title=title,
        alt=title,
        svg=f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 340 32" width="100%" '
        f'aria-label="{title}"><title>{title}</title><desc>Twelve boxes.</desc>{boxes}</svg>',
    )


def _curve(tasks: int, share: float, log: bool) -> Figure:
    xs = list(range(1, 13))
    ys = [1 / ((1 - share) + share / x) for x in xs]
    return chart(
        title=f"Speed-up with {share:g} of the work in parallel",
        alt=f"A curve that rises from 1 with one task to {ys[-1]:.2f} with twelve; the setting is at {tasks} tasks.",
        x=Axis(title="Tasks", low=0.5, high=12.5),
        y=Axis(title="Speed-up", decimals=3, log=log),
        series=[Series(name="model", x=xs, y=ys), Series(name="ideal", x=xs, y=xs)],
        references=[Reference(name="setting", y=ys[tasks - 1])],
    )


def answer(tasks: int, share: float, need: float, order: str, log: bool, line: str, text: str, seed: int) -> Result:
    if need > 100 and tasks > 10:
        raise InputError(f"need={need:g} GB does not fit with tasks={tasks}: 100 GB is all there is", name="need")
    if line.startswith("boom"):
        raise RuntimeError("a defect of the model")
    if line.startswith("refuse"):
        raise ValueError("line='refuse' is refused by the model, at no control in particular")
    marked = [
        ListingLine(number=number, text=row, mark="cause" if any(word in row for word in CAUSES) else "")
        for number, row in enumerate(text.splitlines(), start=1)
    ]
    speed = 1 / ((1 - share) + share / tasks)
    rows = [(number, number * 1.5, name) for number, name in enumerate(("core", "node", "cabinet"), start=1)]
    if order == "down":
        rows.reverse()
    return Result(
        summary=f"With {tasks} tasks the work is `{speed:.2f}` times as fast, & that is <less> than {tasks}.",
        findings=(
            Finding(code="busy", message="All cores are busy: leave one with `-r 1`.", level="problem"),
            Finding(code="try", message="Try fewer tasks.", level="advice"),
            Finding(code="seed", message=f"The seed is {seed}.", level="note"),
        )
        if tasks == 12
        else (),
        values=(
            Value(label="Speed-up", value=speed, badge="predicted", decimals=2, note="Amdahl's law"),
            Value(
                label="Memory of a task",
                value=need / tasks,
                low=0.9 * need / tasks,
                high=need / tasks,
                unit="GB",
                badge="assumed",
                decimals=2,
            ),
            Value(label="Cores", value=12, badge="documented", note="this test"),
            Value(label="Rate", value=None, badge="calibrated"),
        ),
        drawings=(_drawing(tasks),),
        figures=(_curve(tasks, share, log),),
        copyables=(Snippet(title="The line", text=line or "aprun -n 1 ./a.out", note="As it was typed."),),
        listings=(Listing(title="The log", lines=tuple(marked)),) if marked else (),
        tables=(
            Table(
                caption="Three rows",
                columns=(
                    Column(title="Number"),
                    Column(title="Half more", unit="GB", decimals=1, badge="assumed"),
                    Column(title="Name"),
                ),
                rows=rows,
                marked=(1,),
                marked_label="the middle",
            ),
        ),
        downloads=(Download(name="tasks.txt", text=f"{tasks}\n"),),
        facts={"speed": speed, "tasks": tasks, "order": order, "log": log},
    )


QUESTION = Question(
    name="trial",
    title="Trial",
    question="How much faster is the work with more `tasks`?",
    controls=(
        Text(name="line", label="Launch line", default="aprun -n 6 ./a.out", max_length=200, help="Any line."),
        Slider(name="tasks", label="Tasks", low=1, high=12, step=1, default=6, help="One to a core."),
        Slider(name="share", label="Parallel share", low=0.0, high=1.0, step=0.05, default=0.9, unit="of 1"),
        Number(
            name="need", label="Memory", low=0.5, high=1000.0, step=0.5, default=32.0, unit="GB", assumed="a usual node"
        ),
        Choice(name="order", label="Order", options=(("up", "Upwards"), ("down", "Downwards")), default="up"),
        Switch(name="log", label="Logarithmic scale", default=False),
        FileText(name="text", label="Log", default="one\ntwo error\nthree", rows=4, accept=".txt,.log"),
        Number(name="seed", label="Seed", low=0, high=9999, step=1, default=1, advanced=True),
    ),
    answer=answer,
    examples=(
        Example(label="All cores", values={"tasks": 12}),
        Example(label="Half parallel", values={"share": 0.5, "order": "down"}),
    ),
)
