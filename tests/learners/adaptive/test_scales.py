"""Scales: which suit which features, and what they do."""

from __future__ import annotations

import numpy as np
import pytest

from celltreeqm.learners.adaptive._scales import SCALES, look_logged, rescale, suitable_scales

RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(30, size=(6, 5)).astype(float)


@pytest.mark.parametrize(
    ("values", "scales"),
    [
        (COUNTS - 30, {"given", "standardized"}),
        (COUNTS, {"given", "standardized", "log1p", "standardized log1p", "sqrt"}),
        (COUNTS / 7, {"given", "standardized", "undo ln", "undo log2"}),
        (np.log1p(COUNTS), {"given", "standardized", "undo ln", "undo log2"}),
        (1e4 * COUNTS / 7, {"given", "standardized", "log1p", "standardized log1p", "sqrt"}),
    ],
    ids=["below zero", "counts", "small fractions", "logged", "large fractions"],
)
def test_scales_suit_the_values(values, scales):
    assert set(suitable_scales(values)) == scales
    for name in scales:
        assert np.isfinite(rescale(name, values, values)).all()


def test_the_logarithm_is_undone():
    np.testing.assert_allclose(rescale("undo ln", np.log1p(COUNTS), COUNTS), COUNTS)
    np.testing.assert_allclose(rescale("undo log2", np.log2(1 + COUNTS), COUNTS), COUNTS)
    np.testing.assert_allclose(rescale("log1p", COUNTS, COUNTS), np.log(1 + COUNTS))
    np.testing.assert_allclose(rescale("sqrt", COUNTS, COUNTS) ** 2, COUNTS)


def test_whole_numbers_are_not_taken_for_logarithms():
    assert not look_logged(np.array([[0.0, 3.0], [12.0, 7.0]]))
    assert look_logged(np.array([[0.0, 3.5], [12.0, 7.0]]))


@pytest.mark.parametrize("name", ["standardized", "standardized log1p"])
def test_new_rows_are_standardised_by_the_leaves_fitted_on(name):
    fitted = np.column_stack([COUNTS, np.full(6, 3.0)])
    new = np.full((2, 6), 3.0)
    of_fitted, of_new = rescale(name, fitted, fitted), rescale(name, new, fitted)
    np.testing.assert_allclose(of_fitted[:, :5].mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(of_fitted[:, :5].std(axis=0), 1)
    assert (of_fitted[:, 5] == 0).all()
    both = rescale(name, np.vstack([fitted, new]), fitted)
    np.testing.assert_array_equal(both, np.vstack([of_fitted, of_new]))


def test_features_whose_deviation_is_lost_in_rounding_are_constant():
    tiny = np.column_stack([COUNTS, COUNTS[:, 0] * 1e-200])
    scaled = rescale("standardized", tiny, tiny)
    assert (scaled[:, 5] == 0).all()
    np.testing.assert_array_equal(scaled[:, :5], rescale("standardized", COUNTS, COUNTS))


def test_scales_leave_the_input_as_it_was():
    before = COUNTS.copy()
    for name in SCALES:
        rescale(name, COUNTS, COUNTS)
    np.testing.assert_array_equal(COUNTS, before)
