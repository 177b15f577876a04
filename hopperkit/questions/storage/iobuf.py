"""Question: the gain from buffering for a call size, and the setting for it."""

import shlex
from collections.abc import Iterator
from functools import cached_property

from hopperkit.questions import ask
from hopperkit.questions.figures import Axis, Reference, Series, chart
from hopperkit.questions.result import Badge, Figure, Result, Snippet, Value
from hopperlib.errors import InputError
from hopperlib.finding import Finding
from hopperlib.machine import Machine
from hopperlib.storage.iobuf import (
    LEAST_MEASURED_BYTES,
    MEASURED_SMALL_CALLS,
    Buffers,
    Costs,
    GainRange,
    documented_costs,
    gain,
    gain_findings,
    gain_range,
)
from hopperlib.storage.lustre.client import file_system_of
from hopperlib.text import count, digits, share
from hopperlib.units import BYTES_PER_MEMORY_GB, BYTES_PER_MIB

_SIZES = {1 << power for power in range(26)} | {10_000, 1_000_000}
# Gains from here on are given as a factor.
_TIMES = 2.0
# Calibration of the costs: 1,560 tasks of Hopper with two buffers of 2 MiB.
_CALIBRATED = {"write": 10_000, "read": 1 << 20}
_CALIBRATED_TASKS, _CALIBRATED_BUFFERS = 1560, Buffers(2 << 20, 2)
# Sizes of a buffer that are offered. [KiB]
_BUFFER_SIZES = {f"{1 << power}": f"{1 << power} KiB" for power in range(6, 15)}


class Case(ask.Setting):
    """The calls of a program, and the buffers between them and the file system."""

    transfer_bytes: int = ask.whole(
        "Size of a call", 10_000, (1, 1 << 30), option="transfer", unit="bytes", binary=True
    )
    direction: str = ask.choice("Direction", "write", {"read": "reading", "write": "writing"})
    buffer_kib: str = ask.choice("Size of a buffer", "2048", _BUFFER_SIZES)
    buffers: int = ask.slider("Buffers of a file", 2, (1, 16, 1), help="Read-ahead needs a second one.")
    tasks_per_node: int = ask.slider("Tasks per node", 24, (1, 512, 1))
    files: int = ask.whole("Open files per task", 1, (0, 1_000_000), option="open-files")
    machine: Machine = ask.machine(
        having="file_systems",
        help="The machine whose file system the tasks share. The cost of a call is calibrated on Hopper in any case.",
        advanced=True,
    )
    tasks: int = ask.whole("Tasks that share the file system", 1560, (1, 10**9), advanced=True)
    machine_file: str = ask.machine_file()

    def check(self) -> None:
        """Reject buffers that exceed a node's memory."""
        node = self.machine.node()
        if self.memory_mib > 1024 * node.usable_memory_gb:
            message = (
                f"the buffers take {self.memory_mib * BYTES_PER_MIB / BYTES_PER_MEMORY_GB:,.1f} GB of each node for "
                f"{count(self.tasks_per_node, 'task')} with {count(self.files, 'open file')} each; "
                f"a node of {self.machine.title} has {node.usable_memory_gb:g} GB for a job"
            )
            raise InputError(message, name="files")

    @property
    def used(self) -> Buffers:
        """The buffers of a file."""
        return Buffers(1024 * int(self.buffer_kib), self.buffers)

    @cached_property
    def costs(self) -> Costs:
        """Calibrated costs of calls and waiting."""
        return documented_costs(task_rate_gb_s=file_system_of(self.machine).peak_gb_s / self.tasks)

    def gain_percent(self, way: str, size_bytes: int) -> float:
        """Gain from buffers for calls of a size in one direction. [%]"""
        return 100 * gain(self.costs, size_bytes, self.used, reading=way == "read")

    @property
    def range(self) -> GainRange:
        """Gain in the direction of the program, with the uncertainty about small calls. [fraction]"""
        return gain_range(self.costs, self.transfer_bytes, self.used, reading=self.direction == "read")

    def badge(self, way: str) -> Badge:
        """Calibrated where the costs were fitted to this very gain, else predicted."""
        fitted = (self.transfer_bytes, self.used) == (_CALIBRATED[way], _CALIBRATED_BUFFERS)
        there = self.machine.name == "hopper" and self.tasks == _CALIBRATED_TASKS
        return "calibrated" if fitted and there else "predicted"

    @cached_property
    def gains(self) -> dict[str, float]:
        """Gain for the calls of the program, by direction. [%]"""
        return {way: self.gain_percent(way, self.transfer_bytes) for way in ("read", "write")}

    @property
    def gain(self) -> float:
        """Gain in the direction of the program. [%]"""
        return self.gains[self.direction]

    @property
    def memory_mib(self) -> float:
        """Memory that they take on each node. [MiB]"""
        return self.used.memory_bytes(files=self.files, tasks=self.tasks_per_node) / BYTES_PER_MIB

    @property
    def no_iobuf(self) -> bool:
        """Whether the machine never had the iobuf library."""
        return all(launcher.kind != "aprun" for launcher in self.machine.launchers)


def answer(case: Case) -> Result:
    """Return the answer.

    Parameters
    ----------
    case : Case
        The calls of a program, and the buffers between them and the file system.

    Returns
    -------
    Result
        The answer.

    Examples
    --------
    >>> round(answer(Case()).facts['write_gain_percent'], 1)
    11.0
    """
    findings = tuple(_findings(case))
    return Result(
        summary=_summary(case),
        findings=findings,
        values=tuple(_values(case)),
        figures=(_gain(case),),
        copyables=tuple(_lines(case)),
        facts={
            "memory_mib": case.memory_mib,
            "transfer_bytes": case.transfer_bytes,
            **{f"{way}_gain_percent": gained for way, gained in case.gains.items()},
            "gain_percent": case.gain,
            "gain_low_percent": 100 * case.range.low,
            "gain_high_percent": 100 * case.range.high,
            "codes": [finding.code for finding in findings],
        },
    )


def _summary(case: Case) -> str:
    saved = 1 - 1 / (1 + case.gain / 100)
    doing = "reading" if case.direction == "read" else "writing"
    calls = f"With buffers, {case.direction}s in calls of {count(case.transfer_bytes, 'byte')} are"
    memory = f"The buffers take {case.memory_mib:,.0f} MiB of each node."
    factor = 1 + case.gain / 100
    if factor < _TIMES:
        return f"{calls} {share(case.gain / 100, 1)} faster; {doing} takes {share(saved, 1)} less time. {memory}"
    low, _, high = case.range
    ends = f" ({digits(1 + low, 2)} to {digits(1 + high, 2)}, depending on the cost of a call)" if low < high else ""
    return f"{calls} {digits(factor, 2)} times as fast{ends}. {memory}"


def _findings(case: Case) -> Iterator[Finding]:
    reading, size_bytes = case.direction == "read", case.used.size_bytes
    if case.transfer_bytes >= size_bytes:
        message = f"Buffers of {size_bytes:,} bytes merge nothing when the program moves {case.transfer_bytes:,} bytes at once."
        yield Finding("buffer-too-small", message)
    if not reading:
        yield from gain_findings(case.gain / 100)
    if case.transfer_bytes < LEAST_MEASURED_BYTES:
        low, high = MEASURED_SMALL_CALLS
        message = (
            f"Hopper's runs had calls of at least {LEAST_MEASURED_BYTES:,} bytes; the cost of smaller ones is extrapolated. "
            f"Measured elsewhere: programs with calls of 1 to 16 bytes became {low} to more than {high} times as fast with a buffer."
        )
        yield Finding("extrapolated", message)
    if case.no_iobuf:
        message = (
            f"iobuf is a library of Cray's XT and XE systems; on {case.machine.title} the lines below do the same."
        )
        yield Finding("no-iobuf", message, "note")


def _values(case: Case) -> Iterator[Value]:
    other = "write" if case.direction == "read" else "read"
    ahead = ", and reading ahead" if case.direction == "read" else ""
    note = f"fewer calls, aligned calls{ahead}"
    yield Value(f"Gain of {case.direction}s", case.gain, case.badge(case.direction), "%", 2, note=note)
    yield Value(f"Gain of {other}s", case.gains[other], case.badge(other), "%", 2)
    note = "on the greatest gain of a write, 11 %, with calls of 10,000 bytes"
    yield Value("Cost of a call", 1e6 * case.costs.call_cost_s, "calibrated", "us", 1, note=note)


def _gain(case: Case) -> Figure:
    """Return the chart of the gain from buffers against the size of a call."""
    sizes = sorted(_SIZES | {case.transfer_bytes})
    # A call larger than a buffer may lose a little.
    curves = {f"{way}s": [1 + case.gain_percent(way, size) / 100 for size in sizes] for way in ("read", "write")}
    ends = "; ".join(
        f"{name} {digits(curve[0], 3)} times as fast at 1 byte and {digits(curve[-1], 3)} at 32 MiB"
        for name, curve in curves.items()
    )
    return chart(
        title="Gain from buffers by size of a call",
        alt=f"Gain from buffering for calls of 1 byte to 32 MiB: {ends}. "
        "Dotted lines mark 1.3 and 1.4, the documented range of reads.",
        x=Axis(title="Size of a call", unit="bytes", log=True),
        y=Axis(title="Times as fast", log=True, decimals=3),
        series=[Series(name=name, x=sizes, y=curve) for name, curve in curves.items()],
        references=[Reference("reads, at least", 1.3), Reference("reads, at most", 1.4)],
    )


def _lines(case: Case) -> Iterator[Snippet]:
    """Yield the setting; without iobuf, its equivalent."""
    size, cache_bytes = case.used.size_bytes, case.used.memory_bytes()
    if not case.no_iobuf:
        setting = case.used.setting(reading=case.direction == "read")
        yield Snippet("This setting", f"export IOBUF_PARAMS={shlex.quote(setting)}")
        return
    yield Snippet("C, stdio", f"setvbuf(file, NULL, _IOFBF, {size});")
    fortran = f"export GFORTRAN_UNFORMATTED_BUFFER_SIZE={size} GFORTRAN_FORMATTED_BUFFER_SIZE={size}"
    yield Snippet("Fortran of GCC", fortran)
    hints = rf'printf "romio_cb_write enable\ncb_buffer_size {size}\n" > hints; export ROMIO_HINTS=$PWD/hints'
    yield Snippet("MPI-IO", hints)
    yield Snippet("HDF5, chunks", f"H5Pset_cache(fapl, 0, 12421, {cache_bytes}, 0.75);")


QUESTION = ask.declared(
    Case,
    answer,
    title="What does buffering buy?",
    examples={
        "Small writes": {"transfer_bytes": 10_000, "direction": "write"},
        "Small reads": {"transfer_bytes": 10_000, "direction": "read"},
        "Writes of a MiB": {"transfer_bytes": 1 << 20, "direction": "write"},
        "MAESTRO, default buffers": {"buffer_kib": "1024", "buffers": 4, "tasks": 2048, "transfer_bytes": 17_000},
    },
)
