"""Explain the number of aggregators: the term of the estimate that determines it.

The number is chosen again with each term left out in turn; the term with the largest effect is reported.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from hopperlib.storage.lustre.node_rates import AGGREGATORS_PER_NODE
from hopperlib.storage.lustre.rates import Pace, _Parts
from hopperlib.text import count as counted
from hopperlib.text import digits


class Term(NamedTuple):
    """A term of the estimate, and the number of aggregators without it."""

    name: str
    without: int


class _WithoutExchange(Pace):
    """An estimate in which aggregators receive the data at no cost."""

    def _parts_of(self, count: int, stripe_bytes: int, callers: int, most_gb_s: float) -> _Parts:
        return super()._parts_of(count, stripe_bytes, callers, most_gb_s)._replace(exchange_s=0.0)


def _without_task_limit(pace: Pace) -> Pace:
    other = Pace(pace.writing, pace.system, pace.costs)
    other.task_gb_s = 1e6
    return other


def _without_file_limit(pace: Pace) -> Pace:
    other = Pace(pace.writing, pace.system, pace.costs)
    other.one_file_gb_s = math.inf
    return other


def _without_node_limit(pace: Pace) -> Pace:
    other = Pace(pace.writing, pace.system, pace.costs)
    other.node_gb_s = 1e6
    return other


def _without_locks(pace: Pace) -> Pace:
    return Pace(pace.writing, pace.system, replace(pace.costs, lock_s=0.0, request_s=0.0))


def _without_calls(pace: Pace) -> Pace:
    return Pace(pace.writing, pace.system, replace(pace.costs, call_s=0.0))


_TERMS: dict[str, Callable[[Pace], Pace]] = {
    "exchange": lambda pace: _WithoutExchange(pace.writing, pace.system, pace.costs),
    "locks": _without_locks,
    "task": _without_task_limit,
    "one file": _without_file_limit,
    "node": _without_node_limit,
    "calls": _without_calls,
}


def aggregators_of(pace: Pace, count: int, stripe_bytes: int) -> int:
    """Number of aggregators that the estimate takes for a layout.

    Parameters
    ----------
    pace : Pace
        Costs and limits of the writes.
    count : int
        Stripe count.
    stripe_bytes : int
        Stripe size. [bytes]

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperlib.storage.lustre.rates import Writing
    >>> scratch = Machine.load("hopper").file_systems[0]
    >>> aggregators_of(Pace(Writing(size_bytes=10**12, writers=2400, nodes=100, pattern="collective"), scratch), 4, 1 << 20)
    4
    """
    return pace.parts_s(count, stripe_bytes, min(pace.storage_gb_s(count, stripe_bytes).values()))[0]


def deciding_term(pace: Pace, count: int, stripe_bytes: int) -> Term | None:
    """Return the term that determines the number of aggregators; None if no single term does.

    Parameters
    ----------
    pace : Pace
        Costs and limits of the writes.
    count : int
        Stripe count.
    stripe_bytes : int
        Stripe size. [bytes]

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperlib.storage.lustre.rates import Writing
    >>> scratch = Machine.load("hopper").file_systems[0]
    >>> pace = Pace(Writing(size_bytes=10**12, writers=2400, nodes=100, pattern="collective"), scratch)
    >>> deciding_term(pace, 4, 1 << 20)
    Term(name='locks', without=8)
    """
    chosen = aggregators_of(pace, count, stripe_bytes)
    terms = [Term(name, aggregators_of(change(pace), count, stripe_bytes)) for name, change in _TERMS.items()]
    changed = [term for term in terms if term.without != chosen]
    return max(changed, key=lambda term: abs(math.log(term.without / chosen)), default=None)


def aggregator_reason(pace: Pace, count: int, stripe_bytes: int) -> str:
    """Explain in words the number of aggregators.

    Parameters
    ----------
    pace : Pace
        Costs and limits of the writes.
    count : int
        Stripe count.
    stripe_bytes : int
        Stripe size. [bytes]

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperlib.storage.lustre.rates import Writing
    >>> scratch = Machine.load("hopper").file_systems[0]
    >>> pace = Pace(Writing(size_bytes=10**12, writers=2400, nodes=100, pattern="collective"), scratch)
    >>> aggregator_reason(pace, 4, 1 << 20).partition('; ')[2]
    'without it 8 would do'
    """
    chosen, term = aggregators_of(pace, count, stripe_bytes), deciding_term(pace, count, stripe_bytes)
    each = chosen / count
    head = f"{counted(chosen, 'aggregator')}, {'one' if each == 1 else digits(each, 3)} for each stripe"
    if each < 1:
        head = f"{counted(chosen, 'aggregator')}, {digits(1 / each, 3)} stripes each"
    verb, past = ("read", "distribute the data") if pace.writing.reading else ("write", "")
    if term is None:
        most = min(pace.writing.writers, AGGREGATORS_PER_NODE * pace.writing.nodes)
        if chosen >= most:
            return f"{head}: measurements show no gain beyond {AGGREGATORS_PER_NODE} per node"
        return f"{head}: fewer would leave stripes without one, and more would gain less than a fourteenth of the time"
    words = {
        "exchange": (past and f"they {past}, and share that work")
        or "they receive the data before they write them, and share that work",
        "locks": f"with more, clients would {verb} to the same objects and wait for each other's locks",
        "task": f"one task writes at most {digits(pace.task_gb_s, 3)} GB/s",
        "one file": f"one node writes at most {digits(pace.one_file_gb_s, 3)} GB/s to one file",
        "node": f"one node writes at most {digits(pace.node_gb_s, 3)} GB/s",
        "calls": "each call costs its task a little",
    }[term.name]
    return f"{head}: {words}; without it {term.without:,} would do"
