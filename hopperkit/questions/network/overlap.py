"""Question: what overlap of communication and computation can hide."""

from collections.abc import Iterator, Sequence
from functools import cached_property

from hopperkit.questions import ask
from hopperkit.questions.figures import Axis, Series, chart
from hopperkit.questions.result import Figure, Result, Value
from hopperlib.network.runtime.overlap import overlapped_s
from hopperlib.text import share

_SHARES = [step / 20 for step in range(21)]
_NO_TIME = "The document prints no time of a step."


class Step(ask.Setting):
    """One step of a code."""

    compute_s: float = ask.slider("Computation of a step", 10.0, (0.1, 20.0, 0.1), unit="s", assumed=_NO_TIME)
    communication_s: float = ask.slider("Communication of a step", 5.0, (0.0, 20.0, 0.1), unit="s", assumed=_NO_TIME)
    overlap: float = ask.fraction("Fraction of communication that overlaps", 0.5)
    saved_fraction: float = ask.slider("Fraction saved by merged collectives", 0.2, (0.0, 0.9, 0.05), assumed=_NO_TIME)

    @property
    def plain_s(self) -> float:
        """Time of the step with nothing merged or hidden. [s]"""
        return overlapped_s(self.compute_s, self.communication_s, 0.0)

    def tuned_s(self, overlap: float) -> float:
        """Time of the step with merged collectives, by the fraction that overlaps. [s]"""
        return overlapped_s(self.compute_s, self.communication_s * (1 - self.saved_fraction), overlap)

    @cached_property
    def times_s(self) -> list[float]:
        """That time for every fraction of the chart. [s]"""
        return [self.tuned_s(overlap) for overlap in _SHARES]


def answer(step: Step) -> Result:
    """Return the answer.

    Parameters
    ----------
    step : Step
        One step of a code.

    Returns
    -------
    Result
        The answer.

    Examples
    --------
    >>> answer(Step()).facts['time_s']
    12.0
    """
    time_s, least_s = step.tuned_s(step.overlap), min(step.times_s)
    return Result(
        summary=f"A step of {step.plain_s:.2f} s takes {time_s:.2f} s with {share(step.overlap)} of its communication "
        f"during the computation; no overlap can reduce it below {least_s:.2f} s.",
        values=tuple(_values(step, time_s)),
        figures=(_overlap(step.times_s),),
        facts={"plain_s": step.plain_s, "time_s": time_s, "least_s": least_s},
    )


def _values(step: Step, time_s: float) -> Iterator[Value]:
    yield Value("Time of the step", time_s, "predicted", "s", 2)
    yield Value("Speedup of the step", step.plain_s / time_s if time_s else 1.0, "predicted", decimals=2)


def _overlap(times_s: Sequence[float]) -> Figure:
    """Return the chart of the step's time against overlap."""
    return chart(
        title="Time of a step against overlap",
        alt=f"Time of a step falls from {times_s[0]:.2f} s without overlap to {times_s[-1]:.2f} s with all of it; "
        f"the least is {min(times_s):.2f} s.",
        x=Axis(title="Fraction of communication that overlaps", decimals=2),
        y=Axis(title="Time of a step", unit="s", low=0, decimals=2),
        series=[Series(name="step", x=_SHARES, y=times_s)],
    )


QUESTION = ask.declared(
    Step,
    answer,
    title="What can overlap hide?",
    examples={
        "MFDn, step B: merged": {"overlap": 0.0, "saved_fraction": 0.2},
        "MFDn, step D: most of it hidden": {"overlap": 0.9, "saved_fraction": 0.2},
        "Too much to hide": {"communication_s": 15.0, "compute_s": 5.0, "overlap": 1.0},
    },
)
