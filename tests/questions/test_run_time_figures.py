"""Figures of run times."""

from hopperkit.questions.run_time_figures import histogram_figure


def test_a_histogram_says_where_most_are():
    figure = histogram_figure([10, 20, 30, 40], [2, 5, 1], {"gamma": [3, 4, 1], "normal": [2, 4, 2]})
    assert figure.alt == ("8 times from 10 to 40 s; most, 5, lie from 20 to 30 s. Lines: expected from gamma, normal.")
    assert [trace["name"] for trace in figure.data] == ["runs", "gamma expects", "normal expects"]
    assert "Lines" not in histogram_figure([10, 20], [2], {}).alt
