"""Questions about one node: machines, placement, memory, threads, as functions; ``scripts/write_api.py`` writes them from the questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hopperkit.api.kinds import run as _run
from hopperkit.api.placing import run_place as _place

if TYPE_CHECKING:
    from typing import Literal

    from hopperkit.api.kinds import AnyMachine, Count, Number, Text
    from hopperkit.questions.result import Result


def machines(
    first: AnyMachine,
    second: AnyMachine | None = None,
    *,
    third: AnyMachine | None = None,
    figure: Literal[
        "nodes",
        "cores",
        "peak_tflops",
        "memory_tb",
        "memory_per_core_gb",
        "node_bandwidth_gb_s",
        "mpi_latency_us",
        "mpi_bandwidth_gb_s",
        "mpi_bandwidth_per_core_mb_s",
        "scratch_peak_gb_s",
        "memory_dump_min",
    ] = "cores",
) -> Result:
    """What follows from the parts of a machine, and how do machines compare?

    Parameters
    ----------
    first : str, path-like or Machine
        Machine.
    second : str, path-like or Machine, or None
        Second machine.
    third : str, path-like or Machine, or None
        Third machine.
    figure : {"nodes", "cores", "peak_tflops", "memory_tb", "memory_per_core_gb", "node_bandwidth_gb_s", "mpi_latency_us", "mpi_bandwidth_gb_s", "mpi_bandwidth_per_core_mb_s", "scratch_peak_gb_s", "memory_dump_min"}, default "cores"
        Quantity to compare.

    Returns
    -------
    Result
        The answer: a summary, findings, numbers with their badges, tables, charts, and `facts` for programs.

    Raises
    ------
    InputError
        If a value is refused; the message names the value and the rule.

    Examples
    --------
    >>> import hopperkit
    >>> hopperkit.machines("hopper", "franklin").to_frame().shape[0] > 5
    True

    References
    ----------
    Models and their sources: `hopperlib.machine.derived`.
    """
    return _run("machines", first=first, second=second, third=third, figure=figure)


def place(
    line: Text,
    *,
    machine: AnyMachine | None = None,
    kind: str | None = None,
    threads: Count | None = None,
    memory_per_task_gb: Number | None = None,
    memory_bound_high: Number = 1.0,
    node: Count = 0,
    launch: Count | None = None,
) -> Result:
    """On which cores does a launch line put its tasks, what is wrong with that, and which line is better?

    Parameters
    ----------
    line : str, path-like, file, lines or DataFrame
        Launch line or batch script. A line of aprun, srun, mpiexec or mpirun, or the whole job script around it.
    machine : str, path-like or Machine, or None
        Machine.
    kind : str, or None
        Kind of node. Its name in the machine file; empty for the ordinary kind.
    threads : int, or None
        OpenMP threads per task. From 0 to 1,024. Not given: from the script (OMP_NUM_THREADS), or one per core of
        a task.
    memory_per_task_gb : float, or None
        Memory per task. [GB] From 0 to 4,096. Not given: unknown. The line's memory request is used, otherwise
        all memory is assumed to be local.
    memory_bound_high : float, default 1.0
        Memory-bound fraction, at most. From 0 to 1. Share of the run, with tasks spread evenly, that waits for
        memory. It cannot be read from the line.
    node : int, default 0
        Node to draw. From 0 to 100,000. Counted from 0, in the order of the job's nodes.
    launch : int, or None
        Launch line of a script. From 0 to 100,000. Counted from 1; 0 takes the first line.

    Returns
    -------
    Result
        The answer: a summary, findings, numbers with their badges, tables, charts, and `facts` for programs.

    Raises
    ------
    InputError
        If a value is refused; the message names the value and the rule.

    Examples
    --------
    >>> import hopperkit
    >>> answer = hopperkit.place("aprun -n 384 -N 12 vasp", machine="hopper")
    >>> answer.facts["nodes"], answer.copyables[-1].text
    (32, 'aprun -n 384 -N 12 -S 3 vasp')

    References
    ----------
    Models and their sources: `hopperlib.placement.placement`, `hopperlib.placement.slowdown`.
    """
    return _place(
        "place",
        line=line,
        machine=machine,
        kind=kind,
        threads=threads,
        memory_per_task_gb=memory_per_task_gb,
        memory_bound_high=memory_bound_high,
        node=node,
        launch=launch,
    )


def memory(
    need_gb: Number,
    tasks: Count,
    *,
    threads: Count | None = None,
    machine: AnyMachine = "hopper",
    kind: str | None = None,
    hours: Number = 1.0,
) -> Result:
    """Which layouts give each task the memory it needs, and which is the cheapest?

    Parameters
    ----------
    need_gb : float
        Memory per task. [GB] From 0.01 to 4,096.
    tasks : int
        MPI tasks. From 1 to 1,000,000,000.
    threads : int, or None
        Threads per task. From 0 to 1,024. Not given: one. The answer also shows the saving from more threads.
    machine : str, path-like or Machine, default "hopper"
        Machine.
    kind : str, or None
        Only this kind of node. Its name in the machine file; empty for every kind.
    hours : float, default 1.0
        Run time. [h] From 0.01 to 10,000. With one thread per task, or with as many as set above.

    Returns
    -------
    Result
        The answer: a summary, findings, numbers with their badges, tables, charts, and `facts` for programs.

    Raises
    ------
    InputError
        If a value is refused; the message names the value and the rule.

    Examples
    --------
    >>> import hopperkit
    >>> hopperkit.memory(2, 384).facts["layouts"][0]["nodes"]
    26

    References
    ----------
    Models and their sources: `hopperlib.placement.layouts`, `hopperlib.placement.models.memory`.
    """
    return _run("memory", need_gb=need_gb, tasks=tasks, threads=threads, machine=machine, kind=kind, hours=hours)


def hybrid(
    tasks: Count,
    *,
    machine: AnyMachine = "hopper",
    parallel_fraction: Number = 0.99,
    mpi_share: Number = 0.25,
    memory_bound: Number = 0.5,
    elsewhere: Number = 1.0,
    spread: bool = True,
    strict: bool = True,
    spilled: Number = 0.5,
    cores: Count | None = None,
    kind: str | None = None,
) -> Result:
    """How does run time change with the threads of a task, and which number is the fastest?

    Parameters
    ----------
    tasks : int
        Tasks of the job with one thread each. From 2 to 10,000,000. One task for each core that works. With three
        threads in each task there are a third as many tasks.
    machine : str, path-like or Machine, default "hopper"
        Machine.
    parallel_fraction : float, default 0.99
        Parallel fraction of a task's work. From 0.8 to 1. The part that its threads share. The default is
        assumed: The document gives no time: the middle of the study's range.
    mpi_share : float, default 0.25
        Share of the run in MPI. From 0 to 0.6. With one thread in each task. It covers collectives and copies,
        which grow with the number of tasks. The default is assumed: The document gives no time: the middle of the
        study's range.
    memory_bound : float, default 0.5
        Memory-bound fraction of the rest. From 0 to 1. The default is assumed: The document gives no time: the
        middle of the study's range.
    elsewhere : float, default 1.0
        Share of the data that the first thread touches first. From 0 to 1. 1: one thread fills all arrays first.
        Not given: every thread first fills the part that it will use. No user reported the second.
    spread : bool, default True
        Tasks spread over the NUMA nodes (aprun -S).
    strict : bool, default True
        Memory kept on its NUMA node (aprun -ss).
    spilled : float, default 0.5
        Share of its data on the next NUMA node, without -ss. From 0 to 1. The default is assumed: How full a NUMA
        node was before a run is not printed.
    cores : int, or None
        Cores of a node in use. From 0 to 100,000. Not given: all of them.
    kind : str, or None
        Kind of node. Its name in the machine file; empty for the ordinary kind. On nodes with GPUs each GPU has
        at least one task.

    Returns
    -------
    Result
        The answer: a summary, findings, numbers with their badges, tables, charts, and `facts` for programs.

    Raises
    ------
    InputError
        If a value is refused; the message names the value and the rule.

    Examples
    --------
    >>> import hopperkit
    >>> hopperkit.hybrid(6144).facts["best_threads"]
    6

    References
    ----------
    Models and their sources: `hopperlib.placement.models.hybrid`.
    """
    return _run(
        "hybrid",
        tasks=tasks,
        machine=machine,
        parallel_fraction=parallel_fraction,
        mpi_share=mpi_share,
        memory_bound=memory_bound,
        elsewhere=elsewhere,
        spread=spread,
        strict=strict,
        spilled=spilled,
        cores=cores,
        kind=kind,
    )
