"""An explorer that takes its time."""

from __future__ import annotations

from collections.abc import Iterator

from hopperkit.questions.controls import Slider
from hopperkit.questions.figures import Axis, Series, chart
from hopperkit.questions.question import Question
from hopperkit.questions.result import Figure, Result
from hopperlib.data_files import rows


def figure(rounds: int) -> Figure:
    x, y = Axis(title="Million rounds"), Axis(title="Rounds")
    places = list(range(rounds + 1))
    series = [Series(name="rounds", x=places, y=places)]
    return chart(title="Rounds", alt=f"A line from 0 to {rounds} million rounds.", x=x, y=y, series=series)


def partial_results(rounds: int) -> Iterator[Result]:
    if rounds > 1:
        yield Result(summary=f"Round 1 of {rounds}", figures=(figure(1),))


def answer(rounds: int) -> Result:
    total = 0
    for number in range(rounds * 1_000_000):
        total = (total * 31 + number) % 1_000_003
    return Result(
        summary=f"After {rounds} million rounds the sum is {total}.",
        figures=(figure(rounds),),
        # A file that no light answer reads: it is no part of the memory.
        facts={"total": total, "moments": len(rows("chance-of-change.csv"))},
    )


QUESTION = Question(
    name="heavy",
    title="Heavy",
    question="What is left after many rounds?",
    controls=(Slider(name="rounds", label="Million rounds", low=0, high=400, step=1, default=0),),
    answer=answer,
    heavy=True,
    partial_results=partial_results,
)
