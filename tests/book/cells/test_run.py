"""A reader's code: its output, its errors, and the comparison with the model."""

from __future__ import annotations

import pytest

from hopperbook.cells.run import run, run_json, same
from hopperbook.self_checks import CodeCheck
from hopperbook.self_checks.form import CheckView


@pytest.mark.parametrize(
    ("source", "output", "error"),
    [
        ("print(6)\n4 * 6", "6\n24\n", ""),
        ("x = 6", "", ""),
        ("", "", ""),
        ("x = (1", "", "Line 1: SyntaxError: '(' was never closed"),
        ("a = 1\n\ndef f():\n    return b\n\nf()", "", "Line 4: NameError: name 'b' is not defined"),
        ("print(1)\nraise SystemExit(3)", "1\n", "Line 2: SystemExit: 3"),
        ("raise KeyboardInterrupt", "", "Line 1: KeyboardInterrupt"),
        ("raise MemoryError", "", "Line 1: MemoryError: this needs more memory than there is here"),
        ("from hopperlib.placement.models.memory import memory_per_task\n\nmemory_per_task(None, 1)", "",
         "Line 3: AttributeError: 'NoneType' object has no attribute 'cores'"),
        ("import math\nmath.inf", "inf\n", ""),
    ],
)  # fmt: skip
def test_code_is_run_as_in_a_notebook(source, output, error):
    assert run(source) == (output, error, "")


def test_what_is_printed_without_end_is_cut():
    ran = run("for n in range(100_000):\n    print('words', n)")
    assert len(ran.output) < 21_000
    assert ran.output.endswith("\n... the rest is not shown")


def test_names_do_not_outlive_a_run():
    assert run("kept = 6").error == ""
    assert run("kept").error == "Line 1: NameError: name 'kept' is not defined"


@pytest.mark.parametrize(
    ("got", "wanted", "alike"),
    [
        (1.0000000001, 1, True), (1.001, 1, False), (0.0, 0, True), (float("nan"), 1.0, False), ("a", "a", True),
        (1, "1", False), ([1, [2.0]], (1, [2]), True), ([1], [1, 1], False), (True, True, True), (1, True, False),
        (None, 1, False), ({1}, [1], False),
    ],
)  # fmt: skip
def test_values_are_compared(got, wanted, alike):
    assert same(got, wanted) == alike


def test_the_first_value_that_differs_is_named():
    values = {"half(2)": 1.0, "half(3)": 1.5}
    assert run("def half(x):\n    return x // 2", values).wrong == "`half(3)` gives 1; the model gives 1.5."
    assert run("def half(x):\n    return x / 2", values).wrong == ""
    assert run("x = 1", values).wrong == "`half(2)` cannot be computed. Line 1: NameError: name 'half' is not defined"
    # What stops with an error is not compared.
    assert run("1 / 0", values) == ("", "Line 1: ZeroDivisionError: division by zero", "")
    assert (
        run_json("2 / 0", "{}") == '{"output": "", "error": "Line 1: ZeroDivisionError: division by zero", "wrong": ""}'
    )


def test_a_check_is_marked_by_its_values():
    about = {
        "name": "half",
        "question": "Halve it.",
        "explanation": "Two halves.",
        "start": "x = 1",
        "solution": "x = 2",
    }
    check = CodeCheck(**about, values={"x": 2})
    assert check.grade("x = 2") == (True, "Two halves.", True)
    assert check.grade("x = 3") == (False, "`x` gives 3; the model gives 2.", True)
    assert check.grade("x = y") == (False, "Line 1: NameError: name 'y' is not defined", True)
    assert check.grade("  ") == (False, "Write some Python first.", False)
    view = CheckView(check)
    assert view.form.field.value == "x = 1"
    view.form.field.value = "x = 2"
    view.mark()
    assert "Right." in view.said.value
    with pytest.raises(ValueError, match="check 'half' compares no value"):
        CodeCheck(**about, values={})
    with pytest.raises(SyntaxError):
        CodeCheck(**{**about, "solution": "x ="}, values={"x": 2})
