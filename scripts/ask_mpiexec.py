#!/usr/bin/env python3
"""Ask a real mpirun or mpiexec where it binds the ranks of launch lines, and keep its answers as a table.

    python scripts/ask_mpiexec.py --draw 200 --seed 1 openmpi QUESTIONS.csv   # draw lines for every node
    python scripts/ask_mpiexec.py openmpi QUESTIONS.csv ANSWERS.csv --root FOLDER

The launcher is ``openmpi`` (4.1 or 5.0), ``mpich`` or ``intelmpi``; FOLDER/bin holds its programs, such as a virtual
environment with a package of the Python index (openmpi, mpich, impi-rt). Nothing is launched by Open MPI; Hydra and
Intel MPI start a shell that prints its rank. Needs lstopo of hwloc, for Hydra and Intel MPI gcc, for Intel MPI root.

hwloc shows the node to the launcher (HWLOC_XMLFILE). For Hydra and Intel MPI a preloaded library (anynode.c) records
the masks that this computer could not apply, and answers the instruction cpuid of the older pinning (2021.14 and
earlier) as an Intel processor of that shape would; a private mount shows the NUMA nodes below /sys.

A node is SOCKETSxNUMAxL3xCORESxTHREADS as in ask_slurm.py; NUMA=0 means one NUMA node for all sockets (NPS0), and L3
counts the caches of a socket then. A second word gives Linux's CPU numbering: ``cores`` counts the first threads of all
cores, then the second ones; ``interleaved`` does so round-robin over the NUMA nodes; ``threads`` counts threads first.
An answer is the CPUs of each rank as ranges, ranks separated by blanks, ``*N`` after those of N consecutive ranks;
``all`` for an unbound rank; ``1:`` before those of the second node; ``!`` and the message if the line is rejected.
tests/launchers/mpiexec compares the package with them.
"""

import argparse
import csv
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

NODES = (
    "2x4x1x8x1 cores",
    "2x0x4x4x2 cores",
    "2x1x1x12x2 interleaved",
    "1x1x2x8x2 threads",
    "2x2x1x14x2 cores",
    "2x4x2x8x2 cores",
)


class Node(NamedTuple):
    """A node's shape and how Linux numbers its CPUs; `numa` is 0 where all sockets share one NUMA node."""

    sockets: int
    numa: int
    caches: int
    per_cache: int
    threads: int
    numbering: str

    @classmethod
    def read(cls, text: str) -> "Node":
        """Read a node such as ``2x4x1x8x1 cores``."""
        shape, numbering = text.split()
        sockets, numa, caches, per_cache, threads = map(int, shape.split("x"))
        return cls(sockets, numa, caches, per_cache, threads, numbering)

    @property
    def per_socket(self) -> int:
        """Cores of a socket."""
        return max(1, self.numa) * self.caches * self.per_cache

    @property
    def cores(self) -> int:
        """Cores of the node."""
        return self.sockets * self.per_socket

    @property
    def numa_nodes(self) -> int:
        """NUMA nodes of the node."""
        return self.sockets * self.numa or 1

    def cpu(self, core: int, thread: int) -> int:
        """Return Linux' number of a hardware thread."""
        if self.numbering == "threads":
            return core * self.threads + thread
        if self.numbering == "interleaved":
            numa, place = divmod(core, self.cores // self.numa_nodes)
            core = place * self.numa_nodes + numa
        return core + thread * self.cores

    def cpus(self, cores: Iterable[int]) -> list[int]:
        """Return all hardware threads of some cores."""
        return [self.cpu(core, thread) for core in cores for thread in range(self.threads)]

    def draw(self, folder: Path) -> Path:
        """Write the node as hwloc's XML, and its NUMA nodes as the files below /sys/devices/system/node."""
        order = ",".join(map(str, self.cpus(range(self.cores))))
        inside = f"l3:{self.caches} l2:{self.per_cache} l1d:1 core:1 pu:{self.threads}(indexes={order})"
        packages = f"pack:{self.sockets} numa:{self.numa}" if self.numa else f"[numa] pack:{self.sockets}"
        xml = folder / "node.xml"
        command = ["lstopo", "--input", f"{packages} {inside}", "--of", "xml", "-f", str(xml)]
        subprocess.run(command, check=True, capture_output=True)
        self._write_sys(folder / "node")
        return xml

    def _write_sys(self, folder: Path) -> None:
        """Write the NUMA nodes as Linux shows them."""
        folder.mkdir()
        total, width = self.numa_nodes, self.cores // self.numa_nodes
        for name in ("possible", "online", "has_cpu", "has_memory", "has_normal_memory"):
            (folder / name).write_text(f"0-{total - 1}\n" if total > 1 else "0\n")
        for number in range(total):
            part = folder / f"node{number}"
            part.mkdir()
            cpus = sorted(self.cpus(range(number * width, number * width + width)))
            (part / "cpulist").write_text(as_ranges(cpus) + "\n")
            mask = sum(1 << cpu for cpu in cpus)
            words = [f"{mask >> (32 * word) & 0xFFFFFFFF:08x}" for word in range(-(-self.cores * self.threads // 32))]
            (part / "cpumap").write_text(",".join(reversed(words)) + "\n")
            per_socket = max(1, self.numa)
            far = (
                "10" if other == number else "12" if other // per_socket == number // per_socket else "32"
                for other in range(total)
            )
            (part / "distance").write_text(" ".join(far) + "\n")
            (part / "meminfo").write_text(f"Node {number} MemTotal: 16777216 kB\nNode {number} MemFree: 16000000 kB\n")

    def known(self) -> dict[str, str]:
        """Return the variables that anynode.c reads."""
        bits = [(size - 1).bit_length() for size in (self.threads, self.per_cache, self.per_socket // self.per_cache)]
        shifts = [bits[0], bits[0] + bits[1], sum(bits)]
        apic = {}
        for core in range(self.cores):
            socket, inside = divmod(core, self.per_socket)
            cache, place = divmod(inside, self.per_cache)
            for thread in range(self.threads):
                number = socket << shifts[2] | cache << shifts[1] | place << shifts[0] | thread
                apic[self.cpu(core, thread)] = number
        levels = [self.threads, self.per_cache * self.threads, self.per_socket * self.threads, *shifts]
        return {
            "ORACLE_APIC": ",".join(str(apic[cpu]) for cpu in sorted(apic)),
            "ORACLE_LEVELS": ",".join(map(str, levels)),
        }


def as_ranges(numbers: Iterable[int]) -> str:
    """Return sorted numbers as ranges: ``0-3,8``."""
    groups = groupby(enumerate(sorted(numbers)), key=lambda pair: pair[1] - pair[0])
    runs = [[number for _, number in group] for _, group in groups]
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def answer_of(ranks: dict[int, tuple[int, list[int] | None]], refused: str) -> str:
    """Return the answer of the table: rank -> its node and CPUs, or the message of a refusal."""
    if not ranks:
        return "! " + " ".join(re.sub(r"[^\x20-\x7e]|-{5,}", " ", refused).split())[:160]
    if sorted(ranks) != list(range(len(ranks))):
        return ""
    shown = []
    for rank in sorted(ranks):
        node, cpus = ranks[rank]
        shown.append((f"{node}:" if node else "") + (as_ranges(cpus) if cpus else "all"))
    alike = ((text, len(list(same))) for text, same in groupby(shown))
    return " ".join(text if times == 1 else f"{text}*{times}" for text, times in alike)


def clean_environment() -> dict[str, str]:
    """Return the environment without what would change a launcher's answer."""
    pattern = re.compile(r"OMP_|OMPI_|PRTE_|PMIX_|PMI|SLURM|PBS|HWLOC|I_MPI|HYDRA|MPI")
    return {name: value for name, value in os.environ.items() if not pattern.match(name)}


def split_line(line: str) -> tuple[dict[str, str], list[str]]:
    """Return the variables in front of a line, and its options."""
    words = shlex.split(line)
    first = next((at for at, word in enumerate(words) if not re.match(r"[A-Za-z_]\w*=", word)), len(words))
    return dict(word.split("=", 1) for word in words[:first]), words[first:]


def ask_openmpi(root: Path, node: Node, xml: Path, folder: Path, line: str) -> str:
    """Return the map printed by Open MPI 4.1 or 5.0; nothing is launched."""
    variables, options = split_line(line)
    old = "4." in release_of(root, "openmpi")[:2]
    allowed = [f"{name}_ALLOW_RUN_AS_ROOT{rest}" for name in ("OMPI", "PRTE") for rest in ("", "_CONFIRM")]
    shown = {"HWLOC_XMLFILE": str(xml), "HWLOC_THISSYSTEM": "1", **dict.fromkeys(allowed, "1")}
    hosts = folder / "hosts"
    hosts.write_text(f"localhost slots={node.cores}\n")
    how = (
        ["--mca", "plm", "^slurm", "--display-devel-map"] if old else ["--prtemca", "plm", "^slurm", "--display", "map"]
    )
    command = [str(root / "bin" / "mpirun"), "--hostfile", str(hosts), *how, "--do-not-launch", *options, "true"]
    text = run(command, clean_environment() | shown | variables)
    ranks: dict[int, tuple[int, list[int] | None]] = {}
    for match in re.finditer(r"App rank: (\d+)(.*?)(?=App rank|Data for proc|\Z)", text, re.DOTALL):
        printed = re.search(r"(?:Binding|Bound): (.*)", match[2])
        ranks[int(match[1])] = 0, (drawn_cpus if old else named_cpus)(printed[1] if printed else "", node)
    return answer_of(ranks, text)


def drawn_cpus(drawn: str, node: Node) -> list[int]:
    """Return the CPUs of a drawing such as ``[BB/..][../..]``."""
    cores = [core for socket in re.findall(r"\[([^\]]*)\]", drawn) for core in socket.split("/")]
    return [node.cpu(number, at) for number, core in enumerate(cores) for at, sign in enumerate(core) if sign == "B"]


def named_cpus(named: str, node: Node) -> list[int]:
    """Return the CPUs of a binding such as ``package[0][core:L0-3]``, or ``package[0][hwt:L5]``, which is Linux' number."""
    cpus = []
    for kind, listed in re.findall(r"(core|hwt):L?([\d,-]+)", named):
        for part in listed.split(","):
            low, _, high = part.partition("-")
            for number in range(int(low), int(high or low) + 1):
                cpus += node.cpus([number]) if kind == "core" else [number]
    return cpus


RANK = 'echo "rank $PMI_RANK $$ $PPID"'
SSH = """#!/bin/sh
while :; do case "$1" in -x|-q|-n|-T) shift ;; -o|-p|-l) shift 2 ;; *) break ;; esac; done
shift
exec sh -c "$*"
"""


def ask_mpich(root: Path, node: Node, xml: Path, folder: Path, line: str) -> str:
    """Return the masks that Hydra's proxies set."""
    variables, options = split_line(line)
    command = [str(root / "bin" / "mpiexec.hydra"), "-launcher", "fork", *options, "sh", "-c", RANK]
    return masks(command, variables | {"LD_PRELOAD": str(folder / "anynode.so")}, node, xml, folder)


def ask_intelmpi(root: Path, node: Node, xml: Path, folder: Path, line: str) -> str:
    """Return the masks that Intel MPI's proxies set."""
    variables, options = split_line(line)
    far = {"-hosts", "-host"} & set(options)
    ssh = ["-bootstrap", "ssh", "-bootstrap-exec", str(folder / "ssh")] if far else []
    launch = [str(root / "bin" / "mpiexec.hydra"), *ssh, *options, "sh", "-c", RANK]
    mount = f'mount --bind "{folder}/node" /sys/devices/system/node && exec "$@"'
    command = ["unshare", "--mount", "sh", "-c", mount, "sh", "env", f"LD_PRELOAD={folder}/anynode.so", *launch]
    return masks(command, {"I_MPI_ROOT": str(root)} | variables, node, xml, folder)


def masks(command: list[str], variables: dict[str, str], node: Node, xml: Path, folder: Path) -> str:
    """Return the mask that was set for each rank."""
    log = folder / "masks"
    log.unlink(missing_ok=True)
    shown = {"HWLOC_XMLFILE": str(xml), "HWLOC_THISSYSTEM": "1", "ORACLE_LOG": str(log), **node.known()}
    text = run(command, clean_environment() | shown | variables)
    kept = {}
    for written in log.read_text().splitlines() if log.exists() else []:
        pid, _, cpus = written.partition(":")
        kept[pid] = [int(cpu) for cpu in cpus.split()]
    found = re.findall(r"^rank (\d+) (\d+) (\d+)$", text, re.MULTILINE)
    hosts = list(dict.fromkeys(parent for _, _, parent in sorted(found, key=lambda rank: int(rank[0]))))
    ranks = {int(rank): (hosts.index(parent), kept.get(pid)) for rank, pid, parent in found}
    return answer_of(ranks, text)


def run(command: list[str], environment: dict[str, str]) -> str:
    """Return a command's output; empty after a minute without an answer."""
    try:
        done = subprocess.run(
            command,
            check=False,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=60,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return "no answer in 60 s"
    return done.stdout + done.stderr


_RELEASES: dict[Path, str] = {}


def release_of(root: Path, launcher: str) -> str:
    """Return the release of the launcher below a folder."""
    if root not in _RELEASES:
        program = "mpirun" if launcher == "openmpi" else "mpiexec.hydra"
        text = run([str(root / "bin" / program), "--version"], clean_environment())
        match = re.search(r"(?:Open MPI\) |Version:\s+|Version )(\d[\d.]*)", text)
        _RELEASES[root] = match[1] if match else "unknown"
    return _RELEASES[root]


ASK: dict[str, Callable[[Path, Node, Path, Path, str], str]] = {
    "openmpi": ask_openmpi,
    "mpich": ask_mpich,
    "intelmpi": ask_intelmpi,
}


def answers(launcher: str, root: Path, questions: list[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    """Yield each question with its answer."""
    for shape, of_node in groupby(questions, key=lambda question: question[0]):
        node = Node.read(shape)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            if launcher != "openmpi":
                source = Path(__file__).with_name("anynode.c")
                build = ["gcc", "-shared", "-fPIC", "-O1", "-o", str(folder / "anynode.so"), str(source)]
                subprocess.run(build, check=True)
                (folder / "ssh").write_text(SSH)
                (folder / "ssh").chmod(0o755)
            xml = node.draw(folder)
            for _, line in of_node:
                yield shape, line, ASK[launcher](root, node, xml, folder, line)


def _counts(node: Node, rng: random.Random) -> int:
    """Return a number of ranks: an even share of the node, as people write it, or any."""
    if rng.random() < 0.75:
        even = [n for n in (1, 2, 3, 4, 6, 7, 8, 12, 14, 16, 24, 28, 32, 48, 56, 64, 128) if n <= node.cores]
        return rng.choice([*even, node.cores, node.cores, node.numa_nodes, node.sockets])
    return rng.randint(1, node.cores + (rng.random() < 0.1) * 3)


def _width(node: Node, ranks: int, rng: random.Random) -> int:
    """Return CPUs for each rank, most of the time with room for all."""
    most = max(1, node.cores // ranks)
    return rng.choice((2, 2, 4, most, most, max(1, most // 2), rng.randint(1, most + 1)))


_OPENMPI_UNITS = (
    "slot",
    "core",
    "core",
    "numa",
    "numa",
    "l3cache",
    "socket",
    "socket",
    "hwthread",
    "node",
    "package",
    "l2cache",
)
_OPENMPI_BINDS = (
    "core",
    "core",
    "core",
    "none",
    "socket",
    "numa",
    "l3cache",
    "hwthread",
    "hwthread",
    "package",
    "l2cache",
)


def draw_openmpi(node: Node, rng: random.Random) -> str:
    """Return the options of an mpirun of Open MPI."""
    ranks = _counts(node, rng)
    counted = rng.choice(("-n {}", "-np {}")).format(ranks)
    kind = rng.random()
    if kind < 0.12:
        return f"{counted} {_openmpi_old(node, ranks, rng)}"
    if kind < 0.17:
        return counted
    parts = [counted] if rng.random() < 0.9 else []
    if kind < 0.22:
        parts.append(_openmpi_listed(node, ranks, rng))
        return " ".join(
            parts + ([f"--bind-to {rng.choice(('core', 'none', 'hwthread'))}"] if rng.random() < 0.4 else [])
        )
    if rng.random() < 0.8:
        parts.append(f"--map-by {_openmpi_map(node, ranks, rng)}")
    if rng.random() < 0.55:
        bound = rng.choice(_OPENMPI_BINDS)
        parts.append(f"--bind-to {bound}{':overload-allowed' if rng.random() < 0.06 else ''}")
    if rng.random() < 0.12:
        parts.append(f"--rank-by {rng.choice(('slot', 'node', 'core', 'socket', 'numa', 'fill', 'span', 'l3cache'))}")
    if rng.random() < 0.05:
        parts.append(rng.choice(("--oversubscribe", "--use-hwthread-cpus", "--nooversubscribe", "--report-bindings")))
    return " ".join(parts) or counted


def _openmpi_map(node: Node, ranks: int, rng: random.Random) -> str:
    """Return a value of --map-by."""
    unit = rng.choice(_OPENMPI_UNITS)
    if rng.random() < 0.3:
        each = rng.choice((1, 1, 2, 2, 4, max(1, ranks // node.numa_nodes), max(1, ranks // node.sockets)))
        unit = f"ppr:{each}:{'node' if unit == 'slot' else unit}"
    parts = [unit]
    if rng.random() < 0.35:
        name = rng.choice(("PE", "PE", "pe"))
        parts.append(f"{name}={_width(node, ranks, rng)}")
    if rng.random() < 0.06:
        parts.append(rng.choice(("OVERSUBSCRIBE", "span", "SPAN", "NOOVERSUBSCRIBE", "HWTCPUS")))
    return ":".join(parts)


def _openmpi_old(node: Node, ranks: int, rng: random.Random) -> str:
    """Return options of older releases that scripts still have."""
    width = _width(node, ranks, rng)
    each = rng.choice((1, 2, 4, max(1, ranks // node.sockets)))
    forms = (
        f"--npernode {ranks}", f"-N {ranks}", f"-npernode {max(1, ranks // 2)}", f"--npersocket {each}", "--bynode",
        f"-npersocket {max(1, -(-ranks // node.sockets))}", "--bycore", "--bysocket", "--bind-to-core",
        "--bind-to-socket --bysocket", f"--cpus-per-proc {width}", f"--cpus-per-rank {width} --bind-to core",
        f"--map-by socket --cpus-per-proc {width}", "--mca rmaps_base_mapping_policy socket",
        "--mca hwloc_base_binding_policy core", "--mca hwloc_base_binding_policy none", "-pernode", "--use-hwthread-cpus",
        "--oversubscribe", "--oversubscribe --bind-to core", "--report-bindings --bind-to socket",
        "-x OMP_NUM_THREADS=4", "--mca btl ^openib", "--mca pml ucx --bind-to core --map-by core",
    )  # fmt: skip
    return rng.choice(forms)


def _openmpi_listed(node: Node, ranks: int, rng: random.Random) -> str:
    """Return options that name CPUs."""
    first = rng.randrange(node.cores)
    last = min(node.cores - 1, first + rng.choice((1, 3, 7, 15)))
    numbers = ",".join(map(str, sorted(rng.sample(range(node.cores), min(node.cores, rng.choice((2, 4, ranks)))))))
    listed = rng.choice((f"{first}-{last}", numbers, f"0-{node.per_socket - 1}"))
    return rng.choice(
        (
            f"--cpu-set {listed}",
            f"--cpu-list {listed}",
            f"--map-by pe-list={listed}",
            f"--map-by pe-list={listed}:ordered",
        )
    )


def draw_mpich(node: Node, rng: random.Random) -> str:
    """Return the options of an mpiexec of MPICH."""
    ranks = _counts(node, rng) if rng.random() < 0.9 else rng.randint(1, 2 * node.cores * node.threads)
    units = (
        "core",
        "core",
        "numa",
        "socket",
        "hwthread",
        "l3cache",
        "l2cache",
        "package",
        "l1dcache",
        "board",
        "machine",
    )

    def unit() -> str:
        return rng.choice(units) + (
            f":{rng.choice((2, 2, 3, 4, 8, _width(node, ranks, rng)))}" if rng.random() < 0.3 else ""
        )

    parts = [rng.choice((f"-n {ranks}", f"-np {ranks}"))]
    if rng.random() < 0.1:
        return parts[0]
    if rng.random() < 0.1:
        numbers = [rng.randrange(node.cores * node.threads) for _ in range(rng.choice((2, 4, ranks)))]
        groups = [
            "+".join(map(str, sorted({number, (number + 1) % node.cores}))) if rng.random() < 0.4 else str(number)
            for number in numbers
        ]
        return f"{parts[0]} -bind-to user:{','.join(groups)}"
    parts.append(f"-bind-to {rng.choice(('none', 'rr')) if rng.random() < 0.12 else unit()}")
    parts += [f"-map-by {unit()}"] if rng.random() < 0.5 else []
    return " ".join(parts)


_DOMAINS = (
    "auto",
    "auto",
    "omp",
    "omp",
    "omp",
    "socket",
    "numa",
    "core",
    "node",
    "cache3",
    "cache2",
    "cache",
    "cache1",
)
_ORDERS = ("compact", "compact", "scatter", "spread", "bunch", "range")


def draw_intelmpi(node: Node, rng: random.Random) -> str:
    """Return variables and options of an mpirun of Intel MPI."""
    ranks = _counts(node, rng)
    if rng.random() < 0.06:
        ranks = rng.randint(node.cores, node.cores * node.threads)
    most = max(1, node.cores // ranks)
    variables = []
    if rng.random() < 0.45:
        variables.append(
            f"OMP_NUM_THREADS={rng.choice((1, 2, 4, 8, most, most, max(1, most // 2), most * node.threads))}"
        )
    kind = rng.random()
    if kind < 0.5:
        domain = rng.choice(_DOMAINS) if rng.random() < 0.8 else str(_width(node, ranks, rng))
        layout = rng.choice((":compact", ":scatter", ":platform")) if rng.random() < 0.2 else ""
        variables.append(f"I_MPI_PIN_DOMAIN={domain}{layout}")
    elif kind < 0.57:
        variables.append(f"I_MPI_PIN_PROCESSOR_LIST={_processor_list(node, ranks, rng)}")
    elif kind < 0.6:
        masks_of = [f"{(1 << rng.randint(1, 6)) - 1 << rng.randrange(node.cores):x}" for _ in range(min(ranks, 4))]
        variables.append(f"I_MPI_PIN_DOMAIN=[{','.join(masks_of)}]")
    if rng.random() < 0.22:
        variables.append(f"I_MPI_PIN_ORDER={rng.choice(_ORDERS)}")
    if rng.random() < 0.12:
        variables.append(f"I_MPI_PIN_CELL={rng.choice(('core', 'core', 'unit'))}")
    if rng.random() < 0.05:
        variables.append(
            rng.choice(
                (
                    "I_MPI_PIN=off",
                    "I_MPI_PIN=0",
                    "I_MPI_PIN=yes",
                    "I_MPI_PIN_RESPECT_CPUSET=0",
                    "I_MPI_PIN_PROCESSOR_EXCLUDE_LIST=0-1",
                )
            )
        )
    options = [rng.choice((f"-n {ranks}", f"-np {ranks}"))]
    if rng.random() < 0.06:
        options.append(
            rng.choice(("-bind-to core", "-bind-to none", "-map-by socket", f"-ppn {ranks}", "-envall", "-rr"))
        )
    return " ".join([*variables, *options])


def _processor_list(node: Node, ranks: int, rng: random.Random) -> str:
    """Return a value of I_MPI_PIN_PROCESSOR_LIST."""
    first = rng.randrange(node.cores)
    numbers = ",".join(str(rng.randrange(node.cores * node.threads)) for _ in range(ranks))
    procedural = rng.choice(("allcores", "all", "allsocks")) + rng.choice(
        ("", "", ":map=scatter", ":map=bunch", ":map=spread", ":grain=2", ":shift=2")
    )
    return rng.choice(
        (f"0-{ranks - 1}", f"{first}-{min(node.cores - 1, first + ranks)}", numbers, procedural, procedural)
    )


DRAW: dict[str, Callable[[Node, random.Random], str]] = {
    "openmpi": draw_openmpi,
    "mpich": draw_mpich,
    "intelmpi": draw_intelmpi,
}


def main() -> None:
    """Draw questions, or answer them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("launcher", choices=sorted(ASK))
    parser.add_argument("questions", type=Path)
    parser.add_argument("answers", type=Path, nargs="?")
    parser.add_argument("--root", type=Path, default=Path("/usr"), help="folder with bin/mpirun or bin/mpiexec.hydra")
    parser.add_argument("--draw", type=int, metavar="N", help="write N questions for each node and stop")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if args.draw:
        rng = random.Random(args.seed)
        drawn = {(shape, DRAW[args.launcher](Node.read(shape), rng)) for shape in NODES for _ in range(args.draw)}
        with args.questions.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([("node", "line"), *sorted(drawn)])
        return
    if args.launcher == "intelmpi" and os.geteuid():
        sys.exit("run as root: a private mount shows the NUMA nodes")
    root = args.root.absolute()
    with args.questions.open(newline="") as file:
        questions = [(row["node"], row["line"]) for row in csv.DictReader(file)]
    began = time.monotonic()
    with args.answers.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("node", "line", release_of(root, args.launcher)))
        for row in answers(args.launcher, root, questions):
            writer.writerow(row)
            file.flush()
    print(f"{len(questions)} lines in {time.monotonic() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
