"""Find nodes that fail more often than chance allows, among many jobs.

If no node is worse than the others, a failed job blames one of its nodes at random. The number of jobs that blame one
node is then a sum of independent draws with different small probabilities; the probability of at least the observed
number is computed exactly. Because every node is tested, a node is reported only if the number of nodes times that
probability is below `LEVEL`: of a thousand folders without a bad node, at most three report one [1]_.

The test only rules out chance. A node that always gets the first task of one user's jobs is blamed more often too:
the result only shows where to look.

References
----------
.. [1] C. E. Bonferroni's inequality: the probability of any of several events is at most the sum of theirs.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

LEVEL = 0.003


class Job(NamedTuple):
    """One job of many.

    Parameters
    ----------
    blamed : str or None
        The node that failed first, if the job failed and named one.
    nodes : frozenset of str
        The nodes it ran on; empty if unknown.
    """

    blamed: str | None
    nodes: frozenset[str] = frozenset()


class Suspect(NamedTuple):
    """A node that fails more often than chance allows.

    Parameters
    ----------
    node : str
    failures : int
        Jobs that blame it.
    expected : float
        Jobs that would blame it by chance.
    chance : float
        Probability of at least this many, times the number of nodes tested. [fraction]
    """

    node: str
    failures: int
    expected: float
    chance: float


def suspects(jobs: Sequence[Job], *, level: float = LEVEL) -> list[Suspect]:
    """Return the nodes that fail more often than chance allows, least probable first.

    Parameters
    ----------
    jobs : sequence of Job
        Jobs, failed or not.
    level : float
        Probability of reporting a node when none is bad. [fraction]

    Examples
    --------
    Twelve of 112 failures blame one of 101 nodes:

    >>> jobs = [Job(f"n{n}") for n in range(100)] + [Job("bad")] * 12
    >>> [(suspect.node, suspect.failures, suspect.chance < 1e-6) for suspect in suspects(jobs)]
    [('bad', 12, True)]
    >>> suspects([Job(f"n{n % 50}") for n in range(500)])
    []
    """
    blamed = Counter(job.blamed for job in jobs if job.blamed)
    names = set(blamed).union(*(job.nodes for job in jobs))
    if len(names) < 2:
        return []
    rate = sum(blamed.values()) / len(jobs)
    known = [job.nodes for job in jobs if _lists(job)]
    # A job that does not list its nodes may have used any of them.
    unknown = (len(jobs) - len(known), rate / len(names))
    found = []
    for node, failures in blamed.items():
        sizes = Counter(len(nodes) for nodes in known if node in nodes)
        draws = [unknown, *((number, rate / size) for size, number in sizes.items())]
        expected = sum(number * probability for number, probability in draws)
        # Near the mean the exact sum is not needed.
        if failures > max(1, expected + math.sqrt(expected)):
            chance = len(names) * at_least(failures, draws)
            if chance < level:
                found.append(Suspect(node, failures, expected, chance))
    return sorted(found, key=lambda suspect: (suspect.chance, -suspect.failures, suspect.node))


def _lists(job: Job) -> bool:
    """Whether a job lists its nodes: a list without the failed node is not the job's node list."""
    return bool(job.nodes) and (job.blamed is None or job.blamed in job.nodes)


def at_least(successes: int, draws: Iterable[tuple[int, float]]) -> float:
    """Probability of at least `successes` successes among independent draws. [fraction]

    Parameters
    ----------
    successes : int
    draws : iterable of (int, float)
        Number of draws, and the probability of a success in each of them.

    Examples
    --------
    Two dice show two sixes in 1 of 36 throws, and at least one six in 11 of 36:

    >>> round(36 * at_least(2, [(2, 1 / 6)]), 9), round(36 * at_least(1, [(1, 1 / 6), (1, 1 / 6)]), 9)
    (1.0, 11.0)
    """
    # By number of successes, from zero to one less than required, and the probability of having reached the
    # requirement. Summed upward, because the small difference between 1 and its complement would be lost in rounding.
    below, reached = [1.0] + [0.0] * (successes - 1), 0.0
    if successes < 1:
        return 1.0
    for number, probability in draws:
        for _ in range(number):
            reached += below[-1] * probability
            for place in range(successes - 1, 0, -1):
                below[place] += (below[place - 1] - below[place]) * probability
            below[0] *= 1 - probability
    return reached
