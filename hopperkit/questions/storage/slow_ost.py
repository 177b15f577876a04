"""Question: a dump with slow OSTs, how slow they must be, and how to find them."""

from collections.abc import Iterator
from functools import cached_property

from hopperkit.questions import ask
from hopperkit.questions.figures import Axis, Series, chart
from hopperkit.questions.result import Figure, Result, Value
from hopperlib.errors import refusal
from hopperlib.finding import Finding
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
)
from hopperlib.text import count, share

# Length of a sample of the probe. [s]
_SAMPLE_S = 5.0
# Total of all dumps of the run. [GB]
_SIZES_GB = (30_000.0, 42_000.0)


class Case(ask.Setting):
    """A dump, its slow OSTs, a measured time and a probe."""

    slow: int = ask.slider("Slow OSTs", 1, (0, 24, 1))
    slow_mb_s: float = ask.slider(
        "Write rate of a slow OST",
        119.0,
        (5.0, 500.0, 1.0),
        unit="MB/s",
        assumed="Derived from the time of the dump; the answer gives the interval.",
    )
    size_tb: float = ask.slider(
        "Size of the dump",
        36.0,
        (1.0, 60.0, 0.1),
        unit="TB",
        assumed="Not printed for these dumps; all dumps of the run had 30 to 42 TB.",
    )
    probe_s: float = ask.slider("Length of the probe", 60.0, (5.0, 600.0, 5.0), unit="s")
    measured_min: float = ask.number("Measured time of a dump", 35.0, (0.1, 10_000.0, 0.5), unit="min")
    osts: int = ask.whole("OSTs in use", 144, (2, 5000), advanced=True)
    healthy_mb_s: float = ask.number(
        "Write rate of a healthy OST", 243.0, (1.0, 100_000.0, 1.0), unit="MB/s", advanced=True
    )
    variables: int = ask.slider("Variables, each with a barrier", 8, (1, 64, 1), advanced=True)
    noise: float = ask.slider(
        "Noise of one sample of the probe",
        0.3,
        (0.05, 1.0, 0.05),
        assumed="No source prints how noisy an OST is.",
        advanced=True,
    )

    def check(self) -> None:
        """Reject inconsistent values."""
        if self.slow_mb_s > self.healthy_mb_s:
            rule = f"must not be above healthy_mb_s={self.healthy_mb_s:g}"
            raise refusal("slow_mb_s", self.slow_mb_s, rule)

    @property
    def size_gb(self) -> float:
        """Size of the dump. [GB]"""
        return 1000 * self.size_tb

    @property
    def healthy_gb_s(self) -> float:
        """Rate of a healthy OST. [GB/s]"""
        return self.healthy_mb_s / 1000

    @property
    def slow_gb_s(self) -> float:
        """Rate of a slow OST. [GB/s]"""
        return self.slow_mb_s / 1000

    @cached_property
    def dump(self) -> Dump:
        """The dump with its slow OSTs."""
        rates = osts_with_slow(self.osts, self.healthy_gb_s, slow=self.slow, slow_rate_gb_s=self.slow_gb_s)
        return barriered_dump(self.size_gb, rates, variables=self.variables)

    @cached_property
    def exclusion(self) -> Exclusion:
        """Result without them."""
        return exclude_slow(
            self.size_gb,
            self.osts,
            self.healthy_gb_s,
            slow=self.slow,
            slow_rate_gb_s=self.slow_gb_s,
            variables=self.variables,
        )

    @cached_property
    def explaining_gb_s(self) -> tuple[float, float]:
        """Rates of the slowest OST that explain the measured time. [GB/s]"""
        return explaining_rate_gb_s(60 * self.measured_min, _SIZES_GB, osts=self.osts)

    @cached_property
    def probe(self) -> Probe:
        """Result of a probe of all OSTs."""
        return probe(
            self.healthy_gb_s,
            self.slow_gb_s,
            noise_fraction=self.noise,
            seconds=self.probe_s,
            sample_s=_SAMPLE_S,
            osts=self.osts,
        )

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Recommended actions."""
        found = slow_ost_findings(
            self.explaining_gb_s,
            self.healthy_gb_s,
            slow=self.slow,
            slow_gb_s=self.slow_gb_s,
            exclusion=self.exclusion,
            power=self.probe.power,
        )
        return tuple(found)


def answer(case: Case) -> Result:
    """Return the answer.

    Parameters
    ----------
    case : Case
        A dump, its slow OSTs, a measured time and a probe.

    Returns
    -------
    Result
        The answer.

    Examples
    --------
    >>> round(answer(Case()).facts['minutes'], 1)
    35.0
    """
    low, high = case.explaining_gb_s
    return Result(
        summary=_summary(case),
        findings=case.findings,
        values=tuple(_values(case)),
        figures=(_activity(case),),
        facts={
            "minutes": case.dump.time_s / 60,
            "minutes_without": case.exclusion.without_s / 60,
            "slow": case.slow,
            "size_tb": case.size_tb,
            "explaining_low_mb_s": 1000 * low,
            "explaining_high_mb_s": 1000 * high,
            "power": case.probe.power,
            "probe_s": case.probe_s,
            "break_even_mb_s": 1000 * case.exclusion.break_even_gb_s,
            "codes": [finding.code for finding in case.findings],
        },
    )


def _summary(case: Case) -> str:
    low, high = case.explaining_gb_s
    without = f"; without, {case.exclusion.without_s / 60:.1f} minutes" if case.slow else ""
    return (
        f"With {count(case.slow, 'slow OST')} of {case.osts} the dump takes {case.dump.time_s / 60:.1f} minutes, "
        f"{case.dump.rate_gb_s:.1f} GB/s{without}. "
        f"A dump of {case.measured_min:g} minutes means a slowest OST of {1000 * low:.0f} to {1000 * high:.0f} MB/s. "
        f"A probe of {case.probe_s:g} s, which writes {case.probe.data_gb / 1000:.2f} TB, finds an OST of "
        f"{case.slow_mb_s:g} MB/s with a probability of {share(case.probe.power)}."
    )


def _values(case: Case) -> Iterator[Value]:
    low, high = (1000 * rate for rate in case.explaining_gb_s)
    label = "Slowest OST that explains the measured time"
    yield Value(label, high, "calibrated", "MB/s", 0, low=low, high=high, note="for 30 to 42 TB")


def _activity(case: Case) -> Figure:
    """Return the chart of a good and a slow OST's activity over the dump."""
    dump = case.dump
    drawn = {"a good OST": ost_activity(dump, case.healthy_gb_s)}
    if case.slow:
        drawn["a slow OST"] = ost_activity(dump, case.slow_gb_s, slowest=True)
    return chart(
        title="Two OSTs over one dump",
        alt=f"Rate of a good and a slow OST over {dump.time_s:,.0f} s and {count(case.variables, 'variable')}: "
        f"a good OST works {dump.phases[0].first_ost_s:,.0f} s of each variable and waits {dump.spread_s:,.0f} s; "
        "a slow one never stops.",
        x=Axis(title="Time", unit="s", low=0, decimals=0),
        y=Axis(title="Rate of one OST", unit="MB/s", low=0, decimals=0),
        series=[
            Series(name=name, x=[time for time, _ in corners], y=[1000 * rate for _, rate in corners])
            for name, corners in drawn.items()
        ],
    )


QUESTION = ask.declared(
    Case,
    answer,
    title="How slow was the slow OST?",
    examples={
        "35 minutes: one erratic OST": {"slow": 1, "slow_mb_s": 119.0, "measured_min": 35.0},
        "23 minutes: two slow servers": {"slow": 12, "slow_mb_s": 181.0, "measured_min": 23.0},
        "20 minutes: all healthy": {"slow": 0, "measured_min": 20.0},
        "One that is hard to find": {"slow": 1, "slow_mb_s": 200.0},
    },
)
