"""What variables of the environment do to a placement: the order of MPI ranks, and the places of OpenMP threads.

References
----------
HPE Cray MPICH, mpi man page, MPICH_RANK_REORDER_METHOD; OpenMP 5.2, OMP_PROC_BIND and OMP_PLACES; Intel oneAPI compilers,
KMP_AFFINITY.
"""

from collections.abc import Mapping, Sequence

from hopperlib.machine import NodeKind
from hopperlib.node.binding import Binding
from hopperlib.node.launch.components import remark

_AFFINITY = {"compact": "close", "scatter": "spread", "balanced": "spread"}


def reordered(
    method: str | None, numbers: Sequence[Sequence[int]], *, in_blocks: bool
) -> tuple[list[Sequence[int]], str, str]:
    """Return the ranks of each node under ``MPICH_RANK_REORDER_METHOD``, an assumption and a doubt.

    Parameters
    ----------
    method : str or None
        0: round robin over the nodes, 1: as the launcher numbers them, 2: folded, 3: from a file.
    numbers : sequence of sequence of int
        Ranks of each node as the launcher numbers them.
    in_blocks : bool
        Whether the launcher fills node after node.

    Examples
    --------
    >>> reordered("0", [range(4), range(4, 8)], in_blocks=True)[0]
    [[0, 2, 4, 6], [1, 3, 5, 7]]
    >>> reordered("2", [range(4), range(4, 8)], in_blocks=True)[0]
    [[0, 3, 4, 7], [1, 2, 5, 6]]
    """
    if method is None or method == "1":
        return list(numbers), "", ""
    if method == "3":
        return list(numbers), "", remark("rank-file")
    if method not in ("0", "2"):
        return list(numbers), "", remark("rank-method", method=method)
    room = [len(own) for own in numbers]
    ranks: list[list[int]] = [[] for _ in numbers]
    rank, total, forward = 0, sum(room), True
    while rank < total:
        for node in range(len(room)) if forward else reversed(range(len(room))):
            if len(ranks[node]) < room[node]:
                ranks[node].append(rank)
                rank += 1
        # Round robin goes from the first node to the last each time; folded, it turns round at both ends.
        forward = method == "0" or not forward
    doubt = "" if in_blocks else remark("ranks-not-in-blocks", method=method)
    return list(ranks), remark("cray-ranks", method=method), doubt


def pinned_threads(binding: Binding, environment: Mapping[str, str], kind: NodeKind) -> Binding:
    """Return a binding with its threads on the places that OpenMP gives them, where the environment says so.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> kind = Machine.load("cluster").node()
    >>> task = Binding(cores=(0, 1, 2, 3), cpus=(0, 1, 2, 3), thread_cores=((0, 1, 2, 3),) * 2, numa_nodes=(0,), bound=True)
    >>> pinned_threads(task, {"OMP_PROC_BIND": "spread", "OMP_PLACES": "cores"}, kind).thread_cores
    ((0,), (2,))
    """
    policy = environment.get("OMP_PROC_BIND", "").split(",")[0].lower()
    places = environment.get("OMP_PLACES", "").lower()
    affinity = environment.get("KMP_AFFINITY", "").lower().split(",")
    if not policy:
        policy = next((_AFFINITY[word] for word in affinity if word in _AFFINITY), "")
        places = places or ("cores" if any("core" in word for word in affinity) else "threads")
    threads = len(binding.thread_cores)
    if (
        policy not in ("close", "spread", "true", "master", "primary")
        or places.split("(")[0] not in ("cores", "threads", "")
        or threads == 1
    ):
        return binding
    if places.startswith("threads"):
        # A core stands there once for each of its hardware threads that the task may use.
        seats = [core for core in binding.cores for cpu in binding.cpus if kind.core_of(cpu) == core]
    else:
        seats = list(binding.cores)
    if policy in ("master", "primary"):
        chosen = [seats[0]] * threads
    elif policy == "spread" or threads > len(seats):
        chosen = [seats[thread * len(seats) // threads] for thread in range(threads)]
    else:
        chosen = seats[:threads]
    return binding._replace(thread_cores=tuple((core,) for core in chosen))
