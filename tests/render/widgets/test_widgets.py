"""What a notebook gets: widgets for JupyterLab, HTML for readers of saved notebooks, and words."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from hopperlib.questions.checks import NumberCheck
from hopperlib.questions.question import Question
from hopperlib.questions.result import Figure
from hopperlib.render.widgets import check_mimebundle, explorer_mimebundle, figure_mimebundle, missing_packages

VIEW = "application/vnd.jupyter.widget-view+json"
CHECK = NumberCheck(name="six", question="How many `cores` < 7?", answer=6, explanation="24 on four.")


@pytest.fixture(params=["explorer", "figure", "check"])
def shown(request: pytest.FixtureRequest, explorer: Question, figure: Figure) -> tuple[Any, dict[str, Any]]:
    """Each thing that can be shown, with its bundle's maker."""
    things = {
        "explorer": (explorer, explorer_mimebundle),
        "figure": (figure, figure_mimebundle),
        "check": (CHECK, check_mimebundle),
    }
    found: tuple[Any, dict[str, Any]] = things[request.param]  # type: ignore[assignment]
    return found


def test_bundle_holds_widgets_html_and_text(shown: tuple[Any, Any]) -> None:
    thing, make = shown
    bundle = make(thing)
    assert list(bundle) == [VIEW, "text/html", "text/plain"]
    assert set(bundle[VIEW]) == {"version_major", "version_minor", "model_id"}
    assert "<script" not in bundle["text/html"]


def test_objects_show_themselves_with_it(shown: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOPPERLIB_RENDER", raising=False)
    assert set(shown[0]._repr_mimebundle_()) == {VIEW, "text/html", "text/plain"}
    monkeypatch.setenv("HOPPERLIB_RENDER", "book")
    assert VIEW not in shown[0]._repr_mimebundle_()


@pytest.mark.parametrize("name", ["ipywidgets", "plotly", "anywidget"])
def test_missing_package_is_named_with_its_extra(
    name: str, shown: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    assert missing_packages() == (name,)
    bundle = shown[1](shown[0])
    say = f'To use it here, install {name}: pip install "hopper-book[notebooks]", then restart the kernel.'
    assert VIEW not in bundle
    assert bundle["text/plain"].endswith("\n" + say)
    assert bundle["text/html"].endswith(f"<p><strong>{say.replace(chr(34), '&quot;')}</strong></p>")


def test_explorer_as_html_is_the_starting_answer(explorer: Question) -> None:
    html = explorer_mimebundle(explorer)["text/html"]
    assert "<strong>Every &lt;control&gt;.</strong> What does <code>-N</code> do?" in html
    assert "12 tasks on 1 nodes at 2.1 GHz, order nid, line &lt;aprun -n 12 vasp&gt;." in html
    assert "Tasks: <code>12</code>, Nodes: <code>1</code>, Clock: <code>2.1</code> GHz, " in html
    assert "<caption>Tasks</caption>" in html
    assert "Run the notebook in JupyterLab to change them." in html


def test_explorer_that_refuses_its_own_start_still_has_a_form(explorer: Question) -> None:
    def refuse(**values: Any) -> Any:
        raise ValueError("no <machine> file")

    broken = Question(name="broken", title="Broken", question="?", controls=explorer.controls, answer=refuse)
    bundle = explorer_mimebundle(broken)
    assert bundle["text/html"] == "<p>no &lt;machine&gt; file</p>"
    assert bundle["text/plain"] == "Broken. no <machine> file"
    assert VIEW in bundle


def test_figure_as_html_is_its_description_and_data(figure: Figure) -> None:
    html = figure_mimebundle(figure)["text/html"]
    assert html.startswith("<p><strong>Rates.</strong> Rate of each task from 1 to 12 tasks: it falls.</p><div")
    assert html.count("<tr>") == 13


def test_check_as_html_is_its_question() -> None:
    html = check_mimebundle(CHECK)["text/html"]
    assert html == "<p><strong>Self-check.</strong> How many <code>cores</code> &lt; 7?</p>"


def test_importing_it_imports_no_widgets() -> None:
    code = (
        "import sys, hopperlib.render.widgets\n"
        "print(sorted({'ipywidgets', 'plotly', 'anywidget', 'IPython'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=None)
    assert done.stdout == "[]\n"
