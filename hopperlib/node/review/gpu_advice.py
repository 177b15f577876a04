"""What to know about the GPUs and network interfaces of a placement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from hopperlib.finding import Finding
from hopperlib.machine import NodeKind
from hopperlib.node.binding import Binding
from hopperlib.node.launch.components import Component
from hopperlib.node.launch.ranges import as_ranges
from hopperlib.node.review._findings import finding
from hopperlib.node.review.text_drawing import counted

__all__ = ["gpu_findings"]

# Programs of these kinds choose a GPU for the program behind them.
_WRAPPERS = (".sh", "select_gpu", "bash", "numactl")


def gpu_findings(component: Component, kind: NodeKind, pattern: Sequence[Binding]) -> Iterator[Finding]:
    """Yield what is to be known about the GPUs and network interfaces of a node.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperlib.node.launch.reader import read_launch
    >>> from hopperlib.node.placement import place_tasks
    >>> frontier = Machine.load("frontier")
    >>> placed = place_tasks(read_launch("srun -N 1 -n 8 -c 7 ./a", frontier), frontier)
    >>> [each.code for each in gpu_findings(placed.launch.components[0], placed.node_kind, placed.nodes[0].pattern)]
    ['gpus-all-visible']
    """
    own = [seat.gpus for seat in pattern if seat.gpus is not None]
    tasks = len(pattern)
    if not kind.gpus or len(own) < tasks:
        return
    if not any(own):
        if kind.gpus_by_default is False:
            yield finding("gpus-not-asked", gpus=kind.gpus)
        return
    if component.command and component.command[0].endswith(_WRAPPERS):
        yield finding("gpus-wrapper", program=component.command[0])
        return
    if tasks > 1 and all(len(gpus) > 1 and gpus == own[0] for gpus in own):
        yield finding("gpus-all-visible", tasks=tasks, gpus=len(own[0]))
        return
    users = Counter(gpu for gpus in own for gpu in gpus)
    idle = [gpu for gpu in range(kind.gpus) if gpu not in users]
    if idle:
        are = "is" if len(idle) == 1 else "are"
        yield finding("gpus-idle", idle=counted(len(idle), "GPU"), gpus=kind.gpus, which=as_ranges(idle), are=are)
    if max(users.values()) > 1:
        yield finding("gpus-shared", most=max(users.values()))
    bound = [(task, gpus, seat) for task, (gpus, seat) in enumerate(zip(own, pattern, strict=True)) if seat.bound]
    far = [
        each for each in bound if each[1] and not any(kind.cores_near_gpu(gpu) & set(each[2].cores) for gpu in each[1])
    ]
    if far:
        task, gpus, seat = far[0]
        yield finding(
            "gpus-far",
            far=len(far),
            tasks=counted(tasks, "task"),
            task=task,
            cores=as_ranges(seat.cores),
            gpu=gpus[0],
            near=as_ranges(sorted(kind.cores_near_gpu(gpus[0]))),
        )
    if kind.gpu_nics and len(kind.nic_numa_nodes) > 1:
        alone = ((gpus[0], seat) for _, gpus, seat in bound if len(gpus) == 1)
        apart = sum(kind.nic_numa_nodes[kind.gpu_nics[gpu]] not in seat.numa_nodes for gpu, seat in alone)
        if apart:
            yield finding("nics-apart", apart=counted(apart, "task"))
