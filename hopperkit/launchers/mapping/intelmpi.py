"""Pinning variables of Intel MPI, which decide where it binds ranks; options such as ``-bind-to`` do nothing or are refused.

Three versions of pinning were measured: that of 2021.5 to 2021.9, that of 2021.12 to 2021.14, and that from 2021.15 on.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from hopperkit.launchers.mapping.openmpi import CannotTellError
from hopperkit.launchers.mapping.topology import Topology, bits
from hopperlib.placement.components import LaunchError

OFF = ("0", "no", "off", "disable", "false")
_ORDERS = ("bunch", "compact", "scatter", "spread", "range")
UNITS = {
    **dict.fromkeys(("socket", "sock"), "socket"),
    **{"numa": "numa", "core": "core", "node": "machine", "cache1": "l1", "cache2": "l2", "cache3": "l3"},
}
_MOST = 100_000


class IntelRequest(NamedTuple):
    """Request to Intel MPI in the variables of a line.

    Parameters
    ----------
    domain, layout : str
        ``I_MPI_PIN_DOMAIN``, and the part after its colon.
    order : str
        ``I_MPI_PIN_ORDER``; ``bunch`` by default.
    cores_only : bool
        Whether ``I_MPI_PIN_CELL`` is ``core``.
    processors : str
        ``I_MPI_PIN_PROCESSOR_LIST``; empty where it does not count.
    threads : int or None
        ``OMP_NUM_THREADS``.
    explicit : bool
        Whether the line has ``I_MPI_PIN_DOMAIN``.
    """

    domain: str = "auto"
    layout: str = ""
    order: str = "bunch"
    cores_only: bool = False
    processors: str = ""
    threads: int | None = None
    explicit: bool = False


def read_intelmpi(variables: Mapping[str, str]) -> IntelRequest | None:
    """Return the request of the variables; None where they turn pinning off.

    Parameters
    ----------
    variables : mapping of str to str
        Environment variables.

    Raises
    ------
    CannotTellError
        For variables whose effect is not known.

    Examples
    --------
    >>> read_intelmpi({"I_MPI_PIN_DOMAIN": "omp:compact", "OMP_NUM_THREADS": "4"})[:3]
    ('omp', 'compact', 'bunch')
    >>> read_intelmpi({"I_MPI_PIN": "off"}) is None
    True
    """
    if variables.get("I_MPI_PIN", "1").lower() in OFF:
        return None
    for name in ("I_MPI_PIN_PROCESSOR_EXCLUDE_LIST", "I_MPI_PIN_PROPERTY", "I_MPI_HYDRA_TOPOLIB"):
        if name in variables:
            raise CannotTellError(f"How Intel MPI pins with {name} is not followed.")
    if variables.get("I_MPI_PIN_MODE", "pm") != "pm":
        raise CannotTellError("With I_MPI_PIN_MODE=lib each rank pins itself, which could not be checked.")
    order = variables.get("I_MPI_PIN_ORDER", "bunch").lower()
    if order not in _ORDERS:
        raise CannotTellError(f"I_MPI_PIN_ORDER={order} is not one of {', '.join(_ORDERS)}.")
    domain = variables.get("I_MPI_PIN_DOMAIN", "auto").lower()
    layout = ""
    if not domain.startswith("["):
        domain, _, layout = domain.partition(":")
        if domain not in ("auto", "omp", "cache", *UNITS) and not re.fullmatch(r"[1-9]\d{0,5}", domain):
            raise CannotTellError(f"I_MPI_PIN_DOMAIN={domain} is not of a form that is followed.")
        if layout not in ("", "platform", "compact", "scatter"):
            raise CannotTellError(f"I_MPI_PIN_DOMAIN has the layout {layout}, which is not followed.")
    explicit = "I_MPI_PIN_DOMAIN" in variables
    threads = re.match(r"[1-9]\d{0,5}", variables.get("OMP_NUM_THREADS", ""))
    return IntelRequest(
        domain=domain,
        layout=layout,
        order=order,
        cores_only=variables.get("I_MPI_PIN_CELL", "unit").lower() == "core",
        processors="" if explicit else variables.get("I_MPI_PIN_PROCESSOR_LIST", ""),
        threads=int(threads[0]) if threads else None,
        explicit=explicit,
    )


def listed_cpus(text: str, node: Topology) -> list[int]:
    """Return the hardware threads that a list of Linux' numbers names.

    Parameters
    ----------
    text : str
        The text.
    node : Topology
        Topology of the node.

    Raises
    ------
    CannotTellError
        If it is not a list of numbers and ranges.
    LaunchError
        If the node does not have one of them.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperkit.launchers.mapping.topology import topology_of
    >>> node = topology_of(Machine.load("cluster").node())
    >>> listed_cpus("0,8-10", node)
    [0, 8, 9, 10]
    """
    at = {number: place for place, number in enumerate(node.numbers)}
    if not re.fullmatch(r"\d{1,6}(-\d{1,6})?(,\d{1,6}(-\d{1,6})?)*", text):
        raise CannotTellError(f"I_MPI_PIN_PROCESSOR_LIST={text[:40]} is not of a form that is followed.")
    found: list[int] = []
    for part in text.split(","):
        low, _, high = part.partition("-")
        for number in range(int(low), int(high or low) + 1):
            if number not in at:
                rule = f"names CPU {number}, which the node does not have"
                raise LaunchError("I_MPI_PIN_PROCESSOR_LIST", text[:40], rule)
            found.append(at[number])
            if len(found) > _MOST:
                raise LaunchError("I_MPI_PIN_PROCESSOR_LIST", text[:40], f"lists more than {_MOST:,} CPUs")
    return found


def listed_masks(domain: str, node: Topology) -> list[int]:
    """Return the masks of ``[f,f0]``, which number CPUs as Linux does.

    Parameters
    ----------
    domain : str
        Value of ``I_MPI_PIN_DOMAIN``.
    node : Topology
        Topology of the node.

    Raises
    ------
    CannotTellError
        If `domain` is not a list of masks.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperkit.launchers.mapping.topology import topology_of
    >>> node = topology_of(Machine.load("cluster").node())
    >>> listed_masks("[f,f0]", node)
    [15, 240]
    """
    at = {number: place for place, number in enumerate(node.numbers)}
    if not re.fullmatch(r"\[(0x)?[0-9a-f]{1,256}(,(0x)?[0-9a-f]{1,256}){0,4095}\]", domain):
        raise CannotTellError("I_MPI_PIN_DOMAIN is not a list of masks that is followed.")
    masks = [int(part, 16) for part in domain.strip("[]").split(",")]
    found = [sum(1 << at[number] for number in bits(mask) if number in at) for mask in masks]
    if not all(found):
        raise LaunchError("I_MPI_PIN_DOMAIN", domain[:40], "has a mask of CPUs that the node does not have")
    return found


def shares(ranks: int, places: int) -> list[int]:
    """Return the ranks of each place, the first ones with one more.

    Parameters
    ----------
    ranks : int
        Ranks on a node.
    places : int
        Places to share out.

    Examples
    --------
    >>> shares(7, 4)
    [2, 2, 2, 1]
    """
    each, more = divmod(ranks, places)
    return [each + (place < more) for place in range(places)]


def first_thread_of_each_core(mask: int, node: Topology) -> int:
    """Return a mask with the lowest hardware thread of each core that it touches.

    Parameters
    ----------
    mask : int
        Hardware threads, as a bit mask.
    node : Topology
        Topology of the node.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperkit.launchers.mapping.topology import topology_of
    >>> bin(first_thread_of_each_core(0b1111, topology_of(Machine.load("perlmutter").node())))
    '0b101'
    """
    kept = 0
    for core in node.units["core"]:
        threads = core & mask
        kept |= threads & -threads
    return kept
