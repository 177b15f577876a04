"""A site's rules for the order of the queue and for how much may run: multifactor priorities, limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from hopperlib.errors import InputError
from hopperlib.network.scheduling.workload import Workload
from hopperlib.tables import key, read_record, read_toml
from hopperlib.units import HOURS_PER_DAY, SECONDS_PER_HOUR

__all__ = ["ORDERS", "Limit", "Rules", "fixed_priorities", "read_rules"]

ORDERS: tuple[str, ...] = ("submission", "size", "length", "multifactor")
_DAY = HOURS_PER_DAY * SECONDS_PER_HOUR


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """So much of one user, account, QOS or queue may run at a time; whatever is beyond waits and blocks nobody.

    Parameters
    ----------
    per : {"user", "account", "qos", "queue"}
    of : str
        The one it holds for; each, if it is empty.
    jobs, nodes : int or None
        The most that run; None for no bound.
    """

    per: Literal["user", "account", "qos", "queue"] = key(name="per")
    of: str = ""
    jobs: int | None = key(None, low=1)
    nodes: int | None = key(None, low=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Weights of Slurm's multifactor priority, and limits.

    A job's priority is the sum of weight times factor, each factor from 0 to
    1 [1]_: waiting time since it was eligible over `max_age_days`, at most 1;
    its share of the nodes; what the tables give its queue and QOS; and
    2 ** (-usage / share), with usage the decayed node-seconds of its user over
    those of all, and share one over the number of users; with `shares`,
    those of its account. It is worked out when a job comes, and for all that wait
    whenever something happens `period_s` or more after the last time.

    Parameters
    ----------
    age, size, queue, qos, fair_share : float
        Weights.
    max_age_days, half_life_days : float
        [days]
    period_s : int
        [s]
    queue_factors, qos_factors, shares : mapping of str to float
    limits : tuple of Limit

    References
    ----------
    .. [1] SchedMD, "Multifactor Priority Plugin" (PriorityWeightAge and the others, PriorityDecayHalfLife,
       PriorityMaxAge, PriorityCalcPeriod) and "Classic Fairshare Algorithm".
    """

    age: float = key(0.0, low=0)
    size: float = key(0.0, low=0)
    queue: float = key(0.0, low=0)
    qos: float = key(0.0, low=0)
    fair_share: float = key(0.0, low=0)
    max_age_days: float = key(7.0, above=0)
    half_life_days: float = key(7.0, above=0)
    period_s: int = key(300, low=1)
    queue_factors: Mapping[str, float] | None = None
    qos_factors: Mapping[str, float] | None = None
    shares: Mapping[str, float] | None = None
    limits: tuple[Limit, ...] = key((), name="limit")

    @property
    def changes(self) -> bool:
        """Whether the order of two waiting jobs may change while they wait."""
        return bool(self.age or self.fair_share)


def read_rules(text: str) -> Rules:
    r"""Return the rules of a TOML text: the fields of `Rules`, and ``[[limit]]``.

    Raises
    ------
    TableError
        If it is no TOML, or anything in it is wrong; names all of it.

    Examples
    --------
    >>> rules = read_rules('age = 1000\n[[limit]]\nper = "user"\njobs = 3')
    >>> rules.age, rules.limits[0].jobs
    (1000, 3)
    """
    return read_record(Rules, read_toml(text, name="rules"), name="rules")


def fixed_priorities(workload: Workload, order: str, rules: Rules, nodes: int) -> list[float]:
    """Return the part of each job's priority that does not change while it waits; the larger goes first.

    Raises
    ------
    InputError
        If there is no such order.

    Examples
    --------
    >>> from hopperlib.network.scheduling.workload import Job
    >>> fixed_priorities(Workload([Job(1, 0, 4, 60, 90), Job(2, 0, 2, 60, 60)]), "length", Rules(), 8)
    [-90, -60]
    """
    if order not in ORDERS:
        raise InputError(f"queue_order={order!r} must be one of: {', '.join(ORDERS)}", name="queue_order")
    if order == "submission":
        return [0.0] * len(workload)
    if order == "size":
        return list(workload.nodes)
    if order == "length":
        return [-limit for limit in workload.requested_time_s]
    queues = _factors(workload.queues, rules.queue_factors, rules.queue)
    qos = _factors(workload.words["qos"], rules.qos_factors, rules.qos)
    return [
        queues[queue] + qos[quality] + rules.size * width / nodes
        for queue, quality, width in zip(workload.queue_number, workload.qos_number, workload.nodes, strict=True)
    ]


def _factors(names: Sequence[str], factors: Mapping[str, float] | None, weight: float) -> list[float]:
    """Return what each of some names adds to a priority."""
    return [weight * (factors or {}).get(name, 0.0) for name in names]
