"""Question: how much a current network slows a job's messages, by pattern, placement and routing."""

import random
from collections.abc import Iterator
from functools import cache, cached_property

from hopperkit.questions import ask
from hopperkit.questions.figures import Axis, Series, chart
from hopperkit.questions.network.fabric_drawing import drawings_of
from hopperkit.questions.result import Column, Figure, Result, Table, Value, table
from hopperkit.readers.jobs import read_job_trace
from hopperkit.traces.scheduler import simulate
from hopperlib.errors import attributed_to, refusal
from hopperlib.finding import Finding
from hopperlib.machine import Machine
from hopperlib.network.fabrics.allocation_spread import AllocationSpread, allocation_spread
from hopperlib.network.fabrics.choices import CHOICES, choose, touched
from hopperlib.network.fabrics.fabric import Fabric, Traffic
from hopperlib.network.fabrics.of_machine import fabric_of
from hopperlib.network.fabrics.patterns import PATTERNS, messages_of
from hopperlib.network.fabrics.rates import Pace, RoutedTraffic, lay, slowdown_from_traffic
from hopperlib.network.torus.placement import busy, jobs_on_busy
from hopperlib.text import count

_SEED = 1
_WAYS = {
    "minimal": "all minimal",
    "valiant": "all by a detour",
    "spread": "spread over all links upwards",
    "static": "by the destination's number",
    "dimension order": "along X, Y, Z",
}


class Exchange(ask.Setting):
    """One job in a network: its location, its traffic, and the traffic of others."""

    machine: Machine = ask.machine(default="lumi-c", having="wired")
    nodes: int = ask.whole("Nodes of the job", 256, (2, 10_000))
    pattern: str = ask.choice("Who talks to whom", "neighbors-3", PATTERNS)
    placement: str = ask.choice("Which free nodes the job gets", "first", CHOICES)
    busy_fraction: float = ask.slider(
        "Busy part of the machine",
        0.5,
        (0.0, 0.95, 0.05),
        help="Busy nodes come in blocks of eight, which are spread over the list by a fixed rule.",
    )
    others_fraction: float = ask.slider(
        "Traffic of other jobs, as a share of their maximum",
        0.0,
        (0.0, 1.0, 0.05),
        assumed="No source gives the traffic of other jobs: here all have one rate, in jobs of 128 nodes on a grid of "
        "three dimensions.",
        advanced=True,
    )
    trace: str = ask.file(
        "Job trace of the others",
        rows=4,
        max_length=64_000_000,
        help="In the Standard Workload Format, or what sacct --parsable2 printed: its jobs, simulated on this machine with "
        "backfill and the first free nodes, run at the same time as yours, instead of the busy part above.",
        advanced=True,
    )
    moment: float = ask.slider("Moment in the trace (0: first start, 1: last)", 0.5, (0.0, 1.0, 0.05), advanced=True)
    machine_file: str = ask.machine_file()

    @cached_property
    def fabric(self) -> Fabric:
        """The network."""
        return fabric_of(self.machine)

    @cached_property
    def others(self) -> list[list[int]]:
        """The nodes of each other job: of the trace at its moment, or by a fixed rule."""
        if not self.trace.strip():
            return jobs_on_busy(self.fabric.nodes, self.busy_fraction)
        nodes = min(self.fabric.nodes, self.machine.nodes)
        with attributed_to("trace"):
            jobs = read_job_trace(self.trace).workload
        jobs = jobs.of([job for job, width in enumerate(jobs.nodes) if width <= nodes])
        if not len(jobs):
            raise refusal("trace", "", f"no job of it fits the {nodes:,} nodes of the machine")
        schedule = simulate(jobs, nodes)
        first, last = min(schedule.start_s), max(schedule.start_s)
        running = schedule.running(round(first + self.moment * (last - first)))
        return [[node for run in schedule.runs(job) for node in range(*run)] for job in running]

    @property
    def free(self) -> list[int]:
        """Nodes that no job has."""
        if self.trace.strip():
            held = {node for job in self.others for node in job}
            return [node for node in range(self.fabric.nodes) if node not in held]
        return [node for node in range(self.fabric.nodes) if not busy(node, self.busy_fraction)]

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """The nodes of the job by each choice."""
        free = self.free
        return {choice: choose(self.fabric, free, self.nodes, choice, random.Random(_SEED)) for choice in CHOICES}

    @property
    def job(self) -> list[int]:
        """The nodes that it gets."""
        return self.places[self.placement]

    @cached_property
    def laid(self) -> dict[str, RoutedTraffic]:
        """The traffic on the links, by each choice."""
        messages = messages_of(self.pattern, self.nodes, random.Random(_SEED))
        others = self._others() if self.others_fraction and self.others else None
        wants = [self.fabric.node_gb_s, *([self.others_fraction * self.fabric.node_gb_s] if others else [])]

        @cache
        def laid(places: tuple[int, ...]) -> RoutedTraffic:
            return lay(
                self.fabric, [Traffic.between(self.fabric, places, messages), *([others] if others else [])], wants
            )

        return {choice: laid(tuple(places)) for choice, places in self.places.items()}

    def _others(self) -> Traffic:
        """Return the traffic of the other jobs together."""
        places: list[int] = []
        messages: dict[tuple[int, int], float] = {}
        for job in self.others:
            first = len(places)
            places += job
            neighbors = messages_of("neighbors-3", len(job), random.Random(_SEED)) or {}
            messages |= {(first + a, first + b): messages for (a, b), messages in neighbors.items()}
        return Traffic.between(self.fabric, places, messages)

    @cached_property
    def paces(self) -> dict[str, Pace]:
        """How fast the job goes, by each choice."""
        return {choice: slowdown_from_traffic(laid) for choice, laid in self.laid.items()}

    @cached_property
    def lie(self) -> AllocationSpread:
        """Its location."""
        return allocation_spread(self.fabric, self.job)


def answer(exchange: Exchange) -> Result:
    """Return the answer.

    Parameters
    ----------
    exchange : Exchange
        One job in a network: its location, its traffic, and the traffic of others.

    Returns
    -------
    Result
        The answer.

    Examples
    --------
    >>> round(answer(Exchange()).facts['slowdown_first'], 1)
    3.1
    """
    pace, lie = exchange.paces[exchange.placement], exchange.lie
    first, second, mixed = pace.slowdowns
    return Result(
        summary=_summary(exchange, pace, lie),
        findings=tuple(_findings(exchange)),
        values=tuple(_values(pace)),
        drawings=drawings_of(exchange.fabric, exchange.job, exchange.laid[exchange.placement], pace.share),
        figures=(_figure(exchange),),
        tables=(_choices(exchange),),
        facts={
            "slowdown_first": first,
            "slowdown_second": second,
            "slowdown_mixed": mixed,
            "detour_share": pace.share,
            "exchange_gb_s": pace.mixed_gb_s,
            "others": len(exchange.others),
            "groups": lie.groups,
            "switches": lie.switches,
            "inside_group": lie.inside_group,
            "bisection_gb_s": lie.bisection_gb_s,
            "slowdowns": {choice: each.slowdowns[2] for choice, each in exchange.paces.items()},
        },
    )


def _times(pace: Pace) -> str:
    """Return the range of slowdowns in words."""
    low, high = f"{min(pace.slowdowns):.1f}", f"{max(pace.slowdowns):.1f}"
    if low != high:
        return f"{low} to {high} times as long as with nothing in the way, depending on how they are routed"
    return f"{'' if low == '1.0' else f'{low} times '}as long as with nothing in the way, however they are routed"


def _summary(exchange: Exchange, pace: Pace, lie: AllocationSpread) -> str:
    where = f"{count(exchange.nodes, 'node')} of {exchange.machine.title} in {count(lie.groups, 'group')}"
    return f"{where}, {PATTERNS[exchange.pattern]}: messages take {_times(pace)}."


def _findings(exchange: Exchange) -> Iterator[Finding]:
    """Yield the result of another placement: it is simulated, with the same links and traffic."""
    slow = {choice: max(pace.slowdowns) for choice, pace in exchange.paces.items()}
    best = min(slow, key=lambda choice: slow[choice])
    mixed = {choice: pace.slowdowns[2] for choice, pace in exchange.paces.items()}
    here = exchange.placement
    loud = exchange.others_fraction and exchange.others
    others = "The other jobs send as set." if loud else "That is while no other job sends."
    if mixed[best] < 0.95 * mixed[here] and slow[best] < 0.95 * slow[here]:
        yield Finding(
            code="placed-better",
            message=f"Among the same free nodes, {CHOICES[best]}: {_times(exchange.paces[best])}. {others}",
            level="advice",
        )


def _values(pace: Pace) -> Iterator[Value]:
    low, high = min(pace.slowdowns), max(pace.slowdowns)
    note = "from the best mixture of both ways of routing to the worse of them"
    yield Value("Slowdown of messages", pace.slowdowns[2], "predicted", "", 2, low, high, note)
    yield Value("Exchange rate of a node", pace.mixed_gb_s, "predicted", "GB/s", 2, note="with the best mixture")


def _figure(exchange: Exchange) -> Figure:
    """Return the slowdown with each share of detours."""
    laid = exchange.laid[exchange.placement]
    shares = [step / 10 for step in range(11)]
    slow = [exchange.paces[exchange.placement].alone_gb_s / laid.rates(share)[0] for share in shares]
    first, second = (_WAYS[way] for way in exchange.fabric.routings)
    return chart(
        title="Slowdown and routing",
        alt=f"Slowdown of the job's messages: {slow[0]:.2f} {first}, {slow[-1]:.2f} {second}, lowest {min(slow):.2f}.",
        x=Axis(title=f"Share of messages {second}; the others {first}", unit="%"),
        y=Axis(title="Slowdown of messages", low=0),
        series=[Series(name="slowdown", x=[100 * share for share in shares], y=slow)],
    )


def _choices(exchange: Exchange) -> Table:
    """Return the result of each choice of nodes."""
    first, second = (_WAYS[way] for way in exchange.fabric.routings)
    touches = {choice: touched(exchange.fabric, places) for choice, places in exchange.places.items()}
    return table(
        "The same job on other free nodes",
        list(touches),
        {
            "Nodes chosen": lambda choice: CHOICES[choice],
            "Groups": lambda choice: len(touches[choice][0]),
            "Switches": lambda choice: len(touches[choice][1]),
            Column(f"Slowdown, {first}", decimals=2): lambda choice: exchange.paces[choice].slowdowns[0],
            Column(f"Slowdown, {second}", decimals=2): lambda choice: exchange.paces[choice].slowdowns[1],
            Column("Slowdown, best mixture", decimals=2): lambda choice: exchange.paces[choice].slowdowns[2],
        },
        marked=(list(touches).index(exchange.placement),),
        marked_label="chosen",
    )


QUESTION = ask.declared(
    Exchange,
    answer,
    title="What does the network cost my job?",
    heavy=True,
    examples={
        "Everybody with everybody": {"pattern": "all-to-all"},
        "Scattered nodes": {"placement": "random", "pattern": "shift"},
        "A job in one group": {"nodes": 128, "placement": "group", "pattern": "shift"},
        "A whole large machine": {"machine": "frontier", "nodes": 9408, "busy_fraction": 0.0},
    },
)
