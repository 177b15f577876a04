"""Question: how a file is striped, its resulting rate, and the command to set it."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

from hopperkit.filesystems.default_layout import default_components, largest_part
from hopperkit.filesystems.hints import hints_line, mpi_of
from hopperkit.filesystems.measured import Measurement, Range, SiteRates, fit_rates, time_range_s
from hopperkit.filesystems.now import Change, Gain, Standing, stand
from hopperkit.filesystems.other_file_systems import OTHER_FILE_SYSTEMS
from hopperkit.filesystems.stripe_advice import DEPARTS, Advice, advise, limit_words, writing_findings
from hopperkit.questions import ask
from hopperkit.questions.figures import Axis, Series, chart
from hopperkit.questions.result import Facts, Figure, Result, Snippet, Value
from hopperkit.readers.hardware.lfs import LustreState, read_lfs
from hopperkit.readers.source import texts_of
from hopperlib.errors import did_you_mean, refusal
from hopperlib.finding import Finding
from hopperlib.machine import FileSystem, Machine, OtherStorage
from hopperlib.machine.layouts import Component
from hopperlib.storage.lustre.client import file_system_of, user_file_system
from hopperlib.storage.lustre.rates import Costs, Estimate, Pace, Writing
from hopperlib.storage.lustre.striping import Layout
from hopperlib.text import count, digits, share
from hopperlib.units import BYTES_PER_GB, BYTES_PER_MIB, duration_s

# Counts at which the curve is drawn: the first few, then wider apart.
_CURVE = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 144, 156, 192, 256, 384, 512, 1024)
# Share of the time above which a part is mentioned.
_WORTH_SAYING = 0.05
# From here on, it dominates.
_DECIDES = 0.5
_STRIPE_SIZES = {f"{1 << power}": f"{1 << power} MiB" for power in range(11)}
_KINDS = {"lustre": "Lustre", **{kind: other.title for kind, other in OTHER_FILE_SYSTEMS.items()}}


class Case(ask.Setting):
    """Data to write, their layout and the file system. Zeros mean not given."""

    machine: Machine = ask.machine(having="file_systems")
    size_gb: float = ask.number(
        "Size of the data", 1000.0, (1e-9, 10_000_000.0, 1.0), option="size", required=True, unit="GB"
    )
    writers: int = ask.whole("Tasks that hold the data", 2400, (1, 10**9), required=True)
    pattern: str = ask.choice(
        "Files",
        "shared",
        {
            "shared": "one shared file, every task writes",
            "collective": "one shared file, aggregators write",
            "file-per-process": "a file for each task",
            "one-writer": "one file, one task writes",
        },
        required=True,
        help="In the recommended setting aggregators write a shared file.",
    )
    stripe_count: int = ask.slider(
        "Stripe count", 2, (0, 300, 1), help="0 = the recommended layout, with its stripe size and its hints."
    )
    stripe_mib: str = ask.choice("Stripe size", "1", _STRIPE_SIZES)
    block_kib: int = ask.number("Data per call", 1024, (1, 1 << 20, 64), unit="KiB")
    direction: str = ask.choice("Direction", "write", {"write": "writing", "read": "reading"})
    nodes: int = ask.whole(
        "Nodes of the tasks", 0, (0, 10_000_000), help="0 = as few nodes as possible for the tasks.", advanced=True
    )
    first_ost: int = ask.whole("OST of the first stripe", 0, (0, 10_000), advanced=True)
    offset_gb: float = ask.number(
        "Which OST holds the byte at offset", 0.0, (0.0, 10_000_000.0, 0.1), unit="GB", advanced=True
    )
    creates_per_s: float = ask.number(
        "Files created per second",
        0.0,
        (0.0, 1e9, 1000.0),
        unit="1/s",
        assumed="Calibrated where the machine file has none: 48,000, the median of 95 public IO500 results in one folder.",
        help="0 = use the machine file's value.",
        advanced=True,
    )
    lock_ms: float = ask.number(
        "Cost of a lock transfer",
        2.0,
        (0.0, 1000.0, 0.5),
        unit="ms",
        assumed="Calibrated: the median of public IO500 runs. In a test on other runs half were predicted within a "
        "factor of 1.4, and 7 of 10 within a factor of 2.",
        advanced=True,
    )
    osts: int = ask.whole(
        "OSTs of another file system",
        0,
        (0, 100_000),
        help="0 = use the machine file's value. `lfs df` counts yours.",
        advanced=True,
    )
    ost_rate_mb_s: float = ask.number(
        "OST write rate",
        0.0,
        (0.0, 1_000_000.0, 10.0),
        option="ost-rate",
        unit="MB/s",
        help="0 = use the machine file's value.",
        advanced=True,
    )
    client_rate_gb_s: float = ask.number(
        "Write rate of a node",
        0.0,
        (0.0, 10_000.0, 0.1),
        option="client-rate",
        unit="GB/s",
        help="0 = use the machine file's value.",
        advanced=True,
    )
    kind: str = ask.choice("File system", "lustre", _KINDS, advanced=True)
    lfs: str = ask.file(
        "Output of lfs df and lfs getstripe -d",
        option="lfs-df",
        accept=".txt",
        help="Your file system: its OSTs, their use, and the default layout of new files, progressive or not. "
        "`lfs pool_list FILE_SYSTEM.POOL` counts those of a pool.",
        advanced=True,
    )
    measured: str = ask.file(
        "Measurements of your file system",
        option="from",
        multiple=True,
        help="Outputs of IOR, mdtest or IO500, or Darshan logs as darshan-parser prints them: rates of OSTs and nodes, "
        "files created per second and the cost of a lock are fitted to them.",
        max_length=64_000_000,
        advanced=True,
    )
    now: str = ask.text(
        "How long it takes now",
        max_length=40,
        placeholder="20 min",
        help="Measured time with these stripes; with 0 stripes, with the default for new files.",
        advanced=True,
    )
    file_system: str = ask.text(
        "File system of the machine",
        max_length=40,
        help="By its name in the machine file; empty for the first.",
        advanced=True,
    )
    mpi: str = ask.choice(
        "MPI that takes the hints",
        "machine",
        {"machine": "the machine's", "cray": "Cray MPICH", "romio": "MPICH or Intel MPI", "ompio": "Open MPI (OMPIO)"},
        advanced=True,
    )
    pool: str = ask.text("Pool of OSTs", max_length=40, advanced=True)
    directory: str = ask.text("Directory of the files", "DIRECTORY", max_length=400, advanced=True)
    machine_file: str = ask.machine_file()

    def check(self) -> None:
        """Reject inconsistent values."""
        if self.elsewhere:
            return
        if self.now.strip():
            duration_s(self.now)
        if self.stripe_count > (most := self.system.max_stripe_count):
            rule = f"must be from 1 to {most}, the maximum on {self.machine.title}"
            raise refusal("stripe_count", self.stripe_count, rule)
        if self.nodes > self.writers:
            raise refusal("nodes", self.nodes, f"must not be more than writers={self.writers:,}")
        if self.offset_gb > self.size_gb:
            raise refusal("offset_gb", self.offset_gb, f"must not be beyond the end of the file, {self.size_gb:g} GB")

    @cached_property
    def state(self) -> LustreState | None:
        """State of the reader's Lustre file system, from its commands."""
        return read_lfs(self.lfs) if self.lfs.strip() else None

    @cached_property
    def elsewhere(self) -> str:
        """The kind of file system if it is not Lustre; otherwise None."""
        return self.storage.kind if self.storage else "" if self.kind == "lustre" else self.kind

    @cached_property
    def storage(self) -> OtherStorage | None:
        """The chosen machine's file system, if it is not Lustre."""
        others = self.machine.other_storages
        if self.file_system:
            names = [each.name for each in self.machine.file_systems] + [each.name for each in others]
            if self.file_system not in names:
                rule = f"must be one of {', '.join(names)}, the file systems of {self.machine.title}"
                raise refusal("file_system", self.file_system, rule + did_you_mean(self.file_system, names))
            return next((each for each in others if each.name == self.file_system), None)
        return next((each for each in others if each.kind == self.kind), None)

    @cached_property
    def system(self) -> FileSystem:
        """Its file system, or a similar one with custom OSTs."""
        state = self.state
        named = [each for each in self.machine.file_systems if each.name == self.file_system]
        in_pool = state.pools.get(self.pool) if state else None
        return user_file_system(
            named[0] if named else file_system_of(self.machine),
            osts=self.osts or in_pool or (state.osts if state else 0) or None,
            ost_rate_gb_s=self.ost_rate_mb_s / 1000 or None,
            client_rate_gb_s=self.client_rate_gb_s or None,
            capacity_pb=state.capacity_pb if state else None,
        )

    @cached_property
    def rates(self) -> SiteRates | None:
        """Measurements from benchmark outputs and logs."""
        if not self.measured.strip():
            return None
        from hopperkit.questions.storage._measured_texts import measurements

        return fit_rates(measurements(texts_of(self.measured, "measured")))

    @cached_property
    def costs(self) -> Costs:
        """Costs of files, calls, locks and objects: as given, measured, or assumed."""
        rates = self.rates or SiteRates()
        creates = self.creates_per_s or (rates.creates_per_s.usual if rates.creates_per_s else None)
        lock_s = rates.lock_s.usual if rates.lock_s else self.lock_ms / 1000
        return Costs(creates_per_s=creates, lock_s=lock_s)

    @property
    def default(self) -> tuple[Component, ...]:
        """Default layout of new files."""
        components = self.state.components if self.state else ()
        return components or default_components(self.system)

    @property
    def hints_mpi(self) -> str:
        """MPI library for the hints."""
        return mpi_of(self.machine) if self.mpi == "machine" else self.mpi

    @property
    def size_bytes(self) -> int:
        """Size of the data. [bytes]"""
        return int(max(1, round(self.size_gb * BYTES_PER_GB)))

    @property
    def advised(self) -> bool:
        """Whether the layout is the recommended one."""
        return not self.stripe_count

    @cached_property
    def advice(self) -> Advice:
        """The recommended layout."""
        return advise(
            self.size_bytes,
            self.writers,
            "shared" if self.pattern == "collective" else self.pattern,
            self.system,
            nodes=self.nodes or None,
            cores_per_node=self.machine.node().cores,
            directory=self.directory,
            pool=self.pool,
            block_bytes=self.block_kib * 1024,
            reading=self.direction == "read",
            costs=self.costs,
            default=self.default,
            mpi=self.hints_mpi,
        )

    def range_s(self, writing: Writing, count: int, stripe_bytes: int) -> Range:
        """Return the range of write times. [s]"""
        return time_range_s(writing, count, stripe_bytes, self.system, costs=self.costs, rates=self.rates)

    @cached_property
    def expected_s(self) -> Range:
        """Range of the write times with the layout in question. [s]"""
        usual = self.range_s(self.writing, self.layout.stripe_count, self.layout.stripe_size_bytes)
        # A progressive layout is estimated as a whole.
        return usual.times(self.estimate.time_s / usual.usual)

    @cached_property
    def standing(self) -> Standing:
        """Comparison of the current time with the estimate."""
        layout, writing = largest_part(Pace(self.as_it_is, self.system, self.costs), self.default), self.as_it_is
        if self.stripe_count:
            layout = (self.stripe_count, int(self.stripe_mib) * BYTES_PER_MIB)
        advised = (self.advice.layout.stripe_count, self.advice.layout.stripe_size_bytes)
        changes = [Change("the recommended layout alone", self.advice.commands[0], self.range_s(writing, *advised))]
        if self.advice.hints_line and writing.pattern == "shared":
            gathered = replace(self.advice.writing, aggregators=None)
            both = f"{self.advice.commands[0]}; {self.advice.hints_line}"
            changes = [
                Change("aggregators with the recommended layout", both, self.range_s(self.advice.writing, *advised)),
                Change("aggregators alone", self.advice.hints_line, self.range_s(gathered, *layout)),
                *changes,
            ]
        return stand(float(duration_s(self.now)), self.range_s(writing, *layout), changes)

    @cached_property
    def as_it_is(self) -> Writing:
        """Current method of writing: the chosen pattern, with as many aggregators as suit the layout."""
        advised = self.advice.writing
        pattern = "shared" if self.pattern == "shared" else advised.pattern
        return replace(advised, pattern=pattern, aggregators=None)

    @cached_property
    def writing(self) -> Writing:
        """How the data are written: following the advice, aggregators write a shared file."""
        return self.advice.writing if self.advised else self.as_it_is

    @cached_property
    def layout(self) -> Layout:
        """The layout in question."""
        advised = self.advice.layout
        return Layout(
            stripe_count=self.stripe_count or advised.stripe_count,
            stripe_size_bytes=advised.stripe_size_bytes if self.advised else int(self.stripe_mib) * BYTES_PER_MIB,
            osts=self.system.osts,
            first_ost=self.first_ost,
        )

    @cached_property
    def curve(self) -> dict[int, Estimate]:
        """Write times for several stripe counts."""
        # Every count has as many aggregators as suit it.
        return Pace(replace(self.writing, aggregators=None), self.system, self.costs).curve(self.layout, _CURVE)

    @property
    def estimate(self) -> Estimate:
        """Estimate with the layout."""
        if self.advised:
            return self.advice.estimate
        return self.curve[self.layout.stripe_count]

    @property
    def offset_bytes(self) -> int:
        """Position of the requested byte."""
        return min(int(self.offset_gb * BYTES_PER_GB), self.size_bytes - 1)

    @property
    def callers(self) -> int | None:
        """Tasks that write for all, if MPI-IO gathers."""
        return self.estimate.callers if self.writing.pattern == "collective" else None


def answer(case: Case) -> Result:
    """Return the answer.

    Parameters
    ----------
    case : Case
        Data to write, their layout and the file system. Zeros mean not given.

    Returns
    -------
    Result
        The answer.

    Examples
    --------
    >>> answer(Case()).facts['commands'][0]
    'lfs setstripe -c 144 -S 64M DIRECTORY'
    """
    if case.elsewhere:
        return _elsewhere(case)
    findings = tuple(_findings(case))
    return Result(
        summary=_now_summary(case) if case.now.strip() else _summary(case),
        findings=findings,
        values=tuple(_byte_place(case)),
        figures=(_rate(case),),
        copyables=tuple(map(_change, case.standing.gains) if case.now.strip() else _lines(case)),
        facts=_facts(case, findings),
    )


def _elsewhere(case: Case) -> Result:
    """Return the settings for a file system other than Lustre, with its site's advice if known."""
    other, storage = OTHER_FILE_SYSTEMS[case.elsewhere], case.storage
    commands = dict(other.commands)
    if line := hints_line(other.hints, case.hints_mpi):
        commands["Gather in whole blocks, here of 16 MiB"] = line
    summary = f"{other.title}: {other.answer}"
    if storage:
        many = case.pattern == "file-per-process"
        site = (storage.own_files_line if many else None) or storage.shared_line
        commands = ({"In the site's words": site} if site else {}) | commands
        peak = f", {storage.peak_gb_s:,g} GB/s at its peak" if storage.peak_gb_s else ""
        summary = f"{storage.name} of {case.machine.title} is {other.title}{peak}. {other.answer}"
    return Result(
        summary=summary,
        copyables=tuple(Snippet(title, line) for title, line in commands.items()),
        facts={"kind": case.elsewhere, "commands": list(commands.values())},
    )


def _summary(case: Case) -> str:
    estimate, layout, command = case.estimate, case.layout, case.advice.commands[0]
    # The first part is moving the data, which every layout pays.
    part, part_s = max(list(estimate.parts_s.items())[1:], key=lambda named: named[1])
    part_share = part_s / estimate.time_s
    costs = f", and {part} cost {share(part_share)} of the time" if part_share > _WORTH_SAYING else ""
    decides = f"limited by {limit_words(estimate.limit)}{costs}"
    if part_share > _DECIDES:
        decides = f"{part} dominates with {share(part_share)} of the time"
    pace = f"{digits(estimate.time_s, 3)} s, {digits(estimate.rate_gb_s, 3)} GB/s; {decides}"
    recommended = f"Recommended{_by_site(case)}: "
    if case.advised:
        why = "; ".join(case.advice.reasons)
        kept = "keep the default for new files, " if case.advice.keeps_default else ""
        return (
            f"{recommended}{kept}{command}. The {case.direction}s then take {pace}{_between(case)}. Why: {why}."
            f"{_departs(case)}"
        )
    stripes = f"{count(layout.stripe_count, 'stripe')} of {layout.stripe_size_bytes / BYTES_PER_MIB:g} MiB"
    return f"{recommended}{command}. With {stripes} the {case.direction}s take {pace}."


def _by_site(case: Case) -> str:
    """Return the origin of the recommendation, with its source; empty if the model chose."""
    if not case.advice.by_site:
        return ""
    where = case.machine.provenance.get(f"file_system.{case.system.name}.guide_stripe_counts")
    source = case.machine.sources.get(where.source or "") if where else None
    return f" by the site ({source})" if source else " by the site"


def _departs(case: Case) -> str:
    """Return the statement that the estimate prefers another layout than the site's rule; empty if it does not."""
    other = next((each for each in case.advice.alternatives if each.reason.startswith(DEPARTS)), None)
    return f" The estimate prefers {other.command}, which {other.reason}." if other else ""


def _between(case: Case) -> str:
    """Return the expected range of write times."""
    low, _, high = case.expected_s
    rests = "from the measurements there" if case.rates else "from the variation of shared file systems"
    return f" ({digits(low, 3)} to {digits(high, 3)} s {rests})"


def _change(gain: Gain) -> Snippet:
    """Return the command for a change, and its gain."""
    action = f"{gain.change.what[0].upper()}{gain.change.what[1:]}"
    return Snippet(f"{action}, which saves {_won(gain)}", gain.change.line.replace("; ", "\n"))


def _won(gain: Gain) -> str:
    return f"{digits(gain.low_s, 3)} s at least and {digits(gain.high_s, 3)} s at most"


def _now_summary(case: Case) -> str:
    """State whether the current time agrees with the file system's estimate, and the first change to make."""
    standing, seconds = case.standing, float(duration_s(case.now))
    low, _, high = standing.expected_s
    rate = digits(case.size_gb / seconds, 3)
    range_words = f"{digits(low, 3)} to {digits(high, 3)} s"
    verdict = {
        "expected": f"within what {case.system.name} of {case.machine.title} gives such writes, {range_words}",
        "slower": f"slower than {case.system.name} of {case.machine.title} should be for such writes, {range_words}: "
        "part of it has another cause than the layout, which `hopper io` can find in a Darshan log of the job",
        "faster": f"faster than the estimate for {case.system.name} of {case.machine.title}, {range_words}: "
        "caches absorbed part of it, or the file system is faster than its record",
    }[standing.verdict]
    statement = f"{case.size_gb:,g} GB in {digits(seconds, 4)} s are {rate} GB/s: {verdict}."
    if not standing.gains:
        return f"No change of stripes or writers is expected to make it faster. {statement}"
    return f"First change: {standing.gains[0].change.what}. It saves {_won(standing.gains[0])}. {statement}"


def _findings(case: Case) -> Iterator[Finding]:
    yield from writing_findings(case.writing, case.layout, case.system, case.estimate, case.advice)
    yield from _site_findings(case)


def _site_findings(case: Case) -> Iterator[Finding]:
    """Yield other facts about the file system, and unknowns."""
    title = case.machine.title
    if case.state and not case.state.osts and not case.osts:
        message = (
            f"`lfs getstripe` does not count the OSTs: the {case.layout.osts} of {title} are assumed. "
            "Give the output of `lfs df` too."
        )
        yield Finding("uncounted-osts", message)
    if (case.osts or case.state) and not case.ost_rate_mb_s:
        rate = f"{1000 * case.system.ost_peak_gb_s:,.0f} MB/s"
        message = f"An OST is assumed to be as fast as on {title}, {rate}: give the rate of yours."
        yield Finding("ost-rate", message, "note")
    if case.state:
        yield from case.state.findings
    if case.rates:
        yield Finding("fitted", f"Fitted to the measurements: {_fitted(case.rates)}.", "note")
        if case.direction == "write" and case.rates.most_nodes:
            yield from _with_other_nodes(case.rates.most_nodes, case.writing.nodes)


def _with_other_nodes(measured: Measurement, nodes: int) -> Iterator[Finding]:
    """Yield the measured run scaled to this number of nodes, as on public systems."""
    if not measured.nodes or measured.nodes == nodes:
        return
    from hopperkit.filesystems.other_runs import rate_at

    low, usual, high = (digits(end, 3) for end in rate_at(measured.value, measured.nodes, nodes))
    message = (
        f"The run that wrote {digits(measured.value, 3)} GB/s on {count(measured.nodes, 'node')} would give {usual} GB/s on {nodes:,}, "
        f"in 8 of 10 cases {low} to {high}: between two runs of a public system the rate grows with the power 0.35 of the nodes."
    )
    yield Finding("other-nodes", message, "note", evidence={"gb_s": float(usual.replace(",", "")), "nodes": nodes})


def _fitted(rates: SiteRates) -> str:
    """Return a description of the fitted values, with their ranges."""
    named = (
        ("all tasks write", rates.write_gb_s, 1.0, "GB/s"),
        ("a node writes", rates.node_gb_s, 1.0, "GB/s"),
        ("an OST takes", rates.ost_gb_s, 1000.0, "MB/s"),
        ("files are created", rates.creates_per_s, 1.0, "a second"),
        ("a lock costs", rates.lock_s, 1000.0, "ms"),
    )
    words = [
        f"{what} {digits(factor * each.low, 3)} to {digits(factor * each.high, 3)} {unit}"
        for what, each, factor, unit in named
        if each
    ]
    runs = ", ".join(
        count(number, f"value of {quantity}", f"values of {quantity}") for quantity, number in rates.runs.items()
    )
    return f"{'; '.join(words)} ({runs})"


def _byte_place(case: Case) -> Iterator[Value]:
    if case.offset_gb:
        index, inside = case.layout.object_of(case.offset_bytes)
        note = f"object {index}, byte {inside:,} of it"
        ost = case.layout.ost_of(case.offset_bytes)
        yield Value(f"OST of the byte at {case.offset_gb:g} GB", ost, "predicted", note=note)


def _rate(case: Case) -> Figure:
    """Return the chart of the rate against the stripe count, with what sets a limit."""
    counts, estimates = list(case.curve), list(case.curve.values())
    rates = [each.rate_gb_s for each in estimates]
    best = max(case.curve, key=lambda count: case.curve[count].rate_gb_s)
    limits = {"tasks": "tasks", "clients": "clients", "OSTs": "osts", "file system": "file system"}
    return chart(
        title="Rate against stripe count",
        alt=f"Rate for stripe counts from 1 to {counts[-1]}: {case.estimate.rate_gb_s:.2f} GB/s at the chosen "
        f"{case.layout.stripe_count}, best {max(rates):.2f} GB/s at {best}. Four more lines show what tasks, clients, "
        "OSTs and file system would each allow; lines above the chart impose no limit.",
        x=Axis(title="Stripe count", low=0, high=1.02 * max(counts)),
        # Limits far above the achieved rate would compress it to the axis.
        y=Axis(title="Rate", unit="GB/s", low=0, high=4 * max(rates), decimals=2),
        series=[
            Series(name="all together", x=counts, y=rates),
            *(
                Series(name=f"{name} alone", x=counts, y=[each.ceilings_gb_s[limit] for each in estimates])
                for name, limit in limits.items()
            ),
        ],
    )


def _lines(case: Case) -> Iterator[Snippet]:
    advice, why = case.advice, "; ".join(case.advice.reasons)
    if case.advised:
        lines = "\n".join(filter(None, (advice.commands[0], advice.hints_line)))
        yield Snippet("Before the run", lines, why)
        if case.writing.pattern == "collective" and case.direction == "write":
            yield Snippet("In HDF5, so that data sets begin at a stripe", _hdf5_lines(case.layout.stripe_size_bytes))
        for other in advice.alternatives:
            yield Snippet("Another kind of layout", other.command, other.reason)
        return
    yield Snippet("The recommended layout", advice.commands[0], why)
    if advice.hints_line:
        yield Snippet("Hints for MPI-IO", advice.hints_line)
    yield Snippet("This layout", case.layout.lfs_command(case.directory))


def _hdf5_lines(stripe_bytes: int) -> str:
    """Return the calls of HDF5 that align data sets with stripes and keep metadata collective."""
    return (
        f"H5Pset_alignment(fapl, {stripe_bytes}, {stripe_bytes});\n"
        "H5Pset_coll_metadata_write(fapl, 1); H5Pset_all_coll_metadata_ops(fapl, 1);\n"
        "H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE);"
    )


def _facts(case: Case, findings: tuple[Finding, ...]) -> Facts:
    estimate = case.estimate
    return Facts(
        {
            # Commands come first.
            "commands": list(case.advice.commands),
            "hints_line": case.advice.hints_line,
            "by_site": case.advice.by_site,
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
    )


def _contract(case: Case) -> dict[str, Any]:
    """Return the additional output of `hopper stripe --json`; its keys are stable."""
    advice, estimate, system = case.advice, case.estimate, case.system
    return {
        "machine": case.machine.name,
        "size_bytes": case.size_bytes,
        "writers": case.writers,
        "pattern": case.pattern,
        "nodes": case.writing.nodes,
        "stripe_count": case.layout.stripe_count,
        "stripe_size_bytes": case.layout.stripe_size_bytes,
        "reasons": list(advice.reasons),
        "cautions": list(advice.cautions),
        "hints": dict(advice.hints),
        "aggregators": case.callers,
        "file_system": {
            "name": system.name,
            "osts": system.osts,
            "ost_rate_gb_s": round(system.ost_peak_gb_s, 6),
        },
        "keeps_default": advice.keeps_default,
        "expected_low_s": round(case.expected_s.low, 3),
        "expected_high_s": round(case.expected_s.high, 3),
        "now": _standing(case) if case.now.strip() else None,
        "estimate": {
            "rate_gb_s": round(estimate.rate_gb_s, 6),
            "time_s": round(estimate.time_s, 3),
            "limit": estimate.limit,
        },
        "alternatives": [other._asdict() for other in advice.alternatives],
    }


def _standing(case: Case) -> dict[str, Any]:
    """Return the comparison of the current time with the estimate, as plain data."""
    standing = case.standing
    return {
        "verdict": standing.verdict,
        "expected_low_s": round(standing.expected_s.low, 3),
        "expected_high_s": round(standing.expected_s.high, 3),
        "changes": [
            {
                "what": each.change.what,
                "line": each.change.line,
                "low_s": round(each.low_s, 3),
                "high_s": round(each.high_s, 3),
            }
            for each in standing.gains
        ],
    }


QUESTION = ask.declared(
    Case,
    answer,
    title="How should the file be striped?",
    examples={
        "The default, two stripes": {"stripe_count": 2, "stripe_mib": "1"},
        "The trillion particles": {
            "size_gb": 31_300.0,
            "writers": 20_000,
            "nodes": 5000,
            "pattern": "collective",
            "stripe_count": 144,
            "stripe_mib": "64",
        },
        "20,000 files": {
            "size_gb": 29_700.0,
            "writers": 20_000,
            "nodes": 5000,
            "pattern": "file-per-process",
            "stripe_count": 1,
        },
        "Twenty minutes on Frontier": {
            "machine": "frontier",
            "size_gb": 2000.0,
            "writers": 65_536,
            "nodes": 512,
            "stripe_count": 0,
            "now": "20 min",
        },
    },
)
