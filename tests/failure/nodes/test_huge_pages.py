"""Huge pages after a reboot: the buddy allocator by brute force, the law of unmovable pages by sampling, inverses."""

from __future__ import annotations

import math
import random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.failures.preflight import NodeMemory
from hopperlib.errors import InputError
from hopperlib.failure.nodes.huge_pages import (
    buddy_blocks,
    chance_of_huge_pages,
    explaining_unmovable_pages,
    unmovable_pages_allowed,
)


def _by_joining(pages: int, taken: set[int], orders: int) -> tuple[int, ...]:
    """Free blocks as the allocator makes them: single pages first, then two free halves joined, order by order."""
    free = {page for page in range(pages) if page not in taken}
    blocks = []
    for order in range(orders):
        if order == orders - 1:
            blocks.append(len(free))
            break
        joined = {block // 2 for block in free if block ^ 1 in free}
        blocks.append(len(free) - 2 * len(joined))
        free = joined
    return tuple(blocks)


@given(st.sets(st.integers(0, 63)))
def test_the_allocator_as_it_joins_blocks(taken):
    blocks = buddy_blocks(64, taken, orders=5)
    assert blocks == _by_joining(64, taken, 5)
    # No page is lost.
    assert sum(count << order for order, count in enumerate(blocks)) == 64 - len(taken)


def test_stray_pages_spoil_as_many_huge_ones_as_the_law_says():
    # 64 huge pages of 512, 64 unmovable pages: 64 exp(-1) = 23.5; drawn 200 times, standard error about 0.2.
    rng = random.Random(2)
    whole = [
        NodeMemory(
            name="n", blocks=buddy_blocks(64 * 512, [int(rng.random() * 64 * 512) for _ in range(64)])
        ).huge_pages()
        for _ in range(200)
    ]
    assert fmean(whole) == pytest.approx(64 * math.exp(-1), abs=0.8)


def test_the_pages_that_a_node_bears():
    # One unmovable page per huge page spoils only 63 % of them; 1000 exp(-strays / 1000) = 700.
    assert 1000 * math.exp(-unmovable_pages_allowed(1000, 700) / 1000) == pytest.approx(700)
    assert unmovable_pages_allowed(1000, 1000) == 0


def test_the_chance_of_a_job_by_drawing_nodes():
    # Counts of unmovable pages, lognormal with mean 100 and spread 0.5; a node tolerates 1000 ln(1000 / 860) = 150.8.
    rng, sigma = random.Random(7), math.sqrt(math.log(1.25))
    good = [
        rng.lognormvariate(math.log(100) - sigma**2 / 2, sigma) <= unmovable_pages_allowed(1000, 860)
        for _ in range(20_000)
    ]
    jobs = [all(good[at : at + 8]) for at in range(0, len(good), 8)]
    assert chance_of_huge_pages(1000, 860, 100, 0.5) == pytest.approx(fmean(good), abs=0.01)
    assert chance_of_huge_pages(1000, 860, 100, 0.5, 8) == pytest.approx(fmean(jobs), abs=0.03)


@given(st.integers(1, 6000), st.floats(0.05, 0.95), st.floats(0.05, 1.5))
def test_what_explains_a_rate_gives_it_back(nodes, success, spread):
    strays = explaining_unmovable_pages(15872, 12288, spread, nodes, success)
    assert chance_of_huge_pages(15872, 12288, strays, spread, nodes) == pytest.approx(success, rel=1e-5)


def test_a_fresh_node_has_all():
    assert chance_of_huge_pages(1000, 1000, 0, 0.3, 6384) == 1.0
    assert chance_of_huge_pages(1000, 1000, 5, 0.3) == 0.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: buddy_blocks(100, []), "pages=100 must be a multiple of 1024, the pages of the largest block"),
        (lambda: unmovable_pages_allowed(10, 11), "need=11 must be from 1 to 10"),
        (lambda: chance_of_huge_pages(10, 5, 1, 0), "spread=0 must be above 0"),
        (lambda: explaining_unmovable_pages(10, 5, 0.3, 1, 1), "success=1 must be above 0 and below 1"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InputError) as refused:
        call()
    assert str(refused.value).startswith(message)
