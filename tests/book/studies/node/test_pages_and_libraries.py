"""The study of pages and libraries: fitted values, values inferred backwards, and unknown ones."""

from __future__ import annotations

import pytest

from hopperbook.studies.node.huge_page_signs import signs
from hopperbook.studies.node.pages_and_libraries import (
    GTC_NODES,
    huge_page_gains,
    production_noise,
)
from hopperlib.network.runtime.power import detectable_gain


@pytest.fixture(scope="module")
def table(scored):
    return scored("pages-and-libraries")


def test_one_rate_is_fitted_and_none_predicted(table):
    assert (table["small-page-bandwidth"].role, table["small-page-bandwidth"].verdict) == ("calibrated", "as fitted")
    assert all(row.role != "retrodicted" for row in table.values())


def test_the_share_as_corrected(table):
    assert float(table["small-page-share"].reproduced) == pytest.approx(58.3333)


def test_nodes_that_explain_the_rate(table):
    # 8,192 and 24,576 cores are 341.3 and 1,024 nodes of 24.
    assert GTC_NODES == (342, 1024)
    assert (
        "19 short nodes of the machine explain it for the smaller run of GTC, 6 for" in table["huge-pages-success"].note
    )


def test_what_the_noise_hides(table):
    assert table["huge-pages-in-noise"].verdict == "holds"
    # It can fail: a code that jumps about in much memory gains more than three runs of each hide.
    gains = huge_page_gains()
    assert 0 < sum(abs(gain) >= detectable_gain(0.02, 3) for gain in gains) < 20
    # The more runs the table holds, the less the one slow run stands out of its place.
    assert 0.1 < production_noise(200) < 0.5


def test_signs_of_public_measurements_of_huge_pages():
    """Over ranges that are the same for all: three signs are right in nine draws of ten, that of eight NUMA nodes in half."""
    share = {each.what: each.share for each in signs()}
    assert min(share[what] for what in share if "NUMA" not in what) >= 0.9
    assert 0.4 < share["sorting and jumping, eight NUMA nodes"] < 0.7
