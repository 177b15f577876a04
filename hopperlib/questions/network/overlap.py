"""Question: what overlap can hide, and what tuning steps give together."""

from __future__ import annotations

from hopperlib.network.runtime.overlap import cache_speedup, combined_factor, overlapped_s
from hopperlib.questions.figures import Axis, Series, chart
from hopperlib.questions.question import declared
from hopperlib.questions.result import Figure, Result, Value

__all__ = ["QUESTION"]


def _answer(
    *,
    compute_s: float,
    communication_s: float,
    overlap: float,
    saved_fraction: float,
    first_factor: float,
    second_factor: float,
    data_mb: float,
    cache_mb: float,
    penalty: float,
) -> Result:
    """Answer for one step of a code."""
    left_s = communication_s * (1 - saved_fraction)
    plain = overlapped_s(compute_s, communication_s, 0.0)
    merged = overlapped_s(compute_s, left_s, 0.0)
    hidden = overlapped_s(compute_s, left_s, overlap)
    parts = [step / 20 for step in range(21)]
    times = [overlapped_s(compute_s, left_s, part) for part in parts]
    least = min(times)
    cores = [1, 2, 4, 8, 16, 32]
    faster = [cache_speedup(count, 1, data_mb=data_mb, cache_mb=cache_mb, memory_penalty=penalty) for count in cores]
    both = combined_factor(first_factor, second_factor)
    tuned = "if neither touches the other's gain"
    return Result(
        summary=(
            f"A step of {plain:.2f} s takes {hidden:.2f} s with {100 * overlap:.0f} % of its communication beside the "
            f"computation; no overlap can bring it under {least:.2f} s."
        ),
        values=(
            Value("One after the other", plain, "assumed", "s", 2, note="your two times"),
            Value("With merged collectives", merged, "predicted", "s", 2),
            Value("And with overlap", hidden, "predicted", "s", 2),
            Value("Speedup of the step", plain / hidden if hidden else 1.0, "predicted", decimals=2),
            Value("Two tuning steps together", both, "predicted", decimals=2, note=tuned),
        ),
        figures=(
            chart(
                title="Time of a step against overlap",
                alt=f"Time of a step falls from {times[0]:.2f} s without overlap to {times[-1]:.2f} s with all of it; "
                f"the least is {least:.2f} s.",
                x=Axis(title="Share of communication that overlaps", decimals=2),
                y=Axis(title="Time of a step", unit="s", low=0, decimals=2),
                series=[Series(name="step", x=parts, y=times)],
                showlegend=False,
            ),
            _scaling_figure(cores, faster),
        ),
        facts={
            "plain_s": plain,
            "time_s": hidden,
            "least_s": least,
            "combined": both,
            "superlinear": faster[-1] > cores[-1],
        },
    )


def _scaling_figure(cores: list[int], faster: list[float]) -> Figure:
    """Return the speedup that caches give beside the ideal one."""
    return chart(
        title="Why scaling can look super-linear",
        alt=f"Speedup against cores: {faster[-1]:.1f} on {cores[-1]} cores, where ideal is {cores[-1]}.",
        x=Axis(title="Cores, as multiples of the smallest run", log=True),
        y=Axis(title="Speedup", log=True, decimals=2),
        series=[Series(name="with caches", x=cores, y=faster), Series(name="ideal", x=cores, y=cores)],
    )


QUESTION = declared(__name__, _answer)
