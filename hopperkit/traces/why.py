"""Why a job waited: its observed wait cut into parts, each what one cause adds to it.

The job is started anew among the others, which stay as observed, at the first moment that nothing keeps it from. One
cause after the other is taken away, in the order of `CAUSES` from the last to the first, and what the start gains by
that is the cause's part. What is left over at the end of the wait is explained by nothing that the log and the rules
tell. So the parts add up to the wait, to the second.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from hopperkit.traces.absences import Absence
from hopperkit.traces.learned import Clock, Learned
from hopperlib.errors import InputError
from hopperlib.scheduling.downtimes import Downtime
from hopperlib.scheduling.rules import Closure, Limit
from hopperlib.scheduling.workload import Workload

CAUSES: dict[str, str] = {
    "hold": "held, or waiting for another job",
    "full": "no node was idle",
    "width": "fewer nodes were idle than it asked for",
    "drain": "idle nodes were drained, down or absent",
    "closed": "closed hours",
    "limit": "a limit of its user, account, QOS, queue or licence",
    "ahead": "idle nodes were reserved for jobs ahead of it",
    "unexplained": "not explained: enough nodes were idle",
}
# Those that are taken away in turn, the last one first; a hold is from submission until the job is eligible.
_TAKEN_AWAY = ("full", "width", "drain", "closed", "limit", "ahead")


class Wait(NamedTuple):
    """The wait of a job, and how long each cause kept it. [s]

    Parameters
    ----------
    job : int
        Its index.
    wait_s : int
        From submission to the observed start.
    parts : dict
        Seconds by the names of `CAUSES`; they add up to the wait.
    idle : int
        The most nodes that were idle at a time during the wait.
    """

    job: int
    wait_s: int
    parts: dict[str, int]
    idle: int


def explain_wait(
    workload: Workload, job: int, nodes: int, clock: Clock, rules: Learned, downtimes: Sequence[Downtime] = ()
) -> Wait:
    """Return what kept a job waiting, by the other jobs of the log and given rules.

    Parameters
    ----------
    workload : Workload
        With observed starts.
    job : int
        Index of the job.
    nodes : int
        Of the machine.
    clock : Clock
    rules : Learned
    downtimes : sequence of Downtime
        Times in which nodes were drained, down or kept for others.

    Raises
    ------
    InputError
        If the log does not tell when the job started.

    Examples
    --------
    Job 1 has three of four nodes for a minute; job 2 wants two of them:

    >>> from hopperlib.scheduling.workload import Job
    >>> jobs = Workload([Job(1, 0, 3, 60, 60, observed_start_s=0), Job(2, 10, 2, 60, 60, observed_start_s=70)])
    >>> explain_wait(jobs, 1, 4, Clock(0), Learned()).parts
    {'width': 50, 'unexplained': 10}
    """
    submit, arrival, start = workload.submit_time_s[job], workload.arrival_s[job], workload.observed_start_s[job]
    if start < 0:
        raise InputError(f"the log does not say when job {workload.job[job]} started")
    arrival = min(arrival, start)
    around = _Around(workload, job, nodes, (arrival, start), rules)
    around.close(clock, downtimes)
    # With all causes but the first few taken away: the first moment at which none of those few keeps the job.
    starts, most = list[int](), 0
    for moment in around.moments():
        most = max(most, around.idle)
        keeps = around.keeps(moment)
        while len(starts) < len(_TAKEN_AWAY) and not any(keeps[: len(starts) + 1]):
            starts.append(moment)
    starts += [start] * (len(_TAKEN_AWAY) - len(starts))
    gained = (after - before for before, after in pairwise([arrival, *starts, start]))
    parts = dict(zip(CAUSES, (max(0, arrival - submit), *gained), strict=True))
    return Wait(job, max(0, start - submit), {cause: seconds for cause, seconds in parts.items() if seconds}, most)


class _Around:
    """What ran and waited around a job's wait, at any moment of it."""

    def __init__(self, workload: Workload, job: int, nodes: int, span: tuple[int, int], rules: Learned) -> None:
        self._workload, self._job, self._nodes, self.idle = workload, job, nodes, nodes
        self._running, self._ahead = set[int](), 0
        self._rules, self._span = rules, span
        self._changes: dict[int, list[tuple[int, int]]] = {span[0]: []}
        since, until = span
        for other, begun in enumerate(workload.observed_start_s):
            end = begun + workload.run_time_s[other]
            if other == job or begun < 0 or (end <= since and begun < since):
                continue
            if begun < until:
                self._note(max(begun, since), other, 1)
                self._note(end, other, -1)
            # All that came before it and waited still.
            if other < job and begun > since:
                self._ahead += 1
                self._note(begun, other, 0)

    def close(self, clock: Clock, downtimes: Sequence[Downtime]) -> None:
        """Take in closed hours, and times in which nodes are away."""
        limit_s = self._workload.requested_time_s[self._job]
        closed = [rule for rule in self._rules.closed if limit_s > 3600 * rule.over_hours]
        self._closed = clock.closures(closed, *self._span)
        self._down = [each for each in downtimes if not each.queue]
        times: list[Closure | Downtime | Absence] = [*self._closed, *self._down, *self._rules.absent]
        for bound in {bound for each in times for bound in (each.start_s, each.end_s)}:
            self._changes.setdefault(bound, [])

    def _note(self, moment: int, other: int, kind: int) -> None:
        self._changes.setdefault(moment, []).append((kind, other))

    def moments(self) -> Iterator[int]:
        """Yield every moment of the wait at which anything changes, after it has."""
        since, until = self._span
        for moment in sorted(self._changes):
            for kind, other in self._changes[moment]:
                if not kind:
                    self._ahead -= 1
                    continue
                self.idle -= kind * self._workload.nodes[other]
                (self._running.add if kind > 0 else self._running.discard)(other)
            if since <= moment < until:
                yield moment

    def keeps(self, moment: int) -> tuple[bool, ...]:
        """Return whether each of the causes that are taken away keeps the job from starting now."""
        width = self._workload.nodes[self._job]
        return (
            self.idle < 1,
            self.idle < width,
            self.left(moment) < width,
            any(span.start_s <= moment < span.end_s for span in self._closed),
            any(map(self.reached, self._rules.limits)),
            self._ahead > 0,
        )

    def left(self, moment: int) -> int:
        """Return how many idle nodes are neither absent nor drained or down."""
        # Nobody ran on those that were absent. What runs on drained nodes is not idle: at most the rest of them is away.
        absent = sum(each.nodes for each in self._rules.absent if each.start_s <= moment < each.end_s)
        down = [each for each in self._down if each.start_s <= moment < each.end_s]
        away = sum((each.last_node or self._nodes) - (each.first_node or 0) for each in down)
        return min(self.idle - absent, self._nodes - away)

    def reached(self, limit: Limit) -> bool:
        """Whether a limit keeps the job from starting now."""
        workload, job = self._workload, self._job
        if limit.per == "licence":
            held = workload.licences().get(limit.of, {})
            return job in held and sum(held.get(other, 0) for other in {*self._running, job}) > (limit.jobs or 0)
        column, of = workload.group(limit.per, limit.of)
        if of not in (None, column[job]):
            return False
        alike = [other for other in self._running if column[other] == column[job]]
        if limit.jobs is not None and len(alike) >= limit.jobs:
            return True
        used = sum(workload.nodes[other] for other in alike) + workload.nodes[job]
        return limit.nodes is not None and used > limit.nodes
