"""Default policy for a log: that of the scheduler that wrote it."""

from typing import NamedTuple

from hopperkit.traces.cluster import Cluster
from hopperkit.traces.rules.clock import Clock
from hopperkit.traces.rules.evidence import Evidence
from hopperkit.traces.rules.site import Learned
from hopperlib.scheduling.backfill import Backfill
from hopperlib.scheduling.workload import Workload

#: Slurm's backfill as it comes: SchedulerType=sched/backfill without SchedulerParameters.
SLURM = Backfill()
# Other policies than EASY that a log is tried with, and by how much one must order the waits better.
_OTHERS = ("conservative", "fcfs")
_CLEARLY = 0.02
_FEWEST = 100


class Choice(NamedTuple):
    """A policy, and why it was chosen."""

    policy: str | Backfill
    reason: str


def policy_of(scheduler: str, workload: Workload, room: int | Cluster, clock: Clock) -> Choice:
    """Policy of a log's scheduler.

    Slurm plans a start for every job that it tests. Of other schedulers the log decides: the policy under which
    simulated waits are ordered most like the observed ones, EASY where none is clearly better.

    Parameters
    ----------
    scheduler : str
        Which wrote the log: "slurm", another, or empty if unknown.
    workload : Workload
        Its jobs that fit.
    room : int or Cluster
        Of the machine.
    clock : Clock

    Examples
    --------
    >>> policy_of("slurm", Workload(), 4, Clock(0)).policy
    Backfill(depth=500, interval_s=30, window_s=86400)
    >>> policy_of("pbs", Workload(), 4, Clock(0)).policy
    'easy'
    """
    if scheduler == "slurm":
        return Choice(SLURM, "Slurm's backfill at its defaults: 500 jobs are tested every 30 s, one day ahead")
    starts = workload.observed_start_s
    waited = sum(start - arrival >= 60 for start, arrival in zip(starts, workload.arrival_s, strict=True) if start >= 0)
    if waited < _FEWEST:
        return Choice("easy", "EASY backfill: the log has too few waits to show another policy")
    evidence = Evidence(workload, room, clock)
    fits = {name: evidence.fit(Learned(policy=name)) for name in ("easy", *_OTHERS)}
    best = max(fits, key=lambda name: fits[name])
    if fits[best] < fits["easy"] + _CLEARLY:
        return Choice(
            "easy",
            f"EASY backfill: no other policy orders the waits clearly better (rank correlation {fits['easy']:.2f})",
        )
    return Choice(
        best,
        f"{best}: it orders the waits better than EASY (rank correlation {fits[best]:.2f}, not {fits['easy']:.2f})",
    )
