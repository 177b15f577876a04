"""Sensitivity of a study's numbers: the stored table agrees with the models when an input is changed."""

from __future__ import annotations

import json

import pytest

from hopperbook import sensitivity
from hopperbook.studies import built
from hopperbook.studies.study import ranges
from hopperlib.data_files import rows

KEPT = sorted({row["study"] for row in rows("sensitivity.csv")})


@pytest.mark.parametrize("study", ["io-node", pytest.param("bad-nodes", marks=pytest.mark.nightly)])
def test_changing_each_input_gives_what_the_table_says(study):
    """Two studies that read documented values and look at machine files: all of their inputs."""
    moved, kept = (
        {(one.number, one.input, one.value): one[4:] for one in of(study)}
        for of in (sensitivity.moved, sensitivity.kept)
    )
    assert moved.keys() == kept.keys()
    assert len(moved) > 1
    for key, numbers in moved.items():
        assert kept[key] == pytest.approx(numbers, rel=1e-6)


def test_an_input_by_hand():
    """A Franklin node keeps 8 GB less twice 3.77; half of it grows fourfold on a node of 32 GB, so 32 - 0.46 x 2.5."""
    usual = sensitivity.run("memory")["hopper-usable"]
    assert usual == pytest.approx(32 - (8 - 2 * 3.77) * 2.5)
    line = next(one for one in sensitivity.kept("memory") if one.input.startswith("memory of a task on a half-packed"))
    assert line.at_low == pytest.approx(32 - (8 - 2 * 3.765) * 2.5)
    assert line.at_high == pytest.approx(32 - (8 - 2 * 3.775) * 2.5)
    # 0.01 of 3.77 moves the number by 0.05 of 30.85.
    assert line.weight == pytest.approx(0.05 / 30.85 / (0.01 / 3.77))


def test_each_study_with_ranges_has_its_inputs_traced():
    assert set(KEPT) == {name for name in built() if ranges(name)}


@pytest.mark.parametrize("study", KEPT)
def test_the_shares_add_up_and_the_page_shows_them(study, root):
    figure = sensitivity.sensitivity_figure(study)
    for parts in zip(*(series["y"] for series in figure.data), strict=True):
        assert sum(parts) == pytest.approx(100, abs=0.3)
    (page,) = root.glob(f"notebooks/*/{study}.ipynb")
    cells = json.loads(page.read_text(encoding="utf-8"))["cells"]
    assert [f'sensitivity_figure("{study}")'] in [cell["source"] for cell in cells]


def test_a_study_without_numbers_has_no_chart():
    with pytest.raises(ValueError, match="study 'diagnosis' has no model with numbers"):
        sensitivity.sensitivity_figure("diagnosis")
