"""Question: twenty thousand files against one shared file, under assumptions of one's own."""

from __future__ import annotations

import random
from statistics import mean, quantiles

from hopperlib.errors import InputError
from hopperlib.finding import Finding
from hopperlib.questions.figures import Axis, Series, chart
from hopperlib.questions.question import declared
from hopperlib.questions.result import Badge, Column, Figure, Result, Table, Value
from hopperlib.storage.lustre.dumps import barrier_rate_gb_s
from hopperlib.storage.lustre.osts import FileDump, deal_objects, file_dump, finish_times_s, rate_steps, uneven_weights

__all__ = ["QUESTION"]

# Objects dealt one by one (files of several stripes) cost time; beyond this many, fewer repetitions are made.
_MOST_OBJECTS = 1_200_000
_DOCUMENTED_RATE, _DOCUMENTED_SPREAD = 27.007, 200.0


def _range(numbers: list[float]) -> tuple[float, float]:
    """Return where nine of ten values lie; both ends the same for a single value."""
    if len(numbers) < 2:
        return numbers[0], numbers[0]
    parts = quantiles(numbers, n=20, method="inclusive")
    return parts[0], parts[-1]


def _figure(
    loads: list[int], first: FileDump, size_gb: float, peak: float, unit: int, shared: tuple[float, float, int, float]
) -> Figure:
    """Return the rate over time of both ways to write."""
    steps = rate_steps(finish_times_s(size_gb, loads, peak_gb_s=peak, osts_per_unit=unit), peak)
    kept = steps[:1] + steps[1 :: max(1, len(steps) // 60)] + steps[-1:]
    shared_size, shared_peak, variables, spread = shared
    each = shared_size / variables / shared_peak
    xs, ys = [], []
    for number in range(variables):
        start = number * (each + spread)
        xs += [start, start + each, start + each, start + each + spread]
        ys += [shared_peak, shared_peak, 0.0, 0.0]
    return chart(
        title="Rate over time",
        alt=f"A file for each process starts at {peak:g} GB/s and falls in a long tail until {first.time_s:,.0f} s. One shared file writes "
        f"{variables} times at {shared_peak:g} GB/s, with a gap of {spread:g} s after each variable, until {xs[-1]:,.0f} s.",
        x=Axis(title="Time", unit="s", low=0, decimals=0),
        y=Axis(title="Rate", unit="GB/s", low=0, decimals=2),
        series=[
            Series(name="a file for each process", x=[time for time, _ in kept], y=[rate for _, rate in kept]),
            Series(name="one shared file", x=xs, y=ys),
        ],
    )


def _load_figure(loads: list[int], size_gb: float, peak: float) -> Figure:
    """Return time against load of every OST: Figure 4 of the paper, as the model has it."""
    each = size_gb / sum(loads)
    rate = peak / len(loads)
    points = sorted(each * load for load in loads)
    return chart(
        title="Load and finish of each OST",
        alt=f"{len(loads)} OSTs: loads from {points[0]:,.0f} to {points[-1]:,.0f} GB, finished after {points[0] / rate:,.0f} to "
        f"{points[-1] / rate:,.0f} s, on a straight line.",
        x=Axis(title="Data on the OST", unit="GB", decimals=1),
        y=Axis(title="Done after", unit="s", decimals=0),
        series=[Series(name="one OST each", x=points, y=[point / rate for point in points], kind="points")],
    )


def _answer(
    *,
    files: int,
    size_tb: float,
    stripe_count: int,
    allocator: str,
    layer: str,
    osts: int,
    peak_gb_s: float,
    unevenness: float,
    repetitions: int,
    seed: int,
    shared_tb: float,
    variables: int,
    spread_s: float,
) -> Result:
    """Answer for one set of assumptions."""
    if stripe_count > osts:
        raise InputError(f"stripe_count={stripe_count} must be from 1 to {osts}, the OSTs", name="stripe_count")
    unit = 6 if layer == "controller" else 1
    if osts % unit:
        raise InputError(f"osts={osts} must be a multiple of {unit}, the OSTs of a controller", name="osts")
    rng, weights = random.Random(seed), uneven_weights(osts, unevenness)
    made = 1 if allocator == "round-robin" else repetitions
    if allocator != "round-robin" and stripe_count > 1:
        made = max(1, min(repetitions, _MOST_OBJECTS // (files * stripe_count * (2 if allocator == "weighted" else 1))))
    dealt = [
        deal_objects(files, stripe_count, osts, allocator=allocator, rng=rng, weights=weights) for _ in range(made)
    ]
    size_gb = 1000 * size_tb
    dumps = [file_dump(size_gb, loads, peak_gb_s=peak_gb_s, osts_per_unit=unit) for loads in dealt]
    rates, spreads = [dump.rate_gb_s for dump in dumps], [dump.spread_s for dump in dumps]
    rate, spread = mean(rates), mean(spreads)
    shared = barrier_rate_gb_s(1000 * shared_tb, peak_gb_s=peak_gb_s, variables=variables, spread_s=spread_s)
    both = abs(rate - _DOCUMENTED_RATE) < 0.5 and abs(spread - _DOCUMENTED_SPREAD) < 25
    notices = []
    if made < repetitions and allocator != "round-robin":
        notices.append(
            Finding(
                code="fewer-repetitions",
                message=f"{made} deals instead of {repetitions}: files of several stripes take longer to deal.",
                level="note",
            )
        )
    if allocator == "weighted":
        notices.append(
            Finding(
                code="weights-assumed",
                message="How full the OSTs were is not printed: the weights are an assumption, and a strong one.",
                level="note",
            )
        )
    rate_low, rate_high = _range(rates)
    spread_low, spread_high = _range(spreads)
    assumed: Badge = "assumed"
    return Result(
        summary=f"{files:,} files reach {rate:.1f} GB/s, and the OSTs finish {spread:,.0f} s apart; documented are 27.0 GB/s and about 200 s"
        f"{', both met' if both else ', not met together'}. One shared file with {variables} barriers reaches {shared:.1f} GB/s; documented are 27.0.",
        findings=tuple(notices),
        values=(
            Value(
                "Rate, a file for each process",
                rate,
                "predicted",
                "GB/s",
                1,
                low=rate_low,
                high=rate_high,
                note=f"nine of ten of {made} deals",
            ),
            Value("OSTs finish apart by", spread, "predicted", "s", 0, low=spread_low, high=spread_high),
            Value("Fullest over mean", mean(dump.fullest_over_mean for dump in dumps), "predicted", decimals=2),
            Value("Rate, one shared file", shared, "predicted", "GB/s", 1),
            Value(
                "Documented rate of the files", _DOCUMENTED_RATE, "documented", "GB/s", 3, note="byna2013, sec. III-A"
            ),
            Value("Documented rate of the shared file", 27.035, "documented", "GB/s", 3, note="byna2013, sec. III-A"),
            Value("Stripe count of each file", stripe_count, assumed, note="not printed"),
            Value(
                "Lost at each barrier",
                spread_s,
                "documented" if spread_s == 40 else assumed,
                "s",
                0,
                note="about 40 s of spread, for the dump or for a variable" if spread_s == 40 else "as set above",
            ),
        ),
        figures=(
            _figure(dealt[0], dumps[0], size_gb, peak_gb_s, unit, (1000 * shared_tb, peak_gb_s, variables, spread_s)),
            _load_figure(dealt[0], size_gb, peak_gb_s),
        ),
        tables=(
            Table(
                caption="Repeated deals",
                columns=(
                    Column("Deal"),
                    Column("Rate", "GB/s", 2),
                    Column("Spread", "s", 0),
                ),
                rows=tuple((number, one.rate_gb_s, one.spread_s) for number, one in enumerate(dumps[:20], start=1)),
            ),
        ),
        facts={
            "rate_gb_s": rate,
            "spread_s": spread,
            "shared_rate_gb_s": shared,
            "repetitions": made,
            "files": files,
            "both_met": both,
            "allocator": allocator,
        },
    )


QUESTION = declared(__name__, _answer)
