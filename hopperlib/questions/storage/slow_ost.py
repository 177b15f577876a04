"""Question: a dump with slow OSTs, how slow they must be, and how to find them."""

from __future__ import annotations

from hopperlib.errors import InputError
from hopperlib.finding import Finding
from hopperlib.questions.figures import Axis, Reference, Series, chart
from hopperlib.questions.question import declared
from hopperlib.questions.result import Badge, Column, Figure, Result, Table, Value
from hopperlib.storage.lustre.dumps import (
    Dump,
    barriered_dump,
    exclude_slow,
    explaining_rate_gb_s,
    osts_with_slow,
    probe,
)

__all__ = ["QUESTION"]


def _timeline(dump: Dump, healthy: float, slowest: float, slow: int) -> Figure:
    """Return the rate of a good and of a slow OST over the dump."""
    good_x: list[float] = []
    good_y: list[float] = []
    slow_x: list[float] = []
    slow_y: list[float] = []
    for phase in dump.phases:
        good_x += [phase.start_s, phase.first_ost_s, phase.first_ost_s, phase.end_s]
        good_y += [1000 * healthy, 1000 * healthy, 0.0, 0.0]
        slow_x += [phase.start_s, phase.end_s]
        slow_y += [1000 * slowest, 1000 * slowest]
    series = [Series(name="a good OST", x=good_x, y=good_y)]
    if slow:
        series.append(Series(name="a slow OST", x=slow_x, y=slow_y))
    waiting = f"a good OST works {dump.phases[0].first_ost_s:,.0f} s of each variable and waits {dump.spread_s:,.0f} s"
    return chart(
        title="Two OSTs over one dump",
        alt=f"Rate of a good and a slow OST over {dump.time_s:,.0f} s and {len(dump.phases)} variables: {waiting}; a slow one never stops.",
        x=Axis(title="Time", unit="s", low=0, decimals=0),
        y=Axis(title="Rate of one OST", unit="MB/s", low=0, decimals=0),
        series=series,
    )


def _minutes_figure(
    size_gb: float, osts: int, healthy: float, slow: int, variables: int, gap_s: float, measured: float
) -> Figure:
    """Return the time of the dump against the rate of the slow OSTs."""
    shares = [step / 20 for step in range(4, 21)]
    minutes = [
        barriered_dump(
            size_gb,
            osts_with_slow(osts, healthy, slow=max(slow, 1), slow_rate_gb_s=share * healthy),
            variables=variables,
            gap_s=gap_s,
        ).time_s
        / 60
        for share in shares
    ]
    return chart(
        title="Time of the dump against the slow OST's rate",
        alt=f"The dump takes {minutes[0]:.0f} minutes if the slow OST has a fifth of the healthy rate, and {minutes[-1]:.0f} if it has all of it. "
        f"A dotted line marks the measured {measured:g} minutes.",
        x=Axis(title="Rate of the slow OST", unit="MB/s", decimals=0),
        y=Axis(title="Time of the dump", unit="min", low=0, decimals=1),
        series=[Series(name="model", x=[1000 * share * healthy for share in shares], y=minutes)],
        references=(Reference(name="measured", y=measured),),
    )


def _answer(
    *,
    size_tb: float,
    osts: int,
    healthy_mb_s: float,
    slow: int,
    slow_mb_s: float,
    variables: int,
    gap_s: float,
    measured_min: float,
    size_low_tb: float,
    size_high_tb: float,
    probe_s: float,
    noise: float,
    sample_s: float,
) -> Result:
    """Answer for one setting."""
    if slow >= osts:
        raise InputError(f"slow={slow} must be from 0 to {osts - 1}: a healthy OST must be left", name="slow")
    if slow_mb_s > healthy_mb_s:
        raise InputError(f"slow_mb_s={slow_mb_s:g} must not be above healthy_mb_s={healthy_mb_s:g}", name="slow_mb_s")
    if size_low_tb > size_high_tb:
        raise InputError(
            f"size_low_tb={size_low_tb:g} must not be above size_high_tb={size_high_tb:g}", name="size_low_tb"
        )
    if sample_s > probe_s:
        raise InputError(
            f"sample_s={sample_s:g} must not be longer than the probe, probe_s={probe_s:g}", name="sample_s"
        )
    healthy, slowest, size_gb = healthy_mb_s / 1000, slow_mb_s / 1000, 1000 * size_tb
    dump = barriered_dump(
        size_gb, osts_with_slow(osts, healthy, slow=slow, slow_rate_gb_s=slowest), variables=variables, gap_s=gap_s
    )
    lost = (variables - 1) * gap_s
    if lost >= 60 * measured_min:
        raise InputError(
            f"gap_s={gap_s:g} at {variables - 1} barriers is more than the measured {measured_min:g} minutes",
            name="gap_s",
        )
    low, high = explaining_rate_gb_s(
        60 * measured_min, (1000 * size_low_tb, 1000 * size_high_tb), osts=osts, lost_s=lost
    )
    out = exclude_slow(size_gb, osts, healthy, slow=slow, slow_rate_gb_s=slowest, variables=variables, gap_s=gap_s)
    found = probe(healthy, slowest, noise_fraction=noise, seconds=probe_s, sample_s=sample_s, osts=osts)
    notices = []
    if low > healthy:
        notices.append(
            Finding(
                code="faster-than-healthy",
                message="The measured time is shorter than healthy OSTs allow: a size or a rate is wrong.",
                level="problem",
            )
        )
    elif high >= healthy:
        notices.append(
            Finding(
                code="no-slow-ost-needed",
                message="For the greater sizes the time needs no slow OST: healthy ones take as long.",
                level="note",
            )
        )
    if slow and slowest < out.break_even_gb_s:
        notices.append(
            Finding(
                code="exclude",
                message=f"Leaving out {'the slow OST' if slow == 1 else f'the {slow} slow OSTs'} pays: each of the others takes {out.extra_per_ost_gb:,.1f} GB more.",
            )
        )
    if found.power < 0.9 and slow:
        notices.append(
            Finding(
                code="probe-too-short",
                message="This probe would miss the slow OST too often: make it longer.",
                level="advice",
            )
        )
    badge: Badge = "calibrated"
    return Result(
        summary=f"With {slow} slow OST{'s' * (slow != 1)} of {osts} the dump takes {dump.time_s / 60:.1f} minutes, {dump.rate_gb_s:.1f} GB/s; without, {out.without_s / 60:.1f} minutes. "
        f"A dump of {measured_min:g} minutes means a slowest OST of {1000 * low:.0f} to {1000 * high:.0f} MB/s. "
        f"A probe of {probe_s:g} s finds one of {slow_mb_s:g} MB/s with {100 * found.power:.0f} %.",
        findings=tuple(notices),
        values=(
            Value("Time of the dump", dump.time_s / 60, "predicted", "min", 1),
            Value("Rate of the dump", dump.rate_gb_s, "predicted", "GB/s", 1),
            Value("OSTs' time spent waiting", 100 * dump.idle_fraction, "predicted", "%", 0),
            Value("Average of a good OST over the dump", 1000 * size_gb / osts / dump.time_s, "predicted", "MB/s", 0),
            Value(
                "Slowest OST that explains the measured time",
                1000 * high,
                badge,
                "MB/s",
                0,
                low=1000 * low,
                high=1000 * high,
                note=f"for {size_low_tb:g} to {size_high_tb:g} TB",
            ),
            Value("Time without the slow OSTs", out.without_s / 60, "predicted", "min", 1),
            Value(
                "Leaving out pays below",
                1000 * out.break_even_gb_s,
                "predicted",
                "MB/s",
                0,
                note="rate of the slow OSTs",
            ),
            Value(
                "Chance that the probe finds it",
                100 * found.power,
                "predicted",
                "%",
                0,
                note="with a false alarm in one probe of twenty",
            ),
            Value("The probe calls slow what is below", 1000 * found.threshold_gb_s, "predicted", "MB/s", 0),
            Value("Data the probe writes", found.data_gb / 1000, "predicted", "TB", 2),
        ),
        figures=(
            _timeline(dump, healthy, slowest, slow),
            _minutes_figure(size_gb, osts, healthy, slow, variables, gap_s, measured_min),
        ),
        tables=(
            Table(
                caption="Variables of the dump",
                columns=(
                    Column("Variable"),
                    Column("Starts", "s", 0),
                    Column("Good OSTs done", "s", 0),
                    Column("Slowest OST done", "s", 0),
                ),
                rows=tuple(
                    (number, one.start_s, one.first_ost_s, one.last_ost_s)
                    for number, one in enumerate(dump.phases, start=1)
                ),
            ),
        ),
        facts={
            "minutes": dump.time_s / 60,
            "minutes_without": out.without_s / 60,
            "slow": slow,
            "size_tb": size_tb,
            "explaining_low_mb_s": 1000 * low,
            "explaining_high_mb_s": 1000 * high,
            "power": found.power,
            "probe_s": probe_s,
            "break_even_mb_s": 1000 * out.break_even_gb_s,
            "codes": [notice.code for notice in notices],
        },
    )


QUESTION = declared(__name__, _answer)
