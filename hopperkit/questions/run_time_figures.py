"""Figures of run times: a histogram with the counts expected from a family, and quantiles."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from hopperkit.questions.figures import Axis, Series, chart
from hopperkit.questions.result import Figure
from hopperlib.text import count


def histogram_figure(
    edges: Sequence[float],
    counts: Sequence[int],
    expected: Mapping[str, Sequence[float]],
    *,
    unit: str = "s",
    marks: Mapping[str, float] | None = None,
    beyond: tuple[int, int] = (0, 0),
) -> Figure:
    """Return the counts between edges, with the expected counts of families as lines.

    Parameters
    ----------
    edges : sequence of n + 1 float
    counts : sequence of n int
    expected : mapping of str to sequence of n float
        By name of the family.
    unit : str
        Of the edges.
    marks : mapping of str to float
        Documented times to compare with, by name.
    beyond : (int, int)
        Number of times in the first and the last bar that are beyond it.

    Examples
    --------
    >>> histogram_figure([0, 10, 20], [3, 1], {"normal": [2.5, 1.5]}).table.rows
    ((5.0, 3, 2.5), (15.0, 1, 1.5))
    """
    middles = [(low + high) / 2 for low, high in pairwise(edges)]
    fullest = max(range(len(counts)), key=counts.__getitem__)
    alt = (
        f"{count(sum(counts), 'time')} from {edges[0]:,.5g} to {edges[-1]:,.5g} {unit}; most, {counts[fullest]:,}, "
        f"lie from {edges[fullest]:,.5g} to {edges[fullest + 1]:,.5g} {unit}."
    )
    if any(beyond):
        alt += f" The bars at the ends include {beyond[0]:,} and {beyond[1]:,} times beyond them."
    if expected:
        alt += f" Lines: expected from {', '.join(expected)}."
    if marks:
        alt += f" Marked: {', '.join(marks)}."
    lines = [Series(name=f"{name} expects", x=middles, y=list(values)) for name, values in expected.items()]
    return chart(
        title="Histogram of the run times",
        alt=alt,
        x=Axis(title="Run time" + (", far runs in the bars at the ends" if any(beyond) else ""), unit=unit),
        y=Axis(title="Runs", low=0, decimals=1),
        series=[Series(name="runs", kind="bars", x=middles, y=list(counts)), *lines],
        marks=marks,
        bargap=0.05,
    )
