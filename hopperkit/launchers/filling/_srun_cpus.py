"""How Slurm deals the CPUs of a node out to the tasks of a step.

Two programs take part. The controller picks the cores that the step may use: all of the job's, or with --exact only as
many as the tasks request. The task/affinity plugin on the node then iterates over the hardware threads of those cores,
socket by socket or round-robin over the sockets, and gives each task as many as it requests [1]_.

CPUs are counted here as Slurm counts them inside, hardware thread by hardware thread of core after core;
`SlurmNode.cpu` gives the number that Linux has. The component passed to these functions covers one node: its tasks are
those of that node.

References
----------
.. [1] SchedMD, Slurm 23.11, ``src/slurmctld/step_mgr.c`` (cores of a step) and
   ``src/plugins/task/affinity/dist_tasks.c`` (CPUs of a task).
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from hopperkit.launchers.dialects.slurm import SlurmNode
from hopperlib.placement.components import Component

_DEFAULT_METHODS = ("block", "cyclic", "cyclic")


def step_cores(
    component: Component, node: SlurmNode, *, near: Sequence[frozenset[int]] = (), taken: frozenset[int] = frozenset()
) -> tuple[int, ...]:
    """Return the cores that the step may use on a node that the job has to itself.

    `near` are the cores near each GPU of the step: those near all of them come first, then those near any. `taken` are
    the cores of simultaneous steps.

    Four tasks of two cores, in turn over four sockets of six cores:

    >>> node = SlurmNode(sockets=4, cores_per_socket=6, threads_per_core=1)
    >>> step_cores(Component(command=(), tasks=4, threads_per_task=2, exact=True), node)
    (0, 1, 6, 7, 12, 13, 18, 19)
    """
    by_socket = node.by_socket(node.step_sockets)
    everything = tuple(core for cores in by_socket for core in cores)
    if not component.exact:
        return everything
    wanted = cores_wanted(component, node)
    # As many tasks as the node has cores are given all of them, even where two would fit on one.
    if (wanted >= len(everything) or component.tasks == node.cores) and not taken:
        return everything
    preferred = [frozenset.intersection(*near), frozenset().union(*near)] if near else []
    picked: list[int] = []
    # The nearest first; each round takes from what those before it left.
    for allowed in (*preferred, frozenset(everything)):
        left = [[core for core in cores if core in allowed - taken - set(picked)] for cores in by_socket]
        # Before Slurm 23.02 tasks that share cores had none at a time, so a socket was filled before the next.
        at_a_time = wanted // component.tasks if node.release < (23, 2) else -(-wanted // component.tasks)
        picked += _picked(component, left, wanted - len(picked), at_a_time)
    return tuple(sorted(picked))


def cores_wanted(component: Component, node: SlurmNode) -> int:
    """Return the cores that the tasks of a step need on a node."""
    usable_threads = component.threads_per_core or node.threads_per_core
    per_task = component.threads_per_task
    if node.release < (21, 8):
        return component.tasks * (per_task + usable_threads - 1) // usable_threads
    if (22, 5) <= node.release < (23, 2) and per_task > usable_threads:
        return component.tasks * -(-per_task // usable_threads)
    tasks_per_core = step_tasks_per_core(component, node)
    if tasks_per_core:
        # A task that may not share a core takes whole ones.
        share = usable_threads // tasks_per_core
        per_task = -(-per_task // share) * share if share > 1 else per_task
    # Tasks that may share cores are packed: only the last core may be half empty.
    return -(-component.tasks * per_task // usable_threads)


def step_tasks_per_core(component: Component, node: SlurmNode) -> int | None:
    """Return the limit of tasks per core that the controller applies to a step: that of its line, from Slurm 23.02 on."""
    by_site = component.given("--ntasks-per-core") is None and component.tasks_per_core == node.tasks_per_core
    return None if by_site or node.release < (23, 2) else component.tasks_per_core


def _picked(component: Component, by_socket: list[list[int]], wanted: int, at_a_time: int) -> list[int]:
    """Return as many cores as wanted, or as there are, in the order of the distribution over sockets."""
    method = component.step_method
    if method == "block":
        return [core for cores in by_socket for core in cores][:wanted]
    if method == "fcyclic":
        deepest = max(map(len, by_socket), default=0)
        return [cores[index] for index in range(deepest) for cores in by_socket if index < len(cores)][:wanted]
    return list(_in_turn(by_socket, wanted, at_a_time))


def _in_turn(by_socket: list[list[int]], wanted: int, at_a_time: int) -> Iterator[int]:
    """Yield cores from one socket after the other, as many at a time as a task needs."""
    taken = in_hand = 0
    while taken < wanted and any(by_socket):
        for cores in by_socket:
            # The remainder carries over from socket to socket: one that runs out within a task leaves the rest to the
            # next, which stops as soon as the task has its cores.
            while cores and taken < wanted:
                yield cores.pop(0)
                taken += 1
                in_hand += 1
                if in_hand == at_a_time:
                    in_hand = 0
                    break


def deal_cpus(component: Component, node: SlurmNode, cores: Sequence[int]) -> list[list[int]]:
    """Return each task's CPUs, counted as Slurm does inside, of the cores of the step.

    >>> node = SlurmNode(sockets=2, cores_per_socket=2, threads_per_core=2)
    >>> deal_cpus(Component(command=(), tasks=3, cpu_binding="cores"), node, range(4))
    [[0], [4], [2]]
    """
    # A hand is opened for the next task as soon as one is full, so the last one is a task too many.
    return _Dealer(component, node, cores).dealt()[: component.tasks]


class _Dealer:
    """CPUs of a node while they are dealt out, with the counts that limit cores and sockets."""

    def __init__(self, request: Component, node: SlurmNode, cores: Sequence[int]) -> None:
        self.request, self.node, self.cores = request, node, frozenset(cores)
        self.method = (request.distribution or _DEFAULT_METHODS)[1]
        self.threads_on_core: Counter[int] = Counter()
        self.tasks_on_core: Counter[int] = Counter()
        self.tasks_on_socket: Counter[int] = Counter()

    def dealt(self) -> list[list[int]]:
        """Deal CPUs from one socket after the other: a task from each, or with fcyclic a CPU from each.

        With block the whole node counts as one socket.
        """
        sockets = 1 if self.method == "block" else self.node.sockets
        width = self.node.cpus // sockets
        # Each socket remembers how far it was walked; one that is walked through is passed over, and when all
        # are, the walk begins anew and the next tasks share CPUs with the first.
        at = [0] * sockets
        socket = 0
        hands: list[list[int]] = [[]]
        while len(hands) <= self.request.tasks:
            first = socket
            while at[socket] >= width:
                socket = (socket + 1) % sockets
                if socket == first:
                    for counts in (self.threads_on_core, self.tasks_on_core, self.tasks_on_socket):
                        counts.clear()
                    at = [0] * sockets
            place = socket * width + at[socket]
            at[socket] += 1
            if not self._may_take(place):
                continue
            before = len(hands)
            if self.method == "fcyclic":
                # The turn passes with every CPU, even if the task needs more.
                socket = (socket + 1) % sockets
            at[socket] += self._take(place, hands)
            if self.method == "cyclic" and len(hands) > before:
                socket = (socket + 1) % sockets
        return hands

    def _may_take(self, place: int) -> bool:
        """Whether a CPU is available to the step and within the limits; a socket's limit applies to block distribution."""
        request = self.request
        core = place // self.node.threads_per_core
        if core not in self.cores:
            return False
        if request.tasks_per_core and self.tasks_on_core[core] >= request.tasks_per_core:
            return False
        socket = core // self.node.cores_per_socket
        most = request.tasks_per_socket if self.method == "block" else None
        if most and self.tasks_on_socket[socket] >= most:
            return False
        return not request.threads_per_core or self.threads_on_core[core] < request.threads_per_core

    def _take(self, place: int, hands: list[list[int]]) -> int:
        """Give a CPU to the next task; return how many of the following CPUs stay unused."""
        request = self.request
        core = place // self.node.threads_per_core
        hands[-1].append(place)
        self.threads_on_core[core] += 1
        if len(hands[-1]) < request.threads_per_task:
            return 0
        self.tasks_on_core[core] += 1
        self.tasks_on_socket[core // self.node.cores_per_socket] += 1
        hands.append([])
        if request.cpu_binding != "cores" and request.tasks_per_core != 1:
            return 0
        # Bound to cores, a task leaves the rest of its last core to nobody.
        threads, wanted = self.node.threads_per_core, request.threads_per_task
        return threads - wanted if wanted < threads else wanted % threads
