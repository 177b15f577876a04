"""What to know about the GPUs and network interfaces of a placement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from hopperlib.machine import NodeKind
from hopperlib.node.binding import Binding
from hopperlib.node.launch.components import Component
from hopperlib.node.launch.ranges import as_ranges
from hopperlib.node.review.text_drawing import counted

__all__ = ["gpu_findings"]

# Programs of these kinds choose a GPU for the program behind them.
_WRAPPERS = (".sh", "select_gpu", "bash", "numactl")


def gpu_findings(component: Component, kind: NodeKind, pattern: Sequence[Binding]) -> Iterator[tuple[str, str]]:
    """Yield code and message of what is to be known about the GPUs of a node.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperlib.node.launch.reader import read_launch
    >>> from hopperlib.node.placement import place_tasks
    >>> frontier = Machine.load("frontier")
    >>> placement = place_tasks(read_launch("srun -N 1 -n 8 -c 7 ./a", frontier), frontier)
    >>> [code for code, _ in gpu_findings(placement.launch.components[0], placement.node_kind, placement.nodes[0].pattern)]
    ['gpus-all-visible']
    """
    seen = [seat.gpus for seat in pattern]
    if not kind.gpus or any(gpus is None for gpus in seen):
        return
    own = [tuple(gpus or ()) for gpus in seen]
    tasks = len(own)
    if not any(own):
        if kind.gpus_by_default is False:
            yield (
                "gpus-not-asked",
                f"No task sees a GPU, and a node has {kind.gpus}: a job gets those that it asks for (--gpus-per-node).",
            )
        return
    if component.command and any(component.command[0].endswith(word) for word in _WRAPPERS):
        yield (
            "gpus-wrapper",
            f"{component.command[0]} may choose a GPU for each task; what it leaves is not judged here.",
        )
        return
    users = Counter(gpu for gpus in own for gpu in gpus)
    if tasks > 1 and all(len(gpus) > 1 and gpus == own[0] for gpus in own):
        yield (
            "gpus-all-visible",
            f"Each of the {tasks} tasks sees the same {len(own[0])} GPUs: a program that does not choose by its local "
            "rank runs all of them on the first. --gpus-per-task=1 --gpu-bind=closest gives each one of its own.",
        )
        return
    idle = [gpu for gpu in range(kind.gpus) if gpu not in users]
    if idle:
        yield (
            "gpus-idle",
            f"{counted(len(idle), 'GPU')} of {kind.gpus} on a node ({as_ranges(idle)}) {'is' if len(idle) == 1 else 'are'} seen by no task.",
        )
    most = max(users.values())
    if most > 1:
        yield "gpus-shared", f"Up to {most} tasks share a GPU. On NVIDIA's they take turns unless MPS runs."
    far = [
        task
        for task, (gpus, seat) in enumerate(zip(own, pattern, strict=True))
        if seat.bound and gpus and not any(kind.cores_near_gpu(gpu) & set(seat.cores) for gpu in gpus)
    ]
    if far:
        first = pattern[far[0]]
        near = as_ranges(sorted(kind.cores_near_gpu(own[far[0]][0])))
        yield (
            "gpus-far",
            f"{len(far)} of {counted(tasks, 'task')} a node run on cores that are not the nearest to their GPU: task {far[0]} of "
            f"a node has cores {as_ranges(first.cores)} and GPU {own[far[0]][0]}, whose cores are {near}. --gpu-bind=closest "
            "gives each the GPU of its cores.",
        )
    yield from _network_interfaces(kind, pattern, own)


def _network_interfaces(
    kind: NodeKind, pattern: Sequence[Binding], gpus: Sequence[tuple[int, ...]]
) -> Iterator[tuple[str, str]]:
    """Yield what is to be said of tasks whose GPU and cores are near different network interfaces."""
    if not kind.gpu_nics or len(kind.nic_numa_nodes) < 2:
        return
    apart = [
        task
        for task, (seat, own) in enumerate(zip(pattern, gpus, strict=True))
        if seat.bound and len(own) == 1 and kind.nic_numa_nodes[kind.gpu_nics[own[0]]] not in seat.numa_nodes
    ]
    if apart:
        yield (
            "nics-apart",
            f"The GPU of {counted(len(apart), 'task')} a node is nearest to another network interface than their cores: Cray "
            "MPICH takes the cores' by default; MPICH_OFI_NIC_POLICY=GPU takes the GPU's.",
        )
