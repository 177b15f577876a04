"""Checks of job scripts before submission: 40 with one planted mistake each, 40 as in the sites' documentation."""

import csv
from pathlib import Path

import pytest

from hopperkit.launchers import read_script
from hopperkit.launchers.judging.job_checks import check_job
from hopperkit.questions.node.place import Lines, answers
from hopperlib.errors import InputError
from hopperlib.machine import Machine

FOLDER = Path(__file__).parents[1] / "job_scripts"
with (FOLDER / "index.csv").open(encoding="utf-8") as _index:
    ROWS = [tuple(row) for row in csv.reader(_index)][1:]
PLANTED = [row for row in ROWS if row[2]]
SOUND = [row for row in ROWS if not row[2]]


def alarms(text: str, machine: str) -> list[str]:
    """Codes of the problems and the advice of a script; for a refused one also the word refused."""
    asked = Lines(line=text, machine=Machine.load(machine))
    try:
        findings = [finding for result in answers(asked) for finding in result.findings]
    except InputError:
        return [*(finding.code for finding in asked.job_findings), "refused"]
    return [finding.code for finding in findings if finding.level in ("problem", "advice")]


def test_planted_mistakes_are_found():
    assert len(PLANTED) == 40
    missed = [row for row in PLANTED if row[2] not in alarms((FOLDER / row[0]).read_text(), row[1])]
    assert len(missed) <= 4, missed


def test_sound_scripts_raise_no_alarm():
    assert len(SOUND) == 40
    alarmed = {row[0]: found for row in SOUND if (found := alarms((FOLDER / row[0]).read_text(), row[1]))}
    assert len(alarmed) <= 1, alarmed


def messages(text: str, machine: str) -> list[str]:
    return [f"{each.message} -> {each.advice}" for each in check_job(read_script(text), Machine.load(machine))]


@pytest.mark.parametrize(
    ("machine", "text", "expected"),
    [
        (
            "perlmutter",
            "#SBATCH -q debug -C cpu\n#SBATCH -t 45\nsrun -n 4 ./a",
            'Line 2 "#SBATCH -t 45": 45 min with qos=debug, whose jobs run for at most 30 min (NERSC documentation, Queues and '
            "Charges (web page; its tables as others copied them): table of QOS limits, Perlmutter GPU). -> "
            "Request 00:30:00 or less.",
        ),
        (
            "archer2",
            "#SBATCH -p standrad\nsrun -n 4 ./a",
            'Line 1 "#SBATCH -p standrad": partition=standrad does not exist on ARCHER2 (ARCHER2 documentation, Hardware and Running '
            "jobs (web pages): Running jobs: Partitions, and Quality of Service). There are: standard, highmem, serial, gpu. -> Write -p standard.",
        ),
        (
            "lumi-g",
            "#SBATCH -p dev-g\nlrun -n 4 ./a",
            'Line 2 "lrun -n 4 ./a": lrun starts tasks elsewhere; on LUMI-G srun does. -> Start the program with srun.',
        ),
    ],
)
def test_what_is_said(machine, text, expected):
    assert messages(text, machine) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        # A plain cluster states no limits, and a variable is no name.
        "#SBATCH -p mine -q mine -C mine\n#SBATCH -t 100-0\nmpirun -n 4 ./a",
        "#SBATCH -q $QOS\nsrun -n 4 ./a",
    ],
)
def test_nothing_is_said_without_a_source(text):
    assert messages(text, "cluster") == []
    assert messages("#SBATCH -q $QOS\nsrun -n 4 ./a", "perlmutter") == []


def test_a_reservation_may_have_names_of_its_own():
    script = "#SBATCH -q training -C gpu\n{}srun -n 4 ./a"
    assert len(messages(script.format(""), "perlmutter")) == 1
    assert messages(script.format("#SBATCH --reservation=course\n"), "perlmutter") == []


def test_the_bin_of_the_nodes_decides():
    # Frontier: 2 h up to 91 nodes, 6 h up to 183, 12 h beyond (job priority by node count).
    for nodes, hours, over in ((91, 2, False), (91, 3, True), (92, 6, False), (183, 7, True), (184, 12, False)):
        text = f"#SBATCH -p batch\n#SBATCH -N {nodes}\n#SBATCH -t {hours}:00:00\nsrun -N {nodes} -n {8 * nodes} -c 7 --gpus-per-task=1 --gpu-bind=closest ./a"
        assert ("time-over-limit" in alarms(text, "frontier")) == over


# X=1 goes below the two directives.
MOVED = [[2, 1, []], [5, 0, ["X=1"]]]


def test_directives_behind_a_command_are_read_by_nobody():
    text = "#!/bin/bash\nX=1\n#SBATCH -N 2\n#SBATCH -p main\nsrun -n 4 ./a\n"
    findings = check_job(read_script(text), Machine.load("cluster"), known=False)
    assert [(each.code, each.level, each.evidence) for each in findings] == [
        ("directives-late", "problem", {"line": 3, "change": MOVED})
    ]
    # Those in a here-document are another script's.
    assert not check_job(read_script(f"cat <<END >job\n{text}END\nsrun -n 4 ./a\n"), Machine.load("cluster"))
