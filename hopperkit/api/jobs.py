"""Questions about jobs, the scheduler and run times, as functions; ``scripts/write_api.py`` writes them from the questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hopperkit.api.kinds import run as _run

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal

    from hopperkit.api.kinds import AnyMachine, Count, Number, Text
    from hopperkit.questions.result import Result


def locality(
    jobs: Text,
    network: Text,
    *,
    wait_hours: Number = 2.0,
) -> Result:
    """How many groups and switches did the jobs of a log occupy, what did each additional group cost, and is one
    group worth the wait?

    Parameters
    ----------
    jobs : str, path-like, file, lines or DataFrame
        Job log. sacct --allocations --parsable2
        --format=JobID,User,Partition,State,Submit,Start,ElapsedRaw,TimelimitRaw,NNodes,NodeList. The log at the
        start is made up, with 5 % more run time for each additional group.
    network : str, path-like, file, lines or DataFrame
        Network. topology.conf, topology.yaml, the output of scontrol show topology or of ibnetdiscover, or names
        of nodes that encode a position (x1000c0s0b0n0, c0-0c0s0n0).
    wait_hours : float, default 2.0
        Longest wait for one group. [h] From 0 to 24.

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
    >>> jobs = [
    ...     "JobID|State|Submit|Start|ElapsedRaw|NNodes|NodeList",
    ...     "7|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:10:00|60|3|n[1-3]",
    ... ]
    >>> network = ["SwitchName=a Nodes=n[1-2]", "SwitchName=b Nodes=n[3-4]", "SwitchName=t Switches=a,b"]
    >>> hopperkit.locality(jobs, network).facts["median_groups"]
    2

    References
    ----------
    Models and their sources: `hopperkit.traces.group_cost`.
    """
    return _run("locality", jobs=jobs, network=network, wait_hours=wait_hours)


def fragmentation(
    *,
    days: Count = 14,
    load: Number = 0.95,
    mix: Literal["production", "early"] = "production",
    policy: Literal["easy", "fcfs"] = "easy",
    allocation: Literal["first", "best", "contiguous"] = "first",
    order: Literal["nid", "xyz", "xyz-by2", "hilbert"] = "nid",
    probe_nodes: Count = 342,
    floor: AnyMachine = "hopper",
    seed: Count = 1,
) -> Result:
    """Where does a job land on a machine that has run for days, and what would it cost to keep it in one piece?

    Parameters
    ----------
    days : int, default 14
        Days since the reboot. [d] From 2 to 28.
    load : float, default 0.95
        Offered load. From 0.5 to 1. Node-hours that all jobs request, divided by those of the machine. At 1 the
        queue is hardly ever empty. The default is assumed: No source gives the requested amount. The sources say
        that the queue was full.
    mix : {"production", "early"}, default "production"
        Workload.
    policy : {"easy", "fcfs"}, default "easy"
        Backfill.
    allocation : {"first", "best", "contiguous"}, default "first"
        Allocation.
    order : {"nid", "xyz", "xyz-by2", "hilbert"}, default "nid"
        Order of the node list. The default is assumed: The definitions of xyz and xyz-by2 are not printed.
    probe_nodes : int, default 342
        Nodes of the probe job. From 1 to 4,096.
    floor : str, path-like or Machine, default "hopper"
        Machine. Titan has three times the nodes and three times the jobs, so an answer takes three times as long.
    seed : int, default 1
        Seed. From 1 to 9,999. Another seed gives another random set of jobs.

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
    >>> hopperkit.fragmentation(days=2, load=0.8, seed=3).facts["max_runs"]
    121

    References
    ----------
    Models and their sources: `hopperlib.scheduling.scheduler`, `hopperlib.scheduling.aging`.
    """
    return _run(
        "fragmentation",
        days=days,
        load=load,
        mix=mix,
        policy=policy,
        allocation=allocation,
        order=order,
        probe_nodes=probe_nodes,
        floor=floor,
        seed=seed,
    )


def variability(
    *,
    tasks: Literal[4096, 8192, 16384] = 8192,
    noise_percent: Number = 0.5,
    traffic: Literal["none", "stencils", "assumed", "double"] = "assumed",
    placing: Literal["first", "contiguous", "nid"] = "first",
) -> Result:
    """How long does MILC take on the nodes that it happens to get, and does any metric of its placement explain the
    time?

    Parameters
    ----------
    tasks : {4096, 8192, 16384}, default 8192
        Size of the job. Jobs on Hopper, whose run times are printed, so that the model could be fitted to them.
    noise_percent : float, default 0.5
        Run-to-run noise. [%] From 0 to 20. Mean additional run time from noise.
    traffic : {"none", "stencils", "assumed", "double"}, default "assumed"
        Neighbors' traffic. Tasks of the other jobs send to their neighbors on grids of one to three dimensions;
        in some jobs all send to all. The default is assumed: No source prints what other jobs sent.
    placing : {"first", "contiguous", "nid"}, default "first"
        Placement. The default is assumed: The definition of xyz-by2 is not printed.

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
    >>> hopperkit.variability(noise_percent=2).facts["jobs"]
    260

    References
    ----------
    Models and their sources: `hopperlib.network.runtime.milc`.
    """
    return _run("variability", tasks=tasks, noise_percent=noise_percent, traffic=traffic, placing=placing)


def scheduling(
    *,
    orphans_a_day: Count = 0,
    cleared_after_days: Count = 7,
    debug_share: Number = 0.1,
    debug_first: Literal["first", "limited"] = "first",
    full_nodes: Count = 6100,
    machine: AnyMachine = "hopper",
    days: Count = 10,
    down_hours: Number = 17.0,
) -> Result:
    """How far do orphaned nodes and a debug queue with priority lower the utilization and delay the largest jobs?

    Parameters
    ----------
    orphans_a_day : int, default 0
        Orphaned blocks of 32 nodes a day. From 0 to 40. The free nodes of such a block are lost, because the
        scheduler believes that they are busy. The default is assumed: How many nodes were orphaned is not
        printed.
    cleared_after_days : int, default 7
        Cleared by hand after. [d] From 1 to 10.
    debug_share : float, default 0.1
        Debug jobs, as a fraction of the load. From 0 to 0.2.
    debug_first : {"first", "limited"}, default "first"
        Queue priorities.
    full_nodes : int, default 6100
        Nodes of the largest jobs. From 100 to 22,600. At most the nodes of the machine.
    machine : str, path-like or Machine, default "hopper"
        Machine. All its nodes count as one pool. The jobs are those of Hopper's early users, more of them on more
        nodes.
    days : int, default 10
        Days. [d] From 4 to 10.
    down_hours : float, default 17.0
        Hours of downtime per week. [h] From 0 to 48. The default is assumed: The hours of outages and maintenance
        are not printed; 17 hours per week give the printed utilization.

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
    >>> hopperkit.scheduling(days=4, full_nodes=100).facts["never_started"]
    0

    References
    ----------
    Models and their sources: `hopperlib.scheduling.scheduler`.
    """
    return _run(
        "scheduling",
        orphans_a_day=orphans_a_day,
        cleared_after_days=cleared_after_days,
        debug_share=debug_share,
        debug_first=debug_first,
        full_nodes=full_nodes,
        machine=machine,
        days=days,
        down_hours=down_hours,
    )


def runs_needed(
    gain_percent: Number,
    *,
    noise_percent: Number | None = None,
    times: Text | None = None,
    runs: Count = 3,
    chance_percent: Count = 80,
) -> Result:
    """How many runs of each variant do you need to show a gain of a given size in the noise of your run times?

    Parameters
    ----------
    gain_percent : float
        Gain to be shown. [%] From 0.01 to 90.
    noise_percent : float, or None
        Coefficient of variation of the run time. [%] From 0.01 to 200. Standard deviation over mean; `hopper fit`
        computes it from your run times. The default is assumed: No source prints the noise of the tests with huge
        pages.
    times : str, path-like, file, lines or DataFrame, or None
        Your run times. A CSV file whose first line names the columns: `run_time_s`, and `job` for runs on the
        same nodes. Their spread is then used instead of the number above.
    runs : int, default 3
        Runs of each variant that you can afford. From 2 to 10,000.
    chance_percent : int, default 80
        Probability that the gain shows. [%] From 50 to 99.

    Returns
    -------
    Result
        The answer: a summary, findings, numbers with their badges, tables, charts, and `facts` for programs.

    Raises
    ------
    InputError
        If none of `noise_percent`, `times` is given, or a value is refused; the message names the value and the rule.

    Examples
    --------
    >>> import hopperkit
    >>> hopperkit.runs_needed(5, noise_percent=5).facts["runs_needed"]
    17

    References
    ----------
    Models and their sources: `hopperlib.network.runtime.power`.
    """
    return _run(
        "runs-needed",
        ("noise_percent", "times"),
        gain_percent=gain_percent,
        noise_percent=noise_percent,
        times=times,
        runs=runs,
        chance_percent=chance_percent,
    )


def simulate(
    trace: Text,
    *,
    machine: AnyMachine | None = None,
    nodes: Count | None = None,
    policy: Literal["auto", "slurm", "easy", "fcfs", "conservative"] | Callable[..., Any] | int = "auto",
    wide: Literal["skip", "refuse"] = "skip",
    cluster: Text | None = None,
    requeue: bool = False,
    allocation: Literal["first", "best", "contiguous", "random", "switch", "group"] = "first",
    switches: str | None = None,
    order: Literal["nid", "xyz", "xyz-by2", "hilbert"] = "nid",
    overrun: Literal["kill", "keep"] = "kill",
    queues: Literal["none", "hopper-2013", "hopper-final", "widest-first", "shortest-first"] = "none",
    queue_file: Text | None = None,
    learned: bool = False,
    slurm_config: Text | None = None,
    downtimes: Text | None = None,
    cores_per_node: Count | None = None,
    timezone: str | None = None,
    columns: str | None = None,
    seed: Count = 0,
) -> Result:
    """How long do the jobs of a trace wait, how full is the machine, and how many pieces do they occupy?

    Parameters
    ----------
    trace : str, path-like, file, lines or DataFrame
        Job trace. A trace in the Standard Workload Format, the output of sacct --parsable2 or --json, or the
        export of Open XDMoD. The trace at the start is made up.
    machine : str, path-like or Machine, or None
        Machine. Gives the nodes, and each job's hops, groups or switches.
    nodes : int, or None
        Nodes of the machine. From 0 to 200,000. Not given: those of the machine, or of the trace.
    policy : {"auto", "slurm", "easy", "fcfs", "conservative"} or callable or int, default "auto"
        Policy. Default: Slurm's for Slurm logs; for other logs EASY, or the policy that orders their waits
        clearly better. The depth is the number of blocked jobs with a reserved start, which no later job may
        delay.
    wide : {"skip", "refuse"}, default "skip"
        Jobs that are too wide.
    cluster : str, path-like, file, lines or DataFrame, or None
        Cluster. The output of scontrol show node, followed by that of scontrol show partition. It gives
        partitions, cores, GPUs and memory.
    requeue : bool, default False
        Requeue jobs that an outage ends.
    allocation : {"first", "best", "contiguous", "random", "switch", "group"}, default "first"
        Allocation.
    switches : str, or None
        Wait for few switches. As Slurm's --switches=count@time, such as 1@2:00:00: a job that could run under
        this many switches (groups, if nodes are chosen by group) waits up to this time for them, and lets others
        pass.
    order : {"nid", "xyz", "xyz-by2", "hilbert"}, default "nid"
        Order of the node list. Matters only if the machine has a torus.
    overrun : {"kill", "keep"}, default "kill"
        At a job's limit.
    queues : {"none", "hopper-2013", "hopper-final", "widest-first", "shortest-first"}, default "none"
        Queues. Queues, order and limits.
    queue_file : str, path-like, file, lines or DataFrame, or None
        Custom queues. TOML with one table, which takes the place of the queues above: queue or like, order
        (submission, size, length, multifactor), and rules: weights (age, size, queue, qos, fair_share),
        half_life_days, qos_factors, limit (per, of, jobs, nodes).
    learned : bool, default False
        Rules that the trace shows. Closed hours, limits, order and depth as the observed starts show them, for
        whole nodes of one pool.
    slurm_config : str, path-like, file, lines or DataFrame, or None
        Slurm's settings. The output of scontrol show config, or slurm.conf: backfill interval, window and depth,
        and the weights of priorities. They take the place of policy, order and rules.
    downtimes : str, path-like, file, lines or DataFrame, or None
        Downtimes. Outages, drains, orphans, reservations: CSV with kind,start_s,end_s,...
    cores_per_node : int, or None
        Processors of a node in an SWF trace. From 0 to 100,000. Not given: from its header, or 1.
    timezone : str, or None
        Time zone of sacct output. Of the clock that printed it, such as Europe/Berlin; empty for universal time.
    columns : str, or None
        Columns of sacct output without a header. The list that was given to sacct --format. The columns of Open
        XDMoD's export are known.
    seed : int, default 0
        Seed. From 0 to 2,147,483,647. For random allocation.

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
    >>> trace = [
    ...     "JobID|State|Submit|Elapsed|Timelimit|NNodes",
    ...     "8|COMPLETED|2026-01-01T00:00:00|00:10:00|01:00:00|4",
    ...     "9|COMPLETED|2026-01-01T00:01:00|00:10:00|01:00:00|3",
    ... ]
    >>> hopperkit.simulate(trace, nodes=6).facts["mean_wait_s"]
    270

    References
    ----------
    Models and their sources: `hopperlib.scheduling.scheduler`, `hopperkit.traces.scheduler`.
    """
    return _run(
        "simulate",
        trace=trace,
        machine=machine,
        nodes=nodes,
        policy=policy,
        wide=wide,
        cluster=cluster,
        requeue=requeue,
        allocation=allocation,
        switches=switches,
        order=order,
        overrun=overrun,
        queues=queues,
        queue_file=queue_file,
        learned=learned,
        slurm_config=slurm_config,
        downtimes=downtimes,
        cores_per_node=cores_per_node,
        timezone=timezone,
        columns=columns,
        seed=seed,
    )
