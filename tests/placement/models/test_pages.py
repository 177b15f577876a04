"""Bandwidth by the size of pages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.errors import InputError
from hopperlib.placement.models.pages import page_cost_us, paged_bandwidth_gb_s


def test_the_cost_of_a_page_by_hand():
    # 4,000 bytes at 1 GB/s take 4 us, at 2 GB/s 2 us: each page costs 2.
    assert page_cost_us(1.0, 2.0, 4000) == pytest.approx(2.0)
    # 40,000 bytes: 20 us for the bytes and 2 for the page.
    assert paged_bandwidth_gb_s(40_000, large_gb_s=2.0, page_cost_us=2.0) == pytest.approx(40 / 22)


@given(st.floats(0.1, 10), st.floats(0.1, 10), st.integers(1, 2**30))
def test_it_comes_back_to_the_rate_it_was_fitted_to(one, other, page_bytes):
    small, large = sorted((one, other))
    cost = page_cost_us(small, large, page_bytes)
    assert paged_bandwidth_gb_s(page_bytes, large_gb_s=large, page_cost_us=cost) == pytest.approx(small)
    assert small <= paged_bandwidth_gb_s(2 * page_bytes, large_gb_s=large, page_cost_us=cost) * (1 + 1e-9)


def test_refusals():
    with pytest.raises(InputError, match="small_gb_s=3 must be above 0 and at most large_gb_s=2"):
        page_cost_us(3, 2, 4096)
    with pytest.raises(InputError, match="page_bytes=0 must be above 0"):
        paged_bandwidth_gb_s(0, large_gb_s=1, page_cost_us=1)
