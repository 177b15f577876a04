"""The study of threads: results over the boxes, and limits of the claims."""

from __future__ import annotations

import pytest

from hopperbook.studies.node.hybrid import THREADS, box


@pytest.fixture(scope="module")
def table(scored):
    return scored("hybrid")


def test_a_box_is_the_same_again_and_another_for_another_seed():
    again = box.__wrapped__(3)
    assert again == box(3)
    assert again != box(4)
    assert sum(again.best.values()) == pytest.approx(1.0)
    assert tuple(again.best) == THREADS


def test_three_is_the_best_somewhere_and_not_everywhere(table):
    assert "12 % to 34 % of a box" in table["gtc-best-threads"].note
    assert table["gtc-best-at-three"].verdict == "not modelled"


def test_the_loss_is_one_of_first_touch(table):
    assert table["perfect-first-touch-saves"].verdict == "holds"
    losses = [box(seed) for seed in range(5)]
    assert all(one.losing > one.losing_without_numa and one.lost[0] > 5 * one.lost_perfect[0] for one in losses)


def test_up_to_how_many_threads_runs_gain_is_predicted_too_widely(table):
    # Three or six by the edges of the box: the printed six lies in it, and so would much else.
    row = table["gain-to-threads"]
    assert (row.role, row.verdict, row.low, row.high) == ("retrodicted", "too wide", 2.5, 6.5)
    assert row.rival_verdict == "missed"
    assert row.score < row.rival_score


def test_what_cannot_be_told_says_why(table):
    for name in ("gtc-penalty-without-spread", "core-specialization-no-gain"):
        assert table[name].verdict == "not modelled"
        assert table[name].note.startswith("cannot be told")
    assert "on full nodes -S moves no task" in table["gtc-penalty-without-spread"].note
