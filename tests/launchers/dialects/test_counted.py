"""ibrun and flux run: how many tasks a node gets, and where the manuals say more."""

import pytest

from hopperkit.launchers.placing import place_tasks
from hopperkit.launchers.reader import read_launches
from hopperkit.launchers.scripts import read_script
from hopperlib.errors import InputError
from hopperlib.machine import Machine


def placed(text, machine):
    loaded = Machine.load(machine)
    (launch,) = read_launches(read_script(text), loaded)
    return place_tasks(launch, loaded)


@pytest.mark.parametrize(
    ("text", "per_node"),
    [
        # Vista user guide, Launching Applications: 576 tasks on 4 Grace-Grace nodes of 144 cores.
        ("#SBATCH -N 4 -n 576 -p gg\nibrun ./myprogram", [144] * 4),
        ("#SBATCH -N 2 --ntasks-per-node=8 -p gg\nibrun task_affinity ./a", [8, 8]),
        ("#SBATCH -N 4 -n 576 -p gg\nibrun -n 144 -o 144 ./a", [144]),
        ("#SBATCH -N 4 -n 576 -p gg\nibrun -np 288 ./a", [144, 144]),
    ],
)
def test_ibrun_fills_the_nodes_of_the_job_in_order(text, per_node):
    placement = placed(text, "vista")
    assert [len(node.pattern) for node in placement.nodes] == per_node
    assert placement.certainty.startswith("cannot tell: Which cores the tasks get depends on the MPI library")


def test_tasks_that_do_not_divide_are_in_doubt():
    placement = placed("#SBATCH -N 4 -n 10 -p gg\nibrun ./a", "vista")
    assert "do not divide evenly" in placement.certainty


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("#SBATCH -N 1 -n 8 -p gg\nibrun -n 9 ./a", "more than the 8 tasks of the job"),
        ("ibrun ./a", "has no -n, and no script around it"),
        ("#SBATCH -N 1 -n 8 -p gg\nibrun -q ./a", "is not an option of ibrun"),
        ("flux run -n 4 --cores=8 ./a", "write -n and -c"),
        ("flux run -N 1 -n 99 -c 99 ./a", "needs 9801 cores"),
    ],
)
def test_what_is_refused(text, rule):
    with pytest.raises(InputError, match=rule):
        placed(text, "vista" if "ibrun" in text else "cluster")


def cores(text, machine="cluster"):
    placement = placed(text, machine)
    return [seat.cores for seat in placement.nodes[0].pattern], placement


def test_flux_binds_all_tasks_to_the_cores_of_the_job():
    # flux-shell(1): cpu-affinity=on is the default, all tasks of a node on all cores assigned there.
    found, placement = cores("flux run -N 1 -n 4 -c 2 ./a")
    assert found == [tuple(range(8))] * 4
    assert "cannot tell" not in placement.certainty


def test_flux_shares_the_cores_out_with_per_task():
    found, _ = cores("flux run -N 2 -n 8 -c 3 -o cpu-affinity=per-task ./a")
    assert found == [(0, 1, 2), (3, 4, 5), (6, 7, 8), (9, 10, 11)]


def test_flux_binds_nothing_where_it_is_switched_off():
    _, placement = cores("flux run -n 4 -o cpu-affinity=off ./a")
    assert not any(seat.bound for seat in placement.nodes[0].pattern)


def test_mini_run_and_other_commands():
    assert [line.launcher for line in read_script("flux mini run -n 4 ./a").lines] == ["flux"]
    assert not read_script("flux submit -n 4 ./a\nflux jobs -a\nflux start\n").lines


def test_mpibind_of_the_site_is_in_doubt_unless_it_is_off():
    line = "flux run -N 1 -n 4 -c 21 -g 1 {}./a"
    assert "mpibind" in placed(line.format(""), "tuolumne").certainty
    found, placement = cores(line.format("-o mpibind=off -o cpu-affinity=per-task "), "tuolumne")
    assert "cannot tell" not in placement.certainty
    # WarpX's page of Tuolumne: 21 cores of each of 4 sockets are for users.
    assert [len(own) for own in found] == [21] * 4


def test_a_flux_line_is_edited_in_place():
    script = read_script("flux run -N 1 -n 4 ./a.out > log")
    (line,) = script.lines
    assert [script.text[start:end] for start, end in line.places] == ["flux", "-N", "1", "-n", "4", "./a.out"]
