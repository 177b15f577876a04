"""MILC on 8,192 cores: the run-time model calibrated on the printed table, and the times it gives.

Calibrated are the two numbers of the line, on the least and the mean of the
table, and the noise of a run, on how far the mean of the triplets lies above
that of their minima [1]_. What is done with it elsewhere is prediction.

References
----------
.. [1] NERSC, Application Performance Variability on Hopper, table.
"""

from __future__ import annotations

import random
from functools import cache
from statistics import mean

from hopperlib.documented import printed
from hopperlib.network.runtime.placed_jobs import PlacedJob, selected
from hopperlib.network.runtime.run_time import RunTimeModel, calibrate, draw_noise

__all__ = [
    "RUNS_A_JOB",
    "exchange_share",
    "lost_order",
    "milc_jobs",
    "model",
    "noise_draws",
    "run_times",
    "slowdown",
]

#: Runs of MILC in a job.
RUNS_A_JOB = 3


@cache
def milc_jobs(order: str = "xyz_by2", allocation: str = "first", tasks: int = 8192) -> tuple[PlacedJob, ...]:
    """Return MILC's jobs of a node order, an allocation and a size.

    Examples
    --------
    >>> {job.tasks for job in milc_jobs()}
    {8192}
    """
    return selected(order, allocation, tasks)


@cache
def noise_draws(jobs: int) -> tuple[tuple[float, ...], ...]:
    """Return a draw of noise for each of the three runs of so many jobs.

    Examples
    --------
    >>> len(noise_draws(2)), len(noise_draws(2)[0])
    (2, 3)
    """
    rng = random.Random(2012)
    return tuple(tuple(draw_noise(rng) for _ in range(RUNS_A_JOB)) for _ in range(jobs))


@cache
def model(runs: int = 100, traffic: str = "assumed") -> RunTimeModel:
    """The run-time model calibrated on the printed table, for a sample of so many runs.

    Parameters
    ----------
    runs : int
        Runs that the table summarizes.
    traffic : {"none", "assumed", "double"}
        The neighbors' traffic that the runs are taken to have met.

    Raises
    ------
    ValueError
        If no line gives the printed times.

    Examples
    --------
    >>> one = model()
    >>> 0 < one.compute_s < 887
    True
    """
    jobs = milc_jobs()
    return calibrate(
        [job.worst_links(traffic) for job in jobs],
        noise_draws(len(jobs)),
        least_s=printed("variability.table-total-minimum"),
        mean_s=printed("variability.table-total-mean"),
        runs=runs,
        run_over_least=printed("variability.table-triplets-mean") / printed("variability.table-minima-mean"),
    )


@cache
def run_times(
    runs: int = 100,
    order: str = "xyz_by2",
    allocation: str = "first",
    traffic: str = "assumed",
    noise: bool = True,
    calibrated_with: str = "assumed",
) -> tuple[tuple[float, ...], ...]:
    """Run times of each placed job, three a job. [s]

    Parameters
    ----------
    runs : int
        Size of the sample that the model was calibrated for.
    order, allocation : str
        As in `hopperlib.network.runtime.placed_jobs.CASES`.
    traffic : {"none", "assumed", "double"}
        The neighbors' traffic.
    noise : bool
    calibrated_with : {"none", "assumed", "double"}
        The neighbors' traffic that the model was calibrated with.

    Examples
    --------
    >>> len(run_times()[0])
    3
    """
    one, jobs = model(runs, calibrated_with), milc_jobs(order, allocation)
    return tuple(
        tuple(
            one.run_time_s(link, draw if noise else 0.0)
            for link, draw in zip(job.worst_links(traffic), draws, strict=True)
        )
        for job, draws in zip(jobs, noise_draws(len(jobs)), strict=True)
    )


@cache
def lost_order(runs: int = 100) -> float:
    """How much longer MILC takes on an aged machine in NID order than in xyz-by2 order. [fraction]

    Calibrated on times in xyz-by2 order; the same jobs at the same places of the list.

    Examples
    --------
    >>> lost_order() > 0
    True
    """
    lost, kept = (
        mean(time for job in run_times(runs, order, noise=False) for time in job) for order in ("nid", "xyz_by2")
    )
    return lost / kept - 1


@cache
def exchange_share(runs: int = 100) -> float:
    """Share of MILC's mean time that it waits for messages, as calibrated. [fraction]

    Examples
    --------
    >>> 0 < exchange_share() < 1
    True
    """
    return 1 - model(runs).compute_s / mean(time for job in run_times(runs, noise=False) for time in job)


def slowdown(share: float) -> float:
    """How much longer a code takes that waits for messages for this share of its time, if the order is lost. [fraction]

    For a code that talks as MILC does. One that sends nothing loses nothing.

    Raises
    ------
    ValueError
        If `share` is not from 0 to 1.

    Examples
    --------
    >>> slowdown(0.0), slowdown(1.0) > lost_order()
    (0.0, True)
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share={share:g} must be from 0 to 1")
    return share * lost_order() / exchange_share()
