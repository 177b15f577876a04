"""The machine of a pack: output of tools on its nodes, and a machine file with one wrong value."""

import random
from dataclasses import dataclass
from typing import NamedTuple

from hopperkit.readers.hardware.reader import machine_from, read_hardware

NAME = "brook"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardware:
    """Identical nodes of a synthetic machine: counts, and memory in the units of the tools. [GB]"""

    nodes: int
    sockets: int
    numa_nodes_per_socket: int
    cores_per_numa_node: int
    memory_gb: int

    @property
    def cores(self) -> int:
        """Cores of a node."""
        return self.sockets * self.numa_nodes_per_socket * self.cores_per_numa_node

    @property
    def real_memory_mb(self) -> int:
        """Memory that Slurm gives to jobs. [MB]"""
        return self.memory_gb * 1024 - 9000


class Mistake(NamedTuple):
    """A field of the machine file with the value that the listings give, and the wrong one in its place."""

    field: str
    right: int
    wrong: int


_SHAPES = ((1, 24), (2, 12), (2, 16), (4, 8), (4, 12), (4, 16))


def draw_hardware(rng: random.Random) -> Hardware:
    """Return the nodes of a pack.

    Examples
    --------
    >>> draw_hardware(random.Random(1)).sockets
    2
    """
    numa_nodes, cores = _SHAPES[int(rng.random() * len(_SHAPES))]
    return Hardware(
        nodes=48 + 16 * int(rng.random() * 4),
        sockets=2,
        numa_nodes_per_socket=numa_nodes,
        cores_per_numa_node=cores,
        memory_gb=256 << int(rng.random() * 2),
    )


def listings(hardware: Hardware) -> dict[str, str]:
    """Return the output of ``lscpu`` and ``scontrol show node``, by file name.

    Examples
    --------
    >>> sorted(listings(draw_hardware(random.Random(1))))
    ['listings/lscpu.txt', 'listings/scontrol-show-node.txt']
    """
    return {"listings/lscpu.txt": _lscpu(hardware), "listings/scontrol-show-node.txt": _scontrol(hardware)}


def _lscpu(hardware: Hardware) -> str:
    numa_nodes = hardware.sockets * hardware.numa_nodes_per_socket
    width = hardware.cores_per_numa_node
    lines = [
        ("Architecture:", "x86_64"),
        ("CPU(s):", hardware.cores),
        ("On-line CPU(s) list:", f"0-{hardware.cores - 1}"),
        ("Model name:", "A processor that never was"),
        ("Thread(s) per core:", 1),
        ("Core(s) per socket:", hardware.cores // hardware.sockets),
        ("Socket(s):", hardware.sockets),
        ("BogoMIPS:", "4800.00"),
        ("Flags:", "fpu sse sse2 fma sse4_1 sse4_2 avx avx2"),
        ("NUMA node(s):", numa_nodes),
        *((f"NUMA node{die} CPU(s):", f"{die * width}-{(die + 1) * width - 1}") for die in range(numa_nodes)),
    ]
    return "".join(f"{name:<24} {value}\n" for name, value in lines)


def _scontrol(hardware: Hardware) -> str:
    per_socket = hardware.cores // hardware.sockets
    return "".join(
        f"NodeName=n{node:03d} Arch=x86_64 CoresPerSocket={per_socket} CPUAlloc=0 CPUEfctv={hardware.cores} "
        f"CPUTot={hardware.cores} CPULoad=0.00 Gres=(null) NodeAddr=n{node:03d} NodeHostName=n{node:03d} Version=23.02.7 "
        f"OS=Linux RealMemory={hardware.real_memory_mb} AllocMem=0 Sockets={hardware.sockets} Boards=1 State=IDLE "
        f"ThreadsPerCore=1 TmpDisk=0 Weight=1 Partitions=batch,large,long\n"
        for node in range(1, hardware.nodes + 1)
    )


def machine_file(hardware: Hardware, rng: random.Random) -> tuple[str, Mistake]:
    """Return a machine file as ``hopper machine new`` writes it, except for one value, and that mistake.

    Examples
    --------
    >>> text, mistake = machine_file(draw_hardware(random.Random(1)), random.Random(1))
    >>> f"{mistake.field} = {{ value = {mistake.wrong}," in text
    True
    """
    records = [record for text in listings(hardware).values() for record in read_hardware(text)]
    text = machine_from(records, name=NAME).to_toml()
    mistakes = (
        Mistake("count", hardware.nodes, hardware.nodes - 8),
        Mistake("numa_nodes_per_socket", hardware.numa_nodes_per_socket, 2 * hardware.numa_nodes_per_socket),
        Mistake("cores_per_numa_node", hardware.cores_per_numa_node, hardware.cores_per_numa_node - 2),
    )
    mistake = mistakes[int(rng.random() * len(mistakes))]
    before, after = (f"{mistake.field} = {{ value = {value}," for value in (mistake.right, mistake.wrong))
    if text.count(before) != 1:
        raise ValueError(f"the machine file has {text.count(before)} lines {before!r}; one is to be changed")
    return text.replace(before, after), mistake
