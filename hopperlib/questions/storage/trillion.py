"""Question: twenty thousand files against one shared file, under assumptions of one's own."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cached_property
from statistics import mean
from typing import Any

from hopperlib.errors import refusal
from hopperlib.questions.figures import Axis, Series, chart
from hopperlib.questions.question import Asked, declared
from hopperlib.questions.result import Badge, Column, Figure, Result, Table, Value
from hopperlib.storage.lustre.dumps import barrier_rate_gb_s
from hopperlib.storage.lustre.osts import (
    FileDump,
    deal_findings,
    deal_objects,
    deals_in_time,
    file_dump,
    finish_times_s,
    nine_of_ten,
    rate_steps,
    uneven_weights,
)

__all__ = ["QUESTION"]

_DOCUMENTED_RATE, _DOCUMENTED_SPREAD, _DOCUMENTED_SHARED_RATE = 27.007, 200.0, 27.035
_OSTS_OF_A_CONTROLLER = 6
_SHOWN_DEALS = 20
# Steps of the rate that are drawn.
_DRAWN_STEPS = 60


class _Case(Asked):
    """The values of the controls, and what the models make of them."""

    def check(self) -> None:
        """Refuse values that do not fit together."""
        if self.stripe_count > self.osts:
            raise refusal("stripe_count", self.stripe_count, f"must be from 1 to {self.osts}, the OSTs")
        if self.osts % self.osts_per_unit:
            raise refusal("osts", self.osts, f"must be a multiple of {self.osts_per_unit}, the OSTs of a controller")

    @property
    def size_gb(self) -> float:
        """Data in files. [GB]"""
        return float(1000 * self.size_tb)

    @property
    def osts_per_unit(self) -> int:
        """OSTs of what limits the rate."""
        return _OSTS_OF_A_CONTROLLER if self.layer == "controller" else 1

    @cached_property
    def deals(self) -> list[list[int]]:
        """Objects on each OST, dealt again and again."""
        rng, weights = random.Random(self.seed), uneven_weights(self.osts, self.unevenness)
        made = deals_in_time(self.repetitions, self.files, self.stripe_count, self.allocator)
        return [
            deal_objects(self.files, self.stripe_count, self.osts, allocator=self.allocator, rng=rng, weights=weights)
            for _ in range(made)
        ]

    @cached_property
    def dumps(self) -> list[FileDump]:
        """The dump of every deal."""
        return [
            file_dump(self.size_gb, loads, peak_gb_s=self.peak_gb_s, osts_per_unit=self.osts_per_unit)
            for loads in self.deals
        ]

    @property
    def rate_gb_s(self) -> float:
        """Mean rate of the files. [GB/s]"""
        return mean(dump.rate_gb_s for dump in self.dumps)

    @property
    def finish_spread_s(self) -> float:
        """Mean time between the first and the last OST to finish. [s]"""
        return mean(dump.spread_s for dump in self.dumps)

    @property
    def shared_rate_gb_s(self) -> float:
        """Rate of the shared file. [GB/s]"""
        size_gb = 1000 * self.shared_tb
        return barrier_rate_gb_s(size_gb, peak_gb_s=self.peak_gb_s, variables=self.variables, spread_s=self.spread_s)


def _answer(**asked: Any) -> Result:
    """Answer for one set of assumptions."""
    case = _Case(**asked)
    rate, spread, shared = case.rate_gb_s, case.finish_spread_s, case.shared_rate_gb_s
    both_met = abs(rate - _DOCUMENTED_RATE) < 0.5 and abs(spread - _DOCUMENTED_SPREAD) < 25
    return Result(
        summary=(
            f"{case.files:,} files reach {rate:.1f} GB/s, and the OSTs finish {spread:,.0f} s apart; documented are "
            f"27.0 GB/s and about 200 s, {'both met' if both_met else 'not met together'}. One shared file with "
            f"{case.variables} barriers reaches {shared:.1f} GB/s; documented are 27.0."
        ),
        findings=deal_findings(len(case.deals), case.repetitions, case.allocator),
        values=tuple(_values(case)),
        figures=(_rate_figure(case), _load_figure(case)),
        tables=(_deal_table(case),),
        facts={
            "rate_gb_s": rate,
            "spread_s": spread,
            "shared_rate_gb_s": shared,
            "repetitions": len(case.deals),
            "files": case.files,
            "both_met": both_met,
            "allocator": case.allocator,
        },
    )


def _values(case: _Case) -> Iterator[Value]:
    """Yield the numbers of the answer, each with its badge."""
    source = "byna2013, sec. III-A"
    low, high = nine_of_ten([dump.rate_gb_s for dump in case.dumps])
    label, note = "Rate, a file for each process", f"nine of ten of {len(case.deals)} deals"
    yield Value(label, case.rate_gb_s, "predicted", "GB/s", 1, low=low, high=high, note=note)
    low, high = nine_of_ten([dump.spread_s for dump in case.dumps])
    yield Value("OSTs finish apart by", case.finish_spread_s, "predicted", "s", 0, low=low, high=high)
    fullest = mean(dump.fullest_over_mean for dump in case.dumps)
    yield Value("Fullest over mean", fullest, "predicted", decimals=2)
    yield Value("Rate, one shared file", case.shared_rate_gb_s, "predicted", "GB/s", 1)
    yield Value("Documented rate of the files", _DOCUMENTED_RATE, "documented", "GB/s", 3, note=source)
    yield Value("Documented rate of the shared file", _DOCUMENTED_SHARED_RATE, "documented", "GB/s", 3, note=source)
    yield Value("Stripe count of each file", case.stripe_count, "assumed", note="not printed")
    badge: Badge = "documented" if case.spread_s == 40 else "assumed"
    note = "about 40 s of spread, for the dump or for a variable" if badge == "documented" else "as set above"
    yield Value("Lost at each barrier", case.spread_s, badge, "s", 0, note=note)


def _rate_figure(case: _Case) -> Figure:
    """Return the rate over time of both ways to write; of the files in the first deal."""
    times_s = finish_times_s(case.size_gb, case.deals[0], peak_gb_s=case.peak_gb_s, osts_per_unit=case.osts_per_unit)
    steps = rate_steps(times_s, case.peak_gb_s)
    drawn = steps[:1] + steps[1 :: max(1, len(steps) // _DRAWN_STEPS)] + steps[-1:]
    peak, writing_s = case.peak_gb_s, 1000 * case.shared_tb / case.variables / case.peak_gb_s
    corners: list[tuple[float, float]] = []
    for number in range(case.variables):
        start = number * (writing_s + case.spread_s)
        done = start + writing_s
        corners += [(start, peak), (done, peak), (done, 0.0), (done + case.spread_s, 0.0)]
    return chart(
        title="Rate over time",
        alt=(
            f"A file for each process starts at {peak:g} GB/s and falls in a long tail until "
            f"{case.dumps[0].time_s:,.0f} s. One shared file writes {case.variables} times at {peak:g} GB/s, with a "
            f"gap of {case.spread_s:g} s after each variable, until {corners[-1][0]:,.0f} s."
        ),
        x=Axis(title="Time", unit="s", low=0, decimals=0),
        y=Axis(title="Rate", unit="GB/s", low=0, decimals=2),
        series=[
            Series(name=name, x=[time for time, _ in line], y=[rate for _, rate in line])
            for name, line in (("a file for each process", drawn), ("one shared file", corners))
        ],
    )


def _load_figure(case: _Case) -> Figure:
    """Return time against load of every OST: Figure 4 of the paper, as the model has it."""
    loads, rate = case.deals[0], case.peak_gb_s / case.osts
    object_gb = case.size_gb / sum(loads)
    points = sorted(object_gb * load for load in loads)
    return chart(
        title="Load and finish of each OST",
        alt=(
            f"{len(loads)} OSTs: loads from {points[0]:,.0f} to {points[-1]:,.0f} GB, finished after "
            f"{points[0] / rate:,.0f} to {points[-1] / rate:,.0f} s, on a straight line."
        ),
        x=Axis(title="Data on the OST", unit="GB", decimals=1),
        y=Axis(title="Done after", unit="s", decimals=0),
        series=[Series(name="one OST each", x=points, y=[point / rate for point in points], kind="points")],
    )


def _deal_table(case: _Case) -> Table:
    """Return rate and spread of the first deals."""
    return Table(
        caption="Repeated deals",
        columns=(Column("Deal"), Column("Rate", "GB/s", 2), Column("Spread", "s", 0)),
        rows=tuple(
            (number, dump.rate_gb_s, dump.spread_s) for number, dump in enumerate(case.dumps[:_SHOWN_DEALS], start=1)
        ),
    )


QUESTION = declared(__name__, _answer)
