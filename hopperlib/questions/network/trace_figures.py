"""What a simulated trace shows: the machine over time, the pieces that jobs lie in, and what keeping them whole costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean, median

from hopperlib.network.scheduling.schedule import Schedule
from hopperlib.questions.figures import Axis, Series, chart
from hopperlib.questions.result import Column, Figure, Table

__all__ = ["allocation_table", "machine_figure", "pieces_figure", "width_classes", "width_table"]

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
    days = [(one.time_s - start) / _DAY for one in samples]
    return chart(
        title="The machine over time",
        alt=f"Of {schedule.nodes:,} nodes {mean(one.busy_nodes for one in schedule.samples):,.0f} are busy on average; the "
        f"longest run of free nodes has {median(one.largest_free_run for one in schedule.samples):,.0f} in the median, and "
        f"free nodes lie in up to {max(one.free_runs for one in schedule.samples):,} runs.",
        x=Axis(title="Since the first job", unit="d", low=0, high=max(days[-1], 1e-9), decimals=2),
        y=Axis(title="Nodes", low=0),
        series=[
            Series(name="busy", x=days, y=[one.busy_nodes for one in samples]),
            Series(name="longest free run", x=days, y=[one.largest_free_run for one in samples]),
        ],
    )


def width_classes(schedule: Schedule) -> list[tuple[int, int, list[int]]]:
    """Return the jobs that started by their width: from, to, and indices, in powers of two.

    Examples
    --------
    >>> from hopperlib.network.scheduling.scheduler import simulate
    >>> from hopperlib.network.scheduling.workload import Job, Workload
    >>> width_classes(simulate(Workload([Job(i, 0, width, 9, 9) for i, width in enumerate((1, 2, 3, 4))]), 10))
    [(1, 1, [0]), (2, 3, [1, 2]), (4, 7, [3])]
    """
    classes: dict[int, list[int]] = {}
    for index in schedule.finished():
        classes.setdefault(schedule.workload.nodes[index].bit_length(), []).append(index)
    return [(1 << bits - 1, (1 << bits) - 1, classes[bits]) for bits in sorted(classes)]


def _label(low: int, high: int, widest: int) -> str:
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
    columns = [
        Column(title="Nodes of a job"),
        Column(title="Jobs"),
        Column(title="Mean wait", unit="s", decimals=0),
        Column(title="Longest wait", unit="s", decimals=0),
        Column(title="Mean runs", decimals=2),
    ]
    if hops is not None:
        columns.append(Column(title="Mean distance", unit="hops", decimals=2))
    rows = []
    for low, high, jobs in width_classes(schedule):
        waits = [schedule.wait_time_s(index) or 0 for index in jobs]
        row: list[float | int | str] = [
            _label(low, high, schedule.nodes),
            len(jobs),
            float(mean(waits)),
            max(waits),
            float(mean(schedule.run_count[index] for index in jobs)),
        ]
        if hops is not None:
            row.append(float(mean(hops[index] for index in jobs)))
        rows.append(tuple(row))
    return Table(caption="Waits and pieces by width, simulated", columns=tuple(columns), rows=rows)


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
        runs = [float(mean(schedule.run_count[index] for index in jobs)) for _, _, jobs in classes]
        series.append(Series(name=name, x=[low for low, _, _ in classes], y=runs))
    said = "; ".join(f"{one.name}: up to {max(one.y):.1f}" for one in series)
    return chart(
        title="In how many runs of the node list a job lies",
        alt=f"Mean number of runs against the width of a job. {said}.",
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
        done = list(schedule.finished())
        if not done:
            raise ValueError(f"schedule {name!r}: no job started")
        waits = [schedule.wait_time_s(index) or 0 for index in done]
        pieces = [schedule.run_count[index] for index in done]
        start, end = min(schedule.start_s[i] for i in done), max(schedule.end_s[i] for i in done)
        used = 100 * schedule.utilization(start, end) if end > start else None
        whole = 100 * sum(count == 1 for count in pieces) / len(pieces)
        rows.append((name, used, float(mean(waits)), max(waits), float(mean(pieces)), whole))
    return Table(
        caption="The same trace under several allocations, simulated",
        columns=(
            Column(title="Allocation"),
            Column(title="Utilization", unit="%", decimals=1),
            Column(title="Mean wait", unit="s", decimals=0),
            Column(title="Longest wait", unit="s", decimals=0),
            Column(title="Mean runs of a job", decimals=2),
            Column(title="Jobs in one run", unit="%", decimals=1),
        ),
        rows=rows,
    )
