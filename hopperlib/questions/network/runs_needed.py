"""Question: how many runs show a gain, and what a few runs can show at all."""

from __future__ import annotations

from hopperlib.finding import Finding
from hopperlib.network.runtime.power import gain_shown, power, runs_needed
from hopperlib.questions.figures import Axis, Reference, Series, chart
from hopperlib.questions.question import declared
from hopperlib.questions.result import Column, Result, Table, Value

__all__ = ["QUESTION"]

_RUNS = (2, 3, 4, 5, 7, 10, 14, 20, 30, 50, 100, 200)
_GAINS = (1, 2, 3, 5, 10, 20)


def _answer(*, gain_percent: float, noise_percent: float, runs: int, chance_percent: int, alarm_percent: int) -> Result:
    """Answer for one gain and one noise."""
    gain, noise, chance, alpha = (part / 100 for part in (gain_percent, noise_percent, chance_percent, alarm_percent))
    needed = runs_needed(gain, noise, chance=chance, alpha=alpha)
    shown, here = gain_shown(noise, runs, chance=chance, alpha=alpha), power(gain, noise, runs, alpha=alpha)
    say = f"{needed:,} runs of each variant show" if needed else "Not even 100,000 runs of each variant show"
    places = sorted({*_RUNS, runs})
    chances = [power(gain, noise, count, alpha=alpha) for count in places]
    return Result(
        summary=(
            f"{say} a gain of {gain_percent:g} % in noise of {noise_percent:g} % with a chance of {chance_percent} %. "
            f"With {runs:,} it shows in {here:.0%} of such tests, and they show reliably only gains from {100 * shown:.2g} % on."
        ),
        findings=tuple(
            [
                Finding(
                    code="too-few",
                    message=f"If {runs} runs of each show nothing, a gain of {gain_percent:g} % may still be there.",
                    level="advice",
                )
            ]
            if here < chance
            else []
        ),
        values=(
            Value("Runs of each variant", needed, "predicted"),
            Value(f"Chance with {runs} of each", 100 * here, "predicted", "%", 0),
            Value(f"Least gain that {runs} of each show", 100 * shown, "predicted", "%", 1),
        ),
        figures=(
            chart(
                title="Chance to show the gain against runs",
                alt=f"The chance rises from {chances[0]:.0%} with {places[0]} runs to {chances[-1]:.0%} with {places[-1]}; {needed} pass {chance_percent} %.",
                x=Axis(title="Runs of each variant", log=True),
                y=Axis(title="Chance that the gain shows", low=0, high=1, decimals=3),
                series=[
                    Series(name=f"gain of {gain_percent:g} %", x=places, y=chances),
                    Series(name="your runs", x=[runs], y=[here], kind="points"),
                ],
                references=[Reference("wanted", chance)],
            ),
        ),
        tables=(
            Table(
                caption=f"Runs of each variant in noise of {noise_percent:g} %",
                columns=(Column("Gain", "%"), Column("Runs", badge="predicted")),
                rows=[(each, runs_needed(each / 100, noise, chance=chance, alpha=alpha)) for each in _GAINS],
            ),
        ),
        facts={
            "runs_needed": needed,
            "chance": here,
            "gain_shown_percent": 100 * shown,
            "runs": runs,
            "noise_percent": noise_percent,
        },
    )


QUESTION = declared(__name__, _answer)
