"""Answer for a job trace without submission times: use and run times, and no waits."""

from collections.abc import Sequence
from statistics import median

from hopperkit.questions.result import Column, Result, Table, Value, table
from hopperkit.readers.jobs.trace import Trace
from hopperlib.finding import Finding
from hopperlib.scheduling.workload import Workload
from hopperlib.text import count, duration, share
from hopperlib.units import HOURS_PER_DAY, SECONDS_PER_HOUR


def use_result(trace: Trace, nodes: int, findings: Sequence[Finding] = ()) -> Result:
    """Use and run times of a trace without submissions, as an answer.

    Parameters
    ----------
    trace : Trace
    nodes : int
        Of the machine.
    findings : sequence of Finding
        Other notes on the trace.

    Examples
    --------
    >>> from hopperkit.readers.jobs import read_job_trace
    >>> lines = ["JobID|State|Start|End|Elapsed|NNodes", "8|COMPLETED|2026-03-01T08:00:00|2026-03-01T09:00:00|01:00:00|4"]
    >>> use_result(read_job_trace(lines), 8).summary
    '1 job over 0.04 days: 4 node-hours, 50.0 % of 8 nodes; half of the jobs run at most 1 h. Waits are not in this log.'
    """
    workload = trace.workload
    runs = list(workload.run_time_s)
    start, end = _span(workload)
    hours = workload.node_seconds / SECONDS_PER_HOUR
    used = workload.node_seconds / (nodes * (end - start)) if end > start else None
    use = f", {100 * used:.1f} % of {count(nodes, 'node')}" if used is not None and used <= 1 else ""
    reason = Finding(
        "no-submit",
        "The log has no times of submission: waits are not in this log, and no simulation of it can be compared with them. "
        "Slurm prints Submit if sacct --format names it.",
        "advice",
    )
    others = [finding for finding in findings if finding.code not in ("no-submit", "policy")]
    return Result(
        summary=(
            f"{count(len(workload), 'job')} over {(end - start) / (HOURS_PER_DAY * SECONDS_PER_HOUR):.2f} days: "
            f"{hours:,.0f} node-hours{use}; half of the jobs run at most {duration(median(runs))}. Waits are not in this log."
        ),
        findings=(reason, *others),
        values=(
            Value("Node-hours", hours, None, "node-h", 0),
            Value("Median run time", median(runs) / 60, None, "min", 1),
        ),
        tables=(_queues(workload),),
        facts={
            "jobs": len(workload),
            "nodes": nodes,
            "node_hours": hours,
            "used_fraction": used,
            "median_run_time_s": median(runs),
            "waits": None,
        },
    )


def _span(workload: Workload) -> tuple[int, int]:
    """First start and last end. [s]"""
    starts = [start for start in workload.observed_start_s if start >= 0]
    ends = [
        start + run for start, run in zip(workload.observed_start_s, workload.run_time_s, strict=True) if start >= 0
    ]
    return (min(starts), max(ends)) if starts else (0, 0)


def _queues(workload: Workload) -> Table:
    """Jobs, use and run times of each partition."""
    members: dict[str, list[int]] = {}
    for job in range(len(workload)):
        members.setdefault(workload.word("queue", job) or "none", []).append(job)
    hours = {
        name: sum(workload.nodes[job] * workload.run_time_s[job] for job in jobs) / SECONDS_PER_HOUR
        for name, jobs in members.items()
    }
    total = sum(hours.values()) or 1.0
    return table(
        "Use by partition",
        sorted(members, key=lambda name: -hours[name]),
        {
            "Partition": lambda name: name,
            "Jobs": lambda name: len(members[name]),
            Column("Used", "node-h", 0): lambda name: hours[name],
            "Share": lambda name: share(hours[name] / total),
            Column("Median run time", "min", 1): lambda name: (
                median(workload.run_time_s[job] for job in members[name]) / 60
            ),
        },
    )
