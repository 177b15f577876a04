"""Drawn lines on all machine files: each line proposed for the same launcher dominates, and where that is srun, idle NUMA
nodes are used if -c can achieve it. The line of a launcher that the machine lacks is only translated: nothing gets worse."""

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopperkit.launchers.judging.proposals import fair_share
from hopperkit.launchers.review import Review, review_line
from hopperlib.machine import Machine
from hopperlib.placement.components import LaunchError

MACHINES = [name for name in Machine.names() if Machine.load(name).launchers]
# `make search` draws 150 lines for each machine: more than 2,000.
LINES = 150 if settings().max_examples >= 300 else 3
COUNTED = ("problem", "advice", "unknown")
OPTIONS = (
    *("-c 1", "-c 2", "-c 4", "-c 8", "-c 14", "-c 16", "-c 32", "--cpu-bind=cores", "--cpu-bind=none", "--exact"),
    *("--cpu-bind=sockets", "--hint=nomultithread", "-m block:block", "-m block:cyclic", "-m cyclic", "-S 2", "-d 6"),
    *("--threads-per-core=1", "--gpus-per-task=1", "-ss", "-cc none", "--mem-per-cpu=1G"),
)
PROGRAMS = ("./a.out", "./a.out", "./a.out", "torchrun --nproc-per-node 4 t.py", "./run.sh ./a.out")


@cache
def machine_of(name):
    return Machine.load(name)


@st.composite
def jobs(draw, name):
    """The script around a line for a machine, and the line."""
    kind = draw(st.sampled_from(machine_of(name).node_kinds))
    nodes = draw(st.sampled_from([1, 1, 2, 3, 4]))
    per_node = draw(st.sampled_from([1, 2, 3, 4, 6, 7, 8, 12, 14, 16, 20, 24, 28, 32, 48, 56, 64, 96, 100, 104, 128]))
    options = " ".join(draw(st.lists(st.sampled_from(OPTIONS), max_size=2)))
    before = draw(st.sampled_from(["", "", "export OMP_NUM_THREADS=2\n", "export OMP_NUM_THREADS=7\n"]))
    chosen = " ".join(f"--{choice}" for choice in kind.chosen_by[:1])
    program = draw(st.sampled_from(PROGRAMS))
    if machine_of(name).launcher().kind == "aprun":
        return before, f"aprun -n {nodes * per_node} -N {per_node} {options} {program}"
    head = f"#SBATCH -N {nodes} {chosen}\n{before}"
    return head, f"srun -n {nodes * per_node} {options} {program}"


def review(machine: Machine, head: str, line: str) -> Review | None:
    try:
        return review_line(f"{head}{line}\n", machine)
    except LaunchError:
        return None


def seats(found):
    return {task: seat for node in found.nodes for task, seat in node.seats()}


def codes(judged: Review) -> list[str]:
    # Idle cores are named only where no core is crowded, so a cured line may show them for the first time.
    return [found.code for found in judged.advice if found.level in COUNTED and found.code != "cores-idle"]


def keeps_all(now: Review, then: Review) -> bool:
    """Whether no task has fewer cores, GPUs or memory than before, or, if it was unbound, than its fair share."""
    share = fair_share(now.placement.node_kind, max(len(node.pattern) for node in now.placement.nodes))
    old = seats(now.placement)
    fewest_gpus = 1 if "gpus-all-visible" in codes(now) and "gpus-all-visible" not in codes(then) else 1000
    for task, seat in seats(then.placement).items():
        was = old[task]
        if len(seat.cores) < (len(was.cores) if was.bound else min(share, len(was.cores))):
            return False
        if seat.bound and set(seat.cores) & set(now.placement.node_kind.reserved_cores):
            return False
        if was.gpus and len(seat.gpus or ()) < min(len(was.gpus), fewest_gpus):
            return False
    most = [max(len(node.pattern) for node in each.placement.nodes) for each in (now, then)]
    return most[1] <= most[0]


@pytest.mark.parametrize("name", MACHINES)
@settings(settings(), max_examples=LINES)
@given(st.data())
def test_what_is_proposed_dominates_and_what_c_cures_is_cured(name, data):
    head, line = data.draw(jobs(name))
    machine = machine_of(name)
    now = review(machine, head, line)
    if now is None or now.placement.doubts:
        return
    if now.better is not None:
        then = review(machine, head, now.better.line)
        assert then is not None, now.better.line
        if then.placement.launch.launcher == now.placement.launch.launcher:
            assert set(codes(then)) <= set(codes(now))
            assert len(codes(then)) < len(codes(now))
            assert keeps_all(now, then)
        else:
            # The line of a launcher that the machine lacks says nothing of its GPUs; what is wrong with it may not grow.
            assert {found.code for found in then.problems} <= {found.code for found in now.problems}
            assert then.placement.launch.tasks == now.placement.launch.tasks
    # The line of a launcher that the machine lacks is written as the same job for the machine's, and no more is claimed.
    if "idle-numa-nodes" in codes(now) and line.startswith("srun") and machine.launcher().kind == "srun":
        check_cured(machine, head, line, now)


def check_cured(machine: Machine, head: str, line: str, now: Review) -> None:
    """Where the CPUs of the node shared out among its tasks cure idle NUMA nodes, the proposed line does so too."""
    kind, component = now.placement.node_kind, now.placement.launch.components[0]
    tasks = max(len(node.pattern) for node in now.placement.nodes)
    per_core = component.threads_per_core or kind.threads_per_core
    width = len(kind.usable_cores) // tasks * per_core
    cured = review(machine, head, line.replace("srun", f"srun -c {width} --cpu-bind=cores", 1)) if width else None
    if cured is None or not keeps_all(now, cured) or set(codes(cured)) - set(codes(now)):
        return
    if "idle-numa-nodes" not in codes(cured):
        assert now.better is not None, (head, line)
        assert "idle-numa-nodes" not in {finding.code for finding in review(machine, head, now.better.line).advice}
