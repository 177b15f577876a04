"""A site's rules in the form of simulation settings."""

from dataclasses import dataclass
from typing import Any

from hopperkit.traces.cluster import Cluster
from hopperkit.traces.rules.absences import Absence
from hopperkit.traces.rules.clock import WEEK, Clock, ClosedHours
from hopperkit.traces.scheduler import simulate
from hopperlib.scheduling.backfill import Backfill
from hopperlib.scheduling.downtimes import Downtime
from hopperlib.scheduling.rules import Limit, Rules
from hopperlib.scheduling.schedule import Schedule
from hopperlib.scheduling.workload import Workload
from hopperlib.units import SECONDS_PER_HOUR


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """Rules of a site, as a log shows them.

    Parameters
    ----------
    closed : tuple of ClosedHours
    limits : tuple of Limit
    order : str
        "submission", "size", "length" or "fair share".
    policy : str or Backfill
        As `hopperkit.traces.scheduler.simulate` takes them.
    absent : tuple of Absence
        Nodes that were away.
    preferred : (str, str) or None
        "qos", "queue" or "user", and the one whose jobs have priority over all others.
    """

    closed: tuple[ClosedHours, ...] = ()
    limits: tuple[Limit, ...] = ()
    order: str = "submission"
    policy: str | Backfill = "easy"
    absent: tuple[Absence, ...] = ()
    preferred: tuple[str, str] | None = None

    def settings(self, workload: Workload, nodes: int, clock: Clock) -> dict[str, Any]:
        """Return the arguments of `hopperkit.traces.scheduler.simulate` for these rules and this many nodes."""
        fair = self.order == "fair share"
        last_s = max(workload.arrival_s) + 8 * WEEK * SECONDS_PER_HOUR if len(workload) else 0
        first_s = min(workload.arrival_s) if len(workload) else 0
        away = [
            Downtime(
                start_s=each.start_s, end_s=each.end_s, first_node=nodes - each.nodes, last_node=nodes, kind="drain"
            )
            for each in self.absent
        ]
        return {
            "policy": self.policy,
            "queue_order": "multifactor" if fair else self.order,
            "rules": Rules(limits=self.limits, fair_share=1000.0 if fair else 0.0, first=self.preferred or ()),
            "closures": clock.closures(self.closed, first_s, last_s),
            "downtimes": away,
        }

    def run(self, workload: Workload, nodes: int | Cluster, clock: Clock) -> Schedule:
        """Return the workload as these rules schedule it."""
        count = nodes if isinstance(nodes, int) else len(nodes.nodes)
        return simulate(workload, nodes, **self.settings(workload, count, clock))

    def to_dict(self) -> dict[str, Any]:
        """Return the rules as plain data."""
        closed = [each._asdict() for each in self.closed]
        return {
            "closed_hours": closed,
            "limits": [plain_limit(each) for each in self.limits],
            "order": self.order,
            "policy": self.policy if isinstance(self.policy, str) else self.policy._asdict(),
            "absent": [each._asdict() for each in self.absent],
            "preferred": dict([self.preferred]) if self.preferred else {},
        }


def plain_limit(limit: Limit) -> dict[str, Any]:
    """Limit as plain data.

    Parameters
    ----------
    limit : Limit
        Learned limit.

    Examples
    --------
    >>> plain_limit(Limit(per="user", jobs=2))
    {'per': 'user', 'of': '', 'jobs': 2, 'nodes': None}
    """
    return {"per": limit.per, "of": limit.of, "jobs": limit.jobs, "nodes": limit.nodes}
