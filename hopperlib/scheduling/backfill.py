"""Backfill at intervals, as Slurm does it [1]_: events start only the head of the queue; other jobs start at the next
backfill pass.

.. [1] SchedMD, slurm.conf(5), SchedulerParameters: bf_interval, bf_max_job_test, bf_window, bf_resolution; "Scheduling Configuration
   Guide".
"""

from typing import NamedTuple


class Backfill(NamedTuple):
    """A main scheduler that starts jobs in queue order on every event until one does not fit, and a backfill scheduler.

    Every `interval_s`, if anything has changed, a backfill pass tests the first `depth` waiting jobs in that order;
    each one gets the earliest start that delays no earlier job. Plans beyond the window are dropped.

    Plans that name their nodes hold them from the last multiple of the resolution before their start until the last one
    before their end, and for one resolution at least; a job may start next to them only if its limit ends before that.
    Where nodes are only counted, times are not rounded.

    Parameters
    ----------
    depth : int
        Waiting jobs that a pass tests (bf_max_job_test).
    interval_s : int
        Time between passes (bf_interval). [s]
    window_s : int
        Planning horizon (bf_window). [s]
    resolution_s : int
        Of the times from and until which plans hold nodes (bf_resolution); 1: exact. [s]

    Examples
    --------
    Three jobs on four nodes; the third one fits next to the first, and starts at the first pass, after 30 s:

    >>> from hopperlib.scheduling.scheduler import simulate
    >>> from hopperlib.scheduling.workload import Job, Workload
    >>> jobs = Workload([Job(1, 0, 3, 900, 900), Job(2, 1, 4, 900, 900), Job(3, 2, 1, 60, 60)])
    >>> list(simulate(jobs, 4, policy=Backfill()).start_s)
    [0, 900, 30]
    """

    depth: int = 500
    interval_s: int = 30
    window_s: int = 86_400
    resolution_s: int = 60
