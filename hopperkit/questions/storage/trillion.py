"""Question: twenty thousand files compared with one shared file, under the reader's assumptions."""

import random
from collections.abc import Iterator
from functools import cached_property, lru_cache, partial
from statistics import mean

from hopperkit.questions import ask
from hopperkit.questions.figures import Axis, Series, chart
from hopperkit.questions.result import Figure, Result, Value
from hopperlib.errors import refusal
from hopperlib.finding import Finding
from hopperlib.storage.lustre.dumps import barrier_rate_gb_s, barrier_steps
from hopperlib.storage.lustre.osts import (
    FileDump,
    affordable_repetitions,
    central_range,
    file_dump,
    finish_times_s,
    place_objects,
    rate_steps,
    uneven_weights,
)
from hopperlib.text import count

_DOCUMENTED_RATE, _DOCUMENTED_SPREAD = 27.007, 200.0
# Number of steps of the rate to draw.
_DRAWN_STEPS = 60
_REPETITIONS = 50
_ASSUMED = Finding(
    "weights-assumed",
    "How full the OSTs were is not printed: the weights are an assumption, and a strong one.",
    "note",
)


@lru_cache(maxsize=8)  # Most controls do not affect the placement.
def _ost_loads(allocator: str, files: int, stripe_count: int, osts: int, seed: int) -> list[list[int]]:
    """Return the objects on each OST for repeated placements; emptier OSTs are preferred if the allocator weighs them."""
    place = partial(place_objects, files, stripe_count, osts, allocator=allocator, rng=random.Random(seed))
    times = affordable_repetitions(_REPETITIONS, files, stripe_count, allocator)
    return [place(weights=uneven_weights(osts)) for _ in range(times)]


class Case(ask.Setting):
    """Many files distributed over OSTs, and one shared file with barriers."""

    allocator: str = ask.choice(
        "Placement of the files on OSTs",
        "random",
        {"random": "at random", "round-robin": "one after the other", "weighted": "more often on emptier ones"},
    )
    stripe_count: int = ask.slider(
        "Stripe count of each file",
        1,
        (1, 16, 1),
        assumed="The files' stripe count is not printed; Hopper's default is 2.",
    )
    files: int = ask.whole("Files", 20_000, (1, 50_000))
    variables: int = ask.slider("Variables of the shared file", 8, (1, 64, 1))
    spread_s: float = ask.slider("Time lost at each barrier", 40.0, (0.0, 120.0, 1.0), unit="s")
    size_tb: float = ask.number("Data in files", 29.7, (0.001, 10_000.0, 0.1), unit="TB", advanced=True)
    shared_tb: float = ask.number("Data in the shared file", 31.3, (0.001, 10_000.0, 0.1), unit="TB", advanced=True)
    osts: int = ask.whole("OSTs", 156, (1, 1000), advanced=True)
    peak_gb_s: float = ask.number("Peak of the file system", 35.0, (0.1, 100_000.0, 1.0), unit="GB/s", advanced=True)
    seed: int = ask.whole("Random seed", 1, (0, 1_000_000), advanced=True)

    def check(self) -> None:
        """Reject inconsistent values."""
        if self.stripe_count > self.osts:
            raise refusal("stripe_count", self.stripe_count, f"must be from 1 to {self.osts}, the OSTs")

    @property
    def ost_loads(self) -> list[list[int]]:
        """Objects on each OST, for repeated placements of the files."""
        return _ost_loads(self.allocator, self.files, self.stripe_count, self.osts, self.seed)

    @cached_property
    def dumps(self) -> list[FileDump]:
        """The dumps for these placements."""
        return [file_dump(1000 * self.size_tb, objects, peak_gb_s=self.peak_gb_s) for objects in self.ost_loads]

    @cached_property
    def first_steps(self) -> list[tuple[float, float]]:
        """Rate over time for the first placement. [s], [GB/s]"""
        times_s = finish_times_s(1000 * self.size_tb, self.ost_loads[0], peak_gb_s=self.peak_gb_s)
        return rate_steps(times_s, self.peak_gb_s)

    @cached_property
    def rate_gb_s(self) -> float:
        """Mean rate of the files. [GB/s]"""
        return mean(dump.rate_gb_s for dump in self.dumps)

    @cached_property
    def mean_spread_s(self) -> float:
        """How far apart the OSTs finish, on average. [s]"""
        return mean(dump.spread_s for dump in self.dumps)

    @cached_property
    def shared_gb_s(self) -> float:
        """Rate of the shared file. [GB/s]"""
        return barrier_rate_gb_s(
            1000 * self.shared_tb, peak_gb_s=self.peak_gb_s, variables=self.variables, spread_s=self.spread_s
        )

    @property
    def both_met(self) -> bool:
        """Whether rate and spread of the files are both as documented."""
        return abs(self.rate_gb_s - _DOCUMENTED_RATE) < 0.5 and abs(self.mean_spread_s - _DOCUMENTED_SPREAD) < 25


def answer(case: Case) -> Result:
    """Return the answer.

    Parameters
    ----------
    case : Case
        Many files distributed over OSTs, and one shared file with barriers.

    Returns
    -------
    Result
        The answer.

    Examples
    --------
    >>> round(answer(Case()).facts['rate_gb_s'], 1)
    28.2
    """
    return Result(
        summary=_summary(case),
        findings=(_ASSUMED,) if case.allocator == "weighted" else (),
        values=tuple(_values(case)),
        figures=(_rate(case),),
        facts={
            "rate_gb_s": case.rate_gb_s,
            "spread_s": case.mean_spread_s,
            "shared_rate_gb_s": case.shared_gb_s,
            "repetitions": len(case.dumps),
            "files": case.files,
            "both_met": case.both_met,
            "allocator": case.allocator,
        },
    )


def _summary(case: Case) -> str:
    agreement = "both met" if case.both_met else "not met together"
    return (
        f"{count(case.files, 'file reaches', 'files reach')} {case.rate_gb_s:.1f} GB/s, and the OSTs finish "
        f"{case.mean_spread_s:,.0f} s apart; documented are 27.0 GB/s and about 200 s, {agreement}. "
        f"One shared file with {count(case.variables, 'barrier')} reaches {case.shared_gb_s:.1f} GB/s; "
        "documented are 27.0."
    )


def _values(case: Case) -> Iterator[Value]:
    rates, spreads = [dump.rate_gb_s for dump in case.dumps], [dump.spread_s for dump in case.dumps]
    ost_loads = f"nine of ten of {len(rates)} placements" if len(rates) > 1 else ""
    yield _dealt("Rate, file per process", case.rate_gb_s, rates, "GB/s", 1, note=ost_loads)
    yield _dealt("OSTs finish apart by", case.mean_spread_s, spreads, "s", 0)
    yield Value("Rate, one shared file", case.shared_gb_s, "predicted", "GB/s", 1)


def _dealt(label: str, mean: float, values: list[float], unit: str, decimals: int, note: str = "") -> Value:
    """Return a number from repeated placements, with its range if there are several."""
    if len(values) == 1:
        return Value(label, mean, "predicted", unit, decimals)
    low, high = central_range(values)
    return Value(label, mean, "predicted", unit, decimals, low=low, high=high, note=note)


def _rate(case: Case) -> Figure:
    """Return the chart of the rate over time, both ways to write."""
    steps = case.first_steps
    # The first and the last step are kept when others are thinned out.
    drawn = steps[:1] + steps[1 :: max(1, len(steps) // _DRAWN_STEPS)] + steps[-1:]
    shared = barrier_steps(
        1000 * case.shared_tb, peak_gb_s=case.peak_gb_s, variables=case.variables, spread_s=case.spread_s
    )
    lines = {"a file for each process": drawn, "one shared file": shared}
    peak = f"{case.peak_gb_s:g} GB/s"
    return chart(
        title="Rate over time",
        alt=f"A file for each process starts at {peak} and falls in a long tail until {steps[-1][0]:,.0f} s. "
        f"One shared file writes {count(case.variables, 'time')} at {peak}, with a gap of {case.spread_s:g} s after "
        f"each variable, until {shared[-1][0]:,.0f} s.",
        x=Axis(title="Time", unit="s", low=0, decimals=0),
        y=Axis(title="Rate", unit="GB/s", low=0, decimals=2),
        series=[
            Series(name=name, x=[time for time, _ in line], y=[rate for _, rate in line])
            for name, line in lines.items()
        ],
    )


QUESTION = ask.declared(
    Case,
    answer,
    title="Twenty thousand files, or one?",
    heavy=True,
    examples={
        "Random, one stripe": {"allocator": "random", "stripe_count": 1},
        "Random, the default of two": {"allocator": "random", "stripe_count": 2},
        "Random, four stripes": {"allocator": "random", "stripe_count": 4},
        "One after the other": {"allocator": "round-robin"},
        "33 s a barrier": {"spread_s": 33.0},
    },
)
