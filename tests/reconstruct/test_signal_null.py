"""The largest of many statistics against the largest of each row of the null."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest

from celltreeqm.reconstruct._signal_null import judge

GROUPS = ["a", "a", "b", "c"]


def test_p_is_the_share_of_rows_that_reach_the_first():
    values = np.array([[3.0], [1.0], [4.0], [2.0]])
    assert judge(values, ["a"]).p == 0.5  # itself and the third


def test_z_counts_standard_deviations_of_the_null_and_has_no_upper_limit():
    null = np.array([-1.0, 1.0, -1.0, 1.0])
    assert judge(np.append(100.0, null)[:, None], ["a"]).z == pytest.approx(100.0)


def test_p_is_uniform_though_the_best_of_many_dependent_statistics_is_taken():
    rng = np.random.default_rng(0)
    ps = []
    for _ in range(400):
        values = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 12)) + rng.normal(size=(40, 12))
        ps.append(judge(values**3, list("aaaabbbbcccc")).p)
    assert kstest(np.array(ps) - 0.5 / 40, "uniform").pvalue > 0.01
    assert np.mean(np.array(ps) <= 0.05) < 0.09


def test_the_statistic_named_is_of_the_group_that_stands_out():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(100, 4))
    values[0] = [0.0, 9.0, 5.0, 0.0]  # "a" has the largest statistic, and 9 / 2 in the mean of two exceeds 5 here
    assert judge(values, GROUPS).best == 1
    values[0] = [0.0, 0.0, 5.0, 0.0]
    assert judge(values, GROUPS).best == 2


@pytest.mark.parametrize("constant", [0.0, 7.0])
def test_statistics_that_do_not_vary_say_nothing(constant):
    found = judge(np.full((20, 4), constant), GROUPS)
    assert (found.p, found.z) == (1.0, 0.0)


def test_units_of_the_statistics_do_not_matter():
    values = np.random.default_rng(2).normal(size=(50, 4))
    scaled = values * [1e-6, 1.0, 1e6, 3.0] + [0.0, 5.0, 1e6, -2.0]
    assert judge(scaled, GROUPS) == pytest.approx(judge(values, GROUPS))
