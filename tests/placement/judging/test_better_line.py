"""The better line: tried in its script, better according to the model, and worse in no respect."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.launchers.judging.proposals import fair_share
from hopperkit.launchers.review import Review, review_line
from hopperlib.machine import Machine
from hopperlib.placement.components import LaunchError

HOPPER = Machine.load("hopper")
TOY = Machine.load("toy")
MACHINES = [name for name in Machine.names() if Machine.load(name).launchers]


def better(text: str, machine: Machine = HOPPER, **given_: object) -> str | None:
    found = review_line(text, machine, **given_).better
    return found.line if found else None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("aprun -n 384 -N 12 vasp", "aprun -n 384 -N 12 -S 3 vasp"),
        ("aprun -n 384 -N 12 -S 3 vasp", None),
        ("aprun -n 24 a.out", None),
        ("aprun -n 4 a.out", "aprun -n 4 -S 1 a.out"),
        ("aprun -n 48 -sn 2 a.out", "aprun -n 48 -S 3 a.out"),
        ("aprun -n 96 -sl 0,2 a.out", "aprun -n 96 -S 3 a.out"),
        ("aprun -n 4 -cc 0,0,6,6 a.out", "aprun -n 4 -S 1 a.out"),
        ("aprun -n 12 -q -N 12 -t 60 a.out", "aprun -n 12 -q -N 12 -t 60 -S 3 a.out"),
        ("aprun -n 24 ocean : -n 12 -N 12 ice", "aprun -n 24 ocean : -n 12 -N 12 -S 3 ice"),
        ("aprun -n 12 -N 12 a : -n 12 -N 12 b", "aprun -n 12 -N 12 -S 3 a : -n 12 -N 12 -S 3 b"),
        # Twelve tasks on 24 cores: two cores each, regardless of the line's binding.
        ("srun -N 2 -n 24 a.out", "srun -N 2 -n 24 -c 2 --cpu-bind=cores a.out"),
        # With -N the line would keep its 20 per node; 5 on each NUMA node instead of 6, 6, 6, 2.
        ("aprun -n 20 -N 20 a.out", "aprun -n 20 -N 20 -S 5 a.out"),
    ],
)
def test_better_lines(line, expected):
    assert better(line) == expected


def test_a_task_that_is_not_bound_keeps_its_fair_share():
    # Eight tasks on 24 cores have three each; bound as -cc cpu does they would have one.
    assert better("aprun -n 8 -S 2 -cc none a.out") is None


def test_a_line_is_shown_as_it_stands_in_its_script():
    script = "#SBATCH -C cpu -N 4\nmodule load vasp\ntime srun -n 256 \\\n  vasp_std 2>err | tee log &\nwait\n"
    # 64 tasks per node of 128 cores with two threads each: four CPUs.
    expected = "time srun -n 256 -c 4 --cpu-bind=cores \\\n  vasp_std 2>err | tee log &"
    assert better(script, Machine.load("perlmutter")) == expected


@pytest.mark.parametrize(
    "program",
    [
        *("torchrun --nproc-per-node 4 train.py", "accelerate launch train.py", "python -m torch.distributed.run t.py"),
        *(
            "mpirun -n 4 ./a.out",
            "parallel -j 32 ./run {}",
            "dask-worker tcp://here",
            "ray start --head",
            "julia -t 8 x.jl",
        ),
        *("matlab -batch run", "./wrapper.sh ./a.out", "bash -c './a.out'", "singularity exec my.sif torchrun t.py"),
    ],
)
@pytest.mark.parametrize("machine", ["cluster", "perlmutter", "eiger"])
def test_programs_that_start_their_own_processes_are_never_narrowed(machine, program):
    script = f"#SBATCH -N 2 --ntasks-per-node=1\nsrun {program}\n"
    review = review_line(script, Machine.load(machine))
    found = review.better
    assert found is None or _least_cores(found.placement) >= _least_cores(review.placement)
    assert better(script.replace("=1", "=4"), Machine.load(machine)) is None


def _least_cores(placement):
    return min(len(seat.cores) for node in placement.nodes for seat in node.pattern)


def test_missing_depth_is_added_and_the_tasks_get_room():
    # 24 tasks per node with 6 threads each would be 144 threads; with -d 6 it is 4 tasks per node.
    assert better("OMP_NUM_THREADS=6 aprun -n 96 a.out") == "OMP_NUM_THREADS=6 aprun -n 96 -d 6 a.out"
    assert better("aprun -n 96 -N 24 a.out", threads=6) == "aprun -n 96 -N 4 -d 6 a.out"
    assert better("OMP_NUM_THREADS=2 srun -n 4 --cpu-bind=cores a.out", TOY).endswith("a.out")


def test_in_a_script_the_line_keeps_to_the_nodes_that_are_reserved():
    script = "#PBS -l mppwidth={width}\nexport OMP_NUM_THREADS=6\naprun -n 24 a.out\n"
    assert better(script.format(width=144)) == "aprun -n 24 -d 6 a.out"
    # Six nodes would do; with one there is no better line.
    assert better(script.format(width=24)) is None


def test_memory_decides_too():
    # -ss and 2.58 GB: six tasks need 15.5 GB where 7.75 are.
    assert better("aprun -n 12 -N 12 -S 6 -ss a.out", memory_per_task_gb=2.58) == "aprun -n 12 -N 12 -S 3 -ss a.out"
    # 3.8 GB per task: eight fit a node of 31 GB, so twenty need three nodes and not two of twelve.
    found = review_line("aprun -n 20 -N 12 -S 3 a.out", HOPPER, memory_per_task_gb=3.8).better
    assert max(len(node.pattern) for node in found.placement.nodes) == 8
    assert len(found.placement.nodes) == 3


def test_where_nothing_helps_nothing_is_said():
    # Twelve threads do not fit a NUMA node, whatever the options.
    assert better("aprun -n 4 -d 12 a.out") is None


# What each site's own pages teach for that many tasks of a node, as options of the line.
DOCUMENTED = [
    # NERSC documentation, Process and Thread Affinity: -c is twice the cores of a node over its tasks, 2 * 128 / 64 and
    # 2 * 64 / 4, and --cpu-bind=cores.
    ("perlmutter", "#SBATCH -C cpu -N 1\nsrun -n 64 ./a", "-c 4 --cpu-bind=cores"),
    ("perlmutter", "#SBATCH -C gpu -N 1 --gpus-per-node=4\nsrun -n 4 ./a", "-c 32 --cpu-bind=cores --gpus-per-task=1"),
    # OLCF user documentation, Frontier User Guide, low-noise mode: seven cores and the closest GPU for each of eight
    # tasks.
    ("frontier", "#SBATCH -N 1\nsrun -n 8 -c 7 ./a", "-c 7 --gpus-per-task=1 --gpu-bind=closest"),
    # LUMI user guide, batch examples: 128 cores over 16 tasks; seven of eight cores of an L3 region on LUMI-G.
    ("lumi-c", "#SBATCH -N 1\n#SBATCH -p standard\nsrun -n 16 ./a", "-c 8"),
    ("lumi-g", "#SBATCH -N 1\n#SBATCH -p standard-g --gpus-per-node=8\nsrun -n 8 ./a", "-c 7"),
    # ARCHER2 documentation, Running jobs: --hint=nomultithread, and as many CPUs per task as it has cores, 128 / 16.
    ("archer2", "#SBATCH -N 1\nsrun -n 16 --hint=nomultithread ./a", "--hint=nomultithread -c 8"),
    ("archer2", "#SBATCH -N 1\nsrun -n 8 ./a", "-c 32 --cpu-bind=cores"),
    # CSCS documentation, Slurm on AMD CPU nodes: --hint=nomultithread and the cores of a task, 128 / 16.
    ("eiger", "#SBATCH -N 1 --hint=nomultithread -n 16\nsrun ./a", "-c 8"),
    ("eiger", "#SBATCH -N 1\nsrun -n 16 ./a", "-c 16 --cpu-bind=cores"),
    # ALCF user guides, Polaris, Running jobs: eight cores for each of four ranks, --cpu-bind depth.
    (
        "polaris",
        "#PBS -l select=1\nmpiexec -n 4 --ppn 4 --cpu-bind depth ./wrap.sh ./a",
        "--ppn 4 --cpu-bind depth --depth=8",
    ),
]


@pytest.mark.parametrize(("machine", "script", "options"), DOCUMENTED)
def test_the_form_that_the_site_documents_is_found(machine, script, options):
    assert options in better(script, Machine.load(machine))


def test_a_better_line_is_shown_as_a_change_of_its_script():
    script = "#SBATCH -C cpu -N 1\nmodule load vasp\nsrun -n 64 vasp_std >log &\nwait\n"
    review = review_line(script, Machine.load("perlmutter"))
    better = review.script.text.replace("srun -n 64", "srun -n 64 -c 4 --cpu-bind=cores")
    assert review.better.script.text == better
    assert review.won == ("tasks-unbound",)
    assert review_line("aprun -n 24 a.out", HOPPER).won == ()


@pytest.mark.parametrize(
    "line",
    [
        'srun -n 64 ./a.out "`hostname`" $(date) > out.`date +%s` 2>&1 &',
        "srun -n 64 ./a.out < in | grep x >> log || exit 1",
        'if srun -n 64 ./a.out "$1" &> log; then echo ok; fi',
    ],
)
def test_what_stands_around_a_line_is_kept(line):
    expected = line.replace("-n 64", "-n 64 -c 4 --cpu-bind=cores")
    assert better(f"#SBATCH -C cpu -N 1\n{line}\n", Machine.load("perlmutter")) == expected


@cache
def _loaded(name):
    return Machine.load(name)


def _check(review: Review, text: str, machine: Machine) -> None:
    """Check a proposal against the line that it replaces: put back, read and placed again."""
    found = review.better
    if found is None:
        return
    again = review_line(text.replace(text.splitlines()[-1], found.line), machine)
    if again.placement.launch.launcher != review.placement.launch.launcher:
        # A line for a launcher that the machine lacks is translated, even if it is good: no new problem, no task lost.
        assert {each.code for each in again.problems} <= {each.code for each in review.problems}
        assert again.placement.launch.tasks == review.placement.launch.tasks
        return
    # Idle cores are named only where no core is crowded, so a repaired line may show them for the first time.
    counted = [
        [f.code for f in each.advice if f.level in ("problem", "advice", "unknown") and f.code != "cores-idle"]
        for each in (review, again)
    ]
    assert len(counted[1]) < len(counted[0])
    assert set(counted[1]) <= set(counted[0])
    now, then = review.placement, again.placement
    assert then.nodes == found.placement.nodes
    assert then.launch.tasks == now.launch.tasks
    before = {task: seat for node in now.nodes for task, seat in node.seats()}
    share = fair_share(now.node_kind, max(len(node.pattern) for node in now.nodes))
    for node in then.nodes:
        for task, seat in node.seats():
            was = before[task]
            assert len(seat.cores) >= (len(was.cores) if was.bound else min(share, len(was.cores)))
            assert not (seat.bound and set(seat.cores) & set(now.node_kind.reserved_cores))


OPTIONS = st.lists(
    st.sampled_from(
        [
            *("-c 1", "-c 2", "-c 4", "-c 8", "-c 16", "--cpu-bind=cores", "--cpu-bind=threads", "--cpu-bind=none"),
            *("--cpu-bind=sockets", "--hint=nomultithread", "-m block:block", "-m block:cyclic", "--exact"),
            *("--threads-per-core=1", "-d 2", "-d 6", "-S 2", "-ss", "-cc none", "--gpus-per-task=1"),
        ]
    ),
    max_size=2,
)


@pytest.mark.nightly
@given(
    st.sampled_from(MACHINES),
    st.sampled_from([1, 2, 3]),
    st.sampled_from([1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64, 96, 128]),
    OPTIONS,
    st.sampled_from(["", "", "OMP_NUM_THREADS=2 ", "OMP_NUM_THREADS=8 "]),
)
def test_a_better_line_dominates_and_a_translated_one_is_no_worse(name, nodes, per_node, options, before):
    machine = _loaded(name)
    launcher = "aprun" if machine.launcher().kind == "aprun" else "srun"
    count = f"-n {nodes * per_node} -N {per_node if launcher == 'aprun' else nodes}"
    text = f"{before}{launcher} {count} {' '.join(options)} ./a.out"
    if launcher == "srun":
        text = f"#SBATCH -N {nodes}\n{text}"
    try:
        review = review_line(text, machine)
    except LaunchError:
        return
    _check(review, text, machine)


def test_a_sound_line_of_a_launcher_that_is_not_there_is_translated():
    """Aurora has mpiexec: one task needs no better line, and srun starts nothing."""
    text, aurora = "#SBATCH -N 1\nsrun -n 1 -N 1 ./a.out", _loaded("aurora")
    assert review_line(text, aurora).better.line.startswith("mpiexec -n 1 --ppn 1 ")
    _check(review_line(text, aurora), text, aurora)


@pytest.mark.parametrize("asked", ["#SBATCH --gpus=1", "#SBATCH -N 1 --gpus-per-node=1"])
def test_no_more_gpus_are_proposed_than_the_job_asks_for(asked):
    review = review_line(f"#SBATCH -p standard-g\n{asked}\nsrun -n 1 ./a.out\n", _loaded("lumi-g"))
    assert "gpus-idle" in {finding.code for finding in review.advice}
    assert review.better is None


def test_pals_gets_a_list_where_no_depth_is_even():
    # 102 cores for 12 tasks: the site documents 8 per task, those of a socket from its second core on.
    lists = "1-8:9-16:17-24:25-32:33-40:41-48:53-60:61-68:69-76:77-84:85-92:93-100"
    aurora = Machine.load("aurora")
    assert better("mpiexec -n 12 --ppn 12 --depth=1 --cpu-bind depth ./a", aurora) == (
        f"mpiexec -n 12 --ppn 12 --depth=1 --cpu-bind list:{lists} ./a"
    )


def test_a_line_whose_numbers_the_job_gives_is_bettered_too():
    script = "#PBS -l select=2\nN=`wc -l < $PBS_NODEFILE`\nmpiexec -n $(( N * 4 )) --ppn 4 --cpu-bind depth ./a\n"
    expected = "mpiexec -n $(( N * 4 )) --ppn 4 --cpu-bind depth --depth=8 ./a"
    assert better(script, Machine.load("polaris")) == expected


@pytest.mark.parametrize(
    ("before", "program"), [("", "python train.py"), ("export MPICH_GPU_SUPPORT_ENABLED=1\n", "./a"), ("", "./a")]
)
def test_gpus_are_not_hidden_from_programs_that_need_them(before, program):
    line = better(f"#SBATCH -N 1 -C gpu -G 4\n{before}srun -n 4 {program}\n", Machine.load("perlmutter"))
    assert line is not None
    assert ("--gpus-per-task" in line) == (not before and program == "./a")


def fewest_findings(machine: Machine, tasks: int) -> tuple[int, int]:
    """The findings of the proposal for a node of some tasks, and the fewest of any depth of the launcher."""

    def counted(line: str) -> int:
        found = review_line(line, machine)
        return sum(each.level in ("problem", "advice") and each.code != "cores-idle" for each in found.advice)

    def line(depth: int) -> str:
        return f"mpiexec -n {tasks} --ppn {tasks} --depth {depth} --cpu-bind depth ./a.out"

    depths = range(1, machine.node().cores // tasks + 1)
    return counted(better(line(1), machine) or line(1)), min(counted(line(depth)) for depth in depths)


@pytest.mark.parametrize(
    ("name", "tasks"), [("polaris", range(1, 33)), pytest.param("aurora", range(1, 105), marks=pytest.mark.nightly)]
)
def test_no_depth_of_pals_beats_the_proposal(name, tasks):
    machine = Machine.load(name)
    for number in tasks:
        ours, fewest = fewest_findings(machine, number)
        assert ours <= fewest, number


def test_pals_lists_give_each_task_the_same_number_of_cores():
    # 3 and 2 tasks on the two NUMA nodes of 51 cores each that jobs may use: 51 // 3 = 17.
    line = "mpiexec -n 5 --ppn 5 --depth 1 --cpu-bind depth ./a"
    expected = "mpiexec -n 5 --ppn 5 --depth 1 --cpu-bind list:1-17:18-34:35-51:53-69:70-86 ./a"
    assert better(line, Machine.load("aurora")) == expected
