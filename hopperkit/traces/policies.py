"""Default policy for a log: that of the scheduler that wrote it."""

from typing import NamedTuple

from hopperkit.traces.cluster import Cluster
from hopperkit.traces.rules.clock import Clock
from hopperkit.traces.rules.evidence import Evidence
from hopperkit.traces.rules.site import Learned
from hopperlib.scheduling.backfill import Backfill
from hopperlib.scheduling.workload import Workload
from hopperlib.text import duration

#: Slurm's backfill as it comes: SchedulerType=sched/backfill without SchedulerParameters.
SLURM = Backfill()
# Policies other than the default that a log is tried with.
_OTHERS = ("conservative", "fcfs")
_SHALLOW, _SHALLOWER = Backfill(depth=10), Backfill(depth=3)
_OTHERS_OF_SLURM: tuple[str | Backfill, ...] = (_SHALLOW, _SHALLOWER, "fcfs")
# One is taken if it orders the waits no worse with an error of at most that part; instead of EASY, which is a guess, also
# if it orders them that much better.
_CLEARLY, _ERROR_LEFT = 0.02, 0.8
_FEWEST = 30
_NAMES: dict[str | Backfill, str] = {
    "easy": "EASY backfill",
    "conservative": "conservative backfill",
    "fcfs": "no backfill",
    SLURM: "Slurm's backfill at its defaults",
    _SHALLOW: "Slurm's backfill of the first 10 jobs",
    _SHALLOWER: "Slurm's backfill of the first 3 jobs",
}


class Choice(NamedTuple):
    """A policy, why it was chosen, and its name if the log shows it rather than the default."""

    policy: str | Backfill
    reason: str
    shown: str = ""


def policy_of(scheduler: str, workload: Workload, room: int | Cluster, clock: Clock) -> Choice:
    """Policy of a log's scheduler.

    Slurm plans a start for every job that it tests; but it may be set to test few, or to pass nobody (sched/builtin). Of other
    schedulers any policy may be the one: EASY, unless the log is clearly better simulated by another. Better is a
    policy that orders the waits as well with smaller errors; in place of EASY also one that orders them better.

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
    Backfill(depth=500, interval_s=30, window_s=86400, resolution_s=60)
    >>> policy_of("pbs", Workload(), 4, Clock(0)).policy
    'easy'
    """
    starts = workload.observed_start_s
    waited = sum(start - arrival >= 60 for start, arrival in zip(starts, workload.arrival_s, strict=True) if start >= 0)
    default: str | Backfill
    others: tuple[str | Backfill, ...]
    default, others = (SLURM, _OTHERS_OF_SLURM) if scheduler == "slurm" else ("easy", _OTHERS)
    name, reason = _NAMES[default], "500 jobs are tested every 30 s, one day ahead" if default == SLURM else ""
    if waited < _FEWEST:
        return Choice(default, f"{name}: {reason or 'the log has too few waits to show another policy'}")
    evidence = Evidence(workload, room, clock)
    known, *tried = (Learned(policy=policy) for policy in (default, *others))
    better = [each for each in tried if _is_clearly_better(evidence, known, each, guess=default == "easy")]
    if not better:
        reason = (
            reason or f"no other policy simulates the waits clearly better (rank correlation {evidence.fit(known):.2f})"
        )
        return Choice(default, f"{name}: {reason}")
    best = max(better, key=evidence.fit)
    return Choice(
        best.policy,
        f"{_NAMES[best.policy]}: it simulates the waits better than {name} (rank correlation {evidence.fit(best):.2f}, "
        f"not {evidence.fit(known):.2f}; error per job that waited {duration(evidence.error_s(best))}, not "
        f"{duration(evidence.error_s(known))})",
        _NAMES[best.policy],
    )


def _is_clearly_better(evidence: Evidence, known: Learned, other: Learned, *, guess: bool) -> bool:
    """Whether another policy simulates a log better than one that is known, or that is a guess only."""
    gain, error_s = evidence.fit(other) - evidence.fit(known), evidence.error_s(known)
    if error_s < 1:
        return False
    left = evidence.error_s(other) / error_s
    return (gain >= 0 and left <= _ERROR_LEFT) or (guess and gain >= _CLEARLY and left <= 1)
