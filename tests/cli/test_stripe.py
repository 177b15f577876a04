"""`hopper stripe`: text, JSON, exit status, one message on bad input."""

import json

import pytest
from click.testing import CliRunner

from hopperlib.cli import hopper

RUN = ("--size", "31TB", "--writers", "20000", "--pattern", "shared")


def run(*arguments):
    return CliRunner().invoke(hopper, ["stripe", *arguments])


def test_the_documented_run():
    result = run(*RUN)
    assert result.exit_code == 0
    assert result.output.splitlines()[0] == "lfs setstripe -c 144 -S 64M DIRECTORY"
    assert "MPICH_MPIIO_HINTS='*:romio_cb_write=enable" in result.output
    assert (
        "because: 144 stripes: beyond 12 of 13 servers (here 144 of 156 OSTs) nothing was gained on Hopper"
        in result.output
    )


def test_json():
    data = json.loads(run(*RUN, "--nodes", "5000", "--json").output)
    assert (data["stripe_count"], data["stripe_size_bytes"], data["nodes"]) == (144, 64 << 20, 5000)
    assert data["hints"]["cb_nodes"] == "144"
    assert data["estimate"]["limit"] == "osts"
    assert data["reasons"]


def test_another_file_system():
    result = run("--size", "10TB", "--writers", "960", "--pattern", "shared", "--osts", "26")
    # whole servers, twelve of thirteen: 24 of 26
    assert result.output.startswith("lfs setstripe -c 24 ")
    assert "say yours with --ost-rate" in result.output
    own = run(
        "--size", "10TB", "--writers", "960", "--pattern", "shared", "--osts", "26", "--ost-rate", "1000", "--json"
    )
    assert json.loads(own.output)["file_system"]["ost_rate_gb_s"] == 1.0


@pytest.mark.parametrize("pattern", ["file-per-process", "one-writer"])
@pytest.mark.parametrize("machine", ["hopper", "franklin", "perlmutter", "toy"])
def test_other_patterns_have_no_hints(pattern, machine):
    data = json.loads(
        run("--size", "1TB", "--writers", "100", "--pattern", pattern, "--machine", machine, "--json").output
    )
    assert data["hints_line"] is None
    assert data["commands"][0].startswith("lfs setstripe -c ")


def test_data_that_do_not_fit_are_exit_status_1():
    assert run("--size", "2PB", "--writers", "10", "--pattern", "shared").exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--size", "big", "--writers", "1", "--pattern", "shared"), "--size: 'big' is no size"),
        (("--size", "0", "--writers", "1", "--pattern", "shared"), "--size=0 must be at least 1 byte"),
        (
            ("--size", "1TB", "--writers", "2", "--pattern", "shared", "--nodes", "3"),
            "--nodes=3 must not be more than --writers=2",
        ),
        ((*RUN, "--machine", "bassi"), "states no file system"),
        ((*RUN, "--machine", "titan"), "titan"),
    ],
)
def test_bad_input_is_exit_status_2_and_one_message(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output
    data = json.loads(run(*arguments, "--json").output)
    assert message in data["error"]["message"]


def test_missing_and_unknown_options_are_refused():
    assert run("--size", "1TB").exit_code == 2
    assert run("--size", "1TB", "--writers", "0", "--pattern", "shared").exit_code == 2
    assert run("--size", "1TB", "--writers", "1", "--pattern", "both").exit_code == 2


@pytest.mark.parametrize("value", ["nan", "inf", "-1"])
def test_a_rate_that_is_none_is_refused(value):
    result = run(*RUN, "--ost-rate", value)
    assert result.exit_code == 2
    assert "Invalid value for '--ost-rate'" in result.stderr
