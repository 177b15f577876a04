"""srun lines read into components, with the rules of each Slurm release."""

from dataclasses import replace

import pytest

from hopperkit.launchers.dialects.slurm import slurm_release
from hopperkit.launchers.options import option_table
from hopperkit.launchers.placing import place_tasks
from hopperkit.launchers.reader import read_launch
from hopperlib.machine import Machine
from hopperlib.placement.components import Component, Launch, LaunchError

HOPPER = Machine.load("hopper")
PERLMUTTER = Machine.load("perlmutter")


def of_release(version: str, machine: Machine = PERLMUTTER) -> Machine:
    return replace(machine, launchers=(replace(machine.launcher("srun"), version=version),))


def read(text: str, machine: Machine = PERLMUTTER) -> Launch:
    return read_launch(text, machine)


def only(text: str, machine: Machine = PERLMUTTER) -> Component:
    (component,) = read(text, machine).components
    return component


def refusal(text: str, machine: Machine = PERLMUTTER) -> LaunchError:
    with pytest.raises(LaunchError) as caught:
        place_tasks(read(text, machine), machine)
    return caught.value


def test_options_in_both_forms() -> None:
    long = only(
        "srun --ntasks=16 --nodes=2 --cpus-per-task=16 --ntasks-per-node=8 --cpu-bind=cores "
        "--distribution=block:block --exact --mem=100G --mem-bind=local ./a.out -x"
    )
    assert long.command == ("./a.out", "-x")
    assert (long.tasks, long.nodes, long.threads_per_task, long.tasks_per_node) == (16, 2, 16, 8)
    assert long.cpu_binding == "cores"
    assert long.distribution == ("block", "block", "block")
    assert long.exact
    assert long.strict_memory
    short = only("srun -n16 -N2 -c16 --ntasks-per-node 8 --cpu_bind cores -m block:block --exact --mem 100G a")
    assert (short.tasks, short.nodes, short.threads_per_task) == (16, 2, 16)
    assert short.distribution == long.distribution
    assert only("srun --cpus-per-t=4 --dist=cyclic a").distribution == ("cyclic", "cyclic", "cyclic")


def test_options_without_bearing_are_listed() -> None:
    launch = read("srun -l -u --mpi=cray_shasta -t 30 -J job --gpus-per-node=4 -K0 --gres=craynetwork:0 -n 2 a")
    assert launch.notes[-1] == "Without effect on the placement: --mpi -J -K -l -t -u."


def test_defaults() -> None:
    component = only("srun a")
    assert (component.tasks, component.nodes, component.tasks_per_node) == (1, None, None)
    assert component.threads_per_task == 1
    assert component.distribution == ("block", "cyclic", "cyclic")
    assert component.cpu_binding is None
    assert not component.exact


@pytest.mark.parametrize(
    ("line", "tasks", "nodes", "per_node"),
    [
        ("srun -N 4 a", 4, 4, None),
        ("srun -N 4 --ntasks-per-node=8 a", 32, 4, 8),
        ("srun --ntasks-per-node=8 a", 8, None, 8),
        ("srun -n 64 --ntasks-per-node=16 a", 64, None, 16),
        # Without -n, -c fills the nodes: 256 CPUs // 16 = 16 per node.
        ("srun -N 2 -c 16 a", 32, 2, None),
        ("srun -N 2 -c 16 --hint=nomultithread a", 16, 2, None),
        # The hosts of -w stand for -N.
        ("srun -w nid[001001-001004] a", 4, 4, None),
        ("srun -N 1k --ntasks-per-node=2 a", 2048, 1024, 2),
    ],
)
def test_tasks_and_nodes_are_settled(line: str, tasks: int, nodes: int | None, per_node: int | None) -> None:
    component = only(line)
    assert (component.tasks, component.nodes, component.tasks_per_node) == (tasks, nodes, per_node)


def test_fewer_tasks_than_nodes() -> None:
    launch = read("srun -N 4 -n 2 a")
    assert launch.components[0].nodes == 2
    assert "srun: warning: can't run 2 processes on 4 nodes, setting nnodes to 2" in launch.notes


def test_tasks_a_node_that_do_not_match_are_ignored() -> None:
    launch = read("srun -N 2 -n 64 --ntasks-per-node=16 a")
    assert launch.components[0].tasks_per_node is None
    assert "srun ignores --ntasks-per-node=16: 64 tasks on 2 nodes are 32 per node." in launch.notes


def test_releases_as_numbers() -> None:
    launcher = PERLMUTTER.launcher("srun")
    assert slurm_release(replace(launcher, version="21.08")) == (21, 8)
    assert slurm_release(replace(launcher, version="23.11.4")) == (23, 11, 4)
    assert slurm_release(replace(launcher, version=None)) > (50, 0)


JOB = "#!/bin/bash\n#SBATCH -N 1\n#SBATCH --ntasks-per-node=4\n#SBATCH -c 32\n{more}\nsrun ./a.out\n"


@pytest.mark.parametrize(
    # Release notes of 22.05 and 23.11; src/srun/opt.c of each branch reads one of the two variables.
    ("version", "more", "cpus", "exact"),
    [
        ("20.11", "", 32, False),
        ("21.08", "", 32, False),
        ("22.05", "", 1, False),
        ("23.02", "", 1, False),
        ("22.05", "export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK", 32, True),
        ("23.02", "export SRUN_CPUS_PER_TASK=16", 16, True),
        ("23.11", "", 32, True),
        ("24.05", "", 32, True),
        ("21.08", "export SRUN_CPUS_PER_TASK=16", 32, False),
    ],
)
def test_cpus_a_task_of_the_job_reach_srun_or_not(version: str, more: str, cpus: int, exact: bool) -> None:
    component = only(JOB.format(more=more), of_release(version))
    assert component.tasks == 4
    assert component.threads_per_task == cpus
    assert component.exact is exact


def test_cpus_that_do_not_reach_srun_are_said() -> None:
    notes = read(JOB.format(more=""), of_release("22.05")).notes
    assert notes == (
        "SLURM_CPUS_PER_TASK=32 is not read by srun of Slurm 22.05: each task gets one CPU; "
        "write -c on the srun line or export SRUN_CPUS_PER_TASK.",
    )


@pytest.mark.parametrize(("version", "exact"), [("21.08", False), ("22.05", True), ("23.11", True)])
def test_c_implies_exact_from_22_05_on(version: str, exact: bool) -> None:
    assert only("srun -n 4 -c 2 a", of_release(version)).exact is exact
    # Overcommitted steps, and steps without -c, are not exact.
    assert not only("srun -n 4 a", of_release(version)).exact
    assert not only("srun -n 4 -c 2 -O a", of_release(version)).exact
    assert only("srun -n 4 --exact a", of_release(version)).exact
    assert only("srun -n 4 --exclusive a", of_release(version)).exact
    assert not only("srun -n 4 --exclusive=user a", of_release(version)).exact


def test_rank_before_and_after_its_removal() -> None:
    assert only("srun -n 4 --cpu-bind=rank a", of_release("23.11")).cpu_binding == "rank"
    launch = read("srun -n 4 --cpu-bind=rank a", of_release("24.11"))
    assert launch.components[0].cpu_binding is None
    assert "--cpu-bind=rank is ignored from Slurm 24.11 on." in launch.notes


def test_the_environment_fills_in_what_the_line_leaves_open() -> None:
    text = "export SLURM_CPU_BIND=map_cpu:0,8\nexport SLURM_DISTRIBUTION=block:block\nsrun -n 2 a\n"
    component = only(text)
    assert component.cpu_binding == "map_cpu"
    assert component.distribution == ("block", "block", "block")
    assert only("SLURM_CPU_BIND=none srun --cpu-bind=cores a").cpu_binding == "cores"
    assert refusal("export SLURM_CPU_BIND=$(make_mask)\nsrun -n 2 a\n").message == (
        "SLURM_CPU_BIND is the output of a command; write the value"
    )


def test_options_of_sbatch_reach_srun() -> None:
    component = only("#SBATCH -N 2 -n 8\n#SBATCH --hint=nomultithread --distribution=block:block\nsrun a\n")
    assert (component.tasks, component.nodes) == (8, 2)
    assert component.threads_per_core == 1
    assert component.cpu_binding == "threads"
    assert component.distribution == ("block", "block", "block")
    # The line wins; its -n goes to the nodes of the job.
    component = only("#SBATCH -N 2 -n 8\nsrun -n 4 a\n")
    assert (component.tasks, component.nodes) == (4, 2)
    # --ntasks-per-node of the job with other nodes on the line: tasks follow.
    component = only("#SBATCH -n 8 --ntasks-per-node=4\nsrun -N 1 a\n")
    assert (component.tasks, component.nodes) == (4, 1)
    assert only("#SBATCH -N 2 --ntasks-per-node=4\nsrun -n $SLURM_NTASKS a\n").tasks == 8


def test_threads_from_the_export_option() -> None:
    assert read("srun --export=ALL,OMP_NUM_THREADS=8 -n 2 a").openmp_threads == 8


def test_memory_a_cpu_times_cpus() -> None:
    assert only("srun -n 2 -c 4 --mem-per-cpu=512 a").memory_per_task_gb == 2.0
    assert only("srun -n 2 --mem=0 a").tasks == 2


def test_a_packed_step_takes_the_fewest_nodes_of_its_job() -> None:
    # Of three nodes 24.11 used one for ten tasks, and two where the line asked for them.
    job = "#SBATCH -N 3\nsrun {} -n 10 -m block,Pack ./a\n"
    assert [read(job.format(nodes)).components[0].nodes for nodes in ("", "-N 2")] == [None, 2]


def test_heterogeneous_jobs() -> None:
    launch = read("srun -n 4 ./a : -N 2 --ntasks-per-node=8 ./b")
    assert [component.tasks for component in launch.components] == [4, 16]
    assert "Each program of the line runs on separate nodes." in launch.notes
    # In a plain job each program has the nodes that its tasks need (22.05 and 24.11 were asked).
    launch = read("#SBATCH -N 3\nsrun -n 4 ./a : --export=ALL,OMP_NUM_THREADS=16 -n 2 -c 32 ./b\n")
    assert [component.nodes for component in launch.components] == [None, None]
    assert [launch.threads_of(component) for component in launch.components] == [1, 16]
    assert "give one part alone" in refusal("#SBATCH -N 1\n#SBATCH hetjob\n#SBATCH -N 2\nsrun ./a : ./b\n").message
    assert "give one of its parts by itself" in refusal("srun --het-group=2 ./a").message
    assert refusal("srun -n 4 ./a :").message == "':' separates two programs, but one side of it has no program"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("srun -n 0 a", "-n 0 must be at least 1"),
        ("srun -n x a", "-n x must be a whole number"),
        ("srun -c 0 a", "-c 0 must be at least 1"),
        ("srun --ntasks=$((2*M)) a", "--ntasks $((2*M)) takes $M, which this text does not set; write the value"),
        ("srun -n $N a", "-n $N takes $N, which this text does not set; write the value"),
        ("srun -N 2-4 a", "-N 2-4 leaves the number of nodes to the scheduler; write one number"),
        ("srun -N 1-15:4 a", "-N 1-15:4 leaves the number of nodes to the scheduler; write one number"),
        (
            "srun --threads-per-core=4 a",
            "--threads-per-core 4 must be from 1 to 2, the hardware threads of a core of Perlmutter",
        ),
        (
            "srun --ntasks-per-core=2 --threads-per-core=1 a",
            "--ntasks-per-core 2 cannot be more than --threads-per-core=1",
        ),
        (
            "srun --sockets-per-node=4 a",
            "--sockets-per-node 4 must be from 1 to 2, the sockets of a node of Perlmutter as Slurm counts them",
        ),
        ("srun --exact --whole a", "srun: error: --exact and --whole are mutually exclusive"),
        (
            "srun --exclusive --overlap a",
            "srun: error: --exclusive and --overlap are mutually exclusive: --exclusive conflicts with --overlap",
        ),
        (
            "srun --multi-prog conf",
            "--multi-prog reads the program of each task from a file, which is not part of this text",
        ),
        (
            "srun -S 8 a",
            "-S 8 reserves other cores than the site does; the machine file lists them only for 0",
        ),
        ("srun -B 2:64 a", "-B restricts the job to nodes of a shape; give tasks and CPUs with -n and -c"),
        (
            "srun -n 4 --gpus-per-task=5 a",
            "--gpus-per-task 5 requests more than the 4 GPUs of a node 'gpu' of Perlmutter",
        ),
        (
            "srun -n 4 --gpus-per-task=1 --gpu-bind=near a",
            "--gpu-bind near must be none, closest, single:N, per_task:N, or map: or mask: with a list",
        ),
        (
            "srun -n 4 --gpus-per-node=4 --gpu-bind=map:0,4 a",
            "--gpu-bind map:0,4 names GPU 4; a step has GPUs 0 to 3 of a node",
        ),
        ("srun -n 4 --gpus-per-node=4 --gpu-bind=map:x a", "--gpu-bind x must be a whole number"),
        ("srun --ntaks=4 a", "--ntaks is not an option of srun on Perlmutter; did you mean --ntasks?"),
        ("srun -y a", "-y is not an option of srun on Perlmutter"),
        (
            "srun --mem=600G a",
            "srun: error: Memory specification can not be satisfied: "
            "--mem 600G is 600 GB, more than the 512 GB of a node of Perlmutter",
        ),
        (
            "srun -c 257 a",
            "srun: error: Requested node configuration is not available: "
            "-c 257 is more than 256, the CPUs of a node that one task can have",
        ),
        (
            "srun -N 1 -n 257 a",
            "srun: error: Requested node configuration is not available: "
            "-n 257 is more than 1 x 256 tasks, all that fit with -c 1; --overcommit would allow it",
        ),
        (
            "srun -N 1 --ntasks-per-node=20 -c 16 a",
            "srun: error: Requested node configuration is not available: "
            "--ntasks-per-node 20 is more than the 16 tasks that a node takes with -c 16",
        ),
        (
            "srun -n 1000000 a",
            "srun: error: Requested node configuration is not available: "
            "-n 1000000 needs 3,907 nodes; Perlmutter has 3,072 of kind 'cpu'",
        ),
        (
            "srun -O -N 1 -n 1000 a",
            "srun: error: Task count specification invalid: "
            "-n 1000 is more than 1 x 512 tasks, Slurm's MaxTasksPerNode",
        ),
        (
            "srun -n 2 --cpu-bind=map_cpu:0,256 a",
            "slurmstepd: error: CPU binding outside of job step allocation: "
            "--cpu-bind map_cpu:0,256 names CPU 256, which the step does not have; it has CPUs 0 to 255",
        ),
        (
            # -c 1 makes the step exact: two CPUs in all, of cores 0 and 64 with both their threads.
            "srun -n 2 -c 2 --cpu-bind=map_cpu:0,1 a",
            "slurmstepd: error: CPU binding outside of job step allocation: "
            "--cpu-bind map_cpu:0,1 names CPU 1, which the step does not have; it has only its CPUs",
        ),
        (
            "srun -n 2 -c 2 --cpu-bind=rank_ldom a",
            "slurmstepd: error: Entire node must be allocated for rank_ldom: "
            "--cpu-bind rank_ldom needs the whole node; the step has 4 of its 256 CPUs",
        ),
    ],
)
def test_lines_that_are_refused(line: str, message: str) -> None:
    assert refusal(line).message.startswith(message)


def test_exact_and_whole_exclude_each_other() -> None:
    machine = replace(PERLMUTTER, launchers=(replace(PERLMUTTER.launcher("srun"), options=("--exact", "--whole")),))
    assert refusal("srun --exact --whole a", machine).message == (
        "srun: error: --exact and --whole are mutually exclusive: --exact conflicts with --whole"
    )


def test_an_option_outside_the_machine_file_is_refused_by_name() -> None:
    toy = Machine.load("toy")
    assert refusal("srun -n 4 --overlap a", toy).message.startswith("--overlap is not an option of srun on Toy")


def test_the_general_launcher_says_what_it_is() -> None:
    franklin = Machine.load("franklin")
    assert any("names no srun" in note for note in read("srun -n 4 a", franklin).notes)


def test_no_spelling_stands_for_two_options() -> None:
    names = [name for option in option_table("srun") for name in option.names]
    assert len(names) == len(set(names))
    # sbatch has --wait as a flag, srun with a value; its own comes first.
    assert next(option for option in option_table("sbatch") if "--wait" in option.names).value == "none"


def test_hopper_is_read_as_well() -> None:
    assert only("srun -n 384 --ntasks-per-node=12 vasp", HOPPER).tasks_per_node == 12


def test_a_bare_line_is_not_told_where_the_site_printed_what_its_options_do_not_explain() -> None:
    # CSCS, Slurm, Testing GPU affinity: cores 0-7, 72-79, 144-151, 216-223, where Slurm's own rules bind to 72 each.
    daint = Machine.load("daint")
    said = [read_launch(line, daint).doubts for line in ("srun -n4 -N1 a", "srun -n4 -N1 -c72 a")]
    assert "8 cores per task" in said[0][0]
    assert said[1] == ()
    assert read_launch("#SBATCH -N 1\nsrun -n 4 a", daint).doubts == ()


def test_tasks_by_gpus_need_gpus() -> None:
    error = refusal("srun -N 2 --ntasks-per-gpu=2 ./a", Machine.load("lumi-c"))
    assert error.message.startswith("--ntasks-per-gpu 2 counts tasks by GPUs; a node ")
