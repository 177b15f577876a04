"""The parts of the placement explorer's answer: numbers, chart, lines to copy, tables, files."""

from __future__ import annotations

import json

from hopperlib.machine import Machine
from hopperlib.node.bandwidth import memory_bound_fraction
from hopperlib.node.placement import Placement
from hopperlib.node.review.as_data import numa_rows, placement_data, task_rows
from hopperlib.node.review.binding_lists import cc_list, common_pattern, map_cpu, mask_cpu, rank_file, rank_order
from hopperlib.node.review.equivalent import equivalent_line
from hopperlib.node.review.review import Review
from hopperlib.node.review.slowdown import Cost
from hopperlib.node.review.text_drawing import headline
from hopperlib.questions.figures import Axis, Reference, Series, chart
from hopperlib.questions.result import Badge, Column, Copyable, Download, Figure, Table, Value

__all__ = ["copyables", "downloads", "figure", "measured", "summary", "tables", "values"]

# A page must stay small whatever is typed: longer tables are cut and say so, larger files are not offered.
_MOST_ROWS = 96
_MOST_TASKS_IN_A_FILE = 2_000
_FRACTIONS = tuple(step / 10 for step in range(11))


def _badge(machine: Machine, kind: str, key: str) -> tuple[Badge, str]:
    """Return the badge of a number of the machine file, and its source or reason."""
    quantity = machine.provenance.get(f"node.{kind}.{key}")
    if quantity is None or quantity.source is None:
        return "assumed", (quantity.assumed or "") if quantity else ""
    return "documented", f"{quantity.source}, {quantity.at}" if quantity.at else quantity.source


def values(review: Review, low: float, high: float, *, cap_given: bool) -> list[Value]:
    """Return the numbers of the bandwidth model; a cap that the reader set is an assumption of theirs.

    Examples
    --------
    >>> from hopperlib.node.review.review import review_line
    >>> review = review_line("aprun -n 384 -N 12 vasp", Machine.load("hopper"))
    >>> print(*(f"{one.text} {one.badge}" for one in values(review, 0, 1, cap_given=False)[2:6]), sep=", ")
    2.00 predicted, 3.55 predicted, 5.00 predicted, 5.0 assumed
    """
    placement, cost = review.placement, review.cost
    kind, worst = placement.node_kind, cost.worst
    least, most = cost.slowdown_range(low, high)
    cap_badge, cap_note = _badge(placement.machine, kind.name, "core_bandwidth_cap_gb_s")
    numa_badge, numa_note = _badge(placement.machine, kind.name, "numa_bandwidth_gb_s")
    out = [
        Value(
            label="Run time over that of the same tasks spread evenly",
            value=most,
            badge="predicted",
            decimals=2,
            low=least,
            high=most,
            note=f"for a memory-bound fraction from {low:g} to {high:g}; no line says which",
        )
    ]
    gain = review.gain_range(low, high)
    if gain is not None:
        out.append(
            Value(
                label="Run time over that of the better line",
                value=gain[1],
                badge="predicted",
                decimals=2,
                low=gain[0],
                high=gain[1],
                note="memory bandwidth and shared cores alone",
            )
        )
    rate_note = f"min(cap, B / {max(worst.load.threads):.3g}) on the fullest NUMA node, before remote memory"
    spread_note = f"with {max(worst.spread.threads):.3g} on the fullest NUMA node"
    out += [
        Value(
            label="Limit of the memory channels alone",
            value=worst.channel_ratio,
            badge="predicted",
            decimals=2,
            note="a limit of this model, no bound on real runs: shared caches can push past it"
            if worst.slowdown(1) <= worst.channel_ratio
            else "shared channels alone; other causes, such as remote memory, add to it",
        ),
        Value(
            label="Memory rate of the slowest thread",
            value=worst.rate_gb_s,
            badge="predicted",
            unit="GB/s",
            decimals=2,
            note=rate_note,
        ),
        Value(
            label="The same, spread evenly",
            value=worst.spread_rate_gb_s,
            badge="predicted",
            unit="GB/s",
            decimals=2,
            note=spread_note,
        ),
        Value(
            label="Most that one core draws",
            value=cost.core_cap_gb_s,
            badge="assumed" if cap_given else cap_badge,
            unit="GB/s",
            decimals=1,
            note="as set above" if cap_given else cap_note,
        ),
        Value(
            label="Bandwidth B of a NUMA node",
            value=kind.numa_bandwidth_gb_s,
            badge=numa_badge,
            unit="GB/s",
            decimals=1,
            note=numa_note,
        ),
    ]
    if any(cost.memory_per_task_gb):
        remote_badge, remote_note = _badge(placement.machine, kind.name, "remote_bandwidth_fraction")
        out += [
            Value(
                label="Share of the memory on other NUMA nodes",
                value=worst.memory.remote_fraction,
                badge="predicted",
                decimals=2,
                note="what does not fit is shared out evenly over the free memory: assumed",
            ),
            Value(
                label="What is left of a core's rate on such memory",
                value=kind.remote_bandwidth_fraction,
                badge=remote_badge,
                decimals=2,
                note=remote_note,
            ),
        ]
    return out


def measured(cost: Cost, packed_s: float, spread_s: float) -> list[Value]:
    """Return the memory-bound fraction that explains two measured run times, if both are given.

    Examples
    --------
    >>> from hopperlib.node.review.review import review_line
    >>> review = review_line("aprun -n 384 -N 12 vasp", Machine.load("hopper"))
    >>> [one.text for one in measured(review.cost, 120, 100)], measured(review.cost, 120, 0)
    (['0.49'], [])
    """
    if not packed_s or not spread_s:
        return []
    label = "Memory-bound fraction that explains the two run times"
    try:
        fraction = memory_bound_fraction(packed_s, spread_s, cost.worst.ratio)
    except ValueError as error:
        return [Value(label=label, value="none", badge="predicted", note=str(error))]
    return [Value(label=label, value=fraction, badge="predicted", decimals=2, note="of the spread run, by this model")]


def figure(review: Review, low: float, high: float) -> Figure:
    """Return the chart of the slowdown against the memory-bound fraction.

    Examples
    --------
    >>> from hopperlib.node.review.review import review_line
    >>> review = review_line("aprun -n 384 -N 12 vasp", Machine.load("hopper"))
    >>> [trace["name"] for trace in figure(review, 0, 1).data]
    ['this line', 'better line', 'channel limit 2.00']
    """
    worst = review.cost.worst
    series = [Series(name="this line", x=_FRACTIONS, y=[worst.slowdown(part) for part in _FRACTIONS])]
    better = review.suggestion.better
    if better is not None:
        series.append(
            Series(name="better line", x=_FRACTIONS, y=[better.cost.worst.slowdown(part) for part in _FRACTIONS])
        )
    limit = worst.channel_ratio
    top = max([limit, *(max(one.y) for one in series)])
    shade = {"type": "rect", "xref": "x", "yref": "paper", "x0": low, "x1": high, "y0": 0, "y1": 1}
    shade |= {"fillcolor": "rgba(122,122,122,0.15)", "line": {"width": 0}, "layer": "below"}
    alt = (
        f"Run time over that of the same tasks spread evenly, against the memory-bound fraction. "
        f"This line goes from {worst.slowdown(0):.2f} at 0 to {worst.slowdown(1):.2f} at 1"
    )
    if better is not None:
        alt += f", the better line from {better.cost.worst.slowdown(0):.2f} to {better.cost.worst.slowdown(1):.2f}"
    alone = (
        f"limit it to {limit:.2f}" if worst.slowdown(1) <= limit else f"would give {limit:.2f}; other causes add to it"
    )
    alt += f". The memory channels alone {alone}. Shaded: the fractions from {low:g} to {high:g}."
    return chart(
        title="What waiting for memory costs",
        alt=alt,
        x=Axis(title="Memory-bound fraction of the spread run", low=0, high=1, decimals=2),
        y=Axis(
            title="Run time / spread run time", low=min(0.9, 1 - (top - 1) / 10), high=max(top * 1.05, 1.3), decimals=3
        ),
        series=series,
        references=[Reference(name=f"channel limit {limit:.2f}", y=limit)],
        shapes=[shade],
    )


def copyables(review: Review) -> list[Copyable]:
    """Return the lines and lists to copy.

    Examples
    --------
    >>> from hopperlib.node.review.review import review_line
    >>> review = review_line("aprun -n 384 -N 12 vasp", Machine.load("hopper"))
    >>> [one.title for one in copyables(review)]
    ['The better line', 'The better line for srun', 'This line for srun', '-cc list', 'map_cpu', 'mask_cpu']
    """
    placement, suggestion = review.placement, review.suggestion
    launcher = placement.launch.launcher
    other = "srun" if launcher == "aprun" else "aprun"
    out = []
    general = placement.machine.launcher(other).assumed
    note = f"The same task on the same cores, checked by placing it. {general or ''}".strip()
    if suggestion.better is not None:
        out.append(
            Copyable(title="The better line", text=suggestion.better.line, note=headline(suggestion.better.placement))
        )
        text = equivalent_line(suggestion.better.placement)
        if text is not None:
            out.append(Copyable(title=f"The better line for {other}", text=text, note=note))
    if suggestion.equivalent is not None:
        out.append(Copyable(title=f"This line for {other}", text=suggestion.equivalent, note=note))
    for number in range(len(placement.launch.components)):
        of = f" of program {number + 1}" if len(placement.launch.components) > 1 else ""
        for title, maker in (("-cc list", cc_list), ("map_cpu", map_cpu), ("mask_cpu", mask_cpu)):
            try:
                text = maker(common_pattern(placement, number))
            except ValueError:
                continue
            out.append(
                Copyable(
                    title=f"{title}{of}", text=text, note="The cores of each task of a node, as this line places them."
                )
            )
    return out


def tables(placement: Placement) -> list[Table]:
    """Return the tables by NUMA node and by task, cut where they are long.

    Examples
    --------
    >>> from hopperlib.node.review.review import review_line
    >>> review = review_line("aprun -n 384 -N 12 vasp", Machine.load("hopper"))
    >>> [len(table.rows) for table in tables(review.placement)]
    [4, 96]
    """
    rows = numa_rows(placement)
    cut = f" (the first {_MOST_ROWS} of {len(rows):,} rows)" if len(rows) > _MOST_ROWS else ""
    by_numa = Table(
        caption=f"Tasks by NUMA node{cut}; equal nodes share their rows",
        columns=tuple(Column(title=title) for title in ("Nodes", "NUMA node", "Tasks", "Which", "Cores they may use")),
        rows=[tuple(cell if cell != "" else None for cell in row) for row in rows[:_MOST_ROWS]],
    )
    tasks = placement.launch.tasks
    cut = f" (the first {_MOST_ROWS} of {tasks:,}; `hopper place --json` has all)" if tasks > _MOST_ROWS else ""
    one_program = len(placement.launch.components) == 1
    columns = tuple(Column(title=title) for title in ("Task", "Program", "Node", "Cores", "NUMA nodes", "Bound"))
    by_task = Table(
        caption=f"Every task{cut}",
        columns=columns[:1] + columns[2:] if one_program else columns,
        rows=[
            (task, *rest) if one_program else (task, component + 1, *rest)
            for task, component, *rest in task_rows(placement, _MOST_ROWS)
        ],
    )
    return [by_numa, by_task]


def downloads(review: Review, low: float, high: float, *, svg: str) -> list[Download]:
    """Return the files to save; those with a line a task only for jobs of moderate size.

    Examples
    --------
    >>> from hopperlib.node.review.review import review_line
    >>> review = review_line("aprun -n 384 -N 12 vasp", Machine.load("hopper"))
    >>> [one.name for one in downloads(review, 0, 1, svg="<svg/>")]
    ['placement.json', 'node.svg', 'MPICH_RANK_ORDER', 'rankfile.txt']
    """
    placement = review.placement
    out = [
        Download(name="node.svg", text=svg, media_type="image/svg+xml"),
        Download(name="MPICH_RANK_ORDER", text=rank_order(placement)),
    ]
    if placement.launch.tasks <= _MOST_TASKS_IN_A_FILE:
        data = placement_data(review, memory_bound_fraction=(low, high))
        out.insert(0, Download(name="placement.json", text=json.dumps(data), media_type="application/json"))
        out.append(Download(name="rankfile.txt", text=rank_file(placement)))
    return out


def summary(review: Review, low: float, high: float) -> str:
    """Return the answer in a sentence or two.

    Examples
    --------
    >>> from hopperlib.node.review.review import review_line
    >>> review = review_line("aprun -n 384 -N 12 vasp", Machine.load("hopper"))
    >>> summary(review, 0, 1).endswith("Better: aprun -n 384 -N 12 -S 3 vasp")
    True
    """
    text = headline(review.placement)
    least, most = review.cost.slowdown_range(low, high)
    if most > 1.005:
        text += f" It may take {least:.2f} to {most:.2f} times as long as the same tasks spread evenly."
    if review.suggestion.better is not None:
        text += f" Better: {review.suggestion.better.line}"
    elif review.problems:
        text += f" {review.problems[0].message}"
    else:
        text += " No better line was found."
    return text
