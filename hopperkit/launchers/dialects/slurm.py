"""A node as Slurm counts it: sockets, cores that jobs can have, hardware threads, and which release of Slurm runs there.

References
----------
SchedMD, Slurm 23.11, slurm.conf man page (Sockets, CoreSpecCount), ``src/slurmctld/step_mgr.c``.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hopperlib.machine import Launcher, NodeKind
from hopperlib.machine.cpu_numbers import core_by_cpu, expanded

SHOW_BINDING = "srun ... bash -c 'echo $SLURM_PROCID $(taskset -cp $$) $ROCR_VISIBLE_DEVICES $CUDA_VISIBLE_DEVICES'"
"""A line that shows where the tasks of a step really run, with the line's options in place of the dots."""

_NEWEST = (99, 0)


def slurm_release(launcher: Launcher) -> tuple[int, ...]:
    """Return the Slurm release as numbers; one beyond all releases if the machine file does not give it.

    Parameters
    ----------
    launcher : Launcher
        Launcher of a machine file.

    Examples
    --------
    >>> slurm_release(Launcher(kind="srun", options=(), version="23.11"))
    (23, 11)
    """
    return tuple(int(part) for part in launcher.version.split(".")) if launcher.version else _NEWEST


class SlurmNode(NamedTuple):
    """A node as Slurm sees it; its sockets are packages, NUMA nodes or caches, depending on the machine file.

    `step_sockets` is the controller's unit when it picks the cores of a step, if different; `reserved` are the cores
    that jobs cannot use; `release` is Slurm's, as numbers; `tasks_per_core` is the default of that option.
    """

    sockets: int
    cores_per_socket: int
    threads_per_core: int
    step_sockets: int = 0
    reserved: frozenset[int] = frozenset()
    numbering: str = "cores"
    cpu_numbers: tuple[str, ...] = ()
    auto_binding: str = "none"
    release: tuple[int, ...] = _NEWEST
    tasks_per_core: int | None = None

    @classmethod
    def of(cls, node: NodeKind, launcher: Launcher, system_cores: Sequence[int] | None = None) -> "SlurmNode":
        """Return the node with the launcher's sockets; reserved cores are the site's, or those given."""
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
            step_sockets=counts[launcher.slurm_conf_socket] if launcher.slurm_conf_socket else 0,
            reserved=frozenset(node.reserved_cores if system_cores is None else system_cores),
            numbering=node.cpu_numbering,
            cpu_numbers=node.cpu_numbers,
            auto_binding=launcher.auto_binding,
            release=slurm_release(launcher),
            tasks_per_core=launcher.tasks_per_core,
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

    def job_capacity(self, width: int, threads: int, tasks_per_core: int | None) -> int:
        """Return the most tasks per node that a job may request: by CPUs of its cores, and by tasks per core."""
        by_core = tasks_per_core or self.tasks_per_core
        cpus = self.cores * threads // width
        return min(cpus, self.cores // -(-width // threads) * by_core) if by_core else cpus

    def cpu(self, place: int) -> int:
        """Return the number that the system gives to a CPU counted as Slurm does inside."""
        # Linux mostly numbers the first threads of all cores before the second ones; Slurm counts core by core.
        core, thread = divmod(place, self.threads_per_core)
        if self.cpu_numbers:
            return expanded(self.cpu_numbers)[thread][core]
        return place if self.numbering == "threads" else core + thread * self.cores

    def core_of(self, cpu: int) -> int:
        """Return the core of a CPU as the system numbers them."""
        if self.cpu_numbers:
            return core_by_cpu(self.cpu_numbers)[cpu]
        return cpu // self.threads_per_core if self.numbering == "threads" else cpu % self.cores

    def cpus_of(self, cores: Iterable[int]) -> frozenset[int]:
        """Return all CPUs of some cores, as the system numbers them."""
        threads = range(self.threads_per_core)
        return frozenset(self.cpu(core * self.threads_per_core + thread) for core in cores for thread in threads)

    def by_socket(self, sockets: int = 0) -> list[list[int]]:
        """Return the cores available to jobs, by socket; `sockets` overrides the node's number of sockets."""
        sockets = sockets or self.sockets
        width = self.cores // sockets
        groups = [range(first, first + width) for first in range(0, self.cores, width)]
        return [[core for core in group if core not in self.reserved] for group in groups]
