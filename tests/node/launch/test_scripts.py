"""Launch lines and directives found in a text."""

import pytest

from hopperlib.node.launch.components import LaunchError
from hopperlib.node.launch.scripts import find_directives, find_invocations, tidy
from hopperlib.node.launch.shell import Unknown


def lines(text: str) -> list[str]:
    return [invocation.text for invocation in find_invocations(tidy(text), {})]


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
    assert find_invocations(text, {})[0].environment.get("OMP_NUM_THREADS") == seen


@pytest.mark.parametrize("text", ["@ n = 2 * 3", "let n=2*3", "read n", "for n in 1 2; do x; done", "n=$((2*m))"])
def test_worked_out_values_stay_unknown(text: str) -> None:
    invocation = find_invocations(f"{text}\naprun -n $n a", {})[0]
    assert invocation.words[1].unknown
    assert isinstance(invocation.unexported.get("n"), Unknown)


def test_variables_of_the_batch_system_are_seen() -> None:
    invocation = find_invocations("srun -n $SLURM_NTASKS a", {"SLURM_NTASKS": "8"})[0]
    assert invocation.text == "srun -n 8 a"
    assert invocation.environment["SLURM_NTASKS"] == "8"


def test_lines_in_the_background_are_lines_like_others() -> None:
    assert lines("aprun a &\naprun b\nwait") == ["aprun a", "aprun b"]


def test_pbs_directives() -> None:
    found = find_directives("#!/bin/sh\n#PBS -l mppwidth=48,mppnppn=12\n#PBS -q regular\n\naprun a\n")
    assert found is not None
    assert found.batch == "pbs"
    assert [word.text for word in found.words] == ["-l", "mppwidth=48,mppnppn=12", "-q", "regular"]


def test_commented_and_late_directives_do_not_count() -> None:
    text = "## SBATCH -N 1\n##SBATCH -N 2\n# SBATCH -N 3\n#SBATCH -N 4 # five\n#SBATCH -J 'a job'\ndate\n#SBATCH -N 6\n"
    found = find_directives(text)
    assert found is not None
    assert [word.text for word in found.words] == ["-N", "4", "-J", "a job"]
    assert found.notes == ('"#SBATCH -N 6" stands behind the first command, where it no longer counts.',)


def test_no_directives() -> None:
    assert find_directives("#!/bin/sh\naprun a\n") is None


def test_directives_of_two_batch_systems_are_refused() -> None:
    with pytest.raises(LaunchError, match="#PBS and #SBATCH stand in one script"):
        find_directives("#PBS -l mppwidth=24\n#SBATCH -N 1\n")


def test_a_text_far_too_long_is_refused() -> None:
    with pytest.raises(LaunchError, match="text holds 600,000 characters"):
        tidy("a" * 600_000)


def test_entries_of_a_list_and_prompts_with_a_host():
    script = (
        "auser@ln04:~/t01> M=( 0xfe \\\n 0xfe00 )\nauser@ln04:~/t01> srun --cpu-bind=mask_cpu:${M[1]},${M[0]} ./a\n"
    )
    (invocation,) = find_invocations(tidy(script), {})
    assert invocation.words[0].text == "--cpu-bind=mask_cpu:0xfe00,0xfe"
    traced = "+ export MPICH_RANK_REORDER_METHOD=0\n+ MPICH_RANK_REORDER_METHOD=0\n+ srun -n 8 ./a\n"
    (invocation,) = find_invocations(tidy(traced), {})
    assert invocation.environment["MPICH_RANK_REORDER_METHOD"] == "0"
