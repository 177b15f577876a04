"""The `hopper` group: its list, unknown commands, one real process, start-up."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from hopperkit.cli import COMMANDS, NAMES, hopper
from hopperkit.questions.catalogue import sentences
from hopperlib import __version__

CALL = [sys.executable, "-c", "from hopperkit.cli import main; main()"]


def run(*words, **options):
    return CliRunner().invoke(hopper, list(words), prog_name="hopper", **options)


def test_the_list_of_commands_is_the_table():
    result = run("--help")
    assert result.exit_code == 0
    lines = sentences() | {name: line for name, (_, line) in COMMANDS.items()}
    for name in NAMES:
        assert f"  {name} " in result.output
        assert lines[name][:30] in result.output


def test_machines_are_compared_by_a_command_of_their_group():
    compared = run("machine", "compare", "--first", "hopper", "--second", "perlmutter", "--third", "none")
    assert compared.exit_code == 0
    assert compared.output.startswith("Cores: Hopper 153,216; Perlmutter ")
    assert "hopper machine compare" in run("machines").output


def test_earlier_names_of_commands_still_work():
    old, new = (run(name, "-", input="aprun -n 48 ./a.out\n") for name in ("anything", "identify"))
    assert old.exit_code == new.exit_code == 0
    assert old.output == new.output
    assert run("where", "--help").output == run("locality", "--help").output


def test_a_command_that_is_gone_says_what_replaces_it():
    result = run("questions", "--json")
    assert result.exit_code == 2
    assert "hopper --help lists them" in result.output


def test_version():
    assert run("--version").output.strip() == f"hopper, version {__version__}"


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("plase", "there is no command 'plase'; did you mean 'place'?"),
        ("zzz", "there is no command 'zzz'; there are: " + ", ".join(NAMES)),
    ],
)
def test_an_unknown_command_gets_the_nearest(word, message):
    result = run(word)
    assert result.exit_code == 2
    assert message in result.output


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_help(name):
    result = run(name, "--help")
    assert result.exit_code == 0
    assert "Usage: hopper" in result.output


def test_a_real_process_from_line_to_json():
    done = subprocess.run(
        [*CALL, "place", "--json", "-"], input="aprun -n 384 -N 12 vasp\n", capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, "")
    data = json.loads(done.stdout)
    assert data["suggestion"]["aprun"] == "aprun -n 384 -N 12 -S 3 vasp"


def test_a_reader_that_closes_the_pipe_gets_no_traceback():
    with subprocess.Popen(
        [*CALL, "place", "--json", "aprun -n 24576 a.out"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        errors = process.stderr.read()
    assert b"Traceback" not in errors


def test_starting_imports_no_more_than_it_needs():
    program = (
        "import sys; from hopperkit.cli import hopper; hopper(['--help'], standalone_mode=False); "
        "heavy = {'rich', 'numpy', 'pathlib', 'json', 'dataclasses', 'hopperlib.machine', 'hopperkit.questions.question'}; "
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


def test_placing_in_a_pipe_imports_no_drawing_and_no_terminal_library():
    program = (
        "import sys; from hopperkit.cli import hopper; hopper(['place', 'aprun -n 24 a.out'], standalone_mode=False); "
        "heavy = {'rich', 'numpy', 'hopperkit.render.widgets', 'hopperkit.render.html', 'plotly', 'pathlib', 'json', 'difflib'}; "
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


@pytest.mark.parametrize("words", [["place", "-"], ["io", "ior", "-"], ["diagnose", "-"]])
def test_standard_input_that_is_closed_reads_as_empty(words):
    # `<&-` in a shell: Python starts without sys.stdin.
    call = " ".join(f"'{word}'" for word in [*CALL[:2], CALL[2], *words])
    result = subprocess.run(["sh", "-c", f"{call} <&-"], capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode in (0, 2)
    assert "empty" in result.stdout + result.stderr or "line ''" in result.stderr
    assert "Traceback" not in result.stderr
