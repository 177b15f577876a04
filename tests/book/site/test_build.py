"""Building: anything that goes wrong is an error, and changed files are rebuilt."""

from __future__ import annotations

import json
import re

import pytest

from hopperbook.build import main

pytestmark = pytest.mark.slow


def add_cell(notebook, source):
    """Add a cell of code to a notebook's file."""
    content = json.loads(notebook.read_text(encoding="utf-8"))
    cell = {
        "cell_type": "code",
        "execution_count": None,
        "id": "added",
        "metadata": {},
        "outputs": [],
        "source": source,
    }
    content["cells"].append(cell)
    notebook.write_text(json.dumps(content), encoding="utf-8")


def test_a_folder_without_a_book_is_refused(tmp_path, capsys):
    assert main(["--root", str(tmp_path)]) == 2
    assert "holds no book" in capsys.readouterr().err


def test_mistakes_are_errors_and_are_named(bench):
    folder, build = bench
    page = folder / "book" / "words.md"
    more = "\n```{explorer} plcae\n```\n\n```{explorer} trial\n:tasks: 99\n```\n\n[nowhere](nowhere.md)\n"
    page.write_text(page.read_text(encoding="utf-8") + more, encoding="utf-8")
    add_cell(folder / "notebooks" / "checks.ipynb", "import plotly.graph_objects as go\n\ngo.Figure()")
    done = build()
    said = " ".join(re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr).split())
    assert done.returncode == 1
    assert "there is no question 'plcae'; did you mean 'place'?" in said
    assert "tasks=99 must be from 1 to 12, the range of this control" in said
    assert "nowhere.md" in said
    assert "a Plotly figure has no description" in said


def test_a_failing_cell_stops_the_build(bench):
    folder, build = bench
    add_cell(folder / "notebooks" / "checks.ipynb", 'raise ValueError("a wrong number")')
    done = build()
    assert done.returncode == 1
    assert "a wrong number" in done.stdout + done.stderr


# Every page is read again, and the memory of Python recreated: at night.
@pytest.mark.nightly
def test_a_changed_model_reaches_every_page(bench):
    folder, build = bench
    html = folder / "_build" / "html"
    executed = "notebooks/checks.ipynb: ran in"
    done = build()
    assert done.returncode == 0
    assert executed not in done.stdout, "nothing changed, and a notebook was executed"
    first = [path.name for path in html.glob("_static/live-*")]

    model = folder / "hopperkit" / "questions" / "trial.py"
    model.write_text(model.read_text(encoding="utf-8").replace("the work is", "the job is"), encoding="utf-8")
    done = build()
    assert done.returncode == 0
    assert executed in done.stdout
    for page in ("book/index.html", "notebooks/checks.html"):
        text = (html / page).read_text(encoding="utf-8")
        assert "With 6 tasks the job is" in text
        assert "With 6 tasks the work is" not in text
    second = [path.name for path in html.glob("_static/live-*")]
    assert len(second) == 1
    assert second != first
    # Pages without a change of their own ask for the new folder too: the old one is gone.
    for page in html.rglob("*.html"):
        assert first[0] not in page.read_text(encoding="utf-8"), page
