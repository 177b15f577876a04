"""Open MPI and MPICH lines against what mpirun 4.1.4 and 5.0.7 and Hydra 4.0.2 answered for a node of 2 x 4 x 16 cores.

hwloc showed them the node. mpirun was asked with ``--display map --do-not-launch`` (``--display-map``), and Hydra with
programs that print the mask that a preloaded function kept. An answer has the
cores of each task as ranges, ``*N`` behind what N tasks in a row have, ``all`` where they are not bound, ``!`` where the
line is refused; an empty one is not known.
"""

import csv
from collections import Counter
from pathlib import Path

import pytest

from hopperkit.launchers.placing import place_tasks
from hopperkit.launchers.ranges import as_ranges
from hopperkit.launchers.reader import read_launch
from hopperlib.machine import Machine
from hopperlib.placement.components import LaunchError

TABLE = Path(__file__).parent / "openmpi.csv"
HYDRA = Path(__file__).parent / "hydra.csv"


@pytest.fixture(scope="module")
def machine() -> Machine:
    document = Machine.load("cluster").to_document()
    shape = {
        "sockets": 2,
        "numa_nodes_per_socket": 4,
        "cores_per_numa_node": 16,
        "cores_per_l3": 8,
        "threads_per_core": 2,
    }
    document["node"] = [
        document["node"][0] | {key: {"value": value, "assumed": "asked"} for key, value in shape.items()}
    ]
    return Machine.from_document(document, name="asked.toml")


def unrolled(answer: str) -> list[str]:
    """The cores of each task."""
    parts = (part.partition("*") for part in answer.split())
    return [cores for cores, _, times in parts for _ in range(int(times or 1))]


def package(line: str, release: str, machine: Machine) -> str | list[str]:
    """What the package says: the cores of each task, ``!`` where it refuses, ``?`` where it cannot tell."""
    load = f"module load openmpi/{release}\n" if release else ""
    try:
        placement = place_tasks(read_launch(f"#SBATCH -N 1\n{load}mpirun {line} ./a.out\n", machine), machine)
    except LaunchError:
        return "!"
    if placement.doubts:
        return "?"
    seats = [seat for node in placement.nodes for _, seat in node.seats()]
    return [
        as_ranges(seat.cores).replace(",", "-")
        if len(seat.cores) == 2
        else as_ranges(seat.cores)
        if seat.bound
        else "all"
        for seat in seats
    ]


@pytest.mark.parametrize("release", ["4.1.4", "5.0.7"])
def test_mapped_as_that_release_does(release: str, machine: Machine) -> None:
    with TABLE.open(encoding="utf-8", newline="") as file:
        asked = [(row["line"], row[release]) for row in csv.DictReader(file) if row[release]]
    how = Counter[str]()
    for line, real in asked:
        ours = package(line, release, machine)
        expected: str | list[str] = "!" if real == "!" else unrolled(real)
        assert ours in (expected, "?"), (line, real)
        how["cannot tell" if ours == "?" else "equal"] += 1
    assert len(asked) >= 80
    assert how["equal"] >= 40


def test_without_a_release_only_what_both_do_is_sure(machine: Machine) -> None:
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["5.0.7"]]
    sure = [row for row in rows if package(row["line"], "", machine) != "?"]
    assert not [row["line"] for row in sure if row["4.1.4"] != row["5.0.7"]]
    assert len(sure) >= 25


def test_bound_as_hydra_does(machine: Machine) -> None:
    """Its table has CPUs, not cores."""
    with HYDRA.open(encoding="utf-8", newline="") as file:
        asked = [(row["line"], row["4.0.2"]) for row in csv.DictReader(file)]
    how = Counter[str]()
    for line, real in asked:
        try:
            text = f"#SBATCH -N 1\nmodule load mpich\nmpiexec {line} ./a.out\n"
            placement = place_tasks(read_launch(text, machine), machine)
        except LaunchError:
            assert real == "!", line
            continue
        if placement.doubts:
            how["cannot tell"] += 1
            continue
        seats = [seat for node in placement.nodes for _, seat in node.seats()]
        every = set(range(machine.node().hardware_threads))
        assert [set(seat.cpus) for seat in seats] == [cpus_of(part) or every for part in unrolled(real)], line
        how["equal"] += 1
    assert how["equal"] >= 170
    assert how["cannot tell"] <= 20


def cpus_of(ranges: str) -> set[int]:
    """CPUs of an answer; none for ``all``."""
    parts = [part.partition("-") for part in ranges.split(",")] if ranges != "all" else []
    return {cpu for first, _, last in parts for cpu in range(int(first), int(last or first) + 1)}
