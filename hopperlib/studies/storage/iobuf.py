"""Buffered I/O: what iobuf buys IOR and MAESTRO.

Calibrated on two printed values: the greatest gain of a write (the cost of a
call) and the least gain of a read (the share of waiting). Predicted: the other
ends of both ranges, the order of the three transfer sizes, that reads gain
more, and MAESTRO.
"""

from __future__ import annotations

from typing import NamedTuple

from hopperlib.machine import Machine
from hopperlib.storage.iobuf.gains import Costs, documented_costs, gain, transfer_for_gain_bytes
from hopperlib.storage.iobuf.params import Rule, buffer_bytes, read_params
from hopperlib.storage.lustre.client import file_system_of
from hopperlib.studies.study import Study, Value
from hopperlib.units import BYTES_PER_MIB

__all__ = ["STUDY", "Case", "ior_cases", "maestro_costs", "maestro_gain"]

_IOR_TASKS, _IOR_GB_PER_TASK = 1_560, 2
_IOR_BUFFER_BYTES, _IOR_BUFFERS = 2 * BYTES_PER_MIB, 2
# The third is printed as 1,024,576, which is no power of two.
_TRANSFERS = (10_000, 1_000_000, BYTES_PER_MIB)
_MAESTRO_TASKS = 2_048
# How much MAESTRO moves in a call is not printed: from a row of a small box to a whole small box.
_MAESTRO_CALLS = (10_000, 100_000)


class Case(NamedTuple):
    """One transfer size of IOR.

    Parameters
    ----------
    transfer_bytes : int
        Size of a call. [bytes]
    write_gain, read_gain : float
        What buffering buys. [fraction]
    """

    transfer_bytes: int
    write_gain: float
    read_gain: float


def ior_cases(unaligned_extra: float = 1.0) -> tuple[Case, ...]:
    """Return the gains of the three transfer sizes with two buffers of 2 MB.

    Examples
    --------
    >>> for case in ior_cases():
    ...     print(f"{case.transfer_bytes:>9,} {100 * case.write_gain:5.2f} {100 * case.read_gain:5.1f}")
       10,000 11.00  41.0
    1,000,000  0.08  30.1
    1,048,576  0.03  30.0
    """
    costs = documented_costs(unaligned_extra)

    def gained(size: int, reading: bool) -> float:
        return gain(costs, size, reading=reading, buffer_bytes=_IOR_BUFFER_BYTES, buffers=_IOR_BUFFERS)

    return tuple(Case(size, gained(size, False), gained(size, True)) for size in _TRANSFERS)


def maestro_costs() -> Costs:
    """Return the costs of a task of MAESTRO: those of IOR with its share of the file system.

    Examples
    --------
    >>> round(1000 * maestro_costs().task_rate_gb_s, 1)
    17.1
    """
    ior = documented_costs()
    rate = file_system_of(Machine.load("hopper")).peak_gb_s / _MAESTRO_TASKS
    return Costs(task_rate_gb_s=rate, call_cost_s=ior.call_cost_s, unaligned_extra=ior.unaligned_extra)


def maestro_gain(transfer_bytes: int, *, buffer_bytes: int = BYTES_PER_MIB, buffers: int = 4) -> float:
    """What buffering buys MAESTRO's writes for a size of its calls. [fraction]

    Examples
    --------
    >>> round(100 * maestro_gain(10_000), 1), round(100 * maestro_gain(100_000), 1)
    (8.4, 0.8)
    """
    return gain(maestro_costs(), transfer_bytes, reading=False, buffer_bytes=buffer_bytes, buffers=buffers)


def _values() -> dict[str, Value]:
    small, million, mib = cases = ior_cases()
    writes, reads = [100 * case.write_gain for case in cases], [100 * case.read_gain for case in cases]
    unbuffered = [documented_costs().seconds_per_gb(size) for size in _TRANSFERS]
    default, tuned = Rule(pattern="*"), read_params("*:size=2M:count=2")[0]
    osts = file_system_of(Machine.load("hopper")).osts
    tuned_over_default = [
        maestro_gain(size, buffer_bytes=2 * BYTES_PER_MIB, buffers=2) - maestro_gain(size)
        for size in range(4_000, 200_000, 4_000)
    ]
    return {
        "default-buffers": default.buffer_count,
        "default-buffer-size": default.buffer_size_bytes / BYTES_PER_MIB,
        "ior-cores": _IOR_TASKS,
        "osts": osts,
        "ior-files-per-ost": _IOR_TASKS / osts,
        "ior-size-per-core": _IOR_GB_PER_TASK,
        "ior-total": _IOR_TASKS * _IOR_GB_PER_TASK / 1000,
        "transfer-sizes": len(_TRANSFERS),
        "transfer-size-small": _TRANSFERS[0],
        "transfer-size-million": _TRANSFERS[1] / 1e6,
        "transfer-size-mib": _TRANSFERS[2],
        "transfer-size-matters": unbuffered[0] > unbuffered[1] > unbuffered[2],
        "always-faster": min(*writes, *reads) > 0,
        "reads-gain-more": all(case.read_gain > case.write_gain for case in cases),
        "read-gain-low": min(reads),
        "read-gain-high": max(reads),
        "write-gain-low": min(writes),
        "write-gain-high": max(writes),
        "gain-largest-for-small-transfers": max(cases, key=lambda case: case.write_gain).transfer_bytes / 1000,
        "gain-falls-with-transfer-size": all(_write_gains_fall(extra) for extra in (0.0, 1.0, 5.0)),
        "ior-buffers": _IOR_BUFFERS,
        "ior-buffer-size": _IOR_BUFFER_BYTES / BYTES_PER_MIB,
        "maestro-processors": _MAESTRO_TASKS,
        "maestro-gain": (100 * maestro_gain(max(_MAESTRO_CALLS)), 100 * maestro_gain(min(_MAESTRO_CALLS))),
        "fitting_kb": transfer_for_gain_bytes(maestro_costs(), 0.05, buffer_bytes=BYTES_PER_MIB) / 1000,
        "maestro-tuned-buffers": tuned.buffer_count,
        "maestro-tuned-buffer-size": tuned.buffer_size_bytes / BYTES_PER_MIB,
        "maestro-tuned-better": all(0 < gained < 0.01 for gained in tuned_over_default),
        "small-writes-gain-most": small.write_gain > 10 * max(million.write_gain, mib.write_gain),
        "buffers-cost-memory": buffer_bytes(default, tasks=24) == 96 * BYTES_PER_MIB,
    }


def _write_gains_fall(unaligned_extra: float) -> bool:
    """Whether a write gains less the larger its calls are, for a cost of ending inside a page."""
    small, million, mib = ior_cases(unaligned_extra)
    return small.write_gain > million.write_gain > mib.write_gain


STUDY = Study.read("iobuf", _values)
