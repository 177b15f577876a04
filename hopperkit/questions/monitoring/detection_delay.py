"""Question: how soon a persistent loss is detected, and how often there is a false alarm."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from hopperkit.questions import ask
from hopperkit.questions.figures import Axis, Series, chart
from hopperkit.questions.result import Column, Figure, Result, Table, Value, table
from hopperlib.finding import Finding
from hopperlib.monitoring.delays import LONGEST, Measured, measured, settings
from hopperlib.text import digits, share

_DAYS_A_WEEK = 7


def _percents(*values: int) -> dict[str, str]:
    return {str(value): str(value) for value in values}


class Noise(ask.Setting):
    """One loss in one type of noise."""

    loss_percent: str = ask.choice("Lasting loss [%]", "10", _percents(3, 5, 10, 20, 30), option="loss")
    spread_percent: str = ask.choice(
        "Spread of ordinary runs [%]",
        "3",
        _percents(1, 2, 3, 5, 8, 12),
        option="spread",
        help="Coefficient of variation; `hopper watch` estimates it from your history.",
    )
    contended_percent: str = ask.choice(
        "Share of runs in contention [%]",
        "5",
        _percents(5, 15),
        option="contended",
        help="Each of these runs has half to nine tenths of its usual rate.",
    )
    persistence: str = ask.choice(
        "Autocorrelation of runs",
        "0",
        {"0": "0", "0.5": "0.5"},
        help="0: the runs are independent. `hopper watch` estimates it from your history.",
    )
    runs_per_week: float = ask.number("Runs a week", 7.0, (0.1, 10_000.0, 1.0))

    def measured(self, loss_percent: float) -> Measured:
        """Measurements for histories with a loss in this noise; a loss of 0 gives false alarms."""
        return measured(
            spread_percent=float(self.spread_percent),
            contended_percent=float(self.contended_percent),
            persistence=float(self.persistence),
            loss_percent=loss_percent,
        )

    @cached_property
    def own(self) -> Measured:
        """Measurements for histories with the chosen loss."""
        return self.measured(float(self.loss_percent))

    @property
    def false_alarms(self) -> float:
        """Share of the histories without a change that give an alarm."""
        return self.measured(0.0).alarmed

    @property
    def days(self) -> float | None:
        """Median detection delay in days; None if it exceeds the simulated range."""
        return None if self.own.median_runs is None else self.own.median_runs * _DAYS_A_WEEK / self.runs_per_week


def answer(noise: Noise) -> Result:
    """Return the answer.

    Parameters
    ----------
    noise : Noise
        One loss in one type of noise.

    Returns
    -------
    Result
        The answer.

    Examples
    --------
    >>> answer(Noise()).facts['median_runs']
    4.0
    """
    losses = [loss for loss in settings("loss_percent") if loss]
    return Result(
        summary=_summary(noise),
        findings=tuple(_findings(noise)),
        values=tuple(_values(noise)),
        figures=(_delays(noise, losses),),
        tables=(_losses(noise, losses),),
        facts=_facts(noise),
    )


def _summary(noise: Noise) -> str:
    if noise.days is None:
        delay = f"not reached within {LONGEST} runs ({share(noise.own.alarmed)} of the histories show the loss)"
    else:
        delay = f"{noise.own.median_runs:.0f} runs ({digits(noise.days, 3)} days)"
    return (
        f"Median detection delay of a lasting loss of {noise.loss_percent} %, runs varying by {noise.spread_percent} %: "
        f"{delay}. False alarms: {share(noise.false_alarms, 1)} of unchanged histories within {LONGEST} runs."
    )


def _findings(noise: Noise) -> Iterator[Finding]:
    if noise.days is None:
        yield Finding(
            "unseen",
            "The loss is too small for this noise.",
            advice="Make more and shorter runs on quiet nodes, or use the median of several runs as one value.",
        )


def _values(noise: Noise) -> Iterator[Value]:
    note = f"measured on {noise.own.series} synthetic series of each kind"
    yield Value("Median detection delay", noise.own.median_runs, "predicted", "runs", 0, note=note)
    yield Value("90th percentile of the delay", noise.own.ninety_runs, "predicted", "runs", 0, note=note)
    yield Value("Histories with a false alarm", 100 * noise.false_alarms, "predicted", "%", 1, note=note)


def _delays(noise: Noise, losses: list[float]) -> Figure:
    """Return the chart of the delay by size of the loss."""
    rows = [noise.measured(loss) for loss in losses]
    seen = (
        f"{loss:g} %: {f'{row.median_runs:.0f} runs' if row.median_runs else 'never within the runs tried'}"
        for loss, row in zip(losses, rows, strict=True)
    )
    return chart(
        title="Detection delay by size of the loss",
        alt=f"Median detection delay: {'; '.join(seen)}.",
        x=Axis(title="Lasting loss", unit="%"),
        y=Axis(title="Runs until it is noticed", low=0),
        series=[
            Series(name="median", x=losses, y=[row.median_runs for row in rows]),
            Series(name="90th percentile", x=losses, y=[row.ninety_runs for row in rows]),
        ],
    )


def _losses(noise: Noise, losses: list[float]) -> Table:
    return table(
        f"By size of the loss, over {LONGEST} runs; the row for 0 % has the false alarms",
        [0.0, *losses],
        {
            Column("Loss", "%"): lambda loss: loss,
            Column("Noticed", "%", 1, "predicted"): lambda loss: 100 * noise.measured(loss).alarmed,
            Column("Median delay", "runs", 0, "predicted"): lambda loss: noise.measured(loss).median_runs,
            Column("90th percentile", "runs", 0, "predicted"): lambda loss: noise.measured(loss).ninety_runs,
        },
    )


def _facts(noise: Noise) -> dict[str, Any]:
    return {
        "median_runs": noise.own.median_runs,
        "ninety_runs": noise.own.ninety_runs,
        "median_days": noise.days,
        "seen": noise.own.alarmed,
        "false_alarms": noise.false_alarms,
    }


QUESTION = ask.declared(
    Noise,
    answer,
    title="How soon is a loss noticed?",
    examples={
        "Noisy and in contention": {"spread_percent": "8", "contended_percent": "15", "loss_percent": "20"},
        "A small loss, runs that follow each other": {"loss_percent": "5", "persistence": "0.5"},
    },
)
