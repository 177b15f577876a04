"""The explorer of builds: examples, repaired lines, any text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopperkit.questions.failure.build import QUESTION
from hopperkit.render.answer import answer_json
from hopperlib.errors import InputError

EXPECTED = {
    "PGI: no threads, no link": (["PGI-MP-NONUMA", "LIBSCI-DYNAMIC-FFTW3"], []),
    "The default modules, a dynamic program": (["MPICH2-SHMEM-DYNAMIC"], []),
    "GNU: C++ with Fortran": (["GNU-CXX-FORTRAN"], []),
    "The same, a version that no source mentions": ([], ["GNU-CXX-FORTRAN"]),
    "Today: two MPI libraries": (["TWO-MPI", "MPI-LIBRARY-BY-HAND"], []),
}


@pytest.mark.parametrize("example", QUESTION.examples, ids=lambda example: example.label)
def test_examples(example):
    result = QUESTION.run(**example.values)
    assert (result.facts["known"], result.facts["possible"]) == EXPECTED[example.label]
    assert "made-up" in [notice.code for notice in result.findings]
    json.dumps(result.to_dict(), allow_nan=False)


def test_one_change_of_module_mends_both():
    result = QUESTION.run()
    assert (
        result.copyables[0].text == "module swap xt-libsci xt-libsci/10.5.0\nftn -mp=nonuma -dynamic -o solver solver.o"
    )
    assert result.summary.endswith("Type module swap xt-libsci xt-libsci/10.5.0, and rebuild.")
    (wrappers, *_) = result.findings
    assert "Bug 765956, reported 2010-10-19, fixed in xt-libsci/10.5.0 of 2010-12-16." in wrappers.message
    mended = QUESTION.run(modules="\n".join([QUESTION.defaults["modules"], *result.facts["commands"]]))
    assert mended.facts["known"] == []


def test_a_possible_problem_says_why_it_is_only_possible():
    (notice, *_) = QUESTION.run(modules="PrgEnv-gnu/3\nxt-asyncpe/4.8", line="CC a.cpp b.f90").findings
    assert notice.level == "note"
    assert "no source describes xt-asyncpe/4.8" in notice.message


def test_nothing_given():
    result = QUESTION.run(modules="", line="")
    assert result.summary.startswith("Nothing to check yet")
    assert result.copyables == ()


def test_no_known_problem_is_no_promise():
    result = QUESTION.run(modules="gcc/12.2.0\nopenmpi/4.1.5", line="mpicc -o ring ring.c")
    assert "no guarantee" in result.summary
    assert [row[0] for row in result.tables[0].rows] == ["gcc", "openmpi"]


def test_lines_that_say_nothing_are_counted():
    (notice, *_) = QUESTION.run(modules="gcc/12\nwhat is this thing\nand that one", line="gcc a.c").findings
    assert notice.message == "2 lines named no module and set no variable; the first is: what is this thing"


def test_a_line_without_a_compiler():
    with pytest.raises(InputError, match="holds no compiler that is known") as caught:
        QUESTION.run(line="make all")
    assert caught.value.name == "line"


def test_markup_stays_text():
    result = QUESTION.run(modules="<b>x</b> <script>", line="cc '<script>alert(1)</script>.c' -lx a.o")
    assert "'<script>alert(1)</script>.c'" in result.facts["repaired_line"]


@settings(max_examples=settings.default.max_examples // 2)
@given(st.text(max_size=60), st.text(max_size=30))
def test_any_text_gets_an_answer_or_one_message(modules, line):
    answer = json.loads(answer_json("build", json.dumps({"modules": modules, "line": line})))
    assert answer["ok"] or answer["error"]["control"] == "line"
