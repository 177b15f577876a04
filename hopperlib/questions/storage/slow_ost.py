"""Question: a dump with slow OSTs, how slow they must be, and how to find them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from hopperlib.errors import refusal
from hopperlib.questions.figures import Axis, Reference, Series, chart
from hopperlib.questions.question import Asked, declared
from hopperlib.questions.result import Column, Figure, Result, Table, Value
from hopperlib.storage.lustre.dumps import (
    Dump,
    Exclusion,
    Probe,
    barriered_dump,
    exclude_slow,
    explaining_rate_gb_s,
    ost_activity,
    osts_with_slow,
    probe,
    slow_ost_findings,
    times_by_slow_rate,
)

__all__ = ["QUESTION"]


class _Case(Asked):
    """The values of the controls, and what the models make of them."""

    def check(self) -> None:
        """Refuse values that do not fit together."""
        if self.slow_mb_s > self.healthy_mb_s:
            rule = f"must not be above healthy_mb_s={self.healthy_mb_s:g}"
            raise refusal("slow_mb_s", self.slow_mb_s, rule)
        if self.size_low_tb > self.size_high_tb:
            rule = f"must not be above size_high_tb={self.size_high_tb:g}"
            raise refusal("size_low_tb", self.size_low_tb, rule)
        if self.lost_s >= 60 * self.measured_min:
            rule = f"at {self.variables - 1} barriers is more than the measured {self.measured_min:g} minutes"
            raise refusal("gap_s", self.gap_s, rule)

    @property
    def size_gb(self) -> float:
        """Size of the dump. [GB]"""
        return float(1000 * self.size_tb)

    @property
    def healthy_gb_s(self) -> float:
        """Rate of a healthy OST. [GB/s]"""
        return float(self.healthy_mb_s / 1000)

    @property
    def slow_gb_s(self) -> float:
        """Rate of a slow OST. [GB/s]"""
        return float(self.slow_mb_s / 1000)

    @property
    def lost_s(self) -> float:
        """Time lost at all barriers. [s]"""
        return float((self.variables - 1) * self.gap_s)

    @cached_property
    def exclusion(self) -> Exclusion:
        """What leaving out the slow OSTs does."""
        return exclude_slow(
            self.size_gb,
            self.osts,
            self.healthy_gb_s,
            slow=self.slow,
            slow_rate_gb_s=self.slow_gb_s,
            variables=self.variables,
            gap_s=self.gap_s,
        )

    @cached_property
    def dump(self) -> Dump:
        """The dump with its slow OSTs."""
        rates = osts_with_slow(self.osts, self.healthy_gb_s, slow=self.slow, slow_rate_gb_s=self.slow_gb_s)
        return barriered_dump(self.size_gb, rates, variables=self.variables, gap_s=self.gap_s)

    @cached_property
    def explaining_gb_s(self) -> tuple[float, float]:
        """Rates of the slowest OST that explain the measured time. [GB/s]"""
        sizes = (1000 * self.size_low_tb, 1000 * self.size_high_tb)
        return explaining_rate_gb_s(60 * self.measured_min, sizes, osts=self.osts, lost_s=self.lost_s)

    @cached_property
    def probe(self) -> Probe:
        """What the probe can tell."""
        return probe(
            self.healthy_gb_s,
            self.slow_gb_s,
            noise_fraction=self.noise,
            seconds=self.probe_s,
            sample_s=self.sample_s,
            osts=self.osts,
        )


def _answer(**asked: Any) -> Result:
    """Answer for one setting."""
    case = _Case(**asked)
    without_min = case.exclusion.without_s / 60
    low, high = (1000 * rate for rate in case.explaining_gb_s)
    findings = slow_ost_findings(
        case.explaining_gb_s,
        case.healthy_gb_s,
        slow=case.slow,
        slow_gb_s=case.slow_gb_s,
        exclusion=case.exclusion,
        power=case.probe.power,
    )
    return Result(
        summary=(
            f"With {case.slow} slow OST{'s' * (case.slow != 1)} of {case.osts} the dump takes "
            f"{case.dump.time_s / 60:.1f} minutes, {case.dump.rate_gb_s:.1f} GB/s; without, {without_min:.1f} minutes. "
            f"A dump of {case.measured_min:g} minutes means a slowest OST of {low:.0f} to {high:.0f} MB/s. "
            f"A probe of {case.probe_s:g} s finds one of {case.slow_mb_s:g} MB/s with {100 * case.probe.power:.0f} %."
        ),
        findings=findings,
        values=tuple(_values(case)),
        figures=(_activity_figure(case), _minutes_figure(case)),
        tables=(_phase_table(case.dump),),
        facts={
            "minutes": case.dump.time_s / 60,
            "minutes_without": without_min,
            "slow": case.slow,
            "size_tb": case.size_tb,
            "explaining_low_mb_s": low,
            "explaining_high_mb_s": high,
            "power": case.probe.power,
            "probe_s": case.probe_s,
            "break_even_mb_s": 1000 * case.exclusion.break_even_gb_s,
            "codes": [finding.code for finding in findings],
        },
    )


def _values(case: _Case) -> Iterator[Value]:
    """Yield the numbers of the answer, each with its badge."""
    dump, out = case.dump, case.exclusion
    yield Value("Time of the dump", dump.time_s / 60, "predicted", "min", 1)
    yield Value("Rate of the dump", dump.rate_gb_s, "predicted", "GB/s", 1)
    yield Value("OSTs' time spent waiting", 100 * dump.idle_fraction, "predicted", "%", 0)
    average = 1000 * case.size_gb / case.osts / dump.time_s
    yield Value("Average of a good OST over the dump", average, "predicted", "MB/s", 0)
    low, high = (1000 * rate for rate in case.explaining_gb_s)
    label, note = "Slowest OST that explains the measured time", f"for {case.size_low_tb:g} to {case.size_high_tb:g} TB"
    yield Value(label, high, "calibrated", "MB/s", 0, low=low, high=high, note=note)
    yield Value("Time without the slow OSTs", out.without_s / 60, "predicted", "min", 1)
    note = "rate of the slow OSTs"
    yield Value("Leaving out pays below", 1000 * out.break_even_gb_s, "predicted", "MB/s", 0, note=note)
    note = "with a false alarm in one probe of twenty"
    yield Value("Chance that the probe finds it", 100 * case.probe.power, "predicted", "%", 0, note=note)
    threshold = 1000 * case.probe.threshold_gb_s
    yield Value("The probe calls slow what is below", threshold, "predicted", "MB/s", 0)
    yield Value("Data the probe writes", case.probe.data_gb / 1000, "predicted", "TB", 2)


def _activity_figure(case: _Case) -> Figure:
    """Return the rate of a good and of a slow OST over the dump."""
    dump = case.dump
    drawn = [("a good OST", ost_activity(dump, case.healthy_gb_s))]
    if case.slow:
        drawn.append(("a slow OST", ost_activity(dump, case.slow_gb_s, slowest=True)))
    works_s = dump.phases[0].first_ost_s
    return chart(
        title="Two OSTs over one dump",
        alt=(
            f"Rate of a good and a slow OST over {dump.time_s:,.0f} s and {len(dump.phases)} variables: a good OST "
            f"works {works_s:,.0f} s of each variable and waits {dump.spread_s:,.0f} s; a slow one never stops."
        ),
        x=Axis(title="Time", unit="s", low=0, decimals=0),
        y=Axis(title="Rate of one OST", unit="MB/s", low=0, decimals=0),
        series=[
            Series(name=name, x=[time for time, _ in corners], y=[1000 * rate for _, rate in corners])
            for name, corners in drawn
        ],
    )


def _minutes_figure(case: _Case) -> Figure:
    """Return the time of the dump against the rate of the slow OSTs."""
    curve = times_by_slow_rate(
        case.size_gb, case.osts, case.healthy_gb_s, slow=case.slow, variables=case.variables, gap_s=case.gap_s
    )
    minutes = [time_s / 60 for _, time_s in curve]
    return chart(
        title="Time of the dump against the slow OST's rate",
        alt=(
            f"The dump takes {minutes[0]:.0f} minutes if the slow OST has a fifth of the healthy rate, and "
            f"{minutes[-1]:.0f} if it has all of it. A dotted line marks the measured {case.measured_min:g} minutes."
        ),
        x=Axis(title="Rate of the slow OST", unit="MB/s", decimals=0),
        y=Axis(title="Time of the dump", unit="min", low=0, decimals=1),
        series=[Series(name="model", x=[round(1000 * rate, 6) for rate, _ in curve], y=minutes)],
        references=(Reference(name="measured", y=case.measured_min),),
    )


def _phase_table(dump: Dump) -> Table:
    """Return when each variable starts and ends."""
    titles = ("Starts", "Good OSTs done", "Slowest OST done")
    return Table(
        caption="Variables of the dump",
        columns=(Column("Variable"), *(Column(title, "s", 0) for title in titles)),
        rows=tuple(
            (number, phase.start_s, phase.first_ost_s, phase.last_ost_s)
            for number, phase in enumerate(dump.phases, start=1)
        ),
    )


QUESTION = declared(__name__, _answer)
