"""Effect of environment variables on a placement: the places of OpenMP threads.

References
----------
HPE Cray MPICH, mpi man page, MPICH_RANK_REORDER_METHOD; OpenMP 5.2, OMP_PROC_BIND and OMP_PLACES; Intel oneAPI compilers,
KMP_AFFINITY.
"""

from collections.abc import Mapping

from hopperlib.machine import NodeKind
from hopperlib.placement.binding import Binding

_AFFINITY = {"compact": "close", "scatter": "spread", "balanced": "spread"}


def pinned_threads(binding: Binding, environment: Mapping[str, str], kind: NodeKind) -> Binding:
    """Return a binding with its threads on the OpenMP places that the environment sets, if any.

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
        # A core is listed once for each of its hardware threads that the task may use.
        seats = [core for core in binding.cores for cpu in binding.cpus if kind.core_of(cpu) == core]
    if policy in ("master", "primary"):
        chosen = [seats[0]] * threads
    elif policy == "spread" or threads > len(seats):
        chosen = [seats[thread * len(seats) // threads] for thread in range(threads)]
    else:
        chosen = seats[:threads]
    return binding._replace(thread_cores=tuple((core,) for core in chosen))


def _policy(environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the binding policy and places of threads: OpenMP's variables, otherwise those of Intel's compilers."""
    policy = environment.get("OMP_PROC_BIND", "").split(",")[0].lower()
    places = environment.get("OMP_PLACES", "").lower()
    if not policy:
        affinity = environment.get("KMP_AFFINITY", "").lower().split(",")
        policy = next((_AFFINITY[word] for word in affinity if word in _AFFINITY), "")
        places = places or ("cores" if any("core" in word for word in affinity) else "threads")
    return policy, places
