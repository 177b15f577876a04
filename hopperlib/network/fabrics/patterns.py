"""Communication patterns of a job: messages between its nodes, numbered in the order of the job's list."""

import random
from collections.abc import Callable, Iterator, Mapping
from itertools import chain

from hopperlib.errors import refusal
from hopperlib.network.runtime.traffic import all_reduce_tree, grid_dimensions, nearest_neighbors

#: Messages: (from rank, to rank) -> number of messages.
Messages = Mapping[tuple[int, int], float]

#: Patterns by name, with descriptions.
PATTERNS = {
    "neighbors-1": "neighbors on a ring",
    "neighbors-2": "neighbors on a grid of 2 dimensions",
    "neighbors-3": "neighbors on a grid of 3 dimensions",
    "neighbors-4": "neighbors on a grid of 4 dimensions",
    "all-to-all": "everybody with everybody",
    "random": "each with one other, drawn at random",
    "shift": "each with the one half a job later",
    "transpose": "a matrix transposed",
    "allreduce-ring": "all-reduce around a ring",
    "allreduce-doubling": "all-reduce by recursive doubling",
    "allreduce-tree": "all-reduce up and down a binomial tree",
}


def messages_of(pattern: str, nodes: int, rng: random.Random) -> Messages | None:
    """Return the messages of a pattern; None if every node sends to every other.

    Consecutive steps count as if all of them ran at the same time.

    Parameters
    ----------
    pattern : str
        One of `PATTERNS`.
    nodes : int
        Nodes of the job.
    rng : random.Random
        Source of random numbers for the random pattern.

    Raises
    ------
    InputError
        If there is no such pattern, or no nodes.

    Examples
    --------
    >>> rng = random.Random(1)
    >>> messages_of("shift", 4, rng)
    {(0, 2): 1.0, (1, 3): 1.0, (2, 0): 1.0, (3, 1): 1.0}
    >>> messages_of("transpose", 6, rng)
    {(1, 2): 1.0, (2, 4): 1.0, (3, 1): 1.0, (4, 3): 1.0}
    >>> messages_of("allreduce-tree", 3, rng)
    {(0, 1): 1.0, (1, 0): 1.0, (0, 2): 1.0, (2, 0): 1.0}
    """
    if pattern not in PATTERNS:
        raise refusal("pattern", pattern, f"must be one of: {', '.join(PATTERNS)}")
    if nodes < 1:
        raise refusal("nodes", nodes, "must be at least 1")
    if pattern == "all-to-all":
        return None
    name, _, dimensions = pattern.partition("-")
    if name == "neighbors":
        return _neighbors(nodes, int(dimensions))
    if pattern == "random":
        others = list(range(nodes))
        rng.shuffle(others)
        return _without_own((rank, other) for rank, other in enumerate(others))
    return _without_own(_STEPS[pattern](nodes))


def _neighbors(nodes: int, dimensions: int) -> Messages:
    """Return the messages on a periodic grid, both ways."""
    graph = nearest_neighbors(grid_dimensions(nodes, dimensions), 1)
    there = {pair: float(count) for pair, count in graph.items()}
    return there | {(b, a): count for (a, b), count in there.items()}


def _shift(nodes: int) -> Iterator[tuple[int, int]]:
    return ((rank, (rank + nodes // 2) % nodes) for rank in range(nodes))


def _transpose(nodes: int) -> Iterator[tuple[int, int]]:
    rows, columns = grid_dimensions(nodes, 2)
    return ((row * columns + column, column * rows + row) for row in range(rows) for column in range(columns))


def _ring(nodes: int) -> Iterator[tuple[int, int]]:
    return ((rank, (rank + 1) % nodes) for rank in range(nodes))


def _doubling(nodes: int) -> Iterator[tuple[int, int]]:
    # The largest power of two of the ranks takes part; each other rank sends its part to one of these and receives the
    # sum.
    whole = 1 << nodes.bit_length() - 1
    for step in (1 << bit for bit in range(whole.bit_length() - 1)):
        yield from ((rank, rank ^ step) for rank in range(whole))
    for rank in range(whole, nodes):
        yield rank, rank - whole
        yield rank - whole, rank


def _tree(nodes: int) -> Iterator[tuple[int, int]]:
    return chain.from_iterable(((low, high), (high, low)) for low, high in all_reduce_tree(nodes))


_STEPS: dict[str, Callable[[int], Iterator[tuple[int, int]]]] = {
    "shift": _shift,
    "transpose": _transpose,
    "allreduce-ring": _ring,
    "allreduce-doubling": _doubling,
    "allreduce-tree": _tree,
}


def _without_own(pairs: Iterator[tuple[int, int]]) -> Messages:
    """Return pairs as messages, without messages of a rank to itself."""
    return {(a, b): 1.0 for a, b in pairs if a != b}
