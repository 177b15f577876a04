"""Each public function of a question has the question's controls, and uses only its arguments."""

from __future__ import annotations

import importlib.util
import inspect
import typing

import pytest

import hopperkit
from hopperkit.api import kinds
from hopperkit.questions.catalogue import QUESTIONS
from hopperkit.questions.question import load
from hopperlib.errors import InputError

OOM = (
    "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=1.0. "
    "Some of your processes may have been killed by the cgroup out-of-memory handler.\n"
)
NAMES = {name.replace("-", "_"): name for name in QUESTIONS}
EMPTY = inspect.Parameter.empty
SCOPE = {**vars(kinds), **vars(typing), "AnyMachine": str, "Text": str, "Callable": typing.Callable}


def _options(annotation):
    """Return the values of a Literal in a type, at any depth."""
    if typing.get_origin(annotation) is typing.Literal:
        return typing.get_args(annotation)
    return tuple(option for part in typing.get_args(annotation) for option in _options(part))


@pytest.mark.parametrize("function", NAMES)
def test_a_function_has_the_controls_of_its_question(function):
    controls = {control.name: control for control in load(NAMES[function]).controls if control.name != "machine_file"}
    parameters = inspect.signature(getattr(hopperkit, function)).parameters
    assert set(parameters) == set(controls)
    for name, parameter in parameters.items():
        control = controls[name]
        options = _options(eval(parameter.annotation, SCOPE))
        if control.kind == "choice" and control.options and type(control).__name__ == "Choice":
            assert [str(option) for option in options] == [key for key, _ in control.options], name
        if parameter.default is not EMPTY and parameter.default is not None:
            # No text of a page is a default: a sample would pass for an answer.
            assert str(parameter.default) == str(control.default), name
            assert control.kind != "file", name
        assert name in getattr(hopperkit, function).__doc__


@pytest.mark.parametrize("function", NAMES)
def test_a_function_says_what_it_takes_and_shows_it(function):
    doc = getattr(hopperkit, function).__doc__
    parts = [doc.index(f"\n    {part}\n") for part in ("Parameters", "Returns", "Raises", "Examples", "References")]
    assert parts == sorted(parts)
    assert f"hopperkit.{function}(" in doc


def test_functions_are_what_the_script_writes(root):
    spec = importlib.util.spec_from_file_location("write_api", root / "scripts" / "write_api.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    for room, text in script.modules().items():
        assert script.formatted(text) == (script.FOLDER / f"{room}.py").read_text(encoding="utf-8"), room


def test_a_star_gives_every_public_name():
    names = {}
    exec("from hopperkit import *", names)
    assert set(hopperkit.__all__) <= set(names)
    assert dir(hopperkit) == sorted(hopperkit.__all__)


def test_each_question_is_a_function():
    assert all(inspect.isfunction(getattr(hopperkit, name)) for name in NAMES)
    # Three that a part of the package once hid, or that moved to the book.
    assert inspect.isfunction(hopperkit.machines)
    assert inspect.isfunction(hopperkit.scheduling)
    assert not hasattr(hopperkit, "documented")


@pytest.mark.parametrize("given", [{"errors": OOM}, {"log": OOM}])
def test_an_error_alone_is_what_is_diagnosed(given):
    answer = hopperkit.diagnose(**given)
    assert "SLURM-OOM" in answer.summary
    assert "certain" in answer.summary
    assert "ALPS" not in str(answer.to_dict())


def test_a_record_alone_is_what_is_diagnosed():
    answer = hopperkit.diagnose(record="JobID|State|ExitCode\n1|OUT_OF_MEMORY|0:125\n")
    assert "ALPS" not in str(answer.to_dict())


@pytest.mark.parametrize(
    ("call", "missing"),
    [
        (lambda: hopperkit.simulate(nodes=64), "trace"),
        (lambda: hopperkit.preflight(need_gb=20), "buddyinfo"),
        (lambda: hopperkit.memory(need_gb=2), "tasks"),
        (hopperkit.place, "line"),
        (lambda: hopperkit.diagnose(machine="hopper"), "log, errors or record"),
        (lambda: hopperkit.runs_needed(5), "noise_percent or times"),
        (hopperkit.build, "line or modules"),
    ],
)
def test_what_is_missing_is_named(call, missing):
    with pytest.raises((TypeError, InputError), match=missing):
        call()


def test_the_machine_of_a_line_is_the_one_it_names():
    assert hopperkit.place("#SBATCH -C gpu -q regular\nsrun -n 4 -c 32 ./a").facts["machine"] == "perlmutter"
    assert "Where the tasks run is unknown" in hopperkit.place("srun -n 4 ./a").summary
