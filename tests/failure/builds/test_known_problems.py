"""Known problems of builds: every sample of every rule, the deciding conditions, and the repairs."""

from __future__ import annotations

from dataclasses import astuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopperbook.documented import by_study, documented
from hopperlib.failure.builds._environment import read_environment
from hopperlib.failure.builds._link_line import drivers, read_line
from hopperlib.failure.builds.default_modules import (
    outcomes,
)
from hopperlib.failure.builds.known_problems import check_build, read_build, repaired
from hopperlib.failure.builds.rules import (
    build_rule,
    load_build_rules,
    read_build_rules,
)
from hopperlib.failure.builds.versions import in_range, version_key
from hopperlib.schema import TableError

RULES = load_build_rules()


def found(modules, line, **more):
    """Codes and certainties of a build."""
    return {one.rule.code: one.certainty for one in check_build(read_build(modules, line, **more))}


# Rules


def test_the_positive_sample_is_known_and_the_negative_one_is_not():
    expected = {rule.code: "possible" if rule.doubt else "known" for rule in RULES}
    assert {rule.code: found(*astuple(rule.positive)).get(rule.code) for rule in RULES} == expected
    assert [rule.code for rule in RULES if rule.code in found(*astuple(rule.negative))] == []


@pytest.mark.parametrize(
    "rule", [rule for rule in RULES if rule.repairs and not rule.doubt], ids=lambda rule: rule.code
)
def test_the_way_out_leads_out(rule):
    done = repaired(read_build(*astuple(rule.positive)))
    assert rule.code not in [one.rule.code for one in check_build(done.build)]
    assert done.left == ()


def test_a_rule_says_all_that_a_reader_needs():
    for rule in RULES:
        assert not rule.title.endswith("."), rule.code
        assert all(step.endswith((".", "?")) for step in rule.advice), rule.code
        assert "http" not in rule.source, rule.code
        # A rule from the report names its rows; our rules have none.
        assert rule.documented or not (rule.bug or rule.reported or rule.fixed), rule.code


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.era == "report"], ids=lambda rule: rule.code)
def test_numbers_dates_and_versions_are_the_printed_ones(rule):
    rows = [documented(f"build-and-link.{name}") for name in rule.documented]
    printed = {row.id.partition(".")[2]: row for row in rows}
    bugs = {row.number for row in rows if row.unit == "bug"}
    assert {rule.bug} - {None} >= bugs
    # The dates of the data are ISO dates in their notes.
    days = {row.note for row in rows if row.qualifier == "date"}
    assert {str(day) for day in (rule.reported, rule.fixed) if day} >= days
    fixed = [row.adopted for name, row in printed.items() if name.endswith("fixed-version")]
    assert all(version == rule.fixed_in for version in fixed)


def test_every_bug_number_and_release_of_the_report_is_in_a_rule():
    rows = by_study("build-and-link")
    assert {row.number for row in rows if row.unit == "bug"} == {rule.bug for rule in RULES if rule.bug}
    assert {row.note for row in rows if row.qualifier == "date"} == {
        str(day) for rule in RULES for day in (rule.reported, rule.fixed) if day
    }


# 14 February to 17 March 2011; 19 October to 16 December 2010.
@pytest.mark.parametrize(
    ("code", "days"), [("GNU-CXX-FORTRAN", 31), ("PGI-MP-NONUMA", 58), ("LIBSCI-DYNAMIC-FFTW3", None)]
)
def test_days_from_report_to_release(code, days):
    assert build_rule(code).days_open == days


GOOD = """
[[rule]]
code = "TEST"
level = "problem"
title = "A test"
symptom = "It breaks."
stage = "build"
advice = ["Fix it."]
source = "a manual"
when = { flags = ["-bad"], versions = { lib = { known = ["<2"], free = [">=2"] } } }
repairs = [{ do = "drop", what = "-bad" }]
positive = { modules = "lib/1", line = "cc -bad a.c" }
negative = { modules = "lib/2", line = "cc -bad a.c" }
"""


def test_a_new_problem_takes_one_table():
    rules = read_build_rules(GOOD)
    assert [one.rule.code for one in check_build(read_build(*astuple(rules[0].positive)), rules)] == ["TEST"]
    assert check_build(read_build(*astuple(rules[0].negative)), rules) == ()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('title = "A test"\n', "", "rule.TEST.title: is missing"),
        ("flags = [\"-bad\"], v", "flag = [\"-bad\"], v", "rule.TEST.when.flag = ['-bad']: is not a key; did you mean 'flags'?"),
        ("flags = [\"-bad\"], v", "flags = \"-bad\", v", "rule.TEST.when.flags = '-bad': must be a list of texts, at least one"),
        ('"<2"', '"2"', "rule.TEST.when.versions.lib.'2': bound='2' must be one of >= <= == > < and a version"),
        ('do = "drop"', 'do = "pray"', "rule.TEST.repairs[0].do = 'pray': must be one of load, unload"),
        (', what = "-bad" }]', '}]', "rule.TEST.repairs[0].what: is required for the repair 'drop'"),
        (', line = "cc -bad a.c" }\nneg', '}\nneg', "rule.TEST.positive.line: is missing"),
    ],
)  # fmt: skip
def test_a_wrong_rule_is_refused_by_name(old, new, message):
    assert old in GOOD
    with pytest.raises(TableError) as raised:
        read_build_rules(GOOD.replace(old, new, 1))
    assert any(message in problem for problem in raised.value.problems)


def test_two_rules_may_not_share_a_code():
    with pytest.raises(
        TableError, match=r"rule.TEST.code = 'TEST': occurs twice; each \[\[rule\]\] needs a different one"
    ):
        read_build_rules(GOOD + GOOD)


def test_an_unknown_code_is_refused_with_the_way_to_find_it():
    with pytest.raises(ValueError, match="no build rule 'NOPE'; there are: GNU-CXX-FORTRAN"):
        build_rule("NOPE")


# Deciding conditions


@pytest.mark.parametrize(
    ("asyncpe", "certainty"),
    # Seen in 4.7, fixed in 4.9; no source covers earlier versions and those in between.
    [("4.6", "possible"), ("4.7", "known"), ("4.7.0", "known"), ("4.8", "possible"), ("4.9", None), ("4.10", None)],
)
def test_between_what_is_printed_a_problem_is_possible(asyncpe, certainty):
    modules = f"PrgEnv-gnu/3.1.61 xt-asyncpe/{asyncpe}"
    assert found(modules, "CC a.cpp b.f90").get("GNU-CXX-FORTRAN") == certainty


@pytest.mark.parametrize(
    ("libsci", "certainty"),
    [
        ("10.4.0", None),
        ("10.4.1", "possible"),
        ("10.4.3", "known"),
        ("10.4.7", "known"),
        ("10.4.8", None),
        ("10.5.0", None),
    ],
)
def test_libsci_by_version(libsci, certainty):
    assert found(f"xt-libsci/{libsci} fftw/2.1.5", "ftn -dynamic a.o").get("LIBSCI-DYNAMIC-FFTW3") == certainty


# The first fix (libsci 10.5.0) breaks -mp=trace everywhere; 4.7 repairs Fortran, 4.8 all.
@pytest.mark.parametrize(
    ("driver", "libsci", "asyncpe", "broken"),
    [
        ("ftn", "10.4.5", "4.6", False),
        ("ftn", "10.5.0", "4.6", True),
        ("cc", "10.5.0", "4.6", True),
        ("ftn", "10.5.0", "4.7", False),
        ("cc", "10.5.0", "4.7", True),
        ("CC", "10.5.0", "4.7", True),
        ("cc", "10.5.0", "4.8", False),
    ],
)
def test_the_wrappers_were_mended_one_after_the_other(driver, libsci, asyncpe, broken):
    codes = found(f"PrgEnv-pgi/3.1.61 xt-libsci/{libsci} xt-asyncpe/{asyncpe}", f"{driver} -mp=trace a.o")
    assert any(code.startswith("PGI-MP-OPTIONS") for code in codes) == broken


@pytest.mark.parametrize("modules", ["PrgEnv-pgi/3", "PrgEnv-gnu/3", "PrgEnv-cray/3", "PrgEnv-pathscale/3"])
@pytest.mark.parametrize("driver", ["ftn", "pgf90"])
def test_only_the_wrappers_of_pgi_drop_the_flag(modules, driver):
    codes = found(f"{modules} xt-libsci/10.4.5", f"{driver} -mp=nonuma a.f90")
    assert ("PGI-MP-NONUMA" in codes) == (modules == "PrgEnv-pgi/3" and driver == "ftn")


def test_what_the_reader_says_goes_before_what_the_line_says():
    modules = "PrgEnv-gnu/3 xt-asyncpe/4.7"
    assert found(modules, "CC a.o").get("GNU-CXX-FORTRAN") == "possible"
    assert found(modules, "CC a.o", mixed=True).get("GNU-CXX-FORTRAN") == "known"
    assert "GNU-CXX-FORTRAN" not in found(modules, "CC a.cpp b.f90", mixed=False)


def test_nothing_given_is_nothing_found():
    assert found("", "") == {}
    assert found("", "ftn -o a a.o") == {}
    assert found("PrgEnv-pgi/3 xt-libsci/10.4.5", "ftn -o a a.f90") == {}


def test_without_modules_a_problem_is_possible_and_says_why():
    (one, *_) = [one for one in check_build(read_build("", "ftn -dynamic a.o")) if one.rule.code == "MPT-DEPRECATED"]
    assert (one.certainty, one.doubts) == ("possible", ("no modules were given",))


@pytest.mark.parametrize(
    ("modules", "line", "compiler"),
    [
        ("PrgEnv-cray/8.5.0 cce/17 gcc/12.2.0", "cc a.c", "cray"),
        # GNU's compiler loaded in addition to Intel's, for its libraries.
        ("gcc/12.2.0 intel/2023.1", "mpicc a.c", "intel"),
        ("intel/2023.1 nvhpc/23.1", "mpicc a.c", None),
        ("gcc/12.2.0", "mpiicc a.c", "intel"),
        ("openmpi/4.1.5", "mpicc a.c", None),
    ],
)
def test_whose_compiler_is_called(modules, line, compiler):
    assert read_build(modules, line).compiler == compiler


def test_advice_is_given_only_where_it_applies():
    assert found("", "gcc -o a a.c") == {}
    assert found("xt-asyncpe/4.9", "cc -dynamic -o a a.c")["DYNAMIC-SLOW-START"] == "known"


def test_the_variable_switches_dynamic_linking_on_and_the_flag_wins():
    assert "MPT-DEPRECATED" in found("xt-mpt/5\nexport CRAYPE_LINK_TYPE=dynamic", "cc a.o")
    assert "MPT-DEPRECATED" not in found("xt-mpt/5\nexport CRAYPE_LINK_TYPE=dynamic", "cc -static a.o")


# Repairs


def test_a_repair_takes_the_documented_step():
    done = repaired(read_build("PrgEnv-gnu/3 xt-mpich2/5.2.0 xt-shmem/5.2.0", "cc -dynamic -o ring ring.o"))
    assert (done.commands, done.build.line.text) == (("module unload xt-shmem",), "cc -dynamic -o ring ring.o")


def test_a_program_that_uses_shmem_keeps_its_module():
    done = repaired(read_build("xt-mpich2/5.2.0 xt-shmem/5.2.0", "cc -dynamic -o puts puts.o -lsma"))
    assert (done.commands, done.build.line.text) == ((), "cc -o puts puts.o -lsma")


def test_several_repairs_one_after_the_other():
    modules = "PrgEnv-pgi/3.1.61 xt-libsci/10.4.5 fftw/2.1.5 xt-mpich2/5 xt-shmem/5"
    done = repaired(read_build(modules, "ftn -mp=nonuma -dynamic -o a a.o"))
    # Both are problems of libsci 10.4.5, so replacing one module repairs them, and FFTW2 may stay.
    assert sorted(done.commands) == [
        "module swap xt-libsci xt-libsci/10.5.0",
        "module unload xt-shmem",
    ]
    assert done.left == ()


def test_a_healthy_build_is_left_alone():
    done = repaired(read_build("gcc/12.2.0 openmpi/4.1.5", "mpicc -O2 -o ring ring.c -lm"))
    assert (done.commands, done.build.line.text) == ((), "mpicc -O2 -o ring ring.c -lm")


def test_two_mpi_libraries_are_left_for_the_reader_to_choose():
    assert repaired(read_build("openmpi/4 mpich/4", "mpicc a.c")).left == ("TWO-MPI",)


# Readers


def test_versions_are_compared_as_numbers():
    assert sorted(["10.4.10", "10.4.9", "10.5.0", "4.10", "4.9"], key=version_key) == [
        "4.9",
        "4.10",
        "10.4.9",
        "10.4.10",
        "10.5.0",
    ]
    assert version_key("5.0") == version_key("5")
    assert version_key("5.0rc1") < version_key("5.0") < version_key("5.0.1")
    with pytest.raises(ValueError, match="version='--' must hold a number or a word"):
        version_key("--")


versions = st.lists(st.integers(0, 30), min_size=1, max_size=4).map(lambda parts: ".".join(map(str, parts)))


@given(versions, versions)
def test_of_two_versions_one_is_later_or_they_are_equal(one, other):
    assert [in_range(one, f"{sign}{other}") for sign in ("<", "==", ">")].count(True) == 1
    assert in_range(one, f">={other}") == (in_range(one, f">{other}") or in_range(one, f"=={other}"))


@pytest.mark.parametrize(
    "text",
    [
        "Currently Loaded Modulefiles:\n  1) PrgEnv-gnu/3.1.61   2) xt-shmem/5.2.0(default)\n  3) cce",
        "Currently Loaded Modules:\n  1) PrgEnv-gnu/3.1.61   2) xt-shmem/5.2.0 (D)   3) cce\n\n  Where:\n   D:  Default Module",
        "Currently Loaded Modulefiles:\nPrgEnv-gnu/3.1.61\nxt-shmem/5.2.0\ncce",
        "LOADEDMODULES=PrgEnv-gnu/3.1.61:xt-shmem/5.2.0:cce",
        "PrgEnv-gnu/3.1.61:xt-shmem/5.2.0\ncce",
        "module load PrgEnv-pgi/3 xt-mpt\nmodule swap PrgEnv-pgi PrgEnv-gnu/3.1.61\nml -xt-mpt xt-shmem/5.2.0 cce",
        "module load a b\nmodule purge # all\nmodule load PrgEnv-gnu/3.1.61 xt-shmem/5.1\nmodule swap xt-shmem/5.2.0\nml cce",
    ],
)
def test_modules_in_every_form(text):
    read = read_environment(text)
    assert sorted(module.text for module in read.modules) == ["PrgEnv-gnu/3.1.61", "cce", "xt-shmem/5.2.0"]
    assert read.unread == ()


def test_a_list_in_columns_is_read_by_number():
    read = read_environment("1) a/1  3) c/1\n2) b/1\nmodule load d")
    assert [module.name for module in read.modules] == ["a", "b", "c", "d"]


def test_what_is_no_module_is_said():
    read = read_environment("hello there world\nexport A='b c'\nsetenv D e")
    assert (read.modules, read.unread) == ((), ("hello there world",))
    assert read.variables == {"A": "b c", "D": "e"}


def test_module_with_a_folder_before_its_name():
    (module,) = read_environment("mpi/openmpi/4.1.5").modules
    assert (module.name, module.version, module.fits("openmpi")) == ("mpi/openmpi", "4.1.5", True)


def test_a_line_in_pieces():
    line = read_line("export X=1; FOO=bar ftn-12 -O3 \\\n  -h omp -L lib -o 'my prog' main.o \"lib x.a\" -l sci # note")
    assert line.command == "ftn-12"
    assert line.driver == drivers()["ftn"]
    assert line.flags == ("-O3", "-homp", "-Llib", "-o", "-lsci")
    assert line.inputs == ("main.o", "lib x.a")
    assert line.text == "FOO=bar ftn-12 -O3 -h omp -L lib -o 'my prog' main.o 'lib x.a' -l sci"


def test_of_several_commands_the_last_compiler_counts():
    assert read_line("cc -c a.c && ftn -o a a.o && ./a").command == "ftn"


@pytest.mark.parametrize(
    ("line", "mixed"),
    [
        ("ftn a.f90 -lstdc++", True),
        ("cc a.c b.F", True),
        ("ftn a.o", None),
        ("ftn a.f90", False),
        ("CC a.cpp b.c", False),
        ("CC a.cpp -lgfortran", True),
    ],
)
def test_languages_of_a_line(line, mixed):
    assert read_line(line).mixes_languages is mixed


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("make all", "line='make all' holds no compiler that is known"),
        ("cc 'a", 'line="cc \'a" cannot be cut into words: no closing quotation'),
        ("cc " + "a" * 20_000, "line holds 20,003 characters and may hold 20,000"),
    ],
)
def test_lines_that_cannot_be_used(line, message):
    with pytest.raises(ValueError) as raised:
        read_line(line)
    assert message in str(raised.value)


@settings(max_examples=settings.default.max_examples // 2)
@given(st.text(max_size=80), st.text(max_size=40))
def test_any_text_gets_an_answer_or_one_message(modules, flags):
    read_environment(modules)
    try:
        build = read_build(modules, f"cc {flags}")
    except ValueError as error:
        message = str(error)
    else:
        message = ""
        check_build(build)
        # A rewritten text is read as the same.
        assert read_line(build.line.text).flags == build.line.flags
    assert message == "" or message.startswith("line=")


def test_hostile_text_takes_no_longer_than_its_length():
    read_environment("1) " * 50_000 + "\n" + "export A" * 50_000 + "")
    read_environment("(" * 200_000 + "\n" + "module load " + "a/" * 100_000)


# The choice of default modules


def test_what_each_option_breaks():
    assert set(outcomes("A").values()) == {"works", "MPT-DEPRECATED"}
    assert [outcomes("A")[program] for program in ("MPI, static", "SHMEM, static")] == ["works", "works"]
    assert outcomes("B")["MPI, dynamic"] == "works"
    assert set(outcomes("C").values()) == {"works", "MPICH2-SHMEM-DYNAMIC"}
    with pytest.raises(ValueError, match="option='D' must be one of: A, B, C"):
        outcomes("D")
