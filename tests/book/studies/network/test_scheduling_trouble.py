"""Trouble with the scheduler: the table of seeds is what the simulations give."""

from hopperbook.studies.network.scheduling_trouble import large_job_wait_h, outcomes, trouble

DAY = 86_400


def test_part_of_a_row_comes_out_again():
    row = outcomes()[2]
    plain = trouble(row.seed)
    assert round(plain.utilization(3 * DAY, 10 * DAY), 4) == row.up
    assert round(large_job_wait_h(plain), 4) == row.wait_h


def test_every_seed_has_a_row_within_its_bounds():
    assert [row.seed for row in outcomes()] == list(range(1, 201))
    for row in outcomes():
        assert 0 < row.orphaned_up < row.up <= 1
        assert min(row[3:]) >= 0


def test_shapes_say_with_how_many_seeds_they_hold(scored):
    shapes = [row for row in scored("scheduling-trouble").values() if row.role == "shape"]
    assert shapes
    assert all(row.seeds == 200 for row in shapes)
    hours = next(row for row in shapes if row.id.endswith("maintenance-is-major-loss"))
    assert hours.reproduced == f"{sum(1 - 0.817 / row.up > 1 - row.up for row in outcomes())} of 200 cases"
