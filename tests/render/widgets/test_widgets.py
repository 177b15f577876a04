"""Outputs in a notebook: widgets for JupyterLab, and static outputs for every viewer of saved notebooks."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from IPython.core.formatters import DisplayFormatter

from hopperkit.questions.question import Question
from hopperkit.questions.result import Figure, Result
from hopperkit.render.widgets import explorer as explorer_module
from hopperkit.render.widgets import missing_packages, register, show_explorer
from hopperkit.render.widgets import saved as saved_module
from hopperkit.render.widgets.saved import PLOTLY_MIME_TYPE, SavedAnswer

VIEW = "application/vnd.jupyter.widget-view+json"


class Handle:
    """A substitute for an output that can be changed."""

    def __init__(self, bundle: dict[str, Any]) -> None:
        self.bundle = bundle

    def update(self, bundle: dict[str, Any], raw: bool) -> None:
        self.bundle = bundle


@pytest.fixture
def outputs(monkeypatch: pytest.MonkeyPatch) -> list[Handle]:
    """The outputs of a cell, as displayed."""
    monkeypatch.delenv("HOPPERLIB_RENDER", raising=False)
    shown: list[Handle] = []

    def display(bundle: dict[str, Any], *, raw: bool, display_id: bool = False) -> Handle:
        shown.append(Handle(bundle))
        return shown[-1]

    monkeypatch.setattr("IPython.display.display", display)
    return shown


@pytest.fixture(params=["explorer", "figure"])
def thing(request: pytest.FixtureRequest, explorer: Question, figure: Figure) -> Any:
    """Each thing that can be shown."""
    return {"explorer": explorer, "figure": figure}[request.param]


def show(thing: Any) -> dict[str, Any]:
    """Return IPython's outputs for the result of a cell, including what it displays itself."""
    formatter = DisplayFormatter()  # type: ignore[no-untyped-call]
    register(formatter)
    bundle: dict[str, Any] = formatter.format(thing)[0]  # type: ignore[no-untyped-call]
    return bundle


def test_a_live_explorer_has_what_stays_beside_it(explorer: Question, outputs: list[Handle]) -> None:
    show(explorer)
    live, words, chart = (output.bundle for output in outputs)
    assert set(live[VIEW]) == {"version_major", "version_minor", "model_id"}
    assert VIEW not in words | chart
    html = words["text/html"]
    assert (
        '<strong>Every &lt;control&gt;.</strong> What does <code><span class="hopper-unbroken">-N</span></code> do?'
        in html
    )
    assert (
        '12 tasks on 1 nodes at 2.1 GHz, order nid, line &lt;aprun <span class="hopper-unbroken">-n 12</span> vasp&gt;.'
        in html
    )
    assert "Tasks: <code>12</code>, Nodes: <code>1</code>, " in html
    assert "<caption><span>Tasks</span></caption>" in html
    assert "Rate of each task from 1 to 12 tasks: it falls." in html
    assert "<script" not in html
    assert list(chart) == [PLOTLY_MIME_TYPE, "text/plain"], "nobody waits for the static picture"


def test_what_stays_follows_the_answer(explorer: Question, outputs: list[Handle], monkeypatch: Any) -> None:
    waiting: list[Any] = []
    monkeypatch.setattr(explorer_module, "_kernel", object)

    class Later:
        def __init__(self, action: Any) -> None:
            self.action, self.cancelled = action, False
            waiting.append(self)

        def cancel(self) -> None:
            self.cancelled = True

    monkeypatch.setattr(explorer_module, "_call_later", lambda _, action: Later(action))
    view = show_explorer(explorer)
    assert view is not None
    view.write({"tasks": 5})
    for later in [later for later in waiting if not later.cancelled]:
        later.action()
    words, chart = outputs[1].bundle, outputs[2].bundle
    assert "Tasks: <code>5</code>" in words["text/html"]
    assert chart["image/svg+xml"].startswith("<svg")
    assert len(chart[PLOTLY_MIME_TYPE]["data"][0]["x"]) == 5
    assert explorer.result is view.result


def test_an_explorer_that_shows_nothing_answers_its_start(explorer: Question) -> None:
    other = Question(name="never-shown", title="t", question="?", controls=explorer.controls, answer=explorer.answer)
    assert other.result is not None
    assert other.result.summary.startswith("12 tasks on 1 nodes")


def test_charts_come_and_go_in_place(explorer: Question, figure: Figure, outputs: list[Handle]) -> None:
    saved = SavedAnswer(explorer)
    saved.show({}, Result(summary="Two.", figures=(figure, figure)))
    saved.show({}, Result(summary="None."))
    assert [list(output.bundle) for output in outputs] == [["text/html", "text/plain"], ["text/plain"], ["text/plain"]]
    saved.show({}, None)
    assert "This setting was refused." in outputs[0].bundle["text/html"]
    saved.show({}, Result(summary="Three.", figures=(figure,) * 3))
    assert [PLOTLY_MIME_TYPE in output.bundle for output in outputs] == [False, True, True]
    # No output can be added to a cell that has ended: the third chart stands in the words, with its data.
    assert outputs[0].bundle["text/html"].count("Data of this chart") == 3


def test_a_program_that_runs_a_notebook_gets_no_widgets(thing: Any, outputs: list[Handle], monkeypatch: Any) -> None:
    monkeypatch.setattr("hopperkit.render.widgets.is_watched", lambda: False)
    show(thing)
    assert outputs
    assert all(VIEW not in output.bundle for output in outputs)


def test_a_figure_is_words_and_a_chart_with_its_picture(figure: Figure, outputs: list[Handle]) -> None:
    show(figure)
    words, chart = (output.bundle for output in outputs)
    assert words["text/html"].startswith(
        "<p><strong>Rates.</strong> Rate of each task from 1 to 12 tasks: it falls.</p>"
    )
    assert words["text/html"].count("<tr>") == 13
    assert list(chart) == [PLOTLY_MIME_TYPE, "image/svg+xml", "text/plain"]
    assert figure.to_plotly().data[0].x == tuple(range(1, 13))
    assert figure.to_plotly().layout.title.text == "Rates"


def test_the_book_gets_data(thing: Any, outputs: list[Handle], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPPERLIB_RENDER", "book")
    bundle = show(thing)
    assert outputs == []
    assert any(kind.startswith("application/vnd.hopper.") for kind in bundle)


@pytest.mark.parametrize("name", ["ipywidgets", "plotly", "anywidget"])
def test_missing_package_is_named_with_its_extra(
    name: str, explorer: Question, outputs: list[Handle], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    assert missing_packages() == (name,)
    show(explorer)
    say = f"To use it here, install {name}: pip install &quot;.[notebooks]&quot; in the folder of the repository, then restart the kernel."
    assert say in outputs[0].bundle["text/html"]
    assert all(VIEW not in output.bundle for output in outputs)


def test_explorer_that_refuses_its_own_start_still_has_a_form(explorer: Question, outputs: list[Handle]) -> None:
    def refuse(**values: Any) -> Any:
        raise ValueError("no <machine> file")

    broken = Question(name="broken", title="Broken", question="?", controls=explorer.controls, answer=refuse)
    show(broken)
    assert VIEW in outputs[0].bundle
    assert outputs[1].bundle["text/plain"] == "Broken. This setting was refused."
    assert broken.result is None


def test_importing_the_package_in_a_notebook_registers_all_that_it_shows() -> None:
    code = (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "from hopperkit.questions.question import load\n"
        "print('<table' in shell.display_formatter.format(load('memory').run())[0]['text/html'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_whether_somebody_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    class Shell:
        class kernel:
            _allow_stdin = False

    monkeypatch.setattr("IPython.core.getipython.get_ipython", lambda: Shell)
    assert not saved_module.is_watched()
    Shell.kernel._allow_stdin = True
    assert saved_module.is_watched()


def test_importing_it_imports_no_widgets() -> None:
    code = (
        "import sys, hopperkit.render.widgets\n"
        "print(sorted({'ipywidgets', 'plotly', 'anywidget', 'IPython', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=None)
    assert done.stdout == "[]\n"
