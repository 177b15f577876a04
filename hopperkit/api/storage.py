"""Questions about file systems, as functions; ``scripts/write_api.py`` writes them from the questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hopperkit.api.kinds import run as _run

if TYPE_CHECKING:
    from typing import Literal

    from hopperkit.api.kinds import AnyMachine, Count, Number, Text
    from hopperkit.questions.result import Result


def io_node(
    first: AnyMachine,
    *,
    second: AnyMachine = "franklin",
    tasks: Count = 24,
    task_rate_mb_s: Number = 212.5,
    nodes: Count | None = None,
) -> Result:
    """How fast do the tasks of a few nodes write, and from how many tasks on do more of them not help?

    Parameters
    ----------
    first : str, path-like or Machine
        Machine.
    second : str, path-like or Machine, default "franklin"
        Machine to compare with.
    tasks : int, default 24
        Tasks. From 1 to 96.
    task_rate_mb_s : float, default 212.5
        Write rate of one task alone. [MB/s] From 20 to 1,000. The default is assumed: No source gives it. With
        212.5 MB/s eight tasks reach the limit of a Hopper node; with 267.5 MB/s four tasks reach that of a
        Franklin node.
    nodes : int, or None
        Nodes of the first machine. From 0 to 96. Not given: tasks fill one node after the other. Any other
        number: they are spread evenly over that many nodes.

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
    >>> hopperkit.io_node("hopper", tasks=8).facts["first_rate_gb_s"]
    1.2897852889916381

    References
    ----------
    Models and their sources: `hopperlib.storage.lustre.client`.
    """
    return _run("io-node", first=first, second=second, tasks=tasks, task_rate_mb_s=task_rate_mb_s, nodes=nodes)


# As long as the question has controls.
def stripe(
    size_gb: Number,
    writers: Count,
    pattern: Literal["shared", "collective", "file-per-process", "one-writer"],
    *,
    machine: AnyMachine = "hopper",
    stripe_count: Count = 2,
    stripe_mib: Literal[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024] = 1,
    block_kib: Count = 1024,
    direction: Literal["write", "read"] = "write",
    nodes: Count | None = None,
    first_ost: Count = 0,
    offset_gb: Number = 0.0,
    creates_per_s: Number | None = None,
    lock_ms: Number = 2.0,
    osts: Count | None = None,
    ost_rate_mb_s: Number | None = None,
    client_rate_gb_s: Number | None = None,
    kind: Literal["lustre", "gpfs", "daos", "vast", "burst-buffer", "nfs"] = "lustre",
    lfs: Text | None = None,
    measured: Text | None = None,
    now: str | None = None,
    file_system: str | None = None,
    mpi: Literal["machine", "cray", "romio", "ompio"] = "machine",
    pool: str | None = None,
    directory: str = "DIRECTORY",
) -> Result:
    """How fast is a file written with a given stripe count, what limits it, and which command sets a better one?

    Parameters
    ----------
    size_gb : float
        Size of the data. [GB] From 1e-09 to 10,000,000.
    writers : int
        Tasks that hold the data. From 1 to 1,000,000,000.
    pattern : {"shared", "collective", "file-per-process", "one-writer"}
        Files. In the recommended setting aggregators write a shared file.
    machine : str, path-like or Machine, default "hopper"
        Machine.
    stripe_count : int, default 2
        Stripe count. From 0 to 300. Not given: the recommended layout, with its stripe size and its hints.
    stripe_mib : {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}, default 1
        Stripe size.
    block_kib : int, default 1024
        Data per call. [KiB] From 1 to 1,048,576.
    direction : {"write", "read"}, default "write"
        Direction.
    nodes : int, or None
        Nodes of the tasks. From 0 to 10,000,000. Not given: as few nodes as possible for the tasks.
    first_ost : int, default 0
        OST of the first stripe. From 0 to 10,000.
    offset_gb : float, default 0.0
        Which OST holds the byte at offset. [GB] From 0 to 10,000,000.
    creates_per_s : float, or None
        Files created per second. [1/s] From 0 to 1,000,000,000. Not given: use the machine file's value. The
        default is assumed: Calibrated where the machine file has none: 48,000, the median of 95 public IO500
        results in one folder.
    lock_ms : float, default 2.0
        Cost of a lock transfer. [ms] From 0 to 1,000. The default is assumed: Calibrated: the median of public
        IO500 runs. In a test on other runs half were predicted within a factor of 1.4, and 7 of 10 within a
        factor of 2.
    osts : int, or None
        OSTs of another file system. From 0 to 100,000. Not given: use the machine file's value. `lfs df` counts
        yours.
    ost_rate_mb_s : float, or None
        OST write rate. [MB/s] From 0 to 1,000,000. Not given: use the machine file's value.
    client_rate_gb_s : float, or None
        Write rate of a node. [GB/s] From 0 to 10,000. Not given: use the machine file's value.
    kind : {"lustre", "gpfs", "daos", "vast", "burst-buffer", "nfs"}, default "lustre"
        File system.
    lfs : str, path-like, file, lines or DataFrame, or None
        Output of lfs df and lfs getstripe -d. Your file system: its OSTs, their use, and the default layout of
        new files, progressive or not. `lfs pool_list FILE_SYSTEM.POOL` counts those of a pool.
    measured : str, path-like, file, lines or DataFrame, or None
        Measurements of your file system. Outputs of IOR, mdtest or IO500, or Darshan logs as darshan-parser
        prints them: rates of OSTs and nodes, files created per second and the cost of a lock are fitted to them.
    now : str, or None
        How long it takes now. Measured time with these stripes; with 0 stripes, with the default for new files.
    file_system : str, or None
        File system of the machine. By its name in the machine file; empty for the first.
    mpi : {"machine", "cray", "romio", "ompio"}, default "machine"
        MPI that takes the hints.
    pool : str, or None
        Pool of OSTs.
    directory : str, default "DIRECTORY"
        Directory of the files.

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
    >>> hopperkit.stripe(1000, 2400, "shared").facts["recommended_count"]
    144

    References
    ----------
    Models and their sources: `hopperlib.storage.lustre.striping`, `hopperkit.filesystems.stripe_advice`.
    """
    return _run(
        "stripe",
        size_gb=size_gb,
        writers=writers,
        pattern=pattern,
        machine=machine,
        stripe_count=stripe_count,
        stripe_mib=stripe_mib,
        block_kib=block_kib,
        direction=direction,
        nodes=nodes,
        first_ost=first_ost,
        offset_gb=offset_gb,
        creates_per_s=creates_per_s,
        lock_ms=lock_ms,
        osts=osts,
        ost_rate_mb_s=ost_rate_mb_s,
        client_rate_gb_s=client_rate_gb_s,
        kind=kind,
        lfs=lfs,
        measured=measured,
        now=now,
        file_system=file_system,
        mpi=mpi,
        pool=pool,
        directory=directory,
    )


def small_files(
    files: Count,
    size_kb: Number,
    *,
    tasks: Count,
    nodes: Count,
    machine: AnyMachine = "hopper",
) -> Result:
    """What do a million small files cost, in creating, listing and reading them, and what is done instead?

    Parameters
    ----------
    files : int
        Files. From 1 to 1e+12.
    size_kb : float
        Size of a file. [kB] From 0.001 to 1,000,000,000.
    tasks : int
        Tasks. From 1 to 1,000,000,000.
    nodes : int
        Nodes. From 1 to 10,000,000.
    machine : str, path-like or Machine, default "hopper"
        Machine.

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
    >>> hopperkit.small_files(1_000_000, 10, tasks=1024, nodes=64).facts["metadata_s"]
    200.0

    References
    ----------
    Models and their sources: `hopperkit.filesystems.small_files`.
    """
    return _run("small-files", files=files, size_kb=size_kb, tasks=tasks, nodes=nodes, machine=machine)


def trillion(
    *,
    allocator: Literal["random", "round-robin", "weighted"] = "random",
    stripe_count: Count = 1,
    files: Count = 20000,
    variables: Count = 8,
    spread_s: Number = 40.0,
    size_tb: Number = 29.7,
    shared_tb: Number = 31.3,
    osts: Count = 156,
    peak_gb_s: Number = 35.0,
    seed: Count = 1,
) -> Result:
    """How fast are many files written, how far apart do the OSTs finish, and is one shared file as fast?

    Parameters
    ----------
    allocator : {"random", "round-robin", "weighted"}, default "random"
        Placement of the files on OSTs.
    stripe_count : int, default 1
        Stripe count of each file. From 1 to 16. The default is assumed: The files' stripe count is not printed;
        Hopper's default is 2.
    files : int, default 20000
        Files. From 1 to 50,000.
    variables : int, default 8
        Variables of the shared file. From 1 to 64.
    spread_s : float, default 40.0
        Time lost at each barrier. [s] From 0 to 120.
    size_tb : float, default 29.7
        Data in files. [TB] From 0.001 to 10,000.
    shared_tb : float, default 31.3
        Data in the shared file. [TB] From 0.001 to 10,000.
    osts : int, default 156
        OSTs. From 1 to 1,000.
    peak_gb_s : float, default 35.0
        Peak of the file system. [GB/s] From 0.1 to 100,000.
    seed : int, default 1
        Random seed. From 0 to 1,000,000.

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
    >>> hopperkit.trillion(files=2000).facts["files"]
    2000

    References
    ----------
    Models and their sources: `hopperlib.storage.lustre.dumps`.
    """
    return _run(
        "trillion",
        allocator=allocator,
        stripe_count=stripe_count,
        files=files,
        variables=variables,
        spread_s=spread_s,
        size_tb=size_tb,
        shared_tb=shared_tb,
        osts=osts,
        peak_gb_s=peak_gb_s,
        seed=seed,
    )
