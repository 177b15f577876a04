"""Launch lines of public documentation, placed: ``python -m benchmarks.launch_lines FOLDER`` with clones of the repositories.

Writes ``benchmarks/launch-lines.csv``: where each script or line stands, and what became of it. The texts themselves are
not part of this repository.
"""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from hopperkit.launchers.review import review_lines
from hopperkit.questions.machine_choice import machine_of_text
from hopperlib.machine import Machine
from hopperlib.placement.components import LaunchError

REPOSITORIES = {
    "olcf/olcf-user-docs": "frontier",
    "Lumi-supercomputer/lumi-userguide": "lumi-c",
    "Lumi-supercomputer/LUMI-training-materials": "lumi-g",
    "ARCHER2-HPC/archer2-docs": "archer2",
    "eth-cscs/cscs-docs": "daint",
    "argonne-lcf/user-guides": "polaris",
}
_LAUNCHER = re.compile(r"^[^#\n]*\b(srun|aprun|mpiexec|mpirun|jsrun)[ \t]", re.MULTILINE)
_BLOCK = re.compile(
    r"^[ \t]*```+[^\n]*\n(.*?)^[ \t]*```+|\.\. code(?:-block)?::[^\n]*\n((?:[ \t]+[^\n]*\n|[ \t]*\n)+)",
    re.MULTILINE | re.DOTALL,
)
# The newest course alone; the older ones repeat it.
_LEFT_OUT = re.compile(
    r"docs/(?:[0-9a-zA-Z]*day|Hackathon|User-Updates|intro|Profiling|EuroCC|Course)[^/]*/", re.IGNORECASE
)


def _git(repository: Path, *words: str) -> str:
    """Return what git prints."""
    done = subprocess.run(["git", "-C", str(repository), *words], capture_output=True, check=True)
    return done.stdout.decode("utf-8", errors="replace")


def blocks(repository: Path) -> Iterator[tuple[str, int, str]]:
    """Yield path, line and text of each block of code with a launch line."""
    for path in _git(repository, "ls-tree", "-r", "HEAD", "--name-only").splitlines():
        if not path.endswith((".md", ".rst")) or (_LEFT_OUT.match(path) and "2day-20260422" not in path):
            continue
        text = _git(repository, "show", f"HEAD:{path}")
        for match in _BLOCK.finditer(text):
            block = match[1] or match[2] or ""
            if _LAUNCHER.search(block):
                depth = min((len(line) - len(line.lstrip()) for line in block.splitlines() if line.strip()), default=0)
                yield (
                    path,
                    text.count("\n", 0, match.start()) + 1,
                    "\n".join(line[depth:] for line in block.splitlines()),
                )


def outcome(text: str, path: str, usual: str) -> tuple[str, str, str]:
    """Return machine, what became of a text, and why."""
    machine = Machine.load(machine_of_text(text)[0] or machine_of_text(path.replace("-", " "))[0] or usual)
    try:
        reviews = review_lines(text, machine)
    except LaunchError as error:
        return machine.name, "refused", error.rule
    doubts = [doubt for review in reviews for doubt in review.placement.doubts]
    return machine.name, "cannot tell" if doubts else "placed", doubts[0] if doubts else ""


def main(folder: Path) -> None:
    """Place every block of the repositories in a folder."""
    rows = []
    for name, usual in REPOSITORIES.items():
        repository = next(
            place for place in (folder / name.replace("/", "+") / "repo", folder / name) if place.exists()
        )
        for path, line, text in blocks(repository):
            rows.append((name, path, line, *outcome(text, path, usual)))
    with open(Path(__file__).parent / "launch-lines.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("repository", "path", "line", "machine", "outcome", "why"))
        writer.writerows(rows)
    print(len(rows), "blocks:", dict(Counter(row[4] for row in rows)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
