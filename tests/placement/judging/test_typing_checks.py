"""Characters from formatted pages in job scripts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.launchers.judging.checks.typing import check_typing
from hopperkit.launchers.judging.job_checks import check_job
from hopperkit.launchers.scripts import read_script
from hopperlib.machine import Machine


@pytest.mark.parametrize(
    ("text", "code", "corrected"),
    [
        ("srun \u2013n 64 ./a", "characters", "srun -n 64 ./a"),
        ("#SBATCH \u2014nodes=4\nsrun ./a", "characters", "#SBATCH --nodes=4"),
        ("mpirun \u2212np 4 ./a", "characters", "mpirun -np 4 ./a"),
        ("srun\u00a0-n\u00a064 ./a", "characters", "srun -n 64 ./a"),
        ("srun -n 4 \u201c./a b\u201d", "characters", 'srun -n 4 "./a b"'),
        ("export A=\u2018x\u2019\nsrun ./a", "characters", "export A='x'"),
        ("srun -n\u200b 4 ./a", "characters", "srun -n 4 ./a"),
        ("# SBATCH -N 4\nsrun ./a", "directive-blank", "#SBATCH -N 4"),
        ("  #SBATCH -N 4\nsrun ./a", "directive-blank", "#SBATCH -N 4"),
    ],
)
def test_the_corrected_line(text, code, corrected):
    (finding,) = check_job(read_script(text), Machine.load("cluster"), known=False)
    assert (finding.code, finding.level) == (code, "problem")
    assert finding.advice.endswith(f"rite: {corrected}")


@pytest.mark.parametrize(
    "text",
    [
        "# r\u00e9seau \u2013n 4 \u201cx\u201d\nsrun -n 4 ./a",
        "echo 'Dur\u00e9e\u00a0: 4 \u2013 5'\nsrun -n 4 ./a",
        "srun -n 4 ./a # the user\u2019s run",
        "##SBATCH -N 4\n#SBATCH -N 2\nsrun ./a",
        "# SBATCH directives follow\n#SBATCH -N 2\nsrun ./a",
        "srun ./r\u00e9sum\u00e9",
    ],
)
def test_what_no_launcher_reads_may_hold_any_character(text):
    assert not list(check_typing(read_script(text)))


@given(st.lists(st.sampled_from(["\u2013", "\u2014", "\u2212", "-"]), min_size=3, max_size=3))
def test_the_corrected_line_is_sound(dashes):
    text = "srun {}n 64 {}c 2 {}cpu-bind=cores ./a".format(*dashes)
    for finding in check_job(read_script(text), Machine.load("cluster"), known=False):
        corrected = finding.advice.removeprefix("Write: ")
        assert corrected.isascii()
        assert not list(check_typing(read_script(corrected)))
        assert corrected.startswith("srun -n 64 -c 2 -")
