"""Edges of every command: refusals as data, outputs that cannot be written, machines by environment and by the text."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from hopperkit.cli import hopper
from hopperlib.machine import Machine

CALL = (sys.executable, "-m", "hopperkit")


@pytest.mark.parametrize(
    "words",
    [
        ["place", "--nosuch"],
        ["nosuch"],
        ["simulate"],
        ["fit"],
        ["memory", "--tasks", "x"],
        ["machine", "list", "--jsonn"],
    ],
)
def test_refusals_of_the_parser_are_data_too(words):
    done = CliRunner().invoke(hopper, [*words, "--json"])
    assert done.exit_code == 2
    assert json.loads(done.stdout)["error"]["message"]


@pytest.mark.parametrize("target", ["/dev/full", None])
def test_an_output_that_cannot_be_written_is_one_message(target):
    with open(target or "/dev/null", "w", encoding="utf-8") as file:
        closed = {} if target else {"preexec_fn": lambda: __import__("os").close(1)}
        done = subprocess.run(
            [*CALL, "machine", "list"], stdout=file, stderr=subprocess.PIPE, text=True, check=False, **closed
        )
    assert done.returncode == 2
    assert done.stderr.startswith("hopper: cannot write to standard output: ")
    assert "Traceback" not in done.stderr


def test_the_machine_of_the_environment(monkeypatch):
    monkeypatch.setenv("HOPPER_MACHINE", "archer2")
    assert json.loads(CliRunner().invoke(hopper, ["place", "--json", "srun -n 4 a"]).stdout)["machine"] == "archer2"


def test_the_machine_is_guessed_from_the_text_and_said():
    done = CliRunner().invoke(
        hopper, ["place", "--json", "#SBATCH -C gpu -q regular -G 4\nsrun -n 4 --gpus-per-task=1 a"]
    )
    assert json.loads(done.stdout)["machine"] == "perlmutter"
    assert (
        done.stderr == "hopper: machine perlmutter, because the text has 'constraint=gpu'; use --machine for another\n"
    )


def test_a_printed_binding_is_compared(tmp_path):
    output = tmp_path / "out.txt"
    output.write_text("rank 0, thread 0, (affinity = 0-1)\nrank 1, thread 0, (affinity = 16-17)\n", encoding="utf-8")
    words = ["place", "--machine", "eiger", "--check", str(output), "srun -n 2 -c 2 --hint=nomultithread a"]
    done = CliRunner().invoke(hopper, words)
    assert done.exit_code == 1
    assert "task 1 printed CPUs 16,17, and the answer is CPUs 64,65" in done.stdout
    output.write_text("rank 1, thread 0, (affinity = 64-65)\n", encoding="utf-8")
    assert CliRunner().invoke(hopper, words).exit_code == 0
    output.write_text("nothing\n", encoding="utf-8")
    assert CliRunner().invoke(hopper, words).exit_code == 2


def test_what_a_user_typed_reaches_no_terminal_as_a_command(tmp_path):
    runner = CliRunner()
    shown = runner.invoke(
        hopper, ["place", "--machine", "toy", "srun -n 2 ./\x1b[31ma\x07 & srun -n 1 \x1b[1mb &"], color=True
    )
    evil = tmp_path / "e\x1b[2Jvil.toml"
    evil.write_text(Machine.load("toy").to_toml())
    checked = runner.invoke(hopper, ["machine", "check", str(evil)], color=True)
    for result in (shown, checked):
        assert result.exit_code in (0, 1)
        assert not set("\x1b\x07") & set(result.output)


def test_a_file_that_is_not_there_is_no_unknown_command():
    refused = CliRunner().invoke(hopper, ["job.sh"], prog_name="hopper")
    assert refused.exit_code == 2
    assert "there is no file or command named 'job.sh'" in refused.output + (refused.stderr or "")
