"""Notebooks on a site's data run with other parameters, and give the numbers of ``hopper report``."""

from __future__ import annotations

import ast
import json
import math
import random
import re
import statistics
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
import pytest
from nbconvert import HTMLExporter

from hopperbook.self_checks import Check
from hopperkit.analysis.reports import report
from hopperkit.questions.result import Result
from hopperkit.render.widgets.answer import notebook_html
from tests.analysis.drawn import accounting, darshan_text, history

papermill = pytest.importorskip("papermill")

HISTORY = "time,value\n" + "".join(f"2026-01-{day:02},{100 - 20 * (day > 18) + day % 3}\n" for day in range(1, 31))
# Its columns are named as sacct and people name them.
RUNS = "jobid,elapsed [s]\n" + "".join(
    f"{job},{100 + job * 3 + run + job * run % 3 / 10}\n" for job in range(8) for run in range(3)
)
JOBS = "".join(f"{n} {n * 60} {n % 5} 300 2 -1 -1 2 400 -1 1 1 -1 -1 -1 -1 -1 -1\n" for n in range(1, 30))


def _run(cells: list[Any]) -> dict[str, Any]:
    """Run the code of a notebook here, as a kernel would, and return its definitions."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in cells:
        if cell["cell_type"] == "code":
            text = "".join(cell["source"])
            tree = ast.parse(text)
            exec(compile(tree, text[:40], "exec"), names)
            if tree.body and isinstance(tree.body[-1], ast.Expr):
                shown = eval(compile(ast.Expression(tree.body[-1].value), text[:40], "eval"), names)
                if isinstance(shown, Check):
                    names[shown.name] = shown
                if isinstance(shown, Result):
                    assert notebook_html(shown)
    return names


def _with(path: Path, parameters: dict[str, Any]) -> list[Any]:
    """Return the cells of a notebook into which papermill has put parameters."""
    from papermill.iorw import load_notebook_node
    from papermill.parameterize import parameterize_notebook

    cells: list[Any] = parameterize_notebook(load_notebook_node(str(path)), parameters)["cells"]
    assert sum("injected-parameters" in cell["metadata"].get("tags", ()) for cell in cells) == 1
    return cells


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """A small file of each kind."""
    accounts = accounting(random.Random(3), 60, datetime(2026, 3, 20), 300)
    texts = {"triad.csv": HISTORY, "runs.csv": RUNS, "jobs.swf": JOBS, "job.log": "All done.\n", "sacct.txt": accounts}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return {name: str(tmp_path / name) for name in texts}


def test_benchmarks_and_failed_jobs(root: Path, files: dict[str, str]) -> None:
    for name, kind, file in (
        ("your-benchmarks", "history", files["triad.csv"]),
        ("your-errors", "errors", files["job.log"]),
    ):
        names = _run(_with(root / "notebooks" / "own" / f"{name}.ipynb", {"PATHS": [file]}))
        told = report(kind, [file])
        assert names["answer"].facts == told.facts
        assert names["answer"].summary == told.summary
        # One series, with the planted loss; one log, without a cause.
        if kind == "history":
            assert names["own-benchmarks-count"].answer == 1
            assert "own-benchmarks-most" not in names
        else:
            assert names["own-errors-known"].answer == 0


def test_run_times_and_a_trace(root: Path, files: dict[str, str]) -> None:
    parameters = {"RUNS": files["runs.csv"], "CHANGE": 0.1, "AGAINST": []}
    names = _run(_with(root / "notebooks" / "own" / "your-runs.ipynb", parameters))
    told = report("runs", files["runs.csv"], minimum=True, change=10.0)
    assert names["answer"].facts == told.facts
    assert names["model"].params["number_in_job"] == pytest.approx(1, abs=0.2)
    seconds = sorted(float(line.split(",")[1]) for line in RUNS.splitlines()[1:])
    assert names["own-runs-slowest"].answer == pytest.approx(100 * (seconds[-1] / statistics.median(seconds) - 1))
    # Jobs differ by three seconds each, their runs by one or two.
    assert [option.text for option in names["own-runs-between"].options if option.right] == ["between jobs"]
    for file in ("jobs.swf", "sacct.txt"):
        names = _run(_with(root / "notebooks" / "own" / "your-jobs.ipynb", {"TRACE": files[file]}))
        assert dict(names["answer"].facts) == dict(report("jobs", files[file]).facts)
        assert names["used"].between(0, 100.0001).all()
    table = pd.read_csv(files["sacct.txt"], sep="|")
    waited = pd.to_datetime(table["Start"], errors="coerce") - pd.to_datetime(table["Submit"])
    ran = names["jobs"].dropna(subset="wait")
    assert len(ran) == waited.notna().sum()
    assert names["own-jobs-longer"].answer == pytest.approx(100 * (ran["wait"] > ran["run_time"]).mean())
    means = waited.groupby(table["Partition"]).mean() if table["Partition"].nunique() > 1 else None
    if means is not None:
        (longest,) = [option.text for option in names["own-jobs-longest"].options if option.right]
        assert means[longest] == means.max()


def test_outputs_of_io(root: Path) -> None:
    path = root / "data" / "samples" / "ior" / "ior-3.2.1.posix-fpp.txt"
    names = _run(_with(root / "notebooks" / "own" / "your-io.ipynb", {"FILES": str(path)}))
    rates = report("io", path).to_frame()
    assert len(names["rows"]) == len(rates)
    # Of the file's own table: reads of 5740, 7334 and 3884 MiB/s, writes of 1605, 2414 and 2657.
    assert names["own-io-repeats"].answer == pytest.approx(100 * (7334 / 3884 - 1), abs=0.1)
    assert [option.text for option in names["own-io-fastest"].options if option.right] == ["read, file per process"]


def test_a_file_and_a_log_of_ones_own(root: Path, tmp_path: Path) -> None:
    path = root / "notebooks" / "own" / "your-files.ipynb"
    names = _run(_with(path, {"SIZE_GB": 10.0, "WRITERS": 24, "NODES": 1, "ON_MACHINE": "hopper"}))
    # One node cannot keep many OSTs busy.
    assert 1 <= names["own-files-stripes"].answer < 30
    log = tmp_path / "job.txt"
    log.write_text(darshan_text(random.Random(8), 3))
    names = _run(_with(root / "notebooks" / "own" / "your-darshan.ipynb", {"LOG": str(log)}))
    if "own-darshan-share" in names:
        assert 0 < names["own-darshan-share"].answer <= 100


@pytest.mark.nightly
def test_launch_lines_by_papermill_and_as_a_page(root: Path, tmp_path: Path) -> None:
    """In a kernel, as cron would: no widgets, every picture, and a stand-alone page that needs no other host."""
    script = tmp_path / "job.sh"
    script.write_text("#PBS -l mppwidth=768\naprun -n 384 -N 12 vasp\n")
    source, made = root / "notebooks" / "own" / "your-launch-lines.ipynb", tmp_path / "made.ipynb"
    papermill.execute_notebook(source, made, {"PATHS": [str(script)], "TASKS": 96}, progress_bar=False, cwd=str(root))
    text = made.read_text(encoding="utf-8")
    assert report("launch", script).summary in text
    outputs = [output for cell in json.loads(text)["cells"] for output in cell.get("outputs", ())]
    kinds = [set(output.get("data", {})) for output in outputs]
    pictures = sum("application/vnd.plotly.v1+json" in kind for kind in kinds)
    assert pictures >= 2
    assert not any("application/vnd.jupyter.widget-view+json" in kind for kind in kinds)
    page, _ = HTMLExporter(template_name="lab").from_notebook_node(nbformat.reads(text, as_version=4))
    assert len(page) < 3_000_000
    assert page.count('src="data:image/svg+xml;base64,') >= pictures


def test_a_stranger_goes_on_with_pandas_and_statsmodels(root: Path) -> None:
    notebook = json.loads((root / "tests" / "notebooks" / "stranger.ipynb").read_text(encoding="utf-8"))
    assert len(notebook["cells"]) == 12
    code = "\n".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code")
    assert not re.search(r"(\.|import |\s)_[a-z]", code), "no private name is used"
    names = _run(notebook["cells"])
    assert names["again"].equals(names["both"])
    assert names["model"].nobs == len(names["wide"])
    # Wider jobs wait longer where nodes are short.
    assert names["model"].params["np.log(nodes)"] > 0
    assert names["own"].data


def _files_of_strangers(folder: Path) -> None:
    """Write the files that five strangers have: an accounting, run times, logs, a history."""
    rng = random.Random(8)
    days = sorted(rng.uniform(0, 60) for _ in range(80))
    starts = [datetime(2026, 3, 1) + timedelta(days=day) for day in days]
    head = "JobID|User|Account|Partition|State|Submit|Start|End|Elapsed|NNodes|NodeList"
    ran = [
        f"{1000 + job}|{'ann' if job % 3 else 'bob'}|p|regular|COMPLETED|{at - timedelta(minutes=job):%FT%T}|{at:%FT%T}"
        f"|{at + timedelta(hours=1):%FT%T}|01:00:00|2|{'abcd'[job % 4]}"
        for job, at in enumerate(starts)
    ]
    (folder / "sacct.txt").write_text("\n".join([head, *ran]) + "\n")
    times = [
        (
            1000 + job,
            400
            * math.exp(
                0.2 * (job % 4 == 2) - 0.1 * (at >= datetime(2026, 3, 31)) + 0.02 * rng.gauss(0, 1) + 0.6 * (job == 11)
            ),
            rng.gauss(0, 1),
        )
        for job, at in enumerate(starts)
        for _ in range(3)
    ]
    pd.DataFrame(times, columns=["jobid", "elapsed_s", "nothing"]).to_csv(folder / "runs.csv", index=False)
    (folder / "darshan").mkdir()
    for number in range(30):
        (folder / "darshan" / f"job-{number:02}.txt").write_text(
            darshan_text(rng, number) if number != 17 else "# cut off\n"
        )
    series = [
        history(rng, name, loss, spread)
        for name, loss, spread in (("hpl", 0.05, 0.005), ("milc", 0.05, 0.005), ("ior", 0.05, 0.12))
    ]
    rows = [(at, one.name, value) for one in series for at, value in zip(one.times, one.values, strict=True)]
    pd.DataFrame(rows, columns=["date", "benchmark", "value"]).to_csv(folder / "nightly.csv", index=False)


@pytest.mark.parametrize("name", ["waits-by-week", "what-explains", "thirty-darshan-logs", "an-upgrade", "an-ensemble"])
def test_five_strangers(name: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve cells each, with names of the public package only."""
    notebook = json.loads((root / "tests" / "notebooks" / "strangers" / f"{name}.ipynb").read_text(encoding="utf-8"))
    code = "\n".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code")
    assert len(notebook["cells"]) == 12
    assert not re.search(r"hopperlib\.\w+\.\w+ import|from hopperlib|import hopperlib\.|hopperlib\._", code)
    _files_of_strangers(tmp_path)
    monkeypatch.chdir(tmp_path)
    names = _run(notebook["cells"])
    truths: dict[str, Callable[[], bool]] = {
        "waits-by-week": lambda: (
            names["used"].sum() == pytest.approx(160)
            and names["expected"] == pytest.approx(160)
            and len(names["again"]) == 80
            and names["answer"].summary.startswith("80 jobs, submitted from 2026-03-01")
        ),
        "what-explains": lambda: (
            names["explained"].facts["shares"][0]["factor"] == "first_node"
            and names["explained"].facts["not_separated"] == ["upgrade and day"]
            and set(names["slow"]["job"]) == {"1011"}
            and names["fitted"].facts["covariates"][0]["p_value"] > 0.001
        ),
        "thirty-darshan-logs": lambda: (
            list(names["unread"]["file"]) == ["darshan/job-17.txt"]
            and names["written"].sum() == pytest.approx(sum(0.4 * (job + 1) for job in range(30) if job != 17))
        ),
        "an-upgrade": lambda: (
            names["planned"].loc["hpl", "low_percent"] < -5 < names["planned"].loc["hpl", "high_percent"]
            and names["unknown"] == ("ior",)
        ),
        "an-ensemble": lambda: (
            names["kept"] == 5
            and names["resumed"] == list(range(6, 13))
            and set((names["other"]["wait_h"] / names["rows"]["wait_h"]).dropna().round(6)) == {2.0}
        ),
    }
    assert truths[name]()
