"""What a simulated trace shows: the machine over time, the pieces that jobs lie in, and what keeping them whole costs."""

from collections.abc import Mapping, Sequence
from math import ceil
from statistics import mean, median

from hopperlib.network.scheduling.observed import Group, Waits
from hopperlib.network.scheduling.schedule import NOT_STARTED, Schedule, summarize, width_classes
from hopperlib.network.torus.maps import occupancy
from hopperlib.questions.figures import Series
from hopperlib.questions.result import Figure, Table
from hopperlib.questions.wording import wording

_WORDING = wording(__name__)
_DAY = 86_400
_MOST_SAMPLES = 400
_GANTT_JOBS, _COLORS = 200, 12
_CELLS = (64, 120)
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
    step, start = -(-len(schedule.samples) // _MOST_SAMPLES), schedule.samples[0].time_s
    busy, longest, runs = (
        [getattr(sample, name) for sample in schedule.samples]
        for name in ("busy_nodes", "largest_free_run", "free_runs")
    )
    days = [(sample.time_s - start) / _DAY for sample in schedule.samples[::step]]
    said = _WORDING.of(schedule, days=days, last=max(days[-1], 1e-9), busy=busy[::step], longest=longest[::step])
    return said.chart("machine", mean_busy=mean(busy), median_free=median(longest), most_runs=max(runs))


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
    rows = []
    for low, high, jobs in width_classes(schedule):
        numbers = summarize(schedule, jobs)
        waits = float(numbers.mean_wait_s), numbers.max_wait_s
        distance = [] if hops is None else [float(mean(hops[index] for index in jobs))]
        rows.append((_label(low, high, schedule.nodes), len(jobs), *waits, float(numbers.mean_runs), *distance))
    return _WORDING.of().table("widths", rows, with_hops=hops is not None)


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
    return _WORDING.of().chart("pieces", series)


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
    return _WORDING.of().table("allocations", rows)


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
    rows = []
    for group in groups:
        cells = [getattr(waits, name, None) for name in Waits._fields for waits in (group.observed, group.simulated)]
        # The last two are shares, shown in percent.
        shares = (None if share is None else 100 * share for share in cells[-2:])
        rows.append((group.name, group.jobs, *cells[:-2], *shares))
    return _WORDING.of().table("groups", rows)


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
    return _WORDING.of().chart("waits", series)


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
        waits: dict[tuple[int, int], list[int]] = {}
        for job, start in enumerate(starts):
            if start >= 0 and schedule.status[job] != NOT_STARTED:
                length = next(number for number, (edge, _) in enumerate(_LENGTHS) if workload.run_time_s[job] <= edge)
                waits.setdefault((workload.nodes[job].bit_length() - 1, length), []).append(
                    start - workload.submit_time_s[job]
                )
        if not waits:
            continue
        mean_h = {cell: sum(each) / len(each) / 3600 for cell, each in waits.items()}
        lengths = range(len(_LENGTHS))
        cells = [
            [round(mean_h[width, length], 2) if (width, length) in waits else None for length in lengths]
            for width in range(widest)
        ]
        worst = max(mean_h, key=mean_h.__getitem__)
        rows = [
            (1 << width, f"to {_LENGTHS[length][1]}", len(each), mean_h[width, length])
            for (width, length), each in sorted(waits.items())
        ]
        said = _WORDING.of(kind=kind, most_h=mean_h[worst], nodes=1 << worst[0], length=_LENGTHS[worst[1]][1])
        figures.append(said.heat("wait_map", lengths, range(widest), cells, rows))
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
    means = [100 * sum(line) / columns for line in grid]
    said = _WORDING.of(days=(span[1] - span[0]) / _DAY, means=means, since=since, node_list=node_list)
    return said.heat(
        "occupancy",
        _middles(columns, said["days"], 4),
        _middles(rows, schedule.nodes, 1),
        [[round(100 * min(1.0, cell)) for cell in line] for line in grid],
        [(int(row * schedule.nodes / rows), mean) for row, mean in enumerate(means)],
    )


def _middles(cells: int, length: float, decimals: int) -> list[float]:
    """Return the middles of the cells of an axis."""
    return [round((cell + 0.5) * length / cells, decimals) for cell in range(cells)]


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
    starts, ends, numbers, widths = schedule.start_s, schedule.end_s, schedule.workload.job, schedule.workload.nodes
    begin, end = starts[shown[0]], starts[shown[-1]]
    if len(shown) == len(started):
        end = max(ends[job] for job in shown)
    rows, columns = min(_CELLS[0], schedule.nodes), _CELLS[1]
    step, height = max(1, end - begin) / columns, schedule.nodes / rows
    cells: list[list[int | None]] = [[None] * columns for _ in range(rows)]
    for job in started:
        left, right = ((time - begin) / step - 0.5 for time in (starts[job], ends[job]))
        for low, high in schedule.runs(job) if right > 0 and left < columns else ():
            for row in range(max(0, ceil(low / height - 0.5)), min(rows, ceil(high / height - 0.5))):
                for column in range(max(0, ceil(left)), min(columns, ceil(right))):
                    cells[row][column] = 1 + job % _COLORS
    days = max(1, end - begin) / _DAY
    return _WORDING.of(days=(end - begin) / _DAY, shown=len(shown), started=len(started), colors=_COLORS).heat(
        "gantt",
        _middles(columns, days, 5),
        _middles(rows, schedule.nodes, 1),
        cells,
        [(str(numbers[job]), widths[job], float(starts[job] - begin), ends[job] - starts[job]) for job in shown],
    )
