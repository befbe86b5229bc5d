"""Empirical Bayes over heritabilities, distrust of what the known tree contradicts, and where weights start."""

from __future__ import annotations

import numpy as np
import pytest

from celltreeqm.learners.heritable import weigh_features
from celltreeqm.learners.heritable._alternation import spectral_weights
from celltreeqm.learners.heritable._fit import standardized
from celltreeqm.learners.heritable._folds import Folds, fold_features, weighted_distances
from celltreeqm.learners.heritable._likelihood import LAMBDAS
from celltreeqm.learners.heritable._weights import distrust_contradicted
from celltreeqm.simulate import random_tree, simulate_brownian
from celltreeqm.trees import neighbor_joining

RNG = np.random.default_rng(1)


def test_shares_are_learned_from_all_features():
    """A feature that says little is believed to be what most others are."""
    grid = np.array([0.0, 0.9])
    unclear = np.array([[0.0, 0.1]])
    among_heritable = weigh_features(np.vstack([unclear, np.tile([[0.0, 9.0]], (300, 1))]), grid)
    among_noise = weigh_features(np.vstack([unclear, np.tile([[0.0, -9.0]], (300, 1))]), grid)
    assert among_heritable.gates[0] > 0.9 > 0.1 > among_noise.gates[0]
    np.testing.assert_allclose(among_heritable.weights, 0.9 * among_heritable.gates)


def test_the_shares_have_the_most_likelihood_with_ten_more_features_at_no_heritability():
    likelihoods = RNG.normal(size=(400, 3)) * [0, 2, 2]
    told = weigh_features(likelihoods, np.array([0, 0.5, 0.9]), tolerance=1e-9, max_iterations=5000)
    pseudo = np.array([10 + 1 / 3, 1 / 3, 1 / 3])
    shares = (told.posterior.sum(axis=0) + pseudo) / 411

    def evidence(shares):
        return np.log(np.exp(likelihoods) @ shares).sum() + pseudo @ np.log(shares)

    assert evidence(shares) == pytest.approx(told.evidence.sum() + pseudo @ np.log(shares), abs=1e-3)
    for _ in range(50):
        other = shares * np.exp(RNG.normal(scale=0.3, size=3))
        assert evidence(other / other.sum()) < evidence(shares)


def test_a_constant_of_each_feature_does_not_matter():
    likelihoods = RNG.normal(size=(20, len(LAMBDAS))) * 3
    shifted = likelihoods + RNG.normal(size=(20, 1)) * 1000
    for one, other in zip(weigh_features(likelihoods), weigh_features(shifted), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-8)


def test_what_the_known_tree_contradicts_is_distrusted_only_if_there_is_much_of_it():
    learned = weigh_features(np.tile(20.0 * (LAMBDAS > 0.5), (100, 1)))
    supported, contradicted = 10.0 * (LAMBDAS > 0), -3.0 * (LAMBDAS > 0)
    few = distrust_contradicted(learned, np.vstack([np.tile(supported, (99, 1)), contradicted]))
    many = distrust_contradicted(learned, np.vstack([np.tile(supported, (50, 1)), np.tile(contradicted, (50, 1))]))
    np.testing.assert_allclose(few.weights, learned.weights)
    np.testing.assert_allclose(many.weights[:50], learned.weights[:50])
    assert (many.weights[50:] < 0.2 * learned.weights[50:]).all()
    silent = distrust_contradicted(learned, np.zeros((100, len(LAMBDAS))))
    np.testing.assert_allclose(silent.weights, learned.weights)


def test_features_that_agree_weigh_most_at_the_spectral_start():
    tree = random_tree(32, seed=0)
    z = standardized(np.hstack([simulate_brownian(tree, 20, seed=1), RNG.normal(size=(32, 80))]))
    weights = spectral_weights(z)
    assert weights.max() == 1
    assert weights[:20].mean() > 5 * weights[20:].mean()
    agreement = (z.T @ z) ** 2 - 32**2 / 31
    np.fill_diagonal(agreement, 0)
    again = np.maximum(agreement @ weights, 0)
    np.testing.assert_allclose(again / again.max(), weights, atol=5e-3)


def test_copies_of_a_feature_are_in_the_same_fold():
    x = RNG.normal(size=(10, 30))
    drawn = RNG.integers(30, size=60)
    for folds in fold_features(x[:, drawn], 5, 3, np.random.default_rng(0)):
        assert len(folds) == 60
        assert len({(feature, fold) for feature, fold in zip(drawn, folds, strict=True)}) == len(set(drawn.tolist()))
        assert set(folds.tolist()) == set(range(5))


def test_a_feature_has_no_part_in_the_trees_it_is_scored_on():
    """Whatever the features of a fold are, the tree of the other folds stays as it is."""
    x = standardized(RNG.normal(size=(12, 20)))
    folds = np.arange(20) % 4
    weights = RNG.uniform(size=20)
    leaves = [f"t{i}" for i in range(12)]

    def trees(features):
        return Folds(features, [folds]).cross_fit(weights, lambda d: neighbor_joining(d, leaves))[1]

    changed = x.copy()
    changed[:, folds == 1] = standardized(RNG.normal(size=(12, 5)))
    before, after = trees(x), trees(changed)
    assert [one.same_topology(other) for one, other in zip(before, after, strict=True)] == [False, True, False, False]
    alone = neighbor_joining(weighted_distances(x[:, folds != 1], weights[folds != 1]), leaves)
    assert before[1].same_topology(alone)


def test_distances_are_euclidean():
    x, w = RNG.normal(size=(6, 4)), RNG.uniform(size=4)
    slow = [[sum(w[f] * (a[f] - b[f]) ** 2 for f in range(4)) ** 0.5 for b in x] for a in x]
    np.testing.assert_allclose(weighted_distances(x, w), slow, atol=1e-12)
