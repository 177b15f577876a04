"""Probability that a job meets a bad node, its cost, and the value of a preflight check.

A job that uses n of N nodes, k of them bad, avoids them with the probability of drawing n good nodes without
replacement. Large jobs are almost certain to be affected: eight bad nodes of 6,384 affect one in 798 jobs on a single
node, and two in three jobs on an eighth of the machine.

The documented case [1]_: eight nodes that could not receive datagrams, more
than fifty users with hung jobs, and 13.5 million core-hours refunded.

References
----------
.. [1] Y. He and K. Antypas, CUG 2012, slide "Hung Jobs Issue".
"""

import math
from typing import NamedTuple


def chance_of_bad_node(nodes: int, bad: int, job_nodes: int) -> float:
    """Probability that a job on random nodes gets at least one bad node. [fraction]

    Parameters
    ----------
    nodes, bad : int
        Nodes of the machine, and how many of them are bad.
    job_nodes : int

    Raises
    ------
    ValueError
        If there are more bad nodes or job nodes than nodes.

    Examples
    --------
    Two of four nodes are bad and the job takes two: only one pair in six has no bad node.

    >>> round(chance_of_bad_node(4, 2, 2), 4)
    0.8333
    >>> chance_of_bad_node(4, 2, 3)
    1.0
    """
    if nodes < 1 or not 0 <= bad <= nodes:
        raise ValueError(f"bad={bad} must be from 0 to {nodes}, the nodes of the machine")
    if not 1 <= job_nodes <= nodes:
        raise ValueError(f"job_nodes={job_nodes} must be from 1 to {nodes}, the nodes of the machine")
    # Ways to draw one group after the other, without bad nodes and in total; either group may be drawn, so the smaller
    # one is. Integers have any size: only the last division rounds.
    drawn, other = sorted((bad, job_nodes))
    ways = math.perm(nodes, drawn)
    return (ways - math.perm(nodes - other, drawn)) / ways


def chance_of_enough(chance_of_one: float, job_nodes: int) -> float:
    """Probability that every node of a job has enough, if nodes are independent. [fraction]

    Parameters
    ----------
    chance_of_one : float
        Probability that one node has enough, from 0 to 1.
    job_nodes : int
        Nodes of the job.

    Raises
    ------
    ValueError
        If a quantity is out of its range.

    Examples
    --------
    99.9 % of the nodes have enough huge pages; all nodes of a job on 1,024 do in a third of its runs:

    >>> round(chance_of_enough(0.999, 1024), 2)
    0.36
    """
    if not 0 <= chance_of_one <= 1:
        raise ValueError(f"chance_of_one={chance_of_one} must be from 0 to 1")
    if job_nodes < 1:
        raise ValueError(f"job_nodes={job_nodes} must be at least 1")
    return chance_of_one**job_nodes


def explaining_bad_nodes(nodes: int, job_nodes: int, success_fraction: float) -> float:
    """Number of bad nodes that explains a success rate, if one bad node fails a job. [nodes]

    The result is a real number, because the probability for whole nodes has steps.

    Parameters
    ----------
    nodes : int
        Number of nodes.
    job_nodes : int
        Nodes of the job.
    success_fraction : float
        Share of successful jobs, from 0 to 1.

    Raises
    ------
    ValueError
        If a quantity is out of its range.

    Examples
    --------
    35 % of the runs on 342 of 6,384 nodes succeed:

    >>> round(explaining_bad_nodes(6384, 342, 0.35), 1)
    19.0
    """
    if not 0 < success_fraction <= 1:
        raise ValueError(f"success_fraction={success_fraction} must be above 0 and at most 1")
    if not 1 <= job_nodes < nodes:
        raise ValueError(f"job_nodes={job_nodes} must be from 1 to {nodes - 1}: a job on all nodes gets every bad one")

    def success(bad: float) -> float:
        # C(N - k, n) / C(N, n) with the factorials as gamma functions, for k between whole numbers.
        log = math.lgamma
        return math.exp(
            log(nodes - bad + 1) - log(nodes - bad - job_nodes + 1) + log(nodes - job_nodes + 1) - log(nodes + 1)
        )

    low, high = 0.0, float(nodes - job_nodes)
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if success(middle) > success_fraction else (low, middle)
    return (low + high) / 2


def days_of_machine(core_hours: float, cores: int) -> float:
    """Time in which the whole machine delivers that many core-hours. [days]

    Parameters
    ----------
    core_hours : float
        Core-hours.
    cores : int
        Number of cores.

    Raises
    ------
    ValueError
        If the core-hours are negative or there are no cores.

    Examples
    --------
    >>> round(days_of_machine(13.5e6, 153_216), 2)
    3.67
    """
    if core_hours < 0 or cores < 1:
        raise ValueError(f"core_hours={core_hours} must not be negative, and cores={cores} at least 1")
    return core_hours / (24 * cores)


class CheckValue(NamedTuple):
    """Value of a preflight check, per job.

    Parameters
    ----------
    waste_node_hours : float
        Expected node-hours lost without the check. [h]
    waste_checked_node_hours : float
        Expected node-hours lost with it, including the check. [h]
    gain_node_hours : float
        The difference; negative if the check costs more than it saves. [h]
    """

    waste_node_hours: float
    waste_checked_node_hours: float
    gain_node_hours: float


def check_value(
    nodes: int,
    bad: int,
    job_nodes: int,
    *,
    run_hours: float,
    lost_fraction: float,
    check_minutes: float,
    found_fraction: float,
) -> CheckValue:
    """Compute the value of checking the nodes before the run.

    Parameters
    ----------
    nodes, bad, job_nodes : int
    run_hours : float
        Length of the run. [h]
    lost_fraction : float
        Share of the run that is lost on a bad node: 1 for a job that hangs until its limit.
    check_minutes : float
        Time of the check, on all nodes of the job. [min]
    found_fraction : float
        Chance that the check detects a bad node.

    Raises
    ------
    ValueError
        If a quantity is out of range.

    Examples
    --------
    A ten-minute check before a day on a third of the machine:

    >>> value = check_value(6384, 8, 2128, run_hours=24, lost_fraction=1.0, check_minutes=10, found_fraction=0.9)
    >>> round(value.waste_node_hours), round(value.gain_node_hours)
    (49084, 43821)
    """
    for name, share in (("lost_fraction", lost_fraction), ("found_fraction", found_fraction)):
        if not 0 <= share <= 1:
            raise ValueError(f"{name}={share} must be from 0 to 1")
    if run_hours <= 0 or check_minutes < 0:
        raise ValueError(f"run_hours={run_hours} must be above 0, and check_minutes={check_minutes} not negative")
    met = chance_of_bad_node(nodes, bad, job_nodes)
    lost = job_nodes * run_hours * lost_fraction
    without = met * lost
    with_check = met * (1 - found_fraction) * lost + job_nodes * check_minutes / 60
    return CheckValue(without, with_check, without - with_check)


def worthwhile_chance(
    *, run_hours: float, lost_fraction: float, check_minutes: float, found_fraction: float
) -> float | None:
    """Return the probability of a bad node above which the check pays off; None if it never does.

    The check breaks even where probability x found x lost x hours equals its duration.

    Parameters
    ----------
    run_hours, lost_fraction, check_minutes, found_fraction : float
        As for `check_value`. [h], [min]

    Examples
    --------
    A check of half an hour for a run of four hours, which finds half the bad nodes:

    >>> worthwhile_chance(run_hours=4, lost_fraction=1.0, check_minutes=30, found_fraction=0.5)
    0.25
    """
    saving = run_hours * lost_fraction * found_fraction
    return check_minutes / 60 / saving if check_minutes / 60 <= saving and saving else None
