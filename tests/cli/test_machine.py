"""``hopper machine`` as one types it."""

import json
import stat
from pathlib import Path

import click.testing
import pytest

from hopperkit.cli import hopper
from hopperlib.machine import Machine

SAMPLES = Path(__file__).parents[1] / "readers" / "samples" / "hardware"


@pytest.fixture
def run():
    def run_hopper(*words, text=None):
        return click.testing.CliRunner().invoke(hopper, ["machine", *map(str, words)], input=text)

    return run_hopper


def test_list(run):
    result = run("list")
    assert result.exit_code == 0
    rows = [line.split() for line in result.stdout.splitlines()]
    assert rows[0] == ["name", "title", "model", "nodes", "cores", "launcher"]
    assert ["hopper", "Hopper", "Cray", "XE6", "6,384", "153,216", "aprun"] in rows
    assert ["bassi", "Bassi", "IBM", "p575", "POWER5", "111", "888", "-"] in rows
    assert "\x1b" not in result.stdout


def test_list_as_json(run):
    machines = json.loads(run("list", "--json").stdout)["machines"]
    assert [machine["name"] for machine in machines] == list(Machine.names())
    assert machines[Machine.names().index("hopper")] == {
        "name": "hopper",
        "title": "Hopper",
        "model": "Cray XE6",
        "nodes": 6384,
        "cores": 153_216,
        "launcher": "aprun",
    }


def test_show(run):
    result = run("show", "hopper")
    assert result.exit_code == 0
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert lines[0] == "Hopper (hopper): Cray XE6, NERSC, Oakland"
    assert 'memory_gb = { value = 32, source = "antypas2011", at = "sec. 1, Hopper" }' in lines
    assert any(line.startswith("core_bandwidth_cap_gb_s = { value = 5.0, assumed = ") for line in lines)
    assert "Memory of the machine 216.6 TB nodes x memory of a node" in lines
    assert "Peak of the CPU cores 1,287 Tflop/s cores x peak of a core" in lines
    assert any(line.startswith('byna2013 = "S. Byna et al.') for line in lines)


def test_show_as_json(run):
    data = json.loads(run("show", "hopper", "--json").stdout)
    assert data["values"]["node.standard.numa_bandwidth_gb_s"] == {
        "value": 12.5,
        "unit": "GB/s",
        "badge": "documented",
        "source": "tecchannel-opteron6100",
        "at": Machine.load("hopper").provenance["node.standard.numa_bandwidth_gb_s"].at,
        "assumed": None,
    }
    assert data["values"]["network.dimensions"]["value"] == [17, 8, 24]
    assert data["derived"]["cores"] == {"value": 153_216, "unit": ""}
    assert data["derived"]["memory_dump_min"]["unit"] == "min"
    assert set(data["sources"]) == set(Machine.load("hopper").sources)


def test_show_a_file(run, tmp_path):
    file = tmp_path / "copy.toml"
    file.write_text(Machine.load("toy").to_toml(), encoding="utf-8")
    # A written file has its keys in the order of the schema.
    assert sorted(run("show", file).stdout.splitlines()) == sorted(run("show", "toy").stdout.splitlines())


def test_show_what_does_not_exist(run):
    result = run("show", "hoper")
    assert result.exit_code == 2
    assert result.stderr.startswith("hopper: machine='hoper' is neither a machine")
    assert result.stderr.endswith("did you mean 'hopper'?\n")
    data = json.loads(run("show", "hoper", "--json").stdout)
    assert "did you mean 'hopper'?" in data["error"]["message"]


@pytest.fixture
def broken(tmp_path):
    file = tmp_path / "broken.toml"
    text = Machine.load("toy").to_toml().replace('title = "Toy"', 'titel = "Toy"')
    file.write_text(text.replace("value = 1.5,", "value = 1500,"), encoding="utf-8")
    return file


PROBLEMS = [
    "broken.toml: titel = 'Toy': is not a key; did you mean 'title'?",
    "broken.toml: title: is missing",
    *(
        f"broken.toml: node.{kind}.clock_ghz = 1500: must be a number above 0 and at most 10 "
        "(no machine has run faster; is this in MHz?)"
        for kind in ("small", "wide")
    ),
]


def test_check_names_every_problem(run, broken):
    result = run("check", broken)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.splitlines() == [*PROBLEMS, f"hopper: {broken}: 4 problems"]


def test_check_as_json(run, broken):
    result = run("check", broken, "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout) == {"file": str(broken), "valid": False, "problems": PROBLEMS}


def test_check_a_sound_file(run, tmp_path):
    file = tmp_path / "toy.toml"
    file.write_text(Machine.load("toy").to_toml(), encoding="utf-8")
    values = len(Machine.load("toy").provenance)
    result = run("check", file)
    assert result.exit_code == 0
    assert result.stdout == f"{file}: sound; 92 nodes, 1,152 cores, {values} values, {values} of them assumed\n"
    data = json.loads(run("check", file, "--json").stdout)
    assert data["valid"] is True
    assert data["machine"]["cores"] == 1152


def test_check_standard_input(run):
    result = run("check", "-", text="name = ")
    assert result.exit_code == 2
    assert result.stderr.startswith("standard input: is not TOML: ")
    assert result.stderr.endswith("hopper: -: 1 problem\n")


def test_check_a_file_that_is_not_there(run):
    result = run("check", "nowhere.toml")
    assert result.exit_code == 2
    assert result.stderr == "hopper: cannot read machine file nowhere.toml: No such file or directory\n"


def test_new_from_a_file(run, tmp_path):
    result = run("new", SAMPLES / "lscpu-two-sockets-eight-numa.txt", "--name", "theirs")
    assert result.exit_code == 0
    assert result.stdout.startswith("# Written by `hopper machine new` from: lscpu.\n")
    machine = Machine.from_toml(result.stdout)
    assert (machine.name, machine.cores, machine.node().numa_nodes) == ("theirs", 128, 8)
    file = tmp_path / "theirs.toml"
    file.write_text(result.stdout, encoding="utf-8")
    assert run("check", file).exit_code == 0


def test_new_from_standard_input(run):
    text = (SAMPLES / "scontrol-cluster.txt").read_text(encoding="utf-8")
    assert Machine.from_toml(run("new", "-", text=text).stdout).nodes == 7


def test_new_from_several_files(run):
    result = run("new", SAMPLES / "scontrol-cluster.txt", SAMPLES / "lstopo1-two-sockets-four-numa.xml")
    machine = Machine.from_toml(result.stdout)
    assert machine.node().sockets == 2
    assert machine.launcher().slurm_socket == "numa_node"


def test_new_into_a_file(run, tmp_path):
    out = tmp_path / "mine.toml"
    result = run("new", SAMPLES / "scontrol-one-node.txt", "--out", out)
    assert result.exit_code == 0
    assert result.stdout == ""
    assert result.stderr.startswith(f"{out}: 1 node, 128 cores; ")
    assert Machine.load(out).cores == 128
    again = run("new", SAMPLES / "scontrol-one-node.txt", "--out", out)
    assert again.exit_code == 2
    assert again.stderr == f"hopper: --out {out}: already exists and is not overwritten\n"


def test_new_as_json(run):
    data = json.loads(run("new", SAMPLES / "scontrol-one-node.txt", "--json").stdout)
    assert data["values"]["node.compute.usable_memory_gb"]["value"] == 488.35
    assert Machine.from_toml(data["toml"]).cores == data["cores"] == 128
    result = run("new", "-", "--json", text="hello")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["message"].startswith("-: text that starts with 'hello'")


def test_new_into_a_folder_that_is_not_there(run, tmp_path):
    out = tmp_path / "no" / "mine.toml"
    result = run("new", SAMPLES / "scontrol-one-node.txt", "--out", out)
    assert result.exit_code == 2
    assert result.stderr == f"hopper: --out {out}: cannot be written: No such file or directory\n"


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("", "hopper: -: the text is empty; the tool may have failed"),
        ("hello", "hopper: -: text that starts with 'hello' is not recognized; "),
        ("NodeName=a", "hopper: -: scontrol: node a: 'Sockets' is missing"),
        ("MemTotal: 4 kB", "hopper: no output counts cores; "),
    ],
)
def test_new_from_what_cannot_be_read(run, text, start):
    result = run("new", "-", text=text)
    assert result.exit_code == 2
    assert result.stderr.startswith(start)
    assert result.stdout == ""


def test_new_with_a_name_that_breaks_the_rule(run):
    result = run("new", SAMPLES / "scontrol-one-node.txt", "--name", "My Machine")
    assert result.exit_code == 2
    assert "name = 'My Machine': must be of the form [a-z0-9]" in result.stderr


@pytest.fixture
def tools(tmp_path, monkeypatch):
    """Put a folder of made-up tools first, and alone, on the path."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def tool(name, *, prints=None, status=0):
        file = folder / name
        lines = [f'[ "$2" = config ] || /bin/cat {SAMPLES / prints}'] if prints else []
        file.write_text("\n".join(["#!/bin/sh", *lines, f"exit {status}", ""]), encoding="utf-8")
        file.chmod(file.stat().st_mode | stat.S_IXUSR)

    return tool


def test_new_runs_the_tools_there_are(run, tools):
    tools("lstopo", prints="lstopo2-two-sockets-four-numa.xml")
    tools("scontrol", prints="scontrol-cluster.txt")
    machine = Machine.from_toml(run("new").stdout)
    assert machine.nodes == 7
    assert machine.node().numa_nodes == 4
    assert set(machine.sources) == {"lstopo", "scontrol"}


def test_new_leaves_out_a_tool_that_fails(run, tools):
    tools("scontrol", status=1)
    tools("lscpu", prints="lscpu-interleaved.txt")
    result = run("new")
    assert result.exit_code == 0
    assert "scontrol show node -o failed and is left out: " in result.stderr
    assert Machine.from_toml(result.stdout).cores == 24


def test_new_leaves_out_what_a_tool_garbles(run, tools):
    tools("lstopo-no-graphics", prints="README.md")
    tools("lscpu", prints="lscpu-interleaved.txt")
    result = run("new")
    assert result.exit_code == 0
    assert "hopper: lstopo-no-graphics: text that starts with '# Samples" in result.stderr
    assert Machine.from_toml(result.stdout).cores == 24


def test_new_without_any_tool(run, tools):
    result = run("new")
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].startswith("hopper: ")
    assert "lscpu" in result.stderr


def test_new_on_this_computer(run):
    # Exit status 2 where there is none of the tools, as outside Linux.
    result = run("new")
    assert result.exit_code in (0, 2)
    if result.exit_code == 0:
        assert Machine.from_toml(result.stdout).node().hardware_threads >= 1


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("hopper pla", {"place"}),
        ("hopper place --machine perl", {"perlmutter"}),
        ("hopper machine show lumi", {"lumi-c", "lumi-g"}),
        ("hopper stripe --pattern file", {"file-per-process"}),
        ("hopper stripe --pattern x", set()),
    ],
)
def test_a_shell_completes_commands_machines_and_choices(typed, offered):
    from click.shell_completion import ShellComplete

    from hopperkit.cli import hopper

    *before, begun = typed.split()[1:]
    items = ShellComplete(hopper, {}, "hopper", "_HOPPER_COMPLETE").get_completions(before, begun)
    assert {item.value for item in items} == offered
