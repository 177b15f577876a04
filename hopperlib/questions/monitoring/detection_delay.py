"""Question: how soon a lasting loss is seen, and how often there is a false alarm."""

from __future__ import annotations

from hopperlib.finding import Finding
from hopperlib.monitoring.delays import LONGEST, measured, settings
from hopperlib.questions.figures import Axis, Series, chart
from hopperlib.questions.question import declared
from hopperlib.questions.result import Column, Result, Table, Value

__all__ = ["QUESTION"]

_DAYS_A_WEEK = 7


def _answer(
    *, loss_percent: str, spread_percent: str, contended_percent: str, persistence: str, runs_per_week: float
) -> Result:
    """Answer for one loss in one kind of noise, from histories made up and watched."""
    spread, contended, rho = float(spread_percent), float(contended_percent), float(persistence)
    losses = [loss for loss in settings("loss_percent") if loss]
    by_loss = {
        loss: measured(spread_percent=spread, contended_percent=contended, persistence=rho, loss_percent=loss)
        for loss in (0.0, *losses)
    }
    found, unchanged = by_loss[float(loss_percent)], by_loss[0.0]
    days = None if found.median_runs is None else found.median_runs * _DAYS_A_WEEK / runs_per_week
    seen = f"A lasting loss of {loss_percent} % in runs that spread by {spread_percent} %"
    if days is None:
        summary = (
            f"{seen} is not seen within {LONGEST} runs in half of such histories ({found.alarmed:.0%} of them see it)."
        )
    else:
        summary = f"{seen} is seen after {found.median_runs:.0f} runs in half of such histories: {days:.3g} days."
    sure = f"measured on {found.series} series of each kind"
    return Result(
        summary=f"{summary} Of unchanged ones {unchanged.alarmed:.1%} are alarmed in {LONGEST} runs.",
        findings=() if days is not None else (_unseen(),),
        values=(
            Value("Half are seen after", found.median_runs, "predicted", "runs", 0, note=sure),
            Value("Nine in ten are seen after", found.ninety_runs, "predicted", "runs", 0, note=sure),
            Value("Half are seen after", days, "predicted", "days", 1),
            Value("Unchanged histories alarmed", 100 * unchanged.alarmed, "predicted", "%", 1, note=sure),
        ),
        figures=(
            chart(
                title="Delay by size of the loss",
                alt="; ".join(f"{loss:g} %: {_runs(by_loss[loss].median_runs)}" for loss in losses),
                x=Axis(title="Lasting loss", unit="%"),
                y=Axis(title="Runs until it is seen", low=0),
                series=[
                    Series(name=name, x=losses, y=[getattr(by_loss[loss], field) for loss in losses])
                    for name, field in (("half of them", "median_runs"), ("nine in ten", "ninety_runs"))
                ],
            ),
        ),
        tables=(
            Table(
                caption=f"By size of the loss; no change is the row of false alarms, over {LONGEST} runs",
                columns=(
                    Column("Loss", "%"),
                    Column("Seen", "%", 1, "predicted"),
                    Column("Half after", "runs", 0, "predicted"),
                    Column("Nine in ten after", "runs", 0, "predicted"),
                ),
                rows=[(loss, 100 * row.alarmed, row.median_runs, row.ninety_runs) for loss, row in by_loss.items()],
            ),
        ),
        facts={
            "median_runs": found.median_runs,
            "ninety_runs": found.ninety_runs,
            "median_days": days,
            "seen": found.alarmed,
            "false_alarms": unchanged.alarmed,
        },
    )


def _runs(count: float | None) -> str:
    return "never within the runs tried" if count is None else f"{count:.0f} runs"


def _unseen() -> Finding:
    """Say what to do where the loss drowns."""
    message = (
        "The loss drowns in this noise: run shorter and oftener, on quiet nodes, or the median of several runs as one."
    )
    return Finding("unseen", message, "advice")


QUESTION = declared(__name__, _answer)
