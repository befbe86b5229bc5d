"""What the network is shown: all distances of what was kept, in as few columns as hold them."""

from __future__ import annotations

import numpy as np
import pytest

from celltreeqm.learners.quartet._fitting import _kept
from celltreeqm.learners.quartet._preparation import prepare
from celltreeqm.learners.quartet._start import Start
from tests import oracles

RNG = np.random.default_rng(0)


def plainly(features, scale):
    """Columns minus their mean over their sd times the scale, one at a time."""
    columns = []
    for column, factor in zip(features.T, scale, strict=True):
        columns.append((column - column.mean()) / column.std() * factor)
    return np.array(columns).T


def rotated(preparation, values):
    """The rotation in double precision, before the division by the unit."""
    return values @ preparation.rotation


CASES = {
    "many more features than leaves": (RNG.normal(size=(12, 900)) * RNG.lognormal(0, 3, 900) + 50, 11),
    "as many features as leaves": (RNG.normal(size=(12, 12)), 11),
    "leaves that come twice": (np.repeat(RNG.normal(size=(6, 80)), 2, axis=0), 5),
    "three directions alone": (RNG.normal(size=(15, 3)) @ RNG.normal(size=(3, 60)), 3),
    "few counts": (RNG.poisson(0.4, size=(20, 500)).astype(float), 19),
    "one direction": (np.outer(np.arange(8.0), np.ones(9)), 1),
    "two leaves": (RNG.normal(size=(2, 30)), 1),
    "one odd leaf": (np.eye(10)[:, :1] * np.ones(40) * 1e3 + RNG.normal(size=(10, 40)), 9),
}
EACH_CASE = pytest.mark.parametrize("features, columns", CASES.values(), ids=CASES.keys())


def varied(features):
    return np.flatnonzero(np.ptp(features, axis=0) > 0)


@EACH_CASE
def test_rotation_keeps_all_distances_in_no_more_columns_than_hold_them(features, columns):
    kept = varied(features)
    scale = np.linspace(0.2, 3, len(kept))
    preparation = prepare(features, kept, scale, rotate=True)
    values = plainly(features[:, kept], scale)
    assert preparation.columns == preparation.rotation.shape[1] == columns
    expected = np.array(oracles.euclidean(values.tolist()))
    found = np.array(oracles.euclidean(rotated(preparation, values).tolist()))
    np.testing.assert_allclose(found, expected, atol=1e-9 * expected.max(), rtol=0)


@pytest.mark.parametrize("rotate", [False, True])
@EACH_CASE
def test_the_inputs_have_mean_square_1_and_times_the_unit_the_features_distances(features, columns, rotate):
    kept = varied(features)
    scale = np.linspace(0.2, 3, len(kept))
    preparation = prepare(features, kept, scale, rotate=rotate)
    inputs = preparation(features)
    assert inputs.dtype == np.float32
    assert inputs.shape == (len(features), columns if rotate else len(kept))
    assert (inputs.astype(float) ** 2).mean() == pytest.approx(1, rel=1e-5)
    np.testing.assert_allclose(inputs.mean(axis=0), 0, atol=1e-5)
    expected = np.array(oracles.euclidean(plainly(features[:, kept], scale).tolist()))
    found = np.array(oracles.euclidean((inputs.astype(float) * preparation.unit).tolist()))
    np.testing.assert_allclose(found, expected, atol=1e-5 * expected.max(), rtol=0)


def test_the_directions_are_orthogonal_and_of_length_1():
    features = RNG.normal(size=(10, 200))
    preparation = prepare(features, varied(features), np.ones(200), rotate=True)
    np.testing.assert_allclose(preparation.rotation.T @ preparation.rotation, np.eye(9), atol=1e-10)


def test_without_rotation_or_with_fewer_features_than_leaves_the_inputs_are_the_features():
    for features, rotate in ((RNG.normal(size=(10, 200)), False), (RNG.normal(size=(10, 9)), True)):
        scale = np.full(features.shape[1], 2.0)
        preparation = prepare(features, varied(features), scale, rotate=rotate)
        assert preparation.rotation.shape == (features.shape[1], 0)
        assert preparation.unit == pytest.approx(2.0)
        np.testing.assert_allclose(preparation(features), plainly(features, scale) / 2, atol=1e-5)


def test_other_leaves_are_standardised_by_themselves_and_see_the_same_directions():
    features, others = RNG.normal(size=(10, 60)), RNG.normal(size=(25, 60)) * 7 + 3
    kept, scale = np.arange(0, 60, 2), np.linspace(1, 2, 30)
    for rotate in (False, True):
        preparation = prepare(features, kept, scale, rotate=rotate)
        values = plainly(others[:, kept], scale)
        expected = rotated(preparation, values) if rotate else values
        np.testing.assert_allclose(preparation(others), expected / preparation.unit, atol=1e-5)


def test_only_kept_features_count():
    features = RNG.normal(size=(8, 40))
    kept = np.array([3, 11, 12, 30, 31, 32, 33, 34, 39])
    changed = RNG.normal(size=(8, 40)) * 100
    changed[:, kept] = features[:, kept]
    for rotate in (False, True):
        first = prepare(features, kept, np.ones(9), rotate=rotate)
        again = prepare(changed, kept, np.ones(9), rotate=rotate)
        np.testing.assert_array_equal(first(features), again(changed))


# What is kept


def start_with(probability, weights=None):
    probability = np.array(probability, dtype=float)
    return Start(probability if weights is None else np.array(weights, dtype=float), probability)


def test_without_a_start_all_features_are_kept_but_constant_ones():
    features = RNG.normal(size=(6, 10))
    features[:, [0, 4]] = [7.0, 0.0]
    kept, scale = _kept(features, None)
    assert kept.tolist() == [1, 2, 3, 5, 6, 7, 8, 9]
    assert scale.tolist() == [1] * 8


def test_with_a_start_features_more_likely_than_not_are_kept_and_scaled_by_the_root_of_their_weight():
    features = RNG.normal(size=(6, 10))
    features[:, 1] = 3.0
    probability = [0.9, 0.9, 0.5, 0.51, 0.1, 0.8, 1.0, 0.0, 0.7, 0.2]
    weights = [0.64, 1.0, 1.0, 0.25, 1.0, 0.0, 1.0, 1.0, 0.49, 1.0]
    kept, scale = _kept(features, start_with(probability, weights))
    assert kept.tolist() == [0, 3, 5, 6, 8]
    np.testing.assert_allclose(scale, [0.8, 0.5, np.sqrt(1e-3), 1.0, 0.7])


def test_a_start_that_holds_nothing_likely_leaves_the_four_likeliest_that_vary():
    features = RNG.normal(size=(6, 8))
    features[:, 0] = 3.0
    kept, _ = _kept(features, start_with([0.5, 0.4, 0.1, 0.3, 0.0, 0.2, 0.9, 0.05]))
    assert kept.tolist() == [1, 3, 5, 6]
    features[:, [1, 3, 5]] = 1.0
    kept, _ = _kept(features, start_with([0.5, 0.4, 0.1, 0.3, 0.0, 0.2, 0.9, 0.05]))
    assert kept.tolist() == [2, 4, 6, 7]
    features[:, 2:] = 1.0
    features[0, 3] = 2.0
    assert _kept(features, start_with(np.zeros(8)))[0].tolist() == [3]
