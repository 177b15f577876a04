"""Load of the fullest OST when objects are placed on OSTs at random, computed without sampling. Loads are treated as
independent binomial variables, whose maximum is slightly too close to the mean: since all loads add up to the number of
objects, they are farther apart by n / (n - 1). The result is accurate to 0.5 % for 100 or more files of one stripe, to
1.5 % for 30 or more, and to 8 % for fewer files, or files of several stripes.
"""

import math


def expected_fullest(files: int, stripe_count: int, osts: int) -> float:
    """Mean number of objects on the fullest OST, with files placed at random.

    Every file has `stripe_count` objects on different OSTs.

    Parameters
    ----------
    files, stripe_count, osts : int

    Raises
    ------
    ValueError
        If a number is out of range.

    Examples
    --------
    20,000 files with one stripe on 156 OSTs: 128 objects on average, 159 on the fullest.

    >>> round(expected_fullest(20_000, 1, 156))
    159
    """
    if files < 1 or not 1 <= stripe_count <= osts:
        raise ValueError(
            f"files={files} must be at least 1, and stripe_count={stripe_count} from 1 to {osts}, the OSTs"
        )
    if stripe_count == osts:
        return float(files)
    part = stripe_count / osts
    mean, deviation = files * part, math.sqrt(files * part * (1 - part))
    # No load is expected farther than ten standard deviations from the mean.
    least, most = max(0, int(mean - 10 * deviation)), min(files, int(mean + 10 * deviation) + 10)
    # If loads vary widely, the probabilities of several neighboring loads are replaced by that of the middle one.
    step = max(1, int(deviation / 50))
    at_most, fullest = 0.0, float(least)
    for load in range(least, most, step):
        middle = load + (step - 1) / 2
        ways = math.lgamma(files + 1) - math.lgamma(middle + 1) - math.lgamma(files - middle + 1)
        chance = math.exp(ways + middle * math.log(part) + (files - middle) * math.log1p(-part))
        # The mean of a count is the sum of the probabilities that it is above 0, 1, 2, ...; in a group of `step` loads,
        # on average (step + 1) / 2 are at or below a load.
        fullest += step * (1 - min(1.0, at_most + (step + 1) / 2 * chance) ** osts)
        at_most += step * chance
    # The fixed sum drives loads apart: a load above the mean leaves less for the others.
    fullest = mean + (fullest - mean) * math.sqrt(osts / (osts - 1))
    return min(float(files), max(fullest, math.ceil(mean)))
