"""What a simulated trace shows: the machine over time, the pieces that jobs lie in, and what keeping them whole costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from statistics import mean, median
from typing import Any

from hopperlib.network.scheduling.observed import Group
from hopperlib.network.scheduling.schedule import NOT_STARTED, Schedule, summarize, width_classes
from hopperlib.network.torus.maps import occupancy
from hopperlib.questions.figures import Axis, Series, chart, layout
from hopperlib.questions.result import Column, Figure, Table

__all__ = [
    "allocation_table",
    "gantt_figure",
    "group_table",
    "machine_figure",
    "occupancy_figure",
    "pieces_figure",
    "wait_maps",
    "waits_figure",
    "width_table",
]

_DAY = 86_400
_MOST_SAMPLES = 400
_GANTT_JOBS, _COLORS = 200, 12
# Upper edges of the lengths on the map of waits. [s]
_LENGTHS = ((300, "5 min"), (3600, "1 h"), (4 * 3600, "4 h"), (12 * 3600, "12 h"), (_DAY, "1 d"), (1 << 62, "longer"))


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


def group_table(groups: Sequence[Group]) -> Table:
    """Return observed and simulated waits of each queue, slowdowns and use.

    Examples
    --------
    >>> from hopperlib.network.scheduling.observed import by_group
    >>> from hopperlib.network.scheduling.scheduler import simulate
    >>> from hopperlib.network.scheduling.workload import Job, Workload
    >>> group_table(by_group(simulate(Workload([Job(1, 0, 4, 60, 60, observed_start_s=9)]), 4))).rows[0][:4]
    ('all', 1, 9.0, 0.0)
    """
    parts = (("mean wait", "s", 0, "wait_mean_s"), ("median wait", "s", 0, "wait_median_s"), ("95th percentile", "s", 0, "wait_p95_s"),
             ("bounded slowdown", "", 1, "bounded_slowdown"), ("utilization", "%", 1, "utilization"))  # fmt: skip
    columns = [Column("Queue"), Column("Jobs")]
    for name, unit, decimals, _ in parts:
        columns += [Column(f"{kind} {name}", unit, decimals) for kind in ("Observed", "Simulated")]
    rows = []
    for group in groups:
        row: list[Any] = [group.name, group.jobs]
        for _, unit, _, field in parts:
            for waits in (group.observed, group.simulated):
                number = getattr(waits, field, None)
                row.append(100 * number if unit == "%" and number is not None else number)
        rows.append(tuple(row))
    return Table(caption="Waits by queue, observed and simulated", columns=tuple(columns), rows=rows)


def waits_figure(groups: Sequence[Group]) -> Figure:
    """Return the mean waits of each queue as bars, observed beside simulated.

    Examples
    --------
    >>> from hopperlib.network.scheduling.observed import by_group
    >>> from hopperlib.network.scheduling.scheduler import simulate
    >>> from hopperlib.network.scheduling.workload import Job, Workload
    >>> waits_figure(by_group(simulate(Workload([Job(1, 0, 4, 60, 60)]), 4))).table.rows
    (('all', 0.0),)
    """
    names = [group.name for group in groups]
    series = [
        Series(name=kind, x=names, y=[getattr(waits, "wait_mean_s", 0.0) / 3600 for waits in all_waits], kind="bars")
        for kind, all_waits in (
            ("observed", [group.observed for group in groups]),
            ("simulated", [group.simulated for group in groups]),
        )
        if any(all_waits)
    ]
    told = "; ".join(f"{line.name}: {line.y[-1]:.2f} h over all jobs" for line in series)
    return chart(
        title="Mean wait by queue", alt=f"Bars of the mean wait of each queue. {told}.", x=Axis(title="Queue"),
        y=Axis(title="Mean wait", unit="h", low=0, decimals=2), series=series,
    )  # fmt: skip


def _heat(
    title: str,
    alt: str,
    x: Axis,
    y: Axis,
    xs: Sequence[Any],
    ys: Sequence[Any],
    cells: list[list[Any]],
    scale: str,
    table: Table,
) -> Figure:
    """Return a map of colors from 0 up."""
    most = max((cell for row in cells for cell in row if cell is not None), default=0) or 1
    heat = {
        "type": "heatmap",
        "x": list(xs),
        "y": list(ys),
        "z": cells,
        "zmin": 0,
        "zmax": most,
        "colorscale": "Cividis",
    }
    return Figure(
        title=title, alt=alt, data=[heat | {"colorbar": {"title": {"text": scale}}}], layout=layout(x, y, height=420), table=table
    )  # fmt: skip


def wait_maps(schedule: Schedule) -> list[Figure]:
    """Return maps of the mean wait by width and length of the jobs: simulated, and where the trace tells it, observed.

    Examples
    --------
    >>> from hopperlib.network.scheduling.scheduler import simulate
    >>> from hopperlib.network.scheduling.workload import Job, Workload
    >>> [figure.title for figure in wait_maps(simulate(Workload([Job(1, 0, 4, 60, 60)]), 4))]
    ['Simulated waits by width and length']
    """
    workload, figures = schedule.workload, []
    widest = max(workload.nodes).bit_length()
    for kind, starts in (("Simulated", schedule.start_s), ("Observed", workload.observed_start_s)):
        sums: dict[tuple[int, int], list[int]] = {}
        for job, start in enumerate(starts):
            if start < 0 or schedule.status[job] == NOT_STARTED:
                continue
            length = next(number for number, (edge, _) in enumerate(_LENGTHS) if workload.run_time_s[job] <= edge)
            cell = sums.setdefault((workload.nodes[job].bit_length() - 1, length), [0, 0])
            cell[0] += start - workload.submit_time_s[job]
            cell[1] += 1
        if not sums:
            continue
        cells = [
            [
                round(sums[width, length][0] / sums[width, length][1] / 3600, 2) if (width, length) in sums else None
                for length in range(len(_LENGTHS))
            ]
            for width in range(widest)
        ]
        worst = max(sums, key=lambda cell: sums[cell][0] / sums[cell][1])
        rows = [
            (1 << width, f"to {_LENGTHS[length][1]}", count, total / count / 3600)
            for (width, length), (total, count) in sorted(sums.items())
        ]
        columns = (Column("Nodes, from"), Column("Run time"), Column("Jobs"), Column("Mean wait", "h", 2))
        figures.append(_heat(
            f"{kind} waits by width and length",
            f"Width of jobs upwards, length to the right. The longest mean wait, {sums[worst][0] / sums[worst][1] / 3600:.1f} h, is that of jobs of "
            f"{1 << worst[0]:,} nodes or more, to {_LENGTHS[worst[1]][1]}.",
            Axis(title="Run time: to 5 min, 1 h, 4 h, 12 h, 1 d, longer"), Axis(title="Nodes of a job, power of two"),
            range(len(_LENGTHS)), range(widest), cells, "wait [h]", Table(caption=f"{kind} waits", columns=columns, rows=rows),
        ))  # fmt: skip
    return figures


def occupancy_figure(
    schedule: Schedule,
    span: tuple[int, int] | None = None,
    *,
    cells: tuple[int, int] = (48, 80),
    since: str = "the first start",
    node_list: str = "node list",
) -> Figure:
    """Return which part of each stretch of the node list is busy over time, as a map.

    Parameters
    ----------
    schedule : Schedule
    span : (int, int) or None
        From and to; None for first start to last end. [s]
    cells : (int, int)
        Stretches of the list at most, and of time.
    since, node_list : str
        What time and positions count from, in words.

    Examples
    --------
    >>> from hopperlib.network.scheduling.scheduler import simulate
    >>> from hopperlib.network.scheduling.workload import Job, Workload
    >>> occupancy_figure(simulate(Workload([Job(1, 0, 3, 60, 60)]), 4)).table.rows[-1]
    (3, 0.0)
    """
    rows, columns = min(cells[0], schedule.nodes), cells[1]
    if span is None:
        started = list(schedule.finished())
        begin, end = min(schedule.start_s[job] for job in started), max(schedule.end_s[job] for job in started)
        span = begin, begin + max(columns, end - begin)
    grid = occupancy(schedule, *span, columns=columns, rows=rows)
    days, height = (span[1] - span[0]) / _DAY, schedule.nodes / rows
    means = [100 * sum(line) / columns for line in grid]
    return _heat(
        "Occupancy of the node list",
        f"Node list upwards, {days:.4g} days to the right. The front of the list is {means[0]:.0f} % busy, its end {means[-1]:.0f} %.",
        Axis(title=f"Since {since}", unit="d"), Axis(title=f"Position in the {node_list}"),
        [round((column + 0.5) * days / columns, 4) for column in range(columns)], [round((row + 0.5) * height, 1) for row in range(rows)],
        [[round(100 * min(1.0, cell)) for cell in line] for line in grid], "busy [%]",
        Table(caption="Busy part of each stretch of the list", columns=(Column("From position"), Column("Busy", "%", 1)),
              rows=[(int(row * height), mean) for row, mean in enumerate(means)]),
    )  # fmt: skip


def gantt_figure(schedule: Schedule) -> Figure:
    """Return who sits where over time, as a map in which jobs side by side differ in color; of a long trace some hundred jobs.

    Examples
    --------
    >>> from hopperlib.network.scheduling.scheduler import simulate
    >>> from hopperlib.network.scheduling.workload import Job, Workload
    >>> gantt_figure(simulate(Workload([Job(7, 0, 3, 60, 60), Job(8, 0, 4, 60, 60)]), 4)).table.rows
    [('7', 3, 0.0, 60), ('8', 4, 60.0, 60)]
    """
    started = sorted(schedule.finished(), key=schedule.start_s.__getitem__)
    first = max(0, (len(started) - _GANTT_JOBS) // 2)
    shown = started[first : first + _GANTT_JOBS]
    begin, end = schedule.start_s[shown[0]], max(schedule.start_s[shown[-1]], schedule.start_s[shown[0]])
    if len(shown) == len(started):
        end = max(schedule.end_s[job] for job in shown)
    rows, columns = min(64, schedule.nodes), 120
    step, height = max(1, end - begin) / columns, schedule.nodes / rows
    cells: list[list[int | None]] = [[None] * columns for _ in range(rows)]
    for job in started:
        left, right = ((time - begin) / step - 0.5 for time in (schedule.start_s[job], schedule.end_s[job]))
        for low, high in schedule.runs(job) if right > 0 and left < columns else ():
            for row in range(max(0, ceil(low / height - 0.5)), min(rows, ceil(high / height - 0.5))):
                for column in range(max(0, ceil(left)), min(columns, ceil(right))):
                    cells[row][column] = 1 + job % _COLORS
    numbers, widths = schedule.workload.job, schedule.workload.nodes
    return _heat(
        "Who sits where",
        f"Node list upwards, {(end - begin) / _DAY:.4g} days to the right: {len(shown):,} of {len(started):,} jobs, a color for each in turn.",
        Axis(title="Since the first of these starts", unit="d"), Axis(title="Position in the node list"),
        [round((column + 0.5) * step / _DAY, 5) for column in range(columns)], [round((row + 0.5) * height, 1) for row in range(rows)],
        cells, f"job, modulo {_COLORS}",
        Table(caption="Jobs in the order of their starts", columns=(Column("Job"), Column("Nodes"), Column("Start", "s", 0), Column("Run", "s")),
              rows=[(str(numbers[job]), widths[job], float(schedule.start_s[job] - begin), schedule.end_s[job] - schedule.start_s[job])
                    for job in shown]),
    )  # fmt: skip
