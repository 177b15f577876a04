"""Cray's iobuf: the gain from buffering a task's reads and writes, and the memory of its buffers.

A task moves its data in calls. The time per byte has up to four parts:

- moving it, at the task's share of the file system;
- its share of the cost of a call to the file system; a call that ends inside a page costs more;
- for reads, waiting, because the next call is made only after the last has finished;
- with buffers, its share of the cost of a library call, which copies into a buffer.

Buffers replace many calls by one aligned call per buffer, and read ahead while the task is busy. Two parameters are not
documented and are calibrated: the cost of a call from the largest gain of a write, and the waiting share from the
smallest gain of a read [1]_. Only gains are predicted; rates are not documented.

Both gains were measured with calls of 10,000 bytes and more. For smaller calls only the cost of a call matters, and it
depends on the file system: 49 us as calibrated on Lustre in 2011, 1 to 6 us on local file systems [2]_, [3]_. A library
call takes 31 ns [4]_. `gain_range` is therefore wide there. Public measurements of calls of 1 to 16 bytes are within
it: buffers made them from 30 to more than 100 times as fast [5]_, [6]_.

References
----------
.. [1] K. Antypas and Y. He, CUG 2011, sec. 2, I/O Performance, fig. 8 and 9.
.. [2] kmod-project/kmod pull 250: 198,497 writes in 224 ms.
.. [3] libsdl-org/SDL pull 14794: 10,000 writes of a byte in 62.9 ms.
.. [4] godotengine/godot pull 16385: a byte for each fwrite, 105 MB in 3,350 ms; in one call for each 4,096 bytes 120
   ms.
.. [5] starkware-libs/cairo-vm pull 290: entries of 8 bytes, 1.82 s to 0.06 s beyond the run without them.
.. [6] anza-xyz/agave pull 4115: 200 ms to 1 s before, 6 to 14 ms after.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from hopperlib.errors import InputError, above, at_least
from hopperlib.finding import Finding
from hopperlib.units import BYTES_PER_MIB, binary_size_text

_PAGE_BYTES = 4_096
#: The smallest call of the documented runs; for smaller calls, the cost of a call is extrapolated. [bytes]
LEAST_MEASURED_BYTES = 10_000
#: Gains of public programs with calls of 1 to 16 bytes, as factors.
MEASURED_SMALL_CALLS = (30, 100)
# Cost of a library call, and of the cheapest file-system call in the sources above. [s]
_LIBRARY_S, _CHEAPEST_CALL_S = 31e-9, 1.1e-6


class Buffers(NamedTuple):
    """The buffers of an open file; default: those of iobuf.

    Parameters
    ----------
    size_bytes : int
        Size of a buffer. [bytes]
    number : int
        Number of buffers; a buffer that is not in use is filled by reading ahead.

    Examples
    --------
    Memory of 24 tasks with one file each on a node, in MiB, and the setting of the documented runs, which needs as
    much:

    >>> Buffers().memory_bytes(tasks=24) >> 20
    96
    >>> Buffers(2 << 20, 2).setting("*.dat", reading=True)
    '*.dat:size=2M:count=2:prefetch=1'
    """

    size_bytes: int = BYTES_PER_MIB
    number: int = 4

    def memory_bytes(self, *, files: int = 1, tasks: int = 1) -> int:
        """Memory of the buffers per open file and task. [bytes]

        Parameters
        ----------
        files : int, default 1
            Open files of a task.
        tasks : int, default 1
            Tasks on a node.

        Raises
        ------
        InputError
            If a number is below 1.
        """
        at_least(0, files=files, tasks=tasks)
        return self.size_bytes * self.number * files * tasks

    def setting(self, pattern: str = "*", *, reading: bool = False) -> str:
        """Return the value of ``IOBUF_PARAMS`` that assigns these buffers to some files.

        Parameters
        ----------
        pattern : str
            Pattern of file names; all by default.
        reading : bool, default False
            Whether to read ahead.
        """
        ahead = ":prefetch=1" if reading and self.number > 1 else ""
        return f"{pattern}:size={binary_size_text(self.size_bytes)}:count={self.number}{ahead}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Cost of moving data for a task.

    Parameters
    ----------
    task_rate_gb_s : float
        The task's share of the file system. [GB/s]
    call_cost_s : float
        Cost of a call of any size. [s]
    unaligned_extra : float
        Additional cost of a call that ends inside a page, in calls. [ratio]
    wait_fraction : float
        Waiting time of a read, in units of the time to move its data. [ratio]
    library_s : float
        Cost of a call that ends in a buffer. [s]
    """

    task_rate_gb_s: float
    call_cost_s: float
    unaligned_extra: float = 1.0
    wait_fraction: float = 0.0
    library_s: float = _LIBRARY_S

    def __post_init__(self) -> None:
        above(0, task_rate_gb_s=self.task_rate_gb_s)
        fractions = {"unaligned_extra": self.unaligned_extra, "wait_fraction": self.wait_fraction}
        at_least(0, call_cost_s=self.call_cost_s, library_s=self.library_s, **fractions)

    def _calls(self, size_bytes: int) -> float:
        """Return calls per byte, with the extra cost of those that end inside a page."""
        return (1 + self.unaligned_extra * unaligned_fraction(size_bytes)) / size_bytes

    def seconds_per_gb(self, transfer_bytes: int, *, reading: bool = False, ahead: bool = False) -> float:
        """Time to move 1 GB in calls of a given size. [s]

        Parameters
        ----------
        transfer_bytes : int
            Size of a call. [bytes]
        reading : bool
            Whether the calls read; only reads wait.
        ahead : bool
            Whether data are read ahead, so that the task does not wait.

        Raises
        ------
        InputError
            If the size is below 1.
        """
        at_least(1, transfer_bytes=transfer_bytes)
        waiting = self.wait_fraction if reading and not ahead else 0.0
        return (1 + waiting) / self.task_rate_gb_s + self.call_cost_s * self._calls(transfer_bytes) * 1e9

    def buffered_seconds_per_gb(self, transfer_bytes: int, buffers: Buffers, *, reading: bool = False) -> float:
        """Time to move 1 GB in calls that are buffered; calls as large as a buffer bypass it. [s]

        Parameters
        ----------
        transfer_bytes : int
            Size of the program's calls. [bytes]
        buffers : Buffers
        reading : bool
            Whether the calls read; with a second buffer data are read ahead.

        Raises
        ------
        InputError
            If the size is below 1.
        """
        at_least(1, transfer_bytes=transfer_bytes, buffers=buffers.number)
        ahead = buffers.number > 1
        to_file_system = self.seconds_per_gb(buffers.size_bytes, reading=reading, ahead=ahead)
        return to_file_system + (self.library_s * 1e9 / transfer_bytes if transfer_bytes < buffers.size_bytes else 0.0)


def unaligned_fraction(transfer_bytes: int) -> float:
    """Share of consecutive calls, from the start of a file, that end inside a page. [fraction]

    Parameters
    ----------
    transfer_bytes : int
        Size of a call. [bytes]

    Raises
    ------
    ValueError
        If the size is not positive.

    Examples
    --------
    Of 256 calls of 10,000 bytes, only the last ends with a page; calls of 1 MiB all do.

    >>> unaligned_fraction(10_000), unaligned_fraction(1 << 20)
    (0.99609375, 0.0)
    """
    at_least(1, transfer_bytes=transfer_bytes)
    # Calls end in turn at every multiple of the greatest common divisor within a page; one of these is the end of the
    # page.
    return 1 - math.gcd(transfer_bytes, _PAGE_BYTES) / _PAGE_BYTES


def gain(costs: Costs, transfer_bytes: int, buffers: Buffers, *, reading: bool) -> float:
    """Relative gain in a task's data rate from buffers. [fraction] Reading ahead requires a second buffer.

    Parameters
    ----------
    costs : Costs
    transfer_bytes : int
        Size of the program's calls. [bytes]
    buffers : Buffers
    reading : bool

    Raises
    ------
    ValueError
        If a size or a number is out of range.

    Examples
    --------
    A call costs as much as moving 1,000 bytes; every second call ends inside a page:

    >>> costs = Costs(task_rate_gb_s=0.001, call_cost_s=0.001)
    >>> round(gain(costs, 2048, Buffers(), reading=False), 3)
    0.731

    Calls of one byte are limited by the library; on Hopper, one task among 1,560 and one task alone:

    >>> alone = documented_costs(task_rate_gb_s=35.0)
    >>> [round(gain(each, 1, Buffers(), reading=False)) for each in (documented_costs(), alone)]
    [652, 1586]
    """
    without = costs.seconds_per_gb(transfer_bytes, reading=reading)
    return without / costs.buffered_seconds_per_gb(transfer_bytes, buffers, reading=reading) - 1


class GainRange(NamedTuple):
    """Relative gain in a task's data rate.

    Parameters
    ----------
    low, usual, high : float
        Gain with the cheapest measured file-system call, as calibrated, and with half the library's cost. [fraction]
    """

    low: float
    usual: float
    high: float


def gain_range(costs: Costs, transfer_bytes: int, buffers: Buffers, *, reading: bool) -> GainRange:
    """Gain in a task's data rate from buffers, with the uncertainty about small calls. [fraction]

    From 10,000 bytes, the smallest measured size, the range has no width.

    Parameters
    ----------
    costs, transfer_bytes, buffers, reading
        As in `gain`.

    Raises
    ------
    ValueError
        If a size or a number is out of range.

    Examples
    --------
    >>> two = Buffers(2 << 20, 2)
    >>> [round(end) for end in gain_range(documented_costs(task_rate_gb_s=35.0), 16, two, reading=False)]
    [34, 1554, 3046]
    >>> gain_range(documented_costs(), 10_000, two, reading=False).low == gain(documented_costs(), 10_000, two, reading=False)
    True
    """
    usual = gain(costs, transfer_bytes, buffers, reading=reading)
    if transfer_bytes >= LEAST_MEASURED_BYTES:
        return GainRange(usual, usual, usual)
    cheap = replace(costs, call_cost_s=min(costs.call_cost_s, _CHEAPEST_CALL_S), unaligned_extra=0.0)
    light = replace(costs, library_s=costs.library_s / 2)
    low, high = (gain(each, transfer_bytes, buffers, reading=reading) for each in (cheap, light))
    return GainRange(min(low, usual), usual, max(high, usual))


def gain_findings(write_gain: float) -> tuple[Finding, ...]:
    """Return a note if writes are so large that buffers gain less than half a percent.

    Parameters
    ----------
    write_gain : float
        Gain of writes, as a factor.

    Examples
    --------
    >>> [finding.code for finding in gain_findings(0.001)], gain_findings(0.1)
    (['little-to-gain'], ())
    """
    message = "These writes are large enough already: buffers take memory and gain next to nothing."
    return () if write_gain >= 0.005 else (Finding("little-to-gain", message, "note"),)


def calibrate(
    *,
    task_rate_gb_s: float,
    write_gain: float,
    write_transfer_bytes: int,
    read_gain: float,
    read_transfer_bytes: int,
    buffer_bytes: int,
    unaligned_extra: float = 1.0,
) -> Costs:
    """Return the costs that reproduce the gains of one write and one read.

    Parameters
    ----------
    task_rate_gb_s : float
        The task's share of the file system. [GB/s]
    write_gain, read_gain : float
        Documented gains. [fraction]
    write_transfer_bytes, read_transfer_bytes : int
        Sizes of the calls with these gains. [bytes]
    buffer_bytes : int
        Size of a buffer. [bytes]
    unaligned_extra : float
        As in `Costs`.

    Raises
    ------
    ValueError
        If no cost of a call explains the gain of the write, or waiting would have to be negative.

    Examples
    --------
    >>> costs = calibrate(task_rate_gb_s=35 / 1560, write_gain=0.11, write_transfer_bytes=10_000,
    ...                   read_gain=0.30, read_transfer_bytes=1 << 20, buffer_bytes=2 << 20)
    >>> round(costs.call_cost_s * 1e6, 1), round(costs.wait_fraction, 3)
    (24.6, 0.3)
    """
    free = Costs(task_rate_gb_s=task_rate_gb_s, call_cost_s=1.0, unaligned_extra=unaligned_extra)
    moving, buffers = 1 / task_rate_gb_s, Buffers(buffer_bytes, 2)
    library = replace(free, call_cost_s=0.0).buffered_seconds_per_gb(write_transfer_bytes, buffers) - moving
    calls, buffered = (free.seconds_per_gb(size) - moving for size in (write_transfer_bytes, buffer_bytes))
    # Times are linear in the cost of a call, and (time without buffers) = (1 + gain) (time with them): solve for it.
    saved = calls - (1 + write_gain) * buffered
    if write_gain < 0 or saved <= 0:
        sizes = f"{write_transfer_bytes:,} bytes against {buffer_bytes:,}"
        raise InputError(f"write_gain={write_gain} cannot be explained by fewer calls: {sizes}")
    call_cost_s = (write_gain * moving + (1 + write_gain) * library) / saved
    costs = replace(free, call_cost_s=call_cost_s)
    buffered = costs.buffered_seconds_per_gb(read_transfer_bytes, buffers)
    waiting = ((1 + read_gain) * buffered - costs.seconds_per_gb(read_transfer_bytes)) / moving
    if waiting < 0:
        raise InputError(f"read_gain={read_gain} is less than fewer calls alone buy; it would take negative waiting")
    return replace(costs, wait_fraction=waiting)


def documented_costs(
    unaligned_extra: float = 1.0,
    *,
    read_gain: float = 0.30,
    task_rate_gb_s: float | None = None,
) -> Costs:
    """Return the costs calibrated on the IOR runs of Hopper [1]_.

    1,560 tasks share the peak of 35 GB/s and have two buffers of 2 MB. Writes
    in calls of 10,000 bytes gain 11 %; reads in calls of 1 MiB gain 30 %.

    Parameters
    ----------
    unaligned_extra : float
        As in `Costs`.
    read_gain : float
        The gain of a read, which is printed to tens of percent. [fraction]
    task_rate_gb_s : float or None
        A task's share of another file system; None for the share in these runs. [GB/s]

    Examples
    --------
    >>> costs = documented_costs()
    >>> round(1000 * costs.task_rate_gb_s, 1), round(1e6 * costs.call_cost_s, 1), round(costs.wait_fraction, 3)
    (22.4, 24.6, 0.3)

    References
    ----------
    .. [1] K. Antypas and Y. He, CUG 2011, sec. 2, fig. 8.
    """
    runs: dict[str, Any] = {
        "task_rate_gb_s": 35 / 1560,
        "write_gain": 0.11,
        "read_gain": read_gain,
        "unaligned_extra": unaligned_extra,
    }
    sizes = {"write_transfer_bytes": 10_000, "read_transfer_bytes": BYTES_PER_MIB, "buffer_bytes": 2 * BYTES_PER_MIB}
    costs = calibrate(**{**runs, **sizes})
    return costs if task_rate_gb_s is None else replace(costs, task_rate_gb_s=task_rate_gb_s)


def transfer_for_gain_bytes(costs: Costs, wanted: float, *, buffer_bytes: int) -> float:
    """Size of unaligned calls at which a write has this gain. [bytes]

    Parameters
    ----------
    costs : Costs
        Costs of calls and waiting.
    wanted : float
        Required gain, as a factor.
    buffer_bytes : int
        Size of a buffer. [bytes]

    Raises
    ------
    ValueError
        If `wanted` is not positive.

    Examples
    --------
    >>> costs = Costs(task_rate_gb_s=0.001, call_cost_s=0.001)
    >>> round(transfer_for_gain_bytes(costs, 0.5, buffer_bytes=1 << 30))
    4000
    """
    above(0, wanted=wanted)
    extra = (1 + wanted) * costs.seconds_per_gb(buffer_bytes) - 1 / costs.task_rate_gb_s
    return costs.call_cost_s * (1 + costs.unaligned_extra) * 1e9 / extra
