"""Sustained performance of a suite of benchmarks, and whether commitments are met.

Sustained System Performance is the geometric mean of the rates of the benchmarks, each per processor (or node), times
the number of processors [1]_; the rate of a benchmark is its reference operation count over its time and its
processors. Scalable System Improvement, its later form, compares two machines [2]_: a weighted geometric mean of
capability, utilization and speedup.

References
----------
.. [1] NERSC, "SSP", Trinity / NERSC-8 benchmarks, with the table of Hopper.
.. [2] NERSC, "Scalable System Improvement (SSI)", APEX benchmarks; B. Austin et al., "A Metric for Evaluating
   Supercomputer Performance in the Era of Extreme Heterogeneity", PMBS 2018.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import geometric_mean

from hopperlib.errors import InputError, refusal


def rate(operations: float, time_s: float, processors: float) -> float:
    """Return the rate of a benchmark per processor, in operations per second.

    Parameters
    ----------
    operations : float
        Operations of the benchmark.
    time_s : float
        Run time. [s]
    processors : float
        Number of processors.

    Raises
    ------
    InputError
        If a quantity is not above 0.

    Examples
    --------
    MiniFE on 2,048 nodes of Hopper: 1,065 Tflop in 92.4 s, printed as 0.00563 Tflop/s per node [1]_.

    >>> round(rate(1065, 92.4, 2048), 5)
    0.00563
    """
    for name, value in (("operations", operations), ("time_s", time_s), ("processors", processors)):
        if not (math.isfinite(value) and value > 0):
            raise refusal(name, value, "must be above 0")
    return operations / time_s / processors


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """One benchmark of a suite: its rate per processor, the commitment, and the rate of the reference machine."""

    name: str
    rate: float
    commitment: float | None = None
    reference: float | None = None

    def __post_init__(self) -> None:
        for name in ("rate", "commitment", "reference"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise refusal(name, value, f"must be above 0 ({self.name})")

    @property
    def margin(self) -> float | None:
        """Rate over commitment minus one; None without a commitment."""
        return self.rate / self.commitment - 1 if self.commitment else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """The benchmarks of a suite, each rate per processor, and the processors of the machine (None: per processor only).

    Examples
    --------
    >>> suite = Suite(rates=(Rate(name="a", rate=2.0, commitment=1.0), Rate(name="b", rate=8.0, commitment=9.0)))
    >>> round(suite.ssp, 6), round(suite.committed, 6), suite.passes, [one.name for one in suite.short]
    (4.0, 3.0, False, ['b'])
    """

    rates: tuple[Rate, ...]
    processors: float | None = None

    def __post_init__(self) -> None:
        if not self.rates:
            raise InputError("a suite needs at least one benchmark")
        if self.processors is not None and not (math.isfinite(self.processors) and self.processors > 0):
            raise refusal("processors", self.processors, "must be above 0")

    def _of(self, values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return geometric_mean(known) * (self.processors or 1) if len(known) == len(self.rates) else None

    @property
    def ssp(self) -> float:
        """Geometric mean of the rates times the processors."""
        return geometric_mean([code.rate for code in self.rates]) * (self.processors or 1)

    @property
    def committed(self) -> float | None:
        """The same for the commitments; None if one is missing."""
        return self._of([code.commitment for code in self.rates])

    @property
    def reference(self) -> float | None:
        """The same for the reference machine's rates; None if one is missing."""
        return self._of([code.reference for code in self.rates])

    @property
    def short(self) -> tuple[Rate, ...]:
        """Benchmarks below their commitment."""
        return tuple(code for code in self.rates if code.commitment is not None and code.rate < code.commitment)

    @property
    def passes(self) -> bool | None:
        """Whether every commitment is met, including that of the mean; None if there is none."""
        if all(code.commitment is None for code in self.rates):
            return None
        return not self.short and (self.committed is None or self.ssp >= self.committed)


def speedup_term(
    *,
    speedup: float,
    nodes: float,
    nodes_reference: float,
    machine: float,
    machine_reference: float,
    capability: float = 1,
) -> float:
    """Return capability times utilization times speedup of one application: its term in Scalable System Improvement.

    Parameters
    ----------
    speedup : float
        Time on the reference machine over time on this one, or the inverse ratio of figures of merit; at least 1 by
        definition.
    nodes, nodes_reference : float
        Nodes that the application used on this machine and on the reference machine.
    machine, machine_reference : float
        Nodes of this machine and of the reference machine.
    capability : float
        Problem size relative to that on the reference machine.

    Raises
    ------
    InputError
        If the speedup is below 1.

    Examples
    --------
    >>> speedup_term(speedup=2, nodes=100, nodes_reference=200, machine=1000, machine_reference=500)
    8.0
    """
    if not speedup >= 1:
        raise refusal("speedup", speedup, "must be at least 1 by the definition: use more nodes")
    return capability * (nodes_reference / nodes) * (machine / machine_reference) * speedup


def improvement(terms: Sequence[float], weights: Sequence[float] | None = None) -> float:
    """Return Scalable System Improvement: the weighted geometric mean of the applications' terms.

    Parameters
    ----------
    terms : sequence of float
        The ratios.
    weights : sequence of float or None
        Weights; None for equal ones.

    Examples
    --------
    >>> round(improvement([8.0, 2.0]), 6), round(improvement([8.0, 2.0], [1, 0]), 6)
    (4.0, 8.0)
    """
    shares = weights if weights is not None else [1.0] * len(terms)
    return math.exp(sum(share * math.log(term) for term, share in zip(terms, shares, strict=True)) / sum(shares))
