"""The next run to make, given why runs differ."""

import math
import re
from collections.abc import Sequence

from hopperkit.readers.table import finite
from hopperkit.variation.explanation import Explanation
from hopperkit.variation.factors import DATE
from hopperkit.variation.separation import Separation
from hopperlib.text import listed

_MOST_NAMED = 4
# Share of the variance between jobs above which to examine the jobs. [fraction]
_MOSTLY = 0.5


def next_run(found: Explanation) -> str:
    """The next run to make: the one that best separates the remaining explanations.

    Examples
    --------
    >>> from hopperkit.readers.runs_table import read_runs
    >>> from hopperkit.variation.explanation import explain
    >>> next_run(explain(read_runs("1127 1122 369 365 371 1119 372 369")))[:40]
    'Next: record the nodes, date, build and '
    """
    cause = found.shared or found.best
    # In one piece: a decision list, in which the first case that applies is the most specific.
    if found.with_order:
        name = found.with_order[0]
        return f"Next: repeat the earliest kind of run now: if it takes as long as it did then, {name} matters; if not, the time does."
    if found.scaling is not None:
        return (
            f"Next: to compare two variants, make both at the same {found.scaling.column}, in alternation; a program that is "
            "to run on more is judged by its efficiency there."
        )
    if cause is not None and cause.factor.column != DATE:
        return _confirm(cause, found)
    if cause is not None and cause.factor.kind == "set":
        return "Next: the same run at a slow hour and at a fast hour, on the same nodes, on three days; and compare what else runs then (squeue, the load of the file system)."
    if found.shape.kind == "drift" and found.table.one_way and not found.table.when:
        return "Next: give the runs in the order in which they were made, or with their dates."
    if found.shape.kind in ("drift", "step"):
        return "Next: repeat the first run exactly as it was, on its nodes and with its version: if it is as fast as it was then, the runs changed; if not, the machine did."
    if found.components and found.components.low > _MOSTLY and found.shape.kind == "one group":
        return "Next: record the nodes and the date of each job, because most of the spread is between jobs; compare two versions inside one job, where it does not matter."
    if not found.factors:
        apart = found.shape.slow if found.shape.kind in ("few slow", "few fast") and found.table.when else ()
        which = (
            f"compare the runs of {listed(found.table.when[place] for place in apart[:_MOST_NAMED])} with the others: "
            if apart
            else ""
        )
        return f"Next: {which}record the nodes, date, build and partition of each run (sacct -o JobID,Elapsed,NodeList,Start,Partition), and give them as columns; without them, no cause can be found."
    if found.shape.kind in ("two groups", "few slow", "few fast"):
        return "Next: repeat a slow run on exactly its nodes, twice, and once on the nodes of a fast run: that separates the effect of the nodes from that of the time."
    return "Next: nothing here explains the spread; to compare variants, make enough runs of each (hopper runs-needed), in alternation."


def _confirm(cause: Separation, found: Explanation) -> str:
    """The run that confirms a cause."""
    factor = cause.factor
    if tied := found.tied(cause):
        if found.shared is None and cause.z < 0 and factor.name.startswith("node "):
            return "Next: one run on half of these nodes and half of the others, and one on the other halves: the slow one has the nodes to check; halve again."
        return _split([factor.name, *tied])
    if " = " in factor.name:
        column, _, value = factor.name.partition(" = ")
        others = [str(cell) for cell in found.table.columns.get(column, ())]
        if others and value == min(others, key=_by_number):
            return f"Next: leave the runs with {factor.name} out, or warm up before it: the first run of a job reads files, compiles and touches its memory for the first time."
        return f"Next: three jobs more, to see whether {factor.name} is apart in each of them."
    if factor.kind == "set":
        fast = cause.z < 0 and found.shared is None
        name = factor.name.split()[-1]
        if factor.name.startswith("node") and not fast:
            return (
                f"Next: three runs without node {name} (--exclude={name}); if all are fast, have the center check it."
            )
        if fast:
            return f"Next: three runs on {factor.name} and three elsewhere, in alternation, to see whether it is the faster one."
        return f"Next: three runs outside {factor.name} and three inside it, in alternation."
    if factor.kind == "number":
        return f"Next: two runs each with {factor.name} {min(factor.values):g} and {max(factor.values):g}, everything else equal, in alternation."
    kinds = sorted(set(factor.values))
    return f"Next: two runs each with {factor.name} {listed(kinds[:2])}, everything else equal, in alternation: a, b, a, b."


def _by_number(text: str) -> tuple[float, str]:
    """Order of values: numbers by size, before other texts."""
    number = finite(text)
    return (math.inf, text) if number is None else (number, "")


def nodes_among(names: Sequence[str]) -> list[str]:
    """Names of the nodes among factors, numbers in them in order.

    Parameters
    ----------
    names : sequence of str
        Names of factors.

    Examples
    --------
    >>> nodes_among(["node c10", "node c9", "column build"])
    ['c9', 'c10']
    """
    nodes = [name.removeprefix("node ") for name in names if name.startswith("node ")]
    return sorted(nodes, key=lambda node: (re.sub(r"\d+", "", node), [int(part) for part in re.findall(r"\d+", node)]))


def _split(names: list[str]) -> str:
    """The runs that distinguish nodes or columns that all runs so far had together."""
    nodes = nodes_among(names)
    if len(nodes) < len(names):
        return f"Next: two runs each that change only one of {listed(names[:_MOST_NAMED])}: the one that changes the time is the cause."
    if len(nodes) <= _MOST_NAMED:
        return (
            f"Next: one run on each of {listed(nodes)} without the others (--nodelist, --exclude): the one that is slow is the node to "
            "check."
        )
    half = len(nodes) // 2
    return (
        f"Next: one run on {nodes[0]} to {nodes[half - 1]} without the other {len(nodes) - half}, and one on {nodes[half]} to "
        f"{nodes[-1]} without the first {half} (--nodelist, --exclude): the node is in the half that is slow; halve again."
    )
