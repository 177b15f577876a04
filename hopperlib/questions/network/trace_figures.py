"""What a simulated trace shows: the machine over time, the pieces that jobs lie in, and what keeping them whole costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean, median

from hopperlib.network.scheduling.schedule import Schedule
from hopperlib.network.scheduling.summary import summarize, width_classes
from hopperlib.questions.figures import Axis, Series, chart
from hopperlib.questions.result import Column, Figure, Table

__all__ = ["allocation_table", "machine_figure", "pieces_figure", "width_table"]

_DAY = 86_400
_MOST_SAMPLES = 400


def machine_figure(schedule: Schedule) -> Figure:
    """Return busy nodes and the longest free run over time.

    Parameters
    ----------
    schedule : Schedule
        Simulated with ``sample_every_s``.

    Raises
    ------
    ValueError
        If the schedule has no records of the machine.

    Examples
    --------
    >>> from hopperlib.network.scheduling.scheduler import simulate
    >>> from hopperlib.network.scheduling.workload import Job, Workload
    >>> schedule = simulate(Workload([Job(1, 0, 3, 7200, 7200)]), 4, sample_every_s=3600)
    >>> machine_figure(schedule).table.rows[1]
    (0.0416..., 3, 1)
    """
    if not schedule.samples:
        raise ValueError("the schedule has no records of the machine: simulate with sample_every_s")
    step = -(-len(schedule.samples) // _MOST_SAMPLES)
    samples = schedule.samples[::step]
    start = samples[0].time_s
    days = [(sample.time_s - start) / _DAY for sample in samples]
    busy, longest, runs = (
        [getattr(sample, name) for sample in schedule.samples]
        for name in ("busy_nodes", "largest_free_run", "free_runs")
    )
    return chart(
        title="The machine over time",
        alt=f"Of {schedule.nodes:,} nodes {mean(busy):,.0f} are busy on average; the longest run of free nodes has "
        f"{median(longest):,.0f} in the median, and free nodes lie in up to {max(runs):,} runs.",
        x=Axis(title="Since the first job", unit="d", low=0, high=max(days[-1], 1e-9), decimals=2),
        y=Axis(title="Nodes", low=0),
        series=[
            Series(name="busy", x=days, y=busy[::step]),
            Series(name="longest free run", x=days, y=longest[::step]),
        ],
    )


def _label(low: int, high: int, widest: int) -> str:
    """Return the widths of a class in words."""
    high = min(high, widest)
    return f"{low:,}" if low >= high else f"{low:,} to {high:,}"


def width_table(schedule: Schedule, hops: Sequence[float] | None = None) -> Table:
    """Return jobs, waits and pieces by width.

    Parameters
    ----------
    schedule : Schedule
    hops : sequence of float or None
        Mean distance of each job's nodes, in order of submission; None without a torus. [hops]

    Examples
    --------
    >>> from hopperlib.network.scheduling.scheduler import simulate
    >>> from hopperlib.network.scheduling.workload import Job, Workload
    >>> width_table(simulate(Workload([Job(1, 0, 4, 60, 60), Job(2, 0, 4, 60, 60)]), 4)).rows
    [('4', 2, 30.0, 60, 1.0)]
    """
    columns = (
        Column("Nodes of a job"),
        Column("Jobs"),
        Column("Mean wait", "s", 0),
        Column("Longest wait", "s", 0),
        Column("Mean runs", decimals=2),
        *([] if hops is None else [Column("Mean distance", "hops", 2)]),
    )
    rows = []
    for low, high, jobs in width_classes(schedule):
        numbers = summarize(schedule, jobs)
        waits = float(numbers.mean_wait_s), numbers.max_wait_s
        distance = [] if hops is None else [float(mean(hops[index] for index in jobs))]
        rows.append((_label(low, high, schedule.nodes), len(jobs), *waits, float(numbers.mean_runs), *distance))
    return Table(caption="Waits and pieces by width, simulated", columns=columns, rows=rows)


def pieces_figure(schedules: Mapping[str, Schedule]) -> Figure:
    """Return the mean number of runs that a job lies in against its width, a line for each schedule.

    Parameters
    ----------
    schedules : mapping of str to Schedule
        By name of what tells them apart.

    Raises
    ------
    ValueError
        If no job started.

    Examples
    --------
    >>> from hopperlib.network.scheduling.scheduler import simulate
    >>> from hopperlib.network.scheduling.workload import Job, Workload
    >>> jobs = Workload([Job(1, 0, 1, 9, 9), Job(2, 0, 1, 99, 99), Job(3, 10, 2, 9, 9)])
    >>> pieces_figure({"first": simulate(jobs, 3)}).table.rows
    ((1, 1.0), (2, 2.0))
    """
    series = []
    for name, schedule in schedules.items():
        classes = width_classes(schedule)
        if not classes:
            raise ValueError(f"schedule {name!r}: no job started")
        runs = [float(summarize(schedule, jobs).mean_runs) for _, _, jobs in classes]
        series.append(Series(name=name, x=[low for low, _, _ in classes], y=runs))
    most = "; ".join(f"{line.name}: up to {max(line.y):.1f}" for line in series)
    return chart(
        title="In how many runs of the node list a job lies",
        alt=f"Mean number of runs against the width of a job. {most}.",
        x=Axis(title="Nodes of a job, at least", log=True),
        y=Axis(title="Mean runs", low=0, decimals=2),
        series=series,
    )


def allocation_table(schedules: Mapping[str, Schedule]) -> Table:
    """Return utilization, waits and pieces of several schedules of one trace.

    Examples
    --------
    >>> from hopperlib.network.scheduling.scheduler import simulate
    >>> from hopperlib.network.scheduling.workload import Job, Workload
    >>> jobs = Workload([Job(1, 0, 4, 60, 60), Job(2, 0, 4, 60, 60)])
    >>> allocation_table({"first free nodes": simulate(jobs, 4)}).rows
    [('first free nodes', 100.0, 30.0, 60, 1.0, 100.0)]
    """
    rows = []
    for name, schedule in schedules.items():
        try:
            numbers = summarize(schedule)
        except ValueError as error:
            raise ValueError(f"schedule {name!r}: {error}") from None
        used = None if numbers.utilization is None else 100 * numbers.utilization
        waits, whole = (float(numbers.mean_wait_s), numbers.max_wait_s), 100 * numbers.contiguous_fraction
        rows.append((name, used, *waits, float(numbers.mean_runs), whole))
    return Table(
        caption="The same trace under several allocations, simulated",
        columns=(
            Column("Allocation"),
            Column("Utilization", "%", 1),
            Column("Mean wait", "s", 0),
            Column("Longest wait", "s", 0),
            Column("Mean runs of a job", decimals=2),
            Column("Jobs in one run", "%", 1),
        ),
        rows=rows,
    )
