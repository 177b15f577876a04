"""Question: the location of a log's jobs in the site's network, the cost of each additional group, and whether to wait
for one group.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from statistics import fmean, median

from hopperkit.questions import ask
from hopperkit.questions.figures import Axis, Reference, Series, chart
from hopperkit.questions.question import is_sample
from hopperkit.questions.result import Column, Download, Figure, Result, Snippet, Table, Value, table
from hopperkit.readers.jobs import read_job_trace
from hopperkit.readers.networks import SiteNetwork, read_site_network
from hopperkit.readers.networks.placements import PlacedJob, Placements, locate_jobs
from hopperkit.traces.group_cost import STATED_EFFECT, GroupCost, WaitForOne, cost_of_groups, wait_for_one
from hopperlib.errors import attributed_to
from hopperlib.finding import Finding
from hopperlib.package_data import load_text_resource
from hopperlib.text import count, duration, share

# Below this share of the machine's node-seconds, nodes missing from the log may be used by others.
_WHOLE_LOG = 0.5
_MOST_GROUPS_SHOWN = 11


class Where(ask.Setting):
    """A log and the network that its jobs ran in."""

    jobs: str = ask.file(
        "Job log",
        load_text_resource(__file__, "samples/locality-jobs.txt"),
        rows=8,
        max_length=64_000_000,
        argument=True,
        placeholder="Paste what sacct --parsable2 printed, with NodeList",
        help="sacct --allocations --parsable2 --format=JobID,User,Partition,State,Submit,Start,ElapsedRaw,TimelimitRaw,"
        "NNodes,NodeList. The log at the start is made up, with 5 % more run time for each additional group.",
    )
    network: str = ask.file(
        "Network",
        load_text_resource(__file__, "samples/locality-topology.txt"),
        rows=6,
        max_length=64_000_000,
        placeholder="Paste topology.conf, topology.yaml, or what scontrol show topology or ibnetdiscover prints",
        help="topology.conf, topology.yaml, the output of scontrol show topology or of ibnetdiscover, or names of nodes "
        "that encode a position (x1000c0s0b0n0, c0-0c0s0n0).",
    )
    wait_hours: float = ask.slider("Longest wait for one group", 2.0, (0.0, 24.0, 0.5), unit="h")

    @cached_property
    def site(self) -> SiteNetwork:
        """The network."""
        with attributed_to("network"):
            return read_site_network(self.network)

    @cached_property
    def placements(self) -> Placements:
        """Locations of the jobs."""
        with attributed_to("jobs"):
            return locate_jobs(read_job_trace(self.jobs), self.site)

    @property
    def laid(self) -> list[PlacedJob]:
        """The jobs whose nodes the network has."""
        return self.placements.jobs

    @cached_property
    def cost(self) -> GroupCost | None:
        """Run time per additional group."""
        return cost_of_groups(job.ran for job in self.laid)

    @cached_property
    def held_fraction(self) -> float:
        """Share of the network's node-seconds used by the log's jobs. [fraction]"""
        starts = [job.ran.start_s for job in self.laid]
        ends = [job.ran.start_s + job.ran.run_time_s for job in self.laid]
        span = max(ends) - min(starts)
        held = sum(job.ran.run_time_s * job.spread.nodes for job in self.laid)
        return held / (span * self.site.tree.nodes) if span else 0.0

    @cached_property
    def waiting(self) -> WaitForOne | None:
        """Effect of waiting for one group; None if unknown."""
        if self.cost is None or self.held_fraction < _WHOLE_LOG:
            return None
        ran = [job.ran for job in self.laid]
        return wait_for_one(ran, self.placements.group_sizes, self.cost.per_group, limit_s=3600 * self.wait_hours)


def answer(where: Where) -> Result:
    """Return the answer.

    Parameters
    ----------
    where : Where
        A log and the network that its jobs ran in.

    Returns
    -------
    Result
        The answer.

    Examples
    --------
    >>> round(answer(Where()).facts['per_group'], 3)
    0.044
    """
    cost, waiting = where.cost, where.waiting
    groups = [job.spread.groups for job in where.laid]
    return Result(
        summary=_summary(where, groups),
        findings=tuple(_findings(where)),
        values=tuple(_values(where)),
        figures=tuple(_figure(where)),
        copyables=_copyable(where),
        tables=(_by_groups(where),),
        downloads=(Download("jobs.csv", where.placements.csv(), "text/csv"),),
        facts={
            "jobs": len(where.laid),
            "left_out": where.placements.left_out,
            "median_groups": median(groups),
            "per_group": cost and cost.per_group,
            "low": cost and cost.low,
            "high": cost and cost.high,
            "power": cost and cost.power,
            "in_time": waiting and waiting.in_time,
            "sooner": waiting and waiting.sooner,
            "mean_gain_s": waiting and waiting.mean_gain_s,
            "held_fraction": where.held_fraction,
        },
    )


def _summary(where: Where, groups: Sequence[int]) -> str:
    several = sum(each > 1 for each in groups)
    lay = f"{count(several, 'job')} of {len(groups):,} ran in more than one group"
    if where.cost is None:
        return f"{lay}; the cost is unknown: no similar jobs ran in different numbers of groups."
    cost = where.cost
    growth = f"{100 * cost.per_group:+.1f} % run time ({100 * cost.low:+.1f} to {100 * cost.high:+.1f} %)"
    seen = "each additional group came with" if cost.seen else "no cost of an additional group was found:"
    return f"{lay}; {seen} {growth} among similar jobs.{_odds(where)}"


def _odds(where: Where) -> str:
    """Return a sentence on the effect of waiting for one group; empty if unknown."""
    waiting = where.waiting
    if waiting is None:
        return ""
    later = "sooner" if waiting.mean_gain_s > 0 else "later"
    return (
        f" Had the {count(waiting.jobs, 'job')} that fit in one group waited for one, at most "
        f"{duration(3600 * where.wait_hours)}: {share(waiting.in_time)} would have got it in time, {share(waiting.sooner)} would "
        f"have ended sooner; on average they would have ended {duration(abs(waiting.mean_gain_s))} {later}."
    )


def _findings(where: Where) -> Iterator[Finding]:
    if is_sample(QUESTION, "jobs", where.jobs):
        yield Finding(code="made-up", message="The log at the start is made up.", level="note")
    yield Finding(code="network-file", message=f"{where.site.form}: {where.site.caveat}", level="note")
    if where.placements.left_out:
        left_out = count(where.placements.left_out, "job")
        message = f"{left_out} left out: without nodes or a start, or on nodes that the network file lacks."
        yield Finding(code="left-out", message=message, level="note")
    if where.cost:
        cost = where.cost
        yield Finding(
            code="power",
            message=f"A cost of {share(STATED_EFFECT)} a group would have been seen with a chance of {share(cost.power)}: "
            f"{count(cost.jobs, 'job')} of {count(cost.kinds, 'kind')} (same user, width, limit and queue), noise "
            f"{share(cost.noise)}. The load of the machine may be part of it.",
            level="note" if cost.seen or cost.power >= 0.8 else "unknown",
        )
    if where.cost is not None and where.held_fraction < _WHOLE_LOG:
        yield Finding(
            code="not-whole",
            message=f"Whether to wait for one group is unknown: the log's jobs used {share(where.held_fraction)} of "
            "the network's node-hours, so nodes that look free may be used by others. sacct --allusers shows them.",
            level="unknown",
        )


def _copyable(where: Where) -> tuple[Snippet, ...]:
    """Return the option that waits for one group, where that pays."""
    if where.waiting and where.waiting.mean_gain_s > 0 and where.cost and where.cost.low > 0:
        minutes = round(60 * where.wait_hours)
        return (Snippet("Wait for one group", f"#SBATCH --switches=1@{minutes // 60}:{minutes % 60:02d}:00"),)
    return ()


def _values(where: Where) -> Iterator[Value]:
    spread = [job.spread for job in where.laid]
    yield Value("Jobs in more groups than needed", sum(each.groups > each.fewest_groups for each in spread), None)
    together = 100 * fmean(each.inside_group for each in spread)
    yield Value("Pairs of nodes in one group, mean of jobs", together, None, "%", 0)
    if where.cost:
        cost = where.cost
        note = f"95 % interval; {cost.jobs:,} jobs"
        grown, low, high = (100 * each for each in (cost.per_group, cost.low, cost.high))
        yield Value("Added run time per additional group", grown, "calibrated", "%", 1, low, high, note)


def _figure(where: Where) -> Iterator[Figure]:
    """Yield run times against groups, each over the mean of its kind."""
    kinds: dict[object, list[PlacedJob]] = {}
    for job in where.laid:
        kinds.setdefault(job.ran.kind, []).append(job)
    points = [
        (job.spread.groups, job.ran.run_time_s / fmean(each.ran.run_time_s for each in alike))
        for alike in kinds.values()
        if len({each.spread.groups for each in alike}) > 1
        for job in alike
    ]
    if not points:
        return
    means = {groups: fmean(y for x, y in points if x == groups) for groups in sorted({x for x, _ in points})}
    x, y = zip(*points, strict=True)
    yield chart(
        title="Run time and groups touched",
        alt=f"{len(points)} jobs: run time over the mean of jobs alike, on average "
        + ", ".join(f"{mean:.2f} in {count(groups, 'group')}" for groups, mean in list(means.items())[:6]),
        x=Axis(title="Groups touched"),
        y=Axis(title="Run time over the mean of similar jobs"),
        series=[
            Series(name="job", x=list(x), y=list(y), kind="points"),
            Series(name="mean", x=list(means), y=list(means.values())),
        ],
        references=[Reference(name="mean of jobs alike", y=1.0)],
    )


def _by_groups(where: Where) -> Table:
    """Return the jobs by the groups they touched; the widest together in the last row."""
    by_groups: dict[int, list[PlacedJob]] = {}
    for job in where.laid:
        by_groups.setdefault(min(job.spread.groups, _MOST_GROUPS_SHOWN), []).append(job)
    return table(
        "Jobs by the groups they touched",
        sorted(by_groups.items()),
        {
            "Groups": lambda row: str(row[0]) if row[0] < _MOST_GROUPS_SHOWN else f"{row[0]} or more",
            "Jobs": lambda row: len(row[1]),
            Column("Nodes, mean", decimals=1): lambda row: fmean(job.spread.nodes for job in row[1]),
            Column("Switches, mean", decimals=1): lambda row: fmean(job.spread.switches for job in row[1]),
            Column("Pairs in one group", "%", 0): lambda row: 100 * fmean(job.spread.inside_group for job in row[1]),
            Column("Wait, median", "h", 2): lambda row: median(job.wait_s for job in row[1]) / 3600,
        },
    )


QUESTION = ask.declared(
    Where,
    answer,
    title="Where did my jobs lie?",
    examples={
        "Do not wait for one group": {"wait_hours": 0.0},
        "Wait a day": {"wait_hours": 24.0},
    },
)
