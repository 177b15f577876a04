"""Figures of a simulated trace: the machine over time, the fragments of jobs, and the cost of keeping jobs contiguous."""

from collections.abc import Callable, Mapping, Sequence
from statistics import mean, median

from hopperkit.questions.figures import Axis, Series, chart, heat_map
from hopperkit.questions.result import Column, Figure, Table, table
from hopperkit.traces.observed import Group
from hopperlib.network.fabrics.allocation_spread import AllocationSpread
from hopperlib.network.torus.maps import occupancy
from hopperlib.scheduling.schedule import Schedule, Summary, summarize, width_classes
from hopperlib.text import count

_DAY = 86_400
_MAX_SAMPLES = 400
_MAX_ROWS = 12


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
    >>> from hopperkit.traces.scheduler import simulate
    >>> from hopperlib.scheduling.workload import Job, Workload
    >>> schedule = simulate(Workload([Job(1, 0, 3, 7200, 7200)]), 4, sample_every_s=3600)
    >>> machine_figure(schedule).table.rows[1]
    (0.0416..., 3, 1)
    """
    if not schedule.samples:
        raise ValueError("the schedule has no records of the machine: simulate with sample_every_s")
    step, start = -(-len(schedule.samples) // _MAX_SAMPLES), schedule.samples[0].time_s
    busy, longest, runs = (
        [getattr(sample, name) for sample in schedule.samples]
        for name in ("busy_nodes", "largest_free_run", "free_runs")
    )
    days = [(sample.time_s - start) / _DAY for sample in schedule.samples[::step]]
    return chart(
        title="The machine over time",
        alt=f"Of {schedule.nodes:,} nodes {mean(busy):,.0f} are busy on average; the longest run of free nodes has "
        f"{median(longest):,.0f} in the median, and free nodes form up to {count(max(runs), 'run')}.",
        x=Axis(title="Since the first job", unit="d", low=0, high=max(days[-1], 1e-9), decimals=2),
        y=Axis(title="Nodes", low=0),
        series=[
            Series(name="busy", x=days, y=busy[::step]),
            Series(name="longest free run", x=days, y=longest[::step]),
        ],
    )


# The jobs of some widths: from, to, their indices, and their totals.
_Width = tuple[int, int, list[int], Summary]


def _label(low: int, high: int, widest: int) -> str:
    """Return the widths of a class in words."""
    high = min(high, widest)
    return f"{low:,}" if low >= high else f"{low:,} to {high:,}"


def width_table(
    schedule: Schedule, hops: Sequence[float] | None = None, spread: Mapping[int, AllocationSpread] | None = None
) -> Table:
    """Return jobs, waits and pieces by width.

    Parameters
    ----------
    schedule : Schedule
    hops : sequence of float or None
        Mean distance of each job's nodes, in order of submission; None without a torus. [hops]
    spread : mapping or None
        Spread of each job that started, by its index; None without a dragonfly or fat tree.

    Examples
    --------
    >>> from hopperkit.traces.scheduler import simulate
    >>> from hopperlib.scheduling.workload import Job, Workload
    >>> width_table(simulate(Workload([Job(1, 0, 4, 60, 60), Job(2, 0, 4, 60, 60)]), 4)).rows
    [('4', 2, 30.0, 60, 1.0)]
    """
    classes = [(low, high, jobs, summarize(schedule, jobs)) for low, high, jobs in width_classes(schedule)]
    more: dict[str | Column, Callable[[_Width], float]] = {}
    if hops is not None:
        more[Column("Mean distance", "hops", 2)] = lambda each: mean(hops[job] for job in each[2])
    if spread:
        more[Column("Mean groups", decimals=2)] = lambda each: mean(spread[job].groups for job in each[2])
        more[Column("Mean switches", decimals=1)] = lambda each: mean(spread[job].switches for job in each[2])
        more[Column("Pairs in one group", "%", 0)] = lambda each: (
            100 * mean(spread[job].inside_group for job in each[2])
        )
    return table(
        "Waits and pieces by width, simulated",
        classes,
        {
            "Nodes of a job": lambda each: _label(each[0], each[1], schedule.nodes),
            "Jobs": lambda each: len(each[2]),
            Column("Mean wait", "s", 0): lambda each: float(each[3].mean_wait_s),
            Column("Longest wait", "s", 0): lambda each: each[3].max_wait_s,
            Column("Mean runs", decimals=2): lambda each: float(each[3].mean_runs),
            **more,
        },
    )


def _percent(fraction: float | None) -> float | None:
    return None if fraction is None else 100 * fraction


def group_table(groups: Sequence[Group]) -> Table:
    """Return observed and simulated waits of each queue, slowdowns and use.

    Parameters
    ----------
    groups : sequence of Group
        The groups of jobs.

    Examples
    --------
    >>> from hopperkit.traces.observed import by_group
    >>> from hopperkit.traces.scheduler import simulate
    >>> from hopperlib.scheduling.workload import Job, Workload
    >>> group_table(by_group(simulate(Workload([Job(1, 0, 4, 60, 60, observed_start_s=9)]), 4))).rows[0][:4]
    ('all', 1, 9.0, 0.0)
    """
    shown, which = _largest(groups)

    def observed(name: str) -> Callable[[Group], float | None]:
        return lambda group: getattr(group.observed, name, None)

    def simulated(name: str) -> Callable[[Group], float | None]:
        return lambda group: getattr(group.simulated, name, None)

    return table(
        f"Waits by queue, observed and simulated{which}",
        shown,
        {
            "Queue": lambda group: group.name,
            "Jobs": lambda group: group.jobs,
            Column("Observed mean wait", "s", 0): observed("wait_mean_s"),
            Column("Simulated mean wait", "s", 0): simulated("wait_mean_s"),
            Column("Observed median wait", "s", 0): observed("wait_median_s"),
            Column("Simulated median wait", "s", 0): simulated("wait_median_s"),
            Column("Observed 95th percentile", "s", 0): observed("wait_p95_s"),
            Column("Simulated 95th percentile", "s", 0): simulated("wait_p95_s"),
            Column("Observed bounded slowdown", decimals=1): observed("bounded_slowdown"),
            Column("Simulated bounded slowdown", decimals=1): simulated("bounded_slowdown"),
            Column("Observed utilization", "%", 1): lambda group: _percent(observed("utilization")(group)),
            Column("Simulated utilization", "%", 1): lambda group: _percent(simulated("utilization")(group)),
        },
    )


def _largest(groups: Sequence[Group]) -> tuple[Sequence[Group], str]:
    """Return the queues with the most jobs, and all jobs, up to the size of a table; and a note if some are left out."""
    if len(groups) <= _MAX_ROWS:
        return groups, ""
    largest = sorted(groups[:-1], key=lambda group: -group.jobs)[: _MAX_ROWS - 1]
    return [*largest, groups[-1]], f": the {_MAX_ROWS - 1} largest of {len(groups) - 1} queues"


def occupancy_figure(
    schedule: Schedule,
    span: tuple[int, int] | None = None,
    *,
    cells: tuple[int, int] = (48, 80),
    since: str = "the first start",
    node_list: str = "node list",
) -> Figure:
    """Return the busy fraction of each stretch of the node list over time, as a map.

    Parameters
    ----------
    schedule : Schedule
    span : (int, int) or None
        From and to; None for first start to last end. [s]
    cells : (int, int)
        Stretches of the list at most, and of time.
    since, node_list : str
        Origin of time and positions, in words.

    Examples
    --------
    >>> from hopperkit.traces.scheduler import simulate
    >>> from hopperlib.scheduling.workload import Job, Workload
    >>> occupancy_figure(simulate(Workload([Job(1, 0, 3, 60, 60)]), 4)).table.rows[-1]
    (3, 0.0)
    """
    rows, columns = min(cells[0], schedule.nodes), cells[1]
    if span is None:
        started = list(schedule.finished())
        begin, end = min(schedule.start_s[job] for job in started), max(schedule.end_s[job] for job in started)
        span = begin, begin + max(columns, end - begin)
    grid = occupancy(schedule, *span, columns=columns, rows=rows)
    means = [100 * sum(line) / columns for line in grid]
    days = (span[1] - span[0]) / _DAY
    return heat_map(
        title="Occupancy of the node list",
        alt=f"Node list upwards, {days:.4g} days to the right. The front of the list is {means[0]:.0f} % busy, "
        f"its end {means[-1]:.0f} %.",
        x=Axis(title=f"Since {since}", unit="d"),
        y=Axis(title=f"Position in the {node_list}"),
        xs=_middles(columns, days, 4),
        ys=_middles(rows, schedule.nodes, 1),
        cells=[[round(100 * min(1.0, cell)) for cell in line] for line in grid],
        scale="busy [%]",
        table=table(
            "Busy part of each stretch of the list",
            list(enumerate(means)),
            {
                "From position": lambda stretch: int(stretch[0] * schedule.nodes / rows),
                Column("Busy", "%", 1): lambda stretch: stretch[1],
            },
        ),
    )


def _middles(cells: int, length: float, decimals: int) -> list[float]:
    """Return the middles of the cells of an axis."""
    return [round((cell + 0.5) * length / cells, decimals) for cell in range(cells)]
