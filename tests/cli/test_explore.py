"""`hopper explore`: the list, settings, text, JSON and CSV."""

import csv
import io
import json

import pytest
from click.testing import CliRunner

from hopperlib.cli import hopper
from hopperlib.questions.catalogue import EXPLORERS
from hopperlib.questions.explorer import answer_json


def explore(*words, **options):
    return CliRunner().invoke(hopper, ["explore", *words], prog_name="hopper", **options)


def test_the_list_is_the_catalogue():
    result = explore()
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.output.splitlines() if line][: len(EXPLORERS)] == list(EXPLORERS)
    data = json.loads(explore("--json").output)
    assert [one["name"] for one in data["explorers"]] == list(EXPLORERS)


def test_what_can_be_set():
    text = explore("placement", "--controls").output
    assert "  machine  (bassi, franklin, hopper, perlmutter, toy; default hopper)" in text
    assert "  line  (text, or @FILE; default aprun -n 384 -N 12 vasp)" in text
    assert "  core_cap_gb_s  (0 to 1000 GB/s; default 0.0)" in text
    controls = json.loads(explore("placement", "--controls", "--json").output)["controls"]
    assert controls[0]["name"] == "line"


def test_an_answer_as_text():
    result = explore("placement")
    assert result.exit_code == 1
    assert "Better: aprun -n 384 -N 12 -S 3 vasp" in result.output
    assert "problem: 12 tasks a node sit" in result.output
    assert "Most that one core draws: 5.0 GB/s (assumed); no source" in result.output
    assert "What waiting for memory costs: Run time over that" in result.output
    assert "... and 72 more; --json and --csv print them" in result.output


def test_settings_and_status():
    result = explore("placement", "--set", "line=aprun -n 24 -S 6 a.out", "--set", "threads=1")
    assert result.exit_code == 0
    assert "24 tasks on 1 node, 6 on each of 4 NUMA nodes." in result.output


def test_json_is_what_a_page_gets():
    data = json.loads(explore("placement", "--set", "memory_bound_low=0.5", "--json").output)
    page = json.loads(answer_json("placement", '{"memory_bound_low": 0.5}'))
    assert data == page["result"]


def test_csv_is_the_first_table():
    rows = list(csv.reader(io.StringIO(explore("placement", "--csv").output)))
    assert rows[0] == ["Nodes", "NUMA node", "Tasks", "Which", "Cores they may use"]
    assert rows[1] == ["0-31", "0", "6", "0-5, ...", "0-5"]


def test_a_text_control_takes_a_file(tmp_path):
    path = tmp_path / "job.pbs"
    path.write_text("#PBS -l mppwidth=24\naprun -n 24 a.out\n", encoding="utf-8")
    assert "24 tasks on 1 node" in explore("placement", "--set", f"line=@{path}").output
    assert "24 tasks on 1 node" in explore("placement", "--set", "line=@-", input="aprun -n 24 a.out").output
    # Only text can be a file.
    assert "machine='@x' must be one of" in explore("placement", "--set", "machine=@x").stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("plac",), "there is no explorer 'plac'; did you mean 'placement'?"),
        (("placement", "--set", "y=1"), "y='1' is not a control of 'placement'; it has: line, machine"),
        (("placement", "--set", "threads=many"), "threads='many' must be a number"),
        (("placement", "--set", "threads"), "--set 'threads' must be name=value; placement has: line, machine"),
        (("placement", "--set", "line=aprun -n 24 -S 7 a"), "-S 7 must be from 1 to 6"),
        (("placement", "--set", "line=@/no/such/file"), "cannot read text of line /no/such/file: No such file"),
    ],
)
def test_refusals(words, message):
    result = explore(*words)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("hopper: ")
    assert message in result.stderr


def test_a_refusal_as_json_names_the_control():
    result = explore("placement", "--json", "--set", "line=aprun -n 24 -S 7 a")
    assert result.exit_code == 2
    error = json.loads(result.stdout)["error"]
    assert error["control"] == "line"
    assert error["message"].startswith("-S 7 must be")


def test_help_keeps_its_examples_on_lines_of_their_own():
    text = explore("--help").output
    assert '  hopper explore placement --set "line=aprun -n 48 -d 6 ./a.out"\n' in text
    assert "\\b" not in text
    assert "\b" not in text
