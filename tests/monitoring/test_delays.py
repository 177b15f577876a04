"""Synthetic histories: the effect of contention, and a loss from a given run."""

from random import Random

import pytest

from hopperlib.monitoring.delays import synthetic_history


def test_a_run_in_contention_measures_half_to_nine_tenths():
    values = synthetic_history(Random(1), runs=2000, loss=0, change=None, spread=0, contended=1)
    assert min(values) == pytest.approx(50, abs=0.5)
    assert max(values) == pytest.approx(90, abs=0.5)
    assert sum(values) / 2000 == pytest.approx(70, abs=1)


def test_a_loss_is_a_share_of_each_run_from_its_first_on():
    before, after = (
        synthetic_history(Random(2), runs=9, loss=loss, change=4, spread=0.1, contended=0) for loss in (0, 0.3)
    )
    assert after[:4] == before[:4]
    assert after[4:] == pytest.approx([0.7 * value for value in before[4:]])
