"""Check machines that sites propose: each file is sound, and a printed placement is as hopper answers.

Run as ``python contrib/machines/check.py FOLDER...``; exit status 1 if one is refused.
"""

import sys
from pathlib import Path

from hopperkit.launchers.placing import place_tasks
from hopperkit.launchers.printed import check_printed, read_printed
from hopperkit.launchers.reader import read_launches
from hopperlib.errors import InputError
from hopperlib.machine import Machine
from hopperlib.text import count

_FILES = ("script.sh", "printed.txt")


def refusals(folder: Path) -> tuple[list[str], str]:
    """Return why the machine of a folder is rejected, and otherwise the checks that passed."""
    name = folder.name
    missing = [file for file in (f"{name}.toml", *_FILES) if not (folder / file).is_file()]
    if missing:
        return [f"lacks {', '.join(missing)}"], ""
    if name in Machine.names():
        return [f"{name} is a machine of the library already: propose a change of its file"], ""
    script, printed = ((folder / file).read_text(encoding="utf-8", errors="replace") for file in _FILES)
    try:
        machine = Machine.load(str(folder / f"{name}.toml"))
        launches = read_launches(script, machine)
        if len(launches) != 1:
            return [f"script.sh has {len(launches)} launch lines; one printed placement belongs to one"], ""
        placement = place_tasks(launches[0], machine)
        tasks = read_printed(printed, placement.node_kind)
        finding = check_printed(placement, printed)
    except InputError as error:
        return [" ".join(str(error).split())], ""
    problems = [f"the file calls itself {machine.name}"] if machine.name != name else []
    if placement.doubts:
        problems.append(f"the placement is in doubt and proves nothing: {placement.doubts[0]}")
    absent = sorted({task for task, _ in placement.nodes[0].seats()} - set(tasks))
    if absent:
        problems.append(f"printed.txt leaves out task {absent[0]} of the first node")
    if finding.level != "ok":
        problems.append(finding.message)
    return problems, f"{count(len(tasks), 'task')} of 1 line ran where hopper puts them"


def main(folders: list[str]) -> int:
    """Check each folder, and return the exit status."""
    refused = 0
    for folder in map(Path, folders):
        problems, checked = refusals(folder)
        refused += bool(problems)
        for problem in problems or [f"sound; {checked}"]:
            print(f"{folder.name}: {problem}")
    return int(refused > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
