"""MILC on 8,192 cores: the run-time model calibrated on the printed table, and the resulting times.

The two parameters of the line are calibrated on the least and the mean of the table [1]_. Everything else is assumed or
predicted; the other rows of the table are not used.

References
----------
.. [1] NERSC, Application Performance Variability on Hopper, table.
"""

import random
from collections.abc import Sequence
from functools import cache

from hopperlib.network.runtime.placed_jobs import PlacedJob, selected
from hopperlib.network.runtime.run_time import Run, RunTimeModel, calibrate, draw_noise

#: Least, mean and greatest time of all runs in the table of the variability study (NERSC, rows Minimum, Mean, Maximum).
# [s]
PRINTED_LEAST_S, PRINTED_MEAN_S, PRINTED_MOST_S = 887.1, 1114.8, 2462.3
#: MILC runs per job.
RUNS_A_JOB = 3
#: Mean additional time from noise, assumed; runs with the same placement reportedly vary very little. [fraction]
RUN_NOISE = 0.005
#: All-reduces of a run, assumed; two for each of 50,000 steps of its solver.
REDUCTIONS = 100_000
#: Force computations per run, and the share of each that is spent waiting for messages when alone. Assumed.
FORCES, FORCE_WAIT = 60, 0.1
_FORCE_NOISE = 0.02


@cache
def milc_jobs(order: str = "xyz-by2", allocation: str = "first", tasks: int = 8192) -> tuple[PlacedJob, ...]:
    """Return MILC's jobs of a node order, an allocation and a size.

    Parameters
    ----------
    order : str, default 'xyz-by2'
        Name of the node order.
    allocation : str, default 'first'
        Name of the allocation method.
    tasks : int, default 8192
        Number of tasks.

    Examples
    --------
    >>> {job.tasks for job in milc_jobs()}
    {8192}
    """
    return selected(order, allocation, tasks)


def sampled_conditions(
    jobs: Sequence[PlacedJob],
    traffic: str | float = "assumed",
    *,
    rng: random.Random | None = None,
    reductions: float = REDUCTIONS,
) -> list[tuple[Run, ...]]:
    """Return the conditions of each of the three runs of some jobs.

    Parameters
    ----------
    jobs : sequence of PlacedJob
    traffic : str or float
        As for `PlacedJob.slowness`; a number from 0 to 2 interpolates between none, assumed and double.
    rng : random.Random or None
        Source of random numbers for the noise; None for no noise.
    reductions : float
        All-reduces of a run.

    Examples
    --------
    >>> jobs = milc_jobs()[:1]
    >>> sampled_conditions(jobs, 1.0) == sampled_conditions(jobs, "assumed")
    True
    """
    conditions = []
    for job in jobs:
        if isinstance(traffic, str):
            slowness: Sequence[float] = job.slowness(traffic)
        else:
            below, above = ("none", "assumed") if traffic < 1 else ("assumed", "double")
            part = traffic - (traffic >= 1)
            # Between two mixes the slowness is interpolated linearly.
            slowness = [
                low + part * (high - low) for low, high in zip(job.slowness(below), job.slowness(above), strict=True)
            ]
        reduce_s = reductions * job.reduce_us / 1e6
        conditions.append(tuple(Run(each, reduce_s, draw_noise(rng) if rng else 0.0) for each in slowness))
    return conditions


def fitted(met: Sequence[Sequence[Run]], runs: int, run_noise: float = RUN_NOISE) -> RunTimeModel:
    """Return the model calibrated on the printed table, for jobs with these conditions and a sample of this many runs.

    Parameters
    ----------
    met : Sequence[Sequence[Run]]
        Conditions of each run, by job.
    runs : int
        Number of runs.
    run_noise : float, default RUN_NOISE
        Mean additional time from noise, as a fraction.

    Raises
    ------
    ValueError
        If no line fits the printed times.

    Examples
    --------
    >>> 0 < fitted(sampled_conditions(milc_jobs()), 100).compute_s < 887
    True
    """
    return calibrate(
        met,
        least_s=PRINTED_LEAST_S,
        mean_s=PRINTED_MEAN_S,
        runs=runs,
        run_noise=run_noise,
    )


@cache
def model(runs: int = 100, traffic: str = "assumed", jobs: tuple[PlacedJob, ...] = ()) -> RunTimeModel:
    """Return the calibrated model for a sample of this many runs and an assumed traffic of neighbors.

    Default: the jobs of `milc_jobs`.

    Parameters
    ----------
    runs : int, default 100
        Number of runs.
    traffic : str, default 'assumed'
        Neighbors' traffic: none, assumed or double.
    jobs : tuple of PlacedJob, default ()
        The placed jobs; empty for the default.

    Examples
    --------
    >>> model().exchanged_gb > 0
    True
    """
    return fitted(sampled_conditions(jobs or milc_jobs(), traffic, rng=random.Random(2012)), runs)


@cache
def run_times(
    runs: int = 100,
    order: str = "xyz-by2",
    allocation: str = "first",
    traffic: str = "assumed",
    noise: bool = True,
    calibrated_with: str = "assumed",
    jobs: tuple[PlacedJob, ...] = (),
) -> tuple[tuple[float, ...], ...]:
    """Run times of each placed job, three per job. [s]

    Parameters
    ----------
    runs : int
        Size of the sample for which the model was calibrated.
    order, allocation : str
        As in `hopperlib.network.runtime.placed_jobs.CASES`.
    traffic : str
        The neighbors' traffic, as for `PlacedJob.slowness`.
    noise : bool
    calibrated_with : str
        The neighbors' traffic with which the model was calibrated.
    jobs : tuple of PlacedJob
        Jobs to use instead of those in the table with that order and allocation, also for the calibration.

    Examples
    --------
    >>> len(run_times()[0])
    3
    """
    line, rng = model(runs, calibrated_with, jobs), random.Random(2012) if noise else None
    conditions = sampled_conditions(jobs or milc_jobs(order, allocation), traffic, rng=rng)
    return tuple(tuple(line.run_time_s(run) for run in job) for job in conditions)


def force_times_s(
    job: PlacedJob, rng: random.Random, *, force_s: float, wait: float = FORCE_WAIT, usual: float, forces: int = FORCES
) -> list[float]:
    """Times that MILC prints as FFTIME in the first run of a job, one per computation of the fermion force. [s]

    The force is a separate kernel between the solves, mostly matrix multiplication with little communication. Neighbors
    change from one computation to the next: their part of the slowness is multiplied by a random factor of mean 1.

    Parameters
    ----------
    job : PlacedJob
    rng : random.Random
    force_s : float
        Time of one computation in a job of the usual slowness, alone. [s]
    wait : float
        Share of that time spent waiting for messages. [fraction]
    usual : float
        Usual slowness of a job alone. [s/GB]
    forces : int
        Computations per run.

    Examples
    --------
    >>> job = milc_jobs()[0]
    >>> set(force_times_s(job, random.Random(1), force_s=2.0, wait=0.0, usual=0.5, forces=3)) > {2.0}
    False
    """
    times = []
    for _ in range(forces):
        slowness = job.own + (job.assumed_1 - job.own) * draw_noise(rng)
        times.append(force_s * (1 - wait + wait * slowness / usual) * (1 + _FORCE_NOISE * draw_noise(rng)))
    return times
