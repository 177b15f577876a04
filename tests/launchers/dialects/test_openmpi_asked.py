"""Open MPI lines against what mpirun 4.1.4 and 5.0.7 answered for a node of 2 x 4 x 16 cores that hwloc showed them.

Asked with ``--display map --do-not-launch`` (``--display-map``), the node's XML in HWLOC_XMLFILE. An answer has the
cores of each task as ranges, ``*N`` behind what N tasks in a row have, ``all`` where they are not bound, ``!`` where the
line is refused; an empty one is not known.
"""

import csv
from collections import Counter
from pathlib import Path

import pytest

from hopperlib.launchers.components import LaunchError
from hopperlib.launchers.ranges import as_ranges
from hopperlib.launchers.reader import read_launch
from hopperlib.machine import Machine
from hopperlib.placement.placement import place_tasks

TABLE = Path(__file__).parent / "openmpi.csv"


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
