"""GPUs of the tasks on a node: the line's request, and which GPUs are nearest to which cores.

References
----------
SchedMD, srun man page, ``--gpu-bind``; Slurm source, ``src/interfaces/gres.c`` (who gets which GPU of a step).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hopperkit.launchers.dialects.slurm import SHOW_BINDING
from hopperlib.machine import NodeKind
from hopperlib.placement.binding import Binding
from hopperlib.placement.components import GpuRequest

# Asked of 20.11, 22.05, 24.11 and 26.05: of these 26.05 alone binds the GPUs of a step of one task.
_BINDS_ONE_TASK = (25, 5)
# From this release on, --gpus-per-task also binds each task to that number.
_BINDS_PER_TASK = (21, 8)


class StepGpus(NamedTuple):
    """The GPUs of a step on one node as Slurm counts them, the assumptions made, and why they may be unknown."""

    gpus: tuple[int, ...]
    doubt: str = ""
    assumed: str = ""


def step_gpus(
    request: GpuRequest | None, kind: NodeKind, *, tasks: int, nodes: int, taken: frozenset[int] = frozenset()
) -> StepGpus:
    """Return the GPUs of a step on a node: as many as it requests, the first that are free.

    Parameters
    ----------
    request : GpuRequest or None
        Requests of the line and the job.
    kind : NodeKind
    tasks, nodes : int
        Tasks of the step on the node, and nodes of the step.
    taken : frozenset of int
        GPUs of simultaneous steps.

    Examples
    --------
    On LUMI, Slurm counts the GPUs by the cores that they are nearest to:

    >>> from hopperlib.machine import Machine
    >>> step_gpus(GpuRequest(per_task=1), Machine.load("lumi-g").node(), tasks=2, nodes=1).gpus
    (4, 5)
    """
    count = None if request is None else request.on_node(tasks, nodes)
    order = kind.gpu_order or tuple(range(kind.gpus))
    if request is None or count is None:
        return _unrequested_gpus(kind, order)
    # A total for the job does not determine this node's share, unless all GPUs of all nodes are requested.
    total = request.total if request.per_node is None and request.per_task is None else None
    if total is not None and nodes > 1 and total < nodes * kind.gpus:
        uneven = (
            f"How Slurm deals out {total} GPUs over {nodes} nodes is not fixed: it may give one node more than another."
        )
        return StepGpus((), doubt=f"{uneven} Write --gpus-per-node. Run {SHOW_BINDING} to see.")
    free = tuple(gpu for gpu in order if gpu not in taken)
    some = f"The step is taken to have the first {count} of {kind.gpus} GPUs that are free."
    return StepGpus(free[:count], assumed=some if 0 < count < len(free) else "")


def _unrequested_gpus(kind: NodeKind, order: tuple[int, ...]) -> StepGpus:
    """Return the GPUs of a step that requests none."""
    if kind.gpus and kind.gpus_by_default is None:
        unsaid = "The machine file does not state whether a job without a GPU request has GPUs."
        return StepGpus((), doubt=f"{unsaid} Run {SHOW_BINDING} to see.")
    return StepGpus(order if kind.gpus_by_default else ())


def effective_request(request: GpuRequest | None, release: tuple[int, ...], *, alone: bool) -> GpuRequest | None:
    """Return a request as a release binds it: some bind nothing for one task `alone`, or for ``--gpus-per-task``.

    >>> effective_request(GpuRequest(binding="closest"), (24, 11), alone=True).binding
    'none'

    Parameters
    ----------
    request : GpuRequest or None
        Requested GPUs.
    release : tuple of int
        Slurm's release.
    alone : bool
        Whether the step is the only one in the job.
    """
    if request is None:
        return None
    unheeded = (alone and release < _BINDS_ONE_TASK) or (request.binding == "per_task" and release < _BINDS_PER_TASK)
    return request._replace(binding="none") if unheeded else request


def with_gpus(
    request: GpuRequest | None, kind: NodeKind, step: StepGpus, bindings: Sequence[Binding], *, closest: bool
) -> tuple[Binding, ...]:
    """Return the tasks of a node with the GPUs visible to each; empty if those of the step are unknown.

    Parameters
    ----------
    request : GpuRequest or None
    kind : NodeKind
    step : StepGpus
        GPUs of the step on the node, in Slurm's order.
    bindings : sequence of Binding
        Where each task runs.
    closest : bool
        Whether a task that is given a number of GPUs gets near ones first, as from Slurm 23.11 on.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperlib.placement.binding import bound_to
    >>> frontier = Machine.load("frontier").node()
    >>> bindings = [bound_to(frozenset({core}), frontier, 1, bound=True) for core in (1, 9)]
    >>> step = StepGpus(tuple(range(8)))
    >>> [task.gpus for task in with_gpus(GpuRequest(binding="closest"), frontier, step, bindings, closest=True)]
    [(4,), (5,)]
    """
    if step.doubt:
        return tuple(binding._replace(gpus=None) for binding in bindings)
    gpus = step.gpus
    seen = _choose(request, kind, gpus, [frozenset(binding.cores) for binding in bindings], closest=closest)
    if request is not None and request.sharing:
        # Without a cgroup, a task sees the step's GPUs in the order of their numbers, not in Slurm's.
        numbered = dict(zip(gpus, sorted(gpus), strict=True))
        seen = [tuple(sorted(numbered[gpu] for gpu in own)) for own in seen]
    return tuple(binding._replace(gpus=own) for binding, own in zip(bindings, seen, strict=True))


def _choose(
    request: GpuRequest | None, kind: NodeKind, gpus: Sequence[int], cores: Sequence[frozenset[int]], *, closest: bool
) -> list[tuple[int, ...]]:
    """Return the GPUs that Slurm chooses for each task from those of the step."""
    everything = [tuple(sorted(gpus))] * len(cores)
    if request is None or not gpus or request.binding in ("", "none"):
        return everything
    if request.binding in ("map", "mask"):
        return [_entry_gpus(request, gpus, task) for task in range(len(cores))]
    near = [[gpu for gpu in gpus if kind.cores_near_gpu(gpu) & own] for own in cores]
    if request.binding == "closest":
        return [tuple(sorted(own)) or everything[0] for own in near]
    return everything if len(gpus) == 1 else list(_counted_gpus(request, gpus, near, closest=closest))


def _counted_gpus(
    request: GpuRequest, gpus: Sequence[int], near: Sequence[list[int]], *, closest: bool
) -> Iterator[tuple[int, ...]]:
    """Return the GPUs of each task if the line gives a number: ``single`` and ``per_task``."""
    if request.binding != "single":
        return _deal(gpus, near if closest else [[]] * len(near), request.number, 1)
    return _deal(gpus, near, 1, request.number) if closest else _by_number(request.number, gpus, near)


def _by_number(tasks_per_gpu: int, gpus: Sequence[int], near: Sequence[list[int]]) -> Iterator[tuple[int, ...]]:
    """Yield one of the nearest GPUs for each task, by the task's number, even if another task uses it."""
    for task, own in enumerate(near):
        choice = own or gpus
        yield (choice[task // tasks_per_gpu % len(choice)],)


def _entry_gpus(request: GpuRequest, gpus: Sequence[int], task: int) -> tuple[int, ...]:
    """Return the GPUs of a step that an entry of a list or mask names for a task."""
    entry = request.entries[task % len(request.entries)]
    return tuple(sorted(gpus[index] for index in entry if index < len(gpus)))


def _deal(
    gpus: Sequence[int], near: Sequence[list[int]], per_task: int, tasks_per_gpu: int
) -> Iterator[tuple[int, ...]]:
    """Yield GPUs for one task after the other, near ones first, while each has room for a task more."""
    room = dict.fromkeys(gpus, tasks_per_gpu)
    for task, own in enumerate(near):
        chosen = [gpu for gpu in dict.fromkeys((*own, *gpus)) if room[gpu]][:per_task]
        for gpu in chosen:
            room[gpu] -= 1
        # If all are taken, Slurm continues with the task's number.
        yield tuple(sorted(chosen)) or (gpus[task % len(gpus)],)
