"""ReFrame's database read, its references written as a patch, and metrics for Prometheus."""

from __future__ import annotations

import json
import random
import re
import shutil
import sqlite3
import subprocess
from pathlib import Path
from statistics import NormalDist

import pytest
from click.testing import CliRunner

from hopperkit.cli import hopper
from hopperkit.cli.elsewhere.prometheus import Sample, io_samples, metrics_text, write_metrics
from hopperkit.histories.references import reference_of
from hopperkit.readers.ior.results import IoResult
from hopperkit.readers.reframe import read_reframe
from hopperlib.monitoring.history import History, judge
from tests.contrib.conftest import ROOT

# As ReFrame 4.10 makes them.
TABLES = """
CREATE TABLE sessions(uuid TEXT PRIMARY KEY, session_start_unix REAL, session_end_unix REAL, json_blob TEXT, report_file TEXT);
CREATE TABLE testcases(name TEXT, system TEXT, partition TEXT, environ TEXT, job_completion_time_unix REAL, session_uuid TEXT, uuid TEXT);
CREATE TABLE metadata(schema_version TEXT);
"""
TEST = '''import reframe as rfm


@rfm.simple_test
class Stream(rfm.RunOnlyRegressionTest):
    """Triad."""

    valid_systems = ["*"]
    reference = {
        "big:cpu": {"triad": (100, -0.5, None, "GB/s")},
    }


@rfm.simple_test
class Latency(rfm.RunOnlyRegressionTest):
    """Without references yet."""

    @performance_function("us")
    def latency(self):
        return 1.0


@rfm.simple_test
class Stepping(rfm.RunOnlyRegressionTest):
    reference = {"*": {}}
'''


@pytest.fixture
def database(tmp_path, monkeypatch):
    """A database of sixty sessions, and the tests that ran."""
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "tests.py"
    source.write_text(TEST, encoding="utf-8")
    chance = random.Random(1)
    with sqlite3.connect(tmp_path / "results.db") as made:
        made.executescript(TABLES)
        for run in range(60):
            drawn = {
                "Stream": ("triad", chance.gauss(200, 2), [100, -0.5, None, "GB/s", "pass"]),
                "Latency": ("latency", chance.gauss(2, 0.02), [0, None, None, "us", "pass"]),
                "Stepping": ("rate", chance.gauss(50 - 10 * (run >= 50), 0.3), [0, None, None, "MB/s", "pass"]),
            }
            cases = [
                {"name": test, "display_name": test, "filename": str(source), "environ": "gnu", "job_completion_time_unix": 1e9 + run,
                 "job_completion_time": f"2026-01-01T00:00:{run:02}", "perfvalues": {f"big:cpu:{name}": [value, *reference]}}
                for test, (name, value, reference) in drawn.items()
            ]  # fmt: skip
            report = {"session_info": {}, "runs": [{"testcases": cases}], "restored_cases": []}
            made.execute(
                "INSERT INTO sessions VALUES(?, ?, ?, ?, ?)", (str(run), 1e9 + run, 1e9 + run, json.dumps(report), "")
            )
    made.close()
    return tmp_path / "results.db"


def watch(*words):
    done = CliRunner().invoke(hopper, ["watch", *map(str, words)], prog_name="hopper")
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def test_the_series_of_a_database(database):
    before = database.read_bytes()
    series = read_reframe(str(database))
    assert [each.history.name for each in series] == [
        "Stream @big:cpu+gnu triad", "Latency @big:cpu+gnu latency", "Stepping @big:cpu+gnu rate",
    ]  # fmt: skip
    assert [each.history.better for each in series] == ["higher", "lower", "higher"]
    assert {len(each.history.values) for each in series} == {60}
    assert database.read_bytes() == before
    found = json.loads(watch("--reframe", database, "--json").stdout)
    assert {each["name"].split()[0]: bool(each["changes"]) for each in found["series"]} == {
        "Stream": False, "Latency": False, "Stepping": True,
    }  # fmt: skip


def test_references_are_a_patch_that_applies(database):
    done = watch("--reframe", database, "--references", "references.patch")
    assert "no reference: Stepping" in done.stderr
    patch = shutil.which("patch") and ["patch", "-p0", "--input", "references.patch"]
    subprocess.run(patch or ["git", "apply", "-p0", "references.patch"], check=True, capture_output=True)
    text = Path("tests.py").read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "tests"}
    classes = re.sub(r"(?m)^@rfm.*$|^import.*$|@performance.*$", "", text).replace("(rfm.RunOnlyRegressionTest)", "")
    exec(compile(classes, "tests.py", "exec"), names)
    value, lower, upper, unit = names["Stream"].reference["big:cpu"]["triad"]
    assert (round(value / 200, 2), upper, unit) == (1.0, None, "GB/s")
    # 1 % is one standard deviation, and 3.1 of them are passed once in a thousand runs.
    assert -0.045 < lower < -0.028
    value, lower, upper, unit = names["Latency"].reference["big:cpu"]["latency"]
    assert (round(value, 1), lower, unit) == (2.0, None, "us")
    assert 0.028 < upper < 0.045
    assert names["Stepping"].reference == {"*": {}}
    assert "# 0.001 of good runs fail, if lognormal; 0 of 60 did: at most 0.049 (95 %)" in text
    again = watch("--reframe", database, "--references", "references.patch")
    assert Path("references.patch").read_text(encoding="utf-8").count("\n@@") <= 1
    assert again.exit_code == 1


def test_the_stated_rate_of_false_alarms_holds():
    """Of new runs of the same kind the predicted share fails, over many histories."""
    chance, alarms, asked = random.Random(7), 0.0, 0.01
    for _ in range(60):
        values = tuple(100 * 2.718281828 ** chance.gauss(0, 0.01) for _ in range(40))
        report = judge(History(name="x", values=values, times=tuple(map(str, range(40))), better="higher"))
        reference = reference_of(report, asked)
        if reference:
            alarms += NormalDist(4.605170186, 0.01).cdf(
                4.605170186 + (reference.value * (1 + reference.lower) / 100 - 1)
            )
    assert 0.5 * asked < alarms / 60 < 1.3 * asked


def test_what_is_no_database_is_refused(tmp_path):
    (tmp_path / "x.db").write_text("no database, but longer than the head of one is", encoding="utf-8")
    for name in ("x.db", "missing.db"):
        done = watch("--reframe", tmp_path / name)
        assert done.exit_code == 2
        assert "is not a readable ReFrame database" in done.stderr
    assert not (tmp_path / "missing.db").exists()
    assert watch().exit_code == 2


# The grammar of a line of the text format.
LINE = re.compile(r'[a-z_]+(\{[a-z]+="(?:[^"\\\n]|\\.)*"(,[a-z]+="(?:[^"\\\n]|\\.)*")*\})? -?[\d.e+-]+')


def test_metrics_of_the_three_commands(database, tmp_path):
    outputs = tmp_path / "outputs"
    outputs.mkdir()
    (outputs / "a.out").write_text("ModuleNotFoundError: No module named 'x'\n", encoding="utf-8")
    lines = {
        "watch": ["watch", "--reframe", str(database)],
        "io": ["io", str(ROOT / "data/samples/ior")],
        "diagnose": ["diagnose", "--each", str(outputs)],
    }
    panel = (ROOT / "contrib/prometheus/grafana.json").read_text(encoding="utf-8")
    json.loads(panel)
    for name, words in lines.items():
        target = tmp_path / f"{name}.prom"
        CliRunner().invoke(hopper, [*words, "--prometheus", str(target)], prog_name="hopper")
        text = target.read_text(encoding="utf-8")
        samples = [line for line in text.splitlines() if not line.startswith("#")]
        assert all(LINE.fullmatch(line) for line in samples), name
        keys = [line.rpartition(" ")[0] for line in samples]
        assert len(set(keys)) == len(keys)
        metrics = {key.partition("{")[0] for key in keys}
        assert len(metrics) > 1
        assert any(metric in panel for metric in metrics - {"hopper_written_time_seconds"}), name
        assert target.stat().st_mode & 0o777 == 0o644
    assert 'hopper_watch_worse{benchmark="Stepping @big:cpu+gnu rate"} 1.0' in (tmp_path / "watch.prom").read_text()
    assert 'hopper_outputs{verdict="cause",code="PY-MODULE",who="user"} 1.0' in (tmp_path / "diagnose.prom").read_text()
    assert not [file for file in tmp_path.iterdir() if file.name.startswith(".")]


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path):
    target = tmp_path / "x.prom"
    write_metrics(str(target), [Sample("hopper_io_failed", 0)], 1.0)
    old = target.read_text(encoding="utf-8")
    with pytest.raises(KeyError):
        write_metrics(str(target), [Sample("unheard_of", 0)], 2.0)
    assert target.read_text(encoding="utf-8") == old
    assert [file.name for file in tmp_path.iterdir()] == ["x.prom"]


def test_rates_are_means_and_labels_are_escaped():
    rows = [
        IoResult(file='a"\n', access="write", rate_mib_s=rate, statistic=kind)
        for rate, kind in ((1.0, None), (3.0, None), (9.0, "max"))
    ]
    text = metrics_text(io_samples([*rows, IoResult(file="b", status="failed")]))
    assert 'hopper_io_rate_mib_s{file="a\\"\\n",api="",access="write",type=""} 2.0' in text
    assert "hopper_io_failed 1.0" in text
