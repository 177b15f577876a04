"""Question: a job trace through a scheduler that remembers every job's nodes."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from hopperlib.errors import InputError, refusal
from hopperlib.finding import Finding
from hopperlib.machine import Machine
from hopperlib.network.scheduling import rules
from hopperlib.network.scheduling.cluster import Cluster, cluster_of_trace
from hopperlib.network.scheduling.downtimes import Downtime, read_downtimes
from hopperlib.network.scheduling.observed import by_group, differences
from hopperlib.network.scheduling.schedule import NOT_STARTED, Schedule, summarize
from hopperlib.network.scheduling.scheduler import simulate, too_wide
from hopperlib.network.scheduling.workload import Workload
from hopperlib.network.torus.allocation import PrefixCounts
from hopperlib.network.torus.distances import Torus
from hopperlib.network.torus.orders import compute_nodes, order_nodes
from hopperlib.network.torus.wiring import NodeAddress
from hopperlib.questions.machine_choice import chosen_machine
from hopperlib.questions.network import trace_figures as drawn
from hopperlib.questions.question import Asked, declared, is_sample
from hopperlib.questions.result import Facts, Result
from hopperlib.questions.wording import wording
from hopperlib.readers.hardware.cluster import read_cluster
from hopperlib.readers.jobs import read_job_trace
from hopperlib.readers.jobs.trace import Note, Trace

_WORDING = wording(__name__)
_RECORDS = 100
_WEEK_S = 7 * 86_400
# So many times weeks are drawn anew to say how sure a difference is.
_RESAMPLES, _FEWEST_WEEKS = 1000, 4
# Distances of more jobs would take as long as the simulation.
_MOST_MEASURED = 20_000
_SWF_FIELDS = 18
#: Codes of notes that change the answer so much that they are told at once.
LOUD = ("too-wide", "partitions-pooled", "capacity-estimated", "guessed-limit", "never-started")


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """A trace that went through the scheduler.

    Parameters
    ----------
    trace : Trace
    schedule : Schedule
    machine : Machine or None
    addresses : tuple of NodeAddress
        The nodes in the order of the list, where the machine has a torus; empty elsewhere.
    cluster : Cluster or None
        Partitions and nodes that are shared; None for whole nodes of one pool.
    notes : tuple of Note
        What was guessed or left out on the way, beside what the trace says of itself.
    """

    trace: Trace
    schedule: Schedule
    machine: Machine | None = None
    addresses: tuple[NodeAddress, ...] = ()
    cluster: Cluster | None = None
    notes: tuple[Note, ...] = ()

    def hops(self) -> list[float] | None:
        """Return the mean distance of each job's nodes, 0 for one that never started; None without a torus. [hops]"""
        if self.machine is None or not self.addresses:
            return None
        counts = PrefixCounts([node.coordinates for node in self.addresses], Torus.of(self.machine))
        return [counts.mean_hop_distance(self.schedule.runs(index)) for index in range(len(self.schedule))]


def simulated(
    trace: Trace,
    settings: Mapping[str, Any],
    *,
    every_s: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> Simulated:
    """Return a trace as the scheduler runs it, for the settings of the question.

    Parameters
    ----------
    trace : Trace
    settings : mapping
        Values of the controls of the question, but for those that say how the trace is read.
    every_s : int or None
        Interval of the machine's records. [s]
    progress : callable or None
        As for `hopperlib.network.scheduling.scheduler.simulate`.

    Raises
    ------
    InputError
        If settings do not fit together, or no job fits the machine or its queues.

    Examples
    --------
    >>> trace = read_job_trace(["1 0 -1 60 3 -1 -1 3 90 -1 1 1 -1 -1 -1 -1 -1 -1"])
    >>> simulated(trace, QUESTION.read({"nodes": 4})).schedule.runs(0)
    [(0, 3)]
    """
    given = _Settings(**settings)
    room, notes = given.room(trace)
    table = given.table
    if given.aging_hours and table is None:
        raise refusal(
            "aging_hours", given.aging_hours, "needs queues: without priorities there is nothing to make up for"
        )
    workload = trace.workload
    refused: list[int] = []
    if table is not None:
        workload, put, refused = rules.put_into_queues(workload, table)
        notes += [_note("queue-given", put, table=table.name)] if put else []
    workload, more = _fitting(workload, sorted({*too_wide(workload, room), *refused}), given.wide, room)
    schedule = simulate(
        workload,
        room,
        policy=given.policy,
        depth=given.depth,
        queue_order=given.queue_order,
        rules=given.limits_of(trace.users) if given.rules.strip() else None,
        allocation=given.allocation,
        overrun=given.overrun,
        queues=table.queues if table else (),
        aging_s=max(1, round(3600 * given.aging_hours)) if given.aging_hours else None,
        downtimes=given.outages(room if isinstance(room, int) else len(room.nodes)),
        rng=random.Random(given.seed),
        requeue=given.requeue,
        sample_every_s=every_s,
        progress=progress,
    )
    never = schedule.status.count(NOT_STARTED) if schedule.stopped_s is None else 0
    notes += [_note("never-started", never)] if never else []
    return Simulated(
        trace=trace,
        schedule=schedule,
        machine=given.chosen,
        addresses=given.addresses,
        cluster=room if isinstance(room, Cluster) else None,
        notes=(*notes, *more),
    )


def _note(code: str, count: int, **words: Any) -> Note:
    """Return what is to be known of so many jobs."""
    return Note(code, count, _WORDING.of(count=count, **words).text(code))


class Compared(NamedTuple):
    """The difference of two schedules of the same jobs.

    Parameters
    ----------
    groups : list of dict
        Of each queue and of all: its name, its jobs, and its mean waits in both.
    weeks : int
        Weeks of submissions that could be resampled.
    difference_s : float
        Mean wait of the second less that of the first. [s]
    low_s, high_s : float or None
        Where 95 % of the resampled weeks have it; None for fewer than four weeks. [s]
    """

    groups: list[dict[str, Any]]
    weeks: int
    difference_s: float
    low_s: float | None
    high_s: float | None

    @property
    def sure(self) -> bool:
        """Whether the resampled weeks lie on one side."""
        return self.low_s is not None and self.high_s is not None and (self.low_s > 0 or self.high_s < 0)

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """The waits of each queue in both."""
        return [tuple(group.values()) for group in self.groups]


def against(other: Schedule, schedule: Schedule) -> Compared:
    """Return how a schedule compares with another of the same workload.

    Examples
    --------
    >>> from hopperlib.network.scheduling.scheduler import simulate
    >>> from hopperlib.network.scheduling.workload import Job, Workload
    >>> jobs = Workload([Job(1, 0, 6, 100, 100), Job(2, 1, 8, 50, 50), Job(3, 2, 4, 90, 90)])
    >>> compared = against(simulate(jobs, 10, policy="fcfs"), simulate(jobs, 10))
    >>> round(compared.difference_s, 1), compared.weeks, compared.low_s
    (-49.3, 1, None)
    """
    workload = schedule.workload
    weeks: dict[int, list[int]] = {}
    for job, (now, before) in enumerate(zip(schedule.status, other.status, strict=True)):
        if NOT_STARTED not in (now, before):
            week = weeks.setdefault(workload.submit_time_s[job] // _WEEK_S, [0, 0])
            week[0] += schedule.start_s[job] - other.start_s[job]
            week[1] += 1
    sums = list(weeks.values())
    difference = sum(total for total, _ in sums) / max(1, sum(count for _, count in sums))
    low = high = None
    if len(sums) >= _FEWEST_WEEKS:
        rng = random.Random(1)
        means = []
        for _ in range(_RESAMPLES):
            picked = [sums[int(rng.random() * len(sums))] for _ in sums]
            means.append(sum(total for total, _ in picked) / sum(count for _, count in picked))
        means.sort()
        low, high = means[round(0.025 * _RESAMPLES)], means[round(0.975 * _RESAMPLES) - 1]
    groups = [
        {
            "name": now.name,
            "jobs": now.jobs,
            "other_wait_mean_s": getattr(before.simulated, "wait_mean_s", None),
            "wait_mean_s": getattr(now.simulated, "wait_mean_s", None),
        }
        for before, now in zip(by_group(other), by_group(schedule), strict=True)
    ]
    return Compared(groups, len(sums), difference, low, high)


class _Settings(Asked):
    """How a trace is to be simulated."""

    @cached_property
    def chosen(self) -> Machine | None:
        """The machine, if one is meant."""
        return (
            None
            if self.machine == "none" and not self.machine_file
            else chosen_machine(self.machine, self.machine_file)
        )

    def room(self, trace: Trace) -> tuple[int | Cluster, list[Note]]:
        """Return what to schedule on: as said, of the machine, as the trace has it, or estimated from it; and what to know of that."""
        machine, nodes = self.chosen, self.nodes
        if self.cluster.strip():
            if machine or nodes:
                raise InputError("the cluster tells its nodes: leave out nodes and machine", name="cluster")
            return _read_part("cluster", self.cluster, read_cluster), []
        if machine and nodes not in (0, machine.nodes):
            raise refusal(
                "nodes", nodes, f"contradicts machine {machine.name}, which has {machine.nodes}; give one of the two"
            )
        header = [trace.header.get(name, "").split(" ")[0] for name in ("MaxNodes", "MaxProcs")]
        of_header, processors = (int(word) if word.isdecimal() and len(word) < 7 else 0 for word in header)
        room = machine.nodes if machine else nodes or of_header or processors // self.cores_per_node
        if room:
            queues = set(trace.workload.queues)
            pooled = len(queues) > 1 and trace.workload.words["state"] and trace.workload.word("state", 0).isalpha()
            return room, [_note("partitions-pooled", len(queues), room=room)] if pooled else []
        cluster = cluster_of_trace(trace.workload)
        if cluster is None:
            raise InputError("say how many nodes there are: a number, or a machine", name="nodes")
        first = list(cluster.partitions.items())[:8]
        sizes = ", ".join(f"{name or 'all'} {len(partition.nodes):,}" for name, partition in first)
        return cluster, [_note("capacity-estimated", len(cluster.nodes), sizes=sizes, origin=cluster.origin)]

    @property
    def addresses(self) -> tuple[NodeAddress, ...]:
        """The compute nodes of a machine with a torus in their order; none elsewhere."""
        machine = self.chosen
        if machine is None or machine.network is None or machine.network.dimensions is None:
            return ()
        addresses = order_nodes(compute_nodes(machine), self.order)
        if len(addresses) != machine.nodes:
            raise InputError(
                f"machine {machine.name!r}: its floor holds {len(addresses)} compute nodes, its file counts {machine.nodes}",
                name="machine",
            )
        return addresses

    def limits_of(self, users: Mapping[int, str]) -> rules.Rules:
        """Return priorities and limits, limits of users that the trace names by their numbers."""
        read: rules.Rules = _read_part("rules", self.rules, rules.read_rules)
        numbers = {name: str(number) for number, name in users.items()} | {"": ""}
        limits = (
            replace(limit, of=numbers.get(limit.of, "of another trace")) if users and limit.per == "user" else limit
            for limit in read.limits
        )
        return replace(read, limits=tuple(limits))

    @cached_property
    def table(self) -> rules.QueueTable | None:
        """The queues of a table that comes with the package, or of a text with one table."""
        if not self.queue_file.strip():
            return None if self.queues == "none" else rules.queue_table(self.queues)
        tables = list(_read_part("queues", self.queue_file, rules.read_queues).values())
        if len(tables) != 1:
            raise InputError(f"queues: one table is needed, {len(tables)} are there", name="queue_file")
        assert isinstance(tables[0], rules.QueueTable)
        return tables[0]

    def outages(self, nodes: int) -> list[Downtime]:
        """Return the downtimes."""
        if not self.downtimes.strip():
            return []
        downtimes = list(_read_part("downtimes", self.downtimes, lambda text: read_downtimes(text.splitlines())))
        last = max((downtime.last_node or 0 for downtime in downtimes), default=0)
        if last > nodes:
            raise InputError(
                f"downtimes: last_node={last} is more than the {nodes} nodes of the machine", name="downtimes"
            )
        return downtimes


def _fitting(workload: Workload, wide: list[int], treatment: str, room: int | Cluster) -> tuple[Workload, list[Note]]:
    """Return the jobs that can start at all: those that cannot are left out, made narrower, or refused."""
    if not wide:
        return workload, []
    job = workload[wide[0]]
    where = f"the {room:,} of the machine" if isinstance(room, int) else f"partition {job.queue!r} can give"
    message = f"job {job.job} asks for nodes={job.nodes}, more than {where}, or its queue does not take it"
    try:
        _ = isinstance(room, int) or room.partition(job.queue)
    except InputError as error:
        message = f"job {job.job}: {error}"
    if treatment == "refuse" or len(wide) == len(workload):
        hint = "; if the trace counts processors, say how many a node has" if isinstance(room, int) else ""
        raise InputError(message + hint, name="cores_per_node" if hint else "wide")
    left_out = set(wide)
    if treatment == "clip" and isinstance(room, int):
        jobs = [job._replace(nodes=min(job.nodes, room)) for job in workload]
        return Workload(jobs), [_note("too-wide", len(wide), clipped=True, room=room, message=message)]
    kept = workload.of([index for index in range(len(workload)) if index not in left_out])
    return kept, [_note("too-wide", len(wide), clipped=False, message=message)]


def _read_part(name: str, text: str, reader: Callable[[str], Any]) -> Any:
    """Return what a reader makes of the text of a control."""
    try:
        return reader(text)
    except ValueError as error:
        raise InputError(f"{name}: {error}", name="queue_file" if name == "queues" else name) from None


def reading_of(settings: dict[str, Any]) -> dict[str, Any]:
    """Return how a trace is read, for the settings of the question.

    Examples
    --------
    >>> reading_of({"form": "swf", "nodes": 4})
    {'form': 'swf'}
    """
    return {name: settings[name] for name in ("form", "delimiter", "columns", "cores_per_node") if name in settings}


def _read(text: str, reading: dict[str, Any]) -> Trace:
    """Return the trace of a text, or of the file that a single word names."""
    if not text.strip():
        raise InputError("trace is empty: give a trace, or the path of a file", name="trace")
    # No line of a trace is that short: it has as many fields, or stands below a header.
    is_path = "\n" not in text.strip() and len(text.split()) < _SWF_FIELDS and not text.lstrip().startswith("{")
    try:
        return read_job_trace(Path(text.strip()) if is_path else text, **reading)
    except (ValueError, OSError) as error:
        raise InputError(f"cannot read trace {error}" if is_path else str(error), name="trace") from error


def _answer(*, trace: str, **settings: Any) -> Result:
    """Answer for one trace."""
    jobs = _read(trace, reading_of(settings))
    workload = jobs.workload
    span_s = max(workload.arrival_s) - min(workload.arrival_s) + max(workload.run_time_s)
    outcome = simulated(jobs, settings, every_s=max(60, span_s // _RECORDS))
    rival = settings["against"]
    other = None if rival == "none" else simulated(jobs, {**settings, "policy": rival})
    result = result_of(outcome, other)
    if not is_sample(QUESTION, "trace", trace):
        return result
    made_up = _WORDING.of().finding("made-up")
    return replace(result, findings=(*result.findings, made_up))


def result_of(outcome: Simulated, other: Simulated | None = None) -> Result:
    """Return what came out of a simulation as an answer; its facts are what ``hopper simulate --json`` prints.

    Parameters
    ----------
    outcome : Simulated
    other : Simulated or None
        The same trace under another policy, to be told beside it.

    Raises
    ------
    InputError
        If no job started.

    Examples
    --------
    >>> QUESTION.run(nodes=20).facts["jobs"]
    14
    """
    schedule, cluster = outcome.schedule, outcome.cluster
    hops = outcome.hops() if len(schedule) <= _MOST_MEASURED else None
    numbers = summarize(schedule)
    groups = by_group(schedule, cluster)
    notes = [*outcome.trace.account(), *outcome.notes]
    compared = against(other.schedule, schedule) if other else None
    said = _WORDING.of(
        numbers,
        on=schedule.nodes,
        days=numbers.span_s / 86400,
        share="-" if numbers.utilization is None else f"{100 * numbers.utilization:.1f} %",
        # The same as decimals, as they are shown; whole means of whole seconds stay whole among the facts.
        mean_s=float(numbers.mean_wait_s),
        median_s=float(numbers.median_wait_s),
        pieces=float(numbers.mean_runs),
        observed=groups[-1].observed,
        stopped=schedule.stopped_s is not None,
        stopped_s=schedule.stopped_s,
        lost=len(schedule.lost),
        lost_s=sum(end - start for _, start, end in schedule.lost),
        compared=compared,
    )
    return said.result(
        findings=(*differences(schedule, groups, cluster), *_findings(notes), *said.findings, *_against(compared)),
        figures=(
            *([drawn.machine_figure(schedule)] if schedule.samples else []),
            drawn.waits_figure(groups),
            *drawn.wait_maps(schedule),
            drawn.occupancy_figure(schedule),
            drawn.gantt_figure(schedule),
            drawn.pieces_figure({"jobs": schedule}),
        ),
        tables=(
            drawn.group_table(groups),
            drawn.width_table(schedule, hops),
            *([said.table("against")] if compared else []),
        ),
        facts=Facts(
            {"jobs": numbers.jobs, "skipped": outcome.trace.skips.total, "nodes": schedule.nodes, **numbers._asdict()}
            | {"groups": [group.to_dict() for group in groups], "notes": [asdict(note) for note in notes]}
            | {"capacity": cluster.origin if cluster else "given"}
            | ({"against": compared._asdict()} if compared else {})
        ),
    )


def _against(compared: Compared | None) -> Iterator[Finding]:
    """Yield how much longer jobs wait under the policy, and how sure that is."""
    if compared is not None:
        longer, resampled = compared.difference_s > 0, compared.low_s is not None
        yield _WORDING.of(
            compared,
            resamples=_RESAMPLES,
            apart_s=abs(compared.difference_s),
            side="longer" if longer else "shorter",
            resampled=resampled,
            untold=resampled and bool(compared.difference_s) and not compared.sure,
            alike=not compared.difference_s,
            few=not resampled,
        ).finding("against")


def _findings(notes: Sequence[Note]) -> Iterator[Finding]:
    """Yield what was left out of the trace, and what else to know of it."""
    for note in notes:
        message = f"{note.message[:1].upper()}{note.message[1:]}."
        yield Finding(note.code, message, "advice" if note.code in LOUD else "note", {"count": note.count})


QUESTION = declared(
    __name__, _answer, options={"queues": [("none", "none"), *((name, name) for name in rules.queue_tables())]}
)
