"""The parts of a machine: kinds of node, network, file systems, launchers.

Each is a frozen record of a table in a machine file and defines that table: reader, checks and writer are derived from
the fields. Derived values are properties. No number of any machine occurs here.
"""

import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass
from typing import Any, Literal

from hopperlib.machine.cpu_numbers import core_by_cpu, expanded
from hopperlib.machine.wirings import DragonflyWiring, FatTreeWiring
from hopperlib.schema import key, sourced

# Origin of a number's bound, or the unit probably meant for a number beyond it.
_IN_MB, _IN_MB_S = "is this in MB?", "is this in MB/s?"
_NAME = {"pattern": r"[A-Za-z0-9][A-Za-z0-9_-]*", "why": "it is used on command lines"}
_STRIPES = "Lustre stripes a file over at most 2,000 OSTs"
_STRIPE_SIZE = "Lustre stripes in multiples of 65,536 bytes"
_LUSTRES = "Lustre's default; the page does not give the site's"
_GUESSED = "no known source gives it; a guess to vary"
_CHOSEN = r"(constraint|partition|qos|account|queue)=[\w.-]+"
Direction = Literal["x", "y_within_blade", "y_between_blades", "z_within_cage", "z_between_cages"]
_CPU_LIST = r"\d{1,6}(-\d{1,6}(:\d{1,4})?)?(,\d{1,6}(-\d{1,6}(:\d{1,4})?)?){0,4095}"
_DISTRIBUTION = r"(block|cyclic|fcyclic|plane)(:(block|cyclic|fcyclic)){0,2}"


def _count(high: int, default: Any = MISSING, *, why: str = "", assumed: str = "") -> Any:
    """Describe a count of at least one."""
    return sourced(default, low=1, high=high, why=why, assumed=assumed)


def _positive(high: float, default: Any = MISSING, *, why: str = "", assumed: str = "") -> Any:
    """Describe a number above zero."""
    return sourced(default, above=0, high=high, why=why, assumed=assumed)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NodeKind:
    """One kind of compute node.

    Core `c` is on NUMA node ``c // cores_per_numa_node``. Hardware thread `t` of
    core `c` is CPU ``c + t * cores`` where the cores are counted first, as Linux
    usually does, and CPU ``c * threads_per_core + t`` where the threads are.

    Attributes
    ----------
    name : str
        Name of the kind, such as ``standard``.
    count : int
        Nodes of this kind.
    sockets, numa_nodes_per_socket, cores_per_numa_node, threads_per_core : int
        Geometry; `threads_per_core` counts hardware threads.
    sockets_per_numa_node : int
        Sockets that share one NUMA node, as with NPS0 on AMD; 1 if each socket has its memory.
    clock_ghz : float
        Clock of a core. [GHz]
    flops_per_cycle : float
        Peak double-precision operations per core and cycle.
    memory_gb, usable_memory_gb : float
        Installed memory, and memory available to a job. [GB, binary]
    numa_bandwidth_gb_s : float
        Combined memory bandwidth of the cores of one NUMA node, as measured if available. [GB/s]
    core_bandwidth_cap_gb_s : float
        Memory bandwidth of one core. [GB/s]
    remote_bandwidth_fraction : float
        Remaining share of that bandwidth when the memory is on another NUMA node. [0-1]
    numa_link_gb_s : float or None
        Bandwidth of the link between two NUMA nodes in one direction. [GB/s]
    cores_per_l3 : int or None
        Cores that share a last-level cache.
    cpu_numbering : str
        Order of CPU numbers: ``cores`` or ``threads`` first.
    cpu_numbers : tuple of str
        For each hardware thread of a core, the CPUs of the cores in order, if the numbers follow no such rule:
        ``0-62:2,1-63:2`` where they alternate between two NUMA nodes.
    reserved_cores : tuple of int
        Cores that the site reserves for the system.
    gpu_cores : tuple of str
        For each GPU available to jobs, the nearest cores, as in ``48-55``.
    gpu_model : str or None
        Model of the GPUs.
    gpu_numbering : tuple of str
        Launchers' name of each GPU, if not a number from 0: ``0.1`` for half of a GPU.
    gpu_order : tuple of int
        The GPUs in Slurm's order, if different from the order of their numbers.
    gpus_by_default : bool or None
        Whether a job that requests no GPUs gets all GPUs of its nodes; None: unknown.
    chosen_by : tuple of str
        Requests for this kind: ``constraint=gpu``, ``partition=standard-g``, ``qos=...``, ``account=...``.
    shared_by : tuple of str
        The same, for jobs that may share a node with others.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> node = Machine.load("hopper").node()
    >>> node.numa_nodes, node.cores, node.hardware_threads
    (4, 24, 24)
    >>> round(node.core_peak_gflops, 1), round(node.peak_gflops, 1)
    (8.4, 201.6)
    """

    name: str = key(**_NAME)
    count: int = _count(10_000_000)
    sockets: int = _count(1024)
    numa_nodes_per_socket: int = _count(64, 1, assumed="one memory a processor")
    sockets_per_numa_node: int = _count(64, 1)
    cores_per_numa_node: int = _count(1024)
    threads_per_core: int = _count(8, why="no core has had more than 8 hardware threads")
    clock_ghz: float = _positive(10, why="no machine has run faster; is this in MHz?")
    flops_per_cycle: float = _positive(1024)
    memory_gb: float = _positive(100_000, why=_IN_MB)
    usable_memory_gb: float = sourced(
        above=0,
        high=100_000,
        why=_IN_MB,
        follows=lambda node: node["memory_gb"] * 15 / 16,
        assumed="1 GB of each 16 GB is subtracted",
    )
    numa_bandwidth_gb_s: float = _positive(10_000, why=_IN_MB_S)
    core_bandwidth_cap_gb_s: float = _positive(10_000, 20.0, why=_IN_MB_S, assumed=_GUESSED)
    remote_bandwidth_fraction: float = _positive(1, 0.7, why="remote memory is no faster than local", assumed=_GUESSED)
    numa_link_gb_s: float | None = sourced(None, above=0, high=10_000, why=_IN_MB_S)
    cores_per_l3: int | None = _count(1024, None)
    cpu_numbering: Literal["cores", "threads"] = sourced("cores")
    cpu_numbers: tuple[str, ...] = sourced(
        (), pattern=_CPU_LIST, why="CPUs of the cores in order, as in 0-62:2,1-63:2", repeats=True
    )
    reserved_cores: tuple[int, ...] = sourced((), low=0, high=100_000)
    gpu_cores: tuple[str, ...] = sourced(
        (), pattern=r"\d{1,12}(-\d{1,12})?(,\d{1,12}(-\d{1,12})?)*", why="cores, as in 0-7", repeats=True
    )
    gpu_model: str | None = sourced(None)
    gpu_numbering: tuple[str, ...] = sourced((), pattern=r"\d+(\.\d+)?", why="how the launcher numbers a GPU")
    gpu_order: tuple[int, ...] = sourced((), low=0, high=1024)
    gpus_by_default: bool | None = sourced(None)
    chosen_by: tuple[str, ...] = sourced((), pattern=_CHOSEN, why="as in a job's options: constraint=gpu")
    shared_by: tuple[str, ...] = sourced((), pattern=_CHOSEN, why="as in a job's options: partition=small")

    @property
    def gpus(self) -> int:
        """GPUs of a node that a job can request."""
        return len(self.gpu_cores)

    @property
    def usable_cores(self) -> tuple[int, ...]:
        """Cores that a job may use."""
        return tuple(core for core in range(self.cores) if core not in self.reserved_cores)

    def cores_near_gpu(self, gpu: int) -> frozenset[int]:
        """Cores nearest to a GPU, counted from 0.

        Parameters
        ----------
        gpu : int
            GPU, from 0.

        Examples
        --------
        >>> from hopperlib.machine import Machine
        >>> min(Machine.load("frontier").node().cores_near_gpu(4))
        0
        """
        parts = (part.partition("-") for part in self.gpu_cores[gpu].split(","))
        # One core beyond the last is enough to detect a range that is too long; the rules of a machine file reject it.
        last = self.cores
        return frozenset(
            core for low, _, high in parts for core in range(min(int(low), last), min(int(high or low), last) + 1)
        )

    def cpu(self, core: int, thread: int = 0) -> int:
        """Return the number that the system gives to a hardware thread.

        Parameters
        ----------
        core : int
            Core, from 0.
        thread : int, default 0
            Hardware thread of the core, from 0.

        Examples
        --------
        >>> from hopperlib.machine import Machine
        >>> Machine.load("perlmutter").node().cpu(16, thread=1)
        144
        """
        if self.cpu_numbers:
            return expanded(self.cpu_numbers)[thread][core]
        if self.cpu_numbering == "threads":
            return core * self.threads_per_core + thread
        return core + thread * self.cores

    def core_of(self, cpu: int) -> int:
        """Return the core of a CPU as the system numbers them; the inverse of `cpu`.

        Parameters
        ----------
        cpu : int
            Number of a CPU, as in Linux.

        Examples
        --------
        >>> from hopperlib.machine import Machine
        >>> Machine.load("perlmutter").node().core_of(144)
        16
        """
        if self.cpu_numbers:
            return core_by_cpu(self.cpu_numbers)[cpu]
        return cpu // self.threads_per_core if self.cpu_numbering == "threads" else cpu % self.cores

    @property
    def highest_cpu(self) -> int:
        """Highest number of a hardware thread; numbers below it may be missing if `cpu_numbers` says so."""
        return (
            max(max(numbers) for numbers in expanded(self.cpu_numbers))
            if self.cpu_numbers
            else self.hardware_threads - 1
        )

    @property
    def numa_nodes(self) -> int:
        """NUMA nodes of a node."""
        return self.sockets * self.numa_nodes_per_socket // self.sockets_per_numa_node

    @property
    def cores_per_socket(self) -> int:
        """Cores of a socket."""
        return self.cores // self.sockets

    @property
    def cores(self) -> int:
        """Cores of a node."""
        return self.numa_nodes * self.cores_per_numa_node

    @property
    def hardware_threads(self) -> int:
        """Hardware threads of a node, called CPUs by Linux and Slurm."""
        return self.cores * self.threads_per_core

    @property
    def core_peak_gflops(self) -> float:
        """Peak of a core: clock times operations per cycle. [Gflop/s]"""
        return self.clock_ghz * self.flops_per_cycle

    @property
    def peak_gflops(self) -> float:
        """Peak of a node. [Gflop/s]"""
        return self.cores * self.core_peak_gflops

    @property
    def memory_per_numa_node_gb(self) -> float:
        """Memory installed at a NUMA node, an even share. [GB]"""
        return self.memory_gb / self.numa_nodes

    @property
    def bandwidth_gb_s(self) -> float:
        """Memory bandwidth of a node, all its NUMA nodes together. [GB/s]"""
        return self.numa_nodes * self.numa_bandwidth_gb_s

    def numa_node_of(self, core: int) -> int:
        """NUMA node of a core, counted from 0.

        Parameters
        ----------
        core : int
            Core, from 0 to ``cores - 1``.

        Raises
        ------
        ValueError
            If the node has no such core.

        Examples
        --------
        >>> from hopperlib.machine import Machine
        >>> node = Machine.load("hopper").node()
        >>> [node.numa_node_of(core) for core in (0, 5, 6, 23)]
        [0, 0, 1, 3]
        """
        self._check("core", core, self.cores, "cores")
        return core // self.cores_per_numa_node

    def cores_of(self, numa_node: int) -> range:
        """Cores of a NUMA node.

        Parameters
        ----------
        numa_node : int
            NUMA node, from 0 to ``numa_nodes - 1``.

        Raises
        ------
        ValueError
            If the node has no such NUMA node.

        Examples
        --------
        >>> from hopperlib.machine import Machine
        >>> list(Machine.load("hopper").node().cores_of(1))
        [6, 7, 8, 9, 10, 11]
        """
        self._check("numa_node", numa_node, self.numa_nodes, "NUMA nodes")
        first = numa_node * self.cores_per_numa_node
        return range(first, first + self.cores_per_numa_node)

    def _check(self, what: str, number: int, count: int, things: str) -> None:
        """Reject a number that the node does not have."""
        if not 0 <= number < count:
            raise ValueError(
                f"{what}={number} must be from 0 to {count - 1}: a node of kind '{self.name}' has {count} {things}"
            )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class QueueLimit:
    """A site's limits for jobs of a partition, a QOS or a queue, for a range of nodes.

    Attributes
    ----------
    name : str
        Name of the table.
    chosen_by : str
        Requests that select it: ``partition=standard``, ``qos=debug``; for PBS ``queue=prod``.
    by_default : bool
        Whether jobs that name no queue of this kind get it.
    min_nodes, max_nodes : int
        Range of job sizes; None: no number is printed. A job that matches no table with the same `chosen_by` is rejected.
    max_minutes : int or None
        Longest time that may be requested. [min]

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> limit = Machine.load("lumi-g").limits[0]
    >>> limit.chosen_by, limit.max_nodes, limit.max_minutes
    ('partition=standard-g', 1024, 2880)
    """

    name: str = key(**_NAME)
    chosen_by: str = key(pattern=_CHOSEN, why="as in a job's options: qos=debug")
    by_default: bool = sourced(False)
    min_nodes: int = _count(10_000_000, 1)
    max_nodes: int | None = _count(10_000_000, None)
    max_minutes: int | None = _count(1_000_000, None, why="is this in seconds?")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Network:
    """The network between the nodes.

    Attributes
    ----------
    kind : str
        Its name, such as ``gemini`` or ``slingshot``; ``torus``, ``dragonfly``, ``fat-tree`` or ``other`` for unnamed
        networks.
    latency_us : float
        Time of the shortest MPI message. [us]
    node_bandwidth_gb_s : float
        MPI bandwidth of one node. [GB/s]
    nodes_per_router : int or None
        Nodes that share a router, and so a position in the torus.
    dimensions : tuple of three int or None
        Routers of the torus along x, y and z.
    floor_columns, floor_rows, cages_per_cabinet, slots_per_cage, nodes_per_slot : int or None
        Cabinets on the floor, and the contents of a cabinet.
    reroutes_around_dead_links : bool or None
        Whether the machine keeps running when a link fails.
    service_blades : tuple of str
        Blades without compute nodes, by name (``c0-0c0s0``).
    link_bandwidth_gb_s : mapping
        Bandwidth of a link by direction: ``x``, ``y_within_blade``, ``y_between_blades``,
        ``z_within_cage``, ``z_between_cages``. [GB/s]
    dragonfly, fat_tree : record or None
        Wiring of the switches, unless the network is a torus.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> network = Machine.load("hopper").network
    >>> network.dimensions, network.routers, network.node_positions
    ((17, 8, 24), 3264, 6528)
    """

    kind: Literal[
        "gemini", "seastar2", "federation", "aries", "slingshot", "infiniband", "ethernet",
        "torus", "dragonfly", "fat-tree", "other",
    ]  # fmt: skip
    latency_us: float = _positive(
        10_000, 2.0, why="is this in ns?", assumed="no known source; the order of magnitude of today's networks"
    )
    node_bandwidth_gb_s: float = _positive(10_000, why=_IN_MB_S)
    nodes_per_router: int | None = _count(64, None)
    dimensions: tuple[int, int, int] | None = sourced(
        None, low=1, high=1000, form="three whole numbers [x, y, z] from 1 to 1000"
    )
    floor_columns: int | None = _count(1000, None)
    floor_rows: int | None = _count(1000, None)
    cages_per_cabinet: int | None = _count(16, None)
    slots_per_cage: int | None = _count(64, None)
    nodes_per_slot: int | None = _count(64, None)
    reroutes_around_dead_links: bool | None = sourced(None)
    service_blades: tuple[str, ...] = sourced((), pattern=r"c\d+-\d+c\d+s\d+", why="a blade's name, as in c0-0c0s0")
    link_bandwidth_gb_s: Mapping[Direction, float] = sourced(dict, above=0, high=10_000, form="directions")
    dragonfly: DragonflyWiring | None = None
    fat_tree: FatTreeWiring | None = None

    @property
    def routers(self) -> int | None:
        """Routers of the torus, service positions included."""
        return math.prod(self.dimensions) if self.dimensions else None

    @property
    def node_positions(self) -> int | None:
        """Places for a node in the torus, service nodes included."""
        return self.routers * self.nodes_per_router if self.routers and self.nodes_per_router else None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FileSystem:
    """A parallel file system.

    Attributes
    ----------
    name, kind : str
        Its name on the machine, and ``lustre`` or another kind.
    osts, osts_per_oss : int
        Object storage targets, and the number per server (OSS).
    peak_gb_s : float
        Peak rate of the whole file system. [GB/s]
    capacity_pb : float
        Capacity. [PB]
    default_stripe_count, default_stripe_size_bytes, max_stripe_count : int
        Default striping of a new file, and the maximum stripe count. The size in [bytes]
    node_write_ceiling_gb_s : float
        Maximum write rate of one node. [GB/s]
    osts_per_controller : int or None
        OSTs per RAID controller.
    task_write_ceiling_gb_s, server_write_ceiling_gb_s, network_gb_s : float or None
        Maximum rates of one writing task, of one server, and of all links to the servers. [GB/s]
    one_file_write_ceiling_gb_s : float or None
        Write rate of one node to one file, measured with many stripes and many tasks. [GB/s]
    useful_stripe_count : int or None
        Stripe count of one file beyond which measurements showed no gain.
    advised_stripe_count : int or None
        The site's upper limit per file.
    default_layout : str or None
        Default layout of new files, as options of ``lfs setstripe``, if it is more than a count and a size.
    pool : str or None
        Pool of OSTs that the site prescribes for striped files.
    largest_stripe_size_bytes : int or None
        The largest stripe size with a measured benefit. [bytes]
    creates_per_s : float or None
        File creation rate of many tasks together. [1/s]
    guide_from_gb : tuple of float
        Sizes of a shared file above which the site recommends more stripes. [GB]
    guide_stripe_counts : tuple of int
        Stripe count that it recommends from each of these sizes; -1 is all OSTs.
    guide_stripe_size_bytes : int or None
        Stripe size that it recommends. [bytes]
    guide_words : tuple of str
        The site's wording for each of these layouts.
    server_failover : bool or None
        Whether the file system keeps working when a server fails.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> scratch = Machine.load("hopper").file_systems[0]
    >>> scratch.servers, round(1000 * scratch.ost_peak_gb_s)
    (26, 224)
    """

    name: str = key(**_NAME)
    kind: Literal["lustre"] = key(why="the storage models know Lustre")
    osts: int = _count(100_000)
    osts_per_oss: int = _count(1000, 1, assumed="the page does not print it")
    peak_gb_s: float = _positive(1_000_000, why=_IN_MB_S)
    capacity_pb: float = _positive(10_000, why="is this in TB?")
    default_stripe_count: int = _count(2000, 1, why=_STRIPES, assumed=_LUSTRES)
    default_stripe_size_bytes: int = sourced(1_048_576, low=65_536, high=2**32, why=_STRIPE_SIZE, assumed=_LUSTRES)
    max_stripe_count: int = sourced(
        low=1, high=2000, why=_STRIPES, follows=lambda scratch: min(scratch["osts"], 2000), assumed="all OSTs"
    )
    node_write_ceiling_gb_s: float = _positive(10_000, why=_IN_MB_S)
    osts_per_controller: int | None = _count(1000, None)
    task_write_ceiling_gb_s: float | None = _positive(10_000, None, why=_IN_MB_S)
    one_file_write_ceiling_gb_s: float | None = _positive(10_000, None, why=_IN_MB_S)
    server_write_ceiling_gb_s: float | None = _positive(10_000, None, why=_IN_MB_S)
    network_gb_s: float | None = _positive(1_000_000, None, why=_IN_MB_S)
    useful_stripe_count: int | None = _count(2000, None, why=_STRIPES)
    advised_stripe_count: int | None = _count(2000, None, why=_STRIPES)
    default_layout: str | None = sourced(None)
    pool: str | None = sourced(None, pattern=r"[A-Za-z0-9_.-]{1,40}", why="a pool of OSTs, as after -p")
    largest_stripe_size_bytes: int | None = sourced(None, low=65_536, high=2**32, why=_STRIPE_SIZE)
    creates_per_s: float | None = _positive(1e9, None, why="files created a second")
    guide_from_gb: tuple[float, ...] = sourced((), low=0, high=10_000_000)
    guide_stripe_counts: tuple[int, ...] = sourced((), low=-1, high=2000, why=_STRIPES, repeats=True)
    guide_stripe_size_bytes: int | None = sourced(None, low=65_536, high=2**32, why=_STRIPE_SIZE)
    guide_words: tuple[str, ...] = sourced(())
    server_failover: bool | None = sourced(None)

    @property
    def servers(self) -> int:
        """Object storage servers (OSS)."""
        return self.osts // self.osts_per_oss

    @property
    def ost_peak_gb_s(self) -> float:
        """Peak rate of one OST, an even share. [GB/s]"""
        return self.peak_gb_s / self.osts


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class OtherStorage:
    """A file system of a machine without Lustre's striping, with its site's advice.

    Attributes
    ----------
    name, kind : str
        Its name on the machine, and its type.
    peak_gb_s, capacity_pb : float or None
        [GB/s], [PB]
    shared_line, own_files_line : str or None
        The site's command for one shared file, and for one file per task.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> [(each.name, each.kind) for each in Machine.load("aurora").other_storages]
    [('daos', 'daos')]
    """

    name: str = key(**_NAME)
    kind: Literal["gpfs", "daos", "vast", "burst-buffer", "nfs"] = key()
    peak_gb_s: float | None = _positive(1_000_000, None, why=_IN_MB_S)
    capacity_pb: float | None = _positive(10_000, None, why="is this in TB?")
    shared_line: str | None = sourced(None)
    own_files_line: str | None = sourced(None)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Launcher:
    """A program that starts tasks, and its behavior on this machine.

    Attributes
    ----------
    kind : str
        ``aprun``, ``srun``, ``pals`` (HPE's mpiexec), ``openmpi``, ``mpich`` or ``intelmpi``.
    assumed : str or None
        Why this launcher is listed, if the machine did not have it.
    options : tuple of str
        Its options, as typed; empty: all options of the release.
    site_options : tuple of str
        Long options added by the site, which do not affect where tasks run.
    version : str or None
        Version whose rules apply; for srun the Slurm release, such as ``23.11``.
    slurm_socket : str
        Slurm's meaning of a socket when it binds tasks: ``socket``, ``numa_node`` or ``l3``.
    slurm_conf_socket : str or None
        The same in slurm.conf, if different from what slurmd detects; it selects the cores of a step.
    threads_per_core : int or None
        Default hardware threads per core of a job; None: all.
    tasks_per_core : int or None
        Default tasks per core of a job (Slurm's CR_ONE_TASK_PER_CORE); None: one per hardware thread.
    auto_binding : str
        Binding of tasks if neither the line nor Slurm's automatic binding sets one.
    default_distribution : str
        Default distribution of tasks, in srun's words; Slurm's default if the file has none.
    bare_line_doubt : str or None
        Observed binding of a line without a job and -c that its options do not explain; None if none was observed.
    """

    kind: Literal["aprun", "srun", "pals", "openmpi", "mpich", "intelmpi", "ibrun", "flux"] = key(
        why="these launch lines can be read"
    )
    assumed: str | None = None
    options: tuple[str, ...] = sourced((), pattern=r"--?[A-Za-z][A-Za-z0-9_-]*", why="an option as typed, such as -n")
    site_options: tuple[str, ...] = sourced((), pattern=r"--[A-Za-z][A-Za-z0-9_-]*", why="a long option, as in --image")
    version: str | None = sourced(None, pattern=r"\d+(\.\d+)*", why="a release, as in 23.11")
    slurm_socket: Literal["socket", "numa_node", "l3"] = sourced("socket")
    slurm_conf_socket: Literal["socket", "numa_node", "l3"] | None = sourced(None)
    threads_per_core: int | None = _count(8, None)
    tasks_per_core: int | None = _count(8, None)
    auto_binding: Literal["none", "cores", "threads", "sockets"] = sourced("none")
    default_distribution: str = sourced("block:cyclic", pattern=_DISTRIBUTION)
    bare_line_doubt: str | None = sourced(None)
