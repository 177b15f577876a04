"""Question: how a file is striped, what that makes of its rate, and which command does it."""

from __future__ import annotations

from hopperlib.errors import InputError
from hopperlib.finding import Finding
from hopperlib.machine import FileSystem, Machine
from hopperlib.questions.figures import Axis, Series, chart
from hopperlib.questions.question import declared
from hopperlib.questions.result import Column, Copyable, Figure, Result, Table, Value
from hopperlib.storage.lustre.client import file_system_of
from hopperlib.storage.lustre.rates import Costs, Estimate, Writing, estimate
from hopperlib.storage.lustre.stripe_advice import advise
from hopperlib.storage.lustre.striping import Layout
from hopperlib.units import BYTES_PER_GB, BYTES_PER_MIB

__all__ = ["QUESTION"]

# Counts at which the curve is drawn: all of the first few, then wider apart.
_CURVE = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 144, 156, 192, 256, 384, 512, 1024)


def _few(number: float) -> str:
    """Return a number with about three figures, never with a power of ten."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _curve(
    writing: Writing, layout: Layout, system: FileSystem, costs: Costs, load: float
) -> list[tuple[int, Estimate]]:
    counts = sorted(
        {*(count for count in _CURVE if count <= system.max_stripe_count), layout.stripe_count, system.max_stripe_count}
    )
    return [
        (
            count,
            estimate(
                writing,
                Layout(stripe_count=count, stripe_size_bytes=layout.stripe_size_bytes, osts=system.osts),
                system,
                costs=costs,
                other_load_fraction=load,
            ),
        )
        for count in counts
    ]


def _rate_figure(curve: list[tuple[int, Estimate]], chosen: int) -> Figure:
    counts = [count for count, _ in curve]
    best_count, best = max(curve, key=lambda pair: pair[1].rate_gb_s)
    now = dict(curve)[chosen]
    names = {"clients": "clients alone", "osts": "OSTs alone", "file system": "file system alone"}
    return chart(
        title="Rate against stripe count",
        alt=f"Rate for stripe counts from 1 to {counts[-1]}: {now.rate_gb_s:.2f} GB/s at the chosen {chosen}, best {best.rate_gb_s:.2f} GB/s "
        f"at {best_count}. Three more lines show what clients, OSTs and file system would each allow.",
        x=Axis(title="Stripe count", low=0, high=counts[-1] * 1.02),
        y=Axis(title="Rate", unit="GB/s", low=0, decimals=2),
        series=[
            Series(name="all together", x=counts, y=[one.rate_gb_s for _, one in curve]),
            *(
                Series(name=name, x=counts, y=[one.ceilings_gb_s[key] for _, one in curve])
                for key, name in names.items()
            ),
        ],
    )


def _loads(writing: Writing, layout: Layout) -> list[float]:
    """Return how much lies on each OST; of many files the mean. [GB]"""
    if writing.pattern == "file-per-process":
        return [writing.size_bytes / BYTES_PER_GB / layout.osts] * layout.osts
    return [load / BYTES_PER_GB for load in layout.ost_loads_bytes(writing.size_bytes)]


def _map_figure(loads: list[float], many: bool) -> Figure:
    used = sum(load > 0 for load in loads)
    return chart(
        title="Data on each OST" + (", on average" if many else ""),
        alt=f"Data on each of {len(loads)} OSTs: {used} hold some, the fullest {max(loads):.3g} GB, the emptiest {min(loads):.3g} GB.",
        x=Axis(title="OST"),
        y=Axis(title="Data", unit="GB", low=0, decimals=3),
        series=[Series(name="data", x=list(range(len(loads))), y=loads, kind="bars")],
    )


def _answer(
    *,
    machine: str,
    size_gb: float,
    writers: int,
    nodes: int,
    pattern: str,
    stripe_count: int,
    stripe_mib: str,
    block_kib: int,
    direction: str,
    first_ost: int,
    offset_gb: float,
    other_load: float,
    file_ms: float,
    call_us: float,
    lock_ms: float,
) -> Result:
    """Answer for one setting."""
    loaded = Machine.load(machine)
    system, cores = file_system_of(loaded), loaded.node().cores
    if stripe_count > system.max_stripe_count:
        raise InputError(
            f"stripe_count={stripe_count} must be from 1 to {system.max_stripe_count}, the most that {machine.capitalize()} allows",
            name="stripe_count",
        )
    if nodes > writers:
        raise InputError(f"nodes={nodes} must not be more than writers={writers:,}", name="nodes")
    if first_ost >= system.osts:
        raise InputError(f"first_ost={first_ost} must be from 0 to {system.osts - 1}, the OSTs", name="first_ost")
    if offset_gb > size_gb:
        raise InputError(
            f"offset_gb={offset_gb:g} must not be beyond the end of the file, {size_gb:g} GB", name="offset_gb"
        )
    used = nodes or -(-writers // cores)
    size_bytes = max(1, round(size_gb * BYTES_PER_GB))
    writing = Writing(
        size_bytes=size_bytes,
        writers=writers,
        nodes=used,
        pattern=pattern,
        block_bytes=block_kib * 1024,
        reading=direction == "read",
    )
    layout = Layout(
        stripe_count=stripe_count,
        stripe_size_bytes=int(stripe_mib) * BYTES_PER_MIB,
        osts=system.osts,
        first_ost=first_ost,
    )
    costs = Costs(file_s=file_ms / 1000, call_s=call_us / 1e6, lock_s=lock_ms / 1000)
    curve = _curve(writing, layout, system, costs, other_load)
    now = dict(curve)[stripe_count]
    one_writer = pattern != "file-per-process" and writers == 1
    asked = "one-writer" if one_writer else "file-per-process" if pattern == "file-per-process" else "shared"
    advice = advise(size_bytes, writers, asked, system, nodes=used, cores_per_node=cores)
    offset = min(int(offset_gb * BYTES_PER_GB), size_bytes - 1)
    number, within = layout.object_of(offset)
    loads = _loads(writing, layout)
    many = pattern == "file-per-process"
    parts = (
        ("moving the data", now.moving_s),
        ("creating files", now.metadata_s),
        ("calls", now.calls_s),
        ("locks", now.locks_s),
    )
    share = max(parts[1:], key=lambda pair: pair[1])
    limit = {"clients": "the clients", "osts": "the OSTs", "file system": "the file system's peak"}[now.limit]
    notices = []
    if now.locks_s > 0.2 * now.time_s:
        notices.append(
            Finding(
                code="lock-contention",
                message="Much of the time goes into locks that change hands. Let aggregators write whole stripes (collective buffering), or write larger blocks.",
                level="problem",
            )
        )
    if (
        pattern == "shared"
        and writing.block_bytes % layout.stripe_size_bytes
        and layout.stripe_size_bytes % writing.block_bytes
    ):
        notices.append(
            Finding(
                code="unaligned",
                message="Blocks and stripes do not line up: many blocks are cut in two. Make one a multiple of the other.",
            )
        )
    if stripe_count == system.max_stripe_count and not many:
        notices.append(
            Finding(
                code="all-osts",
                message="A file over every OST is as slow as the slowest of them, and none can be avoided.",
                level="note",
            )
        )
    notices += [
        Finding(code="mind", message=caution[0].upper() + caution[1:] + ".", level="note")
        for caution in advice.cautions
    ]
    return Result(
        summary=f"With {stripe_count} stripe{'s' * (stripe_count > 1)} of {stripe_mib} MiB the {'reads' if writing.reading else 'writes'} take {_few(now.time_s)} s, "
        f"{_few(now.rate_gb_s)} GB/s; {limit} set the pace"
        + (
            f", and {share[0]} cost {100 * share[1] / now.time_s:.0f} % of the time"
            if share[1] > 0.05 * now.time_s
            else ""
        )
        + f". Recommended: {advice.commands[0]}",
        findings=tuple(notices),
        values=(
            Value("Rate", now.rate_gb_s, "predicted", "GB/s", 2),
            Value(
                "What an OST takes",
                1000 * system.ost_peak_gb_s,
                "documented",
                "MB/s",
                0,
                note="peak over OSTs, from the machine file",
            ),
            Value(
                f"OST of the byte at {offset_gb:g} GB",
                (first_ost + number) % system.osts,
                "predicted",
                note=f"object {number}, byte {within:,} of it",
            ),
            Value("Cost of a lock that changes hands", lock_ms, "assumed", "ms", 1, note="no source prints it"),
            Value("Cost of a call", call_us, "assumed", "us", 0, note="no source prints it"),
            Value("Creating a file", file_ms, "assumed", "ms", 2, note="no source prints it"),
        ),
        figures=(_rate_figure(curve, stripe_count), _map_figure(loads, many)),
        copyables=(
            Copyable("This layout", layout.lfs_command()),
            Copyable("The recommended one", advice.commands[0], "; ".join(advice.reasons)),
            *([Copyable("Hints for MPI-IO", advice.hints_line)] if advice.hints_line else []),
        ),
        tables=(
            Table(
                caption="Where the time goes",
                columns=(
                    Column("Part"),
                    Column("Time", "s", 3),
                    Column("Share", "%", 1),
                ),
                rows=tuple((name, value, 100 * value / now.time_s) for name, value in parts),
            ),
        ),
        facts={
            "rate_gb_s": now.rate_gb_s,
            "time_s": now.time_s,
            "limit": now.limit,
            "locks_share": now.locks_s / now.time_s,
            "stripe_count": stripe_count,
            "ost_of_offset": (first_ost + number) % system.osts,
            "pattern": pattern,
            "recommended_count": advice.layout.stripe_count,
            "codes": [notice.code for notice in notices],
        },
    )


QUESTION = declared(__name__, _answer)
