"""Shares of the variance: held against the analysis of variance of statsmodels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf

from hopperkit.analysis.variance_shares import designs_of, variance_shares


def test_the_share_of_a_factor_is_its_sum_of_squares_less_what_chance_takes():
    rng = np.random.default_rng(4)
    table = pd.DataFrame({"build": rng.choice(["a", "b", "c"], 90), "load": rng.normal(size=90)})
    y = 0.2 * (table["build"] == "b").to_numpy() + 0.1 * table["load"].to_numpy() + 0.1 * rng.normal(size=90)
    shares = variance_shares(y, table, designs_of(table), np.random.default_rng(1))
    assert shares.near.all()
    fitted = smf.ols("y ~ C(build) + load", table.assign(y=y)).fit()
    squares = sm.stats.anova_lm(fitted, typ=2)
    total = ((y - y.mean()) ** 2).sum()
    for name, row in (("build", "C(build)"), ("load", "load")):
        by_chance = squares["df"][row] * fitted.mse_resid
        assert shares.row_of(name).own.estimate == pytest.approx((squares["sum_sq"][row] - by_chance) / total)
    alone = smf.ols("y ~ C(build)", table.assign(y=y)).fit()
    assert shares.row_of("build").alone.estimate == pytest.approx((alone.ess - 2 * alone.mse_resid) / total)
    assert shares.together == pytest.approx((fitted.ess - 3 * fitted.mse_resid) / total)


def test_a_column_that_follows_from_another_explains_nothing_by_itself():
    rng = np.random.default_rng(5)
    load = rng.normal(size=40)
    table = pd.DataFrame({"load": load, "twice": 2 * load})
    shares = variance_shares(load + 0.1 * rng.normal(size=40), table, designs_of(table), np.random.default_rng(1))
    assert [row.own.estimate for row in shares.rows] == [0.0, 0.0]
    assert all(row.alone.estimate > 0.9 for row in shares.rows)
