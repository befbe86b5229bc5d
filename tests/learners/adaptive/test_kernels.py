"""Kernels and ridge regression against slow, explicit calculations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from celltreeqm.learners.adaptive._kernels import centred_products, correlations, kernel_distances, partly_whitened
from celltreeqm.learners.adaptive._measure import with_ridge
from celltreeqm.learners.adaptive._ridge import PENALTIES, _positions, ridge_kernel
from celltreeqm.simulate import random_tree, simulate_brownian
from celltreeqm.trees import root_at

RNG = np.random.default_rng(0)
X = RNG.normal(size=(9, 6)) + 3
WEIGHTS = np.array([0.0, 1.0, 2.0, 1.0, 0.5, 3.0])


def proportional(found, expected):
    np.testing.assert_allclose(found / found.mean(), expected / expected.mean(), rtol=1e-9, atol=1e-12)


def test_products_are_those_of_weighted_euclidean_distances():
    proportional(kernel_distances(centred_products(X, WEIGHTS)), squareform(pdist(X * np.sqrt(WEIGHTS))))
    proportional(
        kernel_distances(centred_products(X, WEIGHTS), squared=True), squareform(pdist(X * np.sqrt(WEIGHTS))) ** 2
    )


def test_a_feature_drawn_twice_counts_twice():
    repeated = np.repeat(X, [0, 1, 2, 1, 0, 3], axis=1)
    counts = np.array([0.0, 1, 2, 1, 0, 3])
    for kernel in (centred_products, correlations):
        np.testing.assert_allclose(kernel(X, counts), kernel(repeated, np.ones(7)), atol=1e-12)


def test_correlations_are_pearsons():
    found = kernel_distances(correlations(X, np.ones(6)), squared=True)
    proportional(found, 1 - np.corrcoef(X))


def test_a_leaf_without_variation_correlates_with_none():
    flat = X.copy()
    flat[3] = 2.5
    found = kernel_distances(correlations(flat, np.ones(6)), squared=True)
    assert np.isfinite(found).all()
    others = [i for i in range(9) if i != 3]
    np.testing.assert_allclose(found[3, others], found[3, 0])  # orthogonal to all: halfway between same and opposite
    within = found[np.ix_(others, others)]
    ratio = found[3, 0] / within.max()
    assert ratio == pytest.approx(0.5 / (1 - np.corrcoef(flat[others])).max())


def test_partly_whitened_axes_are_shrunk_by_their_roots():
    centred = X - X.mean(axis=0)
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    found = kernel_distances(partly_whitened(centred_products(X, np.ones(6))))
    proportional(found, squareform(pdist(u * np.sqrt(s))))


@pytest.mark.parametrize("kernel", [centred_products, correlations])
def test_kernels_have_mean_squared_distance_one_or_none(kernel):
    squared = kernel_distances(kernel(X, WEIGHTS), squared=True)
    assert squared.sum() / (9 * 8) == pytest.approx(1)
    assert (kernel(np.ones((4, 3)), np.ones(3)) == 0).all()


# Ridge regression

TREE = random_tree(16, shape="yule", seed=2)
FEATURES = simulate_brownian(TREE, 12, seed=3) + RNG.normal(size=(16, 12))
KNOWN = np.array([0, 2, 3, 5, 7, 8, 11, 13, 14])
PATHS = TREE.restrict([TREE.leaves[i] for i in KNOWN]).distances(by="topology")


def test_squared_distances_of_positions_in_the_known_tree_are_its_path_lengths():
    for paths in (PATHS, TREE.distances()):
        np.testing.assert_allclose(squareform(pdist(_positions(paths))) ** 2, paths, atol=1e-9)


def primal(rows, targets, penalty):
    """Ridge regression of targets on features with an intercept: a function of new rows."""
    mean, middle = rows.mean(axis=0), targets.mean(axis=0)
    centred = rows - mean
    slopes = np.linalg.solve(centred.T @ centred + penalty * np.eye(rows.shape[1]), centred.T @ (targets - middle))
    return lambda new: middle + (new - mean) @ slopes


def test_ridge_regression_is_the_primal_one_with_the_penalty_of_least_left_out_error():
    features = FEATURES - FEATURES.mean(axis=0)
    known = features[KNOWN]
    m = len(KNOWN)
    center = np.eye(m) - 1 / m
    values, vectors = np.linalg.eigh(-0.5 * center @ PATHS @ center)
    targets = vectors[:, values > 1e-9] * np.sqrt(values[values > 1e-9])
    spectrum = np.linalg.eigvalsh((center @ known) @ (center @ known).T)
    errors = {}
    for penalty in PENALTIES:
        scaled = penalty * spectrum.mean()
        errors[penalty] = 0.0
        for i in range(m):
            rest = np.arange(m) != i
            # The closed form keeps the mean of all known leaves: so does this.
            shifted = known - known.mean(axis=0)
            slopes = np.linalg.solve(shifted.T @ shifted + scaled * np.eye(12), shifted.T @ targets)
            hat = shifted @ np.linalg.solve(shifted.T @ shifted + scaled * np.eye(12), shifted.T) + 1 / m
            assert rest.sum() == m - 1
            errors[penalty] += (((targets[i] - shifted[i] @ slopes) / (1 - hat[i, i])) ** 2).sum()
    best = min(errors, key=errors.get)
    predicted = primal(known, targets, best * spectrum.mean())(features)
    found = kernel_distances(ridge_kernel(features @ features.T, KNOWN, PATHS))
    proportional(found, squareform(pdist(predicted)))


def test_left_out_errors_in_closed_form_are_those_of_refits():
    """Leaving a leaf out and regressing anew gives the residual over 1 - leverage."""
    known = FEATURES[KNOWN] - FEATURES[KNOWN].mean(axis=0)
    targets = RNG.normal(size=(len(KNOWN), 2))
    targets -= targets.mean(axis=0)
    extended = np.column_stack([np.ones(len(KNOWN)), known])
    penalty = np.diag([0.0, *[2.0] * 12])
    hat = extended @ np.linalg.solve(extended.T @ extended + penalty, extended.T)
    for i in range(len(KNOWN)):
        rest = np.arange(len(KNOWN)) != i
        slopes = np.linalg.solve(extended[rest].T @ extended[rest] + penalty, extended[rest].T @ targets[rest])
        left_out = targets[i] - extended[i] @ slopes
        np.testing.assert_allclose(left_out, (targets[i] - hat[i] @ targets) / (1 - hat[i, i]))


def test_ridge_regression_does_not_depend_on_the_kernels_scale_or_origin():
    kernel = FEATURES @ FEATURES.T
    moved = (FEATURES * 7 + 100) @ (FEATURES * 7 + 100).T
    np.testing.assert_allclose(ridge_kernel(moved, KNOWN, PATHS), ridge_kernel(kernel, KNOWN, PATHS), atol=1e-8)


@pytest.mark.parametrize("ridge", ["appended", "alone"])
def test_ridge_regression_does_not_depend_on_where_the_known_tree_is_rooted(ridge):
    kernel, index = FEATURES @ FEATURES.T, {name: i for i, name in enumerate(TREE.leaves)}
    known = TREE.restrict([TREE.leaves[i] for i in KNOWN])
    assert known.rooted
    here = with_ridge(kernel, ridge, (known,), index)
    for other in (known.unroot(), root_at(known, int(known.parent[0])), root_at(known, 3)):
        np.testing.assert_allclose(with_ridge(kernel, ridge, (other,), index), here, atol=1e-9)


def test_features_that_say_nothing_predict_one_place():
    assert np.isfinite(ridge_kernel(np.zeros((16, 16)), KNOWN, PATHS)).all()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("ridge", ["appended", "alone"])
def test_ridge_regression_on_known_leaves_brings_the_distances_of_others_closer_to_the_tree(seed, ridge):
    tree = random_tree(64, seed=seed)
    signal = simulate_brownian(tree, 20, seed=seed + 50)
    noise = np.random.default_rng(seed).normal(size=(64, 200)) * signal.std()
    kernel = centred_products(np.hstack([signal, noise]), np.ones(220))
    known, others = tree.restrict(tree.leaves[::2]), np.arange(1, 64, 2)
    index = {name: i for i, name in enumerate(tree.leaves)}

    def agreement(ridge):
        found = kernel_distances(with_ridge(kernel, ridge, (known,), index), squared=True)
        pairs = (others[:, None], others)
        upper = np.triu_indices(32, 1)
        return np.corrcoef(found[pairs][upper], tree.distances(by="topology")[pairs][upper])[0, 1]

    assert agreement(ridge) > agreement("none") + 0.08
