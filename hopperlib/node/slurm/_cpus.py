"""How Slurm deals the CPUs of a node out to the tasks of a step.

Two programs take part. The controller picks the cores that the step may use:
all of the job's, or with --exact as many as the tasks ask for. The
task/affinity plugin on the node then walks over the hardware threads of those
cores, socket by socket or in turn over the sockets, and gives each task as
many as it asks for [1]_.

CPUs are counted here as Slurm counts them inside, hardware thread by hardware
thread of core after core; `SlurmNode.cpu` gives the number that Linux has. The
component that the functions take stands for its share of one node: its tasks
are those of that node.

References
----------
.. [1] SchedMD, Slurm 23.11, ``src/slurmctld/step_mgr.c`` (cores of a step) and
   ``src/plugins/task/affinity/dist_tasks.c`` (CPUs of a task).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from hopperlib.machine import Launcher, NodeKind
from hopperlib.node.launch.components import Component

_DEFAULT_METHODS = ("block", "cyclic", "cyclic")


class SlurmNode(NamedTuple):
    """A node as Slurm sees it; its sockets are packages, NUMA nodes or caches, as the machine file says.

    `step_sockets` is what the controller counts when it picks the cores of a
    step, where that differs; `reserved` are the cores that no job gets.
    """

    sockets: int
    cores_per_socket: int
    threads_per_core: int
    step_sockets: int = 0
    reserved: frozenset[int] = frozenset()
    numbering: str = "cores"
    auto_binding: str = "none"

    @classmethod
    def of(cls, node: NodeKind, launcher: Launcher, system_cores: Sequence[int] | None = None) -> "SlurmNode":
        """Return the node with the sockets that the launcher counts; the cores kept are the site's, or those given."""
        counts = {
            "socket": node.sockets,
            "numa_node": node.numa_nodes,
            "l3": node.cores // (node.cores_per_l3 or node.cores_per_numa_node),
        }
        sockets = counts[launcher.slurm_socket]
        return cls(
            sockets=sockets,
            cores_per_socket=node.cores // sockets,
            threads_per_core=node.threads_per_core,
            step_sockets=counts[launcher.step_socket] if launcher.step_socket else 0,
            reserved=frozenset(node.reserved_cores if system_cores is None else system_cores),
            numbering=node.cpu_numbering,
            auto_binding=launcher.auto_binding,
        )

    @property
    def cores(self) -> int:
        """Cores of the node."""
        return self.sockets * self.cores_per_socket

    @property
    def usable_cores(self) -> int:
        """Cores that jobs can have."""
        return self.cores - len(self.reserved)

    @property
    def cpus(self) -> int:
        """Hardware threads of the node, Slurm's CPUs."""
        return self.cores * self.threads_per_core

    def cpu(self, place: int) -> int:
        """Return the number that the system gives to a CPU counted as Slurm does inside."""
        # Linux mostly numbers the first threads of all cores before the second ones; Slurm counts core by core.
        core, thread = divmod(place, self.threads_per_core)
        return place if self.numbering == "threads" else core + thread * self.cores

    def core_of(self, cpu: int) -> int:
        """Return the core of a CPU as the system numbers them."""
        return cpu // self.threads_per_core if self.numbering == "threads" else cpu % self.cores

    def cpus_of(self, cores: Iterable[int]) -> frozenset[int]:
        """Return all CPUs of some cores, as the system numbers them."""
        threads = range(self.threads_per_core)
        return frozenset(self.cpu(core * self.threads_per_core + thread) for core in cores for thread in threads)

    def by_socket(self, component: Component, sockets: int = 0) -> list[list[int]]:
        """Return the cores that the component may use, socket by socket; `sockets` if not the node's own count."""
        sockets = sockets or self.sockets
        width = self.cores // sockets
        groups = [range(first, first + width) for first in range(0, self.cores, width)]
        free = [[core for core in group if core not in self.reserved] for group in groups]
        # A limit of cores a socket comes from a hint; None, without one, takes them all.
        return [cores[: component.cores_per_socket] for cores in free]


def step_cores(
    component: Component, node: SlurmNode, *, near: Sequence[frozenset[int]] = (), taken: frozenset[int] = frozenset()
) -> tuple[int, ...]:
    """Return the cores that the step may use on a node that the job has to itself.

    `near` are the cores near each GPU of the step: those near all of them come
    first, then those near any. `taken` are the cores of steps that run beside it.

    Four tasks of two cores, in turn over four sockets of six cores:

    >>> node = SlurmNode(sockets=4, cores_per_socket=6, threads_per_core=1)
    >>> step_cores(Component(command=(), tasks=4, threads_per_task=2, exact=True), node)
    (0, 1, 6, 7, 12, 13, 18, 19)
    """
    by_socket = node.by_socket(component, node.step_sockets)
    everything = tuple(core for cores in by_socket for core in cores)
    if not component.exact:
        return everything
    wanted = cores_wanted(component, node)
    if wanted >= len(everything) and not taken:
        return everything
    preferred = [frozenset.intersection(*near), frozenset().union(*near)] if near else []
    picked: list[int] = []
    # The nearest first; each round takes from what those before it left.
    for allowed in (*preferred, frozenset(everything)):
        left = [[core for core in cores if core in allowed - taken - set(picked)] for cores in by_socket]
        picked += _picked(component, left, wanted - len(picked), -(-wanted // component.tasks))
    return tuple(sorted(picked))


def cores_wanted(component: Component, node: SlurmNode) -> int:
    """Return the cores that the tasks of a step need on a node."""
    usable_threads = component.threads_per_core or node.threads_per_core
    per_task = component.threads_per_task
    if component.tasks_per_core:
        # A task that may not share a core takes whole ones.
        share = usable_threads // component.tasks_per_core
        per_task = -(-per_task // share) * share if share > 1 else per_task
    # Tasks that may share cores are packed: only the last core may stay half empty.
    return -(-component.tasks * per_task // usable_threads)


def _picked(component: Component, by_socket: list[list[int]], wanted: int, at_a_time: int) -> list[int]:
    """Return as many cores as wanted, or as there are, in the order of the distribution over sockets."""
    nodes_method = (component.distribution or _DEFAULT_METHODS)[0]
    # For tasks that come in planes the controller always picks cores in turn over the sockets.
    method = "cyclic" if nodes_method == "plane" else component.step_method
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
            # What is in hand goes over from socket to socket: one that runs out amid a task leaves the rest of it
            # to the next, which stops as soon as the task has its cores.
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
                # The turn passes with every CPU, whether or not the task has all of its own.
                socket = (socket + 1) % sockets
            at[socket] += self._take(place, hands)
            if self.method == "cyclic" and len(hands) > before:
                socket = (socket + 1) % sockets
        return hands

    def _may_take(self, place: int) -> bool:
        """Whether a CPU is the step's and within the limits; that of a socket holds where they are dealt in blocks."""
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
        """Give a CPU to the task whose turn it is; return how many of the next ones stay unused."""
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
