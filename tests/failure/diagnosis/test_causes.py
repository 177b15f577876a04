"""Accuracy of each confidence word on outputs for which no rule was written, in the order of the words."""

from itertools import pairwise

import pytest

from hopperlib.failure.diagnosis.causes import CONFIDENCE, _wilson, accuracy_by_agreement, measured


def test_the_words_stand_in_the_order_of_their_shares():
    shares = [measured()[word] for word in CONFIDENCE]
    assert all(surer.right / surer.answers >= other.right / other.answers for surer, other in pairwise(shares))
    assert all(share.answers >= 10 for share in shares)


def test_certain_was_wrong_four_times():
    """In three cases an earlier program or step of the same file was named, in one a container's report of the end."""
    certain = measured()["certain"]
    assert certain.answers >= 120
    assert certain.answers - certain.right <= 4


def test_agreement_of_two_voices_is_right_more_often_than_disagreement():
    shares = accuracy_by_agreement()
    assert shares["both"].right / shares["both"].answers > shares["or"].right / shares["or"].answers


def test_shares_lie_in_their_ranges():
    for share in measured().values():
        if share.answers:
            assert 0 <= share.low <= share.right / share.answers <= share.high <= 1


def test_the_range_is_wilsons():
    """By hand: 8 of 10, z = 1.96: (0.8 + 0.19207 +- 1.96 sqrt(0.016 + 0.0096)) / 1.38415."""
    low, high = _wilson(8, 10)
    assert low == pytest.approx(0.4902, abs=5e-4)
    assert high == pytest.approx(0.9433, abs=5e-4)
    assert _wilson(0, 0) == (0.0, 1.0)
