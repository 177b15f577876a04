"""Fault tolerance of a machine: a dead link of the network, a dead server of the file system.

A machine file states whether the machine continues. For a dead server, the model computes the share of files with a
piece on one of its OSTs.
"""

from math import comb
from typing import NamedTuple

from hopperlib.machine.machine import Machine
from hopperlib.machine.parts import FileSystem


class Fault(NamedTuple):
    """One fault, and its effect on a machine.

    Parameters
    ----------
    name : str
        The failed part.
    continues : bool or None
        Whether the machine continues; None if its file does not say.
    consequence : str
        The consequence, in a sentence.
    badge : {"documented", "assumed"} or None
        Source of the answer; None if there is none.
    """

    name: str
    continues: bool | None
    consequence: str
    badge: str | None


def affected_files(file_system: FileSystem, stripe_count: int | None = None) -> float:
    """Chance that a file has a piece on one given server. [0-1]

    The stripes of a file are on different OSTs, chosen at random.

    Parameters
    ----------
    file_system : FileSystem
    stripe_count : int or None
        OSTs of the file; None takes the default of the file system.

    Raises
    ------
    ValueError
        If there are fewer OSTs.

    Examples
    --------
    Two stripes on 156 OSTs, six of them on the server; then a file striped over all OSTs:

    >>> scratch = Machine.load("hopper").file_systems[0]
    >>> round(affected_files(scratch), 3), affected_files(scratch, 156)
    (0.076, 1.0)
    """
    count = file_system.default_stripe_count if stripe_count is None else stripe_count
    if not 1 <= count <= file_system.osts:
        raise ValueError(f"stripe_count={count} must be from 1 to {file_system.osts}, the OSTs of {file_system.name}")
    return 1 - comb(file_system.osts - file_system.osts_per_oss, count) / comb(file_system.osts, count)


def dead_link(machine: Machine) -> Fault:
    """Return the effect of a dead link between two routers.

    Parameters
    ----------
    machine : Machine
        A machine with or without a network.

    Examples
    --------
    >>> [dead_link(Machine.load(name)).continues for name in ("hopper", "franklin", "perlmutter")]
    [True, False, None]
    """
    name, network = "A link between routers fails", machine.network
    if network is None or network.reroutes_around_dead_links is None:
        return Fault(name, None, "not in the machine file", None)
    badge = machine.provenance["network.reroutes_around_dead_links"].badge
    if not network.reroutes_around_dead_links:
        return Fault(name, False, "the whole machine stops, and every job with it", badge)
    return Fault(name, True, "traffic takes another way", badge)


def dead_server(machine: Machine) -> Fault:
    """Return the effect of a dead object storage server of the first file system.

    Parameters
    ----------
    machine : Machine
        A machine with or without a file system.

    Examples
    --------
    >>> dead_server(Machine.load("hopper")).continues
    True
    """
    name = "An object storage server fails"
    if not machine.file_systems or machine.file_systems[0].server_failover is None:
        return Fault(name, None, "not in the machine file", None)
    scratch = machine.file_systems[0]
    badge = machine.provenance[f"file_system.{scratch.name}.server_failover"].badge
    hit = (
        f"{scratch.osts_per_oss} of {scratch.osts} OSTs were on it, and {100 * affected_files(scratch):.1f} % of the files "
        f"with the default striping have a piece there"
    )
    consequence = f"another server takes over; {hit}" if scratch.server_failover else f"the file system waits; {hit}"
    return Fault(name, scratch.server_failover, consequence, badge)


def faults(machine: Machine) -> tuple[Fault, ...]:
    """Return the effect of each fault.

    Parameters
    ----------
    machine : Machine
        A machine with any parts.

    Examples
    --------
    >>> [(fault.name, fault.continues) for fault in faults(Machine.load("hopper"))]
    [('A link between routers fails', True), ('An object storage server fails', True)]
    """
    return dead_link(machine), dead_server(machine)
