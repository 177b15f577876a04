"""Each thing to try names the control, the setting or the example that it is about, and the explorer has it."""

import json
import re
from pathlib import Path

import pytest

from hopperkit.questions.question import load

ROOT = Path(__file__).resolve().parents[2]
SPAN = re.compile(r'<span data-explorer="([\w-]+)" data-(try|example|focus)=(?:"([^"]*)"|\'([^\']*)\')></span>')


def things_to_try() -> dict[str, list[str]]:
    """Return the numbered sentences under "Try:" or "... things to try:", by notebook."""
    found = {}
    for path in sorted((ROOT / "notebooks").rglob("*.ipynb")):
        for cell in json.loads(path.read_text())["cells"]:
            listed = re.search(
                r"^(?:Try|\w+ things to try):\n\n((?:\d\. .*\n?)+)", "".join(cell["source"]), re.MULTILINE
            )
            if listed and cell["cell_type"] == "markdown":
                items = listed[1].strip().split("\n")
                found[path.relative_to(ROOT / "notebooks").as_posix()] = items
    return found


THINGS = things_to_try()


def test_they_are_found():
    assert len(THINGS) > 20
    assert all(re.match(r"\d\. ", item) for items in THINGS.values() for item in items)


@pytest.mark.parametrize("notebook", THINGS)
def test_a_thing_to_try_can_be_pressed(notebook):
    text = (ROOT / "notebooks" / notebook).read_text()
    for item in THINGS[notebook]:
        ((name, kind, double, single),) = SPAN.findall(item)
        assert f'hopperkit.load(\\"{name}\\"' in text
        question = load(name)
        controls = {control.name for control in question.controls}
        given = double or single
        if kind == "focus":
            assert given in controls
        elif kind == "example":
            assert given in {example.label for example in question.examples}
        else:
            setting = json.loads(given)
            assert setting.keys() <= controls
            read = question.read(question.defaults | setting)
            assert any(read[each] != question.defaults[each] for each in setting)
