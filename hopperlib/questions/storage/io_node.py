"""Question: what a few nodes can write, on two machines, against the number of tasks."""

from hopperlib.machine import Machine
from hopperlib.questions.machine_choice import badge_of, chosen_machine
from hopperlib.questions.question import Asked, declared
from hopperlib.questions.result import Result
from hopperlib.storage.lustre.client import (
    client_findings,
    file_system_of,
    level_from,
    nodes_in_use,
    parting_point,
    write_curve,
)


class _Side:
    """One machine: the ceiling of a node and where it is from, rates and nodes in use by tasks. Zeros: not given."""

    def __init__(self, machine: str | Machine, tasks: int, task_rate_gb_s: float, ceiling_mb_s: float, nodes: int = 0):
        chosen = chosen_machine(machine)
        system = file_system_of(chosen)
        stated = badge_of(chosen, f"file_system.{system.name}.node_write_ceiling_gb_s")
        self.title = chosen.title
        self.badge, self.note = ("assumed", "as set above") if ceiling_mb_s else stated
        self.ceiling_gb_s = ceiling_mb_s / 1000 or system.node_write_ceiling_gb_s
        self.curve = write_curve(
            chosen, tasks, task_rate_gb_s=task_rate_gb_s, node_ceiling_gb_s=self.ceiling_gb_s, nodes=nodes or None
        )
        # Tasks fill one node after the other, if nobody says on how many they are.
        self.nodes = [min(count, nodes) if nodes else nodes_in_use(chosen, count) for count in range(1, tasks + 1)]


class _Job(Asked):
    """The same tasks on both machines."""

    def result(self) -> Result:
        """Return the answer."""
        rate_gb_s, total_gb = self.task_rate_mb_s / 1000, self.tasks * self.size_per_task_gb
        first = _Side(
            chosen_machine(self.first, self.machine_file), self.tasks, rate_gb_s, self.first_ceiling_mb_s, self.nodes
        )
        other = _Side(self.second, self.tasks, rate_gb_s, self.second_ceiling_mb_s)
        parting = parting_point(first.curve, other.curve, apart=self.apart_percent / 100) or 0
        counts = range(1, self.tasks + 1)
        said = self.said(
            one=first,
            other=other,
            rate_gb_s=rate_gb_s,
            total_gb=total_gb,
            times_s=[total_gb / side.curve[-1] for side in (first, other)],
            parting=parting,
            together=parting - 1,
            level=level_from(first.curve) or 0,
            counts=counts,
            end=self.tasks + 1,
            rows=list(zip(counts, first.nodes, first.curve, other.nodes, other.curve, strict=True)),
        )
        return said.result(findings=client_findings(first.title, first.curve))


QUESTION = declared(__name__, _Job.answer)
