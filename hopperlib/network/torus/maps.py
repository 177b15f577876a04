"""Maps of node use: the node list over time, and the compactness of a node order."""

from collections.abc import Sequence

from hopperlib.errors import InputError
from hopperlib.network.torus.allocation import PrefixCounts
from hopperlib.network.torus.distances import Torus
from hopperlib.network.torus.wiring import NodeAddress
from hopperlib.scheduling.schedule import Schedule


def holders(schedule: Schedule, time_s: int) -> dict[int, int]:
    """Return the index of the job at each position of the node list at an instant.

    Parameters
    ----------
    schedule : Schedule
        The schedule.
    time_s : int
        The instant. [s]

    Examples
    --------
    >>> from hopperlib.scheduling.scheduler import simulate
    >>> from hopperlib.scheduling.workload import Job, Workload
    >>> holders(simulate(Workload([Job(7, 0, 2, 60, 60)]), 4), 30)
    {0: 0, 1: 0}
    """
    running = schedule.running(time_s)
    return {at: index for index in running for low, high in schedule.runs(index) for at in range(low, high)}


def occupancy(schedule: Schedule, start_s: int, end_s: int, *, columns: int = 120, rows: int = 96) -> list[list[float]]:
    """Return the busy fraction of each stretch of the node list in each interval. [fraction]

    Parameters
    ----------
    schedule : Schedule
        The schedule.
    start_s : int
        Start of the period. [s]
    end_s : int
        End of the period. [s]
    columns : int, default 120
        Number of columns.
    rows : int, default 96
        Number of rows.

    Raises
    ------
    InputError
        If the period is empty, or there are no columns or rows.

    Examples
    --------
    >>> from hopperlib.scheduling.scheduler import simulate
    >>> from hopperlib.scheduling.workload import Job, Workload
    >>> occupancy(simulate(Workload([Job(7, 0, 2, 60, 60)]), 4), 0, 120, columns=2, rows=2)
    [[1.0, 0.0], [0.0, 0.0]]
    """
    if end_s <= start_s or columns < 1 or rows < 1:
        raise InputError(
            f"end_s={end_s} must be after start_s={start_s}, and columns={columns}, rows={rows} at least 1"
        )
    width, height = (end_s - start_s) / columns, schedule.nodes / rows
    grid = [[0.0] * columns for _ in range(rows)]
    # In one piece, because this loop takes all the time: it runs over every run of nodes of every job. Most runs are
    # within one row of the grid, so the row of each position and the end of that row are computed once.
    row_of = [int(position / height) for position in range(schedule.nodes)]
    last_of = [(row + 1) * height for row in row_of]
    bounds, first_bound, run_count = schedule.bounds, schedule.first_bound, schedule.run_count
    for index in schedule.finished():
        begin, end = max(schedule.start_s[index], start_s), min(schedule.end_s[index], end_s)
        if begin >= end:
            continue
        times, first = _overlaps(begin - start_s, end - start_s, width, columns), first_bound[index]
        for at in range(first, first + 2 * run_count[index], 2):
            low, high = bounds[at], bounds[at + 1]
            if high <= last_of[low]:
                line, nodes = grid[row_of[low]], (high - low) / height
                for column, share in times:
                    line[column] += share * nodes
            else:
                for row, nodes in _overlaps(low, high, height, rows):
                    line = grid[row]
                    for column, share in times:
                        line[column] += share * nodes
    return [[min(1.0, cell) for cell in line] for line in grid]


def _overlaps(low: float, high: float, size: float, count: int) -> list[tuple[int, float]]:
    """Return the cells that an interval overlaps, and the covered part of each."""
    first = int(low / size)
    if first < count and low < high <= (first + 1) * size:
        return [(first, (high - low) / size)]
    cells = range(first, min(count, int(high / size) + 1))
    covered = ((cell, (min(high, (cell + 1) * size) - max(low, cell * size)) / size) for cell in cells)
    return [(cell, share) for cell, share in covered if share > 0]


def compactness(nodes: Sequence[NodeAddress], torus: Torus, width: int, *, step: int = 1) -> list[tuple[int, float]]:
    """Mean distance within a window of the node list, for each position of the window. [hops] This curve shows the
    quality of an order for jobs of one size on an empty machine; Albing compared orders with it [1]_.

    Parameters
    ----------
    nodes : sequence of NodeAddress
        Nodes in the order to be evaluated.
    torus : Torus
    width : int
        Size of the window. [nodes]
    step : int
        Positions from one window to the next.

    Returns
    -------
    list of (int, float)
        First position, mean distance over all pairs of nodes.

    Raises
    ------
    InputError
        If the window does not fit the list.

    Examples
    --------
    >>> from hopperlib.network.torus.wiring import Wiring
    >>> compactness(Wiring(1, 1).addresses, Torus((1, 2, 24)), 4, step=40)
    [(0, 0.6666666666666666), (40, 0.6666666666666666), (80, 0.6666666666666666)]

    References
    ----------
    .. [1] C. Albing et al., EuroMPI 2011, doi 10.1007/978-3-642-24449-0_9.
    """
    if not 1 <= width <= len(nodes) or step < 1:
        raise InputError(
            f"width={width} must be from 1 to {len(nodes)}, the nodes of the list, and step={step} at least 1"
        )
    counts = PrefixCounts([node.coordinates for node in nodes], torus)
    return [
        (first, counts.mean_hop_distance([(first, first + width)])) for first in range(0, len(nodes) - width + 1, step)
    ]
