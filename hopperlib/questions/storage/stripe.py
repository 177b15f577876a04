"""Question: how a file is striped, what that makes of its rate, and which command does it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

from hopperlib.errors import refusal
from hopperlib.machine import FileSystem, Machine
from hopperlib.questions.figures import Axis, Series, chart
from hopperlib.questions.machine_choice import chosen_machine
from hopperlib.questions.question import Asked, declared
from hopperlib.questions.result import Badge, Column, Copyable, Facts, Figure, Result, Table, Value
from hopperlib.readers.hardware.lfs import LustreState, read_lfs
from hopperlib.storage.elsewhere import elsewhere
from hopperlib.storage.lustre.client import file_system_of, own_file_system
from hopperlib.storage.lustre.rates import Costs, Estimate, Pace, Writing, mean_ost_loads_gb
from hopperlib.storage.lustre.stripe_advice import LIMITS, Advice, advise, writing_findings
from hopperlib.storage.lustre.striping import Layout
from hopperlib.storage.wording import say
from hopperlib.units import BYTES_PER_GB, BYTES_PER_MIB

__all__ = ["QUESTION"]

# Counts at which the curve is drawn: all of the first few, then wider apart.
_CURVE = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 144, 156, 192, 256, 384, 512, 1024)
# Share of the time from which a part of it is worth a word.
_WORTH_SAYING = 0.05


class _Case(Asked):
    """The values of the controls, and what the models make of them. Zeros stand for what is not given."""

    def check(self) -> None:
        """Refuse values that do not fit together."""
        if self.stripe_count > (most := self.system.max_stripe_count):
            rule = f"must be from 1 to {most}, the most that {self.chosen_machine.title} allows"
            raise refusal("stripe_count", self.stripe_count, rule)
        if self.nodes > self.writers:
            raise refusal("nodes", self.nodes, f"must not be more than writers={self.writers:,}")
        if self.aggregators > self.writers:
            raise refusal("aggregators", self.aggregators, f"must not be more than writers={self.writers:,}")
        if self.offset_gb > self.size_gb:
            raise refusal("offset_gb", self.offset_gb, f"must not be beyond the end of the file, {self.size_gb:g} GB")

    @cached_property
    def chosen_machine(self) -> Machine:
        """The machine that is meant."""
        return chosen_machine(self.machine)

    @cached_property
    def state(self) -> LustreState | None:
        """What the reader's own Lustre says of itself."""
        return read_lfs(self.lfs) if self.lfs.strip() else None

    @cached_property
    def system(self) -> FileSystem:
        """Its file system, or one like it with OSTs of one's own."""
        state = self.state
        return own_file_system(
            file_system_of(self.chosen_machine),
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
            cores_per_node=self.cores or self.chosen_machine.node().cores,
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

    @property
    def offset_bytes(self) -> int:
        """The byte that is asked for. [bytes]"""
        return min(int(self.offset_gb * BYTES_PER_GB), self.size_bytes - 1)


def _answer(*, kind: str, **asked: Any) -> Result:
    """Answer for one setting."""
    if kind != "lustre":
        return _elsewhere(kind)
    case = _Case(**asked)
    estimate = case.estimate
    findings = writing_findings(case.writing, case.layout, case.system, estimate, case.advice)
    if (case.osts or case.state) and not case.ost_rate_mb_s:
        rate = say("ost-rate", machine=case.chosen_machine.title, rate=1000 * case.system.ost_peak_gb_s)
        findings = (*findings, rate)
    if case.state:
        findings = (*findings, *case.state.findings)
    return Result(
        summary=_summary(case),
        findings=findings,
        values=tuple(_values(case)),
        figures=(_rate_figure(case.curve, case.layout.stripe_count), _load_figure(case)),
        copyables=tuple(_copyables(case)),
        tables=(
            Table(
                caption="Where the time goes",
                columns=(Column("Part"), Column("Time", "s", 3), Column("Share", "%", 1)),
                rows=tuple((name, part, 100 * part / estimate.time_s) for name, part in estimate.parts_s.items()),
            ),
        ),
        facts=Facts(
            {
                "rate_gb_s": estimate.rate_gb_s,
                "time_s": estimate.time_s,
                "limit": estimate.limit,
                "locks_share": estimate.locks_s / estimate.time_s,
                "stripe_count": case.layout.stripe_count,
                "ost_of_offset": case.layout.ost_of(case.offset_bytes),
                "pattern": case.pattern,
                "recommended_count": case.advice.layout.stripe_count,
                "codes": [finding.code for finding in findings],
            },
            rest=lambda: _contract(case),
        ),
    )


def _elsewhere(kind: str) -> Result:
    """Answer for a file system that is not Lustre."""
    other = elsewhere(kind)
    return Result(
        summary=f"{other.title}: {other.answer}",
        findings=(),
        copyables=tuple(Copyable(title, line) for title, line in other.commands.items()),
        facts={"kind": kind, "commands": list(other.commands.values())},
    )


def _few(number: float) -> str:
    """Return a number with about three figures, never with a power of ten."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _summary(case: _Case) -> str:
    """Return the answer in a few sentences: the layout that was asked about, or the advised one and why."""
    estimate, count = case.estimate, case.layout.stripe_count
    size = f"{case.layout.stripe_size_bytes / BYTES_PER_MIB:g} MiB"
    name, part_s = max(list(estimate.parts_s.items())[1:], key=lambda part: part[1])
    share = part_s / estimate.time_s
    costly = f", and {name} cost {100 * share:.0f} % of the time" if share > _WORTH_SAYING else ""
    access, command = "reads" if case.writing.reading else "writes", case.advice.commands[0]
    pace = f"{_few(estimate.time_s)} s, {_few(estimate.rate_gb_s)} GB/s; {LIMITS[estimate.limit]} set the pace{costly}."
    if case.advised:
        reasons = "; ".join(case.advice.reasons)
        return f"Recommended: {command}. The {access} then take at best {pace} Why: {reasons}."
    return f"With {count} stripe{'s' * (count > 1)} of {size} the {access} take {pace} Recommended: {command}"


def _values(case: _Case) -> Iterator[Value]:
    """Yield the numbers of the answer, each with its badge."""
    yield Value("Rate", case.estimate.rate_gb_s, "predicted", "GB/s", 2)
    badge: Badge = "assumed" if case.osts or case.ost_rate_mb_s else "documented"
    note = "as set above" if case.ost_rate_mb_s else "peak over OSTs, from the machine file"
    yield Value("What an OST takes", 1000 * case.system.ost_peak_gb_s, badge, "MB/s", 0, note=note)
    number, within = case.layout.object_of(case.offset_bytes)
    label, note = f"OST of the byte at {case.offset_gb:g} GB", f"object {number}, byte {within:,} of it"
    yield Value(label, case.layout.ost_of(case.offset_bytes), "predicted", note=note)
    if case.writing.pattern == "collective":
        yield Value("Aggregators", case.estimate.callers, "predicted")
    note = "median of public IO500 runs; of those held out half lie within a factor of 1.4, 7 of 10 within 2"
    yield Value("Cost of a lock that changes hands", case.lock_ms, "calibrated", "ms", 1, note=note)
    note = "no source prints it"
    yield Value("Opening an object", case.object_ms, "assumed", "ms", 1, note="taken to be a lock")
    yield Value("Cost of a call", case.call_us, "assumed", "us", 0, note=note)
    yield Value("Creating a file", case.file_ms, "assumed", "ms", 2, note=note)


def _rate_figure(curve: dict[int, Estimate], chosen: int) -> Figure:
    """Return the rate against the stripe count, and what clients, OSTs and file system would each allow."""
    counts, estimates = list(curve), list(curve.values())
    best = max(counts, key=lambda count: curve[count].rate_gb_s)
    ceilings = (
        Series(name=f"{name} alone", x=counts, y=[estimate.ceilings_gb_s[name.lower()] for estimate in estimates])
        for name in ("tasks", "clients", "OSTs", "file system")
    )
    return chart(
        title="Rate against stripe count",
        alt=(
            f"Rate for stripe counts from 1 to {counts[-1]}: {curve[chosen].rate_gb_s:.2f} GB/s at the chosen {chosen}, "
            f"best {curve[best].rate_gb_s:.2f} GB/s at {best}. Four more lines show what tasks, clients, OSTs and file "
            "system would each allow."
        ),
        x=Axis(title="Stripe count", low=0, high=counts[-1] * 1.02),
        y=Axis(title="Rate", unit="GB/s", low=0, decimals=2),
        series=[Series(name="all together", x=counts, y=[estimate.rate_gb_s for estimate in estimates]), *ceilings],
    )


def _load_figure(case: _Case) -> Figure:
    """Return how much lies on each OST."""
    loads = mean_ost_loads_gb(case.writing, case.layout)
    used = sum(load > 0 for load in loads)
    return chart(
        title="Data on each OST" + (", on average" if case.pattern == "file-per-process" else ""),
        alt=(
            f"Data on each of {len(loads)} OSTs: {used} hold some, the fullest {max(loads):.3g} GB, "
            f"the emptiest {min(loads):.3g} GB."
        ),
        x=Axis(title="OST"),
        y=Axis(title="Data", unit="GB", low=0, decimals=3),
        series=[Series(name="data", x=list(range(len(loads))), y=loads, kind="bars")],
    )


def _copyables(case: _Case) -> Iterator[Copyable]:
    """Yield the lines to type: those of the advice alone, or beside the line of another layout."""
    command, hints, reasons = case.advice.commands[0], case.advice.hints_line, "; ".join(case.advice.reasons)
    if case.advised:
        yield Copyable("Before the run", "\n".join(filter(None, (command, hints))), reasons)
        for other in case.advice.alternatives:
            yield Copyable("Another kind of layout", other.command, other.reason)
        return
    yield Copyable("This layout", case.layout.lfs_command(case.directory))
    yield Copyable("The recommended one", command, reasons)
    if hints:
        yield Copyable("Hints for MPI-IO", hints)


def _contract(case: _Case) -> dict[str, Any]:
    """Return what programs read: the layout that is judged, what it gives, and the advice."""
    system, estimate, advice = case.system, case.estimate, case.advice
    return {
        "machine": case.chosen_machine.name,
        "file_system": {"name": system.name, "osts": system.osts, "ost_rate_gb_s": round(system.ost_peak_gb_s, 6)},
        "size_bytes": case.size_bytes,
        "writers": case.writers,
        "nodes": case.writing.nodes,
        "pattern": case.pattern,
        "stripe_count": case.layout.stripe_count,
        "stripe_size_bytes": case.layout.stripe_size_bytes,
        "commands": list(advice.commands),
        "hints": dict(advice.hints),
        "hints_line": advice.hints_line,
        "aggregators": estimate.callers if case.writing.pattern == "collective" else None,
        "alternatives": [other._asdict() for other in advice.alternatives],
        "reasons": list(advice.reasons),
        "cautions": list(advice.cautions),
        "estimate": {
            "rate_gb_s": round(estimate.rate_gb_s, 6),
            "time_s": round(estimate.time_s, 3),
            "limit": estimate.limit,
        },
    }


QUESTION = declared(__name__, _answer)
