"""`hopper build`: text, JSON, where the modules come from, and one message for each mistake."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from hopperkit.cli import hopper

PGI = "1) PrgEnv-pgi/3.1.61  2) xt-asyncpe/4.5  3) xt-libsci/10.4.5  4) fftw/2.1.5\n"


def build(*words, text="", loaded=None):
    return CliRunner().invoke(
        hopper, ["build", *words], input=text, prog_name="hopper", env={"LOADEDMODULES": loaded, "COLUMNS": "120"}
    )


def test_a_known_problem():
    result = build("--modules", "-", "ftn -mp=nonuma -o a a.o", text=PGI)
    assert result.exit_code == 1
    assert "problem: The wrappers of PGI drop -mp=nonuma" in result.output
    assert "Bug 765956, reported 2010-10-19, fixed in xt-libsci/10.5.0 of 2010-12-16." in result.output
    assert "The repaired build:\n  module swap xt-libsci xt-libsci/10.5.0\n  ftn -mp=nonuma -o a a.o\n" in result.output


def test_a_possible_problem_is_printed_and_is_none_to_the_exit_status():
    result = build("--modules", "-", "--all", "CC a.cpp b.f90", text="PrgEnv-gnu/3\nxt-asyncpe/4.8\n")
    assert result.exit_code == 0
    assert "note: Possible: C or C++ and Fortran" in result.output
    assert "Unknown, because no source describes xt-asyncpe/4.8" in result.output
    assert "The repaired build" not in result.output


def test_no_problem_is_no_promise():
    result = build("gcc -o a a.c")
    assert result.exit_code == 0
    said = "No known problem. That is no guarantee: only reported problems are known.\n"
    assert result.output.startswith(said)


def test_modules_of_the_shell_count_where_no_file_is_given(tmp_path):
    assert build("ftn -mp=nonuma a.o", loaded="PrgEnv-pgi/3:xt-libsci/10.4.5").exit_code == 1
    file = tmp_path / "modules.txt"
    file.write_text("PrgEnv-pgi/3\nxt-libsci/10.5.0\n", encoding="utf-8")
    done = build("ftn -mp=nonuma a.o", "--modules", str(file), loaded="PrgEnv-pgi/3:xt-libsci/10.4.5")
    assert done.exit_code == 0


def test_what_is_said_on_the_command_line_counts():
    gnu = "PrgEnv-gnu/3\nxt-asyncpe/4.7\n"
    assert build("--modules", "-", "--mixed", "yes", "CC a.o b.o", text=gnu).exit_code == 1
    assert build("--modules", "-", "--mixed", "no", "CC a.o b.o", text=gnu).exit_code == 0
    assert build("--modules", "-", "--shmem", "yes", "cc a.o", text="xt-mpich2\n").exit_code == 1
    assert build("--modules", "-", "cc a.o", text="xt-mpich2\n").exit_code == 0


def test_json():
    found = json.loads(build("--json", "--modules", "-", "ftn -dynamic a.o", text=PGI).output)
    first = found["findings"][0]
    assert (first["code"], first["certainty"], first["bug"]) == ("LIBSCI-DYNAMIC-FFTW3", "known", 761427)
    assert found["repair"] == {"commands": ["module swap fftw fftw/3"], "line": "ftn -dynamic a.o", "left": []}
    assert (found["compiler"], found["linking"], found["unread"]) == ("pgi", "dynamic", [])


def test_what_only_the_reader_can_choose():
    result = build("--modules", "-", "mpicc a.c", text="openmpi/4\nmpich/4\n")
    assert result.exit_code == 1
    assert "How to handle TWO-MPI is your choice" in result.output


def test_lines_that_say_nothing_are_named():
    result = build("--all", "--modules", "-", "gcc a.c", text="gcc/12\nthis is no module\n")
    assert "1 line named no module and set no variable; the first is: this is no module" in result.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give a compile or link line, --modules, or both"),
        (["make all"], "holds no compiler that is known"),
        (["cc 'a"], "cannot be cut into words"),
        (["--modules", "/no/such/file", "cc a.c"], "/no/such/file"),
    ],
)
def test_bad_input(words, message):
    result = build(*words)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_bad_input_as_json():
    assert "holds no compiler" in json.loads(build("--json", "make all").output)["error"]["message"]
