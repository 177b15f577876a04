"""Logs made by a scheduler whose rules and partitions are known: the learned rules can be judged.

Only the scheduler knows the nodes of a partition: the jobs name only their partition.
"""

import random
from typing import NamedTuple

from hopperkit.traces.capacity.machine import scheduled_on
from hopperkit.traces.cluster import Cluster, NodeResources, Partition
from hopperkit.traces.rules.clock import Clock, ClosedHours
from hopperkit.traces.rules.learn import learn
from hopperkit.traces.rules.site import Learned
from hopperlib.scheduling.rules import Limit
from hopperlib.scheduling.workload import Job, Workload

NODES, HOUR_S = 64, 3600
CLOCK = Clock(1704067200)  # 2024-01-01, a Monday, universal time
STRUCTURES: dict[str, dict[str, range]] = {
    "one": {"": range(64)},
    "apart": {"a": range(32), "b": range(32, 64)},
    "alike": {"a": range(64), "b": range(64)},
    "nested": {"a": range(64), "b": range(24)},
}
RULES = {
    "none": Learned(),
    "none, conservative": Learned(policy="conservative"),
    "no backfill": Learned(policy="fcfs"),
    "closed to long jobs": Learned(closed=(ClosedHours("weekdays", 8, 18, 4),)),
    "jobs of a user": Learned(limits=(Limit(per="user", jobs=2),)),
    "jobs of an account": Learned(limits=(Limit(per="account", jobs=3),)),
    "jobs of a licence": Learned(limits=(Limit(per="licence", of="solver", jobs=3),)),
    "widest first": Learned(order="size"),
    "shortest first": Learned(order="length"),
    "fair share": Learned(order="fair share"),
}
#: Sixty logs: each rule on one pool with three seeds, and on three structures of partitions.
SETTINGS = [
    (structure, rule, seed)
    for rule in RULES
    for structure, seed in (("one", 11), ("one", 12), ("one", 13), ("apart", 11), ("alike", 11), ("nested", 11))
]


class Verdict(NamedTuple):
    """Results learned from a planted log: whether the rule and the partitions were found, and what was invented."""

    rule: bool
    partitions: bool
    invented: list[str]


def machine(structure: str) -> int | Cluster:
    """The machine with the partitions of a structure."""
    if structure == "one":
        return NODES
    parts = {name: Partition(nodes=tuple(nodes), exclusive=True) for name, nodes in STRUCTURES[structure].items()}
    return Cluster(nodes=(NodeResources(),) * NODES, partitions=parts)


def planted_log(structure: str, rule: str, seed: int, *, jobs: int = 1600, load: float = 0.92) -> Workload:
    """Log of some weeks under a planted rule, most of whose jobs come by day."""
    rng = random.Random(f"{structure} {rule} {seed}")
    parts = STRUCTURES[structure]
    names = list(parts)
    drawn = []
    for number in range(jobs):
        queue = rng.choice(names)
        width = min(len(parts[queue]), round(2 ** rng.uniform(0, 4.5)))
        limit = rng.choice((1800, 3600, 7200, 14_400, 28_800, 43_200))
        user = min(int(rng.expovariate(1) * 4), 29) + 1
        drawn.append(
            Job(
                number,
                0,
                width,
                max(1, round(limit * rng.betavariate(0.8, 1.1))),
                limit,
                user,
                queue,
                account=f"a{user % 5}",
                licences="solver" if number % 4 == 1 else "",
            )
        )
    # Gaps are drawn by hour: twice as many jobs come by day.
    gap = sum(job.nodes * job.run_time_s for job in drawn) / NODES / load / jobs
    now, made = 0.0, []
    for job in drawn:
        now += rng.expovariate(1) * gap * (0.75 if 8 <= now // HOUR_S % 24 < 20 else 1.5)
        made.append(job._replace(submit_time_s=int(now)))
    workload = Workload(made)
    starts = RULES[rule].run(workload, machine(structure), CLOCK).start_s
    return Workload(job._replace(observed_start_s=start) for job, start in zip(workload, starts, strict=True))


def verdict(structure: str, rule: str, seed: int, **settings: float) -> Verdict:
    """Rules learned from a planted log, given nothing but the log."""
    log = planted_log(structure, rule, seed, **settings)  # type: ignore[arg-type]
    room = scheduled_on(log)
    assert room is not None
    learned, _ = learn(log, room, CLOCK)
    return judged(learned, RULES[rule], room, structure)


def judged(learned: Learned, truth: Learned, room: int | Cluster, structure: str) -> Verdict:
    """Compare learned rules and an estimated machine with the truth; hours of a closure may be off by one."""
    close = len(learned.closed) == len(truth.closed) and all(
        mine.over_hours == theirs.over_hours
        and mine.days == theirs.days
        and abs(mine.last_hour - theirs.last_hour) <= 1
        for mine, theirs in zip(learned.closed, truth.closed, strict=True)
    )
    rule = (
        close
        and set(truth.limits) <= set(learned.limits)
        and (learned.order, learned.policy) == (truth.order, truth.policy)
    )
    invented = [each.text for each in learned.closed if not truth.closed]
    invented += [str(limit) for limit in learned.limits if limit not in truth.limits]
    invented += [f"{each.nodes} absent" for each in learned.absent]
    invented += [f"{learned.preferred} first"] * (learned.preferred is not None)
    invented += [learned.order] * (learned.order not in (truth.order, "submission"))
    invented += [str(learned.policy)] * (learned.policy not in (truth.policy, "easy"))
    return Verdict(rule, _alike(room, structure), invented)


def _alike(room: int | Cluster, structure: str) -> bool:
    """Whether an estimated machine has the size, within 5 %, and the overlap of partitions of the true one."""
    nodes = room if isinstance(room, int) else len(room.nodes)
    if abs(nodes - NODES) > 0.05 * NODES:
        return False
    if structure in ("one", "alike") or isinstance(room, int):
        return structure in ("one", "alike") and isinstance(room, int)
    sizes = {name: len(nodes) for name, nodes in STRUCTURES[structure].items()}
    return len(room.parts()) == (2 if structure == "apart" else 1) and all(
        abs(len(room.partitions[name].nodes) - size) <= 0.1 * size for name, size in sizes.items()
    )
