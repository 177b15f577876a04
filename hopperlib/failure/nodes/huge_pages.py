"""Huge pages on the nodes of a job: how memory becomes fragmented after a reboot, and the chance that all nodes have
enough.

Linux allocates memory by halving blocks (the buddy allocator), and a block can be allocated again only when all of it
is free. A huge page of 2 MB is 512 consecutive small ones: a single unmovable page in the middle spoils it. If k
unmovable pages are at random places among H huge pages, H exp(-k / H) remain whole. A few unmovable pages suffice; the
node then has memory, but too few whole huge pages.

Counts of unmovable pages grow with uptime and differ from node to node; here they are lognormal. Not modeled: kernels
since 2.6.24 group unmovable pages, and can move others; count such a group as one page.
"""

import math
from collections.abc import Iterable
from statistics import NormalDist

from hopperlib.errors import refusal
from hopperlib.failure.nodes.risk import chance_of_enough


def buddy_blocks(pages: int, taken: Iterable[int], *, orders: int = 11) -> tuple[int, ...]:
    """Return the free blocks by order, as ``/proc/buddyinfo`` counts them, when some small pages are in use.

    Parameters
    ----------
    pages : int
        Small pages of the zone, a multiple of the largest block.
    taken : iterable of int
        Numbers of the pages that are not free.
    orders : int
        Orders of the allocator; the largest block has 2**(orders - 1) pages.

    Raises
    ------
    InputError
        If the zone is not a multiple of the largest block.

    Examples
    --------
    One page of sixteen is in use, so its buddy cannot merge, and so on upward.

    >>> buddy_blocks(16, [5], orders=4)
    (1, 1, 1, 1)
    """
    if pages < 1 or pages % (1 << orders - 1):
        raise refusal("pages", pages, f"must be a multiple of {1 << orders - 1}, the pages of the largest block")
    blocks = [0] * orders
    spoiled = set(taken)
    for order in range(orders):
        # A block is allocated whole if it is free and its buddy is not; at the largest order there is no buddy to join.
        if order == orders - 1:
            blocks[order] = pages // (1 << order) - len(spoiled)
        else:
            blocks[order] = sum(1 for block in spoiled if block ^ 1 not in spoiled)
        spoiled = {block >> 1 for block in spoiled}
    return tuple(blocks)


def unmovable_pages_allowed(huge_pages: int, need: int) -> float:
    """Number of unmovable small pages with which the required huge pages are still whole on average. [small pages]

    Parameters
    ----------
    huge_pages : int
        Huge pages of a node without unmovable pages.
    need : int
        Huge pages required on each node.

    Raises
    ------
    InputError
        If `need` is not from 1 to `huge_pages`.

    Examples
    --------
    A node of 31 GB that must provide 24 GB: 16 MB in the wrong places are too much.

    >>> round(unmovable_pages_allowed(15872, 12288) * 4 / 1024, 1)
    15.9
    """
    if not 1 <= need <= huge_pages:
        raise refusal("need", need, f"must be from 1 to {huge_pages}, the huge pages of a node without unmovable pages")
    return huge_pages * math.log(huge_pages / need)


def _spread(spread: float) -> float:
    """Standard deviation of the logarithm, from the coefficient of variation of the counts. [ratio]"""
    if not spread > 0:
        raise refusal("spread", spread, "must be above 0: no two nodes have run the same jobs")
    return math.sqrt(math.log1p(spread * spread))


def chance_of_huge_pages(huge_pages: int, need: int, strays: float, spread: float, nodes: int = 1) -> float:
    """Chance that every node of a job still has the required huge pages. [fraction]

    Parameters
    ----------
    huge_pages, need : int
        Huge pages of a node without unmovable pages, and the number required.
    strays : float
        Mean number of unmovable pages per node.
    spread : float
        Their standard deviation from node to node, over the mean.
    nodes : int
        Nodes of the job.

    Raises
    ------
    InputError
        If a quantity is out of its range.

    Examples
    --------
    Half of the number that the node tolerates, with a spread of one third: 99 of 100 nodes succeed, and a large job
    hardly ever runs.

    >>> bears = unmovable_pages_allowed(15872, 12288)
    >>> [round(chance_of_huge_pages(15872, 12288, bears / 2, 0.33, n), 3) for n in (1, 342)]
    [0.99, 0.029]
    """
    allowed, sigma = unmovable_pages_allowed(huge_pages, need), _spread(spread)
    if not strays > 0:
        return 1.0
    mean = math.log(strays) - sigma * sigma / 2
    chance_of_a_node = NormalDist(mean, sigma).cdf(math.log(allowed)) if allowed > 0 else 0.0
    return chance_of_enough(chance_of_a_node, nodes)


def explaining_unmovable_pages(huge_pages: int, need: int, spread: float, nodes: int, success: float) -> float:
    """Mean number of unmovable pages per node that explains a success rate of jobs on this many nodes. [small pages]

    Parameters
    ----------
    huge_pages : int
        Huge pages of a node without unmovable pages.
    need : int
        Huge pages required on each node.
    spread : float
        Standard deviation of the logarithm.
    nodes : int
        Number of nodes.
    success : float
        Share of successful jobs, from 0 to 1.

    Raises
    ------
    InputError
        If a quantity is out of its range.

    Examples
    --------
    >>> strays = explaining_unmovable_pages(15872, 12288, 0.33, 342, 0.35)
    >>> round(chance_of_huge_pages(15872, 12288, strays, 0.33, 342), 6)
    0.35
    """
    if not 0 < success < 1:
        raise refusal("success", success, "must be above 0 and below 1")
    sigma = _spread(spread)
    quantile = NormalDist().inv_cdf(success ** (1 / nodes))
    return unmovable_pages_allowed(huge_pages, need) * math.exp(sigma * sigma / 2 - sigma * quantile)
