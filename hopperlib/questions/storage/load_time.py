"""Question: how long a job takes to load its libraries or modules, four ways."""

from __future__ import annotations

from typing import Any

from hopperlib.finding import Finding
from hopperlib.questions.figures import Axis, Series, chart
from hopperlib.questions.question import declared
from hopperlib.questions.result import Column, Copyable, Result, Table, Value
from hopperlib.storage.loading import METHODS, LoadTime, load_time
from hopperlib.storage.wording import say

__all__ = ["QUESTION"]

_NAMES = {
    "serial": "one request after another (DVS on Hopper)",
    "parallel": "all servers side by side",
    "cached": "one task a node asks, the node keeps the answers",
    "broadcast": "one task reads, all others are passed a copy",
}
_COPY = """\
tar cf env.tar -C $CONDA_PREFIX .
sbcast env.tar /tmp/env.tar
srun --ntasks-per-node=1 sh -c 'mkdir -p /tmp/env && tar xf /tmp/env.tar -C /tmp/env'
srun /tmp/env/bin/python program.py"""


def _answer(*, nodes: int, **rest: Any) -> Result:
    """Answer for one job."""
    times = {method: load_time(method, nodes=nodes, **rest) for method in METHODS}
    sizes = sorted({nodes, *(2**power for power in range(max(nodes, 4096).bit_length()))})
    serial, best = times["serial"], min(METHODS, key=lambda method: times[method].total_s)
    tasks = nodes * rest["tasks_per_node"]
    return Result(
        summary=(
            f"{tasks:,} tasks load for {_spoken(serial)} if one request is answered after another, "
            f"for {_spoken(times['cached'])} if each node asks once, and for {_spoken(times['broadcast'])} with a broadcast."
        ),
        findings=(_finding(serial),),
        values=tuple(Value(_NAMES[method], times[method].total_s, "predicted", "s", 1) for method in METHODS),
        figures=(
            chart(
                title="Time to load against nodes",
                alt="; ".join(
                    f"{_NAMES[method]}: {times[method].total_s:.3g} s on {nodes:,} nodes" for method in METHODS
                ),
                x=Axis(title="Nodes", log=True),
                y=Axis(title="Time to load", unit="s", log=True, decimals=3),
                series=[
                    Series(name=method, x=sizes, y=[load_time(method, nodes=size, **rest).total_s for size in sizes])
                    for method in METHODS
                ],
            ),
        ),
        copyables=(
            Copyable(
                "Copy the environment to the nodes first",
                _COPY,
                "Where /tmp is memory, it takes that much of each node; paths inside of the environment may need conda-pack.",
            ),
            Copyable(
                "Or let Spindle pass it on",
                "spindle srun python program.py",
                "Where it is installed: one task of the job reads each file.",
            ),
        ),
        tables=(
            Table(
                caption="Where the time goes",
                columns=(
                    Column("Way"),
                    *(Column(title, "s", 1, "predicted") for title in ("Looking", "Reading", "Passing on", "Total")),
                ),
                rows=[(_NAMES[method], *time, time.total_s) for method, time in times.items()],
                marked=(METHODS.index(best),),
                marked_label="the shortest",
            ),
        ),
        facts={
            "tasks": tasks,
            "nodes": nodes,
            "files": rest["files"],
            "best": best,
            **{f"{method}_s": time.total_s for method, time in times.items()},
        },
    )


def _spoken(time: LoadTime) -> str:
    """Return a time in the unit that suits it."""
    seconds = time.total_s
    if seconds >= 5400:
        return f"{seconds / 3600:.1f} hours"
    return f"{seconds / 60:.0f} minutes" if seconds >= 90 else f"{seconds:.2g} seconds"


def _finding(serial: LoadTime) -> Finding:
    """Return what to do first."""
    return say("short" if serial.total_s < 60 else "lookups" if serial.lookups_s > serial.reads_s else "reads")


QUESTION = declared(__name__, _answer)
