"""Options changed in launch lines: only changes are written, everything else is as typed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.launchers.line_writer import edit_options, read_line_options
from hopperkit.launchers.review import review_line
from hopperkit.launchers.scripts import read_script
from hopperkit.launchers.words.shell import Edit, apply_edits
from hopperlib.machine import Machine


def edited(text, changes, launcher="srun", number=0):
    """Return a script with options of one of its lines changed; None if the line cannot be edited."""
    script = read_script(text)
    line = script.lines[number]
    edits = edit_options(line, read_line_options(line, launcher), changes, launcher)
    return None if edits is None else script.edited(edits).text


@pytest.mark.parametrize(
    ("launcher", "text", "change", "changed"),
    [
        # The spelling of an option stays: glued, apart, long, its beginning, letters written together.
        ("srun", "srun -n4 ./a", {"-n": "8"}, "srun -n8 ./a"),
        ("srun", "srun --ntasks 4 ./a", {"-n": "8"}, "srun --ntasks 8 ./a"),
        ("srun", "srun --cpus-per-t=4 ./a", {"-c": "8"}, "srun --cpus-per-t=8 ./a"),
        ("srun", "srun -ln4 ./a", {"-n": "8"}, "srun -ln8 ./a"),
        ("srun", "srun -ln4 ./a", {"-n": None}, "srun -l ./a"),
        ("srun", "srun -ln4 ./a", {"-l": None, "-n": "8"}, "srun -n8 ./a"),
        ("srun", "srun -ln 4 ./a", {"-n": None, "-c": "2"}, "srun -l -c 2 ./a"),
        ("aprun", "aprun -n 4 -sn2 -S1 ./a", {"-sn": None, "-S": "3"}, "aprun -n 4 -S3 ./a"),
        # New options go in front of the program, of -- and of nothing else.
        ("srun", "srun ./a -n 4", {"-c": "2"}, "srun -c 2 ./a -n 4"),
        ("srun", "srun -n 4 -- ./a", {"--cpu-bind": "cores"}, "srun -n 4 --cpu-bind=cores -- ./a"),
        ("pals", "mpiexec -n 4 --ppn 2 ./a", {"-depth": "8"}, "mpiexec -n 4 --ppn 2 --depth=8 ./a"),
        ("pals", "mpiexec -n 4 -d 2 ./a", {"-depth": "8"}, "mpiexec -n 4 -d 8 ./a"),
        # Repeated options, quotes, variables, redirections, pipes and comments are not touched.
        ("aprun", "aprun -e A=1 -n 4 -e 'B=x y' ./a", {"-n": "8"}, "aprun -e A=1 -n 8 -e 'B=x y' ./a"),
        ("pals", "mpiexec --env A=1 --env B=2 -n 4 ./a", {"-d": "2"}, "mpiexec --env A=1 --env B=2 -n 4 --depth=2 ./a"),
        ("srun", "time srun -n 4 >\"o $i\" ./a 2>&1 | tee x # y", {"-n": "8"}, "time srun -n 8 >\"o $i\" ./a 2>&1 | tee x # y"),
        ("srun", "srun \\\n  -n 4 \\\n  -c 2 \\\n  ./a", {"-n": None, "-c": "8"}, "srun \\\n  -c 8 \\\n  ./a"),
        # A new option takes the place of one that goes, not of its value.
        ("srun", "srun -n \\\n 4 ./a", {"-n": None, "-c": "2"}, "srun -c 2 ./a"),
        ("srun", "srun -l  -n\t4  ./a", {"-n": None, "-c": "2"}, "srun -l -c 2  ./a"),
        ("srun", 'R="-n 4"\nsrun  $R ./a', {"-n": None, "-c": "2"}, 'R="-n 4"\nsrun -c 2 ./a'),
        # Of a variable with several words only what changes is written out.
        ("srun", 'R="srun -n 4"\n$R ./a', {"-c": "2"}, 'R="srun -n 4"\n$R -c 2 ./a'),
        ("srun", 'R="-n 4 -l"\nsrun $R ./a', {"-n": "8"}, 'R="-n 4 -l"\nsrun -n 8 -l ./a'),
        ("srun", 'N=4\nsrun -n $N -c $N ./a', {"-c": "8"}, "N=4\nsrun -n $N -c 8 ./a"),
    ],
)  # fmt: skip
def test_a_change_of_options(launcher, text, change, changed):
    assert edited(text, [change], launcher) == changed


def test_a_launcher_in_a_variable_is_not_taken_apart():
    assert edited('R="time srun -n 4"\n$R ./a', [{"-n": "8"}]) is None


def test_a_program_after_a_colon():
    text = "aprun -n 4 ./a : ./b : -n 2 -d 3 ./c"
    assert edited(text, [{}, {"-n": "1"}, {"-d": None}], "aprun") == "aprun -n 4 ./a : -n 1 ./b : -n 2 ./c"


def test_edits_cut_the_blanks_before_what_goes():
    assert apply_edits("a  b \\\n c", [Edit(0, 1, "x"), Edit(3, 4, "")]) == "x \\\n c"


@pytest.mark.parametrize(
    ("line", "better"),
    [
        (
            "aprun -n 16 -N 16 -d 1 -cc depth -e OMP_NUM_THREADS=4 -e KMP_AFFINITY=none ./a",
            ("-e OMP_NUM_THREADS=4", "-e KMP_AFFINITY=none"),
        ),
        ("aprun -n 384 -N 12 ./x $i \"$HOME/a b\" *.dat ~/q 'a b'", ("./x $i \"$HOME/a b\" *.dat ~/q 'a b'",)),
        ("aprun -n 384 -N 12 ./x $(date +%F) > out.$i 2>&1", ("./x $(date +%F) > out.$i 2>&1",)),
        ("aprun -n 384 -N 12 ./x 'a\nb'", ("b'",)),
    ],
)
def test_a_proposal_keeps_the_rest(line, better):
    proposed = review_line(line, Machine.load("theta" if " -e " in line else "hopper")).better
    assert proposed is not None
    assert all(kept in proposed.line for kept in better)


# A launch line as people write them: each piece is a separator, its text, and the option that it sets.
VALUES = {"-n": ("4", "16"), "-c": ("2", "8"), "-m": ("block", "cyclic:block")}
LONG = {"-n": "--ntasks", "-c": "--cpus-per-task", "-m": "--distribution"}
SEPARATORS = st.sampled_from([" ", "  ", " \\\n  ", "\t"])
KEPT = ("-l", "--export=A=1,B='x y'", "--export=ALL", "-J 'a  b'", ">log", "2>&1", '--comment="$USER x"', "-o out.%j")


@st.composite
def pieces(draw):
    """Return the pieces of a line: separator, text before the value, value, text after it, and the option's name."""
    names = draw(st.lists(st.sampled_from([*VALUES, *KEPT]), min_size=1, max_size=7))
    line, seen = [], set()
    for name in names:
        if name not in VALUES:
            line.append((draw(SEPARATORS), name, "", ""))
        elif name not in seen:
            seen.add(name)
            value = draw(st.sampled_from(VALUES[name]))
            lead = draw(st.sampled_from([name, f"{name} ", f"{name} \\\n ", f"{LONG[name]}=", f"{LONG[name]} "]))
            line.append((draw(SEPARATORS), lead, value, name))
    return line


def written(line, wrapper, command):
    """Return the text of pieces."""
    return f"#!/bin/bash\n# -n 4\n{wrapper}srun{''.join(''.join(each[:3]) for each in line)}{command}\nwait # end\n"


@given(
    line=pieces(),
    wrapper=st.sampled_from(["", "time ", "OMP_NUM_THREADS=4 "]),
    command=st.sampled_from([" ./a -n 4", " -- ./a 'x  y' >out", " \\\n ./a *.dat | tee '-c 2' # -m block"]),
    change=st.dictionaries(st.sampled_from(list(VALUES)), st.sampled_from(["32", None]), max_size=3),
)
def test_a_line_differs_by_the_change_alone(line, wrapper, command, change):
    text = written(line, wrapper, command)
    assert edited(text, [{}]) == text
    expected = []
    for separator, lead, value, name in line:
        if name not in change:
            expected.append((separator, lead, value))
        elif change[name] is not None:
            expected.append((separator, lead, change[name]))
    # New options stand after the last option of the line, in front of a redirection that follows it.
    typed = {name for *_, name in line}
    new = [(" ", f"{name} ", value) for name, value in change.items() if value is not None and name not in typed]
    last = max((at for at, each in enumerate(line) if each[1].startswith("-")), default=-1)
    gone = sum(each[3] in change and change[each[3]] is None for each in line[: last + 1])
    at = last + 1 - gone
    assert edited(text, [change]) == written([*expected[:at], *new, *expected[at:]], wrapper, command)
