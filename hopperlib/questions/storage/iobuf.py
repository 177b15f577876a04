"""Question: what buffering buys for a size of call, and the setting that does it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from hopperlib.errors import InputError
from hopperlib.finding import Finding
from hopperlib.machine import Machine
from hopperlib.questions.figures import Axis, Reference, Series, chart
from hopperlib.questions.machine_choice import chosen_machine
from hopperlib.questions.question import Asked, declared
from hopperlib.questions.result import Badge, Column, Copyable, Facts, Figure, Result, Table, Value
from hopperlib.storage.iobuf.gains import Costs, documented_costs, gain_findings, measured_gain, rule_gain
from hopperlib.storage.iobuf.params import (
    Rule,
    buffer_bytes,
    check_params,
    read_params,
    rule_for,
    substitutes,
    suited_rule,
    write_params,
)
from hopperlib.storage.lustre.client import file_system_of
from hopperlib.storage.wording import say
from hopperlib.units import BYTES_PER_MEMORY_GB, BYTES_PER_MIB

__all__ = ["QUESTION"]

_SIZES = tuple(1 << power for power in range(10, 26))
_DOCUMENTED = ((10_000, "10,000 bytes"), (1_000_000, "1,000,000 bytes"), (1 << 20, "1 MiB"))


class _Case(Asked):
    """The values of the controls, and what the models make of them."""

    def check(self) -> None:
        """Refuse values that do not fit together."""
        # An explorer's slider may stand anywhere: only what no node holds is refused.
        most_gb = max(self.memory_bytes(rule) for rule in self.rules) / BYTES_PER_MEMORY_GB
        node = self.chosen_machine.node()
        if most_gb > node.usable_memory_gb:
            message = (
                f"the buffers of {self.params.strip()!r} take {most_gb:,.1f} GB of each node for {self.tasks_on_node} tasks with "
                f"{self.files:,} open files each; a node of {self.chosen_machine.title} has {node.usable_memory_gb:g} GB for a job"
            )
            raise InputError(message, name="params")

    @property
    def reading(self) -> bool:
        """Whether the program reads."""
        return bool(self.direction == "read")

    @cached_property
    def chosen_machine(self) -> Machine:
        """The machine that is meant."""
        return chosen_machine(self.machine)

    @property
    def tasks_on_node(self) -> int:
        """Tasks of a node, one a core if nothing is said."""
        return self.tasks_per_node or self.chosen_machine.node().cores

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of the setting."""
        try:
            return read_params(self.params)
        except ValueError as error:
            raise InputError(str(error), name="params") from error

    @cached_property
    def rule(self) -> Rule:
        """The rule that is judged: that of the file."""
        rule = rule_for(self.file, self.rules) if self.file else self.rules[0]
        if rule is None:
            message = f"no pattern of {self.params.strip()!r} matches the file {self.file!r}: it is not buffered"
            raise InputError(message, name="params")
        return rule

    @cached_property
    def costs(self) -> Costs:
        """What calls and waiting cost: as calibrated, but for what is given."""
        return documented_costs(
            self.unaligned_extra,
            task_rate_gb_s=(self.peak_gb_s or file_system_of(self.chosen_machine).peak_gb_s) / self.tasks,
            call_cost_s=self.call_cost_us / 1e6 or None,
            wait_fraction=self.wait_fraction if self.wait_fraction >= 0 else None,
        )

    def gain_percent(self, *, reading: bool, transfer_bytes: int = 0, rule: Rule | None = None) -> float:
        """Return what a rule buys; where nothing else is said, the judged one for the calls that are given."""
        size = transfer_bytes or self.transfer_bytes
        # Whoever gives costs of their own asks what the model makes of them.
        judge = rule_gain if self.own_costs else measured_gain
        return 100 * judge(self.costs, size, rule or self.rule, reading=reading)

    @property
    def own_costs(self) -> bool:
        """Whether the cost of a call or of waiting is given."""
        return bool(self.call_cost_us > 0 or self.wait_fraction >= 0)

    @property
    def beyond(self) -> bool:
        """Whether the model leaves what was measured."""
        whole = 100 * rule_gain(self.costs, self.transfer_bytes, self.rule, reading=self.reading)
        return whole > 1.001 * self.gain_percent(reading=self.reading)

    def memory_bytes(self, rule: Rule) -> int:
        """Return the memory that the buffers of a rule take on each node."""
        return buffer_bytes(rule, files=self.files, tasks=self.tasks_on_node)

    @cached_property
    def checks(self) -> tuple[Finding, ...]:
        """What is wrong with the setting, and what could be better."""
        return check_params(
            self.rules,
            stripe_size_bytes=file_system_of(self.chosen_machine).default_stripe_size_bytes,
            transfer_bytes=self.transfer_bytes or None,
            files=self.files,
            tasks_per_node=self.tasks_on_node,
            spare_memory_gb=self.spare_memory_gb if self.spare_memory_gb >= 0 else None,
        )


def _answer(**asked: Any) -> Result:
    """Answer for one setting."""
    case = _Case(**asked)
    gains: dict[str, float] = {}
    if case.transfer_bytes:
        gains = {name: case.gain_percent(reading=name == "read") for name in ("read", "write")}
    findings = case.checks
    if gains and not case.reading:
        findings += gain_findings(gains["write"] / 100)
    if gains and case.beyond:
        findings += (say("beyond-measured"),)
    has_iobuf = any(launcher.kind == "aprun" for launcher in case.chosen_machine.launchers)
    if not has_iobuf:
        findings += (say("no-iobuf", machine=case.chosen_machine.title),)
    suited = suited_rule("*", reading=case.reading)
    note = "Two buffers of 2 MB take no more memory than the default four of 1 MB."
    facts = {f"{name}_gain_percent": gain for name, gain in gains.items()}
    if gains:
        facts["gain_percent"] = gains[case.direction]
    return Result(
        summary=_summary(case, gains),
        findings=findings,
        values=tuple(_values(case, gains)),
        figures=(_figure(case),),
        copyables=(
            *(Copyable(title, lines) for title, lines in ([] if has_iobuf else substitutes(case.rule))),
            Copyable("This setting", f"export IOBUF_PARAMS={shlex.quote(write_params(case.rules))}"),
            Copyable(
                "The setting of the documented runs", f"export IOBUF_PARAMS={shlex.quote(write_params([suited]))}", note
            ),
        ),
        tables=(*([_rule_table(case)] if len(case.rules) > 1 else []), _size_table(case)),
        facts=Facts(
            {
                **facts,
                "memory_mib": case.memory_bytes(case.rule) / BYTES_PER_MIB,
                "codes": [finding.code for finding in findings],
                "transfer_bytes": case.transfer_bytes or None,
            },
            rest=lambda: _contract(case),
        ),
    )


def _summary(case: _Case, gains: dict[str, float]) -> str:
    """Return the answer in two sentences."""
    memory = f"The buffers take {case.memory_bytes(case.rule) / BYTES_PER_MIB:,.0f} MiB of each node."
    if not gains:
        return f"{memory} Give the size of a call to learn what they buy."
    gain, verb = gains[case.direction], "reading" if case.reading else "writing"
    return (
        f"With buffers, {case.direction}s in calls of {case.transfer_bytes:,} bytes are {gain:.1f} % faster; "
        f"{verb} takes {100 * (1 - 1 / (1 + gain / 100)):.1f} % less time. {memory}"
    )


def _values(case: _Case, gains: dict[str, float]) -> Iterator[Value]:
    """Yield the numbers of the answer, each with its badge."""
    own_call, own_wait = case.call_cost_us > 0, case.wait_fraction >= 0
    badge: Badge = "assumed" if own_call or own_wait else "predicted"
    other = "write" if case.reading else "read"
    if gains:
        note = "fewer calls, aligned calls" + (", and reading ahead" if case.reading else "")
        yield Value(f"Gain of {case.direction}s", gains[case.direction], badge, "%", 2, note=note)
        yield Value(f"Gain of {other}s", gains[other], badge, "%", 2)
    badge, note = "calibrated", "on the greatest gain of a write, 11 %, with calls of 10,000 bytes"
    if own_call:
        badge, note = "assumed", "as set above"
    yield Value("Cost of a call", 1e6 * case.costs.call_cost_s, badge, "us", 1, note=note)
    badge, note = "calibrated", "on the least gain of a read, 30 %, with calls of 1 MiB"
    if own_wait:
        badge, note = "assumed", "as set above"
    label = "Waiting of a read, in times of moving its data"
    yield Value(label, case.costs.wait_fraction, badge, decimals=3, note=note)
    share = 1000 * case.costs.task_rate_gb_s
    yield Value("A task's share of the file system", share, "assumed", "MB/s", 1, note="peak over tasks")
    memory, note = case.memory_bytes(case.rule) / BYTES_PER_MEMORY_GB, "size, count, files and tasks multiplied"
    yield Value("Memory of the buffers on each node", memory, "predicted", "GB", 3, note=note)


def _figure(case: _Case) -> Figure:
    """Return the gain of reads and writes against the size of a call."""
    sizes = sorted({*_SIZES, *(size for size, _ in _DOCUMENTED), case.transfer_bytes} - {0})
    series = [
        Series(name=name, x=sizes, y=[case.gain_percent(reading=reading, transfer_bytes=size) for size in sizes])
        for name, reading in (("reads", True), ("writes", False))
    ]
    ends = "; ".join(f"{line.name} {line.y[0]:.0f} % at 1 kB and {line.y[-1]:.1f} % at 32 MiB" for line in series)
    return chart(
        title="Gain against the size of a call",
        alt=(
            f"What buffering buys for calls of 1 kB to 32 MiB: {ends}. "
            "Dotted lines mark 30 % and 40 %, the documented range of reads."
        ),
        x=Axis(title="Size of a call", unit="bytes", log=True),
        y=Axis(title="Gain", unit="%", decimals=2),
        series=series,
        references=(Reference(name="reads, at least", y=30.0), Reference(name="reads, at most", y=40.0)),
    )


def _rule_table(case: _Case) -> Table:
    """Return what each rule of the setting takes and buys."""
    return Table(
        caption=f"Each pattern, and the gain of {case.direction}s",
        columns=(
            Column("Files"),
            Column("Buffers"),
            Column("Size of one", "bytes"),
            Column("Memory of a node", "MiB", 1, "predicted"),
            Column("Gain", "%", 1, "predicted"),
        ),
        rows=tuple(
            (
                rule.pattern,
                rule.buffer_count,
                rule.buffer_size_bytes,
                case.memory_bytes(rule) / BYTES_PER_MIB,
                case.gain_percent(reading=case.reading, rule=rule) if case.transfer_bytes else None,
            )
            for rule in case.rules
        ),
    )


def _size_table(case: _Case) -> Table:
    """Return the gain at the three documented sizes."""
    return Table(
        caption="The three documented sizes, with this setting",
        columns=(Column("Size of a call"), Column("Gain of a write", "%", 2), Column("Gain of a read", "%", 1)),
        rows=tuple(
            (name, *(case.gain_percent(reading=reading, transfer_bytes=size) for reading in (False, True)))
            for size, name in _DOCUMENTED
        ),
    )


def _contract(case: _Case) -> dict[str, Any]:
    """Return what programs read: every rule of the setting, and what is to be said of it."""
    known = case.transfer_bytes > 0
    return {
        "params": write_params(case.rules),
        "machine": case.chosen_machine.name,
        "direction": case.direction,
        "rules": [
            {
                "pattern": rule.pattern,
                "size_bytes": rule.buffer_size_bytes,
                "count": rule.buffer_count,
                "prefetch": rule.prefetch,
                "preflush": rule.preflush,
                "verbose": rule.verbose,
                "memory_per_node_bytes": case.memory_bytes(rule),
                "gain_fraction": round(case.gain_percent(reading=case.reading, rule=rule) / 100, 6) if known else None,
            }
            for rule in case.rules
        ],
        "findings": [finding.to_dict() for finding in case.checks],
    }


QUESTION = declared(__name__, _answer)
