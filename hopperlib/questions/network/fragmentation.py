"""Question: a machine from a reboot on, its occupancy, and where a probe job lands."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from statistics import fmean

from hopperlib.machine import Machine
from hopperlib.network.scheduling.aging import aged_machine, moments
from hopperlib.network.scheduling.schedule import mean_wait_h
from hopperlib.network.torus.allocation import PrefixCounts
from hopperlib.network.torus.distances import Torus
from hopperlib.network.torus.orders import compute_nodes, order_nodes
from hopperlib.questions.network.trace_figures import occupancy_figure
from hopperlib.questions.question import Asked, declared
from hopperlib.questions.result import Result

__all__ = ["QUESTION"]

_DAY = 86_400
_NODES = 6384
# The wide jobs of the source: 16,384 tasks, 24 a node, and more.
_WIDE = 683
_INSTANTS = 24


# Kept, since orders and probes change nothing in it.
_schedule = cache(aged_machine)


@cache
def _counts(order: str) -> PrefixCounts:
    """Return the running sums of Hopper's nodes in an order, Y counted double."""
    machine = Machine.load("hopper")
    places = [node.coordinates for node in order_nodes(compute_nodes(machine), order)]
    return PrefixCounts(places, Torus.of(machine, weights=(1, 2, 1)))


class _History(Asked):
    """One history of the machine."""

    def result(self) -> Result:
        """Return the answer."""
        names = ("days", "load", "policy", "allocation", "seed")
        schedule = _schedule(self.mix, nodes=_NODES, **{name: getattr(self, name) for name in names})
        end_s = self.days * _DAY
        instants = [round(step * end_s / _INSTANTS) for step in range(_INSTANTS + 1)]
        history = moments(
            schedule, instants, self.probe_nodes, _counts(self.order), allocation=self.allocation, seed=self.seed
        )
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
            most_holes=max(holes),
            runs=runs,
            most_runs=max(runs),
            hops=hops,
            later=fmean(late),
            least_hops=min(late),
            most_hops=max(late),
            hops_step=fmean(abs(following - before) for before, following in pairwise(late)),
            moments=[(day, *moment[1:]) for day, moment in zip(time_d, history, strict=True)],
            # Compared between browser and Python: the same seed gives the same bytes.
            digest=schedule.digest(),
        )
        occupied = occupancy_figure(
            schedule, (0, end_s), cells=(57, 84), since="the reboot", node_list=f"node list ({self.order})"
        )
        return said.result(figures=(occupied, said.chart("distance"), said.chart("pieces")))


QUESTION = declared(__name__, _History.answer)
