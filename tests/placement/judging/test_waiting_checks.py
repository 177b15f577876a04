"""Launch lines in the background: what the check reports is what bash leaves unfinished when a script ends."""

import subprocess
from itertools import product

import pytest

from hopperkit.launchers.judging.checks.waiting import check_waiting
from hopperkit.launchers.judging.job_checks import check_job
from hopperkit.launchers.scripts import read_script
from hopperlib.machine import Machine

# Ways to start two programs, and ways to end the script.
STARTS = {
    "two lines": "srun -n 1 ./a &\nsrun -n 1 ./b &\n",
    "loop": "for i in 1 2; do\n  srun -n 1 ./a $i > out.$i &\ndone\n",
    "loop on one line": "for i in 1 2; do srun -n 1 ./a $i & done\n",
    "function": "run() {\n  srun -n 1 ./a $1 &\n}\nrun 1\nrun 2\n",
    "subshells": "( srun -n 1 ./a ) &\n( srun -n 1 ./b ) &\n",
    "braces": "{ srun -n 1 ./a; srun -n 1 ./b; } &\n",
    "whole loop": "for i in 1 2; do\n  srun -n 1 ./a\ndone &\n",
    "foreground": "srun -n 1 ./a\nsrun -n 1 ./b\n",
    "foreground in a subshell": "( cd . ; srun -n 1 ./a )\nsrun -n 1 ./b\n",
}
ENDS = {
    "nothing": "",
    "short commands": "echo started\ndate > when.txt\nexit 0\n",
    "wait": "wait\necho done\n",
    "wait for the last": "p=$!\nwait $p\nwait\n",
    "polling": 'while [ "$(ls done.* | wc -l)" -lt 2 ]; do jobs -p > pids; sleep 0.05; done\n',
}
STUB = "srun() { sleep 0.2; : > done.$BASHPID.$RANDOM; }\n"


@pytest.mark.parametrize(("start", "end"), [*product(STARTS, ENDS)])
def test_the_check_reports_what_bash_leaves_unfinished(start: str, end: str, tmp_path) -> None:
    body = STARTS[start] + ENDS[end]
    subprocess.run(
        ["bash", "-c", STUB + body], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    unfinished = len(list(tmp_path.glob("done.*"))) < 2
    found = [draft.finding.code for draft in check_waiting(read_script(f"#SBATCH -N 1\n{body}"))]
    assert found == (["wait-missing"] if unfinished else [])


@pytest.mark.parametrize(
    "rest",
    [
        # A server in the background, for a client that the script waits for.
        "python client.py\n",
        "srun -n 8 ./client\n",
        "sleep 3600\n",
        "trap 'wait' EXIT\n",
        "while kill -0 $!; do sleep 1; done\n",
    ],
)
def test_a_script_that_goes_on_is_not_reported(rest: str) -> None:
    assert not list(check_waiting(read_script(f"#SBATCH -N 1\nsrun -n 1 ./server &\n{rest}")))


def test_a_pasted_line_is_no_script_that_ends() -> None:
    assert not list(check_waiting(read_script("srun -n 1 ./a &\n")))


def test_the_proposed_wait_cures_the_script_on_any_machine() -> None:
    script = read_script("#SBATCH -N 1 -n 2\nsrun -n 1 --exact ./a &\nsrun -n 1 --exact ./b &\n")
    (found,) = [each for each in check_job(script, Machine.load("cluster")) if each.code == "wait-missing"]
    assert found.level == "problem"
    assert found.advice == "Write wait on a line at the end."
    (draft,) = check_waiting(script)
    assert not list(check_waiting(script.edited(draft.remedies[0].edits)))
