"""Buffered I/O: what iobuf buys IOR and MAESTRO.

Calibrated on two printed values: the greatest gain of a write (the cost of a
call) and the least gain of a read (the share of waiting). The greatest gain of a
read is the sum of both, so it is calibrated too. Predicted: the least gain of a
write, the order of the three transfer sizes, and MAESTRO.
"""

import math
import random
from collections.abc import Mapping
from typing import NamedTuple

from hopperbook.documented import printed
from hopperbook.studies.study import Study, Value, predictions, ranges
from hopperlib.machine import Machine
from hopperlib.storage.iobuf import Buffers, Costs, documented_costs, gain, gain_range, transfer_for_gain_bytes
from hopperlib.storage.lustre.client import file_system_of
from hopperlib.units import BYTES_PER_MIB

_IOR_BUFFERS = Buffers(int(printed("iobuf.ior-buffer-size") * BYTES_PER_MIB), int(printed("iobuf.ior-buffers")))
_SIZES = {"small": 1, "million": 1_000_000, "mib": 1}
_TRANSFERS = tuple(int(printed(f"iobuf.transfer-size-{name}") * unit) for name, unit in _SIZES.items())
_MAESTRO_TASKS = printed("iobuf.maestro-processors")


class Case(NamedTuple):
    """One transfer size of IOR.

    Parameters
    ----------
    transfer_bytes : int
        Size of a call. [bytes]
    write_gain, read_gain : float
        Gain from buffering. [fraction]
    """

    transfer_bytes: int
    write_gain: float
    read_gain: float


def ior_cases(unaligned_extra: float = 1.0, *, read_gain: float = 0.30) -> tuple[Case, ...]:
    """Return the gains of the three transfer sizes with two buffers of 2 MB.

    Examples
    --------
    >>> for case in ior_cases():
    ...     print(f"{case.transfer_bytes:>9,} {100 * case.write_gain:5.2f} {100 * case.read_gain:5.1f}")
       10,000 11.00  41.0
    1,000,000  0.08  30.1
    1,048,576  0.03  30.0
    """
    costs = documented_costs(unaligned_extra, read_gain=read_gain)

    def gained(size: int, reading: bool) -> float:
        return gain(costs, size, _IOR_BUFFERS, reading=reading)

    return tuple(Case(size, gained(size, False), gained(size, True)) for size in _TRANSFERS)


def small_calls() -> tuple[tuple[int, float, float, float], ...]:
    """How many times as fast IOR's tasks write in small calls with buffers: size, least, as calibrated, greatest. [bytes], [ratio]

    Examples
    --------
    >>> [tuple(round(each) for each in row) for row in small_calls()[:2]]
    [(1, 15, 653, 821), (16, 2, 67, 68)]
    """
    costs = documented_costs()
    factors = ((size, gain_range(costs, size, _IOR_BUFFERS, reading=False)) for size in (1, 16, 256, 4096))
    return tuple((size, *(1 + end for end in ends)) for size, ends in factors)  # type: ignore[misc]


def maestro_costs(unaligned_extra: float = 1.0) -> Costs:
    """Return the costs of a task of MAESTRO: those of IOR with its share of the file system.

    Examples
    --------
    >>> round(1000 * maestro_costs().task_rate_gb_s, 1)
    17.1
    """
    rate = file_system_of(Machine.load("hopper")).peak_gb_s / _MAESTRO_TASKS
    return documented_costs(unaligned_extra, task_rate_gb_s=rate)


def maestro_gain(transfer_bytes: int, buffers: Buffers | None = None, *, unaligned_extra: float = 1.0) -> float:
    """Gain from buffering for MAESTRO's writes, by size of its calls. [fraction]

    Examples
    --------
    >>> round(100 * maestro_gain(10_000), 1), round(100 * maestro_gain(100_000), 1)
    (8.4, 0.8)
    """
    return gain(maestro_costs(unaligned_extra), transfer_bytes, buffers or Buffers(), reading=False)


def model(assumed: Mapping[str, float], rng: random.Random) -> dict[str, float]:
    """Return the gains that are not calibrated, by cost of a call that ends inside a page, and MAESTRO's calls. [%]

    Examples
    --------
    >>> usual = {name: each.value for name, each in ranges("iobuf").items()}
    >>> {name: round(number, 1) for name, number in model(usual, random.Random(1)).items()}
    {'write-gain-low': 0.0, 'maestro-gain': 2.6}
    """
    cases = ior_cases(assumed["unaligned_extra"])
    call_bytes = round(math.exp(assumed["log_call_kb"]) * 1000)
    return {
        "write-gain-low": 100 * min(case.write_gain for case in cases),
        "maestro-gain": 100 * maestro_gain(call_bytes, unaligned_extra=assumed["unaligned_extra"]),
    }


def _values() -> dict[str, Value]:
    cases = ior_cases()
    writes, reads = [100 * case.write_gain for case in cases], [100 * case.read_gain for case in cases]
    default, tuned = Buffers(), Buffers(2 * BYTES_PER_MIB, 2)
    return {
        "default-buffers": default.number,
        "default-buffer-size": default.size_bytes / BYTES_PER_MIB,
        "read-gain-low": min(reads),
        "read-gain-high": max(reads),
        **predictions(model, ranges("iobuf"), {"write-gain-low": 11.0, "maestro-gain": 11.0}),
        "write-gain-high": max(writes),
        "gain-largest-for-small-transfers": max(cases, key=lambda case: case.write_gain).transfer_bytes / 1000,
        "fitting_kb": transfer_for_gain_bytes(maestro_costs(), 0.05, buffer_bytes=BYTES_PER_MIB) / 1000,
        "maestro-tuned-buffers": tuned.number,
        "maestro-tuned-buffer-size": tuned.size_bytes / BYTES_PER_MIB,
        "buffers-cost-memory": default.memory_bytes(tasks=24) == 96 * BYTES_PER_MIB,
    }


STUDY = Study("iobuf", _values, model=model)
