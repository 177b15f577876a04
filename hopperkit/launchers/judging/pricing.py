"""Cost of each finding, and their order: a job that will not run, then node-hours, then time.

A finding states the largest factor of run time or cost (``times`` in its evidence). Resources charged but not used
follow from the nodes, the time limit and the tasks of an array: an upper bound, for a job that runs to its limit.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

from hopperkit.launchers.batch.requested import requested_by_job
from hopperkit.launchers.judging.checks.limits import requested_time
from hopperkit.launchers.scripts import Script
from hopperlib.finding import LEVELS, Finding
from hopperlib.text import count

FATAL = {
    *("asks-unknown", "gpu-type-unknown", "nodes-over-limit", "time-over-limit", "characters", "launcher-foreign"),
    *("memory-exceeds-node", "memory-out-of-reach", "workers-times-tasks", "workers-over-gpus", "nodes-missing"),
    *("port-shared", "node-rank-constant", "rank-constant", "rendezvous-local", "world-size", "trainer-mismatch"),
    *("gpu-aware-hidden", "wait-missing"),
}
"""Codes of findings with which a job does not run, or not to its end."""
_SHOWN = ("problem", "advice")
# Codes whose `times` is charged and not used; for the others it is time.
_CHARGED = {
    *("cores-idle", "gpus-idle", "gpus-unused", "gpus-not-requested", "nodes-unused", "nodes-apart", "srun-missing"),
    *("reservation-larger", "last-node-nearly-empty", "tasks-unused", "cores-unused", "nodes-without-tasks"),
}
_MOST_JOBS = 10_000_000


def priced(findings: Iterable[Finding], script: Script, nodes: int | None = None) -> tuple[Finding, ...]:
    r"""Return findings with their costs, the costliest first, notes last.

    Parameters
    ----------
    findings : iterable of Finding
    script : Script
        Its time limit and its array give the node-hours.
    nodes : int or None
        Nodes of the job; default: the script's request.

    Examples
    --------
    >>> from hopperkit.launchers.scripts import read_script
    >>> script = read_script("#SBATCH -N 1 -t 2:00:00 --array=1-100\nsrun -n 1 ./a")
    >>> idle = Finding("cores-idle", "127 of 128 cores stay idle.", "advice", {"times": 128.0})
    >>> finding, note = priced([Finding("line", "One of two.", "note"), idle], script)
    >>> print(finding.message)
    127 of 128 cores stay idle. Up to 198 of 200 node-hours are charged for nothing.
    >>> finding.level, finding.evidence["node_hours"]
    ('problem', 198.4)
    """
    minutes = requested_time(script)
    jobs = array_size(script)
    nodes = nodes or requested_by_job(script).nodes or 1
    hours = minutes[0] / 60 * nodes * jobs if minutes else None
    each_priced = [_priced(each, hours, jobs) for each in findings]
    return tuple(sorted(each_priced, key=_rank))


def _priced(finding: Finding, hours: float | None, jobs: int) -> Finding:
    """Return a finding with its cost."""
    times = finding.evidence.get("times", 1.0)
    if finding.level not in _SHOWN:
        return finding
    if finding.code in FATAL and finding.level == "problem":
        return replace(finding, evidence={**finding.evidence, "runs": False})
    if finding.code not in _CHARGED or times <= 1:
        return finding
    level, message, evidence = finding.level, finding.message, dict(finding.evidence)
    wasted = (hours or 0) * (1 - 1 / times)
    if hours is not None:
        evidence["node_hours"] = round(wasted, 1)
    if wasted >= 1:
        message += f" Up to {_number(wasted)} of {_number(hours or 0)} node-hours are charged for nothing."
    if finding.code == "cores-idle" and jobs > 1:
        level = "problem"
        if hours is None:
            message += f" The {count(jobs, 'job')} of the array are charged so, each."
    return replace(finding, level=level, message=message, evidence=evidence)


def _number(value: float) -> str:
    """Return node-hours: three digits, thousands with commas."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _rank(finding: Finding) -> tuple[float, ...]:
    """Return the rank of a finding: those that stop the job, then by cost factor, then by level."""
    level = LEVELS.index(finding.level)
    if finding.level not in _SHOWN:
        return (1, 0, 0, level)
    return (0, finding.evidence.get("runs", True), -float(finding.evidence.get("times", 1.0)), level)


def array_size(script: Script) -> int:
    r"""Return the number of jobs in a script's array; 1 without an array.

    Parameters
    ----------
    script : Script
        Batch script.

    Examples
    --------
    >>> from hopperkit.launchers.scripts import read_script
    >>> sizes = ("--array=0-99%10", "-a 1,3,5-9:2", "-N 1")
    >>> [array_size(read_script(f"#SBATCH {size}\nsrun ./a")) for size in sizes]
    [100, 5, 1]
    """
    names = {"slurm": ("-a", "--array"), "pbs": ("-J", "-t")}
    typed = [each.value for each in script.directives if each.option in names.get(each.system, ())]
    size = 0
    for part in typed[-1].partition("%")[0].split(",") if typed else ():
        match = re.fullmatch(r"(\d{1,8})(?:-(\d{1,8})(?::(\d{1,8}))?)?", part)
        if match:
            first, last, step = int(match[1]), int(match[2] or match[1]), int(match[3] or 1)
            size += max(0, last - first) // max(step, 1) + 1
    return min(max(size, 1), _MOST_JOBS)
