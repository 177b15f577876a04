"""Request of a launch line, as data, and the error for a rejected line.

===============  ==============================================================
`LaunchError`    the launcher or the batch system would reject this line
`Component`      one program of a line with its tasks; a line with ``:`` has several
`Reservation`    reservation of the batch script around the line
`Launch`         a whole line: components, reservation, environment
===============  ==============================================================

A component holds the request. Its interpretation by the launcher (for example, tasks per node without ``-N``) is
computed in `hopperlib.placement.aprun_layout` for aprun, and in `hopperkit` for other launchers.
"""

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple, Protocol

from hopperlib.errors import InputError
from hopperlib.machine import Machine, NodeKind

BatchSystem = Literal["pbs", "slurm", "lsf", "cobalt", "flux"]
DIRECTIVES: dict[BatchSystem, str] = {
    "pbs": "#PBS",
    "slurm": "#SBATCH",
    "lsf": "#BSUB",
    "cobalt": "#COBALT",
    "flux": "#flux:",
}
"""Prefixes of the lines that batch systems read."""
LauncherKind = Literal["aprun", "srun", "pals", "openmpi", "mpich", "intelmpi", "ibrun", "flux"]


class LaunchError(InputError):
    """A line that the launcher or the batch system would reject.

    Parameters
    ----------
    flag : str
        The option at fault, as typed (``-S``), or the part of the text.
    value : str or int
        The value given; empty if there was none.
    rule : str
        The rule, with the bound and its origin.
    words : str or None
        The launcher's message for this mistake, if documented.
    shown : str or None
        The value as shown in the message, if different; empty if the option itself is at fault.

    Examples
    --------
    >>> error = LaunchError("-S", 7, "must be from 1 to 6, the cores of a NUMA node")
    >>> str(error)
    '-S 7 must be from 1 to 6, the cores of a NUMA node'
    >>> error.flag, error.value, error.rule
    ('-S', '7', 'must be from 1 to 6, the cores of a NUMA node')
    """

    def __init__(
        self, flag: str, value: str | int, rule: str, *, words: str | None = None, shown: str | None = None
    ) -> None:
        text = str(value)
        text = text if len(text) <= 80 else text[:77] + "..."
        # A lone colon would be lost among the colons of a message.
        named = "':'" if flag == ":" else flag
        message = f"{f'{named} {text if shown is None else shown}'.strip()} {rule}"
        super().__init__(f"{words}: {message}" if words else message, name=flag, value=text, rule=rule)
        self.flag = flag
        self.words = words


class GpuRequest(NamedTuple):
    """GPU request of a line; None means not given.

    Parameters
    ----------
    per_node, total, per_task, per_socket, tasks_per_gpu : int or None
        ``--gpus-per-node``, ``--gpus``, ``--gpus-per-task``, ``--gpus-per-socket`` (times the sockets),
        ``--ntasks-per-gpu``.
    binding : str
        Word of ``--gpu-bind``: ``none``, ``closest``, ``single``, ``per_task``, ``map``, ``mask``; empty for none
        given.
    number : int
        Number after ``single:`` and ``per_task:``.
    entries : tuple of tuple of int
        GPUs of each entry of a list.
    sharing : bool
        ``--gres-flags=allow-task-sharing``: a task has no cgroup that hides the other GPUs.
    """

    per_node: int | None = None
    total: int | None = None
    per_task: int | None = None
    per_socket: int | None = None
    tasks_per_gpu: int | None = None
    binding: str = ""
    number: int = 1
    entries: tuple[tuple[int, ...], ...] = ()
    sharing: bool = False

    def on_node(self, tasks: int, nodes: int) -> int | None:
        """Return the number of GPUs in a node's share of the step.

        Parameters
        ----------
        tasks : int
            Tasks of the step.
        nodes : int
            Nodes of the step.

        Examples
        --------
        >>> GpuRequest(total=8).on_node(4, 2), GpuRequest(tasks_per_gpu=7).on_node(56, 1)
        (4, 8)
        """
        if self.per_node is not None:
            return self.per_node
        if self.per_task is not None:
            return self.per_task * tasks
        if self.tasks_per_gpu is not None and self.total is None:
            return -(-tasks // self.tasks_per_gpu)
        return -(-self.total // nodes) if self.total is not None else self.per_socket


class BoundTasks(Protocol):
    """The tasks of a node as bound by a launcher: the CPUs of each, empty if unbound; and unknowns."""

    @property
    def cpus(self) -> list[tuple[int, ...]]:
        """CPUs of each task, numbered as in Linux."""

    @property
    def doubt(self) -> str:
        """Reason why they are unknown; empty if known."""


class TaskMapper(Protocol):
    """A launcher that computes the CPUs of a node's tasks by its rules."""

    @property
    def doubt_on_several_nodes(self) -> str:
        """Reason why the tasks of several nodes are unknown; empty if known."""

    def bind(self, kind: NodeKind, tasks: int, /) -> BoundTasks:
        """Return the CPUs of each task of one node.

        Parameters
        ----------
        kind : NodeKind
            Kind of node.
        tasks : int
            Tasks on the node.
        """


class TaskMapping(NamedTuple):
    """Mapping of a node's tasks to units by mpiexec, and their binding.

    Parameters
    ----------
    unit : str
        ``core``, ``l3``, ``numa``, ``socket``: round-robin over such units; ``slot``: the next cores; ``hwthread``: the
        next CPUs, core by core; ``number``: the next CPUs by number; ``node-by-node``: round-robin over the nodes.
    per_unit : int or None
        Tasks on each unit before the next one, instead of round-robin.
    width : int
        Cores of a task; CPUs if the unit is ``hwthread`` or ``number``.
    bind : str
        ``own``: the CPUs it takes; ``none``; or all of the units that contain them.
    """

    unit: str = "slot"
    per_unit: int | None = None
    width: int = 1
    bind: str = "own"


class Component(NamedTuple):
    """One program of a launch line and its requested tasks.

    ``None`` means not given on the line.

    Parameters
    ----------
    command : tuple of str
        Program and arguments; empty if the line names none.
    tasks : int
        MPI tasks: ``-n``.
    shell : str
        The command in shell syntax: as typed, with variables known only at run time.
    threads_per_task : int
        CPUs requested per task: ``aprun -d`` (cores), ``srun -c`` (hardware threads on a machine with several per
        core). The actual number of threads is in `Launch.openmp_threads`.
    nodes : int or None
        ``srun -N``; aprun has no such option.
    tasks_per_node : int or None
        ``aprun -N``, ``srun --ntasks-per-node``.
    tasks_per_numa_node : int or None
        ``aprun -S``.
    tasks_per_socket : int or None
        ``srun --ntasks-per-socket``.
    tasks_per_core : int or None
        ``srun --ntasks-per-core``.
    numa_nodes_per_node : int or None
        ``aprun -sn``.
    numa_node_list : tuple of int or None
        ``aprun -sl``.
    strict_memory : bool
        ``aprun -ss``, ``srun --mem-bind=local``: memory only from the task's NUMA nodes.
    cpu_binding : str or None
        Keyword of ``aprun -cc`` (``cpu``, ``depth``, ``numa_node``, ``none``, ``list``)
        or of ``srun --cpu-bind`` (``cores``, ``threads``, ``sockets``,
        ``ldoms``, ``rank``, ``rank_ldom``, ``none``, ``map_cpu``,
        ``mask_cpu``, ``map_ldom``, ``mask_ldom``).
    binding_list : tuple of tuple of (int or None), or None
        For ``-cc`` lists, one tuple of CPUs per task (a single tuple: one list for all in order; None means ``x``,
        unbound); for ``map_cpu``, ``mask_cpu``, ``map_ldom`` and ``mask_ldom`` the CPUs or NUMA nodes of each entry.
    memory_per_task_gb : float or None
        ``aprun -m``, ``srun --mem-per-cpu`` times the task's CPUs. [GB]
    reserved_cores : int
        ``aprun -r``: cores that a node reserves for the system.
    distribution : tuple of str or None
        ``srun -m``: method for nodes, sockets and cores, defaults filled in.
    plane_size : int or None
        Tasks per block with ``srun -m plane=``.
    pack_nodes : bool
        ``srun -m ...,Pack``: fill node after node.
    overcommit : bool
        ``srun -O``: more tasks than CPUs are allowed.
    threads_per_core : int or None
        Hardware threads of each core in use: ``srun --threads-per-core``, ``--hint``, ``aprun -j``.
    step_method : str
        ``srun -m``: Slurm's distribution of a step's cores over sockets; default: cyclic.
    system_cores : tuple of int or None
        Cores that the job leaves to the system: ``sbatch -S``; None for those that the site reserves.
    gpus : GpuRequest or None
        GPU request of the line and the job.
    mapping : TaskMapping or None
        Mapping and binding by mpiexec; None for other launchers.
    mapper : TaskMapper or None
        Binding of the tasks of a node one by one, for a launcher with a model of its rules.
    exact : bool
        Whether a Slurm step uses only its requested CPUs instead of all of the node's.
    options : tuple of (str, str)
        Every option of the component, short spelling and value, in order.
    idle_options : tuple of str
        Options that do not affect placement.

    Examples
    --------
    >>> Component(command=("vasp",), tasks=384, tasks_per_node=12).given("-S") is None
    True
    """

    command: tuple[str, ...]
    tasks: int
    shell: str = ""
    threads_per_task: int = 1
    nodes: int | None = None
    tasks_per_node: int | None = None
    tasks_per_numa_node: int | None = None
    tasks_per_socket: int | None = None
    tasks_per_core: int | None = None
    numa_nodes_per_node: int | None = None
    numa_node_list: tuple[int, ...] | None = None
    strict_memory: bool = False
    cpu_binding: str | None = None
    binding_list: tuple[tuple[int | None, ...], ...] | None = None
    memory_per_task_gb: float | None = None
    reserved_cores: int = 0
    distribution: tuple[str, ...] | None = None
    plane_size: int | None = None
    pack_nodes: bool = False
    overcommit: bool = False
    threads_per_core: int | None = None
    step_method: str = "cyclic"
    system_cores: tuple[int, ...] | None = None
    gpus: GpuRequest | None = None
    mapping: TaskMapping | None = None
    mapper: TaskMapper | None = None
    exact: bool = False
    options: tuple[tuple[str, str], ...] = ()
    idle_options: tuple[str, ...] = ()

    def given(self, option: str) -> str | None:
        """Return the value typed for an option, or None if it was not typed (inherited ones count as typed).

        Parameters
        ----------
        option : str
            Short spelling of the option, such as ``-n``.
        """
        return dict(self.options).get(option)


class Remarks(NamedTuple):
    """Remarks of a parser in addition to the components: notes, assumptions, unknowns."""

    notes: list[str]
    assumptions: list[str]
    doubts: list[str]

    @classmethod
    def none(cls) -> "Remarks":
        """Return empty lists for the parser to fill."""
        return cls([], [], [])


class Reservation(NamedTuple):
    """Reservation of a batch script.

    Parameters
    ----------
    batch : str
        ``"pbs"``, ``"slurm"``, ``"lsf"``, ``"cobalt"`` or ``"flux"``.
    nodes : int
        Nodes reserved.
    tasks : int or None
        ``mppwidth``, ``--ntasks``.
    tasks_per_node : int or None
        ``mppnppn``, ``--ntasks-per-node``.
    threads_per_task : int or None
        ``mppdepth``, ``--cpus-per-task``.
    memory_per_task_gb : float or None
        ``mppmem``. [GB]
    options : tuple of (str, str)
        Every requested resource with its value, in order.
    gpus : GpuRequest or None
        GPUs of the job, visible to every launcher that runs inside it; None if it requests none.
    """

    batch: BatchSystem
    nodes: int
    tasks: int | None = None
    tasks_per_node: int | None = None
    threads_per_task: int | None = None
    memory_per_task_gb: float | None = None
    options: tuple[tuple[str, str], ...] = ()
    gpus: "GpuRequest | None" = None


class Job(NamedTuple):
    """Context of a launch line: the machine, the kind of node, the script's reservation, its modules, whether jobs
    share nodes.
    """

    machine: Machine
    node: NodeKind
    reservation: Reservation | None = None
    modules: tuple[str, ...] = ()
    shared: bool = False


ReadLine = tuple[tuple[Component, ...], dict[str, str], Remarks]
"""Result of a parser: the components, the variables set on the line, and remarks."""


class Launch(NamedTuple):
    """A launch line that has been read.

    Parameters
    ----------
    launcher : str
        A `LauncherKind`, such as ``"aprun"``.
    text : str
        The launch line joined into one line, with variables replaced.
    components : tuple of Component
        More than one for MPMD (``:``).
    reservation : Reservation or None
        Reservation of the batch script around the line; None for a line without a script.
    openmp_threads : int or None
        Threads per task, from OMP_NUM_THREADS or the caller; None if unknown.
    environment : mapping
        Variables set in front of the line or exported before it.
    notes : tuple of str
        Notes for the reader, in plain sentences: options without effect on the placement, values taken from the script,
        ambiguous units.
    kind : str or None
        Kind of node requested in the text; None for the default kind.
    assumptions, doubts : tuple of str
        Assumptions, as clauses that begin with "that"; and unknowns.
    steps, steps_cpus : int
        Number of simultaneous steps in the script, including this one, and the CPUs requested by all of them.
    before, after : tuple of Component
        Steps that start before this one and still run, and steps that start after it.
    gpu_wrappers : frozenset of str
        Files written by the script that choose a GPU for the program they start.
    """

    launcher: LauncherKind
    text: str
    components: tuple[Component, ...]
    reservation: Reservation | None = None
    openmp_threads: int | None = None
    environment: Mapping[str, str] = {}
    notes: tuple[str, ...] = ()
    kind: str | None = None
    assumptions: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    steps: int = 1
    steps_cpus: int = 0
    before: tuple[Component, ...] = ()
    after: tuple[Component, ...] = ()
    gpu_wrappers: frozenset[str] = frozenset()

    @property
    def tasks(self) -> int:
        """Tasks of all components."""
        return sum(component.tasks for component in self.components)

    def threads_of(self, component: Component) -> int:
        """Threads per task of the component: OpenMP threads if known, otherwise the requested CPUs.

        Parameters
        ----------
        component : Component
            One program of the launch.
        """
        return self.openmp_of(component) or component.threads_per_task

    def openmp_of(self, component: Component) -> int | None:
        """OpenMP threads per task of the component, if known: each of several programs may set its number.

        Parameters
        ----------
        component : Component
            One program of the launch.
        """
        exported = " ".join(value for name, value in component.options if name in ("--export", "-e", "-env", "-x"))
        values = re.findall(r"\bOMP_NUM_THREADS=(\d{1,4})\b", exported) if len(self.components) > 1 else []
        return int(values[-1]) if values else self.openmp_threads
