"""Figures of run times."""

import pytest

from hopperlib.questions.run_time_figures import group_figure, histogram_figure, quantile_figure


def test_a_histogram_says_where_most_are():
    figure = histogram_figure([10, 20, 30, 40], [2, 5, 1], {"gamma": [3, 4, 1], "normal": [2, 4, 2]})
    assert figure.alt == (
        "8 times from 10 to 40 s; most, 5, lie from 20 to 30 s. Lines: what gamma, normal would give."
    )
    assert [trace["name"] for trace in figure.data] == ["runs", "gamma expects", "normal expects"]
    assert "Lines" not in histogram_figure([10, 20], [2], {}).alt


def test_quantiles_have_a_line_from_end_to_end():
    figure = quantile_figure([2.0, 3.0], [1.0, 3.5], "gamma", unit="h")
    assert figure.data[1]["x"] == figure.data[1]["y"] == [1.0, 3.5]
    assert figure.alt.endswith("Farthest from it: 1 h where 2 h is expected.")


def test_groups_stand_in_the_order_of_their_fastest_run():
    figure = group_figure([12, 10, 11, 5, 6], ["x", "y", "y", "z", "z"], what="job")
    assert figure.data[0]["y"] == [5, 10, 12]
    assert list(zip(figure.data[1]["x"], figure.data[1]["y"], strict=True)) == [(1, 6), (2, 11)]
    assert "3 jobs in order of the fastest run: that goes from 5 to 12 s" in figure.alt
    assert "at most 20.0 % above the fastest" in figure.alt
    assert len(group_figure([1, 2], ["a", "b"]).data) == 1
    with pytest.raises(ValueError, match="there is no time to draw"):
        group_figure([], [])
