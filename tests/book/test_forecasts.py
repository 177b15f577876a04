"""The forecasts are what the code gives, made before any outcome of a sealed row was here, and scored as promised."""

from __future__ import annotations

import csv
import math
from itertools import pairwise

import pytest

from hopperbook import forecasts as blind
from hopperbook.forecasts import LEVELS, Forecast, interval_score, kept, rival_interval, score
from hopperbook.forecasts.dragonfly import CASES, placed, slowness
from hopperbook.forecasts.tables import bets, scores, summary
from hopperlib.data_files import data_folder, rows

PRACTICE = [each for each in kept() if "practice" in each.row]
SEALED = [each for each in kept() if "practice" not in each.row]


def _row(asked="a rate [GB/s]; point", value="2", low="1.9", high="2.1", rival="4", **more):
    return {"id": "toy", "asked": asked, "value": value, "low": low, "high": high, "rival_value": rival, **more}


@pytest.mark.parametrize("simulated", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_the_table_is_what_the_code_gives(simulated):
    """Schedules of a trace take long: those rows are computed anew at night."""
    lines = (data_folder() / "forecasts.csv").read_text(encoding="utf-8").splitlines()[1:]
    for row, line in zip(blind.situations(), lines, strict=True):
        if (blind.settings()[row["id"]].get("ask") == "network.backfill_gain") == simulated:
            assert ",".join(next(csv.reader([line]))) == ",".join(map(str, blind.cells(blind.forecast(row))))


def test_a_placement_on_the_dragonfly_comes_out_again():
    """The first of the job that is placed fastest; a job whose messages share no full link is not slowed down."""
    assert placed("neighbors-3", 128, 6) == slowness("neighbors-3", 128)[0]
    assert all(min(slowness(*case)) >= 1 for case in CASES)


def test_every_situation_has_a_forecast_or_a_reason():
    assert (len(PRACTICE), len(SEALED)) == (25, 54)
    assert set(blind.settings()) == {each.row["id"] for each in kept()}
    for each in kept():
        assert bool(each.intervals) != bool(each.missing)


def test_intervals_lie_in_each_other():
    for each in kept():
        ends = [each.intervals[level] for level in LEVELS if each.intervals]
        assert all(outer[0] <= inner[0] <= inner[1] <= outer[1] for inner, outer in pairwise(ends))


def test_no_outcome_is_known_of_a_sealed_row():
    assert "value" not in rows("blind/sealed.csv")[0]


def test_the_practice_rows_hold_and_beat_the_rival():
    """Of all 25 rows, those without a forecast counted as missed."""
    found = score(PRACTICE)
    assert 0.70 <= found.held[1] / found.rows <= 0.92
    assert found.interval_score <= 0.85 * found.rival_interval_score


def test_a_rival_reaches_as_far_as_it_needs_for_four_of_five():
    inside = [low <= each.outcome[0] <= high for each in PRACTICE for low, high in [rival_interval(each)]]
    assert sum(inside) == math.ceil(0.8 * len(inside))


# ln(3 / 1) wide; the value 2 lies inside. From 3 to 6: ln 2 wide, and ln(3 / 2) too high.
@pytest.mark.parametrize(("interval", "expected"), [((1, 3), math.log(3)), ((3, 6), math.log(2) + 10 * math.log(1.5))])
def test_an_interval_is_scored_on_logarithms(interval, expected):
    assert interval_score(Forecast(_row(), 2.0, {}), interval) == pytest.approx(expected)


def test_a_percentage_is_scored_over_ten_points():
    """From 30 to 50 % for 20: two units wide, and one too high."""
    made = Forecast(_row(asked="gain [%]; point", value="20"), 40.0, {})
    assert interval_score(made, (30, 50)) == pytest.approx(2 + 10 * 1)


def test_the_score_of_two_rows():
    """One holds, one misses; the second has no forecast that could count but its interval."""
    made = [
        Forecast(_row(), 2.0, dict.fromkeys(LEVELS, (1.0, 3.0))),
        Forecast(_row(), 4.5, dict.fromkeys(LEVELS, (4.0, 5.0))),
    ]
    found = score([*made, Forecast(_row(), None, {}, "a model")])
    assert (found.rows, found.answered, found.held) == (3, 2, (1, 1, 1))
    assert found.nearer == 1


def test_outcomes_are_scored_when_they_arrive(monkeypatch, tmp_path):
    for folder in ("", "blind"):
        (tmp_path / folder).mkdir(exist_ok=True)
        for file in (data_folder() / folder).glob("*.[ct][so][vm]*"):
            (tmp_path / folder / file.name).write_bytes(file.read_bytes())
    (tmp_path / "blind" / "outcomes.csv").write_text("id,value,low,high\nslow-01,0.5,0.5,0.5\n")
    monkeypatch.setattr("hopperlib.data_files.data_folder", lambda: tmp_path)
    monkeypatch.setattr(blind, "data_folder", lambda: tmp_path)
    told = {each["id"]: each.get("value") for each in blind.situations()}
    assert told["slow-01"] == "0.5"
    assert told["node-01"] is None


def test_a_situation_is_drawn_the_same_again_and_within_its_ends():
    row, setting = next((each.row, blind.settings()[each.row["id"]]) for each in SEALED if each.row["id"] == "slow-01")
    assert blind.runs(row, setting, 5) == blind.runs(row, setting, 5)
    # A slow OST that ends after 4.5 to 5.7 times what healthy ones need a fifth less or more for.
    exact = blind.runs(row, setting | {"error": 0.0}, 50)
    assert all(0.8 / 5.7 <= each <= 1.2 / 4.5 for each in exact)


def test_tables_have_a_row_for_each():
    assert len(bets(told=True).rows) == 25
    assert len(bets(told=False).rows) == 54
    assert bets(told=True).marked
    assert scores().rows[-1][:3] == ("all", "25", "25")
    assert summary().startswith("None of the 53 forecasts")
