"""The second set: forecasts as committed, by functions that serve several rows, with a reason where there is none."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from itertools import pairwise

import pytest

from hopperbook.forecasts import LEVELS, answers, second
from hopperbook.forecasts import settings as first_settings
from hopperbook.forecasts.tables import second_bets, second_summary
from hopperlib.data_files import data_folder, rows

SEALED = [each for each in second.kept() if "practice" not in each.row]


def test_the_forecasts_are_as_committed():
    file = data_folder() / "blind/second/forecasts.csv"
    assert hashlib.sha256(file.read_bytes()).hexdigest() == second.digest()


def test_every_row_has_a_forecast_or_a_reason():
    assert len(SEALED) == 71
    assert set(second.settings()) == {row["id"] for row in second.situations()}
    for each in second.kept():
        assert bool(each.intervals) != bool(each.missing), each.row["id"]
    assert len(second_bets().rows) == 71
    assert "SHA-256" in second_summary()


def test_rows_whose_source_was_seen_have_no_forecast():
    seen = {id for id, setting in second.settings().items() if "seen" in setting}
    assert seen == {"2-pages-08", "2-var-02", "2-var-03", "2-overlap-04"}
    assert not any(each.intervals for each in second.kept() if each.row["id"] in seen)


def test_no_outcome_of_a_sealed_row_is_here():
    assert "value" not in rows("blind/second/sealed.csv")[0]


def test_no_function_serves_a_single_row():
    used = Counter(setting["ask"] for setting in second.settings().values() if "ask" in setting)
    used.update(setting["ask"] for setting in first_settings().values() if setting.get("ask") in used)
    assert not [name for name, count in used.items() if count < 2]


def test_intervals_lie_in_each_other():
    for each in second.kept():
        ends = [each.intervals[level] for level in LEVELS if each.intervals]
        assert all(outer[0] <= inner[0] <= inner[1] <= outer[1] for inner, outer in pairwise(ends))


@pytest.mark.parametrize("id", ["2-node-01", "2-hybrid-01", "2-memory-02", "2-stripe-06", "2-torus-05", "2-iobuf-01"])
def test_a_forecast_comes_out_again(id):
    row = next(row for row in second.situations() if row["id"] == id)
    stored = next(each for each in second.kept() if each.row["id"] == id)
    found = second.made(row)
    assert found.median == pytest.approx(stored.median, rel=1e-3)
    assert found.intervals[80] == pytest.approx(stored.intervals[80], rel=1e-3)


def test_a_drawn_throughput_has_the_stated_interval():
    rng = random.Random(1)
    found = answers.Throughput(10.0, 6.0, 12.0)
    drawn = sorted(answers._drawn(rng, found) for _ in range(4000))
    assert drawn[400] == pytest.approx(6.0, rel=0.05)
    assert drawn[2000] == pytest.approx(10.0, rel=0.03)
    assert drawn[3600] == pytest.approx(12.0, rel=0.03)
