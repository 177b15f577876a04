"""What variables of the environment do to a placement: the order of MPI ranks, and the places of OpenMP threads.

References
----------
HPE Cray MPICH, mpi man page, MPICH_RANK_REORDER_METHOD; OpenMP 5.2, OMP_PROC_BIND and OMP_PLACES; Intel oneAPI compilers,
KMP_AFFINITY.
"""

from collections.abc import Mapping, Sequence

from hopperlib.machine import NodeKind
from hopperlib.placement.binding import Binding

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
    variable = f"MPICH_RANK_REORDER_METHOD={method}"
    if method == "3":
        takes = f"{variable} takes the order of the ranks from the file MPICH_RANK_ORDER"
        return list(numbers), "", f"{takes}, which is not part of this text; shown is the order without it."
    if method not in ("0", "2"):
        return list(numbers), "", f"{variable} is none of 0, 1, 2 and 3."
    doubt = f"What {variable} does to tasks that the launcher does not number in blocks is not documented."
    assumption = f"{variable}: the numbers are MPI ranks of Cray MPICH; other MPI libraries ignore it."
    return [*_in_turn([len(own) for own in numbers], folded=method == "2")], assumption, "" if in_blocks else doubt


def _in_turn(room: Sequence[int], *, folded: bool) -> list[list[int]]:
    """Return the ranks of each node, a rank to each node in turn; folded, the walk turns round at both ends."""
    ranks: list[list[int]] = [[] for _ in room]
    rank, total, nodes = 0, sum(room), list(range(len(room)))
    while rank < total:
        for node in nodes:
            if len(ranks[node]) < room[node]:
                ranks[node].append(rank)
                rank += 1
        if folded:
            nodes.reverse()
    return ranks


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
    policy, places = _policy(environment)
    threads = len(binding.thread_cores)
    followed = policy in ("close", "spread", "true", "master", "primary")
    if not followed or places.split("(")[0] not in ("cores", "threads", "") or threads == 1:
        return binding
    seats = list(binding.cores)
    if places.startswith("threads"):
        # A core stands there once for each of its hardware threads that the task may use.
        seats = [core for core in binding.cores for cpu in binding.cpus if kind.core_of(cpu) == core]
    if policy in ("master", "primary"):
        chosen = [seats[0]] * threads
    elif policy == "spread" or threads > len(seats):
        chosen = [seats[thread * len(seats) // threads] for thread in range(threads)]
    else:
        chosen = seats[:threads]
    return binding._replace(thread_cores=tuple((core,) for core in chosen))


def _policy(environment: Mapping[str, str]) -> tuple[str, str]:
    """Return how threads are bound and to which places: OpenMP's variables, else those of Intel's compilers."""
    policy = environment.get("OMP_PROC_BIND", "").split(",")[0].lower()
    places = environment.get("OMP_PLACES", "").lower()
    if not policy:
        affinity = environment.get("KMP_AFFINITY", "").lower().split(",")
        policy = next((_AFFINITY[word] for word in affinity if word in _AFFINITY), "")
        places = places or ("cores" if any("core" in word for word in affinity) else "threads")
    return policy, places
