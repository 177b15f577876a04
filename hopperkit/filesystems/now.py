"""Whether a measured time agrees with the file system's estimate, and the gain from a change of layout or writers.

A time within the estimated range is not evidence against the file system or the program. The minimum gain of a change
assumes the same load: the measured time shrinks like the estimate, by the smallest of the factors at the ends and the
middle of the ranges. The maximum gain is that at the fast end. A time above the range has another cause, so no minimum
is given.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from hopperkit.filesystems.measured import Range
from hopperlib.errors import above


class Change(NamedTuple):
    """A possible change, the command for it, and the resulting time. [s]"""

    what: str
    line: str
    time_s: Range


class Gain(NamedTuple):
    """Minimum and maximum gain of a change. [s]"""

    change: Change
    low_s: float
    high_s: float


class Standing(NamedTuple):
    """Comparison of a measured time with the estimate.

    Parameters
    ----------
    verdict : {"faster", "expected", "slower"}
        Compared with the range for the current layout.
    expected_s : Range
        [s]
    gains : tuple of Gain
        Largest first.
    """

    verdict: Literal["faster", "expected", "slower"]
    expected_s: Range
    gains: tuple[Gain, ...]


def stand(seconds: float, expected_s: Range, changes: Sequence[Change]) -> Standing:
    """Compare a measured time with the estimate, and return the gain of each change.

    Parameters
    ----------
    seconds : float
        Measured. [s]
    expected_s : Range
        Estimate of the current writes. [s]
    changes : sequence of Change

    Raises
    ------
    InputError
        If the time is not positive.

    Examples
    --------
    Ten minutes where 5 to 20 are expected; twice the stripes halve these:

    >>> change = Change("more stripes", "lfs setstripe -c 8 DIRECTORY", Range(150.0, 300.0, 600.0))
    >>> standing = stand(600.0, Range(300.0, 600.0, 1200.0), [change])
    >>> standing.verdict, standing.gains[0].low_s, standing.gains[0].high_s
    ('expected', 300.0, 450.0)
    """
    above(0, now_s=seconds)
    verdict: Literal["faster", "expected", "slower"] = "expected"
    if not expected_s.low <= seconds <= expected_s.high:
        verdict = "faster" if seconds < expected_s.low else "slower"
    gains = [_gain(seconds, expected_s, change, promised=verdict == "expected") for change in changes]
    # Negligible gains are left out.
    gains = [gain for gain in gains if gain.high_s > 0]
    return Standing(verdict, expected_s, tuple(sorted(gains, key=lambda gain: (-gain.low_s, -gain.high_s))))


def _gain(seconds: float, expected_s: Range, change: Change, *, promised: bool) -> Gain:
    """Return the gain of one change."""
    factor = max(new / old for new, old in zip(change.time_s, expected_s, strict=True))
    low = max(0.0, seconds * (1 - factor)) if promised else 0.0
    return Gain(change, low, max(low, seconds - change.time_s.low))
