"""Twelve outputs of IOR in the form of version 3.2: six settings, each run twice; one run is far slower than its repeat."""

import random
from datetime import timedelta
from statistics import NormalDist
from typing import NamedTuple

from hopperbook.project.jobs import FIRST_DAY

_NODES = (1, 2, 4)
_ACCESSES = {"fpp": "file-per-process", "shared": "single-shared-file"}
_TASKS_PER_NODE = 16
_BLOCK_MIB = 1024
# Rate of one node, and the spread of repeats.
_NODE_MIB_S, _NOISE = 1650.0, 0.03


class IoKey(NamedTuple):
    """The run that is far slower than its repeat, by how much, and the setting that is fastest. [percent, negative]"""

    slow_run: str
    percent: float
    fastest: str


def io_logs(rng: random.Random) -> tuple[dict[str, str], IoKey]:
    """Return the outputs by file name, and their anomalies.

    Examples
    --------
    >>> texts, key = io_logs(random.Random(1))
    >>> len(texts), key.slow_run in texts, key.fastest
    (12, True, '4 nodes, shared')
    """
    settings = [(nodes, access, repeat) for nodes in _NODES for access in _ACCESSES for repeat in (1, 2)]
    slow = int(rng.random() * len(settings))
    share = 0.35 + 0.2 * rng.random()
    # One shared file is clearly slower than many files, or clearly faster.
    shared = 0.55 + 0.25 * rng.random() if rng.random() < 0.5 else 1.2 + 0.25 * rng.random()
    texts: dict[str, str] = {}
    rates: dict[str, float] = {}
    for number, (nodes, access, repeat) in enumerate(settings):
        rate = _NODE_MIB_S * nodes * (shared if access == "shared" else 1)
        rate *= 1 + _NOISE * NormalDist().inv_cdf(rng.random())
        if number == slow:
            rate *= share
        file = f"io/ior-{nodes}-nodes-{access}-{repeat}.txt"
        texts[file] = _output(nodes, access, round(rate, 2), day=number % 5)
        rates[file] = round(rate, 2)
    slow_run = list(texts)[slow]
    other = (
        slow_run.removesuffix("1.txt") + "2.txt"
        if slow_run.endswith("1.txt")
        else slow_run.removesuffix("2.txt") + "1.txt"
    )
    best = max(rates, key=lambda file: rates[file]).removeprefix("io/ior-").split("-")
    fastest = f"{best[0]} nodes, {best[2]}" if best[0] != "1" else f"1 node, {best[2]}"
    return texts, IoKey(slow_run, round(100 * (rates[slow_run] / rates[other] - 1), 1), fastest)


def _output(nodes: int, access: str, rate_mib_s: float, *, day: int) -> str:
    """Return IOR's output for one write test."""
    tasks = nodes * _TASKS_PER_NODE
    size_mib = tasks * _BLOCK_MIB
    began = (FIRST_DAY + timedelta(days=day, hours=3)).strftime("%a %b %d %H:%M:%S %Y")
    seconds = size_mib / rate_mib_s
    flag = " -F" if access == "fpp" else ""
    block, transfer = _BLOCK_MIB << 20, 1 << 20
    rate = f"{rate_mib_s:.2f}"
    return f"""IOR-3.2.1: MPI Coordinated Test of Parallel I/O
Began               : {began}
Command line        : ior -a POSIX{flag} -w -b {_BLOCK_MIB}m -t 1m -e -o /scratch/ior/data
Machine             : Linux n001
TestID              : 0
StartTime           : {began}
Path                : /scratch/ior
FS                  : 900.0 TiB   Used FS: 41.3%   Inodes: 900.0 Mi   Used Inodes: 12.1%

Options:
api                 : POSIX
apiVersion          :
test filename       : /scratch/ior/data
access              : {_ACCESSES[access]}
type                : independent
segments            : 1
ordering in a file  : sequential
ordering inter file : no tasks offsets
tasks               : {tasks}
clients per node    : {_TASKS_PER_NODE}
repetitions         : 1
xfersize            : 1 MiB
blocksize           : 1 GiB
aggregate filesize  : {size_mib // 1024} GiB

Results:

access    bw(MiB/s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
------    ---------  ---------- ---------  --------   --------   --------   --------   ----
write     {rate:<10} {_BLOCK_MIB * 1024:<10} 1024.00    0.004210   {seconds - 0.01:<10.6f} 0.005790   {seconds:<10.6f} 0
remove    -          -          -          -          -          -          0.015963   0
Max Write: {rate} MiB/sec ({rate_mib_s * 1.048576:.2f} MB/sec)

Summary of all tests:
Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)     StdDev    Mean(s) Test# #Tasks tPN reps fPP reord reordoff reordrand seed segcnt   blksiz    xsize aggs(MiB)   API RefNum
write        {rate}    {rate}    {rate}       0.00    {rate}    {rate}    {rate}       0.00    {seconds:.5f}     0      {tasks}   {_TASKS_PER_NODE}    1   {int(access == "fpp")}     0        1         0    0      1 {block} {transfer}      {size_mib:.1f} POSIX      0
Finished            : {began}
"""
