"""Planted causes among outliers: each one is found, other factors only by chance, and robust fits agree with RLM."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
import statsmodels.api as sm
from statsmodels.stats.multitest import multipletests

from hopperkit.variation.effects import design_of, effects_of
from hopperkit.variation.explanation import explain
from hopperkit.variation.factors import date_factor, factors_of
from tests.variation.drawn import PLANTED, with_effects, with_slow_node

OUTLIERS = (0.0, 0.02, 0.05)
# At a level of 5 %, 99.6 % of series of 100 data sets without an effect have at most this many findings: the sum of
# C(100, k) 0.05^k 0.95^(100 - k) up to k = 11.
MOST_BY_CHANCE = 11


def both(seed: int, outliers: float) -> tuple[set[str], set[str]]:
    """Names of the effects that statsmodels' RLM finds (Holm, 5 %), and that the standard library finds."""
    table = with_effects(random.Random(f"effects {outliers} {seed}"), outliers)
    factors = [*factors_of(table.columns), date_factor(table.moments)]
    logs = [math.log(value) for value in table.values]
    columns = [column for factor in factors for column in design_of(factor)]
    fitted = sm.RLM(logs, sm.add_constant(np.array(columns).T)).fit()
    # Each factor has one column here: one of two partitions is compared with the other.
    ours = effects_of(logs, factors)
    wald = (fitted.params[1:] / fitted.bse[1:]) ** 2
    from scipy import stats

    p_values = stats.f.sf(wald, 1, len(logs) - len(columns) - 1)
    theirs = {
        factor.name for factor, p in zip(factors, multipletests(p_values, method="holm")[1], strict=True) if p <= 0.05
    }
    return theirs, {row.factor.name for row in ours.rows if row.p_corrected <= 0.05}


# The nightly test has all shares of outliers and a hundred seeds.
@pytest.mark.parametrize("outliers", OUTLIERS[1:2])
def test_every_effect_that_rlm_finds_is_found(outliers):
    for seed in range(1):
        theirs, ours = both(seed, outliers)
        assert ours == theirs


@pytest.mark.nightly
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("outliers", OUTLIERS)
def test_every_effect_that_rlm_finds_is_found_in_100_data_sets(outliers):
    found = [both(seed, outliers) for seed in range(100)]
    assert all(ours == theirs for theirs, ours in found)
    assert sum(len(ours & set(PLANTED)) for _, ours in found) >= 0.95 * 5 * 100
    assert sum("nothing" in ours for _, ours in found) <= MOST_BY_CHANCE


@pytest.mark.parametrize("outliers", OUTLIERS)
def test_the_whole_answer_names_the_planted_columns(outliers):
    found = explain(with_effects(random.Random(f"whole {outliers}"), outliers))
    # A line through the dates overestimates the upgrade of 3 % halfway, so only the test with RLM includes it.
    assert set(PLANTED) - {"date"} <= set(found.found)
    assert "nothing" not in found.found
    # The share is that of the bulk, without outliers: a planted variance of 0.0034, against 0.0025 of noise.
    assert 0.45 < found.effects.explained < 0.7


def named(seed: int, outliers: float, **planted) -> tuple[str, ...]:
    return explain(with_slow_node(random.Random(f"node {outliers} {seed} {planted}"), outliers, **planted)).found


@pytest.mark.parametrize("outliers", OUTLIERS)
def test_a_slow_node_is_named(outliers):
    assert "node r2-n17" in named(0, outliers)
    assert named(0, outliers, slow=0.0) == ()


@pytest.mark.nightly
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("outliers", OUTLIERS)
def test_a_slow_node_is_named_in_95_of_100_data_sets_and_none_by_more_than_chance_without(outliers):
    assert sum(named(seed, outliers)[:1] == ("node r2-n17",) for seed in range(100)) >= 95
    assert sum(named(seed, outliers, slow=0.0) != () for seed in range(100)) <= MOST_BY_CHANCE


@pytest.mark.nightly
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("outliers", OUTLIERS)
def test_a_slow_rack_is_named_in_95_of_100_data_sets(outliers):
    assert sum(named(seed, outliers, racks=True)[:1] == ("rack r3",) for seed in range(100)) >= 95
