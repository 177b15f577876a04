"""The exercises in Python: solutions pass, the starting code does not, and every study has one."""

from __future__ import annotations

import ast
import json
import re
import sys

import pytest

from hopperbook.cells.plain import code_of
from hopperbook.exercises import EXERCISES, exercise
from hopperbook.exercises.boxes import BOXES, model_box
from hopperbook.studies.study import study_texts


@pytest.mark.parametrize("study", EXERCISES)
def test_the_solution_passes_and_the_start_does_not(study):
    check = exercise(study)
    verdict = check.grade(check.solution)
    assert verdict == (True, check.explanation, True)
    start = check.grade(check.start)
    # It runs, and its value is another: what is to be mended is the model, not a misprint.
    assert not start.right
    assert re.search(r"gives .*; the model gives ", start.feedback)


@pytest.mark.parametrize("study", EXERCISES)
def test_what_is_to_be_written_is_short_and_runs_in_a_browser(study):
    check = exercise(study)
    begun, done = (
        {line.strip() for line in text.splitlines() if line.strip()} for text in (check.start, check.solution)
    )
    changed = done - begun
    assert 1 <= len(changed) <= 5
    body = ast.parse(check.solution).body
    function = max((node.end_lineno - node.lineno + 1 for node in body if isinstance(node, ast.FunctionDef)), default=0)
    assert 2 <= function <= 10
    imports = [node for node in ast.walk(ast.parse(check.solution)) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {getattr(node, "module", None) or node.names[0].name for node in imports}
    assert {name.split(".")[0] for name in names} <= {"hopperlib", *sys.stdlib_module_names}
    # The page gets the values as JSON, and compares with what comes out of that.
    assert check.grade(check.solution).right
    assert json.loads(json.dumps(dict(check.values))) == {
        expression: list(value) if isinstance(value, tuple) else value for expression, value in check.values.items()
    }


def test_every_study_has_an_exercise_and_its_notebook_shows_it(root):
    assert set(EXERCISES) == set(study_texts())
    assert len({exercise(study).name for study in EXERCISES}) == len(EXERCISES)
    for study in EXERCISES:
        (notebook,) = root.glob(f"notebooks/*/{study}.ipynb")
        code = "\n".join(code_of(notebook))
        assert f'exercise("{study}")' in code
        assert (f'model_box("{study}")' in code) == (study in BOXES)


@pytest.mark.parametrize("study", BOXES)
def test_a_model_to_change_prints_what_it_gives(study):
    from hopperbook.cells.run import run

    ran = run(model_box(study).start)
    assert ran.error == ""
    assert re.search(r"\d", ran.output)


def test_an_unknown_study_is_named():
    with pytest.raises(ValueError, match="study='tides' has no exercise in Python; there is one of: placement"):
        exercise("tides")
    with pytest.raises(ValueError, match="study='tides' has no model to change; there is one of: bad-nodes"):
        model_box("tides")
