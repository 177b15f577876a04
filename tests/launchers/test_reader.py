"""Whole texts read: bare lines, scripts, refused lines, arbitrary text."""

from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hopperkit.launchers.placing import place_tasks
from hopperkit.launchers.reader import Launch, LaunchError, read_launch, read_launches
from hopperlib.machine import Machine

HOPPER = Machine.load("hopper")
MACHINES = {name: Machine.load(name) for name in Machine.names()}


def read(text: str, machine: Machine = HOPPER) -> Launch:
    return read_launch(text, machine)


def refusal(text: str, machine: Machine = HOPPER) -> LaunchError:
    with pytest.raises(LaunchError) as caught:
        read(text, machine)
    return caught.value


def test_a_bare_line() -> None:
    launch = read("aprun -n 384 -N 12 vasp\n")
    assert launch.launcher == "aprun"
    assert launch.text == "aprun -n 384 -N 12 vasp"
    assert launch.reservation is None
    assert launch.openmp_threads is None
    assert launch.notes == ()


PBS = """\
#!/bin/bash -l
#PBS -q regular
#PBS -l mppwidth=96
#PBS -l walltime=02:00:00
#PBS -N hybrid
## #PBS -l mppwidth=48

module load vasp   # not apt-get
cd $PBS_O_WORKDIR
export OMP_NUM_THREADS=6
NPROC=16
time aprun -n ${NPROC} \\
     -N 4 -S 1 -d $OMP_NUM_THREADS \\
     -ss "./my program" < in.dat > out.dat 2>&1
"""


def test_a_pbs_script() -> None:
    launch = read(PBS)
    (component,) = launch.components
    assert launch.text == "aprun -n 16 -N 4 -S 1 -d 6 -ss ./my program"
    assert component.command == ("./my program",)
    assert (component.tasks, component.tasks_per_node, component.threads_per_task) == (16, 4, 6)
    assert launch.openmp_threads == 6
    assert launch.environment["OMP_NUM_THREADS"] == "6"
    assert launch.reservation is not None
    assert launch.reservation.nodes == 4


def test_a_csh_script() -> None:
    launch = read(
        "#!/bin/csh\n#PBS -l mppwidth=24\nsetenv OMP_NUM_THREADS 3\nset n = 8\naprun -n $n -d 3 ./a.out >& log\n"
    )
    assert (launch.tasks, launch.openmp_threads) == (8, 3)


SBATCH = """\
#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=8   # two nodes
#SBATCH -c 16
#SBATCH -t 00:30:00 -q debug

export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
export OMP_PLACES=cores
srun -n $SLURM_NTASKS -c $SLURM_CPUS_PER_TASK --cpu-bind=cores ./a.out
"""


def test_an_sbatch_script() -> None:
    launch = read(SBATCH, MACHINES["perlmutter"])
    (component,) = launch.components
    assert (component.tasks, component.nodes, component.threads_per_task) == (16, 2, 16)
    assert launch.openmp_threads == 16
    assert launch.environment["OMP_PLACES"] == "cores"
    assert launch.reservation is not None
    assert launch.reservation.nodes == 2
    assert len(place_tasks(launch, MACHINES["perlmutter"]).nodes) == 2


def test_several_lines() -> None:
    text = "#PBS -l mppwidth=48\naprun -n 24 ./a &\naprun -n 24 -N 12 ./b &\nwait\n"
    launches = read_launches(text, HOPPER)
    assert [launch.components[0].command for launch in launches] == [("./a",), ("./b",)]
    assert read(text).components[0].command == ("./a",)
    assert read(text).notes == ("This is launch line 1 of 2 of the text, judged by itself, as if alone.",)


@pytest.mark.parametrize(
    ("text", "threads", "note"),
    [
        ("OMP_NUM_THREADS=4 aprun -n 2 a", 4, None),
        ("OMP_NUM_THREADS=4,2 aprun -n 2 a", 4, None),
        ("export OMP_NUM_THREADS='6'\naprun -n 2 a", 6, None),
        (
            "OMP_NUM_THREADS=4\naprun -n 2 a",
            None,
            "OMP_NUM_THREADS is set but not exported, so the tasks do not see it.",
        ),
        (
            "export OMP_NUM_THREADS=$(nproc)\naprun -n 2 a",
            None,
            "OMP_NUM_THREADS is worked out by the script; give the threads by number.",
        ),
        ("aprun -n 2 a", None, None),
    ],
)
def test_openmp_threads(text: str, threads: int | None, note: str | None) -> None:
    launch = read(text)
    assert launch.openmp_threads == threads
    assert launch.notes == (() if note is None else (note,))


def test_threads_of_the_caller_go_before_the_text() -> None:
    assert read_launch("OMP_NUM_THREADS=4 aprun -n 2 a", HOPPER, threads=2).openmp_threads == 2
    with pytest.raises(LaunchError, match="threads 0 must be from 1 to 1024, the most threads a task can have here"):
        read_launch("aprun -n 2 a", HOPPER, threads=0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line '' holds no aprun, srun, mpiexec or mpirun command"),
        ("ls -l", "line 'ls -l' holds no aprun, srun, mpiexec or mpirun command"),
        (
            "jsrun -n 4 a",
            "line 'jsrun -n 4 a' starts tasks with jsrun, IBM's launcher, which gives a resource set its GPUs with -g and its cores with -c, and where they run is unknown; aprun, srun, mpiexec and mpirun lines can be read",
        ),
        ("# aprun -n 4 a", "line '# aprun -n 4 a' holds a launch line only in comments; take the # away"),
        ("x" * 80, f"line '{'x' * 47}...' holds no aprun, srun, mpiexec or mpirun command"),
        (
            "OMP_NUM_THREADS=many aprun -n 2 a",
            "OMP_NUM_THREADS many must be a whole number from 1 to 1024, the most threads a task can have here",
        ),
        (
            "OMP_NUM_THREADS=0 aprun -n 2 a",
            "OMP_NUM_THREADS 0 must be a whole number from 1 to 1024, the most threads a task can have here",
        ),
        (
            "aprun -n 4 \\ \n ./a.out",
            "\\ does not continue the line, because a blank follows it; take the blank away",
        ),
        ("aprun -n 4 -Q a", "-Q is not an option of aprun on Hopper; did you mean -q?"),
    ],
)
def test_texts_that_are_refused(text: str, message: str) -> None:
    assert refusal(text).message == message


def test_a_launcher_that_the_machine_does_not_have_is_said() -> None:
    notes = read("srun -n 4 a", HOPPER).notes
    assert notes[0].startswith("Hopper: ")
    assert any("names no aprun" in note for note in read("aprun -n 4 a", MACHINES["perlmutter"]).notes)


# --- arbitrary text gives a Launch or a LaunchError, and what is read can be placed ---


def survives(text: str, machine: Machine) -> None:
    launches: tuple[Launch, ...] = ()
    refused: LaunchError | None = None
    try:
        launches = read_launches(text, machine)
    except LaunchError as error:
        refused = error
    if refused is not None:
        assert refused.flag
        assert refused.message == str(refused)
        return
    assert launches
    for launch in launches:
        assert launch.tasks >= 1
        # What a node cannot give is found out when tasks are placed.
        with suppress(LaunchError):
            assert place_tasks(launch, machine).nodes


@pytest.mark.nightly
@given(text=st.text(max_size=300), name=st.sampled_from(sorted(MACHINES)))
@example(text="aprun", name="hopper")
@example(text="srun", name="hopper")
@example(text="aprun -cc x", name="hopper")
@example(text="srun -w [", name="hopper")
@example(text="aprun '", name="hopper")
def test_any_text(text: str, name: str) -> None:
    survives(text, MACHINES[name])


WORDS = st.sampled_from(
    [
        *(
            "aprun",
            "srun",
            "-n",
            "-N",
            "-d",
            "-S",
            "-sn",
            "-sl",
            "-ss",
            "-cc",
            "-m",
            "-r",
            "-F",
            "-B",
            "-L",
            "-j",
            "-c",
        ),
        *("--ntasks", "--cpu-bind", "--hint=nomultithread", "--exact", "--ntasks-per-node=", "--mem=", "-w", "--", ":"),
        *(
            "0",
            "1",
            "4",
            "24",
            "-1",
            "999999999999",
            "0-3",
            "3-0",
            "0,x:1",
            "cpu",
            "cores",
            "map_cpu:0,1",
            "mask_cpu:f",
        ),
        *(
            "block:cyclic",
            "plane=2",
            "2G",
            "1h",
            "./a.out",
            "\\",
            "\\\n",
            "\n",
            "&",
            "|",
            ";",
            ">",
            "<",
            "<<EOF",
            "EOF",
        ),
        *("#PBS", "#SBATCH", "-l", "mppwidth=48", "mppnppn=4,mppdepth=6", "-n4", "-N2", "export", "OMP_NUM_THREADS=6"),
        *(
            "$N",
            "${N}",
            "$((1+1))",
            "$(x)",
            "`x`",
            "'",
            '"',
            "(",
            ")",
            "{",
            "}",
            "=",
            "N=4",
            "time",
            "eval",
            "for",
            "do",
        ),
        *("nid[1-4]", "share", "none", "numa_node", "rank", "SLURM_CPU_BIND=threads", "²", "٤", "\0", "\t"),
    ]
)


@given(words=st.lists(WORDS, max_size=25), name=st.sampled_from(sorted(MACHINES)))
def test_any_heap_of_launcher_words(words: list[str], name: str) -> None:
    survives(" ".join(words), MACHINES[name])


@given(
    launcher=st.sampled_from(["aprun", "srun"]),
    options=st.lists(
        st.tuples(
            st.sampled_from(["-n", "-N", "-d", "-c", "-S", "-sn", "-r", "-m", "-cc", "--mem"]),
            st.text("0123456789-,:xGhs ", max_size=6),
        ),
        max_size=5,
    ),
    name=st.sampled_from(sorted(MACHINES)),
)
def test_any_values(launcher: str, options: list[tuple[str, str]], name: str) -> None:
    said = " ".join(f"{flag} {value}" for flag, value in options)
    survives(f"{launcher} {said} a.out", MACHINES[name])


@given(
    directives=st.lists(
        st.sampled_from(
            ["#PBS -l mppwidth=", "#PBS -l nodes=", "#PBS -l select=", "#SBATCH -N ", "#SBATCH -n ", "#SBATCH -c "]
        ).flatmap(lambda start: st.text("0123456789:-=acpsnu,", max_size=8).map(lambda end: start + end)),
        max_size=3,
    ),
    launcher=st.sampled_from(["aprun", "srun"]),
)
def test_any_directives(directives: list[str], launcher: str) -> None:
    survives("\n".join([*directives, f"{launcher} -n 4 a.out"]), HOPPER)


def test_gpus_of_a_node_are_counted_as_the_script_counts_them() -> None:
    text = "#PBS -l select=2\nR=$(nvidia-smi -L | wc -l)\nN=`wc -l < $PBS_NODEFILE`\nmpiexec -n $((N*R)) --ppn $R ./a"
    assert read_launch(text, MACHINES["polaris"]).tasks == 8


def test_footnotes_of_a_page_are_no_options() -> None:
    assert read_launch("#SBATCH -N 2 (1)\n#SBATCH -C cpu (2)!\nsrun -n 8 ./a", MACHINES["perlmutter"]).tasks == 8


def test_the_gpus_of_launchers_that_are_not_read() -> None:
    with pytest.raises(LaunchError, match="gives a resource set its GPUs with -g"):
        read_launch("#BSUB -nnodes 2\njsrun -n 4 -a 1 -g 1 ./a", MACHINES["polaris"])


@pytest.mark.parametrize("launcher", ["jsrun", "lrun", "flux submit", "poe", "mpirun_rsh"])
@pytest.mark.parametrize(
    "comment", ["", "# Launch with ibrun, not with mpirun or srun", "# srun -n 4 ./old", "# mpirun would do as well"]
)
def test_a_launcher_that_is_not_read_is_named_whatever_comments_say(launcher: str, comment: str) -> None:
    with pytest.raises(LaunchError, match=f"starts tasks with {launcher}.* where they run is unknown"):
        read_launch(f"#!/bin/bash\n#SBATCH -N 2\n{comment}\n{launcher} ./wave.x\n", MACHINES["perlmutter"])


@pytest.mark.parametrize(
    ("comment", "commented_out"),
    [
        ("# srun -n 4 ./a", True),
        ("## time OMP_NUM_THREADS=2 /usr/bin/mpirun ./a", True),
        ("# mpirun or srun start it", False),
        ("# the wave model, without srun", False),
    ],
)
def test_prose_that_names_a_launcher_is_no_launch_line(comment: str, commented_out: bool) -> None:
    with pytest.raises(LaunchError) as caught:
        read_launch(f"#SBATCH -N 1\n{comment}\n./wave.x\n", MACHINES["perlmutter"])
    assert ("only in comments" in caught.value.message) == commented_out
