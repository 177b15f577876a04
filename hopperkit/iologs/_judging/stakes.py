"""Cost of a finding about a log, the gain from its change, and its level, by the share of the run.

A finding costs the time of all tasks in the calls that it is about. Its level is the share of that time in the
task-hours of the run: many cheap calls are a note and one expensive habit is a problem. The gain is bounded by the
cost; if the log shows the cost of the improved program, the expected gain is given too.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from hopperkit.iologs.cost import of_nodes, slowest_s, task_time, time_s
from hopperkit.iologs.darshan_log import DarshanLog, FileRecord
from hopperlib.finding import LEVELS, Finding, Level
from hopperlib.text import digits, share

# Below the first share of the run's task-hours, a finding is a note; from the second on, it is a problem if tasks lose
# that much time.
FLOOR_SHARE, _PROBLEM_SHARE, _PROBLEM_S = 0.02, 0.25, 60.0
# Ten minutes per task are reported even in the longest run; nobody changes a program for less than a second.
_ALWAYS_S, LEAST_S = 600.0, 1.0
# Readers must know this before the rest.
_BEFORE_ALL = "incomplete-log"
# One slow task is the weakest of causes: others may not wait for it, and another finding may explain it.
_UNCERTAIN = ("uneven-time",)
# A task copies this much into the page cache, and starts that many calls. Assumed: this only divides the logged time
# between moving data and starting calls.
CACHE_BYTES_PER_S, CALL_S = 1e9, 1e-6
# Starting a call takes as long as moving this many bytes: a system call and a copy, or a message to a server and its
# locks. Assumed: 32 us at 1 GB/s, and 1 ms.
_START_GATHERED_BYTES, _START_BYTES = 32 << 10, 1 << 20


def stake(
    files: Sequence[FileRecord], way: str = "", *, part: float = 1.0, won: float = 1.0, because: str = ""
) -> dict[str, Any]:
    """Return the cost of a finding about files, as parts of its evidence.

    Parameters
    ----------
    files : sequence of FileRecord
    way : str
        ``read``, ``write``, or all calls.
    part : float
        Share of the time in these calls that the finding is about. [fraction]
    won : float
        Upper bound of the recoverable share; no lower bound is given. [fraction]
    because : str
        Basis of this estimate.

    Examples
    --------
    >>> stake([FileRecord(path="/a", busy_s=8.0, tasks=2, shared=True, slowest_s=5.0)], part=0.5, won=0.5)
    {'cost_task_s': 4.0, 'cost_slowest_s': 2.5, 'win_low_task_s': 0.0, 'win_high_task_s': 2.0, 'win_rests_on': ''}
    """
    seconds = part * sum(time_s(file, way) for file in files)
    return staked(seconds, slowest=part * slowest_s(files, way), won=won * seconds, because=because)


def staked(
    task_s: float,
    *,
    slowest: float = 0.0,
    won: float,
    because: str = "",
    expected: float | None = None,
    change: str = "",
) -> dict[str, Any]:
    """Return the cost of a finding from the time of all tasks, that of the slowest, and the recoverable time.

    Parameters
    ----------
    task_s, slowest : float
        Time of all tasks together; of the slowest one. [s]
    won : float
        Upper bound of the recoverable time. [s]
    because : str
        Basis of this estimate.
    expected : float or None
        Expected gain of the change, if the log shows it. [s]
    change : str
        The line of the program, or the hint, to change.

    Examples
    --------
    >>> staked(10.0, won=4.0)["win_high_task_s"]
    4.0
    >>> staked(10.0, won=10.0, expected=9.0, change="fsync once, after the loop")["win_expected_task_s"]
    9.0
    """
    evidence: dict[str, Any] = {
        "cost_task_s": round(task_s, 3),
        "cost_slowest_s": round(slowest, 3),
        "win_low_task_s": 0.0,
        "win_high_task_s": round(won, 3),
        "win_rests_on": because,
    }
    if expected is not None:
        evidence["win_expected_task_s"] = round(min(max(expected, 0.0), won), 3)
    return evidence | ({"change": change} if change else {})


def in_calls_s(task_s: float, mean_bytes: float, *, in_order: bool) -> float:
    """Time of all tasks that calls cost because of their number, not their bytes. [s]

    Parameters
    ----------
    task_s : float
        Time in the calls. [s]
    mean_bytes : float
        Mean bytes per call. [bytes]
    in_order : bool
        Whether one task moves the file in order, so that the node's cache gathers the calls.

    Examples
    --------
    Half of the time for calls of 1 MiB that reach the file system one by one; a ninth for gathered calls of 256 KiB:

    >>> in_calls_s(10.0, 1 << 20, in_order=False), round(in_calls_s(9.0, 256 << 10, in_order=True), 9)
    (5.0, 1.0)
    """
    start = _START_GATHERED_BYTES if in_order else _START_BYTES
    return task_s * start / (start + mean_bytes)


def weighed(findings: Iterable[Finding], log: DarshanLog) -> tuple[Finding, ...]:
    """Return findings by level and, within a level, by decreasing cost; findings with negligible cost become notes.

    Findings without a cost, such as an incomplete log, come first.

    Examples
    --------
    >>> log = DarshanLog(executable="a.out", job_id=1, tasks=4, run_time_s=1000.0, modules=(), files=())
    >>> cheap = Finding("stdio", "Much.", evidence=staked(2.0, won=1.0))
    >>> dear = Finding("metadata", "More.", evidence=staked(2000.0, won=1000.0))
    >>> [(each.code, each.level) for each in weighed([cheap, dear], log)]
    [('metadata', 'problem'), ('stdio', 'note')]
    """
    return tuple(
        sorted(
            (_weighed(finding, log) for finding in findings),
            key=lambda each: (
                each.code != _BEFORE_ALL,
                LEVELS.index(each.level),
                each.code in _UNCERTAIN,
                -each.evidence.get("cost_task_s", math.inf),
            ),
        )
    )


def cost_share(finding: Finding, log: DarshanLog) -> float | None:
    """Share of the run's task-hours that a finding costs; None if the log has no time for it. [fraction]

    Examples
    --------
    >>> log = DarshanLog(executable="a.out", job_id=1, tasks=4, run_time_s=1000.0, modules=(), files=())
    >>> cost_share(Finding("stdio", "Much.", evidence=staked(400.0, won=1.0)), log)
    0.1
    """
    task_s = finding.evidence.get("cost_task_s", 0.0)
    if not task_s or not log.run_time_s:
        return None
    return float(min(1.0, task_s / (log.tasks or 1) / log.run_time_s))


def _weighed(finding: Finding, log: DarshanLog) -> Finding:
    """Return a finding with the level and message for its cost."""
    task_s = finding.evidence.get("cost_task_s", 0.0)
    if not task_s or finding.level == "ok":
        return finding
    part = cost_share(finding, log)
    evidence = {**finding.evidence, "cost_share": part or 0.0}
    if log.nodes is not None:
        evidence["cost_node_s"] = round(task_s / (log.tasks or 1) * log.nodes, 3)
    level = _level(finding.level, part, task_s / (log.tasks or 1))
    return replace(finding, level=level, message=f"{finding.message} {_words(evidence, log)}", evidence=evidence)


def _level(level: Level, part: float | None, task_s: float) -> Level:
    """Return the level by the share of the run; a note based on weak evidence stays a note."""
    if level not in ("advice", "problem") or part is None:
        return level
    if task_s < LEAST_S or (part < FLOOR_SHARE and task_s < _ALWAYS_S):
        return level if level == "problem" else "note"
    return "problem" if part >= _PROBLEM_SHARE and task_s >= _PROBLEM_S else level


def _words(evidence: dict[str, Any], log: DarshanLog) -> str:
    """Return a sentence on the cost of a finding and the recoverable part."""
    whole = f", {share(evidence['cost_share'])} of the run" if log.run_time_s else ""
    hours = of_nodes(evidence.get("cost_node_s"))
    because = f" ({evidence['win_rests_on']})" if evidence["win_rests_on"] else ""
    most, expected = evidence["win_high_task_s"], evidence.get("win_expected_task_s")
    saving = f"from 0 to {task_time(most)} can be saved" if most else "none of it can be saved"
    if expected:
        seconds = expected / (log.tasks or 1)
        of = f" of {digits(log.run_time_s, 3)}" if log.run_time_s else ""
        saving = f"the change saves about {digits(seconds, 3)}{of} s"
    return f"This costs {task_time(evidence['cost_task_s'])}{hours}{whole}; {saving}{because}."
