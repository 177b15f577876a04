"""The study of the benchmark history: the table of found incidents, and the documented time span."""

from __future__ import annotations

from datetime import date

import pytest

from hopperbook.documented import documented
from hopperbook.studies.monitoring.benchmark_history import INCIDENTS, found
from hopperlib.data_files import rows


@pytest.mark.parametrize("seed", [7])
def test_the_table_is_what_the_histories_give(seed):
    assert rows("found-incidents.csv")[seed] == {"seed": str(seed), "found": str(found(INCIDENTS[1], seed)).lower()}


def test_the_shape_counts_all_histories(scored):
    (row,) = (row for row in scored("benchmark-history").values() if row.role == "shape" and row.seeds)
    assert row.seeds == 200
    assert row.reproduced == f"{sum(each['found'] == 'true' for each in rows('found-incidents.csv'))} of 200 cases"


def test_the_made_up_span_has_none_of_the_documented_dates():
    """The trials of 29 March and 26 April ended on separate days."""
    days = {date(2006, 3, 29), date(2006, 4, 26)}
    assert documented("benchmark-history.trial-march").note == "2006-03-29"
    assert not days & {INCIDENTS[2].begin, INCIDENTS[2].end}
