"""`hopper nodes`: the table of a floor, some nodes of it, refusals; and the old lines of `hopper torus` for it."""

import json

import pytest
from click.testing import CliRunner

from hopperkit.cli import hopper


def nodes(*words):
    return CliRunner().invoke(hopper, ["nodes", *words], prog_name="hopper")


def torus(*words):
    return CliRunner().invoke(hopper, ["torus", *words], prog_name="hopper")


@pytest.mark.parametrize(("machine", "count"), [("titan", 19_200), ("hopper", 6_528)])
def test_every_node_in_order(machine, count):
    lines = nodes("--machine", machine, "--csv").stdout.splitlines()
    assert lines[0] == "nid,cname,x,y,z"
    assert lines[1] == "0,c0-0c0s0n0,0,0,0"
    assert [int(line.split(",")[0]) for line in lines[1:]] == list(range(count))


def test_some_nodes():
    assert nodes("c6-3c1s5n1", "0").stdout == "nid,cname,x,y,z\n1323,c6-3c1s5n1,14,4,10\n0,c0-0c0s0n0,0,0,0\n"
    data = json.loads(nodes("--machine", "hopper", "1323", "--json").stdout)
    assert data == {
        "dimensions": [17, 8, 24],
        "nodes": [{"nid": 1323, "cname": "c6-3c1s5n1", "x": 14, "y": 4, "z": 10}],
    }


def test_for_people():
    assert torus().stdout.startswith("342 nodes in nid order are in 1 run of the list, 7.99 hops apart")
    assert (
        "17 x 4 cabinets: a torus of 17 x 8 x 24 routers, 6,528 node positions" in nodes("--machine", "hopper").stdout
    )


@pytest.mark.parametrize("words", [("--csv",), ("c6-3c1s5n1", "0"), ("--machine", "titan", "--json", "0")])
def test_old_lines_of_torus_still_print_nodes(words):
    assert torus(*words).stdout == nodes(*words).stdout != ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--machine", "bassi"), "states no floor"),
        (("--machine", "summit"), "summit"),
        (("c99-0c0s0n0",), "is not on this floor"),
        (("9999",), "nid=9999 must be from 0 to 6527"),
    ],
)
def test_refusals(words, message):
    result = nodes(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_grids_beyond_all_machines_are_refused():
    words = ["rank-order", "--grid", "9999x9999x9999", "--cores-per-node", "24"]
    result = CliRunner().invoke(hopper, words, prog_name="hopper")
    assert result.exit_code == 2
    assert "at most 2,000,000 are put in order" in result.stderr
