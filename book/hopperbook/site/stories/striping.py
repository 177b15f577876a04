"""The story of the page on striping: a file's pieces on their way to OSTs, and the queues that grow there."""

from collections.abc import Sequence

from hopperbook.documented import printed
from hopperbook.site.stories.drawing import Axis, Drawing
from hopperbook.site.stories.story import Step, Story
from hopperbook.studies.storage.striping import LARGE, SMALL, striping_gain
from hopperbook.studies.study import load_scratch
from hopperlib.storage.lustre.dumps import barriered_dump
from hopperlib.storage.lustre.striping import Layout
from hopperlib.units import BYTES_PER_MIB

# So few that each piece can be followed by eye.
_PIECES, _SHOWN = 24, 8
_SIZE_GB = 96
_ACCESS_S = 0.001


def queues(stripe_count: int, pieces: int = _PIECES) -> list[list[int]]:
    """Return the pieces of a file that each of the first OSTs gets, in order.

    Examples
    --------
    >>> queues(2, 5)[:3]
    [[0, 2, 4], [1, 3], []]
    """
    layout = Layout(stripe_count=stripe_count, stripe_size_bytes=BYTES_PER_MIB, osts=_SHOWN)
    dealt: list[list[int]] = [[] for _ in range(_SHOWN)]
    for piece in range(pieces):
        dealt[layout.ost_of(piece * BYTES_PER_MIB)].append(piece)
    return dealt


def dump_s(stripe_count: int) -> float:
    """Return the least time in which the OSTs of a file take all of it. [s]

    Examples
    --------
    >>> dump_s(1) / dump_s(8)
    8.0
    """
    return barriered_dump(_SIZE_GB, [load_scratch().ost_peak_gb_s] * stripe_count, variables=1).time_s


def _all_osts() -> str:
    count, used = load_scratch().osts, int(printed("striping.default-count"))
    drawing = Drawing()
    drawing.words(14, 24, f"{count} OSTs of one file system", "muted")
    for number in range(count):
        drawing.box(14 + number % 26 * 16, 40 + number // 26 * 30, 13, 24, "job" if number < used else "empty")
    drawing.words(14, 262, f"OSTs of a file by default: {used}", "strong")
    return drawing.svg(
        "The OSTs of a file", f"{count} boxes, of which {used} are filled: the OSTs of a file by default."
    )


def _dealt(stripe_count: int, pieces: int) -> str:
    """Draw the file above, and the pieces that were sent in the queues of their OSTs."""
    drawing, columns = Drawing(), queues(stripe_count, pieces)
    drawing.words(14, 20, "the file, piece by piece", "muted")
    for piece in range(_PIECES):
        drawing.box(14 + piece * 17.4, 30, 14, 20, "empty" if piece < pieces else "job")
        if piece % 4 == 0:
            drawing.words(21 + piece * 17.4, 66, str(piece), "muted", anchor="middle")
    for ost, queue in enumerate(columns):
        left = 14 + ost * 52
        drawing.box(left, 86, 44, 222, "empty")
        drawing.words(left + 22, 326, f"OST {ost}", "strong" if ost < stripe_count else "muted", anchor="middle")
        for place, piece in enumerate(queue):
            drawing.box(left + 4, 290 - place * 18, 36, 15, "others")
            drawing.words(left + 22, 302 - place * 18, str(piece), "on-color", anchor="middle")
    description = ", ".join(f"{len(queue)} on OST {ost}" for ost, queue in enumerate(columns[:stripe_count]))
    return drawing.svg(
        f"Pieces on {stripe_count} OSTs",
        f"{pieces} of {_PIECES} pieces of a file are in the queues of {stripe_count} of {_SHOWN} OSTs: {description}.",
    )


def _times(counts: Sequence[int]) -> str:
    drawing, across = Drawing(), Axis(0, dump_s(1), 90, 400)
    drawing.words(14, 24, f"{_SIZE_GB} GB at the rate of the OSTs, and no other limit", "muted")
    for number, count in enumerate(counts):
        y, seconds = 44 + number * 46, dump_s(count)
        drawing.words(80, y + 20, f"{count} OST{'s' * (count > 1)}", anchor="end")
        drawing.box(90, y, across.at(seconds) - 90, 30, "job")
        inside = seconds > 0.8 * dump_s(1)
        drawing.words(
            across.at(seconds) + (-8 if inside else 8),
            y + 20,
            f"{seconds:,.0f} s",
            "on-color" if inside else "strong",
            anchor="end" if inside else "",
        )
    description = ", ".join(f"{dump_s(count):,.0f} s on {count}" for count in counts)
    return drawing.svg(
        "Time of a dump by its OSTs", f"Bars of the time of {_SIZE_GB} GB by the number of OSTs: {description}."
    )


def _gains() -> str:
    drawing, low = Drawing(), Axis(0, 80, 90, 410)
    for number, (name, problem) in enumerate((("small blocks", SMALL), ("large blocks", LARGE))):
        ends = striping_gain(problem, access_s=_ACCESS_S)
        y = 70 + number * 96
        drawing.words(14, y - 10, f"{name}, {problem.block_bytes[1] / 1000:.0f} kB at most")
        drawing.box(90, y, low.at(ends[1]) - 90, 30, "job")
        drawing.words(low.at(ends[1]) + 8, y + 20, f"{ends[1]:.0f} times", "strong")
    low.along_the_bottom(drawing, 288, (0, 20, 40, 60, 80), "times as fast on all OSTs as on two, at most")
    small, large = (striping_gain(problem, access_s=_ACCESS_S)[1] for problem in (SMALL, LARGE))
    return drawing.svg(
        "Gain by the size of the blocks",
        f"Two bars: small blocks become {small:.0f} times as fast, large blocks {large:.0f} times.",
    )


def story() -> Story:
    """Return the story.

    Examples
    --------
    >>> len(story().steps)
    6
    """
    scratch, used = load_scratch(), int(printed("striping.default-count"))
    deep, shallow = (max(map(len, queues(count))) for count in (used, _SHOWN))
    steps = (
        Step(
            "Two of many",
            f"A file system of Hopper has {scratch.osts} OSTs. A file uses {used} of them unless its user requests more. MFDn's files used two.",
            _all_osts(),
            ("documented",),
        ),
        Step(
            "The first pieces",
            f"Lustre deals a file out in pieces, the stripes: piece 0 to OST 0, piece 1 to OST 1, and so on in turn. With {used} stripes, piece 2 is back on OST 0.",
            _dealt(used, 6),
            ("documented",),
        ),
        Step(
            "The queue grows",
            f"The program sends faster than a disk writes. On {used} OSTs the {_PIECES} pieces wait in queues of {deep}, while {_SHOWN - used} OSTs have nothing to do.",
            _dealt(used, _PIECES),
            ("predicted",),
        ),
        Step(
            "Dealt to eight",
            f"Set the stripe count to {_SHOWN}. The same pieces wait in queues of {shallow}, and all {_SHOWN} OSTs write at once.",
            _dealt(_SHOWN, _PIECES),
            ("predicted",),
        ),
        Step(
            "What it saves",
            f"Twice the OSTs take half the time, as long as nothing else is the limit: {_SIZE_GB} GB take {dump_s(1):,.0f} s on one OST and {dump_s(_SHOWN):,.0f} s on {_SHOWN}. "
            "The node's client, locks of tasks that write to one OST, and the slowest OST are limits too; the explorer has them.",
            _times((1, used, 4, _SHOWN)),
            ("predicted",),
        ),
        Step(
            "Why large blocks gain more",
            f"An access costs time besides moving its data ({1000 * _ACCESS_S:g} ms is assumed), and stripes do not make that cheaper. In large blocks moving the data is the larger part. "
            "NERSC's slide says that the larger problem gained more; by how much is lost.",
            _gains(),
            ("predicted", "assumed"),
        ),
    )
    return Story("A file on its way to the OSTs", steps)
