"""Questions about the network, as functions; ``scripts/write_api.py`` writes them from the questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hopperkit.api.kinds import run as _run

if TYPE_CHECKING:
    from typing import Literal

    from hopperkit.api.kinds import AnyMachine, Count, Number, Text
    from hopperkit.questions.result import Result


def rank_order(
    grid: str,
    cores_per_node: Count,
    *,
    block: str | None = None,
    periodic: bool = False,
) -> Result:
    """How many neighbors can a rank order bring together on a node?

    Parameters
    ----------
    grid : str
        Tasks along x, y, z and t. Ranks are counted along x first.
    cores_per_node : int
        Tasks on a node. From 1 to 1,024.
    block : str, or None
        Box of the grid for a node.
    periodic : bool, default False
        Periodic grid.

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
    >>> hopperkit.rank_order("16x16x12", 24).facts["block"]
    [2, 4, 3]

    References
    ----------
    Models and their sources: `hopperlib.network.rank_order`.
    """
    return _run("rank-order", grid=grid, cores_per_node=cores_per_node, block=block, periodic=periodic)


def overlap(
    compute_s: Number,
    communication_s: Number,
    *,
    overlap: Number = 0.5,
    saved_fraction: Number = 0.2,
) -> Result:
    """How much faster does a step get when communication runs at the same time as computation?

    Parameters
    ----------
    compute_s : float
        Computation of a step. [s] From 0.1 to 20. The default is assumed: The document prints no time of a step.
    communication_s : float
        Communication of a step. [s] From 0 to 20. The default is assumed: The document prints no time of a step.
    overlap : float, default 0.5
        Fraction of communication that overlaps. From 0 to 1.
    saved_fraction : float, default 0.2
        Fraction saved by merged collectives. From 0 to 0.9. The default is assumed: The document prints no time
        of a step.

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
    >>> hopperkit.overlap(10, 5, overlap=1.0).facts["time_s"]
    10.0

    References
    ----------
    Models and their sources: `hopperlib.network.runtime.overlap`.
    """
    return _run(
        "overlap", compute_s=compute_s, communication_s=communication_s, overlap=overlap, saved_fraction=saved_fraction
    )


def torus(
    nodes: Count,
    *,
    floor: AnyMachine = "hopper",
    order: Literal["nid", "xyz", "xyz-by2", "hilbert"] = "nid",
    start_fraction: Number = 0.0,
    busy_fraction: Number = 0.0,
    traffic: Literal["none", "assumed", "double"] = "assumed",
) -> Result:
    """How far apart are the nodes of a job, depending on the order in which they are assigned?

    Parameters
    ----------
    nodes : int
        Nodes of the job. From 1 to 6,000. 342 nodes hold 8,192 tasks with 24 on each node.
    floor : str, path-like or Machine, default "hopper"
        Machine.
    order : {"nid", "xyz", "xyz-by2", "hilbert"}, default "nid"
        Order of the node list. The default is assumed: No source prints how xyz and xyz-by2 are defined. Here xyz
        fills planes and xyz-by2 fills blocks of 2 x 2 x 2.
    start_fraction : float, default 0.0
        First node, from the front of the list. From 0 to 1.
    busy_fraction : float, default 0.0
        Busy part of the machine. From 0 to 0.9. Busy nodes come in blocks of eight, which are spread over the
        list by a fixed rule. The job takes the first free nodes.
    traffic : {"none", "assumed", "double"}, default "assumed"
        Pattern of the busy nodes. The default is assumed: No source prints what other jobs sent: half a GB/s a
        node on average.

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
    >>> hopperkit.torus(342, traffic="none").facts["runs"]
    1

    References
    ----------
    Models and their sources: `hopperlib.network.torus.distances`, `hopperlib.network.torus.orders`.
    """
    return _run(
        "torus",
        nodes=nodes,
        floor=floor,
        order=order,
        start_fraction=start_fraction,
        busy_fraction=busy_fraction,
        traffic=traffic,
    )


def interconnect(
    nodes: Count,
    *,
    machine: AnyMachine = "lumi-c",
    pattern: Literal[
        "neighbors-1",
        "neighbors-2",
        "neighbors-3",
        "neighbors-4",
        "all-to-all",
        "random",
        "shift",
        "transpose",
        "allreduce-ring",
        "allreduce-doubling",
        "allreduce-tree",
    ] = "neighbors-3",
    placement: Literal["first", "switch", "group", "random"] = "first",
    busy_fraction: Number = 0.5,
    others_fraction: Number = 0.0,
    trace: Text | None = None,
    moment: Number = 0.5,
) -> Result:
    """How much does a dragonfly, fat tree or torus slow a job's messages, depending on the job's placement and the
    routing?

    Parameters
    ----------
    nodes : int
        Nodes of the job. From 2 to 10,000.
    machine : str, path-like or Machine, default "lumi-c"
        Machine.
    pattern : {"neighbors-1", "neighbors-2", "neighbors-3", "neighbors-4", "all-to-all", "random", "shift", "transpose", "allreduce-ring", "allreduce-doubling", "allreduce-tree"}, default "neighbors-3"
        Who talks to whom.
    placement : {"first", "switch", "group", "random"}, default "first"
        Which free nodes the job gets.
    busy_fraction : float, default 0.5
        Busy part of the machine. From 0 to 0.95. Busy nodes come in blocks of eight, which are spread over the
        list by a fixed rule.
    others_fraction : float, default 0.0
        Traffic of other jobs, as a share of their maximum. From 0 to 1. The default is assumed: No source gives
        the traffic of other jobs: here all have one rate, in jobs of 128 nodes on a grid of three dimensions.
    trace : str, path-like, file, lines or DataFrame, or None
        Job trace of the others. In the Standard Workload Format, or what sacct --parsable2 printed: its jobs,
        simulated on this machine with backfill and the first free nodes, run at the same time as yours, instead
        of the busy part above.
    moment : float, default 0.5
        Moment in the trace (0: first start, 1: last). From 0 to 1.

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
    >>> hopperkit.interconnect(16, machine="lumi-c", pattern="shift", busy_fraction=0.1).facts["groups"]
    1

    References
    ----------
    Models and their sources: `hopperlib.network.fabrics.rates`.
    """
    return _run(
        "interconnect",
        nodes=nodes,
        machine=machine,
        pattern=pattern,
        placement=placement,
        busy_fraction=busy_fraction,
        others_fraction=others_fraction,
        trace=trace,
        moment=moment,
    )
