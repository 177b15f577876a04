"""Question: what buffering buys for a size of call, and the setting that does it."""

import shlex
from functools import cached_property

from hopperlib.errors import InputError
from hopperlib.finding import Finding
from hopperlib.questions.question import Asked, declared
from hopperlib.questions.result import Result
from hopperlib.storage.iobuf.gains import Costs, documented_costs, gain_findings, measured_gain, rule_gain
from hopperlib.storage.iobuf.params import (
    Rule,
    buffer_bytes,
    check_params,
    read_params,
    rule_for,
    suited_rule,
    write_params,
)
from hopperlib.storage.lustre.client import file_system_of
from hopperlib.units import BYTES_PER_MEMORY_GB, BYTES_PER_MIB

_SIZES = tuple(1 << power for power in range(10, 26))
_DOCUMENTED = {10_000: "10,000 bytes", 1_000_000: "1,000,000 bytes", 1 << 20: "1 MiB"}


class _Case(Asked):
    """The values of the controls, and what the models make of them."""

    def check(self) -> None:
        """Refuse values that do not fit together."""
        # An explorer's slider may stand anywhere: only what no node holds is refused.
        most_gb = max(self.memory_bytes(rule) for rule in self.rules) / BYTES_PER_MEMORY_GB
        node = self.on.node()
        if most_gb > node.usable_memory_gb:
            message = (
                f"the buffers of {self.params.strip()!r} take {most_gb:,.1f} GB of each node for {self.tasks_on_node} tasks with "
                f"{self.files:,} open files each; a node of {self.on.title} has {node.usable_memory_gb:g} GB for a job"
            )
            raise InputError(message, name="params")

    @property
    def reading(self) -> bool:
        """Whether the program reads."""
        return bool(self.direction == "read")

    @property
    def tasks_on_node(self) -> int:
        """Tasks of a node, one a core if nothing is said."""
        return self.tasks_per_node or self.on.node().cores

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
            task_rate_gb_s=(self.peak_gb_s or file_system_of(self.on).peak_gb_s) / self.tasks,
            call_cost_s=self.call_cost_us / 1e6 or None,
            wait_fraction=self.wait_fraction if self.wait_fraction >= 0 else None,
        )

    def gain_of(self, rule: Rule, size_bytes: int, *, reading: bool) -> float | None:
        """Return what a rule buys for calls of a size, if that is known. [fraction]"""
        # Whoever gives costs of their own asks what the model makes of them.
        judge = rule_gain if self.own_costs else measured_gain
        return judge(self.costs, size_bytes, rule, reading=reading) if size_bytes else None

    @property
    def own_costs(self) -> bool:
        """Whether the cost of a call or of waiting is given."""
        return bool(self.call_cost_us > 0 or self.wait_fraction >= 0)

    def memory_bytes(self, rule: Rule) -> int:
        """Return the memory that the buffers of a rule take on each node."""
        return buffer_bytes(rule, files=self.files, tasks=self.tasks_on_node)

    @cached_property
    def checks(self) -> tuple[Finding, ...]:
        """What is wrong with the setting, and what could be better."""
        return check_params(
            self.rules,
            stripe_size_bytes=file_system_of(self.on).default_stripe_size_bytes,
            transfer_bytes=self.transfer_bytes or None,
            files=self.files,
            tasks_per_node=self.tasks_on_node,
            spare_memory_gb=self.spare_memory_gb if self.spare_memory_gb >= 0 else None,
        )

    def result(self) -> Result:
        """Return the answer."""
        size, sizes = self.transfer_bytes, sorted({*_SIZES, *_DOCUMENTED, self.transfer_bytes} - {0})
        both = {"reads": True, "writes": False}
        curves = {
            name: [self.gain_of(self.rule, size, reading=reading) for size in sizes] for name, reading in both.items()
        }
        gains = {name: self.gain_of(self.rule, size, reading=reading) for name, reading in both.items()}
        gain, other = gains["reads" if self.reading else "writes"], gains["writes" if self.reading else "reads"]
        said = self.said(
            gain=gain,
            other_gain=other,
            saved=None if gain is None else 1 - 1 / (1 + gain),
            memory_mib=self.memory_bytes(self.rule) / BYTES_PER_MIB,
            memory_gb=self.memory_bytes(self.rule) / BYTES_PER_MEMORY_GB,
            own_call=self.call_cost_us > 0,
            own_wait=self.wait_fraction >= 0,
            beyond=gain is not None and rule_gain(self.costs, size, self.rule, reading=self.reading) > 1.001 * gain,
            no_iobuf=all(launcher.kind != "aprun" for launcher in self.on.launchers),
            cache_bytes=self.rule.buffer_size_bytes * self.rule.buffer_count,
            asked_bytes=size or None,
            written=write_params(self.rules),
            setting=shlex.quote(write_params(self.rules)),
            suited=shlex.quote(write_params([suited_rule("*", reading=self.reading)])),
            sizes=sizes,
            curves=curves,
            taken=[
                {
                    "rule": rule,
                    "bytes": self.memory_bytes(rule),
                    "mib": self.memory_bytes(rule) / BYTES_PER_MIB,
                    "gain": self.gain_of(rule, size, reading=self.reading),
                }
                for rule in self.rules
            ],
            documented=[
                (name, *(curves[way][sizes.index(size)] for way in ("writes", "reads")))
                for size, name in _DOCUMENTED.items()
            ],
            checked=[finding.to_dict() for finding in self.checks],
        )
        written = gains["writes"]
        findings = (*self.checks, *(gain_findings(written) if written and not self.reading else ()), *said.findings)
        named = {f"{name[:-1]}_gain_percent": 100 * each for name, each in gains.items() if each is not None}
        named |= {} if gain is None else {"gain_percent": 100 * gain}
        return said.result(
            findings=findings, facts=said.facts_with(**named, codes=[finding.code for finding in findings])
        )


QUESTION = declared(__name__, _Case.answer)
