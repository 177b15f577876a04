"""Answers to the second blind test: each function serves several situations by calling models of the library.

As in `hopperbook.forecasts.node`, a function gets a random generator, values from a row, and values drawn for it.
Widths come from spreads that the library states of its components (`hopperlib.contention`) and from the ranges in
``data/blind/second/settings.toml``; none was fitted to a row.
"""

import math
import random
from collections.abc import Mapping, Sequence
from functools import cache
from statistics import fmean

from hopperbook.forecasts.node import node_kind
from hopperkit.readers.jobs.swf import read_swf
from hopperlib.contention.ceilings import ceiling as measured_ceiling
from hopperlib.contention.extrapolation import continued_range
from hopperlib.contention.saturation import Kind, Throughput, soft_minimum, throughput_range, users_for_share
from hopperlib.data_files import data_folder
from hopperlib.machine import Machine
from hopperlib.network.fabrics.choices import choose
from hopperlib.network.fabrics.many_flows import SharesKept, all_to_all_s, mapping_gain, random_ring, share_kept
from hopperlib.network.fabrics.of_machine import fabric_of
from hopperlib.network.runtime.overlap import cache_speedup, overlapped_s
from hopperlib.network.torus.orders import compute_nodes
from hopperlib.placement.models.bandwidth import slowdown
from hopperlib.placement.models.coupled_node import (
    MemorySystem,
    PageRun,
    Placement,
    Translation,
    first_touch_s,
    page_size_ratio,
    read_rate_gb_s,
    stream_by_threads,
)
from hopperlib.placement.models.hybrid import RunShares, ThreadCost, best_threads, thread_costs
from hopperlib.placement.models.scaling import scaled
from hopperlib.scheduling.scheduler import simulate
from hopperlib.scheduling.workload import Job, Workload

# The 90 % quantile of the normal distribution: the library's intervals hold 80 %.
_Z = 1.2816


def _drawn(rng: random.Random, found: Throughput) -> float:
    """Draw a value with the median and 80 % interval of a throughput."""
    z = rng.gauss(0, 1)
    end = found.high if z > 0 else found.low
    return found.usual * math.exp(abs(z) / _Z * math.log(end / found.usual))


def _noisy(rng: random.Random, points: Mapping[str, float], noise: float) -> dict[float, float]:
    """Return measured points, each with the noise of a run or of its rounding."""
    return {float(count): value * (1 + noise * rng.gauss(0, 1)) for count, value in points.items()}


def curve(
    rng: random.Random,
    *,
    points: Mapping[str, float],
    users: float,
    kind: Kind,
    over: float = 1.0,
    ceiling: float = math.inf,
    each: int = 1,
) -> float:
    """Throughput of more users than were measured, over something known. [the unit given, or ratio]

    Parameters
    ----------
    points : mapping
        Users -> throughput.
    users : float
    kind : str
        As in `hopperlib.contention.saturation`.
    over : float
        Divisor of the throughput.
    ceiling : float
        An additional measured ceiling, in the unit of the points.
    each : int
        Independent parts that share nothing, such as NUMA nodes; points and users are of one of them.

    Examples
    --------
    >>> found = sorted(curve(random.Random(seed), points={"1": 1.0, "2": 2.0}, users=4, kind="link") for seed in range(99))
    >>> 3 < found[50] < 4.5
    True
    """
    found = _drawn(rng, continued_range({float(count): value for count, value in points.items()}, users, kind))
    return each * soft_minimum(found, ceiling) / over


def shared_ceiling(
    rng: random.Random,
    *,
    users: float,
    one: float,
    ceiling: float,
    kind: Kind,
    over: float = 1.0,
    other: Mapping[str, float] | None = None,
) -> float:
    """Throughput of users of a known rate under a drawn ceiling, relative to a known value or to another system.

    Examples
    --------
    >>> found = [shared_ceiling(random.Random(seed), users=10, one=1.0, ceiling=5.0, kind="device") for seed in range(99)]
    >>> 4 < sorted(found)[50] < 5
    True
    """
    found = _drawn(rng, throughput_range(users, one, ceiling, kind)) / over
    if other:
        scale = {"users": users, "one": one, "ceiling": ceiling, **other}
        found /= throughput_range(scale["users"], scale["one"], other.get("part", 1.0) * ceiling, kind).usual
    return found


def shared_file(rng: random.Random, *, nodes: float, own_gb_s: float, over: float) -> float:
    """Rate of nodes that write one shared file in large blocks, over a known rate. [ratio]

    The write rate of one node is drawn from the measured systems; the file system provides `own_gb_s` to separate
    files.

    Examples
    --------
    >>> 0.001 < shared_file(random.Random(1), nodes=1, own_gb_s=40.0, over=40.0) < 0.2
    True
    """
    one = _drawn(rng, _client_shared_write())
    if one >= own_gb_s:
        return own_gb_s / over
    return _drawn(rng, throughput_range(nodes, one, own_gb_s, "shared-file")) / over


@cache
def _client_shared_write() -> Throughput:
    """Return the write rate of one client to one shared file, over the measured systems. [GB/s]"""
    found = measured_ceiling("client-shared-write", "lustre")
    return Throughput(found.usual, found.low, found.high)


def best_step(
    rng: random.Random, *, steps: Sequence[float], one: float, ceiling: float, share: float, limit: float
) -> float:
    """Step at which a curve has reached a share of its ceiling, if something else does not end it before.

    Examples
    --------
    >>> best_step(random.Random(1), steps=[1, 2, 4, 8, 16], one=1.0, ceiling=4.0, share=0.9, limit=100.0)
    8
    """
    wanted = min(users_for_share(share, one, ceiling), limit)
    return min(steps, key=lambda step: abs(math.log(step / wanted)))


def sizes(
    rng: random.Random,
    *,
    points: Mapping[str, float],
    count: float,
    powers: Sequence[float],
    grows: float | None = None,
    noise: float = 0.01,
    rate: bool = False,
    plus: float = 0.0,
) -> float:
    """Value at another count, of parts that shrink, stay and grow; with `rate` points and answer are counts over values.

    Parameters
    ----------
    points : mapping
        Count -> value.
    count : float
    powers : sequence of float
        As in `hopperlib.placement.models.scaling.parts`.
    grows : float or None
        An additional power, drawn.
    noise : float
        Of each point.
    rate : bool
        Whether values are 1 / time of a unit.
    plus : float
        Time that a point does not have.

    Examples
    --------
    >>> round(sizes(random.Random(1), points={"1": 8.0, "2": 6.0, "4": 5.0}, count=16, powers=[-1, 0], noise=0.0), 3)
    4.25
    """
    measured = _noisy(rng, points, noise)
    powers = [*powers, grows] if grows is not None else powers
    if rate:
        return 1 / (scaled({key: 1 / value for key, value in measured.items()}, count, powers) + plus)
    return scaled(measured, count, powers) + plus


def block_rate(rng: random.Random, *, points: Mapping[str, float], block: float, noise: float, cache: float) -> float:
    """Rate with blocks of a size, of a cost per call and a cost per byte fitted to smaller ones. [the unit given]

    Parameters
    ----------
    points : mapping
        Block [KiB] -> rate.
    block : float
        [KiB]
    noise : float
        Rounding of the points.
    cache : float
        Rate of blocks of that size relative to the cost of the smaller ones' bytes, as they exceed the first cache.

    Examples
    --------
    >>> round(block_rate(random.Random(1), points={"1": 0.5, "4": 1.6}, block=1024, noise=0.0, cache=1.0), 1)
    5.9
    """
    times = {float(size): float(size) / value for size, value in _noisy(rng, points, noise).items()}
    call = scaled(times, 1e-9, [0, 1])
    moving = scaled(times, block, [0, 1]) - call
    return block / (call + max(moving, 1e-9) / cache)


def cached_time(
    rng: random.Random,
    *,
    times_s: Mapping[str, float],
    nodes: float,
    data_mb: float,
    cache_mb: float,
    penalty: float,
    messages: float,
) -> float:
    """Time on more nodes, with a growing share of the data in the caches, and messages. [s]

    The speedup of the model starts from the last measured point; draws whose model contradicts the points before it
    are pulled towards them.

    Examples
    --------
    >>> round(cached_time(random.Random(1), times_s={"1": 100.0, "2": 50.0}, nodes=4, data_mb=1e6, cache_mb=1.0, penalty=2.0, messages=0.0), 3)
    25.0
    """
    counts = sorted(map(int, times_s))
    last = counts[-1]

    def model(count: float, base: int) -> float:
        # Thousandths of a node keep counts whole.
        return cache_speedup(
            round(1000 * count), 1000 * base, data_mb=data_mb, cache_mb=cache_mb / 1000, memory_penalty=penalty
        )

    gain = model(nodes, last)
    if len(counts) > 1:
        before = counts[-2]
        seen = times_s[str(before)] / times_s[str(last)]
        # Superlinear gain of the last step, relative to the model.
        gain *= math.sqrt(seen / model(last, before))
    return times_s[str(last)] / gain * (1 + messages)


def _system(
    numa_nodes: int, cores: int, channels_gb_s: float, core_gb_s: float, far: float, link: float
) -> MemorySystem:
    """Return the memory of a node; the link is in channels of a NUMA node."""
    return MemorySystem(numa_nodes, cores, channels_gb_s, core_gb_s, far, link * channels_gb_s)


def node_rate(
    rng: random.Random,
    *,
    numa_nodes: int,
    cores: int,
    peak_gb_s: float,
    attainable: float,
    counted: float,
    core_gb_s: float,
) -> float:
    """Rate of a whole node that streams local memory, as STREAM counts it. [GB/s]

    Channels give a part `attainable` of their peak, and of the bytes that they move `counted` are counted.

    Examples
    --------
    >>> round(node_rate(random.Random(1), numa_nodes=2, cores=64, peak_gb_s=100.0, attainable=0.8, counted=1.0, core_gb_s=10.0))
    80
    """
    node = MemorySystem(numa_nodes, cores, attainable * peak_gb_s / numa_nodes, core_gb_s)
    found = stream_by_threads(node, [numa_nodes * cores])[0]
    return counted * found


def dealt_gain(
    rng: random.Random,
    *,
    numa_nodes: int,
    cores: int,
    core_gb_s: float,
    channels_gb_s: float,
    far: float,
    link: float,
    memory_bound: float,
    spread_before: float = 0.0,
) -> float:
    """Rate with data dealt to all NUMA nodes over that with all of it on the node of the thread that touched it. [ratio]

    Of the data `spread_before` was dealt already; a part of the run does not wait for memory.

    Examples
    --------
    >>> 1.5 < dealt_gain(random.Random(1), numa_nodes=2, cores=12, core_gb_s=10.0, channels_gb_s=40.0, far=0.6, link=1.0,
    ...                  memory_bound=1.0) < 2.1
    True
    """
    node = _system(numa_nodes, cores, channels_gb_s, core_gb_s, far, link)
    one, dealt = Placement.on_one_numa_node(numa_nodes), Placement.interleaved(numa_nodes)
    shares = tuple(spread_before * d + (1 - spread_before) * o for d, o in zip(dealt.shares, one.shares, strict=True))
    before = read_rate_gb_s(node, Placement(shares, one.far))
    after = read_rate_gb_s(node, dealt)
    return 1 / slowdown(memory_bound, before / after)


def threads_of_best(
    rng: random.Random,
    *,
    numa_nodes: int,
    cores: int,
    tasks: int,
    tried: Sequence[int],
    parallel: float,
    mpi: float,
    memory: float,
    elsewhere: float,
) -> float:
    """Threads a rank of the fastest run, all cores at work. [threads]

    Examples
    --------
    >>> threads_of_best(random.Random(1), numa_nodes=2, cores=12, tasks=576, tried=[1, 2, 3, 4, 6, 12], parallel=1.0, mpi=0.0,
    ...                 memory=0.5, elsewhere=0.0)
    1.0
    """
    shares = RunShares(parallel_fraction=parallel, mpi_share=mpi, memory_bound_fraction=memory)
    best = best_threads(_thread_costs(numa_nodes, cores, tasks, elsewhere), shares).threads
    return float(min(tried, key=lambda threads: abs(math.log(threads / best))))


@cache
def _thread_costs(numa_nodes: int, cores: int, tasks: int, elsewhere: float) -> tuple[ThreadCost, ...]:
    """Return the cost of numbers of threads on a node whose NUMA nodes have four cores each."""
    return thread_costs(node_kind(numa_nodes, cores, 4.0, 1.0), tasks, elsewhere=elsewhere)


def mapping_time(
    rng: random.Random,
    *,
    memory_gb: float,
    small_s: float,
    clear_gb_s: float,
    least_us: float,
    huge_us: float,
    small_over_large: bool = False,
) -> float:
    """Time to map memory with pages of 2 MB over that with pages of 4 KB, or the other way round. [ratio]

    The time of small pages beyond clearing is their faults; at least this much per fault. A fault of a large page has a
    different cost.

    Examples
    --------
    >>> round(mapping_time(random.Random(1), memory_gb=4.0, small_s=1.0, clear_gb_s=10.0, least_us=0.1, huge_us=1.0), 2)
    0.43
    """
    size = memory_gb * 2**30
    clearing = min(
        first_touch_s(size, 4096, fault_us=0, clear_gb_s=clear_gb_s), small_s - size / 4096 * least_us * 1e-6
    )
    rate = size / max(clearing, 1e-9) * 1e-9
    large_s = first_touch_s(size, 2 << 20, fault_us=huge_us, clear_gb_s=rate)
    return small_s / large_s if small_over_large else large_s / small_s


def page_size(
    rng: random.Random,
    *,
    numa_nodes: int,
    memory: float,
    walk_ns: float,
    bytes_used: float,
    working_set_gb: float,
    piece_kb: float,
    entries: Sequence[int],
    is_stream: bool = False,
    faster: bool = True,
    small_kb: int = 4,
    core_gb_s: float = 8.0,
) -> float:
    """Speed with pages of 2 MB over that with small ones, or the time with small ones over that with large ones. [ratio]

    A core that goes from place to place waits for one line at a time, so its rate `core_gb_s` is a line over a latency.

    Examples
    --------
    >>> page_size(random.Random(1), numa_nodes=1, memory=0.5, walk_ns=20.0, bytes_used=64, working_set_gb=8.0, piece_kb=1e9,
    ...           entries=[1536, 1536]) > 1
    True
    """
    node = MemorySystem(numa_nodes, 16, 40.0, core_gb_s, 0.6, 20.0)
    tables = [Translation(walk_ns, count, bytes_used, working_set_gb * 2**30, is_stream) for count in entries]
    ratio = page_size_ratio(
        PageRun(memory), node, piece_bytes=piece_kb * 1024, translation=tables, small_bytes=1024 * small_kb
    )
    return 1 / ratio if faster else ratio


def exchange_time(
    rng: random.Random,
    *,
    nodes: int,
    ranks_per_node: int,
    message_bytes: float,
    node_gb_s: float,
    per_message_us: float,
    scale: float,
    messages_per_s: float = math.inf,
    bus: bool = False,
) -> float:
    """Time of an all-to-all, or with `bus` the data that each rank sends over it [GB/s]. The share kept by all flows is
    drawn.

    Examples
    --------
    >>> 80 < exchange_time(random.Random(2), nodes=2, ranks_per_node=32, message_bytes=1 << 20, node_gb_s=12.16,
    ...                    per_message_us=0.0, scale=1e3) < 150
    True
    """
    kept = _drawn(rng, throughput_range(10_000, 1.0, 1.0, "link"))
    kept = min(kept, 1.0) if nodes == 2 else _drawn(rng, throughput_range(nodes, 1.0 / nodes, 1.0, "all-to-all"))
    found = all_to_all_s(
        nodes, ranks_per_node, message_bytes, node_gb_s=node_gb_s * kept, per_message_us=per_message_us,
        messages_per_s=messages_per_s,
    )  # fmt: skip
    ranks = nodes * ranks_per_node
    return scale * (ranks - 1) * message_bytes * 1e-9 / found if bus else scale * found


def placed_better(
    rng: random.Random,
    *,
    machine: str,
    network: float,
    grid: Sequence[int] = (),
    ranks_per_node: int = 1,
    adaptivity: float = 0.0,
    saved: bool = False,
) -> float:
    """Gain of the same messages with a shorter path: more of them per time, or with `saved` the time saved. [%]

    On a torus ranks of a grid are mapped onto one run of the machine's list; on a dragonfly groups of nodes that exchange
    with each other are near instead of scattered. A part of the exchange is in the network.

    Examples
    --------
    >>> 0 <= placed_better(random.Random(1), machine="edison", network=0.5, adaptivity=0.5, saved=True) <= 50
    True
    """
    seed = int(rng.random() * 4)
    if grid:
        gain = _mapped(machine, tuple(grid), ranks_per_node, seed)
    else:
        scattered, near = _near(machine, seed)
        gain = 1 - scattered.at(adaptivity) / near.at(adaptivity)
    gain = network * max(gain, 0.0)
    return 100 * gain if saved else 100 * (1 / (1 - gain) - 1)


@cache
def _near(machine: str, seed: int) -> tuple[SharesKept, SharesKept]:
    """Return the rate kept by a group of 64 nodes on scattered nodes and on nearby ones of a half-free machine."""
    fabric, rng = fabric_of(Machine.load(machine)), random.Random(seed)
    free = sorted(range(fabric.nodes), key=lambda _: rng.random())[: fabric.nodes // 2]
    near = choose(fabric, sorted(free), 64, "switch", rng)
    messages = random_ring(64, 8, rng)
    return share_kept(fabric, free[:64], messages), share_kept(fabric, near, messages)


@cache
def _mapped(machine: str, grid: tuple[int, ...], ranks_per_node: int, seed: int) -> float:
    """Return the part of the time of halos that mapping saves on one run of a machine's list."""
    hopper = Machine.load(machine)
    addresses, count = compute_nodes(hopper), math.prod(grid) // ranks_per_node
    first = int(random.Random(seed).random() * (len(addresses) - count))
    places = range(first, first + count)
    return mapping_gain(fabric_of(hopper), places, [addresses[p].coordinates for p in places], grid, ranks_per_node)


def overlapped(
    rng: random.Random, *, compute: float, exchange: float, hidden: float, extra: float = 0.0, ratio: bool = False
) -> float:
    """Time of computation and exchange with a part of the exchange hidden, or the rate over that without. [unit given, or ratio]

    Examples
    --------
    >>> overlapped(random.Random(1), compute=10.0, exchange=4.0, hidden=0.5)
    12.0
    """
    found = overlapped_s(compute * (1 + extra), exchange, hidden)
    return (compute + exchange) / found if ratio else found


def waits(rng: random.Random, *, schemes: Sequence[str], stretch: float, saved: bool = False) -> float:
    """Mean wait with one way of scheduling over that with another, on windows of a public workload. [ratio, or % saved]

    Ways: "fcfs" first come first served, "users" backfilling with the time limits of users, "predicted" with times near the
    true ones. Jobs come `stretch` times as far apart.

    Examples
    --------
    >>> from inspect import signature
    >>> list(signature(waits).parameters)[1:]
    ['schemes', 'stretch', 'saved']
    """
    place = int(rng.random() * 4)
    first, second = (_mean_wait_s(scheme, stretch, place) for scheme in schemes)
    return 100 * (1 - first / max(second, 1e-9)) if saved else first / max(second, 1e-9)


@cache
def _mean_wait_s(scheme: str, stretch: float, window: int) -> float:
    """Return the mean wait of 2,000 jobs of the synthetic workload. [s]"""
    jobs = read_swf(data_folder() / "blind/lublin_256.swf.gz", cores_per_node=1).workload
    rng = random.Random(window)
    chosen = []
    for number, job in enumerate(jobs):
        # Users request one to ten times the need; predictions are off by a third.
        request_factor, guessed = 1 / (0.1 + 0.9 * rng.random()), math.exp(abs(rng.gauss(0, 0.33)))
        if window * 2000 <= number < (window + 1) * 2000:
            factor = {"fcfs": request_factor, "users": request_factor, "predicted": guessed}[scheme]
            limit = max(round(job.run_time_s * factor), job.run_time_s)
            chosen.append(Job(job.job, round(job.submit_time_s * stretch), job.nodes, job.run_time_s, limit))
    schedule = simulate(Workload(chosen), 256, policy="fcfs" if scheme == "fcfs" else "easy")
    done = list(schedule.finished())
    return fmean((schedule.wait_time_s(index) or 0) for index in done)


def buffered(
    rng: random.Random, *, calls: float, buffered_calls: float, gb: float, without_s: float, moving_gb_s: float
) -> float:
    """Time with a buffer over that without: the calls that are left, and moving the bytes. [ratio]

    Examples
    --------
    >>> round(buffered(random.Random(1), calls=1000.0, buffered_calls=100.0, gb=0.001, without_s=10.0, moving_gb_s=1.0), 2)
    0.1
    """
    moving_s = gb / moving_gb_s
    call_s = max(without_s - moving_s, 0.1 * without_s) / calls
    return (buffered_calls * call_s + moving_s) / without_s
