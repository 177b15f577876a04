"""How long a communicating job runs: its placement, its neighbors' traffic, and noise.

A job of nearest neighbors in four dimensions, like MILC, sends over the links
between its nodes and then waits for all of it. So the slowest link sets the
pace: the messages it carries, of the job and of the jobs around it, over its
bandwidth. That is the *worst link* of a run, counted in messages on a link
along X. The run time is a line in it,

    run time = (compute + exchange x worst link) x (1 + noise)

`RunTimeModel` holds the two numbers of that line and the two of the noise.
Nothing here knows a printed time: `calibrate` fits the line to a least and a
mean time.

Assumed, since no source prints it: all links of a job move at once, so that
the worst one decides; a job's neighbors talk to their neighbors on a grid in
three dimensions, each job as much as a draw from `TRAFFIC` says; noise only
ever adds time, a little in most runs and much in few.

Random numbers come from ``rng.random()`` through tables only.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from hopperlib.errors import InputError
from hopperlib.machine import Machine
from hopperlib.network.scheduling.generator import interpolate
from hopperlib.network.torus.distances import Coordinates, Link, Torus, link_bandwidth_gb_s

__all__ = [
    "NOISE",
    "STEPS",
    "TRAFFIC",
    "LinkMap",
    "RunTimeModel",
    "calibrate",
    "draw_noise",
    "draw_traffic",
    "least_of",
    "neighbor_messages",
]

#: Traffic of a job's node over that of a MILC node, at equal steps of probability: half of
#: the jobs send less than a quarter of it, few send more, on average they send half. Assumed.
TRAFFIC = (0.0, 0.02, 0.05, 0.1, 0.15, 0.25, 0.4, 0.6, 0.9, 1.3, 2.0)

#: Quantiles of an exponential distribution of mean 1 at steps of a twentieth. The last stands
#: for its mean above nineteen twentieths, so that nothing is without bound.
NOISE = (
    0.0, 0.0513, 0.1054, 0.1625, 0.2231, 0.2877, 0.3567, 0.4308, 0.5108, 0.5978, 0.6931,
    0.7985, 0.9163, 1.0498, 1.2040, 1.3863, 1.6094, 1.8971, 2.3026, 2.9957, 4.9957,
)  # fmt: skip

# More noise than anything measured with one placement; and steps until the numbers stand.
_MOST_NOISE = 0.2
_STEPS_TO_CROSS = 40

# Of each run of a job: its worst link and its draw of noise.
_Runs = Sequence[tuple[float, float]]

#: Steps of a run: the printed times of a run and of a step make about so many.
STEPS = 440


def draw_traffic(rng: random.Random) -> float:
    """Draw how much a job's node sends, over what a MILC node sends. [fraction]

    Examples
    --------
    >>> rng = random.Random(1)
    >>> draws = [draw_traffic(rng) for _ in range(1000)]
    >>> round(sum(draws) / 1000, 1), max(draws) <= 2.0
    (0.5, True)
    """
    return interpolate(TRAFFIC, rng.random())


def draw_noise(rng: random.Random) -> float:
    """Draw what noise adds, over what it adds on average: exponential, cut off at five times. [fraction]

    Examples
    --------
    >>> rng = random.Random(1)
    >>> round(sum(draw_noise(rng) for _ in range(4000)) / 4000, 1)
    1.0
    """
    return interpolate(NOISE, rng.random())


class LinkMap:
    """The links of a torus by number, their capacity, and the legs of all routes.

    Counting messages on thousands of links is the inner loop of an ensemble,
    so links are numbers here: axis x routers + router, where a router is
    ``(x * size_y + y) * size_z + z``. A link is named by the end from which it leads
    upwards; a message goes along X, then Y, then Z, each the shorter way round.

    Parameters
    ----------
    machine : Machine
        A machine with a torus and link bandwidths.

    Raises
    ------
    InputError
        If the machine states no torus or no link bandwidths.

    Examples
    --------
    Three messages one step along Y between blades count twice, since that link has half the bandwidth of X:

    >>> links = LinkMap(Machine.load("hopper"))
    >>> links.worst(links.loads([((0, 1, 0), (0, 2, 0), 3.0)]))
    6.0
    """

    def __init__(self, machine: Machine) -> None:
        torus = Torus.of(machine)
        self.dimensions = sx, sy, sz = torus.dimensions
        self.routers = torus.routers
        along_x = link_bandwidth_gb_s(machine, Link((0, 0, 0), 0))
        #: Bandwidth of each link over that of a link along X.
        self.capacity = [
            link_bandwidth_gb_s(machine, Link((x, y, z), axis)) / along_x
            for axis in range(3)
            for x in range(sx)
            for y in range(sy)
            for z in range(sz)
        ]
        self._legs = [self._leg_table(size) for size in torus.dimensions]

    @staticmethod
    def _leg_table(size: int) -> list[list[tuple[int, ...]]]:
        """Return the lower ends of the links from each place of a ring to each other, the shorter way."""
        table = []
        for start in range(size):
            row = []
            for end in range(size):
                ahead = (end - start) % size
                # Half-way round an even ring the route goes upwards.
                up = ahead <= size - ahead
                steps = range(ahead) if up else range(-1, ahead - size - 1, -1)
                row.append(tuple((start + step) % size for step in steps))
            table.append(row)
        return table

    def loads(self, messages: Iterable[tuple[Coordinates, Coordinates, float]]) -> list[float]:
        """Return how many messages cross each link, routed X, then Y, then Z. [messages]

        Parameters
        ----------
        messages : iterable of (from, to, count)

        Returns
        -------
        list of float
            One number a link.
        """
        _, sy, sz = self.dimensions
        plane, routers = sy * sz, self.routers
        legs_x, legs_y, legs_z = self._legs
        loads = [0.0] * (3 * routers)
        for (ax, ay, az), (bx, by, bz), count in messages:
            if ax != bx:
                base = ay * sz + az
                for x in legs_x[ax][bx]:
                    loads[base + x * plane] += count
            if ay != by:
                base = routers + bx * plane + az
                for y in legs_y[ay][by]:
                    loads[base + y * sz] += count
            if az != bz:
                base = 2 * routers + bx * plane + by * sz
                for z in legs_z[az][bz]:
                    loads[base + z] += count
        return loads

    def worst(self, own: Sequence[float], others: Sequence[float] | None = None, share: float = 1.0) -> float:
        """Messages on the worst link that a job uses, over its capacity. [messages on a link along X]

        Parameters
        ----------
        own : sequence of float
            The job's messages on each link.
        others : sequence of float or None
            Those of the jobs around it.
        share : float
            What the others' traffic is multiplied by.
        """
        capacity = self.capacity
        others = others or [0.0] * len(own)
        return max(
            ((count + share * others[link]) / capacity[link] for link, count in enumerate(own) if count), default=0.0
        )


def _grid_strides(nodes: int) -> tuple[int, ...]:
    """Return how far apart in a job's list of nodes the neighbors of a node are, on a grid in three dimensions."""
    side = 1
    while (side + 1) ** 3 <= nodes or abs((side + 1) ** 3 - nodes) < abs(side**3 - nodes):
        side += 1
    return tuple(sorted({stride for stride in (1, side, side * side) if stride < nodes}))


def neighbor_messages(
    places: Sequence[Coordinates], messages_a_node: float
) -> list[tuple[Coordinates, Coordinates, float]]:
    """Return the messages of a job on a grid in three dimensions, nodes in the order of the list.

    Parameters
    ----------
    places : sequence of (int, int, int)
        Where each node of the job sits.
    messages_a_node : float
        What a node exchanges with all its neighbors together. [messages]

    Examples
    --------
    >>> neighbor_messages([(0, 0, 0), (0, 0, 1)], 6.0)
    [((0, 0, 0), (0, 0, 1), 3.0), ((0, 0, 1), (0, 0, 0), 3.0)]
    """
    strides = _grid_strides(len(places))
    if not strides or messages_a_node == 0:
        return []
    # Each message stands once in the list, and both its ends count it.
    count = messages_a_node / (2 * len(strides))
    return [
        (place, other, count)
        for stride in strides
        for place, other in zip(places, [*places[stride:], *places[:stride]], strict=True)
        if place != other
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTimeModel:
    """The run time of a job as a line in the messages of its worst link, with noise.

    Parameters
    ----------
    compute_s : float
        What a run takes without waiting for messages. [s]
    exchange_s : float
        What a run takes for each message on the worst link. [s]
    run_noise : float
        What noise adds to a run on average, all through it. [fraction]
    step_noise : float
        What noise adds to a step on average, each step for itself. Within a
        run it nearly averages out. Assumed. [fraction]
    steps : int
        Steps of a run.

    Raises
    ------
    InputError
        If a number is negative, or there is no step.

    Examples
    --------
    >>> model = RunTimeModel(compute_s=400.0, exchange_s=1.0, run_noise=0.02)
    >>> model.run_time_s(500.0), model.run_time_s(500.0, noise=1.0)
    (900.0, 918.0)
    """

    compute_s: float
    exchange_s: float
    run_noise: float = 0.0
    step_noise: float = 0.02
    steps: int = STEPS

    def __post_init__(self) -> None:
        for name in ("exchange_s", "run_noise", "step_noise"):
            if getattr(self, name) < 0:
                raise InputError(f"{name}={getattr(self, name):g} must not be negative: it only ever adds time")
        if self.compute_s < 0:
            raise InputError(
                f"compute_s={self.compute_s:g} must not be negative: the times differ by more than their exchange allows"
            )
        if self.steps < 1:
            raise InputError(f"steps={self.steps} must be at least 1")

    def run_time_s(self, worst_link: float, noise: float = 0.0) -> float:
        """Run time for a worst link and a draw of noise. [s]"""
        return (self.compute_s + self.exchange_s * worst_link) * (1 + self.run_noise * noise)

    def step_times_s(self, own: float, shared: float, rng: random.Random, noise: float = 0.0) -> list[float]:
        """Times of the steps of one run. [s]

        The neighbors come and go from step to step: sometimes a step has the
        links for itself. Their traffic is multiplied by a draw of mean 1.

        Parameters
        ----------
        own, shared : float
            The worst link without and with the neighbors' traffic. [messages on a link along X]
        rng : random.Random
        noise : float
            The run's draw of noise.

        Examples
        --------
        >>> model = RunTimeModel(compute_s=880.0, exchange_s=0.0, step_noise=0.0)
        >>> set(model.step_times_s(0.0, 5.0, random.Random(1)))
        {2.0}
        """
        times = []
        for _ in range(self.steps):
            link = own + (shared - own) * draw_noise(rng)
            step = self.run_time_s(link, noise) / self.steps
            times.append(step * (1 + self.step_noise * draw_noise(rng)))
        return times


def least_of(values: Sequence[float], count: int) -> float:
    """The value that the least of so many draws is as likely to be above as below.

    Parameters
    ----------
    values : sequence of float
        The distribution, as a sample of it in order.
    count : int
        Draws.

    Raises
    ------
    InputError
        If there is no value or no draw.

    Examples
    --------
    One draw: the median. Of many draws, one near the lower end.

    >>> values = [float(value) for value in range(101)]
    >>> least_of(values, 1), round(least_of(values, 100), 2)
    (50.0, 0.69)
    """
    if not values or count < 1:
        raise InputError(f"the least of count={count} draws from {len(values)} values needs at least 1 of each")
    return interpolate(values, 1 - 0.5 ** (1 / count))


def calibrate(
    worst_links: Sequence[Sequence[float]],
    noise: Sequence[Sequence[float]],
    *,
    least_s: float,
    mean_s: float,
    runs: int,
    run_over_least: float,
    step_noise: float = 0.02,
) -> RunTimeModel:
    """Return the model that gives a least and a mean run time, and a mean over the mean of the least of each job.

    Parameters
    ----------
    worst_links, noise : sequence of sequences of float
        For each job, the worst link of each of its runs, and a draw of noise for each.
    least_s : float
        Least time of so many runs, as the median of what the least can be. [s]
    mean_s : float
        Mean time. [s]
    runs : int
        Runs of which `least_s` is the least.
    run_over_least : float
        Mean of all runs over the mean of the least run of each job, at least 1. [ratio]
    step_noise : float
        As in `RunTimeModel`.

    Raises
    ------
    InputError
        If the lists differ in length, if a mean is not above the least, or if
        no line gives the times: the worst links differ too little.

    Notes
    -----
    If the neighbors' traffic alone parts the runs of a job by more than
    `run_over_least`, the noise of a run comes out as 0, and the ratio is missed.

    Examples
    --------
    Two jobs without noise, with one message and three, that take 105 s and 115 s:

    >>> model = calibrate([[1.0], [3.0]], [[0.0], [0.0]], least_s=105.0, mean_s=110.0, runs=1000, run_over_least=1.0)
    >>> round(model.compute_s), round(model.exchange_s)
    (100, 5)
    """
    if len(worst_links) != len(noise) or any(len(a) != len(b) for a, b in zip(worst_links, noise, strict=False)):
        raise InputError("worst_links and noise must hold as many jobs, and each job as many runs")
    if not least_s < mean_s:
        raise InputError(f"mean_s={mean_s:g} must be above least_s={least_s:g}")
    if run_over_least < 1:
        raise InputError(f"run_over_least={run_over_least:g} must be at least 1: a least time is not above the mean")

    jobs = [list(zip(*job, strict=True)) for job in zip(worst_links, noise, strict=True)]

    def over(run_noise: float) -> float:
        return _over_least(jobs, run_noise, _line(jobs, run_noise, least_s, mean_s, runs)) - run_over_least

    # The ratio grows with the noise. If the neighbors part the runs by enough, there is none.
    high = _crossing(over, 0.0, _MOST_NOISE, 1e-6) if over(0.0) < 0 else 0.0
    compute, exchange = _line(jobs, high, least_s, mean_s, runs)
    if exchange == 0:
        raise InputError(
            f"run_over_least={run_over_least:g} needs so much noise that it alone goes below least_s={least_s:g}"
        )
    return RunTimeModel(compute_s=compute, exchange_s=exchange, run_noise=high, step_noise=step_noise)


def _crossing(function: Callable[[float], float], low: float, high: float, near: float) -> float:
    """Return where a rising function comes as near as that to 0, by the Illinois form of false position.

    The functions here are nearly straight, so a few steps are enough; where
    one jumps, as it does when noise alone is too much, halving does it.
    """
    at_low, at_high, side = function(low), function(high), 0
    if at_high < 0:
        return high
    for step in range(_STEPS_TO_CROSS):
        middle = (low + high) / 2 if step % 4 == 3 else low - at_low * (high - low) / (at_high - at_low)
        value = function(middle)
        if abs(value) <= near:
            return middle
        if value < 0:
            low, at_low = middle, value
            at_high /= 2 if side == -1 else 1
            side = -1
        else:
            high, at_high = middle, value
            at_low /= 2 if side == 1 else 1
            side = 1
    return high


def _over_least(jobs: Sequence[_Runs], run_noise: float, line: tuple[float, float]) -> float:
    """Return the mean of all runs over the mean of the least run of each job."""
    compute, exchange = line
    times = [[(compute + exchange * link) * (1 + run_noise * draw) for link, draw in job] for job in jobs]
    return (sum(map(sum, times)) / sum(map(len, times))) / (sum(map(min, times)) / len(times))


def _line(jobs: Sequence[_Runs], run_noise: float, least_s: float, mean_s: float, runs: int) -> tuple[float, float]:
    """Return compute and exchange [s] that give the least and the mean, for a given noise of a run."""
    flat = [(link, 1 + run_noise * draw) for job in jobs for link, draw in job]
    factor = sum(each for _, each in flat) / len(flat)
    weighted = sum(link * each for link, each in flat) / len(flat)

    def least(exchange: float) -> float:
        compute = (mean_s - exchange * weighted) / factor
        return least_of(sorted((compute + exchange * link) * each for link, each in flat), runs)

    # More exchange at the same mean spreads the times, so the least falls; compute must not go below 0.
    low, high = 0.0, mean_s / weighted if weighted else 0.0
    if least(high) > least_s:
        raise InputError(
            f"least_s={least_s:g} and mean_s={mean_s:g} lie too far apart: even a job that does nothing but exchange "
            f"would have a least time of {least(high):.0f} s in {runs} runs"
        )
    if least(low) < least_s:
        # So much noise alone spreads the times too far: less of it is to be tried.
        return mean_s / factor, 0.0
    high = _crossing(lambda exchange: least_s - least(exchange), low, high, 1e-4)
    return (mean_s - high * weighted) / factor, high
