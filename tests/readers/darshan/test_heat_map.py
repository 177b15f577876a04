"""Heat maps that can be drawn: neighbours put together, and no byte lost."""

from hopperlib.readers.darshan._heat_map import MOST_COLUMNS, MOST_ROWS, heat_map_of_bins


def test_many_tasks_and_bins_share_rows_and_columns():
    bins = {task: [task] * 1000 for task in range(300)}
    made = heat_map_of_bins("MPIIO", 0.5, bins, {})
    assert made["interface"] == "MPI-IO"
    assert len(made["ranks"]) == len(made["read_bytes"]) <= MOST_ROWS
    assert {len(row) for row in made["read_bytes"]} == {125}
    assert MOST_COLUMNS >= 125
    # Five tasks a row, eight bins a column: the first holds 8 * (0 + 1 + 2 + 3 + 4).
    assert (made["ranks"][1], made["bin_s"], made["read_bytes"][0][0]) == (5, 4.0, 80)
    assert sum(map(sum, made["read_bytes"])) == 1000 * sum(range(300))
