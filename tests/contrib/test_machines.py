"""The registry of machines: a file and a printed placement that agree are taken, all else is refused."""

import importlib.util

import pytest

from hopperkit.readers.hardware.reader import machine_from, read_hardware

LSCPU = "CPU(s): 8\nThread(s) per core: 1\nCore(s) per socket: 4\nSocket(s): 2\nNUMA node(s): 2\nNUMA node0 CPU(s): 0-3\nNUMA node1 CPU(s): 4-7\n"
SCONTROL = "NodeName=n[1-4] CoresPerSocket=4 RealMemory=31000 Sockets=2 ThreadsPerCore=1 Version=23.11.4\n"
SCRIPT = "#!/bin/bash\n#SBATCH -N 1 -n 4 --exclusive\nsrun -n 4 -c 2 --cpu-bind=cores ./xthi\n"
# Four tasks of two cores, dealt out over the two sockets in turn.
RAN = ("0-1", "4-5", "2-3", "6-7")
PRINTED = "".join(
    f"Hello from rank {task}, thread 0, on n1. (core affinity = {cpus})\n" for task, cpus in enumerate(RAN)
)


@pytest.fixture
def check(root):
    """The script of the registry."""
    spec = importlib.util.spec_from_file_location("check_machines", root / "contrib" / "machines" / "check.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def folder(tmp_path):
    """A proposal that is sound."""
    made = machine_from([*read_hardware(SCONTROL), *read_hardware(LSCPU)], name="mine")
    (tmp_path / "mine").mkdir()
    for file, text in (("mine.toml", made.to_toml()), ("script.sh", SCRIPT), ("printed.txt", PRINTED)):
        (tmp_path / "mine" / file).write_text(text)
    return tmp_path / "mine"


def test_a_file_and_a_placement_that_agree_are_taken(check, folder, capsys):
    assert check.main([str(folder)]) == 0
    assert capsys.readouterr().out == "mine: sound; 4 tasks of 1 line ran where hopper puts them\n"


@pytest.mark.parametrize(
    ("file", "old", "new", "reason"),
    [
        ("printed.txt", "4-5", "6-7", "1 of 4 tasks ran elsewhere"),
        ("printed.txt", PRINTED.splitlines()[3], "", "leaves out task 3"),
        ("printed.txt", PRINTED, "nothing\n", "holds no line"),
        ("script.sh", "-n 4 -c 2", "-n 99 -c 2", "-n 99"),
        ("script.sh", "srun", "hostname; srun -n 1 ./b\nsrun", "2 launch lines"),
        ("mine.toml", 'name = "mine"', 'name = "other"', "calls itself other"),
        ("mine.toml", "[[node]]", "[[nodes]]", "nodes"),
    ],
)
def test_what_does_not_agree_is_refused(check, folder, capsys, file, old, new, reason):
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1))
    assert check.main([str(folder)]) == 1
    assert reason in capsys.readouterr().out


def test_a_missing_file_and_a_taken_name_are_refused(check, folder):
    taken = folder.rename(folder.parent / "archer2")
    (taken / "mine.toml").rename(taken / "archer2.toml")
    assert "a machine of the library already" in check.refusals(taken)[0][0]
    (taken / "printed.txt").unlink()
    assert check.refusals(taken)[0] == ["lacks printed.txt"]


def test_every_proposal_of_the_registry_is_sound(check, root):
    folders = [
        each for each in (root / "contrib" / "machines").iterdir() if each.is_dir() and not each.name.startswith("_")
    ]
    assert check.main([str(each) for each in folders]) == 0
