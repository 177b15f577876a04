"""Question: how a file is striped, what that makes of its rate, and which command does it."""

from dataclasses import replace
from functools import cached_property
from typing import Any

from hopperlib.errors import refusal
from hopperlib.machine import FileSystem
from hopperlib.questions.question import Asked, declared
from hopperlib.questions.result import Copyable, Result
from hopperlib.questions.wording import record_of
from hopperlib.readers.hardware.lfs import LustreState, read_lfs
from hopperlib.storage.lustre.client import file_system_of, own_file_system
from hopperlib.storage.lustre.rates import Costs, Estimate, Pace, Writing, mean_ost_loads_gb
from hopperlib.storage.lustre.stripe_advice import Advice, advise, limit_words, writing_findings
from hopperlib.storage.lustre.striping import Layout
from hopperlib.units import BYTES_PER_GB, BYTES_PER_MIB

# Counts at which the curve is drawn: all of the first few, then wider apart.
_CURVE = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 144, 156, 192, 256, 384, 512, 1024)
# Share of the time from which a part of it is worth a word.
_WORTH_SAYING = 0.05


class _Case(Asked):
    """The values of the controls, and what the models make of them. Zeros stand for what is not given."""

    def check(self) -> None:
        """Refuse values that do not fit together."""
        if self.stripe_count > (most := self.system.max_stripe_count):
            rule = f"must be from 1 to {most}, the most that {self.on.title} allows"
            raise refusal("stripe_count", self.stripe_count, rule)
        if self.nodes > self.writers:
            raise refusal("nodes", self.nodes, f"must not be more than writers={self.writers:,}")
        if self.aggregators > self.writers:
            raise refusal("aggregators", self.aggregators, f"must not be more than writers={self.writers:,}")
        if self.offset_gb > self.size_gb:
            raise refusal("offset_gb", self.offset_gb, f"must not be beyond the end of the file, {self.size_gb:g} GB")

    @cached_property
    def state(self) -> LustreState | None:
        """What the reader's own Lustre says of itself."""
        return read_lfs(self.lfs) if self.lfs.strip() else None

    @cached_property
    def system(self) -> FileSystem:
        """Its file system, or one like it with OSTs of one's own."""
        state = self.state
        return own_file_system(
            file_system_of(self.on),
            osts=self.osts or (state.osts if state else 0) or None,
            ost_rate_gb_s=self.ost_rate_mb_s / 1000 or None,
            client_rate_gb_s=self.client_rate_gb_s or None,
            capacity_pb=state.capacity_pb if state else None,
        )

    @cached_property
    def costs(self) -> Costs:
        """What files, calls, locks and objects cost."""
        return Costs(
            file_s=self.file_ms / 1000,
            call_s=self.call_us / 1e6,
            lock_s=self.lock_ms / 1000,
            object_s=self.object_ms / 1000,
        )

    @property
    def size_bytes(self) -> int:
        """Size of the data. [bytes]"""
        return int(max(1, round(self.size_gb * BYTES_PER_GB)))

    @property
    def advised(self) -> bool:
        """Whether the layout is the advised one."""
        return not self.stripe_count

    @cached_property
    def advice(self) -> Advice:
        """The layout that suits."""
        return advise(
            self.size_bytes,
            self.writers,
            "shared" if self.pattern == "collective" else self.pattern,
            self.system,
            nodes=self.nodes or None,
            cores_per_node=self.cores or self.on.node().cores,
            directory=self.directory,
            pool=self.pool,
            block_bytes=self.block_kib * 1024,
            reading=self.direction == "read",
            costs=self.costs,
            other_load_fraction=self.other_load,
        )

    @cached_property
    def writing(self) -> Writing:
        """How the data are written: who follows the advice lets aggregators write a shared file."""
        advised = self.advice.writing
        if self.pattern == "shared" and not self.advised:
            return replace(advised, pattern="shared", aggregators=None)
        # Of another layout as many write as suit it, unless a number is given.
        given = self.aggregators or (advised.aggregators if self.advised else None)
        return replace(advised, aggregators=given if advised.pattern == "collective" else None)

    @cached_property
    def layout(self) -> Layout:
        """The layout that is judged."""
        advised = self.advice.layout
        return Layout(
            stripe_count=self.stripe_count or advised.stripe_count,
            stripe_size_bytes=advised.stripe_size_bytes if self.advised else int(self.stripe_mib) * BYTES_PER_MIB,
            osts=self.system.osts,
            first_ost=self.first_ost,
        )

    @cached_property
    def curve(self) -> dict[int, Estimate]:
        """What the writes take for several stripe counts."""
        # Every count has as many aggregators as suit it; only the layout that is judged may have its own number.
        writing = self.writing if self.aggregators else replace(self.writing, aggregators=None)
        return Pace(writing, self.system, self.costs, self.other_load).curve(self.layout, _CURVE)

    @property
    def estimate(self) -> Estimate:
        """What they take with the layout."""
        return self.curve[self.layout.stripe_count]

    def result(self) -> Result:
        """Return the answer."""
        estimate, layout, advice, curve = self.estimate, self.layout, self.advice, self.curve
        findings = writing_findings(self.writing, layout, self.system, estimate, advice)
        # The first part is the moving of the data itself, which everybody pays.
        part, part_s = max(list(estimate.parts_s.items())[1:], key=lambda named: named[1])
        # The byte that is asked for.
        offset = min(int(self.offset_gb * BYTES_PER_GB), self.size_bytes - 1)
        loads = mean_ost_loads_gb(self.writing, layout)
        said = self.said(
            command=advice.commands[0],
            hints=dict(advice.hints),
            reasons="; ".join(advice.reasons),
            shares={"part": part_s / estimate.time_s, "locks": estimate.locks_s / estimate.time_s},
            part=part,
            costly=part_s / estimate.time_s > _WORTH_SAYING,
            limit=limit_words(estimate.limit),
            stripe_mib=layout.stripe_size_bytes / BYTES_PER_MIB,
            collective=self.writing.pattern == "collective",
            uncounted=self.state and not self.state.osts and not self.osts,
            own_osts=self.osts or self.ost_rate_mb_s,
            guessed_osts=(self.osts or self.state) and not self.ost_rate_mb_s,
            ost_of_offset=layout.ost_of(offset),
            object=layout.object_of(offset),
            counts=list(curve),
            estimates=list(curve.values()),
            most=1.02 * max(curve),
            # Limits far above what is reached would press it onto the axis.
            top=4 * max(each.rate_gb_s for each in curve.values()),
            best=max(curve, key=lambda count: curve[count].rate_gb_s),
            averaged=self.pattern == "file-per-process",
            places=range(len(loads)),
            loads=loads,
            used=sum(load > 0 for load in loads),
            ost_rate=1000 * self.system.ost_peak_gb_s,
            own_hints=advice.hints_line and not self.advised,
            parts=[(name, took, took / estimate.time_s) for name, took in estimate.parts_s.items()],
            callers=estimate.callers if self.writing.pattern == "collective" else None,
            others=advice.alternatives if self.advised else (),
            own_line=layout.lfs_command(self.directory),
            lines="\n".join(filter(None, (advice.commands[0], advice.hints_line))),
        )
        findings = (*findings, *said.findings, *(self.state.findings if self.state else ()))
        return said.result(findings=findings, facts=said.facts_with(codes=[finding.code for finding in findings]))


def _answer(*, kind: str, **asked: Any) -> Result:
    """Answer for one setting."""
    if kind == "lustre":
        return _Case.answer(**asked)
    other = record_of(__name__)["elsewhere"][kind]
    commands = other.get("commands", {})
    return Result(
        summary=f"{other['title']}: {other['answer']}",
        copyables=tuple(Copyable(title, line) for title, line in commands.items()),
        facts={"kind": kind, "commands": list(commands.values())},
    )


QUESTION = declared(__name__, _answer)
