"""How full the fullest OST gets when objects fall on OSTs at random: without drawing.

Two ways. For few files of one stripe the chance that no OST gets more than so
many is exact: independent Poisson loads, given their sum, are the loads of a
random deal. Otherwise loads are taken for independent binomial ones, whose
largest lies a little too near to the mean: as all of them add up to the number
of objects, they lie apart by n / (n - 1) more. That is right to 0.5 % for files of
one stripe, and to 2.5 % for others.
"""

import math
import operator
from functools import cache

# A chance has that many bits; the product of two fits into a lane, with room for what they add up to.
_BITS, _LANE = 60, 128
# Files with one stripe up to which the exact way is fast enough for a page.
_EXACT_FILES = 100


def chance_of_at_most(most: int, objects: int, osts: int) -> float:
    """Chance that no OST gets more than that many of the objects, each on an OST at random. [fraction]

    Parameters
    ----------
    most, objects, osts : int

    Raises
    ------
    ValueError
        If a number is negative, or there is no OST.

    Examples
    --------
    Two objects on two OSTs are apart half the time:

    >>> round(chance_of_at_most(1, 2, 2), 9)
    0.5
    """
    if min(most, objects) < 0 or osts < 1:
        raise ValueError(f"most={most} and objects={objects} must not be negative, and osts={osts} at least 1")
    if most * osts < objects:
        return 0.0
    if most >= objects:
        return 1.0
    mean = objects / osts
    # Of independent Poisson loads; their mean cancels below, and this one makes the given sum likeliest, so that no
    # number is tiny.
    single = [math.exp(-mean + count * math.log(mean) - math.lgamma(count + 1)) for count in range(most + 1)]
    half, other = _sums_of_halves(single, osts, objects)
    # One half holds that many of the objects and the other the rest: of their product only this one coefficient is
    # needed.
    together = math.fsum(map(operator.mul, half, reversed(other)))
    given = math.exp(-objects + objects * math.log(objects) - math.lgamma(objects + 1))
    return min(1.0, together / given)


def _sums_of_halves(single: list[float], osts: int, most: int) -> tuple[list[float], list[float]]:
    """Return the chances that the loads of one half of the OSTs, and of the other, add up to 0, 1, ... `most`.

    Chances are integers here, in units of 2 ** -_BITS, each in its own lane of
    one big integer: its multiplication is that of two polynomials. No term is
    negative, so nothing cancels; what is lost are the bits that are cut off.
    """
    lanes = sum(round(chance * 2**_BITS) << _LANE * count for count, chance in enumerate(single))
    # The lowest bits of a lane of 1, and of every lane up to `most`: what is beyond cannot come back.
    kept = (2 ** (_LANE - _BITS) - 1) * ((2 ** (_LANE * (most + 1)) - 1) // (2**_LANE - 1))
    # The power by squaring, from the highest bit of the exponent down.
    half = 1 << _BITS
    for bit in f"{osts // 2:b}":
        half = half * half >> _BITS & kept
        if bit == "1":
            half = half * lanes >> _BITS & kept
    other = half * lanes >> _BITS & kept if osts % 2 else half
    return _chances(half, most), _chances(other, most)


def _chances(lanes: int, most: int) -> list[float]:
    """Return the chances in the lanes of an integer."""
    width = _LANE // 8
    packed = lanes.to_bytes(width * (most + 1), "little")
    return [int.from_bytes(packed[at : at + width], "little") / 2**_BITS for at in range(0, len(packed), width)]


def expected_fullest(files: int, stripe_count: int, osts: int) -> float:
    """Mean number of objects on the fullest OST, files dealt at random.

    Every file has `stripe_count` objects on different OSTs. Exact for up to
    100 files with one stripe, near otherwise (see the module).

    Parameters
    ----------
    files, stripe_count, osts : int

    Raises
    ------
    ValueError
        If a number is out of range.

    Examples
    --------
    20,000 files with one stripe on 156 OSTs: 128 on average, 159 on the fullest.

    >>> round(expected_fullest(20_000, 1, 156))
    159
    >>> round(expected_fullest(2, 1, 2), 9)
    1.5
    """
    if files < 1 or not 1 <= stripe_count <= osts:
        raise ValueError(
            f"files={files} must be at least 1, and stripe_count={stripe_count} from 1 to {osts}, the OSTs"
        )
    if stripe_count == osts:
        return float(files)
    if stripe_count == 1 and files <= _EXACT_FILES:
        return _exact_fullest(files, osts)
    return _binomial_fullest(files, stripe_count, osts)


def _binomial_fullest(files: int, stripe_count: int, osts: int) -> float:
    """Return the mean of the fullest OST's objects, nearly: loads are independent but for their sum."""
    part = stripe_count / osts
    mean, deviation = files * part, math.sqrt(files * part * (1 - part))
    # Farther than ten deviations from the mean no load is to be expected.
    least, most = max(0, int(mean - 10 * deviation)), min(files, int(mean + 10 * deviation) + 10)
    # Where loads spread widely, the chances of several of them are taken for that of the middle one.
    step = max(1, int(deviation / 50))
    at_most, fullest = 0.0, float(least)
    for load in range(least, most, step):
        middle = load + (step - 1) / 2
        ways = math.lgamma(files + 1) - math.lgamma(middle + 1) - math.lgamma(files - middle + 1)
        chance = math.exp(ways + middle * math.log(part) + (files - middle) * math.log1p(-part))
        # The mean of a count is the sum of the chances that it is above 0, 1, 2, ...; of `step` loads that stand
        # together a load has on average (step + 1) / 2 at or below it.
        fullest += step * (1 - min(1.0, at_most + (step + 1) / 2 * chance) ** osts)
        at_most += step * chance
    # That the sum is fixed drives loads apart: one above the mean leaves less for the others.
    fullest = mean + (fullest - mean) * math.sqrt(osts / (osts - 1))
    return min(float(files), max(fullest, math.ceil(mean)))


@cache
def _exact_fullest(files: int, osts: int) -> float:
    """Return the exact mean of the fullest OST's objects."""
    total, most = 0.0, 0
    # The mean of a count is the sum of the chances that it is above 0, 1, 2, ...
    while (missing := 1 - chance_of_at_most(most, files, osts)) > 1e-9:
        total += missing
        most += 1
    return total
