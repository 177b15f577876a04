"""Question: a machine from a reboot on, its occupancy, and where a probe job lands."""

from collections.abc import Iterator
from functools import lru_cache, partial
from itertools import pairwise
from statistics import fmean
from typing import Any

from hopperlib.machine import Machine
from hopperlib.network.scheduling.aging import aged_machine, moments
from hopperlib.network.scheduling.schedule import Schedule, mean_wait_h
from hopperlib.network.scheduling.workload import Workload
from hopperlib.network.torus.allocation import PrefixCounts
from hopperlib.network.torus.distances import Torus
from hopperlib.questions.network.recording import Recorder, places_of
from hopperlib.questions.network.trace_figures import occupancy_figure
from hopperlib.questions.question import Asked, declared
from hopperlib.questions.result import Figure, Result

_DAY = 86_400
# The wide jobs of the source: 16,384 tasks, 24 a node, and more.
_WIDE = 683
_INSTANTS = 24
# Stretches of the node list on the map, and of time.
_CELLS = (57, 84)


# How far the last histories are known, by their settings: orders and probes change nothing in them. [s]
_SCHEDULES: dict[tuple[Any, ...], tuple[Schedule, int]] = {}
_MOST_KEPT, _TO_THE_END = 8, 1 << 62


@lru_cache(maxsize=8)
def _counts(machine: Machine, order: str) -> PrefixCounts:
    """Return the running sums of a machine's nodes in an order, Y counted double."""
    return PrefixCounts([node.coordinates for node in places_of(machine, order)], Torus.of(machine, weights=(1, 2, 1)))


class _History(Asked):
    """One history of the machine."""

    def check(self) -> None:
        """Refuse a machine without a floor."""
        places_of(self.on)

    @property
    def settings(self) -> dict[str, Any]:
        """What makes the history."""
        named = {name: getattr(self, name) for name in ("mix", "days", "load", "policy", "allocation", "seed")}
        return named | {"nodes": self.on.nodes}

    @property
    def how(self) -> dict[str, Any]:
        """How the probe gets its nodes."""
        return {"allocation": self.allocation, "seed": self.seed}

    def schedule(self, until_s: int = _TO_THE_END) -> Schedule:
        """Return the history, at least up to some time. [s]"""
        key = tuple(self.settings.values())
        schedule, known_s = _SCHEDULES.get(key) or (aged_machine(until_s=0, **self.settings), 0)
        if until_s > known_s:
            schedule.go_on(until_s)
            known_s = until_s
        _SCHEDULES[key] = schedule, known_s
        # Python lives through a whole visit of pages, and a history has tens of thousands of jobs.
        for old in list(_SCHEDULES)[:-_MOST_KEPT]:
            del _SCHEDULES[old]
        return schedule

    def map(self, schedule: Schedule, days: int) -> Figure:
        """Return which nodes were busy in the first days, with room for the others."""
        since, node_list = "the reboot", f"node list ({self.order})"
        cells = (_CELLS[0], max(1, round(_CELLS[1] * days / self.days)))
        figure = occupancy_figure(schedule, (0, days * _DAY or 864), cells=cells, since=since, node_list=node_list)
        figure.layout["xaxis"]["range"] = [0, self.days]
        return figure

    def partials(self) -> Iterator[Result]:
        """Yield the map at the reboot, after a day, and after some more, of a history that is not known yet."""
        if _SCHEDULES.get(tuple(self.settings.values()), (None, 0))[1] == _TO_THE_END:
            return
        empty = self.map(Schedule(Workload(), self.on.nodes), 0)
        yield Result(summary=self.said(so_far=0).text("so_far"), figures=(empty,))
        for days in sorted({1, max(1, self.days // 4), max(1, self.days // 2)}):
            schedule, summary = self.schedule(days * _DAY), self.said(so_far=days).text("so_far")
            watched = partial(self.watched, schedule, days)
            yield Result(summary=summary, figures=(self.map(schedule, days),), watched=watched)

    def watched(self, schedule: Schedule, days: int) -> Recorder:
        """Return the first days to watch, with the probe."""
        return Recorder(self.on, schedule, days * _DAY, self.order, probe_nodes=self.probe_nodes, **self.how)

    def result(self) -> Result:
        """Return the answer."""
        schedule, end_s = self.schedule(), self.days * _DAY
        instants = [round(step * end_s / _INSTANTS) for step in range(_INSTANTS + 1)]
        history = moments(schedule, instants, self.probe_nodes, _counts(self.on, self.order), **self.how)
        # The first days fill the machine: what is typical of it comes later.
        from_s = min(3, self.days // 2) * _DAY
        _, holes, _, runs, hops = (list(column) for column in zip(*history, strict=True))
        time_d = [round(instant / _DAY, 2) for instant in instants]
        late = hops[len(history) // 4 :]
        said = self.said(
            simulated=len(schedule),
            used=schedule.utilization(from_s, end_s),
            mean_wait_h=mean_wait_h(schedule, from_s=from_s) or 0.0,
            wide=_WIDE,
            wide_wait_h=mean_wait_h(schedule, from_s=from_s, from_nodes=_WIDE),
            time_d=time_d,
            holes=holes,
            runs=runs,
            hops=hops,
            late=late,
            hops_step=fmean(abs(following - before) for before, following in pairwise(late)),
            moments=[(day, *moment[1:]) for day, moment in zip(time_d, history, strict=True)],
            # Compared between browser and Python: the same seed gives the same bytes.
            digest=schedule.digest(),
        )
        return said.result(
            figures=(self.map(schedule, self.days), said.chart("distance"), said.chart("pieces")),
            watched=partial(self.watched, schedule, self.days),
        )


QUESTION = declared(__name__, _History.answer, so_far=_History.so_far)
