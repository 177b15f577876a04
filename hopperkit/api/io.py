"""Questions about reading and writing, as functions; ``scripts/write_api.py`` writes them from the questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hopperkit.api.kinds import run as _run

if TYPE_CHECKING:
    from typing import Literal

    from hopperkit.api.kinds import AnyMachine, Count, Number, Text
    from hopperkit.questions.result import Result


def io_log(
    output: Text,
    *,
    machine: AnyMachine = "hopper",
) -> Result:
    """Which rates are in the outputs of IOR, mdtest or IO500, what is slow in a Darshan log, and how can it be
    improved?

    Parameters
    ----------
    output : str, path-like, file, lines or DataFrame
        Output of IOR, mdtest, IO500 or darshan-parser. IOR and mdtest in any form; all files of an IO500 run at
        once; several files make one table. A Darshan log itself is binary: print it first with `darshan-parser
        LOG > log.txt`.
    machine : str, path-like or Machine, default "hopper"
        Compare with. Compares rates with the ceiling of as many of its nodes as the run used.

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
    >>> output = '''IOR-3.2.1: MPI Coordinated Test of Parallel I/O
    ... Command line        : ./ior -w -t 1m -b 16m -s 16 -F
    ... access    bw(MiB/s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
    ... write     115.02     16384      1024.00    0.324555   141.74     0.215958   142.45     0
    ... '''
    >>> hopperkit.io_log(output).facts["best_mb_s"]
    120.607212

    References
    ----------
    Models and their sources: `hopperkit.readers.ior.reader`, `hopperkit.iologs.darshan_findings`.
    """
    return _run("io-log", output=output, machine=machine)


def iobuf(
    transfer_bytes: Count,
    *,
    direction: Literal["read", "write"] = "write",
    buffer_kib: Literal[64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384] = 2048,
    buffers: Count = 2,
    tasks_per_node: Count = 24,
    files: Count = 1,
    machine: AnyMachine = "hopper",
    tasks: Count = 1560,
) -> Result:
    """How much faster does a program read or write with buffers, and which setting of IOBUF_PARAMS gives that?

    Parameters
    ----------
    transfer_bytes : int
        Size of a call. [bytes] From 1 to 1,073,741,824.
    direction : {"read", "write"}, default "write"
        Direction.
    buffer_kib : {64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384}, default 2048
        Size of a buffer.
    buffers : int, default 2
        Buffers of a file. From 1 to 16. Read-ahead needs a second one.
    tasks_per_node : int, default 24
        Tasks per node. From 1 to 512.
    files : int, default 1
        Open files per task. From 0 to 1,000,000.
    machine : str, path-like or Machine, default "hopper"
        Machine. The machine whose file system the tasks share. The cost of a call is calibrated on Hopper in any
        case.
    tasks : int, default 1560
        Tasks that share the file system. From 1 to 1,000,000,000.

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
    >>> hopperkit.iobuf(10_000, direction="write").facts["memory_mib"]
    96.0

    References
    ----------
    Models and their sources: `hopperlib.storage.iobuf`.
    """
    return _run(
        "iobuf",
        transfer_bytes=transfer_bytes,
        direction=direction,
        buffer_kib=buffer_kib,
        buffers=buffers,
        tasks_per_node=tasks_per_node,
        files=files,
        machine=machine,
        tasks=tasks,
    )


def slow_ost(
    *,
    slow: Count = 1,
    slow_mb_s: Number = 119.0,
    size_tb: Number = 36.0,
    probe_s: Number = 60.0,
    measured_min: Number = 35.0,
    osts: Count = 144,
    healthy_mb_s: Number = 243.0,
    variables: Count = 8,
    noise: Number = 0.3,
) -> Result:
    """How much does one slow OST delay a dump, how slow must it have been, and would a short probe have found it?

    Parameters
    ----------
    slow : int, default 1
        Slow OSTs. From 0 to 24.
    slow_mb_s : float, default 119.0
        Write rate of a slow OST. [MB/s] From 5 to 500. The default is assumed: Derived from the time of the dump;
        the answer gives the interval.
    size_tb : float, default 36.0
        Size of the dump. [TB] From 1 to 60. The default is assumed: Not printed for these dumps; all dumps of the
        run had 30 to 42 TB.
    probe_s : float, default 60.0
        Length of the probe. [s] From 5 to 600.
    measured_min : float, default 35.0
        Measured time of a dump. [min] From 0.1 to 10,000.
    osts : int, default 144
        OSTs in use. From 2 to 5,000.
    healthy_mb_s : float, default 243.0
        Write rate of a healthy OST. [MB/s] From 1 to 100,000.
    variables : int, default 8
        Variables, each with a barrier. From 1 to 64.
    noise : float, default 0.3
        Noise of one sample of the probe. From 0.05 to 1. The default is assumed: No source prints how noisy an
        OST is.

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
    >>> hopperkit.slow_ost(slow=1).facts["codes"]
    ['exclude']

    References
    ----------
    Models and their sources: `hopperlib.storage.lustre.dumps`.
    """
    return _run(
        "slow-ost",
        slow=slow,
        slow_mb_s=slow_mb_s,
        size_tb=size_tb,
        probe_s=probe_s,
        measured_min=measured_min,
        osts=osts,
        healthy_mb_s=healthy_mb_s,
        variables=variables,
        noise=noise,
    )


def load_time(
    nodes: Count,
    tasks_per_node: Count,
    files: Count,
    *,
    machine: AnyMachine = "hopper",
    tries: Count = 10,
    size_mb: Number = 200.0,
    servers: Count = 8,
    requests_per_s: Number = 9000.0,
    server_gb_s: Number = 1.0,
    link_gb_s: Number = 6.0,
) -> Result:
    """How long does a job take to load its shared libraries or Python modules, and what shortens it?

    Parameters
    ----------
    nodes : int
        Nodes of the job. From 1 to 1,000,000.
    tasks_per_node : int
        Tasks per node. From 1 to 1,024.
    files : int
        Libraries or modules per task. From 1 to 1,000,000. The default is assumed: One import of scipy tried
        about 4,000 files on a later machine of the same center: here 400 in ten places each.
    machine : str, path-like or Machine, default "hopper"
        Machine. Machine whose launcher the commands use.
    tries : int, default 10
        Search-path entries per library. From 1 to 60. Entries of the search path, times the names that are tried
        in each. The default is assumed: Ten places for each of 400 files make the 4,000 files tried.
    size_mb : float, default 200.0
        Total size. [MB] From 0.1 to 1,000,000. The default is assumed: No source prints it.
    servers : int, default 8
        Servers that work in parallel. From 1 to 64. The default is assumed: No source prints how many there were.
        With sequential requests, all but one are idle.
    requests_per_s : float, default 9000.0
        Request rate of a server. [1/s] From 1 to 10,000,000. 32,768 tasks that opened 100 files each took six
        minutes on another machine: 9,100 per second. The default is assumed: From a measurement on another
        machine; no source gives that of Hopper.
    server_gb_s : float, default 1.0
        Read bandwidth of a server. [GB/s] From 0.001 to 10,000. The default is assumed: No source prints it.
    link_gb_s : float, default 6.0
        Network bandwidth of a node. [GB/s] From 0.001 to 1,000. Documented for the network of Hopper.

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
    >>> hopperkit.load_time(256, 24, 400).facts["best"]
    'broadcast'

    References
    ----------
    Models and their sources: `hopperlib.storage.loading`.
    """
    return _run(
        "load-time",
        nodes=nodes,
        tasks_per_node=tasks_per_node,
        files=files,
        machine=machine,
        tries=tries,
        size_mb=size_mb,
        servers=servers,
        requests_per_s=requests_per_s,
        server_gb_s=server_gb_s,
        link_gb_s=link_gb_s,
    )


def chunks(
    shape: str,
    chunk: str,
    block: str,
    *,
    also: str | None = None,
    item_bytes: Count = 4,
    compressed: bool = True,
    cache_mib: Number = 1.0,
    read_ms: Number = 1.0,
    rate_gb_s: Number = 1.0,
    dataset: str = "DATASET",
) -> Result:
    """Which shape of chunks suits the way an HDF5 or NetCDF array is read, and which line rewrites the file?

    Parameters
    ----------
    shape : str
        Array. Its elements along each dimension, the last one fastest.
    chunk : str
        Chunk. As printed by `h5dump -p -H FILE` or `ncdump -hs FILE`.
    block : str
        One read. The program reads block after block of this shape.
    also : str, or None
        And read as. A second way through the array, as often as the first.
    item_bytes : int, default 4
        Bytes of an element. From 1 to 1,000,000.
    compressed : bool, default True
        Compressed, or with another filter.
    cache_mib : float, default 1.0
        Chunk cache. [MiB] From 0.001 to 1,000,000. 1 MiB in h5py and in HDF5 before 2.0, 8 MiB since; 16 MiB or
        more in netCDF-C.
    read_ms : float, default 1.0
        Cost of a read. [ms] From 0 to 10,000. The default is assumed: No source prints it.
    rate_gb_s : float, default 1.0
        Rate of one task. [GB/s] From 0.0001 to 1,000. The default is assumed: No source prints it.
    dataset : str, default "DATASET"
        Name of the array.

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
    >>> hopperkit.chunks("8760x721x1440", "1x721x1440", "8760x1x1440").facts["chunk"]
    [1095, 1, 720]

    References
    ----------
    Models and their sources: `hopperkit.questions.storage.chunks`.
    """
    return _run(
        "chunks",
        shape=shape,
        chunk=chunk,
        block=block,
        also=also,
        item_bytes=item_bytes,
        compressed=compressed,
        cache_mib=cache_mib,
        read_ms=read_ms,
        rate_gb_s=rate_gb_s,
        dataset=dataset,
    )
