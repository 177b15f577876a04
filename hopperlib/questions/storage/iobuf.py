"""Question: what buffering buys for a size of call, and the setting that does it."""

from __future__ import annotations

from hopperlib.errors import InputError
from hopperlib.finding import Finding
from hopperlib.questions.figures import Axis, Reference, Series, chart
from hopperlib.questions.question import declared
from hopperlib.questions.result import Badge, Column, Copyable, Figure, Result, Table, Value
from hopperlib.storage.iobuf.gains import Costs, documented_costs, gain
from hopperlib.storage.iobuf.params import Rule, buffer_bytes, check_params, read_params, rule_for, write_params
from hopperlib.units import BYTES_PER_MEMORY_GB, BYTES_PER_MIB

__all__ = ["QUESTION"]

_SIZES = tuple(1 << power for power in range(10, 26))
_DOCUMENTED = ((10_000, "10,000 bytes"), (1_000_000, "1,000,000 bytes"), (1 << 20, "1 MiB"))


def _costs(peak_gb_s: float, tasks: int, extra: float, call_us: float, waiting: float) -> tuple[Costs, bool]:
    """Return the costs, and whether they are the calibrated ones."""
    share = peak_gb_s / tasks
    fitted = documented_costs(extra)
    costs = Costs(
        task_rate_gb_s=share,
        call_cost_s=call_us / 1e6 if call_us else fitted.call_cost_s,
        unaligned_extra=extra,
        wait_fraction=waiting if waiting >= 0 else fitted.wait_fraction,
    )
    return costs, not call_us and waiting < 0


def _figure(costs: Costs, rule: Rule, prefetch: int, transfer_bytes: int) -> Figure:
    sizes = sorted({*_SIZES, transfer_bytes, *(size for size, _ in _DOCUMENTED)})
    series = []
    for name, reading in (("reads", True), ("writes", False)):
        gains = [
            100
            * gain(
                costs,
                size,
                reading=reading,
                buffer_bytes=rule.buffer_size_bytes,
                buffers=rule.buffer_count,
                prefetch=prefetch,
            )
            for size in sizes
        ]
        series.append(Series(name=name, x=sizes, y=gains))
    ends = "; ".join(f"{one.name} {one.y[0]:.0f} % at 1 kB and {one.y[-1]:.1f} % at 32 MiB" for one in series)
    return chart(
        title="Gain against the size of a call",
        alt=f"What buffering buys for calls of 1 kB to 32 MiB: {ends}. Dotted lines mark 30 % and 40 %, the documented range of reads.",
        x=Axis(title="Size of a call", unit="bytes", log=True),
        y=Axis(title="Gain", unit="%", decimals=2),
        series=series,
        references=(Reference(name="reads, at least", y=30.0), Reference(name="reads, at most", y=40.0)),
    )


def _answer(
    *,
    transfer_bytes: int,
    direction: str,
    params: str,
    file: str,
    tasks: int,
    tasks_per_node: int,
    files: int,
    peak_gb_s: float,
    unaligned_extra: float,
    call_cost_us: float,
    wait_fraction: float,
) -> Result:
    """Answer for one setting."""
    try:
        rules = read_params(params)
    except ValueError as error:
        raise InputError(str(error), name="params") from error
    rule = rule_for(file, rules)
    if rule is None:
        raise InputError(
            f"no pattern of {params.strip()!r} matches the file {file!r}: it is not buffered", name="params"
        )
    costs, fitted = _costs(peak_gb_s, tasks, unaligned_extra, call_cost_us, wait_fraction)
    prefetch = 1 if rule.prefetch is None else rule.prefetch
    reading = direction == "read"
    gains = {
        name: gain(
            costs,
            transfer_bytes,
            reading=name == "read",
            buffer_bytes=rule.buffer_size_bytes,
            buffers=rule.buffer_count,
            prefetch=prefetch,
        )
        for name in ("read", "write")
    }
    memory = buffer_bytes(rule, files=files, tasks=tasks_per_node)
    notices = list(check_params(rules, transfer_bytes=transfer_bytes, files=files, tasks_per_node=tasks_per_node))
    if direction == "write" and gains["write"] < 0.005:
        notices.append(
            Finding(
                code="little-to-gain",
                message="These writes are large enough: buffers cost memory and buy next to nothing.",
                level="note",
            )
        )
    chosen = gains[direction]
    better = Rule(pattern="*", size_bytes=2 * BYTES_PER_MIB, count=2, prefetch=1 if reading else None)
    badge: Badge = "predicted" if fitted else "assumed"
    note = "fewer calls, aligned calls" + (", and reading ahead" if reading else "")
    return Result(
        summary=f"With buffers, {direction}s in calls of {transfer_bytes:,} bytes are {100 * chosen:.1f} % faster; "
        f"{'reading' if reading else 'writing'} takes {100 * (1 - 1 / (1 + chosen)):.1f} % less time. The buffers take {memory / BYTES_PER_MIB:,.0f} MiB of each node.",
        findings=tuple(notices),
        values=(
            Value(f"Gain of {direction}s", 100 * chosen, badge, "%", 2, note=note),
            Value(
                f"Gain of {'write' if reading else 'read'}s", 100 * gains["write" if reading else "read"], badge, "%", 2
            ),
            Value(
                "Cost of a call",
                1e6 * costs.call_cost_s,
                "assumed" if call_cost_us else "calibrated",
                "us",
                1,
                note="as set above"
                if call_cost_us
                else "on the greatest gain of a write, 11 %, with calls of 10,000 bytes",
            ),
            Value(
                "Waiting of a read, in times of moving its data",
                costs.wait_fraction,
                "assumed" if wait_fraction >= 0 else "calibrated",
                decimals=3,
                note="as set above" if wait_fraction >= 0 else "on the least gain of a read, 30 %, with calls of 1 MiB",
            ),
            Value(
                "A task's share of the file system",
                1000 * costs.task_rate_gb_s,
                "assumed",
                "MB/s",
                1,
                note="peak over tasks",
            ),
            Value(
                "Memory of the buffers on each node",
                memory / BYTES_PER_MEMORY_GB,
                "predicted",
                "GB",
                3,
                note="size, count, files and tasks multiplied",
            ),
        ),
        figures=(_figure(costs, rule, prefetch, transfer_bytes),),
        copyables=(
            Copyable("This setting", f"export IOBUF_PARAMS='{write_params(rules)}'"),
            Copyable(
                "The setting of the documented runs",
                f"export IOBUF_PARAMS='{write_params([better])}'",
                "Two buffers of 2 MB take no more memory than the default four of 1 MB.",
            ),
        ),
        tables=(_table(costs, rule, prefetch),),
        facts={
            "gain_percent": 100 * chosen,
            "read_gain_percent": 100 * gains["read"],
            "write_gain_percent": 100 * gains["write"],
            "memory_mib": memory / BYTES_PER_MIB,
            "codes": [notice.code for notice in notices],
            "transfer_bytes": transfer_bytes,
        },
    )


def _table(costs: Costs, rule: Rule, prefetch: int) -> Table:
    """Return the three documented sizes with this setting."""

    def gained(size: int, reading: bool) -> float:
        return 100 * gain(
            costs,
            size,
            reading=reading,
            buffer_bytes=rule.buffer_size_bytes,
            buffers=rule.buffer_count,
            prefetch=prefetch,
        )

    return Table(
        caption="The three documented sizes, with this setting",
        columns=(
            Column("Size of a call"),
            Column("Gain of a write", "%", 2),
            Column("Gain of a read", "%", 1),
        ),
        rows=tuple((name, gained(size, False), gained(size, True)) for size, name in _DOCUMENTED),
    )


QUESTION = declared(__name__, _answer)
