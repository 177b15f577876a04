"""The story of the page on buffered I/O: calls of a program against the buffers that gather them."""

from collections.abc import Sequence

from hopperbook.documented import printed
from hopperbook.site.stories.drawing import Axis, Drawing
from hopperbook.site.stories.story import Step, Story
from hopperbook.studies.storage.iobuf import ior_cases
from hopperlib.storage.iobuf import Buffers, documented_costs
from hopperlib.units import BYTES_PER_MIB

_CALL = int(printed("iobuf.transfer-size-small"))
_BUFFERS = Buffers(int(printed("iobuf.ior-buffer-size")) * BYTES_PER_MIB, int(printed("iobuf.ior-buffers")))
_TASKS = 24


def calls_in_a_buffer() -> int:
    """Return the number of calls of IOR's smallest size that fit in one of its buffers, the last one in part.

    Examples
    --------
    >>> calls_in_a_buffer()
    210
    """
    return -(-_BUFFERS.size_bytes // _CALL)


def milliseconds(size_bytes: int, *, reading: bool, buffered: bool) -> dict[str, float]:
    """Return the cost of a million bytes in calls of a size: moving, calls and waiting. [ms]

    Examples
    --------
    >>> parts = milliseconds(10_000, reading=False, buffered=True)
    >>> {name: round(each, 2) for name, each in parts.items()}
    {'moving': 44.57, 'calls': 0.01, 'waiting': 0.0}
    """
    costs = documented_costs()
    moving = 1 / costs.task_rate_gb_s
    if buffered:
        total = costs.buffered_seconds_per_gb(size_bytes, _BUFFERS, reading=reading)
        waiting = 0.0
    else:
        total = costs.seconds_per_gb(size_bytes, reading=reading)
        waiting = costs.wait_fraction * moving if reading else 0.0
    return {"moving": moving, "calls": total - moving - waiting, "waiting": waiting}


def _calls(buffered: bool) -> str:
    """Draw the calls of a program at the top, and those that the file system gets below."""
    drawing, count = Drawing(), calls_in_a_buffer()
    drawing.words(14, 22, f"the program: {count} calls of {_CALL:,} bytes", "strong")
    for call in range(count):
        drawing.box(14 + call % 42 * 9.8, 34 + call // 42 * 18, 8, 14, "job")
    if buffered:
        drawing.words(14, 160, f"one buffer of {_BUFFERS.size_bytes // BYTES_PER_MIB} MiB in memory", "strong")
        drawing.box(14, 172, 410, 40, "range")
        drawing.words(219, 197, "gathered", anchor="middle")
    drawing.words(14, 258, f"the file system: {1 if buffered else count} call{'' if buffered else 's'}", "strong")
    for call in range(1 if buffered else count):
        wide = 410 if buffered else 8
        drawing.box(14 + call % 42 * 9.8, 268 + call // 42 * 16, wide, 40 if buffered else 12, "others")
    description = f"{count} small calls of the program are {'gathered in one buffer and reach the file system as 1 call' if buffered else f'{count} calls to the file system'}."
    return drawing.svg("Calls against buffers" if buffered else "Calls without buffers", description)


def _bars(rows: Sequence[tuple[str, dict[str, float]]], title: str) -> str:
    """Draw rows of the three parts of a million bytes, one after the other."""
    most = max(sum(parts.values()) for _, parts in rows)
    drawing, across, descriptions = Drawing(), Axis(0, 10 * -(-most // 10), 14, 410), []
    for number, (name, parts) in enumerate(rows):
        y, left = 60 + number * 96, 0.0
        drawing.words(14, y - 10, f"{name}: {sum(parts.values()):.1f} ms")
        for kind, part in zip(("job", "others", "noise"), parts.values(), strict=True):
            drawing.box(across.at(left), y, across.at(left + part) - across.at(left), 34, kind)
            left += part
        descriptions.append(f"{name} " + ", ".join(f"{part:.1f} ms {kind}" for kind, part in parts.items()))
    for number, (kind, word) in enumerate((("job", "moving the data"), ("others", "calls"), ("noise", "waiting"))):
        drawing.box(14 + number * 140, 240, 12, 12, kind)
        drawing.words(32 + number * 140, 251, word)
    across.along_the_bottom(drawing, 288, range(0, int(across.high) + 1, 20), "time for a million bytes [ms]")
    return drawing.svg(title, "; ".join(descriptions) + ".")


def _gains() -> str:
    """Draw the gains of the three sizes, and the ranges that are printed."""
    drawing, up = Drawing(), Axis(0, 45, 270, 50)
    up.up_the_side(drawing, 44, [(tick, f"{tick} %") for tick in (0, 10, 20, 30, 40)], "gain with buffers")
    descriptions = []
    for number, case in enumerate(ior_cases()):
        left = 64 + number * 124
        for place, (gain, kind) in enumerate(((case.write_gain, "job"), (case.read_gain, "others"))):
            drawing.box(left + place * 46, up.at(100 * gain), 40, 270 - up.at(100 * gain), kind)
            drawing.words(left + 20 + place * 46, up.at(100 * gain) - 6, f"{100 * gain:.1f}", anchor="middle")
        drawing.words(left + 43, 288, f"{case.transfer_bytes:,}", "muted", anchor="middle")
        descriptions.append(
            f"{case.transfer_bytes:,} bytes: writes {100 * case.write_gain:.1f} percent, reads {100 * case.read_gain:.1f}"
        )
    drawing.words(240, 308, "size of a call [bytes]", "muted", anchor="middle")
    for number, (kind, name) in enumerate((("job", "write"), ("others", "read"))):
        low, high = (printed(f"iobuf.{name}-gain-{end}") for end in ("low", "high"))
        drawing.box(14 + number * 210, 324, 12, 12, kind)
        drawing.words(32 + number * 210, 335, f"{name}s; printed {low:.0f} to {high:.0f} %")
    return drawing.svg("Gains by size of the call", f"{'; '.join(descriptions)}.")


def _memory() -> str:
    """Draw the buffers of the tasks of a node."""
    drawing, default = Drawing(), Buffers()
    drawing.words(14, 24, f"{_TASKS} tasks of a node, each with {default.number} buffers for one file", "muted")
    for task in range(_TASKS):
        left, top = 14 + task % 6 * 70, 42 + task // 6 * 62
        drawing.box(left, top, 62, 52, "empty")
        for buffer in range(default.number):
            drawing.box(left + 6 + buffer * 13, top + 12, 10, 28, "job")
    total = default.memory_bytes(tasks=_TASKS) // BYTES_PER_MIB
    drawing.words(14, 320, f"{total} MiB of the node's memory", "strong")
    return drawing.svg(
        "Memory of the buffers", f"{_TASKS} boxes with {default.number} buffers each: {total} MiB in all."
    )


def story() -> Story:
    """Return the story.

    Examples
    --------
    >>> len(story().steps)
    6
    """
    count, small, large = calls_in_a_buffer(), _CALL, BYTES_PER_MIB
    costs, cases = documented_costs(), ior_cases()
    plain, gathered = (milliseconds(small, reading=False, buffered=buffered) for buffered in (False, True))
    waits, ahead = (milliseconds(small, reading=True, buffered=buffered) for buffered in (False, True))
    steps = (
        Step(
            "A call for every piece",
            f"A program writes in calls of {small:,} bytes. For 2 MiB it makes {count} of them. Each costs about {1e6 * costs.call_cost_s:.0f} µs, and almost all "
            "of them end inside a page of memory, which costs as much again (assumed).",
            _calls(buffered=False),
            ("calibrated", "assumed"),
        ),
        Step(
            "A buffer in between",
            f"The library puts the same {count} calls into a buffer in memory, and the file system sees one call. The program was only linked again; its source is the same.",
            _calls(buffered=True),
            ("documented",),
        ),
        Step(
            "What a write saves",
            f"The data must be moved either way: {plain['moving']:.1f} ms for a million bytes, the task's share of the file system. Of the {plain['calls']:.1f} ms for calls, {gathered['calls']:.2f} ms are left. "
            f"That is a gain of {100 * cases[0].write_gain:.0f} %, to which the cost of a call was fitted.",
            _bars((("without buffers", plain), ("with buffers", gathered)), "A write with and without buffers"),
            ("calibrated",),
        ),
        Step(
            "What a read saves",
            f"A program that reads waits for each call: {waits['waiting']:.1f} ms more. With a second buffer the library fetches the next data meanwhile, and the waiting is gone: {sum(waits.values()):.1f} ms become {sum(ahead.values()):.1f}. "
            "That the library reads ahead is assumed; how long a read waits is fitted to the least printed gain of a read.",
            _bars((("without buffers", waits), ("with buffers", ahead)), "A read with and without buffers"),
            ("calibrated", "assumed"),
        ),
        Step(
            "Large calls gain little",
            f"Calls of {large:,} bytes are half as large as the buffer: a write gains {100 * cases[2].write_gain:.2f} %. The paper prints 1 % as the least gain of a write, so the model misses one of the four printed gains. Two of the others it was fitted to.",
            _gains(),
            ("calibrated", "predicted", "documented"),
        ),
        Step(
            "What buffers cost",
            "Buffers take memory from the program: by default four of 1 MiB for each open file of each task.",
            _memory(),
            ("documented",),
        ),
    )
    return Story("Calls against buffers", steps)
