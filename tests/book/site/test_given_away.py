"""The script that looks for answers above the predictions of a built book."""

from __future__ import annotations

import importlib.util
import json

import pytest

from hopperbook.self_checks import NumberCheck
from hopperbook.site.html import check_html

CHECK = NumberCheck(
    name="dump-predict", question="How many seconds?", unit="s", answer=1200, explanation="Twice 600 seconds."
)


@pytest.fixture(scope="module")
def given_away(root):
    spec = importlib.util.spec_from_file_location("given_away", root / "scripts" / "given_away.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.given_away


@pytest.mark.parametrize(
    ("above", "found"),
    [
        ("<p>A dump takes long.</p>", []),
        ("<p>A dump takes 1,200 s.</p>", ["1200"]),
        ('<img alt="Up to 1200 s.">', ["1200"]),
        ('<details class="hopper-further"><p>It took 1,200 s.</p></details>', []),
        ("<p>Eleven of 11,200.</p>", []),
    ],
)
def test_an_answer_above_its_prediction_is_found(given_away, above, found):
    page = f'<body>{above}<section id="predict-first"><p>Each takes 600 s.</p>{check_html(CHECK.to_dict())}</section></body>'
    assert list(given_away(page)) == [("dump-predict", "number", found)]


def test_a_check_elsewhere_is_no_prediction(given_away):
    assert not list(given_away(f"<body><p>1200</p>{check_html(json.loads(json.dumps(CHECK.to_dict())))}</body>"))
