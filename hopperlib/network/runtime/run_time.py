"""Run time of a communicating job: its placement, its neighbors' traffic, its reductions, and noise.

A job that exchanges with its neighbors on a grid, like MILC, waits for the last of its messages. Their rate is the one
that its nodes get when all jobs share the links fairly (`hopperlib.network.runtime.sharing`); its inverse is the
*slowness* of a run, the seconds in which a node sends 1 GB. With the all-reduces,

    run time = (compute + exchanged x slowness + reductions) x (1 + noise)

`RunTimeModel` has the two parameters of that line and the noise. No printed time is used here: `calibrate` fits the
line to a least and a mean time.

Assumptions, since no source gives these: all messages of a job have one rate; a job does not overlap computation and
communication; noise only adds time, a little in most runs and much in few. Random numbers come only from
``rng.random()`` through tables.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hopperlib.errors import InputError
from hopperlib.scheduling.generator import interpolate

#: Quantiles of an exponential distribution of mean 1 at steps of a twentieth. The last represents the mean of the
# upper twentieth, so that nothing is unbounded.
NOISE = (
    0.0, 0.0513, 0.1054, 0.1625, 0.2231, 0.2877, 0.3567, 0.4308, 0.5108, 0.5978, 0.6931,
    0.7985, 0.9163, 1.0498, 1.2040, 1.3863, 1.6094, 1.8971, 2.3026, 2.9957, 4.9957,
)  # fmt: skip

# Iterations until convergence.
_STEPS_TO_CROSS = 40


class Run(NamedTuple):
    """Conditions of a run: its slowness [s/GB per node], the time of its all-reduces [s], and a draw of noise."""

    slowness: float
    reduce_s: float = 0.0
    noise: float = 0.0


def draw_noise(rng: random.Random) -> float:
    """Draw additional time from noise, relative to its mean: exponential, truncated at five times the mean. [fraction]

    Parameters
    ----------
    rng : random.Random
        Source of random numbers.

    Examples
    --------
    >>> rng = random.Random(1)
    >>> round(sum(draw_noise(rng) for _ in range(4000)) / 4000, 1)
    1.0
    """
    return interpolate(NOISE, rng.random())


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTimeModel:
    """The run time of a job as a line in its slowness, with noise.

    Parameters
    ----------
    compute_s : float
        Run time without messages. [s]
    exchanged_gb : float
        Data sent by a node in a run. [GB]
    run_noise : float
        Mean additional time from noise in a run. [fraction]

    Raises
    ------
    InputError
        If a number is negative.

    Examples
    --------
    >>> model = RunTimeModel(compute_s=400.0, exchanged_gb=1000.0, run_noise=0.02)
    >>> model.run_time_s(Run(0.5)), model.run_time_s(Run(0.5, noise=1.0))
    (900.0, 918.0)
    """

    compute_s: float
    exchanged_gb: float
    run_noise: float = 0.0

    def __post_init__(self) -> None:
        for name in ("exchanged_gb", "run_noise"):
            if getattr(self, name) < 0:
                raise InputError(f"{name}={getattr(self, name):g} must not be negative: it only ever adds time")
        if self.compute_s < 0:
            raise InputError(
                f"compute_s={self.compute_s:g} must not be negative: the times differ by more than their exchange allows"
            )

    def run_time_s(self, run: Run) -> float:
        """Run time of a run. [s]

        Parameters
        ----------
        run : Run
            Conditions of the run.
        """
        exchanging = self.compute_s + self.exchanged_gb * run.slowness + run.reduce_s
        return exchanging * (1 + self.run_noise * run.noise)


def least_of(values: Sequence[float], count: int) -> float:
    """Median of the least of several draws.

    Parameters
    ----------
    values : sequence of float
        The distribution, as a sorted sample.
    count : int
        Draws.

    Raises
    ------
    InputError
        If there are no values or no draws.

    Examples
    --------
    One draw gives the median; many draws give a value near the lower end.

    >>> values = [float(value) for value in range(101)]
    >>> least_of(values, 1), round(least_of(values, 100), 2)
    (50.0, 0.69)
    """
    if not values or count < 1:
        raise InputError(f"the least of count={count} draws from {len(values)} values needs at least 1 of each")
    # The least is above a value if all draws are: the median is where the probability of that is one half.
    return interpolate(values, 1 - 0.5 ** (1 / count))


def calibrate(
    jobs: Sequence[Sequence[Run]], *, least_s: float, mean_s: float, runs: int, run_noise: float = 0.0
) -> RunTimeModel:
    """Return the model that reproduces a least and a mean run time.

    Parameters
    ----------
    jobs : sequence of sequences of Run
        For each job, the conditions of each of its runs.
    least_s : float
        Least time of this many runs, as the median of its distribution. [s]
    mean_s : float
        Mean time. [s]
    runs : int
        Number of runs of which `least_s` is the least.
    run_noise : float
        Mean additional time from noise in a run. [fraction]

    Raises
    ------
    InputError
        If the mean is not above the least, or if no line fits the times: the runs differ too little, or too much from
        noise alone.

    Examples
    --------
    Two jobs that need 1 s and 3 s for 1 GB ran for 105 s and 115 s:

    >>> model = calibrate([[Run(1.0)], [Run(3.0)]], least_s=105.0, mean_s=110.0, runs=1000)
    >>> round(model.compute_s), round(model.exchanged_gb)
    (100, 5)
    """
    if not least_s < mean_s:
        raise InputError(f"mean_s={mean_s:g} must be above least_s={least_s:g}")
    flat = [run for job in jobs for run in job]
    factors = [1 + run_noise * run.noise for run in flat]
    factor = sum(factors) / len(flat)
    weighted = sum(run.slowness * each for run, each in zip(flat, factors, strict=True)) / len(flat)
    reduced_s = sum(run.reduce_s * each for run, each in zip(flat, factors, strict=True)) / len(flat)

    def compute(exchanged: float) -> float:
        return (mean_s - reduced_s - exchanged * weighted) / factor

    parts = [(run.slowness, run.reduce_s, each) for run, each in zip(flat, factors, strict=True)]

    def least(exchanged: float) -> float:
        alone = compute(exchanged)
        return least_of(sorted([(alone + exchanged * slow + reduce_s) * each for slow, reduce_s, each in parts]), runs)

    # More exchange at the same mean spreads the times, so the least falls; compute must not go below 0.
    high = (mean_s - reduced_s) / weighted if weighted else 0.0
    if least(high) > least_s:
        raise InputError(
            f"least_s={least_s:g} and mean_s={mean_s:g} are too far apart: even a job that does nothing but exchange "
            f"would have a least time of {least(high):.0f} s in {runs} runs"
        )
    if least(0.0) < least_s:
        raise InputError(
            f"run_noise={run_noise:g} alone spreads the times so much that some are below least_s={least_s:g}"
        )
    exchanged = _crossing(lambda exchanged: least_s - least(exchanged), 0.0, high, 1e-4)
    return RunTimeModel(compute_s=compute(exchanged), exchanged_gb=exchanged, run_noise=run_noise)


def _crossing(function: Callable[[float], float], low: float, high: float, near: float) -> float:
    """Return a zero of an increasing function within a tolerance, by the Illinois variant of false position. The
    functions here are nearly straight, so a few steps are enough; occasional halving bounds their number.
    """
    at_low, at_high, side = function(low), function(high), 0
    if at_high < 0:
        return high
    for step in range(_STEPS_TO_CROSS):
        middle = (low + high) / 2 if step % 4 == 3 else low - at_low * (high - low) / (at_high - at_low)
        value = function(middle)
        if abs(value) <= near:
            return middle
        if value < 0:
            low, at_low = middle, value
            at_high /= 2 if side == -1 else 1
            side = -1
        else:
            high, at_high = middle, value
            at_low /= 2 if side == 1 else 1
            side = 1
    return high
