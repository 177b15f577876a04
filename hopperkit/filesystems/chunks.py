"""How often HDF5 reads each chunk of an array, for a chunk shape and an access pattern.

An array is stored in chunks, each in one piece of the file. HDF5 reads a chunk as a whole if it fits into the chunk
cache of the dataset, or if it is compressed; otherwise, it reads parts of a chunk separately. The cache is a hash
table: a chunk's position determines its slot, and it evicts the chunk in that slot; if memory runs out, chunks that
were read completely are evicted first, then the oldest [1]_. The model follows the library step by step, so its counts
of chunk reads match (`tests/storage/test_chunks.py` compares them with counts of HDF5 2.0). NetCDF-4 files are HDF5
files.

Not modeled: reads of the chunk index, and of parts of an uncompressed chunk that does not fit, which the sieve buffer
merges: their bytes are a lower bound.

References
----------
.. [1] The HDF Group, HDF5 User Guide, Chunking in HDF5, and the library's H5Dchunk.c
   (chunk cache: hash, preemption with rdcc_w0).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice, product
from typing import NamedTuple

from hopperlib.errors import InputError, above, at_least

# The defaults of HDF5 before release 2.0, which h5py keeps.
CACHE_BYTES, SLOTS, FULLY_READ_FIRST = 1 << 20, 521, 0.75
# Up to this many chunk accesses are simulated; longer traversals are extrapolated from their first part.
MOST_TOUCHES = 10_000


class ChunkReads(NamedTuple):
    """Reads of one traversal of an array.

    Parameters
    ----------
    touches : int
        Number of times that reads touch a chunk.
    chunks_read : int
        Number of times that a chunk is read from the file.
    bytes_read, bytes_wanted : int
        Bytes read from the file (uncompressed size), and bytes requested. [bytes]
    followed : float
        Share of the traversal that was simulated; the rest is assumed to be similar. [fraction]
    """

    touches: int
    chunks_read: int
    bytes_read: int
    bytes_wanted: int
    followed: float = 1.0

    @property
    def excess(self) -> float:
        """Bytes read beyond those requested. [ratio]"""
        return self.bytes_read / self.bytes_wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class Array:
    """An array in chunks.

    Parameters
    ----------
    shape, chunk : tuple of int
        Elements of the array and of a chunk along each dimension, the last one fastest.
    item_bytes : int
        [bytes]
    compressed : bool
        Whether chunks go through a filter.

    Raises
    ------
    InputError
        If the dimensions do not match, a number is below 1, or a chunk is larger than HDF5 allows.
    """

    shape: tuple[int, ...]
    chunk: tuple[int, ...]
    item_bytes: int = 8
    compressed: bool = False

    def __post_init__(self) -> None:
        if len(self.chunk) != len(self.shape):
            rule = f"has {len(self.chunk)} dimensions, and the array has {len(self.shape)}"
            raise InputError(f"chunk={shape_text(self.chunk)} {rule}", name="chunk")
        at_least(1, item_bytes=self.item_bytes, shape=min(self.shape), chunk=min(self.chunk))
        if self.chunk_bytes >= 2**32:
            rule = "must be below 4 GiB, the limit of HDF5"
            raise InputError(f"chunk={shape_text(self.chunk)} {rule}", name="chunk")

    @property
    def chunk_bytes(self) -> int:
        """Size of a chunk. [bytes]"""
        return math.prod(self.chunk) * self.item_bytes

    @property
    def counts(self) -> tuple[int, ...]:
        """Chunks along each dimension."""
        return tuple(-(-length // part) for length, part in zip(self.shape, self.chunk, strict=True))


def shape_text(shape: Sequence[int]) -> str:
    """Return a shape as text.

    Parameters
    ----------
    shape : sequence of int
        Size along each dimension.

    Examples
    --------
    >>> shape_text((365, 721, 1440))
    '365x721x1440'
    """
    return "x".join(map(str, shape))


@lru_cache(maxsize=32)  # An answer needs the current and the best chunks more than once.
def reads(
    array: Array,
    block: tuple[int, ...],
    *,
    cache_bytes: int = CACHE_BYTES,
    slots: int = SLOTS,
    most_touches: int = MOST_TOUCHES,
) -> ChunkReads:
    """Return the reads of a program that traverses an array block by block, last dimension fastest.

    Parameters
    ----------
    array : Array
    block : tuple of int
        Elements of one read along each dimension; the last block of a dimension may be smaller.
    cache_bytes, slots : int
        Size and slots of the chunk cache (``rdcc_nbytes``, ``rdcc_nslots``). [bytes]
    most_touches : int
        Number of chunk accesses to simulate.

    Raises
    ------
    InputError
        If the block does not fit the array, or the cache size is invalid.

    Examples
    --------
    A year of maps, one chunk per map, read as time series: each series reads all maps again.

    >>> maps = Array(shape=(365, 100, 100), chunk=(1, 100, 100), item_bytes=4)
    >>> series = reads(maps, (365, 1, 1))
    >>> series.chunks_read, round(series.excess)
    (3650000, 10000)
    >>> reads(maps, (1, 100, 100)).excess
    1.0
    """
    block = _checked(array, block)
    above(0, cache_bytes=cache_bytes)
    at_least(1, slots=slots)
    cached = array.compressed or array.chunk_bytes <= cache_bytes
    kept = array.chunk_bytes <= cache_bytes
    cache = _Cache(array.counts, array.chunk_bytes, cache_bytes, slots)
    touches = misses = wanted = 0
    for place, elements in islice(chain.from_iterable(_ways(array, block)), most_touches):
        touches += 1
        size = elements * array.item_bytes
        wanted += size
        misses += cached and not (kept and cache.touch(place, size))
    whole = math.prod(array.shape) * array.item_bytes
    factor = whole / wanted
    moved = misses * array.chunk_bytes if cached else wanted
    return ChunkReads(
        round(touches * factor), round(misses * factor), round(moved * factor), whole, min(1.0, wanted / whole)
    )


def _checked(array: Array, block: Sequence[int]) -> tuple[int, ...]:
    """Return a block of an array."""
    if len(block) != len(array.shape):
        rule = f"has {len(block)} dimensions, and the array has {len(array.shape)}"
        raise InputError(f"block={shape_text(block)} {rule}", name="block")
    at_least(1, block=min(block))
    return tuple(min(part, length) for part, length in zip(block, array.shape, strict=True))


Touched = Iterator[tuple[tuple[int, ...], int]]


def _ways(array: Array, block: tuple[int, ...]) -> Iterator[Touched]:
    """Yield for each read the chunks that it touches, and how many elements of each."""
    along = [
        [_parts(start, min(start + part, length), chunk) for start in range(0, length, part)]
        for length, part, chunk in zip(array.shape, block, array.chunk, strict=True)
    ]
    for parts in product(*along):
        numbers, counts = zip(*parts, strict=True)
        yield zip(product(*numbers), map(math.prod, product(*counts)), strict=True)


def _parts(start: int, end: int, chunk: int) -> tuple[range, list[int]]:
    """Return the chunks along one dimension that a read touches, and how many elements of each."""
    numbers = range(start // chunk, (end - 1) // chunk + 1)
    return numbers, [min(end, (number + 1) * chunk) - max(start, number * chunk) for number in numbers]


@dataclass(slots=True, eq=False)
class _Entry:
    """A chunk in the cache: its position, its slot, and its unread part. [bytes]"""

    place: tuple[int, ...]
    slot: int
    unread: int


@dataclass(slots=True)
class _Cache:
    """The chunk cache of HDF5; `entries` in order of eviction."""

    counts: tuple[int, ...]
    chunk_bytes: int
    most_bytes: int
    slots: int
    entries: list[_Entry] = field(default_factory=list)
    by_slot: dict[int, _Entry] = field(default_factory=dict)

    def touch(self, place: tuple[int, ...], size: int) -> bool:
        """Read a part of a chunk; return whether it was cached."""
        slot = self._slot(place)
        entry = self.by_slot.get(slot)
        hit = entry is not None and entry.place == place
        if entry is not None and hit:
            self._move_back(entry)
        else:
            if entry is not None:
                self._drop(entry)
            self._make_room()
            entry = _Entry(place, slot, self.chunk_bytes)
            self.entries.append(entry)
            self.by_slot[slot] = entry
        entry.unread -= min(entry.unread, size)
        return hit

    def _slot(self, place: tuple[int, ...]) -> int:
        """Return the slot of a chunk, from its position along all dimensions."""
        value = place[0]
        for number, count in zip(place[1:], self.counts[1:], strict=True):
            value = (value << (count - 1).bit_length()) ^ number
        return value % self.slots

    def _move_back(self, entry: _Entry) -> None:
        """Swap a chunk that was hit with the one after it."""
        number = self.entries.index(entry)
        if number + 1 < len(self.entries):
            self.entries[number], self.entries[number + 1] = self.entries[number + 1], entry

    def _drop(self, entry: _Entry) -> None:
        """Evict a chunk."""
        self.entries.remove(entry)
        del self.by_slot[entry.slot]

    def _make_room(self) -> None:
        """Evict chunks until one more fits: first those read completely, then the oldest."""
        if not self._is_full():
            return
        # One search begins at the oldest chunk, the other when the first is this far along.
        ahead = int(len(self.entries) * FULLY_READ_FIRST)
        waiting = list(self.entries)
        first, second = iter(waiting), iter(waiting)
        for step in range(len(waiting) + ahead + 1):
            if not self._is_full():
                return
            read = next(first, None)
            if read is not None and self._holds(read) and read.unread in (0, self.chunk_bytes):
                self._drop(read)
            if step >= ahead and self._is_full():
                oldest = next(second, None)
                if oldest is not None and self._holds(oldest):
                    self._drop(oldest)

    def _is_full(self) -> bool:
        """Whether no other chunk fits."""
        return (len(self.entries) + 1) * self.chunk_bytes > self.most_bytes

    def _holds(self, entry: _Entry) -> bool:
        """Whether a chunk is still cached."""
        return self.by_slot.get(entry.slot) is entry


# Range of chunk sizes in the search for a better one. [bytes]
_LEAST_CHUNK_BYTES, _MOST_CHUNK_BYTES = 1 << 16, 1 << 22
# Number of the most promising shapes that are simulated step by step.
_FINALISTS = 3
# A recommended shape must be faster by this factor.
WORTH = 1.1


class Times(NamedTuple):
    """Time of one traversal of an array, from its bytes and its reads. [s]"""

    reads: ChunkReads
    seconds: float


class Access(NamedTuple):
    """How an array is read: the blocks of each full traversal, and the costs.

    Parameters
    ----------
    blocks : tuple of tuple of int
    cache_bytes : int
        [bytes]
    read_s, rate_gb_s : float
        Fixed cost of each chunk read, and the transfer rate. [s], [GB/s]
    """

    blocks: tuple[tuple[int, ...], ...]
    cache_bytes: int = CACHE_BYTES
    read_s: float = 0.001
    rate_gb_s: float = 1.0

    def times(self, array: Array, *, slots: int = SLOTS, most_touches: int = MOST_TOUCHES) -> list[Times]:
        """Return the time of each traversal.

        Examples
        --------
        >>> maps = Array(shape=(100, 1000), chunk=(1, 1000), item_bytes=1000)
        >>> [(each.reads.chunks_read, round(each.seconds, 3)) for each in Access(((1, 1000),)).times(maps)]
        [(100, 0.2)]
        """
        found = []
        for block in self.blocks:
            one = reads(array, block, cache_bytes=self.cache_bytes, slots=slots, most_touches=most_touches)
            calls = one.chunks_read or one.touches
            found.append(Times(one, calls * self.read_s + one.bytes_read / 1e9 / self.rate_gb_s))
        return found

    def seconds(self, array: Array) -> float:
        """Return the time of all traversals together. [s]"""
        return sum(each.seconds for each in self.times(array))

    def glance_s(self, array: Array, cache_bytes: int = 0) -> float:
        """Estimate the time of all traversals by a formula instead of simulation; optionally with another cache. [s]"""
        most = (cache_bytes or self.cache_bytes) // array.chunk_bytes
        direct = not array.compressed and not most
        total = 0.0
        for block in self.blocks:
            number = _misses(array, _checked(array, block), most)
            moved = math.prod(array.shape) * array.item_bytes if direct else number * array.chunk_bytes
            total += number * self.read_s + moved / 1e9 / self.rate_gb_s
        return total


def _misses(array: Array, block: tuple[int, ...], kept: int) -> float:
    """Estimate the number of chunks read if the cache holds this many of them.

    Consecutive blocks along a dimension find a chunk again if everything accessed in between fits into the cache: one
    block wide along this and the slower dimensions, and all of the faster ones.
    """
    misses, faster = 1.0, 1.0
    # Chunks touched by one block along each dimension, and by all blocks in turn.
    touched = []
    for length, part, chunk in zip(array.shape, block, array.chunk, strict=True):
        cuts = -(-length // part) + -(-length // chunk) - -(-length // math.lcm(part, chunk))
        touched.append((cuts / -(-length // part), cuts))
    for dimension in reversed(range(len(block))):
        between = math.prod(each for each, _ in touched[: dimension + 1]) * faster
        count = array.counts[dimension]
        misses *= count if between <= kept else max(count, touched[dimension][1])
        faster *= count
    return misses


def better_chunk(array: Array, access: Access) -> tuple[int, ...]:
    """Return a chunk shape that is faster for all traversals together; the array's if none is faster by a tenth.

    Shapes between those of the blocks are tried, from 64 KiB to 4 MiB.

    Parameters
    ----------
    array : Array
        The array.
    access : Access
        How the array is read.

    Examples
    --------
    A better layout for maps that are read as time series:

    >>> maps = Array(shape=(365, 100, 100), chunk=(1, 100, 100), item_bytes=4)
    >>> better_chunk(maps, Access(((365, 1, 1),)))
    (365, 7, 100)
    """
    tried = {shape: access.glance_s(_with_chunk(array, shape)) for shape in set(_shapes(array, access.blocks))}
    best = sorted(tried, key=lambda shape: (tried[shape], shape))[:_FINALISTS]
    times = {shape: access.seconds(_with_chunk(array, shape)) for shape in best}
    found = min(times, key=lambda shape: (times[shape], shape))
    return found if times[found] * WORTH < access.seconds(array) else array.chunk


def _with_chunk(array: Array, chunk: tuple[int, ...]) -> Array:
    """Return the array with different chunks."""
    return Array(shape=array.shape, chunk=chunk, item_bytes=array.item_bytes, compressed=array.compressed)


def _shapes(array: Array, blocks: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """Yield shapes of suitable sizes between those of blocks."""
    blocks = [_checked(array, block) for block in blocks]
    along = []
    for lengths in zip(*blocks, strict=True):
        middle = round(math.exp(sum(map(math.log, lengths)) / len(lengths)))
        along.append(sorted({min(lengths), middle, max(lengths)}))
    for shape in product(*along):
        for size in (_LEAST_CHUNK_BYTES, CACHE_BYTES // 4, CACHE_BYTES, _MOST_CHUNK_BYTES):
            for order in (1, -1):
                yield _scaled(array, shape, size, order)


def _scaled(array: Array, shape: tuple[int, ...], size: int, order: int) -> tuple[int, ...]:
    """Return a shape stretched, or halved, to a size, beginning at the last dimension or (order -1) at the first."""
    lengths = list(shape)
    dimensions = list(range(len(lengths)))[::-order]
    for dimension in dimensions:
        others = math.prod(lengths) // lengths[dimension] * array.item_bytes
        if others * lengths[dimension] < size:
            lengths[dimension] = max(lengths[dimension], min(array.shape[dimension], size // others))
    # The dimension that is longest relative to the array is shortened.
    while math.prod(lengths) * array.item_bytes > size and max(lengths) > 1:
        longest = max(dimensions, key=lambda dimension: lengths[dimension])
        lengths[longest] = -(-lengths[longest] // 2)
    return tuple(lengths)


def better_cache_bytes(array: Array, access: Access) -> int | None:
    """Return the smallest chunk cache, in powers of two, that halves the time with the current chunks. [bytes]

    None if no cache up to 4 GiB does.

    Parameters
    ----------
    array : Array
        The array.
    access : Access
        How the array is read.

    Examples
    --------
    A hundred maps of 4 MB, read row by row across all maps, must all fit into the cache:

    >>> maps = Array(shape=(100, 1000, 1000), chunk=(1, 1000, 1000), item_bytes=4, compressed=True)
    >>> better_cache_bytes(maps, Access(((100, 1, 1000),))) >> 20
    512
    """
    now = access.seconds(array)
    for power in range(access.cache_bytes.bit_length(), 33):
        if access.glance_s(array, 1 << power) * 2 < access.glance_s(array):
            wider = access._replace(cache_bytes=1 << power)
            then = sum(each.seconds for each in wider.times(array, slots=slots_for(array, 1 << power)))
            if then * 2 < now:
                return 1 << power
    return None


def slots_for(array: Array, cache_bytes: int) -> int:
    """Return the number of hash slots for a cache: a hundred for each chunk that fits, as the HDF Group recommends, and
    odd.

    Parameters
    ----------
    array : Array
        The array.
    cache_bytes : int
        Size of the cache. [bytes]

    Examples
    --------
    >>> slots_for(Array(shape=(100,), chunk=(10,)), 800)
    1001
    """
    return 100 * max(1, cache_bytes // array.chunk_bytes) + 1
