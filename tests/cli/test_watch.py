"""``hopper watch``: exit status, data, page."""

from __future__ import annotations

import json
from random import Random

import pytest
from click.testing import CliRunner

from hopperkit.cli import hopper
from hopperlib.monitoring.delays import synthetic_history


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("histories")
    for name, change in (("steady", None), ("slower", 40)):
        values = synthetic_history(Random(7), runs=60, loss=0.2, change=change, spread=0.03, contended=0.05)
        lines = [f"2026-{1 + run // 28:02d}-{1 + run % 28:02d},{value:.2f}" for run, value in enumerate(values)]
        (folder / f"{name}.csv").write_text("time,value\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return folder


def _run(*arguments, **more):
    return CliRunner().invoke(hopper, ["watch", *map(str, arguments)], **more)


def test_no_change_is_fine(folder):
    done = _run(folder / "steady.csv")
    assert (done.exit_code, "No lasting change in 1 series. A change of " in done.output) == (0, True)


def test_a_loss_is_a_problem(folder):
    page = folder / "report.html"
    done = _run(folder / "steady.csv", folder / "slower.csv", "--html", page)
    assert done.exit_code == 1
    assert "1 of 2 series got worse." in done.output
    assert "<script" not in page.read_text(encoding="utf-8")


def test_data(folder):
    done = _run(folder / "slower.csv", "--json")
    data = json.loads(done.output)
    (series,) = data["series"]
    assert {
        "name",
        "runs",
        "changes",
        "outliers",
        "verdict",
        "states",
        "season_runs",
        "spread_change",
        "visible_percent",
    } == set(series)
    (change,) = series["changes"]
    assert list(change) == ["index", "time", "before", "after", "percent", "p_value"]
    assert (series["name"], series["runs"], series["verdict"], change["index"]) == ("slower", 60, "worse", 40)
    assert change["percent"] == pytest.approx(-20, abs=3)
    assert data["together"] == []


def test_lower_may_be_better(folder):
    assert _run(folder / "slower.csv", "--better", "lower").exit_code == 0


def test_standard_input(folder):
    text = (folder / "slower.csv").read_text(encoding="utf-8")
    assert _run("-", input=text).exit_code == 1


def test_refusals_name_the_file(folder):
    (folder / "bad.csv").write_text("time,value\n1,x\n", encoding="utf-8")
    done = _run(folder / "bad.csv", "--json")
    assert done.exit_code == 2
    assert json.loads(done.output)["error"]["message"].endswith(
        "bad.csv: line 2, column value: 'x' is not a number above 0"
    )
    assert _run(folder / "none.csv").exit_code == 2
