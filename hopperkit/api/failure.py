"""Questions about failed jobs, builds and nodes, as functions; ``scripts/write_api.py`` writes them from the questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hopperkit.api.kinds import run as _run

if TYPE_CHECKING:
    from typing import Literal

    from hopperkit.api.kinds import AnyMachine, Count, Number, Text
    from hopperkit.questions.result import Result


def diagnose(
    log: Text | None = None,
    *,
    errors: Text | None = None,
    launch: str | None = None,
    machine: AnyMachine = "hopper",
    record: Text | None = None,
) -> Result:
    """What made this job fail, who has to act, and what should be done?

    Parameters
    ----------
    log : str, path-like, file, lines or DataFrame, or None
        Output of the job.
    errors : str, path-like, file, lines or DataFrame, or None
        Second file of the same job. Standard error, if it is a separate file, or the log of the program.
    launch : str, or None
        Launch line or job script. With it, the advice contains numbers.
    machine : str, path-like or Machine, default "hopper"
        Machine. The machine on which the launch line ran. It has no effect without a launch line.
    record : str, path-like, file, lines or DataFrame, or None
        Scheduler's record. The output of `sacct -P -l -j JOBID` for the job.

    Returns
    -------
    Result
        The answer: a summary, findings, numbers with their badges, tables, charts, and `facts` for programs.

    Raises
    ------
    InputError
        If none of `log`, `errors`, `record` is given, or a value is refused; the message names the value and the rule.

    Examples
    --------
    >>> import hopperkit
    >>> line = (
    ...     "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=1.0. "
    ...     "Some of your processes may have been killed by the cgroup out-of-memory handler."
    ... )
    >>> hopperkit.diagnose(errors=[line]).summary
    "The job used more memory than granted, and tasks were killed (SLURM-OOM, errors:1). This is certain: the message is a complete explanation, and nothing in the text contradicts it. Who acts: the job's owner."

    References
    ----------
    Models and their sources: `hopperlib.failure.diagnosis.diagnosis`, `hopperlib.failure.messages.rules`.
    """
    return _run(
        "diagnose", ("log", "errors", "record"), log=log, errors=errors, launch=launch, machine=machine, record=record
    )


def build(
    line: Text | None = None,
    *,
    modules: str | None = None,
    mixed: Literal["line", "yes", "no"] = "line",
    shmem: Literal["line", "yes", "no"] = "line",
) -> Result:
    """Do these modules and this link line have a known problem, since when, and how is it solved?

    Parameters
    ----------
    line : str, path-like, file, lines or DataFrame, or None
        Compile or link line. The line is only read, never executed.
    modules : str, or None
        What is loaded. What `module list` prints, `module load` lines, variables such as
        CRAYPE_LINK_TYPE=dynamic.
    mixed : {"line", "yes", "no"}, default "line"
        C or C++ together with Fortran I/O.
    shmem : {"line", "yes", "no"}, default "line"
        The program uses SHMEM.

    Returns
    -------
    Result
        The answer: a summary, findings, numbers with their badges, tables, charts, and `facts` for programs.

    Raises
    ------
    InputError
        If none of `line`, `modules` is given, or a value is refused; the message names the value and the rule.

    Examples
    --------
    >>> import hopperkit
    >>> hopperkit.build("ftn -mp=nonuma -dynamic -o solver solver.o").facts["possible"]
    ['PGI-MP-NONUMA', 'LIBSCI-DYNAMIC-FFTW3', 'MPICH2-SHMEM-DYNAMIC', 'MPT-DEPRECATED']

    References
    ----------
    Models and their sources: `hopperlib.failure.builds.known_problems`.
    """
    return _run("build", ("line", "modules"), line=line, modules=modules, mixed=mixed, shmem=shmem)


def preflight(
    buddyinfo: Text,
    *,
    need_gb: Number | None = None,
    need_huge_pages: Count | None = None,
    huge_page_mb: Number = 2.0,
    page_bytes: Count = 4096,
) -> Result:
    """Which nodes have less free memory than the job needs, or less than the others, before it starts?

    Parameters
    ----------
    buddyinfo : str, path-like, file, lines or DataFrame
        Copies of /proc/buddyinfo. One line for each zone, beginning with the name of its node, as `srun ...
        /proc/buddyinfo` collects them.
    need_gb : float, or None
        Free memory that a node must have. [GB] From 0 to 100,000. Not given: no limit; only nodes that differ
        from the others are named.
    need_huge_pages : int, or None
        Huge pages that a node must have. From 0 to 10,000,000.
    huge_page_mb : float, default 2.0
        Size of a huge page. [MB] From 0.0625 to 1,048,576.
    page_bytes : int, default 4096
        Size of a base page. From 1 to 1,073,741,824.

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
    >>> nodes = [
    ...     "nid00012: Node 0, zone Normal 12 9 7 4 3 2 1 1 0 2 7600",
    ...     "nid00013: Node 0, zone Normal 12 9 7 4 3 2 1 1 0 2 760",
    ... ]
    >>> hopperkit.preflight(nodes, need_gb=20).facts["short"]
    1

    References
    ----------
    Models and their sources: `hopperlib.failure.nodes.huge_pages`, `hopperkit.failures.preflight`.
    """
    return _run(
        "preflight",
        buddyinfo=buddyinfo,
        need_gb=need_gb,
        need_huge_pages=need_huge_pages,
        huge_page_mb=huge_page_mb,
        page_bytes=page_bytes,
    )


def huge_pages(
    job_nodes: Count,
    need_gb: Number,
    *,
    machine: AnyMachine = "hopper",
    days: Count = 40,
    strays_per_day: Number = 50.0,
    spread: Number = 0.3,
    page_mb: Number = 2.0,
    usable_gb: Number | None = None,
) -> Result:
    """How likely is it that all nodes of a job have the huge pages it needs, some days after a reboot?

    Parameters
    ----------
    job_nodes : int
        Nodes of the job. From 1 to 1,000,000. 342 nodes hold the 8,192 cores of the smaller GTC run, 1,024 nodes
        the 24,576 cores of the larger one.
    need_gb : float
        Huge-page memory needed per node. [GB] From 0.01 to 100,000. The default is assumed: No source gives the
        jobs' requests.
    machine : str, path-like or Machine, default "hopper"
        Machine.
    days : int, default 40
        Days since the reboot. From 0 to 3,650.
    strays_per_day : float, default 50.0
        Unmovable small pages per node per day. From 0 to 1,000,000. The default is assumed: No source prints it.
        Groups of neighbors count as one.
    spread : float, default 0.3
        Coefficient of variation between nodes. From 0.05 to 1.5. The default is assumed: No source prints it.
    page_mb : float, default 2.0
        Size of a huge page. [MB] From 0.0625 to 1,024.
    usable_gb : float, or None
        Memory of a node that is free after a reboot. [GB] From 0 to 100,000. Not given: use the machine file's
        value.

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
    >>> hopperkit.huge_pages(342, 24, days=40).facts["need_huge_pages"]
    12288

    References
    ----------
    Models and their sources: `hopperlib.failure.nodes.huge_pages`.
    """
    return _run(
        "huge-pages",
        job_nodes=job_nodes,
        need_gb=need_gb,
        machine=machine,
        days=days,
        strays_per_day=strays_per_day,
        spread=spread,
        page_mb=page_mb,
        usable_gb=usable_gb,
    )


def bad_nodes(
    bad: Count,
    job_nodes: Count,
    run_hours: Number,
    *,
    machine: AnyMachine = "hopper",
    check_minutes: Number = 5.0,
    lost_fraction: Number = 1.0,
    found_fraction: Number = 0.8,
) -> Result:
    """How likely is a job to hit a bad node, how much does that waste, and what is a check before the run worth?

    Parameters
    ----------
    bad : int
        Bad nodes on the machine. From 0 to 100,000. Eight were found on Hopper in early 2012.
    job_nodes : int
        Nodes of the job. From 1 to 100,000.
    run_hours : float
        Length of the run. [h] From 0.01 to 10,000.
    machine : str, path-like or Machine, default "hopper"
        Machine.
    check_minutes : float, default 5.0
        Time of the check. [min] From 0 to 1,440. The default is assumed: No source prints it.
    lost_fraction : float, default 1.0
        Share of the run that a bad node costs. From 0 to 1. 1: the job hangs until its time limit and everything
        is lost. With checkpoints less is lost. The default is assumed: No source prints it. A hung job without
        checkpoints loses all of its run.
    found_fraction : float, default 0.8
        Probability that the check finds a bad node. From 0 to 1. The default is assumed: No source prints it. A
        memory check cannot detect a faulty network interface.

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
    >>> hopperkit.bad_nodes(8, 683, 12).summary[:67]
    'A job on 683 nodes of Hopper hits a bad node with a probability of '

    References
    ----------
    Models and their sources: `hopperlib.failure.nodes.risk`.
    """
    return _run(
        "bad-nodes",
        bad=bad,
        job_nodes=job_nodes,
        run_hours=run_hours,
        machine=machine,
        check_minutes=check_minutes,
        lost_fraction=lost_fraction,
        found_fraction=found_fraction,
    )
