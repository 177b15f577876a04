"""An explorer that takes its time."""

from __future__ import annotations

from hopperlib.questions.controls import Slider
from hopperlib.questions.question import Question
from hopperlib.questions.result import Result


def answer(rounds: int) -> Result:
    total = 0
    for number in range(rounds * 1_000_000):
        total = (total * 31 + number) % 1_000_003
    return Result(summary=f"After {rounds} million rounds the sum is {total}.", facts={"total": total})


QUESTION = Question(
    name="heavy",
    title="Heavy",
    question="What is left after many rounds?",
    controls=(Slider(name="rounds", label="Million rounds", low=0, high=400, step=1, default=0),),
    answer=answer,
    heavy=True,
)
