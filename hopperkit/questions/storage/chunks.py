"""Question: which chunk shape suits the access pattern of an HDF5 or NetCDF array."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from math import prod

from hopperkit.filesystems.chunks import (
    Access,
    Array,
    Times,
    better_cache_bytes,
    better_chunk,
    shape_text,
    slots_for,
)
from hopperkit.questions import ask
from hopperkit.questions.result import Column, Result, Snippet, Table, table
from hopperlib.errors import refusal
from hopperlib.finding import Finding
from hopperlib.text import digits, share, size
from hopperlib.units import BYTES_PER_MIB

# Excess bytes read from which it is a problem.
_TOO_MUCH = 2.0
_MOST_DIMENSIONS = 8


class Reading(ask.Setting):
    """An array, its chunks, and how it is read."""

    shape: str = ask.text(
        "Array", "8760x721x1440", max_length=120, help="Its elements along each dimension, the last one fastest."
    )
    chunk: str = ask.text(
        "Chunk", "1x721x1440", max_length=120, help="As printed by `h5dump -p -H FILE` or `ncdump -hs FILE`."
    )
    block: str = ask.text(
        "One read", "8760x1x1440", max_length=120, help="The program reads block after block of this shape."
    )
    also: str = ask.text(
        "And read as", "", max_length=120, help="A second way through the array, as often as the first.", advanced=True
    )
    item_bytes: int = ask.whole("Bytes of an element", 4, (1, 1_000_000))
    compressed: bool = ask.switch("Compressed, or with another filter", True)
    cache_mib: float = ask.number(
        "Chunk cache",
        1.0,
        (0.001, 1_000_000.0, 1.0),
        unit="MiB",
        help="1 MiB in h5py and in HDF5 before 2.0, 8 MiB since; 16 MiB or more in netCDF-C.",
    )
    read_ms: float = ask.number(
        "Cost of a read", 1.0, (0.0, 10_000.0, 0.1), unit="ms", assumed="No source prints it.", advanced=True
    )
    rate_gb_s: float = ask.number(
        "Rate of one task", 1.0, (0.0001, 1000.0, 0.1), unit="GB/s", assumed="No source prints it.", advanced=True
    )
    dataset: str = ask.text("Name of the array", "DATASET", max_length=200, advanced=True)

    @cached_property
    def array(self) -> Array:
        """The array, unchanged."""
        return Array(
            shape=_shape(self.shape, "shape"),
            chunk=_shape(self.chunk, "chunk"),
            item_bytes=self.item_bytes,
            compressed=self.compressed,
        )

    @cached_property
    def access(self) -> Access:
        """How it is read."""
        blocks = [_shape(self.block, "block"), *([_shape(self.also, "also")] if self.also.strip() else [])]
        cache = int(self.cache_mib * BYTES_PER_MIB)
        return Access(tuple(blocks), max(1, cache), self.read_ms / 1000, self.rate_gb_s)

    @cached_property
    def better(self) -> Array:
        """The array with better chunks, or with its current ones."""
        return replace(self.array, chunk=better_chunk(self.array, self.access))

    @cached_property
    def times(self) -> tuple[list[Times], list[Times]]:
        """Time of each traversal with the current chunks, and with better ones."""
        return self.access.times(self.array), self.access.times(self.better)

    @property
    def seconds(self) -> tuple[float, float]:
        """Time of all traversals together. [s]"""
        now, then = (sum(each.seconds for each in times) for times in self.times)
        return now, then

    @cached_property
    def cache_bytes(self) -> int | None:
        """A chunk cache that halves the time. [bytes]"""
        return better_cache_bytes(self.array, self.access)


def _shape(text: str, name: str) -> tuple[int, ...]:
    """Return the numbers of a shape."""
    words = [word for word in re.split(r"[x×*, ]+", text.strip().strip("()[]")) if word]
    if not words or not all(re.fullmatch(r"\d{1,12}", word) and int(word) for word in words):
        raise refusal(name, text, "must be whole numbers from 1 on, as in 365x721x1440")
    if len(words) > _MOST_DIMENSIONS:
        raise refusal(name, text, f"must not have more than {_MOST_DIMENSIONS} dimensions")
    return tuple(map(int, words))


def answer(reading: Reading) -> Result:
    """Return the answer.

    Parameters
    ----------
    reading : Reading
        An array, its chunks, and how it is read.

    Returns
    -------
    Result
        The answer.

    Examples
    --------
    >>> answer(Reading()).facts['better_chunks_read']
    11536
    """
    (now, *_), (then, *_) = reading.times
    return Result(
        summary=_summary(reading),
        findings=tuple(_findings(reading)),
        tables=(_table(reading),),
        copyables=tuple(_lines(reading)),
        facts={
            "chunk": list(reading.better.chunk),
            "excess": now.reads.excess,
            "better_excess": then.reads.excess,
            "chunks_read": now.reads.chunks_read,
            "better_chunks_read": then.reads.chunks_read,
            "time_s": reading.seconds[0],
            "better_time_s": reading.seconds[1],
            "cache_bytes": reading.cache_bytes,
            "commands": [line.text for line in _lines(reading)],
        },
    )


def _summary(reading: Reading) -> str:
    now, then = reading.seconds
    first = reading.times[0][0].reads
    how = f"{size(first.bytes_read)} are read for {size(first.bytes_wanted)} of requested data"
    if reading.better.chunk == reading.array.chunk:
        return f"Keep chunks of {shape_text(reading.array.chunk)}: {how}, and no other shape is faster by a tenth."
    return (
        f"Chunks of {shape_text(reading.better.chunk)} ({size(reading.better.chunk_bytes)}) in place of "
        f"{shape_text(reading.array.chunk)} take {digits(then, 3)} s in place of {digits(now, 3)} s: now {how}."
    )


def _findings(reading: Reading) -> Iterator[Finding]:
    """Yield problems of the chunks, and the extent of the simulation."""
    array, first = reading.array, reading.times[0][0].reads
    if first.excess > _TOO_MUCH:
        message = f"Each chunk is read {digits(first.chunks_read / prod(array.counts), 3)} times: the next data are in other chunks, and the chunk is evicted from the cache before it is needed again."
        yield Finding("chunks-read-again", message, "problem")
    if first.excess > 1 and array.compressed and array.chunk_bytes > reading.access.cache_bytes:
        message = (
            f"A chunk of {size(array.chunk_bytes)} does not fit into the chunk cache of "
            f"{size(reading.access.cache_bytes)}: each read decompresses it again."
        )
        yield Finding("chunk-above-cache", message)
    if first.followed < 1:
        message = (
            f"The first {share(first.followed)} of the traversal was simulated; the rest is assumed to be similar."
        )
        yield Finding("followed-in-part", message, "note")


def _lines(reading: Reading) -> Iterator[Snippet]:
    """Yield the commands for other chunks, or for a larger cache."""
    chunk = reading.better.chunk
    if chunk != reading.array.chunk:
        yield Snippet("HDF5", f"h5repack -l {reading.dataset}:CHUNK={shape_text(chunk)} IN.h5 OUT.h5")
        parts = ",".join(f"DIM{number}/{length}" for number, length in enumerate(chunk, start=1))
        yield Snippet("NetCDF", f"nccopy -c {parts} IN.nc OUT.nc")
    if reading.cache_bytes:
        slots = slots_for(reading.array, reading.cache_bytes)
        with_cache = f"h5py.File(NAME, rdcc_nbytes={reading.cache_bytes}, rdcc_nslots={slots})"
        why = "The file is unchanged, and the time at least halved; each process needs this much memory."
        yield Snippet("Or a larger chunk cache", with_cache, why)


def _table(reading: Reading) -> Table:
    """Return the reads of each traversal with either chunks."""
    blocks, rows = reading.access.blocks, []
    for array, times in zip((reading.array, reading.better), reading.times, strict=True):
        rows += [(array, block, each) for block, each in zip(blocks, times, strict=True)]
    if reading.better.chunk == reading.array.chunk:
        rows = rows[: len(blocks)]
    return table(
        "Reads",
        rows,
        {
            "Chunk": lambda row: shape_text(row[0].chunk),
            "One read": lambda row: shape_text(row[1]),
            Column("Chunks read", "", 0): lambda row: row[2].reads.chunks_read,
            Column("Read", "GB", 3): lambda row: row[2].reads.bytes_read / 1e9,
            Column("Wanted", "GB", 3): lambda row: row[2].reads.bytes_wanted / 1e9,
            Column("Time", "s", 1, "predicted"): lambda row: row[2].seconds,
        },
    )


QUESTION = ask.declared(
    Reading,
    answer,
    title="Which chunks suit the way an array is read?",
    examples={
        "Time series of every point": {"block": "8760x1x1"},
        "Maps, one after the other": {"block": "1x721x1440"},
        "Both": {"block": "8760x1x1440", "also": "1x721x1440"},
    },
)
