"""Question: what buffering buys for a size of call, and the setting that does it."""

import shlex
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from hopperlib.errors import InputError
from hopperlib.finding import Finding
from hopperlib.machine import Machine
from hopperlib.questions import ask
from hopperlib.questions.figures import Axis, Reference, Series, chart
from hopperlib.questions.question import Example
from hopperlib.questions.result import Copyable, Facts, Figure, Result, Value
from hopperlib.storage.iobuf.gains import Costs, documented_costs, gain_findings, measured_gain, rule_gain
from hopperlib.storage.iobuf.params import (
    Rule,
    buffer_bytes,
    check_params,
    read_params,
    suited_rule,
    write_params,
)
from hopperlib.storage.lustre.client import file_system_of
from hopperlib.text import count, share
from hopperlib.units import BYTES_PER_MEMORY_GB, BYTES_PER_MIB

_SIZES = {1 << power for power in range(10, 26)} | {10_000, 1_000_000}


class Case(ask.Setting):
    """The calls of a program, and the setting that buffers them."""

    transfer_bytes: int = ask.whole(
        "Size of a call", 10_000, (0, 1 << 30), option="transfer", unit="bytes", binary=True, help="0 = not known."
    )
    direction: str = ask.choice("Direction", "write", {"read": "reading", "write": "writing"})
    params: str = ask.text(
        "IOBUF_PARAMS",
        "*:size=2M:count=2",
        argument=True,
        max_length=4000,
        placeholder="*.dat:size=2M:count=2:prefetch=1",
        help="Patterns of file names with options, as the variable takes them.",
    )
    tasks_per_node: int = ask.slider("Tasks per node", 24, (0, 512, 1), help="0 = one per core.")
    files: int = ask.whole("Open files per task", 1, (0, 1_000_000), option="open-files")
    machine: Machine = ask.machine(
        having="file_systems",
        help="The machine whose file system the tasks share. The cost of a call is calibrated on Hopper in any case.",
        advanced=True,
    )
    tasks: int = ask.whole("Tasks that share the file system", 1560, (1, 10**9), advanced=True)
    machine_file: str = ask.machine_file()

    def check(self) -> None:
        """Refuse buffers that no node holds: an explorer's slider may stand anywhere else."""
        most_gb = max(self.memory_bytes(rule) for rule in self.rules) / BYTES_PER_MEMORY_GB
        node = self.machine.node()
        if most_gb > node.usable_memory_gb:
            message = (
                f"the buffers of {self.params.strip()!r} take {most_gb:,.1f} GB of each node for "
                f"{count(self.tasks_on_node, 'task')} with {count(self.files, 'open file')} each; "
                f"a node of {self.machine.title} has {node.usable_memory_gb:g} GB for a job"
            )
            raise InputError(message, name="params")

    @property
    def reading(self) -> bool:
        """Whether the program reads."""
        return self.direction == "read"

    @property
    def tasks_on_node(self) -> int:
        """Tasks of a node, one a core if nothing is said."""
        return self.tasks_per_node or self.machine.node().cores

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of the setting."""
        try:
            return read_params(self.params)
        except ValueError as error:
            raise InputError(str(error), name="params") from error

    @property
    def rule(self) -> Rule:
        """The rule that is judged: the first."""
        return self.rules[0]

    @cached_property
    def costs(self) -> Costs:
        """What calls and waiting cost, as calibrated."""
        return documented_costs(task_rate_gb_s=file_system_of(self.machine).peak_gb_s / self.tasks)

    def gain_of(self, rule: Rule, size_bytes: int, *, reading: bool) -> float | None:
        """What a rule buys for calls of a size, if that is known. [fraction]"""
        return measured_gain(self.costs, size_bytes, rule, reading=reading) if size_bytes else None

    @cached_property
    def gains(self) -> dict[str, float | None]:
        """What the rule of the file buys, by direction. [fraction]"""
        return {way: self.gain_of(self.rule, self.transfer_bytes, reading=way == "read") for way in ("read", "write")}

    @property
    def gain(self) -> float | None:
        """What it buys in the direction of the program. [fraction]"""
        return self.gains[self.direction]

    def memory_bytes(self, rule: Rule) -> int:
        """Memory that the buffers of a rule take on each node. [bytes]"""
        return buffer_bytes(rule, files=self.files, tasks=self.tasks_on_node)

    @property
    def memory_mib(self) -> float:
        """The same of the rule that is judged. [MiB]"""
        return self.memory_bytes(self.rule) / BYTES_PER_MIB

    @property
    def no_iobuf(self) -> bool:
        """Whether the machine never had the library."""
        return all(launcher.kind != "aprun" for launcher in self.machine.launchers)

    @cached_property
    def checks(self) -> tuple[Finding, ...]:
        """What is wrong with the setting, and what could be better."""
        return check_params(self.rules, transfer_bytes=self.transfer_bytes or None)


def answer(case: Case) -> Result:
    """Return the answer."""
    findings = (*case.checks, *_findings(case))
    return Result(
        summary=_summary(case),
        findings=findings,
        values=tuple(_values(case)),
        figures=(_gain(case),),
        copyables=tuple(_lines(case)),
        facts=_facts(case, findings),
    )


def _summary(case: Case) -> str:
    memory = f"The buffers take {case.memory_mib:,.0f} MiB of each node."
    if case.gain is None:
        return f"{memory} Give the size of a call to learn what they buy."
    saved = 1 - 1 / (1 + case.gain)
    doing = "reading" if case.reading else "writing"
    return (
        f"With buffers, {case.direction}s in calls of {count(case.transfer_bytes, 'byte')} are {share(case.gain, 1)} "
        f"faster; {doing} takes {share(saved, 1)} less time. {memory}"
    )


def _findings(case: Case) -> Iterator[Finding]:
    if not case.reading and case.gain:
        yield from gain_findings(case.gain)
    if case.gain is not None:
        alone = rule_gain(case.costs, case.transfer_bytes, case.rule, reading=case.reading)
        if alone > 1.001 * case.gain:
            message = (
                "At least this much: smaller calls than 10,000 bytes, and shares of another file system than Hopper's, "
                "were not measured, and the model alone would promise more."
            )
            yield Finding("beyond-measured", message, "note")
    if case.no_iobuf:
        message = (
            f"iobuf is a library of Cray's XT and XE systems; on {case.machine.title} the lines below do the same."
        )
        yield Finding("no-iobuf", message, "note")


def _percent(gain: float | None) -> float | None:
    """Return a gain in percent, if it is known."""
    return None if gain is None else 100 * gain


def _values(case: Case) -> Iterator[Value]:
    other = "write" if case.reading else "read"
    why = "fewer calls, aligned calls, and reading ahead" if case.reading else "fewer calls, aligned calls"
    yield Value(f"Gain of {case.direction}s", _percent(case.gain), "predicted", "%", 2, note=why)
    yield Value(f"Gain of {other}s", _percent(case.gains[other]), "predicted", "%", 2)
    note = "on the greatest gain of a write, 11 %, with calls of 10,000 bytes"
    yield Value("Cost of a call", 1e6 * case.costs.call_cost_s, "calibrated", "us", 1, note=note)


def _gain(case: Case) -> Figure:
    """Return the chart of the gain against the size of a call."""
    sizes = sorted((_SIZES | {case.transfer_bytes}) - {0})
    curves = {
        f"{way}s": [100 * (case.gain_of(case.rule, size, reading=way == "read") or 0) for size in sizes]
        for way in ("read", "write")
    }
    ends = "; ".join(
        f"{name} {share(curve[0] / 100)} at 1 kB and {share(curve[-1] / 100, 1)} at 32 MiB"
        for name, curve in curves.items()
    )
    return chart(
        title="Gain against the size of a call",
        alt=f"What buffering buys for calls of 1 kB to 32 MiB: {ends}. "
        "Dotted lines mark 30 % and 40 %, the documented range of reads.",
        x=Axis(title="Size of a call", unit="bytes", log=True),
        y=Axis(title="Gain", unit="%", decimals=2),
        series=[Series(name=name, x=sizes, y=curve) for name, curve in curves.items()],
        references=[Reference("reads, at least", 30.0), Reference("reads, at most", 40.0)],
    )


def _lines(case: Case) -> Iterator[Copyable]:
    """Yield the setting; where there is no iobuf, what does the same."""
    size, cache_bytes = case.rule.buffer_size_bytes, case.rule.buffer_size_bytes * case.rule.buffer_count
    if not case.no_iobuf:
        setting, suited = write_params(case.rules), write_params([suited_rule("*", reading=case.reading)])
        yield Copyable("This setting", f"export IOBUF_PARAMS={shlex.quote(setting)}")
        if setting != suited:
            note = "Two buffers of 2 MB take no more memory than the default four of 1 MB."
            title = "The setting of the documented runs"
            yield Copyable(title, f"export IOBUF_PARAMS={shlex.quote(suited)}", note)
        return
    yield Copyable("C, stdio", f"setvbuf(file, NULL, _IOFBF, {size});")
    fortran = f"export GFORTRAN_UNFORMATTED_BUFFER_SIZE={size} GFORTRAN_FORMATTED_BUFFER_SIZE={size}"
    yield Copyable("Fortran of GCC", fortran)
    hints = rf'printf "romio_cb_write enable\ncb_buffer_size {size}\n" > hints; export ROMIO_HINTS=$PWD/hints'
    yield Copyable("MPI-IO", hints)
    yield Copyable("HDF5, chunks", f"H5Pset_cache(fapl, 0, 12421, {cache_bytes}, 0.75);")


def _facts(case: Case, findings: tuple[Finding, ...]) -> Facts:
    known = {f"{way}_gain_percent": _percent(gain) for way, gain in case.gains.items() if gain is not None}
    return Facts(
        {
            "memory_mib": case.memory_mib,
            "transfer_bytes": case.transfer_bytes or None,
            **known,
            **({} if case.gain is None else {"gain_percent": _percent(case.gain)}),
            "codes": [finding.code for finding in findings],
        },
        rest=lambda: _contract(case),
    )


def _contract(case: Case) -> dict[str, Any]:
    """Return what `hopper iobuf --json` prints besides: its keys are promised to programs."""
    gains = [case.gain_of(rule, case.transfer_bytes, reading=case.reading) for rule in case.rules]
    return {
        "params": write_params(case.rules),
        "machine": case.machine.name,
        "direction": case.direction,
        "findings": [finding.to_dict() for finding in case.checks],
        "rules": [
            {
                "pattern": rule.pattern,
                "size_bytes": rule.buffer_size_bytes,
                "count": rule.buffer_count,
                "prefetch": rule.prefetch,
                "memory_per_node_bytes": case.memory_bytes(rule),
                "gain_fraction": None if gain is None else round(gain, 6),
            }
            for rule, gain in zip(case.rules, gains, strict=True)
        ],
    }


QUESTION = ask.declared(
    Case,
    answer,
    title="What does buffering buy?",
    examples=[
        Example("Small writes", {"transfer_bytes": 10_000, "direction": "write"}),
        Example("Small reads", {"transfer_bytes": 10_000, "direction": "read"}),
        Example("Writes of a MiB", {"transfer_bytes": 1 << 20, "direction": "write"}),
        Example("A size for a pattern", {"params": "12M:verbose"}),
        Example("MAESTRO, default buffers", {"params": "*", "tasks": 2048, "transfer_bytes": 17_000}),
    ],
)
