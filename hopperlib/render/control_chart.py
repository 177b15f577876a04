"""A control chart as text: runs around their level, for a terminal."""

from collections.abc import Sequence
from statistics import median


def control_chart(
    values: Sequence[float], levels: Sequence[float], outliers: Sequence[int], *, width: int = 72, height: int = 9
) -> list[str]:
    """Return the lines of a chart: ``-`` the level, ``o`` runs, ``x`` outliers; of many runs the middle of neighbors.

    Examples
    --------
    >>> for line in control_chart([10, 10.2, 9.9, 8, 8.1, 7.9], [10, 10, 10, 8, 8, 8], [], height=4):
    ...     print(line)
          10.2 |ooo
          9.43 |
          8.67 |
           7.9 |   ooo
    """
    columns = [range(begin, max(begin + 1, end)) for begin, end in _spans(len(values), width)]
    points = [(median(values[run] for run in span), any(run in outliers for run in span)) for span in columns]
    middle = [median(levels[run] for run in span) for span in columns]
    low, high = min(*(value for value, _ in points), *middle), max(*(value for value, _ in points), *middle)
    step = (high - low) / (height - 1) or 1.0
    grid = [[" "] * len(columns) for _ in range(height)]
    for place, ((value, far), level) in enumerate(zip(points, middle, strict=True)):
        grid[round((high - level) / step)][place] = "-"
        # After the level, so that a run that lies on it is seen.
        grid[round((high - value) / step)][place] = "x" if far else "o"
    return [f"{high - row * step:>10.3g} |{''.join(cells).rstrip()}" for row, cells in enumerate(grid)]


def _spans(runs: int, width: int) -> list[tuple[int, int]]:
    columns = min(runs, width)
    return [(column * runs // columns, (column + 1) * runs // columns) for column in range(columns)]
