"""What PBS scripts reserve."""

import pytest

from hopperkit.launchers.batch.node_request import read_reservation
from hopperkit.launchers.reader import read_launch
from hopperkit.launchers.scripts import read_script
from hopperlib.machine import Machine
from hopperlib.placement.components import LaunchError, Reservation

HOPPER = Machine.load("hopper")


def reserved(text: str) -> Reservation:
    reservation, _, _ = read_reservation(read_script(f"#PBS {text}\naprun ./a.out\n"), HOPPER, HOPPER.node())
    assert reservation is not None
    return reservation


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        # mppnppn is 24 // mppdepth unless given; nodes = ceil(mppwidth / mppnppn).
        ("-l mppwidth=192", 8),
        ("-l mppwidth=193", 9),
        ("-l mppwidth=96,mppnppn=12", 8),
        ("-l mppwidth=96 -l mppnppn=12", 8),
        ("-lmppwidth=96,walltime=1:00:00 -q debug -l mppnppn=12", 8),
        ("-l mppwidth=16,mppdepth=6", 4),
        ("-l mppwidth=6 -l mppdepth=6 -l mppnppn=4", 2),
        ("-l nodes=4:ppn=24", 4),
        ("-l nodes=4", 4),
        ("-l select=2", 2),
        ("-l select=2:ncpus=24:mpiprocs=24", 2),
    ],
)
def test_nodes_reserved(text: str, nodes: int) -> None:
    assert reserved(text).nodes == nodes


def test_what_was_asked_is_kept() -> None:
    reservation = reserved("-l mppwidth=16,mppnppn=4,mppdepth=6,mppmem=2gb")
    assert (reservation.batch, reservation.tasks, reservation.tasks_per_node) == ("pbs", 16, 4)
    assert (reservation.threads_per_task, reservation.memory_per_task_gb) == (6, 2.0)
    assert reservation.options == (("mppwidth", "16"), ("mppnppn", "4"), ("mppdepth", "6"), ("mppmem", "2gb"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("-l mppnppn=4", "#PBS -l mppnppn 4 needs mppwidth as well, the number of tasks"),
        ("-l mppwidth=lots", "#PBS -l mppwidth lots must be a whole number"),
        ("-l mppwidth=24,mppnppn=25", "#PBS -l mppnppn 25 must be from 1 to 24, the cores of a node of Hopper"),
        ("-l mppwidth=24,mppdepth=25", "#PBS -l mppdepth 25 must be from 1 to 24, the cores of a node of Hopper"),
        (
            "-l mppwidth=24,mppnppn=12,mppdepth=6",
            "#PBS -l mppnppn 12 times mppdepth=6 is 72 cores, more than the 24 of a node of Hopper",
        ),
        ("-l mppwidth=153217", "#PBS -l mppwidth 153217 reserves 6,385 nodes; Hopper has 6,384"),
        ("-l nodes=n1+n2", "#PBS -l nodes n1+n2 is read only as a number of equal nodes"),
        (
            "-l select=2:ncpus=8",
            "#PBS -l select 2:ncpus=8 requests parts of nodes; only whole nodes, ncpus=24, are supported",
        ),
        ("-l mppwidth=24,mppmem=two", "mppmem two must be a number with an optional suffix K, M, G or T"),
    ],
)
def test_resources_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(LaunchError) as caught:
        reserved(text)
    assert caught.value.message == message


def test_a_script_without_nodes() -> None:
    launch = read_launch("#PBS -q regular\naprun -n 48 ./a.out", HOPPER)
    assert launch.reservation is None
    assert launch.notes == ("The #PBS lines name no nodes, so the line is not checked against a reservation.",)
