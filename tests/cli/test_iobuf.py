"""`hopper iobuf`: a setting checked or written; text, JSON, exit status."""

import json

import pytest
from click.testing import CliRunner

from hopperlib.cli import hopper


def run(*arguments):
    return CliRunner().invoke(hopper, ["iobuf", *arguments])


def test_a_setting_that_is_fine():
    result = run("*.dat:size=2M:count=2", "--transfer", "10000", "--direction", "read")
    assert result.exit_code == 0
    assert "export IOBUF_PARAMS='*.dat:size=2M:count=2'" in result.output
    assert result.output.startswith("With buffers, reads in calls of 10,000 bytes are 41.0 % faster; ")
    assert "The buffers take 96 MiB of each node." in result.output
    assert len(result.output.splitlines()) <= 24
    assert "Cost of a call: 24.6 us (calibrated)" in run("*", "--all").output


def test_json_of_a_setting():
    result = run("*:verbose,%stdout:size=64k", "--transfer", "1M", "--json")
    data = json.loads(result.output)
    assert result.exit_code == 0
    assert [rule["size_bytes"] for rule in data["rules"]] == [1 << 20, 1 << 16]
    assert data["transfer_bytes"] == 1 << 20
    # 24 tasks, four buffers of 1 MiB
    assert data["rules"][0]["memory_per_node_bytes"] == 96 << 20
    assert {finding["code"] for finding in data["findings"]} == {"buffer-too-small"}


def test_a_problem_is_exit_status_1():
    result = run("12M:verbose")
    assert result.exit_code == 1
    assert "problem: '12M' stands where a file name must" in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Missing argument 'PARAMS|-'"),
        (("",), "IOBUF_PARAMS is empty"),
        (("*:count=two",), "count=two must be a whole number from 1"),
        (("*", "--transfer", "lots"), "--transfer lots must be a number"),
        (("*", "--transfer", "-1"), "--transfer -1 must be from 0 to"),
        (("*", "--machine", "summit"), "summit"),
        (("*", "--machine", "bassi"), "states no file system"),
    ],
)
def test_bad_input_is_exit_status_2_and_one_message(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output
    as_json = run(*arguments, "--json")
    assert as_json.exit_code == 2
    assert message in json.loads(as_json.output)["error"]["message"]


def test_a_setting_from_standard_input():
    result = CliRunner().invoke(hopper, ["iobuf", "-"], input='export IOBUF_PARAMS="*.dat:count=2"\n')
    assert result.exit_code == 0
    assert "  export IOBUF_PARAMS='*.dat:count=2'" in result.output.splitlines()


def test_buffers_that_no_node_holds_are_refused_without_being_asked():
    # 24 tasks with four buffers of 1 GiB each: 96 GB, and a node of Hopper has 31.
    result = run("*:size=1G:count=4", "--transfer", "10000")
    assert result.exit_code == 2
    assert "take 96.0 GB of each node for 24 tasks with 1 open file each" in result.stderr
    assert run("*:size=64M:count=4", "--transfer", "10000").exit_code == 0


def test_no_gain_is_promised_that_nobody_measured():
    small, measured = (
        json.loads(run("*:size=2M:count=2", "--transfer", size, "--json").output) for size in ("100", "10000")
    )
    assert small["rules"][0]["gain_fraction"] == measured["rules"][0]["gain_fraction"] == pytest.approx(0.11)
    assert "beyond-measured" in small["codes"]
    assert "beyond-measured" not in measured["codes"]
    # A faster file system is none that was measured either.
    fast = json.loads(run("*:size=2M:count=2", "--transfer", "10000", "--machine", "perlmutter", "--json").output)
    assert fast["rules"][0]["gain_fraction"] == pytest.approx(0.11)


def test_a_machine_without_iobuf_is_told_what_does_the_same():
    output = run("*:size=4M", "--machine", "perlmutter", "--all").output
    assert "setvbuf(file, NULL, _IOFBF, 4194304);" in output
    assert "romio_cb_write enable" in output
    assert "H5Pset_cache" in output
    assert "[no-iobuf]" in run("*:size=4M", "--machine", "perlmutter", "--all").output
    assert "setvbuf" not in run("*:size=4M").output
