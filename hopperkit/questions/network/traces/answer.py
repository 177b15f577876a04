"""Result of a simulated trace, as an answer."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from hopperkit.questions.network.traces.figures import group_table, machine_figure, width_table
from hopperkit.questions.network.traces.use import use_result
from hopperkit.questions.result import Result, Value
from hopperkit.readers.jobs.trace import Note, Trace
from hopperkit.traces.cluster import Cluster
from hopperkit.traces.observed import Group, Waits, by_group, differences
from hopperlib.finding import Finding, Level
from hopperlib.machine import Machine
from hopperlib.network.fabrics.allocation_spread import AllocationSpread, allocation_spread, group_sizes_of
from hopperlib.network.fabrics.fabric import Fabric
from hopperlib.network.torus.allocation import PrefixCounts
from hopperlib.network.torus.distances import Torus
from hopperlib.network.torus.wiring import NodeAddress
from hopperlib.scheduling.schedule import Schedule, Summary, summarize
from hopperlib.text import capital, count

#: Codes of notes that change the answer, and so are advice.
ADVICE_CODES = ("too-wide", "partitions-pooled", "capacity-estimated", "guessed-limit", "never-started")
# Distances of more jobs would take as long as the simulation.
_MAX_MEASURED = 20_000


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
    fabric : Fabric or None
        The dragonfly or fat tree whose first nodes are those of the list.
    cluster : Cluster or None
        Partitions and nodes that are shared; None for whole nodes of one pool.
    notes : tuple of Note
        Guesses and omissions during reading, in addition to the trace's notes.
    shown : str
        Name of the policy, if the log shows another than the default.
    """

    trace: Trace
    schedule: Schedule
    machine: Machine | None = None
    addresses: tuple[NodeAddress, ...] = ()
    fabric: Fabric | None = None
    cluster: Cluster | None = None
    notes: tuple[Note, ...] = ()
    shown: str = ""

    def hops(self) -> list[float] | None:
        """Return the mean distance of each job's nodes, 0 for one that never started; None without a torus. [hops]"""
        if self.machine is None or not self.addresses:
            return None
        counts = PrefixCounts([node.coordinates for node in self.addresses], Torus.of(self.machine))
        return [counts.mean_hop_distance(self.schedule.runs(index)) for index in range(len(self.schedule))]

    def spread(self, *, rates: bool = False) -> dict[int, AllocationSpread]:
        """Return the spread of each job that started, with its bisection on request; empty without a dragonfly or fat
        tree.
        """
        fabric, schedule = self.fabric, self.schedule
        if fabric is None:
            return {}
        sizes = group_sizes_of(fabric)
        places = {job: [node for run in schedule.runs(job) for node in range(*run)] for job in schedule.finished()}
        return {job: allocation_spread(fabric, nodes, rates=rates, group_sizes=sizes) for job, nodes in places.items()}

    @property
    def account(self) -> list[Note]:
        """All that was left out, repaired or guessed."""
        return [*self.trace.account(), *self.notes]


def result_of(outcome: Simulated) -> Result:
    """Return the result of a simulation as an answer; its facts are the output of ``hopper simulate --json``.

    Parameters
    ----------
    outcome : Simulated

    Raises
    ------
    InputError
        If no job started.

    Examples
    --------
    >>> from hopperkit.readers.jobs import read_job_trace
    >>> from hopperkit.traces.scheduler import simulate
    >>> trace = read_job_trace(["1 0 -1 60 3 -1 -1 3 90 -1 1 1 -1 -1 -1 -1 -1 -1"])
    >>> result_of(Simulated(trace=trace, schedule=simulate(trace.workload, 4, sample_every_s=60))).facts["utilization"]
    0.75
    """
    schedule, cluster = outcome.schedule, outcome.cluster
    if not outcome.trace.has_waits:
        return use_result(outcome.trace, schedule.nodes, tuple(_notes(outcome.account)))
    numbers, groups = summarize(schedule), by_group(schedule, cluster)
    measured = len(schedule) <= _MAX_MEASURED
    hops, spread = (outcome.hops(), outcome.spread()) if measured else (None, {})
    places = _places(list(spread.values())) if spread else {}
    return Result(
        summary=_summary(numbers, schedule.nodes, groups[-1].observed, places, outcome.shown),
        findings=(
            *differences(schedule, groups, cluster),
            *_notes(outcome.account),
            *_outages(schedule),
        ),
        values=tuple(_values(numbers, places)),
        figures=(machine_figure(schedule),),
        tables=(
            group_table(groups),
            width_table(schedule, hops, spread),
        ),
        facts=_facts(outcome, numbers, groups) | places,
    )


def _facts(outcome: Simulated, numbers: Summary, groups: Sequence[Group]) -> dict[str, Any]:
    return {
        "jobs": numbers.jobs,
        "skipped": outcome.trace.skips.total,
        "nodes": outcome.schedule.nodes,
        **numbers._asdict(),
        "groups": [group.to_dict() for group in groups],
        "policy_shown": outcome.shown,
        "notes": [asdict(note) for note in outcome.account],
        "capacity": next(
            (note.message for note in outcome.account if note.code == "capacity-estimated"),
            outcome.cluster.origin if outcome.cluster else "given",
        ),
    }


def _places(spread: Sequence[AllocationSpread]) -> dict[str, float]:
    """Return the jobs' average location in the network."""
    names = {"mean_groups": "groups", "mean_fewest_groups": "fewest_groups", "mean_switches": "switches"}
    means = {name: fmean(getattr(each, of) for each in spread) for name, of in names.items()}
    return means | {"mean_inside_group": fmean(each.inside_group for each in spread)}


def _summary(numbers: Summary, nodes: int, observed: Waits | None, places: dict[str, float], shown: str) -> str:
    used = "-" if numbers.utilization is None else f"{100 * numbers.utilization:.1f} %"
    seen = f" (observed: {observed.wait_mean_s:,.0f} s)" if observed else ""
    where = f"its nodes form {float(numbers.mean_runs):.2f} stretches of the node list"
    if places:
        groups, fewest = places["mean_groups"], places["mean_fewest_groups"]
        where = f"it is spread over {groups:.2f} groups of the network ({fewest:.2f} would hold it)"
    return (
        f"{count(numbers.jobs, 'job')} on {count(nodes, 'node')} over {numbers.span_s / 86_400:.2f} days: {used} used; "
        f"a job waits {float(numbers.mean_wait_s):,.0f} s on average{seen}, {numbers.max_wait_s:,} s at most; "
        f"{where}.{f' It is simulated with {shown}, as the log shows.' if shown else ''}"
    )


def _notes(notes: Sequence[Note]) -> Iterator[Finding]:
    """Yield omissions from the trace, and other notes."""
    for note in notes:
        level: Level = "advice" if note.code in ADVICE_CODES else "note"
        yield Finding(note.code, f"{capital(note.message)}.", level, {"count": note.count})


def _outages(schedule: Schedule) -> Iterator[Finding]:
    """Yield what outages cut short."""
    if lost := schedule.lost:
        work_s = sum(end - start for _, start, end in lost)
        message = f"Ended by outages and restarted: {count(len(lost), 'run')}, {work_s:,} s of work lost."
        yield Finding("requeued-after-outage", message, "note")


def _values(numbers: Summary, places: dict[str, float]) -> Iterator[Value]:
    if numbers.utilization is not None:
        yield Value("Utilization", 100 * numbers.utilization, "predicted", "%", 1)
    yield Value("Mean wait", float(numbers.mean_wait_s), "predicted", "s", 0)
    if places:
        yield Value("Mean groups of a job", places["mean_groups"], "predicted", decimals=2)
    else:
        yield Value("Mean runs of a job", float(numbers.mean_runs), "predicted", decimals=2)
