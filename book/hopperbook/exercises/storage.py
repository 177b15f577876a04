"""Exercises in Python for the studies of storage."""

from hopperbook.self_checks.code import CodeCheck
from hopperlib.contention.saturation import SHARPNESS, throughput
from hopperlib.storage.iobuf import unaligned_fraction
from hopperlib.storage.lustre.dumps import barrier_rate_gb_s, barriered_dump
from hopperlib.storage.lustre.striping import Layout


def _io_node() -> CodeCheck:
    """Return the exercise of the study of a node's writes."""
    one, ceiling = 0.2125, 1.7
    return CodeCheck(
        name="io-node-code",
        question=f"`rate` takes the smaller of the tasks' demand and the node's limit. On a real node they wait for each other well before that. Fix it: `1 / rate**{SHARPNESS:g}` is `1 / wanted**{SHARPNESS:g}`, and of `1 / ceiling**{SHARPNESS:g}` a part that grows from nothing for one task, `1 - 1 / tasks**{SHARPNESS:g}`.",
        start=f"one, ceiling, p = {one}, {ceiling}, {SHARPNESS:g}\n\ndef rate(tasks):\n    wanted = tasks * one\n    return min(wanted, ceiling)\n\nrate(8)",
        solution=f"one, ceiling, p = {one}, {ceiling}, {SHARPNESS:g}\n\ndef rate(tasks):\n    wanted = tasks * one\n    others = 1 - 1 / tasks**p\n    total = 1 / wanted**p + others / ceiling**p\n    return 1 / total ** (1 / p)\n\nrate(8)",
        values={f"rate({tasks})": throughput(tasks, one, ceiling) for tasks in (1, 8, 12, 24)},
        hints=("Add the two parts first.", "The rate is the sum to the power of `-1 / p`."),
        explanation="One task alone is not slowed down, many reach the ceiling, and in between the curve bends early.",
    )


def _iobuf() -> CodeCheck:
    """Return the exercise of the study of buffers."""
    sizes = (4096, 1000, 6144, 65536)
    return CodeCheck(
        name="iobuf-code",
        question="Calls of one size follow each other from the start of a file. `inside` gives 1 if the first ends inside a page. Fix it: which share of the calls end inside a page, over 4,096 calls?",
        start="page = 4096\n\ndef inside(size):\n    return 1 if size % page else 0\n\ninside(6144)",
        solution="page = 4096\n\ndef inside(size):\n    count = 0\n    for call in range(1, page + 1):\n        if call * size % page:\n            count = count + 1\n    return count / page\n\ninside(6144)",
        values={f"inside({size})": unaligned_fraction(size) for size in sizes},
        hints=("The call with number `call` ends at `call * size`.",),
        explanation="After 4,096 calls the ends come round again, so the share is exact. Half of the calls of a page and a half end at a page.",
    )


def _slow_ost() -> CodeCheck:
    """Return the exercise of the study of a slow OST."""
    cases = ((80.0, [0.5] * 3 + [0.1]), (40.0, [0.4] * 8), (10.0, [1.0, 0.2]))
    return CodeCheck(
        name="slow-ost-code",
        question="A dump is dealt evenly over its OSTs, and ends when the last of them is done. `time` adds up their rates, as if the fast ones took over. Fix it.",
        start="def time(size_gb, rates):\n    return size_gb / sum(rates)\n\ntime(80.0, [0.5, 0.5, 0.5, 0.1])",
        solution="def time(size_gb, rates):\n    each = size_gb / len(rates)\n    return each / min(rates)\n\ntime(80.0, [0.5, 0.5, 0.5, 0.1])",
        values={f"time({size}, {rates})": barriered_dump(size, rates, variables=8).time_s for size, rates in cases},
        hints=("Each OST gets the same share of the dump.",),
        explanation="All wait for the slowest OST, with barriers and without: each writes the same amount.",
    )


def _striping() -> CodeCheck:
    """Return the exercise of the study of striping."""
    layout = Layout(stripe_count=4, stripe_size_bytes=2**20, osts=156, first_ost=154)
    offsets = (0, 1_048_575, 6_815_744, 3_145_728)
    return CodeCheck(
        name="striping-code",
        question="A file has four stripes of one mebibyte, and its first object is on OST 154 of 156. Fix `ost`, which forgets that the stripes are dealt in turn and that after OST 155 comes OST 0.",
        start="def ost(offset):\n    stripe = offset // 2**20\n    return 154 + stripe\n\nost(6_815_744)",
        solution="def ost(offset):\n    stripe = offset // 2**20\n    which = stripe % 4\n    return (154 + which) % 156\n\nost(6_815_744)",
        values={f"ost({offset})": layout.ost_of(offset) for offset in offsets},
        hints=("`%` gives the remainder: stripe 4 is on the object of stripe 0 again.",),
        explanation="The stripe's number modulo the stripe count names the object, and the objects are on OSTs that follow each other.",
    )


def _trillion() -> CodeCheck:
    """Return the exercise of the study of the trillion particles."""
    cases = ((30_000.0, 35.0, 8, 20.0), (30_000.0, 35.0, 1, 20.0), (100.0, 2.0, 4, 0.0))
    return CodeCheck(
        name="trillion-code",
        question="A dump of `size` gigabytes is written at `peak`, and at each of its barriers some time is lost. Fix `rate`, which counts the loss once.",
        start="def rate(size, peak, barriers, lost):\n    time = size / peak + lost\n    return size / time\n\nrate(30000.0, 35.0, 8, 20.0)",
        solution="def rate(size, peak, barriers, lost):\n    time = size / peak + barriers * lost\n    return size / time\n\nrate(30000.0, 35.0, 8, 20.0)",
        values={
            f"rate({size}, {peak}, {barriers}, {lost})": barrier_rate_gb_s(
                size, peak_gb_s=peak, variables=barriers, spread_s=lost
            )
            for size, peak, barriers, lost in cases
        },
        hints=("The shared file has eight variables, with a barrier after each.",),
        explanation="Every barrier costs the same, so eight variables written one by one lose eight times as much.",
    )


EXERCISES = {
    "io-node": _io_node,
    "iobuf": _iobuf,
    "slow-ost": _slow_ost,
    "striping": _striping,
    "trillion": _trillion,
}
