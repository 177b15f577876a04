"""Run times of placed jobs by cause, and the share of each cause that a metric explains."""

import random
from collections.abc import Sequence
from dataclasses import replace
from statistics import correlation, fmean, pstdev
from typing import NamedTuple

from hopperlib.network.runtime.milc import RUNS_A_JOB, sampled_conditions
from hopperlib.network.runtime.placed_jobs import METRICS, PlacedJob
from hopperlib.network.runtime.run_time import RunTimeModel, draw_noise

#: Contents of a job's least time: its shape; also its neighbors' traffic; also noise.
CAUSES = ("own shape", "with neighbors", "with noise")
# Values closer together than this count as equal.
_NOTHING = 1e-9


class TimesByCause(NamedTuple):
    """Run times of some jobs.

    Parameters
    ----------
    least : tuple of three lists of float
        For each of `CAUSES`, the least time of each job. [s]
    runs : list of float
        Times of all runs, job after job. [s]
    """

    least: tuple[list[float], list[float], list[float]]
    runs: list[float]

    @property
    def mean_s(self) -> float:
        """Mean of all runs. [s]"""
        return fmean(self.runs)

    @property
    def sd_s(self) -> float:
        """Standard deviation of all runs. [s]"""
        return pstdev(self.runs)

    @property
    def slowest_over_fastest(self) -> float:
        """Ratio of the slowest to the fastest run, averaged over the jobs. [ratio]"""
        jobs = (self.runs[first : first + RUNS_A_JOB] for first in range(0, len(self.runs), RUNS_A_JOB))
        return fmean(max(job) / min(job) for job in jobs)


def run_times_by_cause(
    jobs: Sequence[PlacedJob], model: RunTimeModel, *, traffic: str, noise: float, seed: int
) -> TimesByCause:
    """Return the run times of jobs for given traffic of the neighbors and given noise.

    Parameters
    ----------
    jobs : sequence of PlacedJob
    model : RunTimeModel
    traffic : str
        As for `PlacedJob.slowness`.
    noise : float
        Mean additional time from noise, instead of the model's. [fraction]
    seed : int
        Seed of the noise.

    Examples
    --------
    >>> from hopperlib.network.runtime.milc import milc_jobs, model
    >>> times = run_times_by_cause(milc_jobs(), model(), traffic="none", noise=0.0, seed=1)
    >>> times.least[0] == times.least[2], times.slowest_over_fastest
    (True, 1.0)
    """
    rng, still = random.Random(seed), replace(model, run_noise=0.0)
    neighbors, noisy, runs = [], [], []
    shape = [still.run_time_s(job[0]) for job in sampled_conditions(jobs, "none")]
    for job in sampled_conditions(jobs, traffic):
        quiet = [still.run_time_s(run) for run in job]
        times = [time * (1 + noise * draw_noise(rng)) for time in quiet]
        neighbors.append(min(quiet))
        noisy.append(min(times))
        runs += times
    return TimesByCause((shape, neighbors, noisy), runs)


def _correlation(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Return Pearson's correlation, or None if one of the two does not vary."""
    if any(max(values) - min(values) <= _NOTHING for values in (a, b)):
        return None
    return correlation(a, b)


def correlations(jobs: Sequence[PlacedJob], times: TimesByCause) -> dict[str, list[float | None]]:
    """Return the correlation of each of `METRICS` with the least times, one per cause; None if nothing varies.

    Parameters
    ----------
    jobs : sequence of PlacedJob
        The placed jobs.
    times : TimesByCause
        Run times by cause.

    Examples
    --------
    >>> from hopperlib.network.runtime.milc import milc_jobs, model
    >>> times = run_times_by_cause(milc_jobs(), model(), traffic="assumed", noise=0.0, seed=1)
    >>> by_cause = correlations(milc_jobs(), times)["hops_milc"]
    >>> by_cause[1] == by_cause[2]
    True
    """
    return {
        name: [_correlation([getattr(job, name) for job in jobs], least) for least in times.least] for name in METRICS
    }
