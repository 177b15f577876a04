"""Notebooks of a site's own data run with other parameters, and give the numbers of ``hopper report``."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbconvert import HTMLExporter

from hopperlib.analysis.reports import report

papermill = pytest.importorskip("papermill")

HISTORY = "time,value\n" + "".join(f"2026-01-{day:02},{100 - 20 * (day > 18) + day % 3}\n" for day in range(1, 31))
RUNS = "job,run_time_s\n" + "".join(f"{job},{100 + job * 3 + run}\n" for job in range(8) for run in range(3))
JOBS = "".join(f"{n} {n * 60} -1 300 2 -1 -1 2 400 -1 1 1 -1 -1 -1 -1 -1 -1\n" for n in range(1, 30))


def _run(cells: list[Any]) -> dict[str, Any]:
    """Run the code of a notebook here, as a kernel would, and return what it has defined."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in cells:
        if cell["cell_type"] == "code":
            text = "".join(cell["source"])
            tree = ast.parse(text)
            exec(compile(tree, text[:40], "exec"), names)
            if tree.body and isinstance(tree.body[-1], ast.Expr):
                shown = eval(compile(ast.Expression(tree.body[-1].value), text[:40], "eval"), names)
                if hasattr(shown, "_repr_html_"):
                    assert shown._repr_html_()
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
    texts = {"triad.csv": HISTORY, "runs.csv": RUNS, "jobs.swf": JOBS, "job.log": "All done.\n"}
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


def test_run_times_and_a_trace(root: Path, files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hopperlib.analysis.run_times.usual_repeats", lambda n: 19)
    parameters = {"RUNS": files["runs.csv"], "CHANGE": 0.1, "AGAINST": []}
    names = _run(_with(root / "notebooks" / "own" / "your-runs.ipynb", parameters))
    told = report("runs", files["runs.csv"], minimum=True, change=10.0)
    assert names["answer"].facts == told.facts
    assert names["model"] is None
    names = _run(_with(root / "notebooks" / "own" / "your-jobs.ipynb", {"TRACE": files["jobs.swf"]}))
    assert dict(names["answer"].facts) == dict(report("jobs", files["jobs.swf"], machine="toy").facts)


def test_outputs_of_io(root: Path) -> None:
    path = root / "data" / "samples" / "ior" / "ior-3.2.1.posix-fpp.txt"
    names = _run(_with(root / "notebooks" / "own" / "your-io.ipynb", {"FILES": str(path)}))
    rates = report("io", path).to_frame()
    assert len(names["rows"]) == len(rates)


def test_launch_lines_by_papermill_and_as_a_page(root: Path, tmp_path: Path) -> None:
    """In a kernel, as cron would: no widgets, every picture, and a page of its own that needs no other host."""
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
