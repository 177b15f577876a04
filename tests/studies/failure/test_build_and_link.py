"""The study of builds: the bug numbers and days are the printed ones, and one number is predicted."""

from __future__ import annotations

from datetime import date

import pytest

from hopperlib.documented import documented
from hopperlib.scoring import rows
from hopperlib.studies.failure.build_and_link import (
    bug_number_on,
    bugs_a_day,
    dated_bugs,
    options_bug_range,
    orphans_bug,
)


def test_what_is_claimed_holds():
    assert {row.verdict for row in rows("build-and-link")} <= {
        "reproduced",
        "holds",
        "by construction",
        "input",
        "not modelled",
    }


def test_the_rate_by_hand():
    june, october, february = dated_bugs()
    # 769,872 - 765,956 = 3,916 numbers in the 118 days from 19 October to 14 February.
    assert bugs_a_day(october, february) == pytest.approx(3916 / 118)
    # 765,956 - 761,427 = 4,529 in the 126 days before.
    assert bugs_a_day(june, october) == pytest.approx(4529 / 126)


def test_the_predicted_number_by_hand():
    # 58 and 93 days after 19 October, at 33.186 a day.
    low, high = options_bug_range()
    assert (low, high) == pytest.approx((765_956 + 58 * 3916 / 118, 765_956 + 93 * 3916 / 118))
    assert low < documented("build-and-link.openmp-options-bug").number < high


def test_the_prediction_does_not_use_the_number_it_predicts():
    assert documented("build-and-link.openmp-options-bug").number not in [bug.number for bug in dated_bugs()]


def test_the_rate_is_not_quite_even():
    """The orphan reservations came two weeks after the last of the three, and only 196 numbers: the page says so."""
    bug, last = orphans_bug(), dated_bugs()[-1]
    assert (bug.number - last.number, (bug.reported - last.reported).days) == (196, 14)
    assert bug_number_on(bug.reported) - bug.number == pytest.approx(14 * 3916 / 118 - 196)
    assert bug.reported == date(2011, 2, 28)
