"""Question: a machine from a reboot on, its occupancy, and where a probe job lands."""

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

from hopperkit.questions import ask
from hopperkit.questions.network.recording import Recorder, places_of, use_after
from hopperkit.questions.network.traces.figures import occupancy_figure
from hopperkit.questions.result import Figure, Result, Value
from hopperlib.machine import Machine
from hopperlib.network.torus.allocation import PrefixCounts
from hopperlib.network.torus.distances import Torus
from hopperlib.network.torus.orders import ORDER_TITLES
from hopperlib.scheduling.aging import Fragmentation, aged_machine, moments
from hopperlib.scheduling.schedule import Schedule, mean_wait_h
from hopperlib.scheduling.workload import Workload
from hopperlib.text import count, share

_DAY = 86_400
# The wide jobs of the source: 16,384 tasks, 24 per node, and more.
_WIDE = 683
# Instants of the probe, of which every other one is a row of the table.
_INSTANTS = 24
# Stretches of the node list on the map, and of time.
_CELLS = (57, 84)


# How far the last histories are known, by their settings: orders and probes change nothing in them. [s]
_SCHEDULES: dict[tuple[Any, ...], tuple[Schedule, int]] = {}
_MAX_KEPT, _TO_THE_END = 8, 1 << 62


@lru_cache(maxsize=8)
def _counts(machine: Machine, order: str) -> PrefixCounts:
    """Return the running sums of a machine's nodes in an order, Y counted double."""
    return PrefixCounts([node.coordinates for node in places_of(machine, order)], Torus.of(machine, weights=(1, 2, 1)))


# Results of a history are kept as long as the history: a move there and back recomputes nothing.
@lru_cache(maxsize=_MAX_KEPT)
def _probed(schedule: Schedule, days: int, nodes: int, floor: Machine, order: str, **placing: Any) -> Fragmentation:
    """Return the results of a probe from the reboot to the last day of a whole history."""
    instants = [round(step * days * _DAY / _INSTANTS) for step in range(_INSTANTS + 1)]
    return Fragmentation(moments(schedule, instants, nodes, _counts(floor, order).mean_hop_distance, **placing))


@lru_cache(maxsize=_MAX_KEPT)
def _used(schedule: Schedule, days: int) -> dict[str, Any]:
    """Return the facts of a whole history that no probe changes."""
    # The machine fills during the first days: its typical state comes later.
    from_s = min(3, days // 2) * _DAY
    return {
        "utilization": schedule.utilization(from_s, days * _DAY),
        "mean_wait_h": mean_wait_h(schedule, from_s=from_s) or 0.0,
        "wide_wait_h": mean_wait_h(schedule, from_s=from_s, from_nodes=_WIDE),
        # Compared between browser and Python: the same seed gives the same bytes.
        "schedule_sha256": schedule.digest(),
    }


class History(ask.Setting):
    """One history of the machine."""

    days: int = ask.slider("Days since the reboot", 14, (2, 28, 1), unit="d")
    load: float = ask.slider(
        "Offered load",
        0.95,
        (0.5, 1.0, 0.05),
        help="Node-hours that all jobs request, divided by those of the machine. At 1 the queue is hardly ever empty.",
        assumed="No source gives the requested amount. The sources say that the queue was full.",
    )
    mix: str = ask.choice(
        "Workload", "production", {"production": "charged production, 2012", "early": "early users, 2011"}
    )
    policy: str = ask.choice("Backfill", "easy", {"easy": "EASY backfill", "fcfs": "none: first come, first served"})
    allocation: str = ask.choice(
        "Allocation",
        "first",
        {
            "first": "first free nodes of the list",
            "best": "smallest hole that holds the job",
            "contiguous": "one run or wait",
        },
    )
    order: str = ask.choice(
        "Order of the node list", "nid", ORDER_TITLES, assumed="The definitions of xyz and xyz-by2 are not printed."
    )
    probe_nodes: int = ask.whole("Nodes of the probe job", 342, (1, 4096))
    floor: Machine = ask.machine(
        options=(("hopper", "Hopper"), ("titan", "Titan")),
        help="Titan has three times the nodes and three times the jobs, so an answer takes three times as long.",
        advanced=True,
    )
    machine_file: str = ask.machine_file()
    seed: int = ask.whole("Seed", 1, (1, 9999), help="Another seed gives another random set of jobs.", advanced=True)

    def check(self) -> None:
        """Reject a machine without a floor."""
        places_of(self.floor)

    @property
    def settings(self) -> dict[str, Any]:
        """Parameters of the history."""
        drawn = {"mix": self.mix, "days": self.days, "load": self.load, "policy": self.policy}
        return drawn | self.placing | {"nodes": self.floor.nodes}

    @property
    def placing(self) -> dict[str, Any]:
        """How jobs, and the probe, get their nodes."""
        return {"allocation": self.allocation, "seed": self.seed}

    @property
    def is_known(self) -> bool:
        """Whether the whole history is available."""
        return _SCHEDULES.get(tuple(self.settings.values()), (None, 0))[1] == _TO_THE_END

    def schedule(self, until_s: int = _TO_THE_END) -> Schedule:
        """Return the history, at least up to some time. [s]"""
        key = tuple(self.settings.values())
        schedule, known_s = _SCHEDULES.get(key) or (aged_machine(until_s=0, **self.settings), 0)
        if until_s > known_s:
            schedule.resume(until_s)
            known_s = until_s
        _SCHEDULES[key] = schedule, known_s
        # Python lives through a whole visit of pages, and a history has tens of thousands of jobs.
        for old in list(_SCHEDULES)[:-_MAX_KEPT]:
            del _SCHEDULES[old]
        return schedule

    def fragmentation(self, schedule: Schedule) -> Fragmentation:
        """Return the probe's results from the reboot to the last day."""
        return _probed(schedule, self.days, self.probe_nodes, self.floor, self.order, **self.placing)

    def watched(self, schedule: Schedule, days: int) -> Recorder:
        """Return the first days to watch."""
        return Recorder(self.floor, schedule, days * _DAY, self.order)


def partial_results(history: History) -> Iterator[Result]:
    """Yield the map at the reboot, after a day, and after some more, of a history that is not known yet.

    Parameters
    ----------
    history : History
        One history of the machine.

    Yields
    ------
    Result
        The answer from the data so far.

    Examples
    --------
    >>> next(partial_results(History(seed=2_011))).summary
    'Day 0 of 14 …'
    """
    if history.is_known:
        return
    empty = Schedule(Workload(), history.floor.nodes)
    yield Result(summary=f"Day 0 of {history.days} …", figures=(_map(empty, 0, history.days, history.order),))
    for days in sorted({1, max(1, history.days // 4), max(1, history.days // 2)}):
        schedule = history.schedule(days * _DAY)
        yield Result(
            summary=use_after(schedule, days, history.days),
            figures=(_map(schedule, days, history.days, history.order),),
            watched=partial(history.watched, schedule, days),
        )


def answer(history: History) -> Result:
    """Return the answer.

    Parameters
    ----------
    history : History
        One history of the machine.

    Returns
    -------
    Result
        The answer.

    Examples
    --------
    >>> round(answer(History(days=2)).facts['utilization'], 2)
    0.82
    """
    schedule = history.schedule()
    found = history.fragmentation(schedule)
    facts = _facts(history, schedule, found)
    return Result(
        summary=_summary(history, facts, found),
        values=tuple(_values(facts, found)),
        figures=(_whole_map(schedule, history.days, history.order),),
        facts=facts,
        watched=partial(history.watched, schedule, history.days),
    )


def _facts(history: History, schedule: Schedule, found: Fragmentation) -> dict[str, Any]:
    return _used(schedule, history.days) | {
        "hops_after_reboot": found.moments[0].probe_hops,
        "hops_later": found.mean_hops,
        "hops_step": found.step_hops,
        "max_runs": found.max_probe_runs,
        "max_free_runs": found.max_free_runs,
    }


def _summary(history: History, facts: dict[str, Any], found: Fragmentation) -> str:
    return (
        f"After the reboot a job of {count(history.probe_nodes, 'node')} is {facts['hops_after_reboot']:.1f} hops apart "
        f"in {count(found.moments[0].probe_runs, 'run')}; later {found.mean_hops:.1f} hops on average, in up to "
        f"{count(found.max_probe_runs, 'run')}. {share(facts['utilization'])} of the machine is used."
    )


def _values(facts: dict[str, Any], found: Fragmentation) -> Iterator[Value]:
    yield Value("Mean queue wait", facts["mean_wait_h"], "predicted", "h", 2)
    if facts["wide_wait_h"] is not None:
        yield Value(f"Mean queue wait from {_WIDE} nodes on", facts["wide_wait_h"], "predicted", "h", 1)
    low, high = min(found.late_hops), max(found.late_hops)
    label = "Mean distance of the probe, Y counted double"
    yield Value(label, found.mean_hops, "predicted", "hops", 2, low, high)


def _map(schedule: Schedule, days: int, of: int, order: str) -> Figure:
    """Return which nodes were busy in the first days of a history, with room for the others."""
    cells = (_CELLS[0], max(1, round(_CELLS[1] * days / of)))
    # Of the first hundredth of a day, where nothing is known yet.
    span_s = (0, days * _DAY or 864)
    figure = occupancy_figure(schedule, span_s, cells=cells, since="the reboot", node_list=f"node list ({order})")
    figure.layout["xaxis"]["range"] = [0, of]
    return figure


@lru_cache(maxsize=_MAX_KEPT)
def _whole_map(schedule: Schedule, days: int, order: str) -> Figure:
    """Return the map of a whole history."""
    return _map(schedule, days, days, order)


QUESTION = ask.declared(
    History,
    answer,
    title="How does a machine fragment?",
    partial_results=partial_results,
    heavy=True,
    examples={
        "First free nodes": {"allocation": "first"},
        "One run or wait": {"allocation": "contiguous"},
        "Early users": {"mix": "early"},
        "A quiet machine": {"load": 0.6},
    },
)
