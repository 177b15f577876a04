"""What is shown of a machine at work: who holds which nodes from when to when, where a probe would lie, how full the links are.

Positions are those of a node list.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any

from hopperlib.machine import Machine
from hopperlib.network.runtime.placed_jobs import Histories
from hopperlib.network.scheduling.aging import probe
from hopperlib.network.scheduling.schedule import Schedule
from hopperlib.network.torus.distances import Coordinates

#: Number of a job (below 0 of what is kept from jobs), start and end [s], runs, limit and wait [s].
Holding = tuple[int, int, int, Sequence[tuple[int, int]], int, int]
# How much is recorded at once, and how often the probe asks: more takes a browser long. [s]
_PART_S, _PROBED_EVERY_S = 2 * 86_400, 2 * 3600
# What the jobs send is drawn with this seed, whatever that of the schedule.
_HABITS_SEED = 1


def holdings(schedule: Schedule, from_s: int, until_s: int) -> Iterator[Holding]:
    """Yield the jobs that run in a part of a schedule [s], and what was kept from jobs in it.

    Examples
    --------
    >>> from hopperlib.network.scheduling.downtimes import Downtime
    >>> from hopperlib.network.scheduling.scheduler import simulate
    >>> from hopperlib.network.scheduling.workload import Job, Workload
    >>> gone = [Downtime(start_s=30, end_s=90, first_node=2, last_node=5, kind="orphan")]
    >>> list(holdings(simulate(Workload([Job(1, 0, 3, 60, 60)]), 8, downtimes=gone), 0, 99))
    [(1, 0, 60, [(0, 3)], 60, 0), (-1, 30, 90, [(3, 5)], 0, 0)]
    """
    workload, start_s, end_s = schedule.workload, schedule.start_s, schedule.end_s
    for job in schedule.finished():
        if start_s[job] < until_s and end_s[job] > from_s:
            asked = workload.requested_time_s[job], schedule.wait_time_s(job) or 0
            yield workload.job[job], start_s[job], end_s[job], schedule.runs(job), *asked
    kept = zip(schedule.unavailable, schedule.unavailable_runs, strict=True)
    for number, ((start, end, nodes), runs) in enumerate(kept, start=1):
        if nodes and start < until_s and end > from_s:
            yield -number, start, end, runs, 0, 0


class Recorder:
    """A schedule of Hopper's nodes to watch, two days at a time.

    Parameters
    ----------
    schedule : Schedule
    end_s : int
        How far it is known. [s]
    order : str
        Of the node list, as in `hopperlib.network.torus.orders`.
    traffic : str
        What the jobs send: none, or one of `hopperlib.network.runtime.sharing.MIXES`.
    probe_nodes : int
        Width of a probe that asks again and again; 0 for none.
    allocation, seed
        As for `hopperlib.network.scheduling.aging.probe`.
    **more
        What a page is told besides: ``follow``, numbers of jobs to step through, and ``milc``.

    Examples
    --------
    >>> from hopperlib.network.scheduling.aging import aged_machine
    >>> recorder = Recorder(aged_machine("production", nodes=6384, days=3, load=0.9), 3 * 86400, probe_nodes=342)
    >>> shown = recorder.recording(86400)
    >>> shown["from_s"], shown["until_s"], shown["end_s"], len(shown["asked"])
    (86400, 259200, 259200, 25)
    >>> set(recorder.links(0)), len(recorder.links(0))
    ({'0'}, 9792)
    """

    def __init__(
        self,
        schedule: Schedule,
        end_s: int,
        *,
        order: str = "nid",
        traffic: str = "assumed",
        probe_nodes: int = 0,
        allocation: str = "first",
        seed: int = 1,
        **more: Any,
    ) -> None:
        self._schedule, self._end_s, self._order, self._traffic = schedule, end_s, order, traffic
        self._probe_nodes, self._more = probe_nodes, more
        self._where: dict[str, Any] = {"allocation": allocation, "seed": seed}

    def recording(self, from_s: int) -> dict[str, Any]:
        """Return two days from an instant [s] on, or the last two: jobs in the order of their starts; instant, start and runs of the probe."""
        first_s = max(0, min(from_s, self._end_s - _PART_S))
        until_s = min(self._end_s, first_s + _PART_S)
        instants_s = range(first_s, until_s + 1, _PROBED_EVERY_S) if self._probe_nodes else ()
        return self._more | {
            "order": self._order,
            "from_s": first_s,
            "until_s": until_s,
            "end_s": self._end_s,
            "held": sorted(holdings(self._schedule, first_s, until_s), key=lambda holding: holding[1]),
            "probe_nodes": self._probe_nodes,
            "asked": [(at_s, *probe(self._schedule, at_s, self._probe_nodes, **self._where)) for at_s in instants_s],
        }

    def links(self, time_s: int) -> str:
        """Return how full the links are at an instant [s], as `link_digits` does; nothing for no traffic."""
        return next(self.links_at([time_s]), "")

    def links_at(self, instants_s: Sequence[int]) -> Iterator[str]:
        """Yield the same for instants that rise [s]: many together take less than one by one."""
        shares = histories().link_shares(self._schedule, _HABITS_SEED, self._order, instants_s, self._traffic)
        return (link_digits(at, histories().links.dimensions) for at in (shares if self._traffic != "none" else ()))


@cache
def histories() -> Histories:
    """Return Hopper's histories, the same for all who ask.

    Examples
    --------
    >>> histories().cores
    24
    """
    return Histories(Machine.load("hopper"))


def link_digits(shares: Mapping[tuple[int, Coordinates], float], dimensions: Coordinates) -> str:
    """Return how many tenths of its bandwidth each link has in use, one digit: axis by axis, router by router.

    Examples
    --------
    >>> link_digits({(2, (0, 0, 0)): 0.57, (0, (0, 0, 1)): 1.0}, (1, 1, 2))
    '090050'
    """
    x_size, y_size, z_size = dimensions
    routers = list(product(range(x_size), range(y_size), range(z_size)))
    return "".join(str(min(9, int(10 * shares.get((axis, router), 0)))) for axis in range(3) for router in routers)
