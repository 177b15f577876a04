"""Why a job waited: its observed wait cut into parts by what kept it, and the jobs that held the nodes.

Moment by moment of the wait, the first cause in the order of `CAUSES` that kept the job counts, with the other jobs as
observed. The parts add up exactly to the wait; the remainder is not explained by the log or the rules. Ahead of a job
are those that waited too and come before it by the learned order of the queue.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from hopperkit.traces.rules.absences import Absence
from hopperkit.traces.rules.clock import Clock
from hopperkit.traces.rules.site import Learned
from hopperlib.errors import InputError
from hopperlib.scheduling.downtimes import Downtime
from hopperlib.scheduling.rules import Closure, Limit
from hopperlib.scheduling.workload import Workload
from hopperlib.units import plain_number

CAUSES: dict[str, str] = {
    "hold": "held, or waiting for another job",
    "full": "no node was idle",
    "width": "fewer nodes were idle than it requested",
    "drain": "idle nodes were drained, down or absent",
    "closed": "closed hours",
    "limit": "a limit of its user, account, QOS, queue or licence",
    "ahead": "idle nodes were reserved for jobs ahead of it",
    "unexplained": "not explained: enough nodes were idle",
}
# Causes of a wait in order: the first that applies counts. A hold lasts from submission until the job is eligible.
_KEEPING = ("full", "width", "drain", "closed", "limit", "ahead")
_MOST_HOLDERS = 5


class Holder(NamedTuple):
    """A job that held nodes while another one waited.

    Parameters
    ----------
    job : int
        Its index.
    node_seconds : int
        Held during the wait. [s]
    had_passed : bool
        Whether it was submitted later and started earlier.
    """

    job: int
    node_seconds: int
    had_passed: bool


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
    holders : tuple of Holder
        Who held nodes during the wait, those first that held most.
    ahead : tuple of int
        Indices of those that were ahead of it when it was submitted, in their order.
    """

    job: int
    wait_s: int
    parts: dict[str, int]
    idle: int
    holders: tuple["Holder", ...] = ()
    ahead: tuple[int, ...] = ()


def explain_wait(
    workload: Workload,
    job: int,
    nodes: int,
    clock: Clock,
    rules: Learned,
    downtimes: Sequence[Downtime] = (),
    queues: Sequence[str] = (),
) -> Wait:
    """Break down a job's wait by cause, from the other jobs of the log and given rules.

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
    queues : sequence of str
        Partitions that share the nodes; all without.

    Raises
    ------
    InputError
        If the log has no start time for the job.

    Examples
    --------
    Job 1 has three of four nodes for a minute; job 2 wants two of them:

    >>> from hopperlib.scheduling.workload import Job
    >>> jobs = Workload([Job(1, 0, 3, 60, 60, observed_start_s=0), Job(2, 10, 2, 60, 60, observed_start_s=70)])
    >>> explain_wait(jobs, 1, 4, Clock(0), Learned()).parts
    {'width': 50, 'unexplained': 10}
    """
    nodes = plain_number(nodes)
    submit, arrival, start = workload.submit_time_s[job], workload.arrival_s[job], workload.observed_start_s[job]
    if start < 0:
        raise InputError(f"the log has no start time of job {workload.job[job]}")
    arrival = min(arrival, start)
    around = _Around(workload, job, nodes, (arrival, start), rules, frozenset(queues))
    around.close(clock, downtimes)
    seconds, most = dict.fromkeys(CAUSES, 0), 0
    seconds["hold"] = max(0, arrival - submit)
    for moment, until in around.spans():
        most = max(most, around.idle)
        kept = next(
            (cause for cause, keeps in zip(_KEEPING, around.keeps(moment), strict=True) if keeps), "unexplained"
        )
        seconds[kept] += until - moment
    parts = {cause: lasted for cause, lasted in seconds.items() if lasted}
    return Wait(job, max(0, start - submit), parts, most, tuple(around.holders()), tuple(around.queue))


class _Around:
    """Running and waiting jobs at each moment of a job's wait."""

    def __init__(
        self,
        workload: Workload,
        job: int,
        nodes: int,
        span: tuple[int, int],
        rules: Learned,
        queues: frozenset[str] = frozenset(),
    ) -> None:
        self._workload, self._job, self._nodes, self.idle = workload, job, nodes, nodes
        self._running, self._ahead = set[int](), 0
        self._rules, self._span = rules, span
        self._changes: dict[int, list[tuple[int, int]]] = {span[0]: []}
        self._held: list[Holder] = []
        self.queue: list[int] = []
        since, until = span
        numbers = {number for number, name in enumerate(workload.queues) if not queues or name in queues}
        for other, begun in enumerate(workload.observed_start_s):
            end = begun + workload.run_time_s[other]
            if other == job or begun < 0 or (end <= since and begun < since):
                continue
            if workload.queue_number[other] not in numbers:
                continue
            if begun < until:
                self._note(max(begun, since), other, 1)
                self._note(end, other, -1)
                held = (min(end, until) - max(begun, since)) * workload.nodes[other]
                self._held.append(Holder(other, held, workload.arrival_s[other] > workload.arrival_s[job]))
            # All that are before it in the queue and wait still, from when they came.
            if begun > since and workload.arrival_s[other] < until and self.comes_before(other):
                if workload.arrival_s[other] <= since:
                    self._ahead += 1
                    self.queue.append(other)
                else:
                    self._note(workload.arrival_s[other], other, 2)
                self._note(begun, other, 0)

    def comes_before(self, other: int) -> bool:
        """Whether another job that waits is before this one by the learned order; of fair share only submission is known."""
        workload, job, rules = self._workload, self._job, self._rules
        if rules.preferred:
            column, number = workload.group(*rules.preferred)
            if (column[other] == number) != (column[job] == number):
                return bool(column[other] == number)
        mine, theirs = (
            (
                -workload.nodes[each]
                if rules.order == "size"
                else workload.requested_time_s[each]
                if rules.order == "length"
                else 0
            )
            for each in (job, other)
        )
        return (theirs, other) < (mine, job)

    def holders(self) -> list[Holder]:
        """Return the users with most of the nodes during the wait."""
        return sorted((each for each in self._held if each.node_seconds), key=lambda each: -each.node_seconds)[
            :_MOST_HOLDERS
        ]

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

    def spans(self) -> Iterator[tuple[int, int]]:
        """Yield the spans of the wait in which nothing changes, with what runs and waits then."""
        since, until = self._span
        moments = sorted(self._changes)
        for moment, after in pairwise([*moments, max(until, moments[-1])]):
            for kind, other in self._changes[moment]:
                if kind in (0, 2):
                    self._ahead += 1 if kind else -1
                    continue
                self.idle -= kind * self._workload.nodes[other]
                (self._running.add if kind > 0 else self._running.discard)(other)
            if since <= moment < until:
                yield moment, min(after, until)

    def keeps(self, moment: int) -> tuple[bool, ...]:
        """Return, for each removed cause, whether it keeps the job from starting now."""
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
        """Return the number of idle nodes that are not absent, drained or down."""
        # Nobody ran on those that were absent. Jobs still running on drained nodes are not idle: at most the rest of
        # these nodes is away.
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
