"""`hopper preflight`: text, JSON, the list for a launcher, and one message for each mistake."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.cli import hopper


def _line(name, free_gb):
    """One node's line with some memory free, in blocks of 4 MB."""
    return f"{name}: Node 0, zone Normal {'0 ' * 10}{round(free_gb * 256)}\n"


MANY = (
    "".join(_line(f"nid{number:05d}", 30) for number in range(12, 20)) + _line("nid00020", 28) + _line("nid00021", 20)
)


def preflight(*words, text=MANY):
    return CliRunner().invoke(hopper, ["preflight", *words], input=text, prog_name="hopper")


def test_enough_memory_everywhere():
    result = preflight("-", "--need", "20GB")
    assert result.exit_code == 0
    assert "10 nodes, median 30.00 GB free, least 20.00 GB on nid00021" in result.output
    # 28 GB is more than 5 % below the median of 30, and 20 too
    assert "advice: Much less free memory than the others: nid[00020-00021]" in preflight("-").output


def test_nodes_under_the_need():
    result = preflight("-", "--need", "29GB")
    assert result.exit_code == 1
    assert "2 nodes are short; leave them out with: nid[00020-00021]" in result.output


def test_the_list_for_a_launcher():
    result = preflight("-", "--need", "29GB", "--exclude-list")
    assert (result.exit_code, result.stdout) == (1, "nid[00020-00021]\n")
    result = preflight("-", "--need", "2GB", "--exclude-list")
    assert (result.exit_code, result.stdout) == (0, "\n")


def test_task_numbers_are_said_to_be_no_nodes():
    text = _line("0", 30) + _line("1", 20)
    result = preflight("-", "--need", "29GB", "--exclude-list", text=text)
    assert result.stdout == "1\n"
    assert "task numbers" in result.stderr
    assert preflight("-", "--need", "29GB", "--exclude-list").stderr == ""


def test_every_node_on_demand():
    lines = preflight("-", "--all").output.splitlines()
    assert sum(line.startswith("nid000") and line.split()[2] == "10" for line in lines) == 10


def test_json():
    found = json.loads(preflight("-", "--need", "29GB", "--json").stdout)
    assert found["need_gb"] == 29
    assert found["median_free_gb"] == 30
    assert [node["node"] for node in found["nodes"] if node["short"]] == ["nid00021", "nid00020"]
    # 20 GB in blocks of 4 MB: two huge pages of 2 MB in each of 5,120
    assert found["nodes"][0] == {
        "node": "nid00021",
        "free_gb": 20,
        "largest_order": 10,
        "huge_pages": 10_240,
        "short": True,
        "outlier": True,
    }


def test_huge_pages():
    text = "a: Node 0, zone Normal 8000000\n" + _line("b", 30)
    result = preflight("-", "--need-huge-pages", "100", text=text)
    assert result.exit_code == 1
    assert "leave it out with: a" in result.output
    # of 4 MB there is one in each block: 7,680 on b
    assert " 7,680 " in preflight("-", "--huge-page", "4MB", text=text).output


def test_a_file(tmp_path):
    file = tmp_path / "nodes.txt"
    file.write_text(MANY, encoding="utf-8")
    assert preflight(str(file)).exit_code == 0


def test_torn_lines_are_named():
    result = preflight("-", "--json", text=MANY + "nid7: ssh exited with exit code 255\n")
    assert len(json.loads(result.stdout)["unread"]) == 1
    torn = preflight("-", "--all", text=MANY + "nid7: ssh exited with exit code 255\n")
    assert "1 line could not be read, the first is line 11" in torn.output


@pytest.mark.parametrize(
    ("words", "text", "message"),
    [
        (["-"], "", "this input contains no node"),
        (["-"], "nothing here\n", "this input contains no node"),
        (["-", "--need", "much"], MANY, "much"),
        (["-", "--huge-page", "3MB"], MANY, "must be 4096 times a power of two"),
        (["-", "--page", "0"], MANY, "--page 0 must be from 1 to"),
        (["/no/such/file"], MANY, "/no/such/file"),
    ],
)
def test_bad_input(words, text, message):
    result = preflight(*words, text=text)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


@given(st.text(max_size=200) | st.binary(max_size=200))
def test_any_input_ends_well(text):
    result = preflight("-", "--json", text=text)
    assert result.exit_code in (0, 2)
    json.loads(result.stdout)
