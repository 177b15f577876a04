"""Question: a job trace through a scheduler that remembers every job's nodes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from hopperlib.errors import InputError, refusal
from hopperlib.finding import Finding
from hopperlib.machine import Machine
from hopperlib.network.scheduling.downtimes import Downtime, read_downtimes
from hopperlib.network.scheduling.queues import QueueTable, put_into_queues, queue_table, queue_tables, read_queues
from hopperlib.network.scheduling.schedule import Schedule
from hopperlib.network.scheduling.scheduler import simulate
from hopperlib.network.scheduling.summary import summarize
from hopperlib.network.torus.allocation import PrefixCounts
from hopperlib.network.torus.distances import Torus
from hopperlib.network.torus.orders import compute_nodes, order_nodes
from hopperlib.network.torus.wiring import NodeAddress
from hopperlib.questions.machine_choice import chosen_machine
from hopperlib.questions.network.trace_figures import machine_figure, pieces_figure, width_table
from hopperlib.questions.question import declared, is_sample
from hopperlib.questions.result import Result, Value
from hopperlib.readers.job_trace import opened, read_job_trace
from hopperlib.readers.trace import Trace

__all__ = ["QUESTION", "Simulated", "result_of", "simulated"]

_RECORDS = 100
# Distances of more jobs would take as long as the simulation.
_MOST_MEASURED = 20_000
_SWF_FIELDS = 18


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
    """

    trace: Trace
    schedule: Schedule
    machine: Machine | None = None
    addresses: tuple[NodeAddress, ...] = ()

    def hops(self) -> list[float] | None:
        """Return the mean distance of each job's nodes, 0 for one that never started; None without a torus. [hops]"""
        if self.machine is None or not self.addresses:
            return None
        counts = PrefixCounts([node.coordinates for node in self.addresses], Torus.of(self.machine))
        return [counts.mean_hop_distance(self.schedule.runs(index)) for index in range(len(self.schedule))]


def simulated(
    trace: Trace,
    *,
    machine: str | Machine,
    nodes: int,
    policy: str,
    allocation: str,
    order: str,
    overrun: str,
    queues: str,
    queue_file: str,
    aging_hours: float,
    downtimes: str,
    seed: int,
    every_s: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> Simulated:
    """Return a trace as the scheduler runs it, for the settings of the question.

    Parameters
    ----------
    trace : Trace
    machine, nodes, policy, allocation, order, overrun, queues, queue_file, aging_hours, downtimes, seed
        As the controls of the question; ``"none"``, 0 and empty text stand for what is not given.
    every_s : int or None
        Interval of the machine's records. [s]
    progress : callable or None
        As for `hopperlib.network.scheduling.scheduler.simulate`.

    Raises
    ------
    InputError
        If settings do not fit together, or a job does not fit the machine or its queues.

    Examples
    --------
    >>> settings = QUESTION.read({"nodes": 4})
    >>> trace = read_job_trace(["1 0 -1 60 3 -1 -1 3 90 -1 1 1 -1 -1 -1 -1 -1 -1"])
    >>> names = ("trace", "form", "delimiter", "cores_per_node")
    >>> simulated(trace, **{name: value for name, value in settings.items() if name not in names}).schedule.runs(0)
    [(0, 3)]
    """
    chosen = None if machine == "none" else chosen_machine(machine)
    room = _room(nodes, chosen, trace)
    addresses = _addresses(chosen, order) if chosen else ()
    table = _queues(queues, queue_file)
    if aging_hours and table is None:
        raise refusal("aging_hours", aging_hours, "needs queues: without priorities there is nothing to make up for")
    if table is not None:
        trace = replace(trace, workload=put_into_queues(trace.workload, table))
    schedule = simulate(
        trace.workload,
        room,
        policy=policy,
        allocation=allocation,
        overrun=overrun,
        queues=table.queues if table else (),
        aging_s=max(1, round(3600 * aging_hours)) if aging_hours else None,
        downtimes=_downtimes(downtimes, room),
        rng=random.Random(seed),
        sample_every_s=every_s,
        progress=progress,
    )
    return Simulated(trace=trace, schedule=schedule, machine=chosen, addresses=addresses)


def _room(nodes: int, machine: Machine | None, trace: Trace) -> int:
    """Return the nodes to schedule on, as said, of the machine, or as the trace has it; refuse what has no room for a job."""
    header = trace.header.get("MaxNodes", "")
    room = machine.nodes if machine else nodes or int(header if header.isdigit() else 0)
    if machine and nodes not in (0, room):
        raise refusal("nodes", nodes, f"contradicts machine {machine.name}, which has {room}; give one of the two")
    if not room:
        raise InputError("say how many nodes there are: a number, or a machine", name="nodes")
    widest = max(trace.workload.nodes)
    if widest > room and not trace.names:
        job = trace.workload.job[trace.workload.nodes.index(widest)]
        raise InputError(
            f"job {job} asks for nodes={widest}, more than the {room} of the machine; if the trace counts processors, "
            "say how many a node has",
            name="cores_per_node",
        )
    return room


def _addresses(machine: Machine, order: str) -> tuple[NodeAddress, ...]:
    """Return the compute nodes of a machine with a torus in an order; none elsewhere."""
    if machine.network is None or machine.network.dimensions is None:
        return ()
    addresses = order_nodes(compute_nodes(machine), order)
    if len(addresses) != machine.nodes:
        raise InputError(
            f"machine {machine.name!r}: its floor holds {len(addresses)} compute nodes, its file counts {machine.nodes}",
            name="machine",
        )
    return addresses


def _queues(name: str, text: str) -> QueueTable | None:
    """Return the queues of a table that comes with the package, or of a text with one table."""
    if not text.strip():
        return None if name == "none" else queue_table(name)
    try:
        tables = read_queues(text)
    except ValueError as error:
        raise InputError(f"queues: {error}", name="queue_file") from None
    if len(tables) != 1:
        raise InputError(f"queues: one table is needed, {len(tables)} are there", name="queue_file")
    return next(iter(tables.values()))


def _downtimes(text: str, nodes: int) -> list[Downtime]:
    """Return the downtimes of a text."""
    if not text.strip():
        return []
    try:
        downtimes = read_downtimes(text.splitlines())
        for downtime in downtimes:
            if downtime.last_node is not None and downtime.last_node > nodes:
                raise refusal("last_node", downtime.last_node, f"is more than the {nodes} nodes of the machine")
    except ValueError as error:
        raise InputError(f"downtimes: {error}", name="downtimes") from None
    return downtimes


def _read(text: str, form: str, delimiter: str, cores_per_node: int) -> Trace:
    """Return the trace of a text, or of the file that a single word names."""
    if not text.strip():
        raise InputError("trace is empty: give a trace, or the path of a file", name="trace")
    settings: dict[str, Any] = {"form": form, "delimiter": delimiter, "cores_per_node": cores_per_node}
    try:
        # No line of a trace is that short: it has as many fields, or stands below a header.
        if "\n" not in text.strip() and len(text.split()) < _SWF_FIELDS:
            with opened(text.strip()) as file:
                return read_job_trace(file, **settings)
        return read_job_trace(text.splitlines(), **settings)
    except ValueError as error:
        raise InputError(str(error), name="trace") from error


def _answer(*, trace: str, form: str, delimiter: str, cores_per_node: int, **settings: Any) -> Result:
    """Answer for one trace."""
    jobs = _read(trace, form, delimiter, cores_per_node)
    span_s = max(jobs.workload.submit_time_s) - min(jobs.workload.submit_time_s) + max(jobs.workload.run_time_s)
    result = result_of(simulated(jobs, every_s=max(60, span_s // _RECORDS), **settings))
    if not is_sample(QUESTION, "trace", trace):
        return result
    made_up = Finding(code="made-up", message="This trace is made up: paste or drop your own.", level="note")
    return replace(result, findings=(*result.findings, made_up))


def result_of(outcome: Simulated) -> Result:
    """Return what came out of a simulation as an answer; its facts are what ``hopper simulate --json`` prints.

    Raises
    ------
    InputError
        If no job started.

    Examples
    --------
    >>> QUESTION.run(nodes=20).facts["jobs"]
    14
    """
    schedule = outcome.schedule
    hops = outcome.hops() if len(schedule) <= _MOST_MEASURED else None
    numbers = summarize(schedule)
    share = "-" if numbers.utilization is None else f"{100 * numbers.utilization:.1f} %"
    facts = numbers._asdict()
    return Result(
        summary=f"{numbers.jobs:,} jobs on {schedule.nodes:,} nodes over {numbers.span_s / 86400:.2f} days: {share} used; "
        f"a job waits {numbers.mean_wait_s:,.0f} s on average, {numbers.max_wait_s:,} s at most, and lies in "
        f"{numbers.mean_runs:.2f} runs of the node list.",
        findings=tuple(_findings(outcome)),
        values=(
            Value(
                "Utilization", None if numbers.utilization is None else 100 * numbers.utilization, "predicted", "%", 1
            ),
            Value("Mean wait", float(numbers.mean_wait_s), "predicted", "s", 0),
            Value("Median wait", float(numbers.median_wait_s), "predicted", "s", 0),
            Value("Longest wait", numbers.max_wait_s, "predicted", "s"),
            Value("Mean runs of a job", float(numbers.mean_runs), "predicted", decimals=2),
            Value("Jobs in one run", 100 * numbers.contiguous_fraction, "predicted", "%", 1),
        ),
        figures=(*([machine_figure(schedule)] if schedule.samples else []), pieces_figure({"jobs": schedule})),
        tables=(width_table(schedule, hops),),
        facts={"jobs": facts.pop("jobs"), "skipped": outcome.trace.skips.total, "nodes": schedule.nodes, **facts},
    )


def _findings(outcome: Simulated) -> Iterator[Finding]:
    """Yield what was left out of the trace, and what else to know of it."""
    for message in outcome.trace.skips.messages():
        yield Finding(code="left-out", message=f"{message}.", level="note")
    for message in outcome.trace.notes:
        yield Finding(code="trace", message=f"{message[:1].upper()}{message[1:]}.", level="note")
    if outcome.schedule.stopped_s is not None:
        message = f"Stopped at {outcome.schedule.stopped_s} s of simulated time; later jobs are left out."
        yield Finding(code="stopped", message=message, level="note")


QUESTION = declared(
    __name__, _answer, options={"queues": [("none", "none"), *((name, name) for name in queue_tables())]}
)
