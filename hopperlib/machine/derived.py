"""Figures that follow from a machine file, for a comparison of machines.

Each is exact arithmetic on values of the file. It is documented if all of them
are, and assumed if one of them is. The figures stand in ``figures.csv``: what
each is, its value as a product or quotient of attributes of the machine
(``node`` is the ordinary kind, ``file_system`` the first), the keys of the file
that it rests on, and the sum in words.
"""

import operator
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from hopperlib.machine.machine import Machine
from hopperlib.package_data import rows_beside

__all__ = ["FIGURES", "Derived", "derived", "mpi_bandwidth_per_core_mb_s"]

FIGURES = {row["name"]: row for row in rows_beside(__file__, "figures.csv")}
"""The figures by name: label, unit, decimals, value, keys and sum, as text."""


class Derived(NamedTuple):
    """One figure of a machine.

    Parameters
    ----------
    name : str
        Key in `FIGURES`.
    label, unit : str
        What it is, in what unit.
    value : float, int or None
        None if the machine file does not tell.
    decimals : int
        Decimals worth showing.
    badge : {"documented", "assumed"}
    sum : str
        The arithmetic in words.
    """

    name: str
    label: str
    unit: str
    value: float | None
    decimals: int
    badge: Literal["documented", "assumed"]
    sum: str


def derived(machine: Machine) -> tuple[Derived, ...]:
    """Return the figures of a machine, in the order of `FIGURES`.

    Examples
    --------
    >>> peak = next(one for one in derived(Machine.load("hopper")) if one.name == "peak_tflops")
    >>> round(peak.value, 1), peak.unit, peak.badge, peak.sum
    (1287.0, 'Tflop/s', 'documented', 'cores x peak of a core')
    """
    return tuple(
        Derived(
            name,
            figure["label"],
            figure["unit"],
            _value(machine, figure["value"]),
            int(figure["decimals"]),
            "assumed" if any(_assumed(machine, figure["keys"].split())) else "documented",
            figure["sum"],
        )
        for name, figure in FIGURES.items()
    )


def mpi_bandwidth_per_core_mb_s(machine: Machine) -> float | None:
    """Network bandwidth of a node for each of its cores; None without a network. [MB/s]

    Examples
    --------
    Four cores shared 1.6 GB/s on Franklin, twenty-four share 6.0 GB/s on Hopper:

    >>> [mpi_bandwidth_per_core_mb_s(Machine.load(name)) for name in ("franklin", "hopper")]
    [400.0, 250.0]
    """
    return _value(machine, FIGURES["mpi_bandwidth_per_core_mb_s"]["value"])


def _value(machine: Machine, arithmetic: str) -> float | None:
    """Return the value of a figure, worked out from left to right; None where the machine lacks a part of it."""
    value: float | None = None
    first, *rest = arithmetic.split()
    for sign, word in zip(["*", *rest[::2]], [first, *rest[1::2]], strict=True):
        operand = float(word) if word[0].isdigit() else _attribute(machine, word)
        if operand is None:
            return None
        value = operand if value is None else {"*": operator.mul, "/": operator.truediv}[sign](value, operand)
    return value


def _attribute(machine: Machine, path: str) -> Any:
    """Return an attribute of the machine or, with a dot, of one of its parts; None where it lacks that."""
    part, _, name = path.rpartition(".")
    if part == "node":
        return getattr(machine.node(), name)
    if part == "file_system":
        return getattr(machine.file_systems[0], name) if machine.file_systems else None
    return getattr(machine.network, name, None) if part else getattr(machine, name)


def _assumed(machine: Machine, keys: list[str]) -> Iterator[bool]:
    """Yield for each fact behind some keys whether it is assumed; a star stands for every part of a name."""
    for path, quantity in machine.provenance.items():
        parts = path.split(".")
        pattern = f"{parts[0]}.*.{parts[-1]}" if len(parts) == 3 else path
        if pattern in keys:
            yield quantity.source is None
