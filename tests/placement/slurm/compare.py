"""Comparison of the package's placements with the answers of a real Slurm collected by scripts/ask_slurm.py."""

import csv
import lzma
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from hopperkit.launchers.placing import place_tasks
from hopperkit.launchers.reader import read_launches
from hopperlib.machine import Machine
from hopperlib.placement.components import Launch, LaunchError
from hopperlib.text import count as count_words

TABLE = Path(__file__).parent / "answers.csv.xz"
SOCKETS = {"numa_node_as_socket": "numa_node", "l3cache_as_socket": "l3"}


class Answer(NamedTuple):
    """One question, Slurm's release and its answer."""

    configuration: str
    job: str
    line: str
    release: str
    answer: str

    @property
    def text(self) -> str:
        """The line as a user writes it, in its script if it has a job."""
        if not self.job:
            one_node = "" if " -N " in self.line else " -N1"
            return f"{self.line.replace('srun', f'srun{one_node}', 1)} ./a.out"
        steps = self.line.replace(" & ", " ./a.out &\n")
        together = " &\nwait" if " & " in self.line else ""
        return f"#!/bin/bash\n#SBATCH {self.job}\n{steps} ./a.out{together}\n"


def answers(table: Path = TABLE) -> Iterator[Answer]:
    """Yield every answer of the table; = means that of the release before."""
    with lzma.open(table, "rt", newline="") as file:
        reader = csv.reader(file)
        releases = next(reader)[3:]
        for configuration, job, line, *told in reader:
            before = ""
            for release, answer in zip(releases, told, strict=True):
                before = answer if answer != "=" else before
                if before:
                    yield Answer(configuration, job, line, release, before)


@cache
def machine_of(configuration: str, release: str) -> Machine:
    """Return a machine of that node, with those settings, that runs that release."""
    shape, select, slurmd, task_plugin, *more = configuration.split()
    gpus = int(dict(part.split("=") for part in more).get("gpus", 0))
    sockets, numa_nodes, caches, cores, threads = map(int, shape.split("x"))
    document = tomllib.loads((Path("hopperlib") / "machines" / "cluster.toml").read_text())
    node = document["node"][0]
    values: dict[str, Any] = {
        "sockets": sockets,
        "numa_nodes_per_socket": numa_nodes,
        "cores_per_numa_node": caches * cores,
        "cores_per_l3": cores,
        "threads_per_core": threads,
        "memory_gb": 512,
        "usable_memory_gb": 500,
    }
    if gpus:
        counted = (
            sockets * {"-": 1, "numa_node_as_socket": numa_nodes, "l3cache_as_socket": numa_nodes * caches}[slurmd]
        )
        width = sockets * numa_nodes * caches * cores // counted
        near = [f"{first}-{first + width - 1}" for first in (gpu * counted // gpus * width for gpu in range(gpus))]
        values |= {"gpu_cores": near, "gpu_model": "asked", "gpus_by_default": False}
    node |= {key: {"value": value, "assumed": "asked"} for key, value in values.items()}
    launcher: dict[str, Any] = {
        "version": release,
        "slurm_socket": SOCKETS.get(slurmd, "socket"),
        "auto_binding": task_plugin.partition("=")[2] or "none",
        "default_distribution": "block:block" if "CR_CORE_DEFAULT_DIST_BLOCK" in select else "block:cyclic",
    }
    if slurmd.startswith("slurm_conf_"):
        # Asked with config_overrides: before Slurm 23.11 slurmd then takes the sockets of slurm.conf for its own.
        key = "slurm_conf_socket" if release >= "23.11" else "slurm_socket"
        launcher[key] = slurmd.removeprefix("slurm_conf_")
    if "CR_ONE_TASK_PER_CORE" in select:
        launcher["tasks_per_core"] = 1
    srun = {key: {"value": value, "assumed": "asked"} for key, value in launcher.items()}
    document |= {"node": [node], "launcher": [{"kind": "srun", **srun}]}
    return Machine.from_document(document, name="asked.toml")


def packaged(answer: Answer) -> str:
    """Return the package's placement in the form of the table; ``?`` if it is unknown for any step."""
    machine = machine_of(answer.configuration, answer.release)
    try:
        launches = read_launches(answer.text, machine)
    except LaunchError as error:
        return f"! {error}"
    steps = [_of_step(launch, machine, told) for launch, told in zip(launches, answer.answer.split(" & "), strict=True)]
    return next((step for step in steps if step.startswith("?")), " & ".join(steps))


def _of_step(launch: Launch, machine: Machine, told: str) -> str:
    """Return the package's placement of one step."""
    try:
        placement = place_tasks(launch, machine)
    except LaunchError as error:
        return f"! {error}"
    if placement.doubts:
        return f"? {placement.doubts[0]}"
    seats = {number: seat for node in placement.nodes for number, seat in node.seats()}
    # Slurm prints no mask for tasks that the line leaves free.
    free = not any(seat.bound for seat in seats.values()) and "all" in told
    masks = ["all" if free else _ranges(seats[number].cpus) for number in sorted(seats)]
    first = {number: f"{node.node}:" if node.node else "" for node in placement.nodes for number in node.task_numbers}
    # If Slurm sets no variable, it hides no GPU and reports none.
    said = "/" in told
    seen = [_gpus_seen(seats[number].gpus) if said else "" for number in sorted(seats)]
    masks = [f"{first[number]}{mask}{gpus}" for number, (mask, gpus) in enumerate(zip(masks, seen, strict=True))]
    alike = ((mask, len(list(same))) for mask, same in groupby(masks))
    return " ".join(mask if times == 1 else f"{mask}*{times}" for mask, times in alike)


def _ranges(numbers: tuple[int, ...]) -> str:
    """Return CPUs in the form of the table."""
    groups = groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])
    runs = [[number for _, number in group] for _, group in groups]
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def _gpus_seen(gpus: tuple[int, ...] | None) -> str:
    """Return the GPUs of a task as the table has them."""
    return f"/{','.join(map(str, gpus))}" if gpus else ""


def verdict(slurm: str, package: str) -> str:
    """Return the outcome: equal, cannot tell, wrong, rejected wrongly, or accepted wrongly."""
    if package.startswith("?"):
        return "cannot tell"
    refused, refuses = slurm.startswith("!"), package.startswith("!")
    if refused or refuses:
        return "equal" if refused and refuses else "taken wrongly" if refused else "refused wrongly"
    return "equal" if slurm == package else "wrong"


def counted(asked: Iterable[Answer]) -> dict[tuple[str, str], Counter[str]]:
    """Return the outcome for each node and release."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for answer in asked:
        how = verdict(answer.answer, packaged(answer))
        counts.setdefault((answer.configuration.split()[0], answer.release), Counter())[how] += 1
    return counts


def summary(counts: dict[tuple[str, str], Counter[str]]) -> list[dict[str, str | int]]:
    """Return the rows of data/asked-slurm.csv."""
    rows: list[dict[str, str | int]] = []
    for (node, release), count in sorted(counts.items()):
        sockets, numa_nodes, caches, cores, threads = map(int, node.split("x"))
        shape = f"{sockets} x {numa_nodes * caches * cores} cores, {count_words(sockets * numa_nodes, 'NUMA node')}"
        shape += f", {threads} hardware threads a core" if threads > 1 else ""
        told = {"lines": count.total(), "equal": count["equal"], "cannot_tell": count["cannot tell"]}
        refusals = count["taken wrongly"] + count["refused wrongly"]
        rows.append(
            {"node": shape, "release": release, **told, "refusal_differs": refusals, "elsewhere": count["wrong"]}
        )
    return rows


def main() -> None:
    """Print the differences, and write data/asked-slurm.csv from the collected table."""
    table = Path(sys.argv[1]) if len(sys.argv) > 1 else TABLE
    counts: Counter[str] = Counter()
    for answer in answers(table):
        package = packaged(answer)
        how = verdict(answer.answer, package)
        counts[how] += 1
        if how not in ("equal", "cannot tell"):
            print(f"{how:15} {answer.release} [{answer.configuration}] {answer.job!r} {answer.line}")
            print(f"{'':15} Slurm   {answer.answer[:150]}\n{'':15} package {package[:150]}")
    print(counts)
    if table == TABLE:
        rows = summary(counted(answers()))
        with Path("data/asked-slurm.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
