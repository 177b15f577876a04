"""Question: orphaned nodes and a debug queue, and their effect on utilization and on the largest jobs."""

from collections.abc import Iterator
from functools import lru_cache, partial
from statistics import mean
from typing import Any

from hopperkit.questions import ask
from hopperkit.questions.figures import Axis, Reference, Series, chart
from hopperkit.questions.network.recording import Recorder, use_after
from hopperkit.questions.result import Column, Figure, Result, Table, Value, table
from hopperlib.machine import Machine
from hopperlib.scheduling.aging import LargeJob, TroubledDays, large_jobs, troubled_days, troubled_machine
from hopperlib.scheduling.schedule import Sample, Schedule
from hopperlib.scheduling.workload import Workload
from hopperlib.text import count, share

_DAY = 86_400
_HOURS_A_WEEK = 168

# The last are kept, since the hours without service change nothing in them.
_schedule = lru_cache(maxsize=8)(troubled_machine)


# What follows from the first days of a schedule is kept as well: the hours without service change nothing in it either.
@lru_cache(maxsize=32)
def _over(schedule: Schedule, days: int) -> tuple[TroubledDays, float]:
    """Return the records of the first days, and the utilization from the first day on. [fraction]"""
    return troubled_days(schedule, days * _DAY), schedule.utilization(_DAY, days * _DAY)


@lru_cache(maxsize=8)
def _large(schedule: Schedule, days: int) -> list[LargeJob]:
    """Return the largest jobs of all days."""
    return large_jobs(schedule, days * _DAY)


class Trouble(ask.Setting):
    """A machine in trouble."""

    orphans_a_day: int = ask.slider(
        "Orphaned blocks of 32 nodes a day",
        0,
        (0, 40, 1),
        help="The free nodes of such a block are lost, because the scheduler believes that they are busy.",
        assumed="How many nodes were orphaned is not printed.",
    )
    cleared_after_days: int = ask.slider("Cleared by hand after", 7, (1, 10, 1), unit="d")
    debug_share: float = ask.slider("Debug jobs, as a fraction of the load", 0.1, (0.0, 0.2, 0.02))
    debug_first: str = ask.choice(
        "Queue priorities",
        "first",
        {
            "first": "debug jobs go before all others",
            "limited": "debug jobs queue up, full-machine jobs go first",
        },
    )
    full_nodes: int = ask.slider(
        "Nodes of the largest jobs", 6100, (100, 22_600, 100), help="At most the nodes of the machine."
    )
    machine: Machine = ask.machine(
        help="All its nodes count as one pool. The jobs are those of Hopper's early users, more of them on more nodes.",
        advanced=True,
    )
    machine_file: str = ask.machine_file()
    days: int = ask.slider("Days", 10, (4, 10, 1), unit="d")
    down_hours: float = ask.slider(
        "Hours of downtime per week",
        17.0,
        (0.0, 48.0, 1.0),
        unit="h",
        assumed="The hours of outages and maintenance are not printed; 17 hours per week give the printed utilization.",
        advanced=True,
    )

    @property
    def largest(self) -> int:
        """Nodes of the largest jobs, cut to the machine as the others are."""
        return min(self.full_nodes, self.machine.nodes)

    def schedule(self, days: int) -> Schedule:
        """Return at least the first of the days."""
        schedule = _schedule(
            self.machine.nodes,
            self.days,
            until_s=0,
            orphans_a_day=self.orphans_a_day,
            cleared_after_days=self.cleared_after_days,
            debug_share=self.debug_share,
            debug_first=self.debug_first == "first",
            full_nodes=self.largest,
        )
        schedule.resume(days * _DAY)
        return schedule

    def watched(self, schedule: Schedule, days: int) -> Recorder:
        """Return the first days to watch, with the largest jobs to follow."""
        followed = {"follow": [job.job for job in schedule.workload if job.queue == "full"]}
        return Recorder(self.machine, schedule, days * _DAY, more=followed)


def partial_results(trouble: Trouble) -> Iterator[Result]:
    """Yield the machine as it begins, and over more and more of its days.

    Parameters
    ----------
    trouble : Trouble
        A machine in trouble.

    Yields
    ------
    Result
        The answer from the data so far.

    Examples
    --------
    >>> next(partial_results(Trouble())).summary
    'Day 0 of 10 …'
    """
    begins = Schedule(Workload(), trouble.machine.nodes)
    begins.samples.append(Sample(0, begins.nodes, begins.nodes, 1, 0, 0, 0, 0))
    yield Result(summary=f"Day 0 of {trouble.days} …", figures=(_over_time(trouble, begins, 2),))
    for days in sorted({2, trouble.days // 2}):
        schedule = trouble.schedule(days)
        yield Result(
            summary=use_after(schedule, days, trouble.days),
            figures=(_over_time(trouble, schedule, days),),
            watched=partial(trouble.watched, schedule, days),
        )


def answer(trouble: Trouble) -> Result:
    """Return the answer.

    Parameters
    ----------
    trouble : Trouble
        A machine in trouble.

    Returns
    -------
    Result
        The answer.

    Examples
    --------
    >>> round(answer(Trouble(days=2)).facts['utilization'], 2)
    0.69
    """
    schedule = trouble.schedule(trouble.days)
    jobs, facts = _large(schedule, trouble.days), _facts(trouble, schedule)
    return Result(
        summary=_summary(trouble, facts, len(jobs)),
        values=tuple(_values(facts)),
        figures=(_over_time(trouble, schedule, trouble.days),),
        tables=(_jobs(jobs),),
        facts=facts,
        watched=partial(trouble.watched, schedule, trouble.days),
    )


def _facts(trouble: Trouble, schedule: Schedule) -> dict[str, Any]:
    (days, used), jobs = _over(schedule, trouble.days), _large(schedule, trouble.days)
    return {
        "debug_share": trouble.debug_share,
        "utilization": used * (1 - trouble.down_hours / _HOURS_A_WEEK),
        "up_time_utilization": used,
        "wait_h": mean(job.wait_h for job in jobs),
        "orphaned_fraction": days.orphaned_fraction,
        "never_started": sum(not job.started for job in jobs),
        "queue_full_fraction": days.queue_full_fraction,
    }


def _summary(trouble: Trouble, facts: dict[str, Any], jobs: int) -> str:
    waiting = facts["never_started"]
    unfinished = f", up to the end of the simulation for the {waiting} of {jobs} that had not started by then"
    return (
        f"{share(facts['utilization'])} of the machine is used, {share(facts['up_time_utilization'])} while it is up; "
        f"a job of {count(trouble.largest, 'node')} waits {facts['wait_h']:.0f} h on average"
        f"{unfinished if waiting else ''}."
    )


def _values(facts: dict[str, Any]) -> Iterator[Value]:
    note = "the hours without service are fitted to the printed 81.7 %, February 5th to May 1st, 2011"
    yield Value("Utilization, by all hours", 100 * facts["utilization"], "calibrated", "%", 1, note=note)
    yield Value("Queue wait of a full-machine job", facts["wait_h"], "predicted", "h", 1)
    yield Value("Orphaned nodes, on average", 100 * facts["orphaned_fraction"], "predicted", "%", 1)


def _over_time(trouble: Trouble, schedule: Schedule, days: int) -> Figure:
    """Return the chart of busy and orphaned nodes over the first days."""
    over, used = _over(schedule, days)
    return chart(
        title="The machine over time",
        alt=f"Busy nodes: {share(used)} on average, at least {100 * over.min_busy:.0f} %. "
        f"Orphaned nodes rise to {100 * max(over.orphaned):.0f} %.",
        x=Axis(title="Time", unit="d", low=0, high=trouble.days, decimals=2),
        y=Axis(title="Nodes", unit="%", low=0, high=100, decimals=1),
        series=[_percent("busy", over, over.busy), _percent("orphaned", over, over.orphaned)],
        references=[Reference("worst case printed, 50 %", 50)],
    )


def _percent(name: str, over: TroubledDays, fractions: list[float]) -> Series:
    return Series(name=name, x=over.time_d, y=[100 * fraction for fraction in fractions])


def _jobs(jobs: list[LargeJob]) -> Table:
    return table(
        "Full-machine jobs",
        jobs,
        {
            Column("Submitted, day", decimals=2): lambda job: job.submit_day,
            Column("Wait", "h", 1): lambda job: job.wait_h,
            "Started": lambda job: job.started,
        },
    )


QUESTION = ask.declared(
    Trouble,
    answer,
    title="What do orphans and debug jobs cost?",
    partial_results=partial_results,
    heavy=True,
    examples={
        "No trouble": {"orphans_a_day": 0, "debug_share": 0.0},
        "Orphans": {"orphans_a_day": 30, "debug_share": 0.0},
        "Debug first": {"debug_share": 0.2, "debug_first": "first"},
        "Queues adjusted": {"debug_share": 0.2, "debug_first": "limited"},
    },
)
