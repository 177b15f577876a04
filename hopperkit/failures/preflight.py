"""Free memory of nodes before a run, from ``/proc/buddyinfo``: amount and sizes of its pieces.

Linux keeps free memory in blocks of 2**order pages. The file counts them, one line per zone. It shows what ``free``
hides: free memory in fragments too small for a huge page. The hero run on Hopper checked it on every node, and excluded
nodes with less than 29 GB [1]_.

References
----------
.. [1] S. Byna et al., CUG 2013, sec. III-D.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from statistics import median

from hopperlib.units import BYTES_PER_MEMORY_GB

_LINE = re.compile(
    r"(?:(?P<prefix>\S+?)\s*[:|]\s+|(?P<rank>\d+):\s*)?Node\s+(?P<numa>\d+),\s+zone\s+(?P<zone>\S+)\s+(?P<counts>[\d\s]+)$"
)
_SERVER = re.compile(r"(.*?)(\d+)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeMemory:
    """Free memory of one node.

    Parameters
    ----------
    name : str
        The node, from the file's prefix; "this node" without one.
    blocks : tuple of int
        Free blocks by order, from 0, over all zones.
    page_bytes : int
        Size of a base page. [bytes]
    """

    name: str
    blocks: tuple[int, ...]
    page_bytes: int = 4096

    @property
    def free_bytes(self) -> int:
        """Free memory. [bytes]"""
        return sum(count << order for order, count in enumerate(self.blocks)) * self.page_bytes

    @property
    def free_gb(self) -> float:
        """Free memory, in binary GB as the sources count memory. [GB]"""
        return self.free_bytes / BYTES_PER_MEMORY_GB

    @property
    def largest_order(self) -> int | None:
        """Largest order with a free block; None if nothing is free."""
        return max((order for order, count in enumerate(self.blocks) if count), default=None)

    def huge_pages(self, size_bytes: int = 2 << 20) -> int:
        """Number of huge pages of a size available without moving memory.

        Raises
        ------
        ValueError
            If the size is not a power of two times the page.

        Examples
        --------
        A free block of 4 MB holds two pages of 2 MB; blocks of 1 MB hold none:

        >>> NodeMemory(name="n", blocks=(0,) * 8 + (5, 0, 1)).huge_pages()
        2
        """
        order = (size_bytes // self.page_bytes).bit_length() - 1
        if size_bytes < self.page_bytes or size_bytes != self.page_bytes << order:
            raise ValueError(f"size_bytes={size_bytes} must be {self.page_bytes} times a power of two")
        return sum(count << (place - order) for place, count in enumerate(self.blocks) if place >= order)


def read_buddyinfo(lines: Iterable[str], *, page_bytes: int = 4096) -> tuple[list[NodeMemory], list[str]]:
    """Return the nodes of one or many copies of ``/proc/buddyinfo``, and the lines that could not be read.

    Copies from many nodes have a prefix: ``nid00012: Node 0, ...`` as `pdsh`,
    `clush` and ``srun --label`` write it. Zones of a node are added up.

    Parameters
    ----------
    lines : iterable of str
    page_bytes : int
        Size of a base page. [bytes]

    Examples
    --------
    >>> nodes, unread = read_buddyinfo(["nid1: Node 0, zone Normal 1 2 0 1", "nid1: Node 1, zone Normal 0 0 0 3", "what?"])
    >>> nodes[0].blocks, nodes[0].free_bytes, unread
    ((1, 2, 0, 4), 151552, ['line 3: what?'])
    """
    blocks: dict[str, list[int]] = {}
    unread = []
    for number, line in enumerate(lines, start=1):
        # Lines of real files have about 150 characters; much longer ones are rejected.
        text = line.strip()[:4096]
        if not text:
            continue
        match = _LINE.match(text)
        if match is None:
            unread.append(f"line {number}: {text[:80]}")
            continue
        name = match["prefix"] or match["rank"] or "this node"
        counts = [int(part) for part in match["counts"].split()]
        known = blocks.setdefault(name, [])
        known.extend([0] * (len(counts) - len(known)))
        for order, count in enumerate(counts):
            known[order] += count
    nodes = [NodeMemory(name=name, blocks=tuple(free), page_bytes=page_bytes) for name, free in blocks.items()]
    return nodes, unread


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Result of a preflight check.

    Parameters
    ----------
    nodes : tuple of NodeMemory
        All nodes, those with least free memory first.
    short : tuple of NodeMemory
        Nodes under the threshold.
    outliers : tuple of NodeMemory
        Nodes far below the others, regardless of the threshold.
    need_gb : float or None
        The threshold. [GB]
    median_gb : float
        Median free memory. [GB]
    """

    nodes: tuple[NodeMemory, ...]
    short: tuple[NodeMemory, ...]
    outliers: tuple[NodeMemory, ...]
    need_gb: float | None
    median_gb: float


def report(
    nodes: Iterable[NodeMemory],
    *,
    need_gb: float | None = None,
    need_huge_pages: int = 0,
    huge_page_bytes: int = 2 << 20,
) -> Report:
    """Return the nodes that are short of memory, and the outliers.

    A node is an outlier if its memory is below the median by more than six median absolute deviations and by more than
    5 % of the median: a robust rule that a few bad nodes cannot shift.

    Parameters
    ----------
    nodes : iterable of NodeMemory
    need_gb : float or None
        Free memory that a node must have. [GB]
    need_huge_pages : int
        Huge pages of `huge_page_bytes` that a node must have.
    huge_page_bytes : int

    Raises
    ------
    ValueError
        If there are no nodes, or a need is negative.

    Examples
    --------
    >>> full = NodeMemory(name="a", blocks=(0,) * 10 + (7500,))
    >>> low = NodeMemory(name="b", blocks=(0,) * 10 + (6000,))
    >>> found = report([full, low, full, full], need_gb=29)
    >>> [node.name for node in found.short], [node.name for node in found.outliers]
    (['b'], ['b'])
    """
    ordered = sorted(nodes, key=lambda node: node.free_bytes)
    if not ordered:
        raise ValueError("this input contains no node; give the text of /proc/buddyinfo, with node prefixes for many")
    if (need_gb is not None and need_gb < 0) or need_huge_pages < 0:
        raise ValueError(f"need_gb={need_gb} and need_huge_pages={need_huge_pages} must not be negative")
    middle = median(node.free_gb for node in ordered)
    deviation = median(abs(node.free_gb - middle) for node in ordered)
    # Far below, relative to the spread of the nodes or, if that is nearly zero, to the median.
    limit = middle - max(6 * deviation, 0.05 * middle)
    return Report(
        nodes=tuple(ordered),
        short=tuple(
            node
            for node in ordered
            if (need_gb is not None and node.free_gb < need_gb)
            or (need_huge_pages and node.huge_pages(huge_page_bytes) < need_huge_pages)
        ),
        outliers=tuple(node for node in ordered if node.free_gb < limit),
        need_gb=need_gb,
        median_gb=middle,
    )


def node_list(names: Iterable[str]) -> str:
    """Return node names in the compact form that launchers accept: ``nid[00012-00014,00020]``.

    Parameters
    ----------
    names : iterable of str
        Names of the nodes.

    Examples
    --------
    >>> node_list(["nid00012", "nid00013", "nid00020", "login1"])
    'login1,nid[00012-00013,00020]'
    """
    groups: dict[tuple[str, int], list[int]] = {}
    plain = []
    for name in dict.fromkeys(names):
        match = _SERVER.fullmatch(name)
        if match is None:
            plain.append(name)
        else:
            groups.setdefault((match[1], len(match[2])), []).append(int(match[2]))
    for (stem, width), numbers in groups.items():
        # Consecutive numbers have the same distance from their positions in the list.
        runs = [
            [number for _, number in run]
            for _, run in groupby(enumerate(sorted(numbers)), lambda each: each[1] - each[0])
        ]
        parts = ["-".join(f"{end:0{width}d}" for end in dict.fromkeys((run[0], run[-1]))) for run in runs]
        plain.append(f"{stem}{parts[0]}" if len(numbers) == 1 else f"{stem}[{','.join(parts)}]")
    return ",".join(sorted(plain))
