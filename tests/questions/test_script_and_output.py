"""A job's script and its output given together: both are answered."""

import pytest

from hopperkit.questions.files.identify import QUESTION
from hopperkit.readers.source import texts_together

OUT_OF_MEMORY = "step 1\nslurmstepd: error: Detected 1 oom_kill event in StepId=1234.0. Some of the step tasks have been OOM Killed.\n"
LOST = "#!/bin/bash\n#SBATCH -N 1 --ntasks-per-node=16 --cpus-per-task=8\nsrun ./a\n"


def together(*texts):
    return QUESTION.run(text=texts_together(dict(zip(("job.sh", "job.out"), texts, strict=True))), machine="archer2")


def test_the_problem_of_the_script_is_beside_the_cause():
    result = together(LOST, OUT_OF_MEMORY)
    assert result.facts["verdict"] == "cause"
    assert "cpus-not-passed-on" in result.facts["script_codes"]
    (found,) = [each for each in result.findings if each.code == "cpus-not-passed-on"]
    assert found.level == "problem"
    assert found.message.startswith("job.sh: Line 3")
    assert "The script has 1 problem too (cpus-not-passed-on), below." in result.summary


def test_a_sound_script_adds_no_problem():
    result = together("#!/bin/bash\n#SBATCH -N 1 --ntasks-per-node=128\nsrun --hint=nomultithread ./a\n", OUT_OF_MEMORY)
    assert result.facts["script_problems"] == 0
    assert "script has" not in result.summary


@pytest.mark.parametrize("line", ["srun -n 999999999 ./a", "srun --no-such-option ./a"])
def test_a_script_that_is_refused_is_a_problem_too(line):
    result = together(f"#!/bin/bash\n#SBATCH -N 1\n{line}\n", OUT_OF_MEMORY)
    assert [each.level for each in result.findings if each.code == "refused"] == ["problem"]
