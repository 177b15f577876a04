"""The package's placements compared with the answers of real launchers, stored by scripts/ask_mpiexec.py."""

import csv
import lzma
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby, islice
from pathlib import Path
from typing import Any, NamedTuple

from hopperkit.launchers.placing import place_tasks
from hopperkit.launchers.reader import read_launch
from hopperlib.machine import Machine
from hopperlib.machine.cpu_numbers import written
from hopperlib.placement.components import LaunchError

FOLDER = Path(__file__).parent
LAUNCHERS = ("openmpi", "mpich", "intelmpi")
_MODULES = {"openmpi": "openmpi", "mpich": "mpich", "intelmpi": "intel-mpi"}


class Answer(NamedTuple):
    """One line, the release that was run, and its answer."""

    launcher: str
    release: str
    node: str
    line: str
    answer: str

    @property
    def script(self) -> str:
        """The line as a job script has it."""
        variables, options = self.line, ""
        if "-" in self.line:
            at = self.line.index(" -") if not self.line.startswith("-") else -1
            variables, options = self.line[: max(at, 0)], self.line[at + 1 :]
        load = f"module load {_MODULES[self.launcher]}/{self.release}"
        return f"#!/bin/bash\n#SBATCH -N 1\n{load}\n{variables} mpirun {options} ./a.out\n"


def answers(launcher: str) -> Iterator[Answer]:
    """Yield every answer of a launcher's table; = means that of the release before, nothing that the release was not run."""
    with lzma.open(FOLDER / f"{launcher}.csv.xz", "rt", newline="") as file:
        reader = csv.reader(file)
        releases = next(reader)[2:]
        for node, line, *given in reader:
            before = ""
            for release, text in zip(releases, given, strict=True):
                before = before if text in ("=", "") else text
                if text:
                    yield Answer(launcher, release, node, line, before)


@cache
def machine_of(node: str) -> Machine:
    """Return a machine of that node."""
    shape, numbering = node.split()
    sockets, numa_nodes, caches, per_cache, threads = map(int, shape.split("x"))
    cores = sockets * max(1, numa_nodes) * caches * per_cache
    places = max(1, sockets * numa_nodes)
    values: dict[str, Any] = {
        "sockets": sockets,
        "numa_nodes_per_socket": max(1, numa_nodes),
        "sockets_per_numa_node": 1 if numa_nodes else sockets,
        "cores_per_numa_node": cores // places,
        "cores_per_l3": per_cache,
        "threads_per_core": threads,
        "memory_gb": 512,
        "usable_memory_gb": 500,
        "cpu_numbering": "threads" if numbering == "threads" else "cores",
    }
    if numbering == "interleaved":
        first = [core % (cores // places) * places + core // (cores // places) for core in range(cores)]
        values["cpu_numbers"] = [written(tuple(cpu + thread * cores for cpu in first)) for thread in range(threads)]
    document = tomllib.loads((Path("hopperlib") / "machines" / "cluster.toml").read_text())
    document["node"] = [
        document["node"][0] | {key: {"value": value, "assumed": "asked"} for key, value in values.items()}
    ]
    return Machine.from_document(document, name="asked.toml")


def packaged(answer: Answer) -> str:
    """Return the package's answer in the form of the table; ``?`` where it cannot tell, ``!`` where it refuses."""
    machine = machine_of(answer.node)
    try:
        placement = place_tasks(read_launch(answer.script, machine), machine)
    except LaunchError as error:
        return f"! {error}"
    if placement.doubts:
        return f"? {placement.doubts[0]}"
    seats = [seat for node in placement.nodes for _, seat in node.seats()]
    return folded(_ranges(seat.cpus) if seat.bound else "all" for seat in seats)


def folded(masks: Iterable[str]) -> str:
    """Return masks with ``*N`` after those that N ranks in a row have."""
    alike = ((mask, len(list(same))) for mask, same in groupby(masks))
    return " ".join(mask if times == 1 else f"{mask}*{times}" for mask, times in alike)


def _ranges(numbers: tuple[int, ...]) -> str:
    """Return CPUs in the form of the table."""
    groups = groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])
    runs = [[number for _, number in group] for _, group in groups]
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def _plain(text: str, node: str) -> str:
    """Return an answer in which a rank that may use all CPUs is not bound: Open MPI prints both alike."""
    kind = machine_of(node).node()
    every = _ranges(tuple(range(kind.hardware_threads)))
    parts = (part.partition("*") for part in text.split())
    return folded(mask for part, _, times in parts for mask in ["all" if part == every else part] * int(times or 1))


def verdict(answer: Answer, package: str) -> str:
    """Return how the package did: equal, cannot tell, elsewhere, refused wrongly, or taken wrongly."""
    if package.startswith("?"):
        return "cannot tell"
    refused, refuses = answer.answer.startswith("!"), package.startswith("!")
    if refused or refuses:
        return "equal" if refused and refuses else "taken wrongly" if refused else "refused wrongly"
    return "equal" if _plain(answer.answer, answer.node) == _plain(package, answer.node) else "elsewhere"


def counted(asked: Iterable[Answer]) -> dict[tuple[str, str], Counter[str]]:
    """Return how the package did for each launcher and release."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for answer in asked:
        how = verdict(answer, packaged(answer))
        counts.setdefault((answer.launcher, answer.release), Counter())[how] += 1
    return counts


def main() -> None:
    """Print what differs."""
    totals: dict[tuple[str, str], Counter[str]] = {}
    every = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    for launcher in sys.argv[1:2] or LAUNCHERS:
        for answer in islice(answers(launcher), 0, None, every):
            package = packaged(answer)
            how = verdict(answer, package)
            totals.setdefault((launcher, answer.release), Counter())[how] += 1
            if how not in ("equal", "cannot tell"):
                print(f"{how:15} {launcher} {answer.release} [{answer.node}] {answer.line}")
                print(f"{'':15} real    {answer.answer[:150]}\n{'':15} package {package[:150]}")
    for key, count in totals.items():
        print(*key, dict(count))


if __name__ == "__main__":
    main()
