"""Launch lines and directives found in a text."""

import pytest

from hopperkit.launchers import read_launch, read_script
from hopperkit.launchers.words.shell import Unknown
from hopperlib.machine import Machine
from hopperlib.placement.components import LaunchError


def lines(text: str) -> list[str]:
    return [line.text for line in read_script(text).lines]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("aprun -n 4 ./a.out", ["aprun -n 4 ./a.out"]),
        ("/usr/bin/aprun -n 4 ./a.out", ["/usr/bin/aprun -n 4 ./a.out"]),
        ("time aprun -n 4 ./a.out > out 2>&1", ["aprun -n 4 ./a.out"]),
        ("time -p env X=1 nohup srun -n 4 a &", ["srun -n 4 a"]),
        ("A=1 B=2 srun a", ["srun a"]),
        ("A=1 B+=2 srun a", ["srun a"]),
        ("A=1 ./x=3 srun a", []),
        ("if aprun -n 4 a; then srun b; fi", ["aprun -n 4 a", "srun b"]),
        ("for i in 1 2; do aprun -n 4 a $i; done", ["aprun -n 4 a $i"]),
        ('CMD="aprun -n 4"\n$CMD a', ["aprun -n 4 a"]),
        ('CMD="aprun -n 4 a"\neval "$CMD"', ["aprun -n 4 a"]),
        ("$ srun -n 4 a", ["srun -n 4 a"]),
        ("nid00012:~/run> aprun -n 4 a", ["aprun -n 4 a"]),
        ("```bash\nsrun -n 4 a\n```", ["srun -n 4 a"]),
        ("`srun -n 4 a`", ["srun -n 4 a"]),
        ("srun -n 4 a\r\nsrun -n 5 b\r\n", ["srun -n 4 a", "srun -n 5 b"]),
        ("echo aprun -n 4 a", []),
        ("which srun", []),
        ("module load srun", []),
        ("# aprun -n 4 a", []),
        ('echo "srun -n 4 a"', []),
        ("cat <<EOF\nsrun -n 4 a\nEOF", []),
        ("timeout 10m srun a", ["srun a"]),
    ],
)
def test_launch_lines_are_found(text: str, found: list[str]) -> None:
    assert lines(text) == found


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("export OMP_NUM_THREADS=6\naprun a", "6"),
        ("setenv OMP_NUM_THREADS 6\naprun a", "6"),
        ("OMP_NUM_THREADS=6\nexport OMP_NUM_THREADS\naprun a", "6"),
        ("OMP_NUM_THREADS=6 aprun a", "6"),
        ("env OMP_NUM_THREADS=6 aprun a", "6"),
        ("declare -x OMP_NUM_THREADS=6\naprun a", "6"),
        ("set n = 3\nsetenv OMP_NUM_THREADS $n\naprun a", "3"),
        ("set n=3\nsetenv OMP_NUM_THREADS ${n}\naprun a", "3"),
        ("export OMP_NUM_THREADS=6\nunset OMP_NUM_THREADS\naprun a", None),
        ("OMP_NUM_THREADS=6\naprun a", None),
        ("export A=2\nexport OMP_NUM_THREADS=$A$A\naprun a", "22"),
        ("export OMP_NUM_THREADS=1\nOMP_NUM_THREADS+=2\naprun a", "12"),
    ],
)
def test_the_environment_a_launcher_sees(text: str, seen: str | None) -> None:
    assert read_script(text).lines[0].environment.get("OMP_NUM_THREADS") == seen


@pytest.mark.parametrize("text", ["@ n = 2 * 3", "let n=2*3", "read n", "for n in 1 2; do x; done", "n=$((2*m))"])
def test_worked_out_values_stay_unknown(text: str) -> None:
    invocation = read_script(f"{text}\naprun -n $n a").lines[0]
    assert invocation.words[1].unknown
    assert isinstance(invocation.unexported.get("n"), Unknown)


def test_variables_of_the_batch_system_are_seen() -> None:
    invocation = read_script("srun -n $SLURM_NTASKS a").in_job({"SLURM_NTASKS": "8"}).lines[0]
    assert invocation.text == "srun -n 8 a"
    assert invocation.environment["SLURM_NTASKS"] == "8"


def test_lines_in_the_background_are_lines_like_others() -> None:
    assert lines("aprun a &\naprun b\nwait") == ["aprun a", "aprun b"]


def test_pbs_directives() -> None:
    script = read_script("#!/bin/sh\n#PBS -l mppwidth=48,mppnppn=12\n#PBS -q regular\n\naprun a\n")
    assert [directive[:4] for directive in script.directives] == [
        ("pbs", "-l", "mppwidth=48,mppnppn=12", 2),
        ("pbs", "-q", "regular", 3),
    ]


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("#SBATCH -N4 --ntasks-per-node=8 --exclusive", [("-N", "4"), ("--ntasks-per-node", "8"), ("--exclusive", "")]),
        ("#SBATCH -J 'a job' --mem 4G", [("-J", "a job"), ("--mem", "4G")]),
        ("#BSUB -nnodes 4", [("-nnodes", "4")]),
        ("#flux: -N 2 -n16", [("-N", "2"), ("-n", "16")]),
        ("#SBATCH hetjob", [("hetjob", "")]),
        ("#SBATCH", [("", "")]),
    ],
)
def test_a_directive_for_each_option(line: str, options: list[tuple[str, str]]) -> None:
    assert [(directive.option, directive.value) for directive in read_script(line).directives] == options


def test_commented_and_late_directives_do_not_count() -> None:
    text = "## SBATCH -N 1\n##SBATCH -N 2\n# SBATCH -N 3\n#SBATCH -N 4 # five\n#SBATCH -J 'a job'\ndate\n#SBATCH -N 6\n"
    script = read_script(text)
    assert [directive[1:4] for directive in script.directives] == [("-N", "4", 4), ("-J", "a job", 5)]
    assert script.late_directives == ((7, "#SBATCH -N 6"),)
    launch = read_launch(text + "srun -n 4 a", Machine.load("cluster"))
    assert launch.reservation is not None
    assert launch.reservation.nodes == 4


def test_directives_of_two_batch_systems_are_refused() -> None:
    with pytest.raises(LaunchError, match="#PBS and #SBATCH are in one script"):
        read_launch("#PBS -l mppwidth=24\n#SBATCH -N 1\nsrun a", Machine.load("cluster"))


SCRIPT = """\
$ cat job.sh
module load PrgEnv-gnu openmpi/4.1
export OMP_NUM_THREADS=4 MODE
N=$(wc -l < hosts)
if [ "$MODE" = fast ]; then
  for i in 1 2 3; do
    numactl --interleave=all srun -n 4 ./fast "a
b" >> log 2>&1 &
  done
  wait
else
  srun -n $N ./slow
fi
srun ./last
"""


def test_where_a_launch_line_stands() -> None:
    fast, slow, last = read_script(SCRIPT).lines
    assert (fast.line, fast.redirections) == (7, (">>log", "2>&1"))
    assert (fast.inside, fast.times, fast.background) == (('if [ "$MODE" = fast ]', "for i in 1 2 3"), 3, True)
    assert (slow.line, slow.inside, slow.times, slow.background) == (12, ("else",), 1, False)
    assert (last.line, last.inside) == (14, ())
    assert fast.group < slow.group < last.group


def test_variables_and_modules_of_a_script() -> None:
    script = read_script(SCRIPT)
    assert [tuple(variable) for variable in script.variables] == [
        ("OMP_NUM_THREADS", "4", 3, True),
        ("N", None, 4, False),
        ("i", None, 6, False),
    ]
    assert [tuple(module) for module in script.modules] == [
        ("PrgEnv-gnu", 2),
        ("openmpi/4.1", 2),
    ]
    assert script.raw[0] == "$ cat job.sh"


def test_what_only_the_running_script_knows() -> None:
    (word,) = (word for line in read_script(SCRIPT).lines for word in line.words if word.unknown)
    assert word.text == "$N"
    assert "output of a command" in word.unknown


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("if a; then\nb\nelif c; then\nsrun x\nfi", ("elif c",)),
        ("case $1 in\na) srun x;;\nesac", ("case $1 in",)),
        ("while read f; do srun x; done", ("while read f",)),
        ("foreach f (a b)\nsrun x\nend", ("foreach f",)),
        ("if a; then b; fi\nsrun x", ()),
        ("for i in 1; do b; done; srun x", ()),
    ],
)
def test_loops_and_conditions_around_a_line(text: str, inside: tuple[str, ...]) -> None:
    assert read_script(text).lines[0].inside == inside


def test_variables_of_the_batch_system_replace_none_of_the_script() -> None:
    script = read_script("export SLURM_NTASKS=2\nsrun a")
    assert script.in_job({"SLURM_NTASKS": "8"}).lines[0].environment["SLURM_NTASKS"] == "2"
    assert read_script("srun a").in_job({"SLURM_NTASKS": "8"}).lines[0].environment == {"SLURM_NTASKS": "8"}


def test_a_text_far_too_long_is_refused() -> None:
    with pytest.raises(LaunchError, match="text holds 600,000 characters"):
        read_script("a" * 600_000)


def test_entries_of_a_list_and_prompts_with_a_host():
    script = (
        "auser@ln04:~/t01> M=( 0xfe \\\n 0xfe00 )\nauser@ln04:~/t01> srun --cpu-bind=mask_cpu:${M[1]},${M[0]} ./a\n"
    )
    (invocation,) = read_script(script).lines
    assert invocation.words[0].text == "--cpu-bind=mask_cpu:0xfe00,0xfe"
    traced = "+ export MPICH_RANK_REORDER_METHOD=0\n+ MPICH_RANK_REORDER_METHOD=0\n+ srun -n 8 ./a\n"
    (invocation,) = read_script(traced).lines
    assert invocation.environment["MPICH_RANK_REORDER_METHOD"] == "0"


def test_a_launch_line_in_a_variable_is_read_where_nothing_else_starts_tasks():
    script = 'export OMP_NUM_THREADS=16\nVASP_COMMAND="srun -n 4 -c 32 vasp_gam"\npython relax.py\n'
    (line,) = read_script(script).lines
    assert (line.text, line.line, line.environment["OMP_NUM_THREADS"]) == ("srun -n 4 -c 32 vasp_gam", 2, "16")
    (line,) = read_script('RUN="srun -n 4"\n$RUN ./a\n').lines
    assert line.text == "srun -n 4 ./a"
